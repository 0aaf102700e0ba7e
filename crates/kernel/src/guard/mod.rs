//! The guard: eight layers in order, the first block ends, advice is collected (K-2, V-1 to V-5).

pub mod danger;
mod layers;
mod lookalike;
pub mod normalise;
mod reading;
mod reason;

pub use reason::Reason;

use crate::audit::AuditContext;
use crate::envelope::Envelope;
use danger::{Danger, Hit, Seen};
use normalise::{Ambiguous, Normal, Reading};
use verdict::{Action, Triple};

/// The layers of V-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// L1: members and their types.
    Structure,
    /// L2: sizes.
    Size,
    /// L3: dangerous patterns.
    Danger,
    /// L4: permission.
    Permission,
    /// L5: identity and distortion.
    Identity,
    /// L6: metadata.
    Metadata,
    /// L7: the sender's chain.
    Audit,
    /// L8: consistency.
    Consistency,
}

impl Layer {
    /// Every layer, in the order in which they are asked.
    pub const ALL: [Layer; 8] = [
        Layer::Structure,
        Layer::Size,
        Layer::Danger,
        Layer::Permission,
        Layer::Identity,
        Layer::Metadata,
        Layer::Audit,
        Layer::Consistency,
    ];

    /// `L1` to `L8`.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Structure => "L1",
            Layer::Size => "L2",
            Layer::Danger => "L3",
            Layer::Permission => "L4",
            Layer::Identity => "L5",
            Layer::Metadata => "L6",
            Layer::Audit => "L7",
            Layer::Consistency => "L8",
        }
    }
}

/// A verdict with what was hit (V-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Action, layer, reason.
    pub triple: Triple,
    /// Which member, as a dotted path.
    pub member: String,
    /// What in it: a pattern, a code of the reader, or what was expected. Never empty.
    pub pattern: String,
}

impl Finding {
    /// A finding of the guard; the pattern is the member until something better is known.
    pub(crate) fn new(reason: Reason, member: impl Into<String>) -> Finding {
        let member = member.into();
        let triple = Triple { action: reason.action(), layer: reason.layer().name(), reason: reason.code() };
        Finding { triple, pattern: member.clone(), member }
    }

    pub(crate) fn with_pattern(mut self, pattern: impl Into<String>) -> Finding {
        self.pattern = pattern.into();
        self
    }
}

/// What a layer said: one row a finding, or one that says that it found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Action, layer, reason.
    pub triple: Triple,
}

canon::codes! {
    /// Reasons of steps that let pass.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Passed {
        /// A layer found nothing.
        GuardClear = "guard_clear",
        /// A skill was found.
        RouteFound = "route_found",
        /// The skill gave an output.
        SkillDone = "skill_done",
        /// The mode asks for no run.
        SkillNotRun = "skill_not_run",
    }
}

/// What the guard says about one envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Every step, in order; those behind a block were not taken.
    pub steps: Vec<Step>,
    /// The strongest finding, the first of them when several are as strong.
    pub finding: Option<Finding>,
}

impl Checked {
    pub(crate) fn blocked(&self) -> bool {
        self.finding.as_ref().is_some_and(|finding| finding.triple.action == Action::Block)
    }
}

/// Room that one worker uses again for each envelope. It carries nothing from one to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    joined: Normal,
    other: Normal,
    seen: Seen,
    hits: Vec<Hit>,
}

/// The guard of a kernel.
#[derive(Clone, Debug)]
pub struct Guard {
    danger: Danger,
}

impl Guard {
    /// The guard with the patterns of `danger.toml`.
    ///
    /// # Errors
    /// What is wrong with that file; a test proves that nothing is.
    pub fn new() -> Result<Guard, String> {
        Ok(Guard { danger: Danger::builtin()? })
    }

    /// The danger patterns.
    pub fn danger(&self) -> &Danger {
        &self.danger
    }

    /// Asks every layer. `needs` is the permission that the task's skill wants; it is asked only when L1 to L3 let pass,
    /// because routing reads the task.
    pub fn check(
        &self,
        envelope: &Envelope,
        audit: &AuditContext,
        scratch: &mut Scratch,
        needs: &mut dyn FnMut() -> u8,
    ) -> Checked {
        let mut report = Report { steps: Vec::with_capacity(12), finding: None };
        for layer in Layer::ALL {
            let before = report.steps.len();
            match layer {
                Layer::Structure => {}
                Layer::Size => layers::size(envelope, &mut report),
                Layer::Danger => self.dangers(envelope, scratch, &mut report),
                Layer::Permission => layers::permission(envelope, needs(), &mut report),
                Layer::Identity => layers::identity(envelope, &scratch.joined, &mut report),
                Layer::Metadata => layers::metadata(envelope, &mut report),
                Layer::Audit => layers::audit(envelope, audit, &mut report),
                Layer::Consistency => layers::consistency(envelope, audit, &mut report),
            }
            if report.blocked() {
                break;
            }
            if report.steps.len() == before {
                report.clear(layer);
            }
        }
        Checked { steps: report.steps, finding: report.finding }
    }

    /// L3. Texts that two languages read differently are read in every way.
    fn dangers(&self, envelope: &Envelope, scratch: &mut Scratch, report: &mut Report) {
        let Scratch { joined, other, seen, hits } = scratch;
        hits.clear();
        let mut found: Vec<(usize, Hit)> = Vec::new();
        let mut ambiguous = Ambiguous::default();
        for reading in Reading::ALL {
            if !reading.adds(ambiguous) {
                continue;
            }
            // The first reading is kept: other layers look at it.
            let normal = if reading == Reading::Joined { &mut *joined } else { &mut *other };
            normalise_all(envelope, normal, reading);
            ambiguous = ambiguous.or(normal.ambiguous);
            let known = hits.len();
            self.danger.find(normal, seen, hits);
            found.extend(hits[known..].iter().map(|hit| (normal.text_of(hit.at), *hit)));
        }
        // Patterns of the file in the file's order, advice first: it would be lost behind the block.
        let patterns = self.danger.patterns();
        found.sort_by_key(|(_, hit)| (patterns[hit.pattern].action == Action::Block, hit.pattern));
        for (text, hit) in found {
            let pattern = &patterns[hit.pattern];
            report.add(Finding {
                triple: Triple { action: pattern.action, layer: Layer::Danger.name(), reason: pattern.id },
                member: layers::text_name(envelope, text),
                pattern: pattern.spell[hit.spelling].to_owned(),
            });
            if report.blocked() {
                return;
            }
        }
    }
}

fn normalise_all(envelope: &Envelope, normal: &mut Normal, reading: Reading) {
    normal.clear();
    normal.push(&envelope.task, reading);
    layers::each_text(&envelope.payload, &mut |text| match text {
        layers::Text::One(text) => normal.push(text, reading),
        layers::Text::Words(words) => {
            normal.push_words(words.iter().filter_map(canon::Value::as_str), reading);
        }
    });
}

/// Steps while they are taken.
#[derive(Debug)]
struct Report {
    steps: Vec<Step>,
    finding: Option<Finding>,
}

impl Report {
    fn add(&mut self, finding: Finding) {
        self.steps.push(Step { triple: finding.triple });
        let stronger = match &self.finding {
            None => true,
            Some(known) => known.triple.action == Action::Advise && finding.triple.action == Action::Block,
        };
        if stronger {
            self.finding = Some(finding);
        }
    }

    fn clear(&mut self, layer: Layer) {
        let reason = Passed::GuardClear.code();
        self.steps.push(Step { triple: Triple { action: Action::Allow, layer: layer.name(), reason } });
    }

    fn blocked(&self) -> bool {
        self.finding.as_ref().is_some_and(|finding| finding.triple.action == Action::Block)
    }
}
