//! The screen: what of a Python candidate is refused by parsing it, before anything of it runs (15.1, 15.2).
//!
//! This is hardening and not a security boundary. It makes careless candidates fail early and clever ones work a little
//! harder; whoever means harm spells the forbidden thing in another way. What holds is that the candidate's process
//! has nothing in it that is worth reaching, and the sandbox around it.

use crate::CheckInfraError;
use crate::place::{Place, Program, Wiring};
use canon::{Object, Reader, Value, compact_ascii};
use desk::sandbox::{Limits, Stdin};

/// Wall limit of the parser, in milliseconds: no honest text comes near.
const WALL_MS: u64 = 30_000;

/// What the screen says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Screened {
    /// What is refused, for people; nothing when it may run.
    pub(crate) refused: Option<String>,
    /// Top-level functions and lambdas that a test may call, in order.
    pub(crate) entry_points: Vec<String>,
}

/// Parses `candidate`. A text that its parser does not survive is refused, if the parser survives an empty one.
pub(crate) fn screen(
    place: &Place,
    candidate: &str,
    allowed_imports: &[String],
    allowed_entry_points: &[String],
) -> Result<Screened, CheckInfraError> {
    let ask = |candidate: &str| {
        let question = Object::new()
            .with("candidate", candidate)
            .with("allowed_imports", allowed_imports.to_vec())
            .with("allowed_entry_points", allowed_entry_points.to_vec());
        once(place, &question.into())
    };
    match ask(candidate)? {
        Ok(screened) => Ok(screened),
        Err(_) => match ask("")? {
            Ok(_) => Ok(Screened {
                refused: Some("the parser did not survive the candidate".into()),
                entry_points: Vec::new(),
            }),
            Err(ended) => Err(ended),
        },
    }
}

/// One run of the parser; the inner error is one that ended without an answer.
fn once(place: &Place, question: &Value) -> Result<Result<Screened, CheckInfraError>, CheckInfraError> {
    let folder = place.folder()?;
    let wiring = Wiring::stdin(Stdin::Bytes(compact_ascii(question)));
    let limits = Limits::check_within_ms(WALL_MS);
    let ended = place.start_python(Program::Screen, &[], folder.path(), wiring, limits)?.wait();
    Ok(read(&ended.stdout.bytes()).ok_or_else(|| CheckInfraError::ended("the screen", &ended)))
}

fn read(bytes: &[u8]) -> Option<Screened> {
    let value = Reader::strict().read(bytes).ok()?;
    let refused = match value.get("refused")? {
        refused if refused.is_null() => None,
        refused => Some(refused.as_str()?.to_owned()),
    };
    let names = value.get("entry_points")?.as_array()?.iter();
    let entry_points = names.map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    Some(Screened { refused, entry_points })
}
