//! The record of a run (GD-05): everything that decides it, and the state hashes that a replay has to meet.
//!
//! A record is one canonical JSON object. It carries a seal over each member of each input, so that an input that was
//! changed is named even when it changes no state (PC-75), and the hash and the section folds of the state at every
//! keyframe, so that one edited hash between right ones is told from a divergence (PC-71).

use crate::check::{Check, Violation};
use crate::event::Event;
use crate::input::{self, Command, Input, InputFault};
use crate::profile::Profile;
use crate::room::{Listen, Room, SetupFault};
use crate::setup::Setup;
use crate::shape::{Misread, Shape, count_text, member, object_of, read_count};
use crate::state::SECTIONS;
use canon::{Digest, Object, Value, canonical, canonical_digest};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Version of the format.
const VERSION: &str = "room-record-1";

/// Members of a record.
const MEMBERS: [&str; 13] = [
    "version",
    "config_hash",
    "gate_hash",
    "setup",
    "ticks",
    "inputs",
    "seals",
    "decides_sha256",
    "keyframes",
    "folds_digest",
    "checks",
    "violation",
    "evidence_class",
];

/// The state of a run at one keyframe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyframe {
    /// Ticks done.
    pub tick: u64,
    /// State hash.
    pub hash: Digest,
    /// Fold of each section, in the order of the state.
    pub folds: Vec<u64>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Hash of the profile.
    pub config_hash: Digest,
    /// Hash of configuration, tests, seeds and thresholds, when it ran under a freeze.
    pub gate_hash: Option<Digest>,
    /// What it started from.
    pub setup: Setup,
    /// How long.
    pub ticks: u64,
    /// Everything from outside.
    pub inputs: Vec<Input>,
    /// Seals of the inputs as they were.
    pub seals: Vec<BTreeMap<String, String>>,
    /// SHA-256 of everything that decides the run, as it was.
    pub decides: Digest,
    /// State hashes.
    pub keyframes: Vec<Keyframe>,
    /// SHA-256 over the 64-bit folds of every tick, big-endian.
    pub folds_digest: Digest,
    /// How often each check had something to look at.
    pub checks: Vec<(Check, u64)>,
    /// The first violation.
    pub violation: Option<Violation>,
}

canon::codes! {
    /// Why a record is refused, or does not replay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecordFault {
        /// It cannot be read: a member is missing, unknown, of another type, or cut off.
        Unreadable = "room_record_unreadable",
        /// It was made with another profile.
        Profile = "room_record_profile",
        /// Its inputs cannot be run.
        Inputs = "room_record_inputs",
        /// An input is not what was run.
        InputEdited = "room_record_input_edited",
        /// Its setup cannot start.
        Setup = "room_record_setup",
        /// Seed, identity, content, length or gate are not what was run.
        SetupEdited = "room_record_setup_edited",
        /// Stored hashes are wrong between right ones: the record was edited.
        HashEdited = "room_record_hash_edited",
        /// From some tick on this build computes something else.
        Diverges = "room_record_diverges",
        /// What the record says of its checks is not what they say.
        ChecksEdited = "room_record_checks_edited",
    }
}

/// A refusal: why, where, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub fault: RecordFault,
    /// Where: a member path, or `tick N`.
    pub at: String,
    /// A code or name that says more: the input fault, the differing sections.
    pub detail: String,
}

impl Refusal {
    fn new(fault: RecordFault, at: impl Into<String>, detail: impl Into<String>) -> Refusal {
        Refusal { fault, at: at.into(), detail: detail.into() }
    }
}

/// Runs inputs tick by tick: gives each tick its commands.
#[derive(Clone, Debug)]
pub struct Feed<'i> {
    inputs: &'i [Input],
    commands: Vec<Command>,
}

impl<'i> Feed<'i> {
    /// Inputs in the order of their ticks.
    #[must_use]
    pub fn new(inputs: &'i [Input]) -> Feed<'i> {
        Feed { inputs, commands: Vec::new() }
    }

    /// The commands of a tick. Ticks are asked for in ascending order.
    #[inline]
    pub fn at(&mut self, tick: u64) -> &[Command] {
        self.commands.clear();
        while let Some((first, rest)) = self.inputs.split_first() {
            if first.tick > tick {
                break;
            }
            if first.tick == tick {
                self.commands.push(first.command.clone());
            }
            self.inputs = rest;
        }
        &self.commands
    }
}

/// Records a run.
///
/// # Errors
/// Inputs that cannot be, or a setup that cannot start; nothing has run then.
pub fn record(
    profile: &Arc<Profile>,
    setup: Setup,
    inputs: Vec<Input>,
    ticks: u64,
) -> Result<Record, Refusal> {
    record_watched(profile, setup, inputs, ticks, false, &mut |_| {})
}

/// The same, showing the events of every tick when somebody listens. The record is the same either way (PC-74).
///
/// # Errors
/// As [`record`].
pub fn record_watched(
    profile: &Arc<Profile>,
    setup: Setup,
    inputs: Vec<Input>,
    ticks: u64,
    listens: bool,
    watch: &mut dyn FnMut(&[Event]),
) -> Result<Record, Refusal> {
    check_inputs(&inputs)?;
    let mut room = Room::new(Arc::clone(profile), setup.clone()).map_err(setup_refused)?;
    if listens {
        room.listen(Listen::Everything);
    }
    let run = run(room, &inputs, ticks, watch);
    let decides = decides(profile.config_hash(), None, &setup, ticks, &inputs);
    Ok(Record {
        decides,
        config_hash: profile.config_hash(),
        gate_hash: None,
        setup,
        ticks,
        seals: inputs.iter().map(seal).collect(),
        inputs,
        keyframes: run.keyframes,
        folds_digest: run.folds_digest,
        checks: run.checks,
        violation: run.violation,
    })
}

fn check_inputs(inputs: &[Input]) -> Result<(), Refusal> {
    input::check(inputs).map_err(|refused| {
        let place = match refused.fault {
            InputFault::Past => format!("inputs.{}.tick", refused.at),
            InputFault::Duplicate => format!("inputs.{}.command.id", refused.at),
            InputFault::Argument => format!("inputs.{}.command", refused.at),
        };
        Refusal::new(RecordFault::Inputs, place, refused.fault.code())
    })
}

fn setup_refused(fault: SetupFault) -> Refusal {
    Refusal::new(RecordFault::Setup, "setup", fault.code())
}

struct Run {
    keyframes: Vec<Keyframe>,
    folds_digest: Digest,
    checks: Vec<(Check, u64)>,
    violation: Option<Violation>,
}

fn run(mut room: Room, inputs: &[Input], ticks: u64, watch: &mut dyn FnMut(&[Event])) -> Run {
    let period = room.profile().clock.state_hash_period.cast_unsigned();
    let mut feed = Feed::new(inputs);
    let mut folds = canon::Hasher::new();
    let mut keyframes = Vec::new();
    for tick in 0..ticks {
        let events = room.step(feed.at(tick));
        if !events.is_empty() {
            watch(events);
        }
        folds.update(&room.fold().to_be_bytes());
        if room.now().is_multiple_of(period) || room.now() == ticks {
            keyframes.push(keyframe(&mut room));
        }
    }
    let checks = Check::ALL.into_iter().map(|check| (check, room.checks().count(check))).collect();
    Run { keyframes, folds_digest: folds.finish(), checks, violation: room.checks().first.clone() }
}

fn keyframe(room: &mut Room) -> Keyframe {
    let folds = room.state().folds().into_iter().map(|(_, fold)| fold).collect();
    Keyframe { tick: room.now(), hash: room.state_hash(), folds }
}

/// SHA-256 over everything that decides a run.
fn decides(config: Digest, gate: Option<Digest>, setup: &Setup, ticks: u64, inputs: &Vec<Input>) -> Digest {
    let all = Object::new()
        .with("config_hash", config)
        .with("gate_hash", gate)
        .with("setup", setup.show())
        .with("ticks", ticks.show())
        .with("inputs", inputs.show());
    canonical_digest(&all.into())
}

/// Short digests of each member of an input: enough to name what was changed, not to rebuild it.
fn seal(input: &Input) -> BTreeMap<String, String> {
    let mut seal = BTreeMap::from([("tick".to_owned(), short(&input.tick.show()))]);
    if let Value::Object(command) = input.command.show() {
        seal.extend(command.iter().map(|(name, value)| (name.to_owned(), short(value))));
    }
    seal
}

fn short(value: &Value) -> String {
    let mut hex = canonical_digest(value).to_hex();
    hex.truncate(SEAL_DIGITS);
    hex
}

const SEAL_DIGITS: usize = 16;

impl Record {
    /// Runs it again and compares everything that is stored.
    ///
    /// # Errors
    /// The first thing that is not as stored: which input, which keyframe, which sections.
    pub fn replay(&self, profile: &Arc<Profile>) -> Result<(), Refusal> {
        self.check(profile)?;
        let room = Room::new(Arc::clone(profile), self.setup.clone()).map_err(setup_refused)?;
        let run = run(room, &self.inputs, self.ticks, &mut |_| {});
        self.compare(&run)
    }

    /// What can be said without running it.
    ///
    /// # Errors
    /// Another profile, inputs that cannot be, inputs that were edited.
    pub fn check(&self, profile: &Arc<Profile>) -> Result<(), Refusal> {
        if self.config_hash != profile.config_hash() {
            let hex = profile.config_hash().to_hex();
            return Err(Refusal::new(RecordFault::Profile, "config_hash", hex));
        }
        check_inputs(&self.inputs)?;
        if self.inputs.len() != self.seals.len() {
            let at = format!("inputs.{}", self.inputs.len().min(self.seals.len()));
            return Err(Refusal::new(RecordFault::InputEdited, at, "count"));
        }
        for (n, (input, stored)) in self.inputs.iter().zip(&self.seals).enumerate() {
            let now = seal(input);
            if let Some((name, _)) = now.iter().find(|(name, value)| stored.get(*name) != Some(value)) {
                let at = format!("inputs.{n}.{name}");
                let detail = format!("tick {} phase P2 {}", input.tick, input.command.verb.name());
                return Err(Refusal::new(RecordFault::InputEdited, at, detail));
            }
        }
        let now = decides(self.config_hash, self.gate_hash, &self.setup, self.ticks, &self.inputs);
        if now != self.decides {
            let at = "setup, ticks, gate_hash or number of inputs";
            return Err(Refusal::new(RecordFault::SetupEdited, at, ""));
        }
        let own = crate::setup::seed_text(crate::draw::seed(&self.setup.suite, self.setup.index));
        if self.setup.suite != crate::setup::GIVEN_SEED && self.setup.seed != own {
            return Err(Refusal::new(RecordFault::SetupEdited, "setup.seed", own));
        }
        Ok(())
    }

    fn compare(&self, run: &Run) -> Result<(), Refusal> {
        if self.keyframes.len() != run.keyframes.len() {
            return Err(Refusal::new(RecordFault::HashEdited, "keyframes", "count"));
        }
        let pairs = || self.keyframes.iter().zip(&run.keyframes);
        if let Some((stored, made)) = pairs().find(|(stored, made)| stored != made) {
            let last_is_right = self.folds_digest == run.folds_digest;
            let fault = if last_is_right { RecordFault::HashEdited } else { RecordFault::Diverges };
            return Err(Refusal::new(fault, format!("tick {}", made.tick), difference(stored, made)));
        }
        if self.folds_digest != run.folds_digest {
            return Err(Refusal::new(RecordFault::HashEdited, "folds_digest", run.folds_digest.to_hex()));
        }
        if self.checks != run.checks || self.violation != run.violation {
            return Err(Refusal::new(RecordFault::ChecksEdited, "checks", ""));
        }
        Ok(())
    }

    /// The canonical text.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        canonical(&self.value())
    }

    /// The canonical form.
    #[must_use]
    pub fn value(&self) -> Value {
        let checks = self.checks.iter().fold(Object::new(), |object, (check, count)| {
            object.with(check.name(), Value::Str(count_text(*count)))
        });
        Value::Object(
            Object::new()
                .with("version", VERSION)
                .with("config_hash", self.config_hash.to_hex())
                .with("gate_hash", self.gate_hash.map_or(Value::Null, |hash| Value::Str(hash.to_hex())))
                .with("setup", self.setup.show())
                .with("ticks", self.ticks.show())
                .with("inputs", self.inputs.show())
                .with("seals", Value::Array(self.seals.iter().map(show_seal).collect()))
                .with("decides_sha256", self.decides)
                .with("keyframes", Value::Array(self.keyframes.iter().map(show_keyframe).collect()))
                .with("folds_digest", self.folds_digest.to_hex())
                .with("checks", Value::Object(checks))
                .with("violation", self.violation.as_ref().map_or(Value::Null, show_violation))
                .with("evidence_class", "simulated"),
        )
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Anything that is not what [`Record::text`] writes.
    pub fn read(text: &[u8]) -> Result<Record, Refusal> {
        let unreadable = |at: String, detail: String| Refusal::new(RecordFault::Unreadable, at, detail);
        let value = canon::Reader::strict()
            .with_limits(canon::Limits { bytes_max: TEXT_MAX, ..canon::Limits::default() })
            .read(text)
            .map_err(|error| unreadable(format!("byte {}", error.offset), error.fault.code().to_owned()))?;
        read_value(&value).map_err(|misread| unreadable(misread.at, misread.expected.to_owned()))
    }
}

/// Most bytes of a record.
const TEXT_MAX: usize = 64 << 20;

fn read_value(value: &Value) -> Result<Record, Misread> {
    let object = object_of(value, &MEMBERS)?;
    let get = |name: &str| object.get(name).ok_or(Misread::here("a member that is missing").under(name));
    let digest = |name: &str| read_digest(get(name)?).map_err(|e| e.under(name));
    if get("version")?.as_str() != Some(VERSION) {
        return Err(Misread::here("the version of this format").under("version"));
    }
    if get("evidence_class")?.as_str() != Some("simulated") {
        return Err(Misread::here("simulated").under("evidence_class"));
    }
    let gate = get("gate_hash")?;
    let list = |name: &str| get(name)?.as_array().ok_or(Misread::here("a list").under(name));
    let seals = list("seals")?
        .iter()
        .enumerate()
        .map(|(n, seal)| read_seal(seal).map_err(|e| e.under(&n.to_string()).under("seals")))
        .collect::<Result<_, _>>()?;
    let keyframes = list("keyframes")?
        .iter()
        .enumerate()
        .map(|(n, frame)| read_keyframe(frame).map_err(|e| e.under(&n.to_string()).under("keyframes")))
        .collect::<Result<_, _>>()?;
    Ok(Record {
        config_hash: digest("config_hash")?,
        gate_hash: if gate.is_null() { None } else { Some(digest("gate_hash")?) },
        setup: member(object, "setup")?,
        ticks: member(object, "ticks")?,
        inputs: member(object, "inputs")?,
        seals,
        decides: digest("decides_sha256")?,
        keyframes,
        folds_digest: digest("folds_digest")?,
        checks: read_checks(get("checks")?).map_err(|e| e.under("checks"))?,
        violation: read_violation(get("violation")?).map_err(|e| e.under("violation"))?,
    })
}

fn show_seal(seal: &BTreeMap<String, String>) -> Value {
    Value::Object(seal.iter().fold(Object::new(), |object, (name, hex)| object.with(name, hex.as_str())))
}

fn read_seal(value: &Value) -> Result<BTreeMap<String, String>, Misread> {
    let object = value.as_object().ok_or(Misread::here("an object"))?;
    object
        .iter()
        .map(|(name, hex)| {
            let hex = hex.as_str().ok_or(Misread::here("hexadecimal digits").under(name))?;
            Ok((name.to_owned(), hex.to_owned()))
        })
        .collect()
}

fn read_digest(value: &Value) -> Result<Digest, Misread> {
    value.as_str().and_then(|text| Digest::parse(text).ok()).ok_or(Misread::here("64 hexadecimal digits"))
}

fn show_keyframe(frame: &Keyframe) -> Value {
    let folds = frame.folds.iter().map(|fold| Value::Str(format!("{fold:016x}"))).collect();
    Value::Object(
        Object::new()
            .with("tick", frame.tick.show())
            .with("hash", frame.hash.to_hex())
            .with("folds", Value::Array(folds)),
    )
}

fn read_keyframe(value: &Value) -> Result<Keyframe, Misread> {
    let object = object_of(value, &["tick", "hash", "folds"])?;
    let folds =
        object.get("folds").and_then(Value::as_array).ok_or(Misread::here("a list").under("folds"))?;
    let folds = folds
        .iter()
        .map(|fold| fold.as_str().and_then(crate::setup::read_seed))
        .collect::<Option<Vec<u64>>>()
        .filter(|folds| folds.len() == SECTIONS.len())
        .ok_or(Misread::here("16 hexadecimal digits for each section").under("folds"))?;
    let hash = object.get("hash").ok_or(Misread::here("a member that is missing").under("hash"))?;
    Ok(Keyframe {
        tick: member(object, "tick")?,
        hash: read_digest(hash).map_err(|e| e.under("hash"))?,
        folds,
    })
}

fn show_violation(violation: &Violation) -> Value {
    Value::Object(
        Object::new()
            .with("check", violation.check.name())
            .with("tick", violation.tick.show())
            .with("about", violation.about.show()),
    )
}

fn read_violation(value: &Value) -> Result<Option<Violation>, Misread> {
    if value.is_null() {
        return Ok(None);
    }
    let object = object_of(value, &["check", "tick", "about"])?;
    Ok(Some(Violation {
        check: member(object, "check")?,
        tick: member(object, "tick")?,
        about: member(object, "about")?,
    }))
}

fn read_checks(value: &Value) -> Result<Vec<(Check, u64)>, Misread> {
    let names: Vec<&str> = Check::ALL.iter().map(|check| check.name()).collect();
    let object = object_of(value, &names)?;
    Check::ALL
        .into_iter()
        .map(|check| {
            let count = object.get(check.name()).and_then(Value::as_str).and_then(read_count);
            count.map(|count| (check, count)).ok_or(Misread::here("a count").under(check.name()))
        })
        .collect()
}

/// Which sections differ between two keyframes.
fn difference(stored: &Keyframe, made: &Keyframe) -> String {
    let names: Vec<&str> = SECTIONS
        .iter()
        .zip(stored.folds.iter().zip(&made.folds))
        .filter(|(_, (a, b))| a != b)
        .map(|(name, _)| *name)
        .collect();
    if names.is_empty() { "hash".to_owned() } else { names.join(",") }
}
