//! The cases. What is expected is written here by hand, beside what was done to the files; nothing is asked of the
//! reader or the verifier that the vectors are for.

mod canonical;
mod chain;
mod json;
mod run;

use canon::{Object, Value};
use ledger::identity::Identity;
use std::collections::BTreeMap;

/// Files of a folder by their name relative to it.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Every file below `vectors/`.
pub(crate) fn all() -> Files {
    let mut files = canonical::files();
    for (group, cases) in [("chain", chain::cases()), ("run", run::cases())] {
        for case in cases {
            let folder = format!("{group}/{}_{}", case.name, case.ending(group));
            let expected = json::pretty(&case.expected());
            files.insert(format!("{folder}/expected.json"), expected);
            for (name, bytes) in case.files {
                files.insert(format!("{folder}/{name}"), bytes);
            }
        }
    }
    files
}

/// The key that signs; its seed is public, so it proves nothing outside these files.
fn identity() -> Identity {
    Identity::from_seed(&[7; 32])
}

/// A key that signed nothing that it should have.
fn stranger() -> Identity {
    Identity::from_seed(&[9; 32])
}

fn public_file(identity: &Identity) -> Vec<u8> {
    let key = identity.public();
    let object = Object::new().with("vacant_id", key.id().as_str()).with("pub_hex", key.to_hex());
    [canon::canonical(&object.into()), b"\n".to_vec()].concat()
}

/// A failure and where it is.
#[derive(Clone)]
struct Seen {
    reason: &'static str,
    line: Option<usize>,
    offset: Option<usize>,
}

/// A failure without a place.
fn whole(reason: &'static str) -> Seen {
    Seen { reason, line: None, offset: None }
}

/// A failure in a line of `file`, `inside` bytes after the start of the line.
fn at(file: &[u8], reason: &'static str, line: usize, inside: usize) -> Seen {
    let start: usize = file.split_inclusive(|byte| *byte == b'\n').take(line - 1).map(<[u8]>::len).sum();
    Seen { reason, line: Some(line), offset: Some(start + inside) }
}

/// One way of asking, and the answer.
struct Answer {
    args: Vec<String>,
    verdict: &'static str,
    failures: Vec<Seen>,
    warnings: Vec<(usize, &'static str)>,
}

struct Case {
    name: &'static str,
    about: &'static str,
    files: Files,
    answers: Vec<Answer>,
}

impl Case {
    fn new(name: &'static str, about: &'static str, files: Files) -> Case {
        Case { name, about, files, answers: Vec::new() }
    }

    /// Adds an answer to the question with `args`.
    fn answer(mut self, args: &[&str], verdict: &'static str, failures: Vec<Seen>) -> Case {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self.answers.push(Answer { args, verdict, failures, warnings: Vec::new() });
        self
    }

    /// Adds warnings to the last answer.
    fn warned(mut self, warnings: &[(usize, &'static str)]) -> Case {
        if let Some(answer) = self.answers.last_mut() {
            answer.warnings.extend(warnings);
        }
        self
    }

    /// The first answer, that of the strict reader, names the folder. For a chain alone there are two endings.
    fn ending(&self, group: &str) -> String {
        match (group, self.answers[0].verdict) {
            ("chain", "OK") => "ok".to_owned(),
            ("chain", _) => "fail".to_owned(),
            (_, verdict) => verdict.to_lowercase(),
        }
    }

    fn expected(&self) -> Value {
        let answers = self.answers.iter().map(Answer::to_value).collect();
        Object::new()
            .with("case", self.name)
            .with("about", self.about)
            .with("answers", Value::Array(answers))
            .into()
    }
}

impl Answer {
    fn to_value(&self) -> Value {
        let failures = self.failures.iter().map(|seen| {
            let number = |value: Option<usize>| value.map(|value| value as u64);
            let object = Object::new().with("reason", seen.reason).with("line", number(seen.line));
            Value::from(object.with("offset", number(seen.offset)))
        });
        let warnings = self.warnings.iter().map(|(line, warning)| {
            Value::from(Object::new().with("line", *line as u64).with("warning", *warning))
        });
        let exit_code: i64 = match self.verdict {
            "OK" => 0,
            "VOID" => 3,
            _ => 1,
        };
        Object::new()
            .with("args", self.args.iter().map(String::as_str).collect::<Vec<_>>())
            .with("verdict", self.verdict)
            .with("exit_code", exit_code)
            .with("failures", Value::Array(failures.collect()))
            .with("warnings", Value::Array(warnings.collect()))
            .into()
    }
}

/// Replaces the one occurrence of `from`; a case whose edit does not apply is a mistake in this file.
fn replace(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    assert!(text.contains(from), "nothing to replace: {from}");
    text.replacen(from, to, 1).into_bytes()
}
