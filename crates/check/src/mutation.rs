//! Mutation score: how many small mistakes in the reference the suite notices (desk specification 17).
//!
//! Informative and nothing else: it never decides whether a suite is accepted. It is a lower bound twice over: only
//! mistakes of the twelve operators are made, and a change that changes nothing cannot be told from one that got through.
//! So the survivors are what is worth reading.

use crate::place::{Program, Wiring};
use crate::{Candidate, CheckInfraError, Evaluator, Place, Suite};
use canon::{Limits as JsonLimits, Object, Reader, Value, compact_ascii};
use desk::sandbox::{Limits, Stdin};

/// The operators, in the order of their mutants.
pub const OPERATORS: [&str; 12] = [
    "num_plus_1",
    "num_minus_1",
    "bool_const_flip",
    "cmp_flip",
    "bool_op_swap",
    "not_remove",
    "not_insert",
    "bin_op_swap",
    "continue_to_pass",
    "break_to_pass",
    "str_truncate",
    "return_const",
];

/// Wall limit of the program that makes the mutants, in milliseconds, and most that it may print, in bytes.
const WALL_MS: u64 = 120_000;
const OUTPUT_BYTES: usize = 64 << 20;

/// A reference with one place changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// One of [`OPERATORS`].
    pub operator: String,
    /// Line of the change in the reference as it is written anew, from 1.
    pub line: i64,
    /// That line as it was.
    pub before: String,
    /// And as it is.
    pub after: String,
    /// The whole text.
    pub code: String,
}

/// What was made of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutants {
    /// The reference, parsed and written anew: what the mutants differ from.
    pub base: String,
    /// Each different text once, by operator.
    pub mutants: Vec<Mutant>,
}

/// What a suite noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// The suite accepts the reference.
    pub ref_passed: bool,
    /// It also accepts the reference written anew. If not, the numbers below say nothing: every mutant falls for its
    /// layout.
    pub normalized_passed: bool,
    /// Mutants that the suite refused.
    pub killed: usize,
    /// Mutants that were made.
    pub total: usize,
    /// Refused and made, for each operator that made one, in the order of [`OPERATORS`].
    pub by_operator: Vec<(&'static str, usize, usize)>,
    /// What the suite accepted.
    pub survivors: Vec<Mutant>,
}

impl Score {
    /// Refused of made in thousandths, rounded down; nothing when none was made.
    pub fn permille(&self) -> Option<usize> {
        (self.killed * 1000).checked_div(self.total)
    }

    /// As it is reported: integers and texts only.
    pub fn to_value(&self) -> Value {
        let by_operator = self.by_operator.iter().fold(Object::new(), |all, (operator, killed, total)| {
            all.with(operator, vec![count(*killed), count(*total)])
        });
        let survivors: Vec<Value> = self.survivors.iter().map(Mutant::to_value).collect();
        Object::new()
            .with("ref_passed", self.ref_passed)
            .with("normalized_passed", self.normalized_passed)
            .with("killed", count(self.killed))
            .with("total", count(self.total))
            .with("permille", self.permille().map_or(Value::Null, |permille| count(permille).into()))
            .with("by_operator", by_operator)
            .with("survivors", survivors)
            .into()
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Mutant {
    fn to_value(&self) -> Value {
        Object::new()
            .with("operator", self.operator.as_str())
            .with("line", self.line)
            .with("before", self.before.as_str())
            .with("after", self.after.as_str())
            .into()
    }
}

/// Makes the mutants of a Python text. The inner error says why it cannot be parsed.
///
/// # Errors
///
/// [`CheckInfraError`] when the desk could not make them.
pub fn mutants(place: &Place, reference: &str) -> Result<Result<Mutants, String>, CheckInfraError> {
    let folder = place.folder()?;
    let question = Object::new().with("source", reference);
    let wiring = Wiring::stdin(Stdin::Bytes(compact_ascii(&question.into())));
    let limits = Limits { output_bytes: OUTPUT_BYTES as u64, ..Limits::check_within_ms(WALL_MS) };
    let ended = place.start_python(Program::Mutate, &[], folder.path(), wiring, limits)?.wait();
    read(&ended.stdout.bytes()).ok_or_else(|| CheckInfraError::ended("the maker of mutants", &ended))
}

fn read(bytes: &[u8]) -> Option<Result<Mutants, String>> {
    let limits = JsonLimits { depth_max: 8, bytes_max: OUTPUT_BYTES };
    let value = Reader::strict().with_limits(limits).read(bytes).ok()?;
    if let Some(why) = value.get("error") {
        return Some(Err(why.as_str()?.to_owned()));
    }
    let mutant = |value: &Value| {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Some(Mutant {
            operator: text("operator")?,
            line: value.get("line")?.as_i64()?,
            before: text("before")?,
            after: text("after")?,
            code: text("code")?,
        })
    };
    let mutants = value.get("mutants")?.as_array()?.iter().map(mutant).collect::<Option<_>>()?;
    Some(Ok(Mutants { base: value.get("base")?.as_str()?.to_owned(), mutants }))
}

/// Makes the mutants of `reference` and runs `suite` against each. The inner error says why it cannot be parsed.
///
/// # Errors
///
/// [`CheckInfraError`] when the desk could not measure: not measured is not zero.
pub fn score(
    place: &Place,
    evaluator: &mut Evaluator<'_>,
    suite: &dyn Suite,
    reference: &str,
) -> Result<Result<Score, String>, CheckInfraError> {
    let made = match mutants(place, reference)? {
        Ok(made) => made,
        Err(why) => return Ok(Err(why)),
    };
    let mut passes = |code: &str| evaluator.evaluate(suite, &Candidate::python(code)).map(|seen| seen.ok);
    let (ref_passed, normalized_passed) = (passes(reference)?, passes(&made.base)?);
    let total = made.mutants.len();
    let mut tally = OPERATORS.map(|operator| (operator, 0, 0));
    let mut survivors = Vec::new();
    for mutant in made.mutants {
        let survives = passes(&mutant.code)?;
        for (_, killed, made) in tally.iter_mut().filter(|(operator, ..)| *operator == mutant.operator) {
            *killed += usize::from(!survives);
            *made += 1;
        }
        if survives {
            survivors.push(mutant);
        }
    }
    Ok(Ok(Score {
        ref_passed,
        normalized_passed,
        killed: total - survivors.len(),
        total,
        by_operator: tally.into_iter().filter(|(_, _, made)| *made > 0).collect(),
        survivors,
    }))
}
