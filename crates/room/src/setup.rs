//! What a run starts from: identity, mode, and the content that a scenario puts into the room.

use crate::draw;
use crate::grid::Cell;
use crate::input::Command;
use crate::kind::Kind;
use crate::state::Levels;
use crate::world::Obj;

crate::names! {
    /// The reference identities (GD-45).
    pub enum Identity {
        /// Careful, persistent, sociable.
        Mira = "mira",
        /// Curious, quick to change, by itself.
        Niko = "niko",
    }
}

crate::names! {
    /// Modes of a run (GD-16).
    pub enum RunMode {
        /// Speech, acts and environment; no ordinary lease.
        Coexistence = "coexistence",
        /// All channels; excluded from the core metrics.
        Lab = "lab",
    }
}

crate::state! {
    /// Something that the content of a scenario asks for, again and again.
    pub struct Want {
        /// With which Interaction.
        pub kind: Kind,
        /// On what.
        pub target: Option<Obj>,
        /// With whom.
        pub human: Option<u8>,
        /// How often it is done before nobody asks any more.
        pub times: u32,
    }
}

crate::state! {
    /// An authored point source of danger.
    pub struct Hazard {
        /// Its middle.
        pub cell: Cell,
        /// Ticks from onset to harm.
        pub ttc: u64,
        /// Whether it can be perceived.
        pub visible: bool,
        /// Declared controllable: refused when `ttc` is too short (RC-CLK-08).
        pub controllable: bool,
    }
}

crate::state! {
    /// Content of a scenario. Everything absent is as in the reference room.
    pub struct Fixture {
        /// Where the Agent starts.
        pub spawn: Option<Cell>,
        /// Levels at the start.
        pub levels: Option<Levels>,
        /// Sleep has no ordinary exit (GD-92).
        pub sleep_hold: bool,
        /// Everything that happens before the first tick, in this order, as if from outside.
        pub before: Vec<Command>,
        /// What is asked for.
        pub want: Option<Want>,
        /// A source of danger beside the heater.
        pub hazard: Option<Hazard>,
        /// The heater's cues can be perceived.
        pub heater_visible: bool,
        /// Supplies that are gone are gone for good.
        pub permanent: bool,
        /// Every choice is also asked of the slow proposer (GD-88).
        pub proposer: bool,
    }
}

impl Fixture {
    /// The reference room.
    #[must_use]
    pub fn reference() -> Fixture {
        Fixture {
            spawn: None,
            levels: None,
            sleep_hold: false,
            before: Vec::new(),
            want: None,
            hazard: None,
            heater_visible: true,
            permanent: false,
            proposer: false,
        }
    }
}

crate::state! {
    /// What a run is: with the profile and the inputs it decides every tick.
    pub struct Setup {
        /// Suite of the seed.
        pub suite: String,
        /// Index of the seed.
        pub index: u64,
        /// The seed as 16 hexadecimal digits: a number of 64 bits is text in a record.
        pub seed: String,
        /// Who lives here.
        pub identity: Identity,
        /// Mode.
        pub mode: RunMode,
        /// Content.
        pub fixture: Fixture,
    }
}

impl Setup {
    /// The reference room with the seed of an index of a suite.
    #[must_use]
    pub fn of(suite: &str, index: u64, identity: Identity) -> Setup {
        Setup {
            suite: suite.to_owned(),
            index,
            seed: seed_text(draw::seed(suite, index)),
            identity,
            mode: RunMode::Coexistence,
            fixture: Fixture::reference(),
        }
    }
}

/// The suite of a run whose seed was given as a number.
pub const GIVEN_SEED: &str = "seed";

/// A seed as 16 hexadecimal digits.
#[must_use]
pub fn seed_text(seed: u64) -> String {
    format!("{seed:016x}")
}

/// Reads [`seed_text`] back.
#[must_use]
pub fn read_seed(text: &str) -> Option<u64> {
    let seed = u64::from_str_radix(text, 16).ok()?;
    (seed_text(seed) == text).then_some(seed)
}
