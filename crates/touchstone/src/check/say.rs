//! What is said about a row: one JSON line, or words.

use super::{Answer, rows::Row};
use crate::output::{Tone, hanging, paint};
use ::check::{Detail, Evaluation};
use canon::{Object, Value, canonical};
use desk::sandbox::Level;
use suite::native::Program;

/// The line for programs.
pub(super) fn line(row: &Row, answer: &Answer) -> String {
    let object = Object::new().with("id", row.id.clone()).with("renderer", Program::this().record());
    let object = match answer {
        Ok(seen) => object
            .with("ok", seen.ok)
            .with("first_failing_test", seen.first_failing_test.map(count))
            .with("n_tests", count(seen.n_tests))
            .with("loads_ok", seen.loads_ok)
            .with("detail_reason", seen.detail.map(Detail::code))
            .with("message", seen.message.as_str()),
        Err(why) => object.with("ok", Value::Null).with("error", why.code()).with("message", why.to_string()),
    };
    String::from_utf8_lossy(&canonical(&Value::Object(object))).into_owned()
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Why a candidate was refused: the code, and its own words where it has some. Empty when it was not.
pub(crate) fn why(seen: &Evaluation) -> String {
    let code = seen.detail.map_or("", Detail::code);
    match seen.message.as_str() {
        "" => code.to_owned(),
        message => format!("{code}: {}", canon::shown(message.as_bytes())),
    }
}

/// The words for people.
pub(super) fn words(row: &Row, answer: &Answer, level: Level) -> String {
    let id = match row.id.as_str() {
        Some(id) => canon::shown(id.as_bytes()),
        None => String::from_utf8_lossy(&canonical(&row.id)).into_owned(),
    };
    match answer {
        Ok(seen) if seen.ok => {
            let head = format!("{}  ", paint("accepted", Tone::Good));
            hanging(&head, &format!("{id}: {} tests, sandbox {}", seen.n_tests, level.code()))
        }
        Ok(seen) => {
            let head = format!("{}  ", paint("refused ", Tone::Bad));
            let place = seen.first_failing_test.map_or_else(
                || "does not load".to_owned(),
                |test| format!("test {} of {}", test + 1, seen.n_tests),
            );
            hanging(&head, &format!("{id}: {place}: {}", why(seen)))
        }
        Err(why) => {
            let head = format!("{}  ", paint("void    ", Tone::Warn));
            hanging(&head, &format!("{id}: not measured: {}", canon::shown(why.to_string().as_bytes())))
        }
    }
}
