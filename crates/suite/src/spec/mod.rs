//! SuiteSpec v1: a suite as data (desk specification 16).
//!
//! A suite is read from JSON once, checked in the order of 16.3, and normalised: two layouts of one suite have one
//! digest. Its entry point belongs to the task and is only compared here.

mod encode;
mod error;
mod names;
pub(crate) mod python;

pub use encode::Literal;
pub use error::{LiteralFault, SpecError};

use crate::literal::{Value as Python, identifier, integer_as_float, parse};
use canon::{Digest, Float, Limits, Object, ReadFault, Reader, Value, canonical};
use python::{key_list, repr, type_name};

/// Most tests of a suite.
pub const TESTS_MAX: usize = 2000;
/// Most characters of a literal.
pub const LITERAL_CHARS_MAX: usize = 200_000;
/// Deepest nesting of a literal; the outermost value is depth 0.
pub const DEPTH_MAX: usize = 40;
/// Most bits of an integer.
pub const INT_BITS_MAX: u64 = 4096;
/// Most bytes of the canonical form.
pub const CANONICAL_BYTES_MAX: usize = 4 << 20;
/// Most bytes of a document that is read at all; the peer has no such limit.
const DOCUMENT_BYTES_MAX: usize = 64 << 20;

/// How much is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What the peer accepts: `true` and `1.0` are version 1, unknown top-level members and repeated keys are ignored.
    Peer,
    /// Version 1 is the integer, and every member is known.
    Strict,
}

/// The entry point of the task, to which a suite has to belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task<'a> {
    /// There is no task: the suite is looked at alone.
    NotGiven,
    /// There is a task, and it names no entry point.
    Unbound,
    /// The function that the task asks for.
    EntryPoint(&'a str),
}

/// How results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Equality, with the switches of [`Cmp`].
    Mbpp,
    /// Equality with a fixed tolerance of 1e-6 for numbers, lists and tuples alike.
    Lcb,
}

impl Dialect {
    /// The name in the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Mbpp => "mbpp",
            Dialect::Lcb => "lcb",
        }
    }
}

/// Switches of the dialect `mbpp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cmp {
    /// Absolute tolerance; finite and not negative. Zero is no tolerance.
    pub atol: Option<Float>,
    /// Results are compared as sets.
    pub set_equivalent: bool,
    /// Truth values are compared, a match of a regular expression being true.
    pub regex_predicate: bool,
}

/// One call and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The positional arguments, a list.
    pub args: Literal,
    /// The result.
    pub expected: Literal,
}

/// A suite that was checked. Nothing else makes one but [`Spec::new`] and the readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    dialect: Dialect,
    entry_point: String,
    tests: Vec<Test>,
    cmp: Cmp,
}

impl Spec {
    /// A suite from JSON bytes.
    ///
    /// # Errors
    ///
    /// The first code of 16.3 that applies.
    pub fn from_bytes(bytes: &[u8], mode: Mode, task: Task<'_>) -> Result<Spec, SpecError> {
        let reader = if mode == Mode::Peer { Reader::peer() } else { Reader::strict() };
        let limits = Limits { bytes_max: DOCUMENT_BYTES_MAX, ..Limits::default() };
        match reader.with_limits(limits).read(bytes) {
            Ok(value) => Spec::from_value(&value, mode, task),
            Err(error) => Err(match error.fault {
                ReadFault::TooLong(_) => SpecError::SpecTooLarge,
                ReadFault::NotUtf8 => SpecError::NotCanonicalJson("UnicodeDecodeError"),
                ReadFault::TooDeep(_) => SpecError::NotCanonicalJson("RecursionError"),
                _ => SpecError::NotCanonicalJson("JSONDecodeError"),
            }),
        }
    }

    /// A suite from a JSON value.
    ///
    /// # Errors
    ///
    /// The first code of 16.3 that applies.
    pub fn from_value(value: &Value, mode: Mode, task: Task<'_>) -> Result<Spec, SpecError> {
        let spec = match value {
            Value::Object(spec) => spec,
            Value::Str(_) => return Err(SpecError::RawCode),
            other => return Err(SpecError::NotMapping(type_name(other))),
        };
        version(spec.get("v"), mode)?;
        let unknown = unknown(spec, &["v", "dialect", "entry_point", "tests", "cmp"]);
        if mode == Mode::Strict && !unknown.is_empty() {
            return Err(SpecError::UnknownMembers(key_list(unknown)));
        }
        let dialect = dialect(spec.get("dialect"))?;
        let entry_point = entry_point(spec.get("entry_point"), task)?;
        let tests = tests(spec.get("tests"), mode)?;
        let cmp = cmp(spec.get("cmp"), dialect, mode)?;
        Spec { dialect, entry_point, tests, cmp }.sized()
    }

    /// A suite from values.
    ///
    /// # Errors
    ///
    /// As for one that is read, in the same order; the literals were checked when they were made.
    pub fn new(dialect: Dialect, name: &str, tests: Vec<Test>, cmp: Cmp) -> Result<Spec, SpecError> {
        let entry_point = entry_point(Some(&Value::from(name)), Task::NotGiven)?;
        counted(tests.len())?;
        for (index, test) in tests.iter().enumerate() {
            if !matches!(test.args.value, Python::List(_)) {
                return Err(SpecError::ArgsNotPositional(index));
            }
        }
        tolerance(cmp.atol)?;
        knobs(dialect, cmp)?;
        Spec { dialect, entry_point, tests, cmp }.sized()
    }

    fn sized(self) -> Result<Spec, SpecError> {
        if canonical(&self.normalised()).len() > CANONICAL_BYTES_MAX {
            return Err(SpecError::SpecTooLarge);
        }
        Ok(self)
    }

    /// How results are compared.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The function that is called.
    pub fn entry_point(&self) -> &str {
        &self.entry_point
    }

    /// The tests, at least one.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// The switches.
    pub fn cmp(&self) -> Cmp {
        self.cmp
    }

    /// The normalised form, with all members. It is the peer's form, which is why it may hold a float.
    pub fn normalised(&self) -> Value {
        let test = |test: &Test| {
            let object = Object::new().with("args", test.args.text.as_str());
            Value::from(object.with("expected", test.expected.text.as_str()))
        };
        let cmp = Object::new()
            .with("atol", self.cmp.atol.map_or(Value::Null, Value::Float))
            .with("set_equivalent", self.cmp.set_equivalent)
            .with("regex_predicate", self.cmp.regex_predicate);
        let spec = Object::new()
            .with("v", 1i64)
            .with("dialect", self.dialect.as_str())
            .with("entry_point", self.entry_point.as_str())
            .with("tests", Value::Array(self.tests.iter().map(test).collect()));
        spec.with("cmp", cmp).into()
    }

    /// `suite_sha256`: the digest of the normalised form.
    pub fn digest(&self) -> Digest {
        Digest::of(&canonical(&self.normalised()))
    }
}

fn unknown<'a>(object: &'a Object, known: &[&str]) -> Vec<&'a str> {
    object.iter().map(|(key, _)| key).filter(|key| !known.contains(key)).collect()
}

/// The peer compares by equality, for which `true` and `1.0` are 1.
fn version(member: Option<&Value>, mode: Mode) -> Result<(), SpecError> {
    let value = member.unwrap_or(&Value::Null);
    let right = match value {
        Value::Int(number) => number.as_str() == "1",
        Value::Bool(value) => *value && mode == Mode::Peer,
        Value::Float(number) => *number == Float::new(1.0) && mode == Mode::Peer,
        _ => false,
    };
    if right { Ok(()) } else { Err(SpecError::BadVersion(repr(value))) }
}

fn dialect(member: Option<&Value>) -> Result<Dialect, SpecError> {
    match member {
        None => Ok(Dialect::Mbpp),
        Some(Value::Str(name)) if name == "mbpp" => Ok(Dialect::Mbpp),
        Some(Value::Str(name)) if name == "lcb" => Ok(Dialect::Lcb),
        Some(other) => Err(SpecError::UnknownDialect(repr(other))),
    }
}

/// The binding comes before any list of names: a suite for another task is that, whatever it calls.
fn entry_point(member: Option<&Value>, task: Task<'_>) -> Result<String, SpecError> {
    let Some(name) = member.and_then(Value::as_str).filter(|name| identifier(name)) else {
        return Err(SpecError::EntryPointNotIdentifier);
    };
    match task {
        Task::Unbound => Err(SpecError::EntryPointUnbound),
        Task::EntryPoint(bound) if bound != name => Err(SpecError::EntryPointMismatch),
        _ if names::reserved(name) => Err(SpecError::EntryPointReserved),
        _ => Ok(name.to_owned()),
    }
}

fn counted(count: usize) -> Result<(), SpecError> {
    match count {
        0 => Err(SpecError::EmptySuite),
        count if count > TESTS_MAX => Err(SpecError::TooManyTests),
        _ => Ok(()),
    }
}

fn tests(member: Option<&Value>, mode: Mode) -> Result<Vec<Test>, SpecError> {
    let Some(items) = member.and_then(Value::as_array) else { return Err(SpecError::TestsMustBeList) };
    counted(items.len())?;
    items.iter().enumerate().map(|(index, item)| test(index, item, mode)).collect()
}

fn test(index: usize, item: &Value, mode: Mode) -> Result<Test, SpecError> {
    let object = item.as_object().ok_or(SpecError::TestNotMapping(index))?;
    let unknown = unknown(object, &["args", "expected"]);
    if !unknown.is_empty() {
        return Err(SpecError::TestUnknownKeys(index, key_list(unknown)));
    }
    let args = match encode::read(object.get("args"))? {
        Python::List(items) | Python::Tuple(items) => encode::written(Python::List(items), mode)?,
        _ => return Err(SpecError::ArgsNotPositional(index)),
    };
    let expected = encode::written(encode::read(object.get("expected"))?, mode)?;
    Ok(Test { args, expected })
}

fn cmp(member: Option<&Value>, dialect: Dialect, mode: Mode) -> Result<Cmp, SpecError> {
    let empty = Object::new();
    let object = match member {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(object)) => object,
        // For the peer, whatever Python takes for false is an empty mapping.
        Some(other) if mode == Mode::Peer && python::is_falsy(other) => &empty,
        Some(_) => return Err(SpecError::CmpMustBeMapping),
    };
    if !unknown(object, &["atol", "set_equivalent", "regex_predicate"]).is_empty() {
        return Err(SpecError::CmpUnknownKeys);
    }
    let atol = tolerance(atol(object.get("atol"))?)?;
    let flag = |name| match object.get(name) {
        None => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(SpecError::CmpFlagsMustBeBool),
    };
    let cmp =
        Cmp { atol, set_equivalent: flag("set_equivalent")?, regex_predicate: flag("regex_predicate")? };
    knobs(dialect, cmp)?;
    Ok(cmp)
}

fn atol(member: Option<&Value>) -> Result<Option<Float>, SpecError> {
    match member {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Float(number)) => Ok(Some(*number)),
        Some(Value::Int(number)) => {
            let value = match parse(number.as_str()) {
                Ok(Python::Int(value)) => integer_as_float(&value),
                _ => None,
            };
            value.map(Some).ok_or(SpecError::Literal(LiteralFault::Unencodable))
        }
        Some(_) => Err(SpecError::AtolMustBeNumberOrNull),
    }
}

fn tolerance(atol: Option<Float>) -> Result<Option<Float>, SpecError> {
    match atol {
        Some(value) if !value.is_finite() || value.get() < 0.0 => Err(SpecError::AtolNotFiniteNonnegative),
        other => Ok(other),
    }
}

fn knobs(dialect: Dialect, cmp: Cmp) -> Result<(), SpecError> {
    if dialect == Dialect::Lcb && cmp != Cmp::default() { Err(SpecError::LcbHasNoCmpKnobs) } else { Ok(()) }
}
