//! Regulation beside the levels.

use super::Channel;

crate::names! {
    /// Bands of a reserve (GD-30).
    pub enum Band {
        /// At or above the comfort threshold.
        Comfort = "COMFORT",
        /// Between.
        Neutral = "NEUTRAL",
        /// Entered below the warning threshold.
        Warning = "WARNING",
        /// Entered below the danger threshold.
        Danger = "DANGER",
    }
}

crate::names! {
    /// Whether a channel can be served (GD-34).
    pub enum Controllable {
        /// Yes, with a guaranteed way.
        Yes = "controllable",
        /// Not at present, or not for certain.
        Temporarily = "temporarily_uncontrollable",
        /// Never again in this scenario.
        Permanently = "permanently_uncontrollable",
    }
}

crate::state! {
    /// The record of a channel that nothing can serve (GD-34).
    pub struct Uncontrolled {
        /// First tick at which no executor was admitted.
        pub t0: Option<u64>,
        /// Tick at which the record was opened.
        pub since: Option<u64>,
        /// Messages sent: one alarm and at most three calls.
        pub messages: u8,
        /// Urgency frozen when the record was opened.
        pub urgency: i64,
        /// A call for help that a present person can be asked.
        pub asking: bool,
    }
}

crate::state! {
    /// Regulation beside the levels.
    pub struct Regulation {
        /// Band of each channel.
        pub band: [Band; Channel::COUNT],
        /// Flag of each channel.
        pub control: [Controllable; Channel::COUNT],
        /// A fallible way is believed to work.
        pub fallible: [bool; Channel::COUNT],
        /// No way is believed to work.
        pub none: [bool; Channel::COUNT],
        /// Record of each channel.
        pub record: [Uncontrolled; Channel::COUNT],
        /// Channels whose latest start has come, or that are in danger.
        pub tier1: u8,
        /// Channels that are served early, because something else would not fit before their deadline.
        pub early: u8,
        /// Tick of the last settled service of each channel.
        pub served: [u64; Channel::COUNT],
        /// The running minute has a part of work or a true novelty in it.
        pub minute_work: bool,
        /// It has sleep in it, or a danger.
        pub minute_paused: bool,
        /// It has something else than Idle, Wait, Rest and Sleep in it.
        pub minute_busy: bool,
        /// Tick of the last familiar behaviour that counted.
        pub familiar: Option<u64>,
        /// Effects that were clamped away, µ.
        pub waste: i64,
    }
}
