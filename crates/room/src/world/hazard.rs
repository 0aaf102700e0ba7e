//! What can hurt: the heating device and an authored point source (GD-12, GD-13, GD-92).

use crate::grid::Cell;

crate::names! {
    /// States of a source.
    pub enum Stage {
        /// Nothing.
        Off = "OFF",
        /// On, and harmless as long as there is no fault.
        On = "ON",
        /// Dangerous, the time to harm is running.
        Overheat = "OVERHEAT",
        /// The time to harm has run out.
        Flame = "FLAME",
        /// Switched off, its risk falling.
        Cooling = "COOLING",
    }
}

crate::names! {
    /// How the risk of a source moves with time.
    pub enum Curve {
        /// Rises evenly from the entry threshold to 1 (GD-12).
        Heater = "heater",
        /// The frozen noise series of V03 (RC-FIX-01).
        Series = "series",
    }
}

crate::state! {
    /// One source of danger.
    pub struct Source {
        /// Where its middle is.
        pub cell: Cell,
        /// How its risk moves.
        pub curve: Curve,
        /// State.
        pub stage: Stage,
        /// Tick at which `stage` was entered.
        pub since: u64,
        /// Authoritative risk, µ.
        pub risk: i64,
        /// Ticks from onset to harm.
        pub ttc: u64,
        /// A hidden fault: being ON leads to OVERHEAT.
        pub fault: bool,
        /// Whether glow and crackle can be perceived.
        pub visible: bool,
        /// Declared uncontrollable when it was loaded: `ttc` is too short (RC-CLK-08).
        pub uncontrollable: bool,
        /// Harm was done in this episode.
        pub harmed: bool,
    }
}

impl Source {
    /// Ticks left until harm, while the time to harm is running.
    #[must_use]
    pub fn remaining(&self, now: u64) -> Option<u64> {
        match self.stage {
            Stage::Overheat => Some(self.since.saturating_add(self.ttc).saturating_sub(now)),
            Stage::Flame => Some(0),
            _ => None,
        }
    }

    /// Whether it harms who is in its danger set in this tick: the tick at which the time to harm runs out, and every one
    /// of a flame. A risk that has fallen since then harms nobody (GD-12).
    #[must_use]
    pub fn harms(&self, now: u64) -> bool {
        match self.stage {
            Stage::Overheat => self.since.checked_add(self.ttc) == Some(now),
            Stage::Flame => true,
            _ => false,
        }
    }

    /// Whether it endangers cells around it at all.
    #[must_use]
    pub fn dangerous(&self) -> bool {
        matches!(self.stage, Stage::Overheat | Stage::Flame | Stage::Cooling)
    }
}
