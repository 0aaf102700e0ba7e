//! The closed list of ways in which a run of the desk ends (desk specification 10.2, rulings 7 and 16).

/// What a verdict asks for (V-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Go on.
    Allow,
    /// Go on, but look.
    Advise,
    /// Stop.
    Block,
}

impl Action {
    /// The word of V-1.
    pub fn word(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Advise => "advise",
            Action::Block => "block",
        }
    }
}

/// A verdict: exactly these three (V-1, V-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple {
    /// What to do.
    pub action: Action,
    /// Where it was decided.
    pub layer: &'static str,
    /// Why, as a code of the registry.
    pub reason: &'static str,
}

macro_rules! stop_reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $exit:literal;)*) => {
        /// Why a run ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StopReason { $($(#[$doc])* $variant,)* }

        impl StopReason {
            /// Every member.
            pub const ALL: &[StopReason] = &[$(StopReason::$variant,)*];

            /// The stable code.
            pub fn code(self) -> &'static str {
                match self { $(StopReason::$variant => $code,)* }
            }

            /// Exit code of `run` (ruling 7): 0 accepted, 20 refused, 21 inconclusive, 22 infrastructure void.
            pub fn exit_code(self) -> u8 {
                match self { $(StopReason::$variant => $exit,)* }
            }
        }
    };
}

stop_reasons! {
    /// Every check passed.
    VisiblePass = "visible_pass", 0;
    /// The caller said that nothing is measured; accepted is null.
    Ungated = "ungated", 0;
    /// A check failed, was not reported, or nothing passed.
    VisibleFail = "visible_fail", 20;
    /// Every attempt that was allowed failed.
    AttemptsExhausted = "attempts_exhausted", 20;
    /// There is no suite, or a suite without checks.
    NoSuite = "no_suite", 20;
    /// What the agent left behind cannot be hashed, frozen or confined (ruling 16).
    DeliveryUnfit = "delivery_unfit", 20;
    /// A check was unstable: it failed and passed (ruling 13).
    VisibleUnstable = "visible_unstable", 21;
    /// The workspace kept changing while it was copied.
    WsMovedDuringFreeze = "ws_moved_during_freeze", 22;
    /// The workspace cannot be put back to what it was at the start.
    WsResetFailed = "ws_reset_failed", 22;
    /// Text that the desk was about to add holds rhetoric of responsibility or punishment (KS-1).
    Ks1Violation = "ks1_violation", 22;
    /// The model channel cannot be recorded: no port, no folder, an upstream that is no address.
    WireUnavailable = "wire_unavailable", 22;
    /// The agent's command cannot be started.
    AgentSpawnFailed = "agent_spawn_failed", 22;
    /// The required sandbox level is not to be had on this machine.
    SandboxUnavailable = "sandbox_unavailable", 22;
    /// The agent cannot be enclosed on this machine, and enclosed it was to be.
    EnclosureUnavailable = "enclosure_unavailable", 22;
    /// The tier that was required is above the one that was measured.
    TierNotReached = "tier_not_reached", 22;
    /// A program that the suite names is missing (ruling 17).
    SuiteToolMissing = "suite_tool_missing", 22;
    /// The desk's own machinery failed: shown by the same step failing on an empty workspace (ruling 16).
    DeskFault = "desk_fault", 22;
    /// The desk was told to stop before the run had ended.
    Interrupted = "interrupted", 22;
}

impl StopReason {
    /// Accepted, refused, or not judged.
    pub fn accepted(self) -> Option<bool> {
        match self {
            StopReason::VisiblePass => Some(true),
            StopReason::Ungated => None,
            other if other.is_void() => None,
            _ => Some(false),
        }
    }

    /// The run proves nothing about the delivery.
    pub fn is_void(self) -> bool {
        self.exit_code() == 22
    }

    /// The verdict as the triple that the whole product uses (V-7).
    pub fn triple(self) -> Triple {
        let action = match self.exit_code() {
            0 if self == StopReason::Ungated => Action::Advise,
            0 => Action::Allow,
            21 => Action::Advise,
            _ => Action::Block,
        };
        Triple { action, layer: "desk", reason: self.code() }
    }
}
