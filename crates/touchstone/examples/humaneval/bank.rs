//! The problems, as `examples/humaneval/specs.py` converts them.

use canon::{Reader, Value};
use peers::quorum::{Suite, Task as QuorumTask};
use std::path::Path;
use std::process::Command;
use suite::native::Program;
use suite::spec::{Mode, Spec, Task};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/humaneval/specs.py");

/// A problem whose tests became a suite.
pub(crate) struct Problem {
    pub(crate) spec: Spec,
    pub(crate) task: QuorumTask,
    pub(crate) suite: Suite,
    /// The published solution.
    pub(crate) solution: String,
}

/// What converts, and what does not.
pub(crate) struct Bank {
    pub(crate) problems: Vec<Problem>,
    /// Name and reason.
    pub(crate) unable: Vec<(String, String)>,
}

impl Bank {
    /// Converts the file. The published solutions are executed for it, unconfined: they are published and harmless.
    pub(crate) fn read(data: &Path) -> Result<Bank, String> {
        let ended = Command::new("python3").arg(SCRIPT).arg(data).output();
        let ended = ended.map_err(|error| format!("python3: {error}"))?;
        if !ended.status.success() {
            return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
        }
        let mut bank = Bank { problems: Vec::new(), unable: Vec::new() };
        for line in ended.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = Reader::strict().read(line).map_err(|error| error.fault.code().to_owned())?;
            let name = text(&line, "task_id")?;
            match problem(&line, &name)? {
                Ok(problem) => bank.problems.push(problem),
                Err(why) => bank.unable.push((name, why)),
            }
        }
        if bank.problems.is_empty() {
            return Err("no problem converts".to_owned());
        }
        Ok(bank)
    }

    /// Problems in the file.
    pub(crate) fn len(&self) -> usize {
        self.problems.len() + self.unable.len()
    }
}

/// The outer error is a line that is none, the inner one the reason for which a problem has no suite.
fn problem(line: &Value, name: &str) -> Result<Result<Problem, String>, String> {
    let entry_point = text(line, "entry_point")?;
    let Some(spec) = line.get("spec") else { return Ok(Err(text(line, "why")?)) };
    let spec = match Spec::from_value(spec, Mode::Strict, Task::EntryPoint(&entry_point)) {
        Ok(spec) => spec,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let suite = Suite::of_normalised(spec.normalised(), Program::this().over(&spec));
    let suite = suite.ok_or_else(|| format!("{name}: a suite without tests"))?;
    let task = QuorumTask { task_id: name.to_owned(), entry_point: Some(entry_point) };
    Ok(Ok(Problem { spec, task, suite, solution: text(line, "reference")? }))
}

fn text(line: &Value, member: &str) -> Result<String, String> {
    line.get(member)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| format!("a line without {member}"))
}
