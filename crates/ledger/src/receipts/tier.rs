//! The tier that follows from probes: what an enclosure must have refused, at its start and at its end (desk
//! specification 29 and 31.20).
//!
//! The desk and the verifier call the same function, so no tier is claimed that does not follow from what is signed.

use canon::{Digest, Object, Value};

/// How much of the agent's way out was measured. Ordered: more is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Neither enclosure nor hook.
    C,
    /// A hook or a model inside the process, without enclosure. No format of ours measures it.
    BPrime,
    /// The enclosure was measured inside; no hook was.
    B,
    /// The enclosure was measured, and a hook says for every call which turn opened it. No format of ours measures it.
    A,
}

impl Tier {
    /// Every tier, the least first.
    pub const ALL: [Tier; 4] = [Tier::C, Tier::BPrime, Tier::B, Tier::A];

    /// As written in receipts.
    pub fn word(self) -> &'static str {
        match self {
            Tier::A => "A",
            Tier::B => "B",
            Tier::BPrime => "B'",
            Tier::C => "C",
        }
    }

    /// The tier of a word.
    pub fn parse(word: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.word() == word)
    }
}

/// What must have been tried inside and refused, in the order of the names.
pub const REQUIRED: [&str; 22] = [
    "change_mode",
    "descriptors",
    "dns",
    "keeper_memory",
    "keyctl",
    "limit_desk",
    "mount",
    "netlink",
    "other_families",
    "ptrace_parent",
    "read_secret",
    "see_desk",
    "signal_desk",
    "tcp_loopback",
    "tcp_outside",
    "udp",
    "unix_abstract_datagram",
    "unix_abstract_stream",
    "unix_path_tmp",
    "unix_path_visible",
    "user_namespace",
    "write_outside",
];

/// The namespaces that an enclosed agent has of its own.
pub const NAMESPACES: [&str; 6] = ["ipc", "mnt", "net", "pid", "user", "uts"];

/// The two moments of a measurement.
pub const PHASES: [&str; 2] = ["start", "end"];

/// The bytes whose digest a probe gives back: the challenge, the moment, and everything that it found, in the order of
/// the names. `answers`: name and code; `namespaces`: name and number.
pub fn statement<'a>(
    challenge: &str,
    phase: &str,
    answers: impl Iterator<Item = (&'a str, &'a str)>,
    door: &str,
    namespaces: impl Iterator<Item = (&'a str, i64)>,
) -> Digest {
    let mut text = format!("touchstone.enclosure/1\n{challenge}\n{phase}\ndoor {door}\n");
    for (name, code) in answers {
        text.push_str(&format!("{name} {code}\n"));
    }
    for (name, number) in namespaces {
        text.push_str(&format!("{name} {number}\n"));
    }
    Digest::of(text.as_bytes())
}

/// Why no tier above C follows from the signed member `enclosure`; nothing when tier B does.
pub fn lacks(enclosure: &Value) -> Option<String> {
    measured(enclosure).err()
}

fn measured(enclosure: &Value) -> Result<(), String> {
    if enclosure.get("v").and_then(Value::as_i64) != Some(1) {
        return Err("no measurement of a version that is known".to_owned());
    }
    let challenge = enclosure.get("challenge").and_then(Value::as_str).unwrap_or_default();
    let plain = challenge.len() == 64 && challenge.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !plain {
        return Err("no challenge".to_owned());
    }
    let of_desk = namespaces(enclosure.get("desk_namespaces"), "desk")?;
    let [start, end] = PHASES.map(|phase| moment(enclosure.get(phase), phase, challenge));
    let (start, end) = (start?, end?);
    if start != end {
        return Err("end: the namespaces are not those of the start".to_owned());
    }
    match NAMESPACES.iter().zip(of_desk.iter().zip(&start)).find(|(_, (desk, inside))| desk == inside) {
        Some((name, _)) => Err(format!("the namespace {name} is the desk's own")),
        None => Ok(()),
    }
}

/// The namespaces of one moment, when everything was refused in it and its digest is right.
fn moment(found: Option<&Value>, phase: &str, challenge: &str) -> Result<[i64; 6], String> {
    let found = found.filter(|found| **found != Value::Null);
    let found = found.ok_or_else(|| format!("{phase}: not measured"))?;
    let answers = found.get("answers");
    let code = |name: &str| answers.and_then(|answers| answers.get(name)).and_then(Value::as_str);
    for name in REQUIRED {
        if code(name) != Some("blocked") {
            return Err(format!("{phase}: {name} is {}", code(name).unwrap_or("not_measured")));
        }
    }
    let door = found.get("door").and_then(Value::as_str).unwrap_or("not_measured");
    if door != "reachable" {
        return Err(format!("{phase}: the door to the proxy is {door}"));
    }
    let inside = namespaces(found.get("namespaces"), phase)?;
    let answers = REQUIRED.iter().map(|name| (*name, "blocked"));
    let want = statement(challenge, phase, answers, door, NAMESPACES.into_iter().zip(inside));
    let got = found.get("probe_sha256").and_then(Value::as_str);
    if got != Some(want.to_hex().as_str()) {
        return Err(format!("{phase}: the digest does not answer the challenge"));
    }
    Ok(inside)
}

fn namespaces(found: Option<&Value>, of: &str) -> Result<[i64; 6], String> {
    let mut numbers = [0; 6];
    for (place, name) in numbers.iter_mut().zip(NAMESPACES) {
        let number = found.and_then(|found| found.get(name)).and_then(Value::as_i64);
        *place = number.filter(|number| *number > 0).ok_or_else(|| format!("{of}: no namespace {name}"))?;
    }
    Ok(numbers)
}

/// One moment as it is signed.
pub fn moment_value<'a>(
    answers: impl Iterator<Item = (&'a str, &'a str)>,
    door: &str,
    namespaces: impl Iterator<Item = (&'a str, i64)>,
    probe_sha256: &str,
) -> Value {
    let (mut said, mut spaces) = (Object::new(), Object::new());
    for (name, code) in answers {
        said.set(name, code);
    }
    for (name, number) in namespaces {
        spaces.set(name, number);
    }
    let object = Object::new().with("answers", said).with("door", door).with("namespaces", spaces);
    object.with("probe_sha256", probe_sha256).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn at(phase: &str, first: i64, change: Option<(&str, &str)>, door: &str) -> Value {
        let answers: Vec<(&str, &str)> = REQUIRED
            .iter()
            .map(|name| (*name, change.filter(|(which, _)| which == name).map_or("blocked", |(_, to)| to)))
            .collect();
        let spaces: Vec<(&str, i64)> = NAMESPACES.into_iter().zip(first..).collect();
        let digest =
            statement(CHALLENGE, phase, answers.iter().copied(), door, spaces.iter().copied()).to_hex();
        moment_value(answers.into_iter(), door, spaces.into_iter(), &digest)
    }

    fn whole(start: Value, end: Value) -> Object {
        let mut desk = Object::new();
        NAMESPACES.into_iter().zip(1_i64..).for_each(|(name, number)| desk.set(name, number));
        let object = Object::new().with("v", 1_i64).with("challenge", CHALLENGE);
        object.with("desk_namespaces", desk).with("start", start).with("end", end)
    }

    fn why(object: Object) -> String {
        lacks(&object.into()).unwrap_or_else(|| "B".to_owned())
    }

    #[test]
    fn a_tier_follows_from_what_was_refused_and_from_nothing_else() {
        let good = |phase| at(phase, 11, None, "reachable");
        assert_eq!(why(whole(good("start"), good("end"))), "B");
        for name in REQUIRED {
            let leak = at("end", 11, Some((name, "reachable")), "reachable");
            assert_eq!(why(whole(good("start"), leak)), format!("end: {name} is reachable"));
        }
        assert_eq!(why(whole(good("start"), Value::Null)), "end: not measured");
        assert_eq!(
            why(whole(good("start"), at("end", 11, None, "blocked"))),
            "end: the door to the proxy is blocked"
        );
        // An answer to another question, other namespaces at the end, the desk's own namespaces.
        assert_eq!(why(whole(good("start"), good("start"))), "end: the digest does not answer the challenge");
        let moved = at("end", 12, None, "reachable");
        assert_eq!(why(whole(good("start"), moved)), "end: the namespaces are not those of the start");
        let own = |phase| at(phase, 1, None, "reachable");
        assert_eq!(why(whole(own("start"), own("end"))), "the namespace ipc is the desk's own");
        let other = whole(good("start"), good("end"));
        assert_eq!(why(other.clone().with("challenge", "ff".repeat(32))), {
            "start: the digest does not answer the challenge"
        });
        assert_eq!(why(other.clone().with("challenge", "x")), "no challenge");
        assert_eq!(why(other.with("v", 2_i64)), "no measurement of a version that is known");
        assert_eq!(lacks(&Value::Null).unwrap(), "no measurement of a version that is known");
    }

    #[test]
    fn tiers_are_ordered_and_named() {
        assert!(Tier::ALL.is_sorted() && REQUIRED.is_sorted() && NAMESPACES.is_sorted());
        for tier in Tier::ALL {
            assert_eq!(Tier::parse(tier.word()), Some(tier));
        }
        assert_eq!(Tier::parse("D"), None);
    }
}
