//! Product Safety and body control.

use super::Channel;
use crate::input::Command;
use crate::item::Owner;

crate::names! {
    /// Safety modes (RC-SAF-01 to RC-SAF-05).
    pub enum SafetyMode {
        /// No credible danger.
        Clear = "CLEAR",
        /// May harm, can be confirmed or stopped.
        Alert = "ALERT",
        /// Get away.
        Evacuating = "EVACUATING",
        /// Danger falling, reset.
        Recovery = "RECOVERY",
        /// Nothing can be done.
        Uncontrollable = "UNCONTROLLABLE",
    }
}

crate::state! {
    /// Product Safety.
    pub struct Safety {
        /// Mode.
        pub mode: SafetyMode,
        /// Tick of the last change of mode.
        pub since: u64,
        /// First tick of the running stretch below the exit threshold.
        pub clear_from: Option<u64>,
        /// First tick of the running stretch outside of the danger set.
        pub outside_from: Option<u64>,
        /// Number of the running or last danger episode.
        pub episode: u32,
        /// Tick at which it began.
        pub entered: u64,
        /// The danger is confirmed.
        pub confirmed: bool,
        /// The one call for help of this episode is out.
        pub called: bool,
        /// Which source it is about.
        pub source: u8,
        /// Emergency assist of this episode: until when, once.
        pub assist_until: Option<u64>,
        /// It has been used.
        pub assisted: bool,
        /// The safe set was reached in this episode, at this tick.
        pub safe_at: Option<u64>,
        /// Times that CLEAR was left.
        pub entries: u32,
    }
}

crate::names! {
    /// Modes of body control (RC-CTL-01).
    pub enum ControlMode {
        /// The Agent decides.
        Autonomous = "AUTONOMOUS",
        /// Waiting for an agreement.
        Negotiating = "NEGOTIATING",
        /// A person holds a lease.
        OperatorLease = "OPERATOR_LEASE",
        /// Safety holds the body.
        Emergency = "EMERGENCY",
        /// Safety resets it.
        Recovery = "RECOVERY",
    }
}

impl ControlMode {
    /// The one owner that belongs to a mode (GD-26).
    #[must_use]
    pub fn owner(self) -> Owner {
        match self {
            ControlMode::Autonomous | ControlMode::Negotiating => Owner::Agent,
            ControlMode::OperatorLease => Owner::Operator,
            ControlMode::Emergency | ControlMode::Recovery => Owner::Safety,
        }
    }
}

crate::state! {
    /// Body control.
    pub struct Control {
        /// Mode.
        pub mode: ControlMode,
        /// The owner; INV-03 compares it with the mode.
        pub owner: Owner,
        /// Tick of the last change of mode.
        pub since: u64,
        /// End of the lease or of the negotiation.
        pub until: u64,
        /// Tick of the last command under the lease.
        pub commanded: u64,
        /// The one command that waits.
        pub waiting: Option<Command>,
        /// The negotiation asks for a lease.
        pub lease_asked: bool,
        /// No lease until this channel has been served (GD-26).
        pub refused_for: Option<Channel>,
        /// Tick of the last input of an intervention, while the body is not back.
        pub intervened: Option<u64>,
    }
}
