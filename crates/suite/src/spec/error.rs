//! Why a suite is refused: the codes of desk specification 16.3.

use crate::literal::ErrorName;
use std::fmt;

/// The first thing that is wrong with a suite. [`SpecError::code`] is the name in the registry, its `Display` the wire
/// value that goes into receipts, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// The bytes are no JSON: the exception of the peer's reader.
    NotCanonicalJson(&'static str),
    /// The suite is a text, a piece of code perhaps.
    RawCode,
    /// The suite is of this type and no mapping.
    NotMapping(&'static str),
    /// `v` is not 1; as Python prints it.
    BadVersion(String),
    /// Strict only: top-level members that the format does not have, as Python prints the list.
    UnknownMembers(String),
    /// As Python prints it.
    UnknownDialect(String),
    /// `entry_point` is no identifier.
    EntryPointNotIdentifier,
    /// The task has no entry point.
    EntryPointUnbound,
    /// The task has another entry point.
    EntryPointMismatch,
    /// `entry_point` is a keyword or a name that the check program needs.
    EntryPointReserved,
    /// `tests` is no list.
    TestsMustBeList,
    /// No test.
    EmptySuite,
    /// More than 2000 tests.
    TooManyTests,
    /// The test of this index is no mapping.
    TestNotMapping(usize),
    /// The test of this index has other members; as Python prints the list.
    TestUnknownKeys(usize, String),
    /// The arguments of this test are no list and no tuple.
    ArgsNotPositional(usize),
    /// A literal is wrong.
    Literal(LiteralFault),
    /// `cmp` is no mapping.
    CmpMustBeMapping,
    /// `cmp` has members that the format does not have.
    CmpUnknownKeys,
    /// `cmp.atol` is no number and not null.
    AtolMustBeNumberOrNull,
    /// `cmp.atol` is negative, infinite or no number.
    AtolNotFiniteNonnegative,
    /// A flag of `cmp` is no boolean.
    CmpFlagsMustBeBool,
    /// The dialect `lcb` compares in one way only.
    LcbHasNoCmpKnobs,
    /// The normalised suite is longer than 4 MiB.
    SpecTooLarge,
}

canon::codes! {
    impl SpecError: &self {
        SpecError::NotCanonicalJson(_) => "not_canonical_json",
        SpecError::RawCode => "raw_code_suite_not_accepted",
        SpecError::NotMapping(_) => "spec_must_be_mapping",
        SpecError::BadVersion(_) => "bad_version",
        SpecError::UnknownMembers(_) => "spec_unknown_keys",
        SpecError::UnknownDialect(_) => "unknown_dialect",
        SpecError::EntryPointNotIdentifier => "entry_point_not_identifier",
        SpecError::EntryPointUnbound => "entry_point_unbound",
        SpecError::EntryPointMismatch => "entry_point_mismatch",
        SpecError::EntryPointReserved => "entry_point_reserved",
        SpecError::TestsMustBeList => "tests_must_be_list",
        SpecError::EmptySuite => "empty_suite_rejected",
        SpecError::TooManyTests => "too_many_tests",
        SpecError::TestNotMapping(_) => "test_not_mapping",
        SpecError::TestUnknownKeys(..) => "test_unknown_keys",
        SpecError::ArgsNotPositional(_) => "test_args_not_positional",
        SpecError::CmpMustBeMapping => "cmp_must_be_mapping",
        SpecError::CmpUnknownKeys => "cmp_unknown_keys",
        SpecError::AtolMustBeNumberOrNull => "atol_must_be_number_or_null",
        SpecError::AtolNotFiniteNonnegative => "atol_not_finite_nonnegative",
        SpecError::CmpFlagsMustBeBool => "cmp_flags_must_be_bool",
        SpecError::LcbHasNoCmpKnobs => "lcb_dialect_has_no_cmp_knobs",
        SpecError::SpecTooLarge => "spec_too_large",
    } else {
        SpecError::Literal(fault) => fault.code(),
    }
}

/// What is wrong with a text that should be a literal of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralFault {
    /// Of this type and no text.
    MustBeStr(&'static str),
    /// More than 200 000 characters.
    TooLong,
    /// The exception of Python.
    NotALiteral(ErrorName),
    /// Nested deeper than 40; the outermost value is depth 0.
    TooDeep,
    /// An integer of more than 4096 bits.
    IntTooLarge,
    /// A float that is no number or infinite, alone or in a complex number.
    NanOrInf,
    /// `set()`, which has no display.
    EmptySet,
    /// A value of a type that a suite does not have.
    NotALiteralType(&'static str),
    /// An integer that no float holds, where one is needed. Strict also: the text of the value is longer than a literal may
    /// be, so that the normalised suite would be refused.
    Unencodable,
}

canon::codes! {
    impl LiteralFault: &self {
        LiteralFault::MustBeStr(_) => "literal_must_be_str",
        LiteralFault::TooLong => "literal_too_long",
        LiteralFault::NotALiteral(_) => "not_a_literal",
        LiteralFault::TooDeep => "literal_too_deep",
        LiteralFault::IntTooLarge => "int_too_large",
        LiteralFault::NanOrInf => "nan_or_inf_not_encodable",
        LiteralFault::EmptySet => "empty_set_not_encodable",
        LiteralFault::NotALiteralType(_) => "not_a_literal_type",
        LiteralFault::Unencodable => "literal_unencodable",
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code();
        match self {
            SpecError::NotCanonicalJson(what) | SpecError::NotMapping(what) => write!(f, "{code}:{what}"),
            SpecError::BadVersion(what)
            | SpecError::UnknownMembers(what)
            | SpecError::UnknownDialect(what) => {
                write!(f, "{code}:{what}")
            }
            SpecError::TestNotMapping(index) => write!(f, "test_{index}_not_mapping"),
            SpecError::TestUnknownKeys(index, keys) => write!(f, "test_{index}_unknown_keys:{keys}"),
            SpecError::ArgsNotPositional(index) => write!(f, "test_{index}_args_not_positional"),
            SpecError::Literal(LiteralFault::NotALiteral(name)) => write!(f, "{code}:{}", name.as_str()),
            SpecError::Literal(LiteralFault::MustBeStr(what) | LiteralFault::NotALiteralType(what)) => {
                write!(f, "{code}:{what}")
            }
            _ => f.write_str(code),
        }
    }
}

impl std::error::Error for SpecError {}

impl From<LiteralFault> for SpecError {
    fn from(fault: LiteralFault) -> SpecError {
        SpecError::Literal(fault)
    }
}
