//! What is wrong with a profile: a closed list of codes, the key, and the values that disagree.

canon::codes! {
    /// Why a profile is refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Code {
        /// The text is no TOML, or has something beside `name` and `K`.
        File = "prof_file",
        /// A key that the registry of constants does not have (RC-LNT-02).
        UnknownKey = "prof_unknown_key",
        /// A key of the registry that the file does not have.
        MissingKey = "prof_missing_key",
        /// An entry lacks a member, has one too many, or one of the wrong type.
        Entry = "prof_entry",
        /// The stage of an entry contradicts the code (RC-LNT-04).
        Stage = "prof_stage",
        /// The unit is not one of the closed list.
        Unit = "prof_unit",
        /// The value has not the shape that the code reads.
        Shape = "prof_shape",
        /// The value leaves `min..=max`.
        Range = "prof_range",
        /// Detection, interruption and protection do not fit before harm (RC-SAF-09).
        SafetyPath = "prof_safety_path",
        /// A hazard that is declared controllable comes too fast for that (RC-CLK-08, GD-12).
        HazardTtc = "prof_hazard_ttc",
        /// Times of the queue contradict each other (GD-20, GD-21).
        Dwell = "prof_dwell",
        /// Times of an Interaction contradict the clock (GD-22).
        Interaction = "prof_interaction",
        /// Thresholds are not in the order of their hysteresis (RC-REG-02 to RC-REG-04, RC-SAF-06).
        Hysteresis = "prof_hysteresis",
        /// Parts do not add up to their whole.
        Sum = "prof_sum",
        /// Budgets of retries contradict each other (GD-52).
        Retry = "prof_retry",
        /// A fixture contradicts the contract.
        Fixture = "prof_fixture",
        /// The layout is none, or the room is too large for what must be reached in it (GD-08, GD-13).
        World = "prof_world",
    }
}

/// One thing that is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// What kind.
    pub code: Code,
    /// The key, `group.name`; empty for the whole file.
    pub key: String,
    /// The values that disagree.
    pub detail: String,
}

impl Problem {
    pub(super) fn new(code: Code, key: impl Into<String>, detail: impl Into<String>) -> Problem {
        Problem { code, key: key.into(), detail: detail.into() }
    }
}
