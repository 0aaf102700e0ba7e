//! Judging a suite without running its check program: the two comparisons of desk specification 16.4 over values.
//!
//! The candidate may be written in anything, as long as its results arrive as literals. Whoever signs such a judgement
//! names [`Program::over`], never the peer's `render_sha256`: that one says that the peer's program ran.

use crate::literal::{
    BigInt, Complex, Value, difference_within, equal, integer_as_float, same_members, scaled,
};
use crate::spec::{Cmp, Dialect, Spec};
use canon::{Digest, Float, Hasher, Object, Value as Json};

/// The name of this renderer.
pub const NAME: &str = "touchstone-native";
/// Its version: another one may judge differently.
pub const VERSION: u32 = 1;
/// The tolerance of the dialect `lcb`.
const LCB_TOLERANCE: Float = Float::new(1e-6);

/// The source that decides what equal means.
const SOURCES: [&str; 3] =
    [include_str!("native.rs"), include_str!("literal/equal.rs"), include_str!("literal/number.rs")];

/// What judges, for receipts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// [`NAME`].
    pub name: &'static str,
    /// [`VERSION`].
    pub version: u32,
    /// Digest of the source of the comparison, line ends as LF.
    pub sha256: Digest,
}

impl Program {
    /// The program that this crate is.
    pub fn this() -> Program {
        let mut hasher = Hasher::new();
        for source in SOURCES {
            hasher.update(source.replace('\r', "").as_bytes());
            hasher.update(&[0]);
        }
        Program { name: NAME, version: VERSION, sha256: hasher.finish() }
    }

    /// The form for receipts.
    pub fn record(&self) -> Json {
        Object::new().with("name", self.name).with("version", self.version).with("sha256", self.sha256).into()
    }

    /// What stands where the peer has `render_sha256`: the digest of this program together with the suite.
    pub fn over(&self, spec: &Spec) -> Digest {
        canon::canonical_digest(
            &Object::new().with("renderer", self.record()).with("suite_sha256", spec.digest()).into(),
        )
    }
}

/// What a call of the candidate came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned this.
    Returned(Value),
    /// It raised, timed out, or returned something that is no literal.
    Failed,
}

/// The answer of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Every test passed, and there was one outcome for each.
    pub ok: bool,
    /// Indexes of the tests that did not pass; a test without an outcome is among them.
    pub failed: Vec<usize>,
}

/// Judges the outcomes of the tests, in their order.
pub fn judge(spec: &Spec, outcomes: &[Outcome]) -> Judgement {
    let passed = |index: usize, expected: &Value| match outcomes.get(index) {
        Some(Outcome::Returned(value)) => agree(spec.dialect(), spec.cmp(), value, expected),
        _ => false,
    };
    let tests = spec.tests().iter().enumerate();
    let failed: Vec<usize> =
        tests.filter(|(index, test)| !passed(*index, &test.expected.value)).map(|(index, _)| index).collect();
    Judgement { ok: failed.is_empty() && outcomes.len() == spec.tests().len(), failed }
}

/// True when a result is what was expected, as the dialect sees it.
pub fn agree(dialect: Dialect, cmp: Cmp, got: &Value, expected: &Value) -> bool {
    match dialect {
        Dialect::Mbpp => mbpp(cmp, got, expected),
        Dialect::Lcb => lcb(got, expected),
    }
}

fn mbpp(cmp: Cmp, got: &Value, expected: &Value) -> bool {
    if cmp.set_equivalent {
        return match (iterated(got), iterated(expected)) {
            (Some(got), Some(expected)) => same_members(got.iter(), expected.iter()),
            _ => false,
        };
    }
    let truth = |value: &Value| match value {
        Value::Bool(value) => Some(*value),
        Value::None => Some(false),
        _ => None,
    };
    if let (true, Some(got), Some(expected)) = (cmp.regex_predicate, truth(got), truth(expected)) {
        return got == expected;
    }
    if equal(got, expected) {
        return true;
    }
    let real = |value: &Value| matches!(value, Value::Float(_));
    let tolerance = cmp.atol.filter(|atol| scaled(*atol) != Some(BigInt::ZERO));
    if let (Some(atol), true) = (tolerance, real(got) || real(expected)) {
        return near(got, expected, atol);
    }
    elementwise(got, expected, |got, expected| mbpp(cmp, got, expected))
}

fn lcb(got: &Value, expected: &Value) -> bool {
    if equal(got, expected) {
        return true;
    }
    if matches!(got, Value::Bool(_)) != matches!(expected, Value::Bool(_)) {
        return false;
    }
    match (got, expected) {
        // Different whole numbers are at least 1 apart.
        (Value::Int(_) | Value::Bool(_), Value::Int(_) | Value::Bool(_)) => false,
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            near(got, expected, LCB_TOLERANCE)
        }
        _ => elementwise(got, expected, lcb),
    }
}

/// Lists and tuples, one against the other as well, of the same length.
fn elementwise(got: &Value, expected: &Value, same: impl Fn(&Value, &Value) -> bool) -> bool {
    match (got.as_sequence(), expected.as_sequence()) {
        (Some(got), Some(expected)) => {
            got.len() == expected.len() && got.iter().zip(expected).all(|(got, expected)| same(got, expected))
        }
        _ => false,
    }
}

/// What iterating over a value yields in Python; nothing where that is a type error.
fn iterated(value: &Value) -> Option<Vec<Value>> {
    Some(match value {
        Value::List(items) | Value::Tuple(items) => items.clone(),
        Value::Set(set) => set.members().to_vec(),
        Value::Dict(dict) => dict.members().iter().map(|(key, _)| key.clone()).collect(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| Value::from(i64::from(*byte))).collect(),
        Value::Str(text) => text.characters().map(Value::Str).collect(),
        _ => return None,
    })
}

/// `abs(a - b) <= atol` of two numbers, the subtraction rounded as binary64 rounds it. False where Python raises: a
/// value that is no number, an integer that no float holds. An infinity is near nothing.
fn near(a: &Value, b: &Value, atol: Float) -> bool {
    let (Some(a), Some(b)) = (number(a), number(b)) else { return false };
    let parts = |number: Complex| Some((scaled(number.real)?, scaled(number.imag)?));
    let (Some((a, a_imag)), Some((b, b_imag))) = (parts(a), parts(b)) else { return false };
    if a_imag == b_imag {
        return difference_within(&a, &b, atol);
    }
    // The length of a complex difference, without the rounding of its last digit.
    let Some(atol) = scaled(atol) else { return false };
    let (real, imag) = (a - b, a_imag - b_imag);
    &real * &real + &imag * &imag <= &atol * &atol
}

/// A number as a complex one.
fn number(value: &Value) -> Option<Complex> {
    let real = match value {
        Value::Bool(value) => Float::new(f64::from(u8::from(*value))),
        Value::Int(value) => integer_as_float(value)?,
        Value::Float(value) => *value,
        Value::Complex(value) => return Some(*value),
        _ => return None,
    };
    Some(Complex { real, imag: Float::new(0.0) })
}
