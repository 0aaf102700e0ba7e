//! Checks of one answer as data: `equals`, `contains`, `regex`, `json_schema`, `run_python` (desk specification 15).
//!
//! The first four are evaluated here. `run_python` is only compiled: a test program is run elsewhere, in two processes.
//! `contains` and `regex` are for exploration; an answer that merely contains something proves nothing, so they may not
//! authorise a launch ([`Check::may_authorise`]).

mod answer;
mod pattern;
mod schema;

pub use answer::extracted_code;

use crate::spec::python::repr;
use answer::{first_json, normalised, strip};
use canon::{Object, Value, canonical};
use pattern::Pattern;
use schema::Schema;

/// Seconds that a test program has when the check names none, in milliseconds.
const TIMEOUT_MS: u64 = 8000;

/// Why a check cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The specification of the check is no mapping.
    NotMapping,
    /// There is no check of this type.
    UnknownType,
    /// This member is missing or of the wrong type.
    Malformed(&'static str),
    /// The pattern is not understood, as this reader of patterns says.
    Pattern(String),
    /// The schema uses this keyword, which the validator does not know, or uses it wrongly.
    Schema(String),
}

canon::codes! {
    impl CheckError: &self {
        CheckError::NotMapping => "check_not_mapping",
        CheckError::UnknownType => "check_unknown_type",
        CheckError::Malformed(_) => "check_malformed",
        CheckError::Pattern(_) => "check_bad_pattern",
        CheckError::Schema(_) => "check_bad_schema",
    }
}

/// A check that was compiled.
#[derive(Debug)]
pub enum Check {
    /// The answer is this text.
    Equals {
        /// The text.
        value: String,
        /// Blanks around both and one layer of quotes do not count.
        normalise: bool,
    },
    /// The answer contains this text.
    Contains {
        /// The text.
        value: String,
        /// Capitals do not count.
        ignore_case: bool,
    },
    /// The pattern is found in the answer.
    Regex(Pattern),
    /// The first JSON value of the answer has this shape.
    JsonSchema(Schema),
    /// A test program passes with the code of the answer.
    RunPython(RunPython),
}

/// A test program and how it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPython {
    /// The test program.
    pub code: String,
    /// Time for all of it, in milliseconds; with 0 the check is false.
    pub timeout_ms: u64,
    /// The candidate is the first fenced block of the answer, if there is one.
    pub extract_code: bool,
    /// Modules that the candidate may import.
    pub allowed_imports: Vec<String>,
}

/// What a check says about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The check holds or does not.
    Known(bool),
    /// A test program has to be run, with this candidate.
    Run {
        /// The code of the candidate.
        candidate: String,
    },
    /// The pattern needs more steps than it may have; says nothing about the answer.
    NotMeasured,
}

/// `compile_check`: a check from its specification.
///
/// # Errors
///
/// A type that does not exist, or a member that is missing or wrong.
pub fn compile(spec: &Value) -> Result<Check, CheckError> {
    let spec = spec.as_object().ok_or(CheckError::NotMapping)?;
    match spec.get("type").and_then(Value::as_str) {
        Some("equals") => {
            Ok(Check::Equals { value: shown(spec)?, normalise: flag(spec, "normalize", true)? })
        }
        Some("contains") => {
            Ok(Check::Contains { value: shown(spec)?, ignore_case: flag(spec, "ignore_case", false)? })
        }
        Some("regex") => {
            Ok(Check::Regex(Pattern::new(&text(spec, "pattern")?, flag(spec, "ignore_case", false)?)?))
        }
        Some("json_schema") => {
            Ok(Check::JsonSchema(Schema::new(spec.get("schema").ok_or(CheckError::Malformed("schema"))?)?))
        }
        Some("run_python") => Ok(Check::RunPython(run_python(spec)?)),
        _ => Err(CheckError::UnknownType),
    }
}

impl Check {
    /// True for a check that may let a delivery through; false for one that is for exploration only.
    pub fn may_authorise(&self) -> bool {
        match self {
            Check::Equals { .. } | Check::JsonSchema(_) | Check::RunPython(_) => true,
            Check::Contains { .. } | Check::Regex(_) => false,
        }
    }

    /// What the check says about an answer.
    pub fn evaluate(&self, answer: &str) -> Answered {
        Answered::Known(match self {
            Check::Equals { value, normalise: true } => normalised(value) == normalised(answer),
            Check::Equals { value, normalise: false } => value == answer,
            Check::Contains { value, ignore_case: true } => {
                answer.to_lowercase().contains(&value.to_lowercase())
            }
            Check::Contains { value, ignore_case: false } => answer.contains(value.as_str()),
            Check::Regex(pattern) => match pattern.found_in(answer) {
                Some(found) => found,
                None => return Answered::NotMeasured,
            },
            Check::JsonSchema(schema) => first_json(answer).is_some_and(|value| schema.admits(&value)),
            Check::RunPython(program) => return Answered::Run { candidate: program.candidate(answer) },
        })
    }

    /// `project_checked_answer`: the part of the answer that was judged, and nothing else of it. Nothing when there is no
    /// such part.
    pub fn project(&self, answer: &str) -> Option<String> {
        match self {
            Check::Equals { normalise: true, .. } => Some(normalised(answer).to_owned()),
            Check::JsonSchema(_) => {
                first_json(answer).map(|value| String::from_utf8_lossy(&canonical(&value)).into_owned())
            }
            Check::RunPython(program) => Some(strip(&program.candidate(answer)).to_owned()),
            _ => Some(strip(answer).to_owned()),
        }
    }
}

impl RunPython {
    /// The code of the candidate in an answer.
    pub fn candidate(&self, answer: &str) -> String {
        if self.extract_code { extracted_code(answer).to_owned() } else { answer.to_owned() }
    }
}

/// The member `value` as text: a text as it is, anything else as Python prints it.
fn shown(spec: &Object) -> Result<String, CheckError> {
    let value = spec.get("value").ok_or(CheckError::Malformed("value"))?;
    Ok(value.as_str().map_or_else(|| repr(value), str::to_owned))
}

fn text(spec: &Object, name: &'static str) -> Result<String, CheckError> {
    spec.get(name).and_then(Value::as_str).map(str::to_owned).ok_or(CheckError::Malformed(name))
}

fn flag(spec: &Object, name: &'static str, default: bool) -> Result<bool, CheckError> {
    match spec.get(name) {
        None => Ok(default),
        Some(value) => value.as_bool().ok_or(CheckError::Malformed(name)),
    }
}

fn run_python(spec: &Object) -> Result<RunPython, CheckError> {
    let malformed = CheckError::Malformed("allowed_imports");
    let allowed_imports = match spec.get("allowed_imports") {
        None => Vec::new(),
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<_>>().ok_or(malformed)?
        }
        Some(_) => return Err(malformed),
    };
    Ok(RunPython {
        code: text(spec, "code")?,
        timeout_ms: milliseconds(spec.get("timeout"))?,
        extract_code: flag(spec, "extract_code", true)?,
        allowed_imports,
    })
}

/// Seconds as a JSON number to milliseconds, what is less than one of them cut off. Below zero is zero.
fn milliseconds(seconds: Option<&Value>) -> Result<u64, CheckError> {
    let text = match seconds {
        None => return Ok(TIMEOUT_MS),
        Some(Value::Int(number)) => number.as_str().to_owned(),
        Some(Value::Float(number)) if number.is_finite() => number.to_string(),
        Some(_) => return Err(CheckError::Malformed("timeout")),
    };
    if text.starts_with('-') || text.contains("e-") {
        return Ok(0);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    // A number with an exponent, or too many digits, is a time that nobody waits for.
    Ok(format!("{whole}{fraction}").parse().unwrap_or(u64::MAX))
}
