//! Why a tool has no answer: a closed list.

canon::codes! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    /// What is wrong with a call, or with the machine; never with a delivery, whose refusal is an answer.
    pub enum Wrong {
        /// There is no such tool.
        ToolUnknown = "mcp_tool_unknown",
        /// An argument is missing, unknown, of another type, or out of range.
        Argument = "mcp_argument",
        /// A path does not lie in the folder that this server serves.
        OutsideRoot = "mcp_outside_root",
        /// As many calls run or wait as may.
        Busy = "mcp_busy",
        /// The command was used wrongly, by its own account.
        Usage = "mcp_usage",
        /// The command took longer than the call allowed.
        TimedOut = "mcp_timed_out",
        /// The client took the call back.
        Cancelled = "mcp_cancelled",
        /// The command could not be started, or said nothing that can be read.
        NotRun = "mcp_not_run",
    }
}

/// A refusal of a call, with what helps to mend it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) wrong: Wrong,
    pub(crate) detail: String,
}

impl Refusal {
    pub(crate) fn new(wrong: Wrong, detail: impl Into<String>) -> Refusal {
        Refusal { wrong, detail: detail.into() }
    }
}
