//! What is asked of the interpreter before the agent starts: the declared cases of the suite, and our own programs
//! compiled (ruling 20). The answer is held in memory; nothing that an agent could reach is trusted afterwards.

use super::runtime::{self, Interpreter};
use super::spawn::{Job, Role, Spawner, Status};
use super::{InfraError, Isolation, Suite, SuiteFile};
use canon::{Object, Reader, Value, compact_ascii, unhex};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::time::Duration;

/// Most that the answer may have, in bytes, and how long it may take.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
const WALL: Duration = Duration::from_secs(20);

/// One of our programs, as it is started.
#[derive(Clone, Debug)]
pub(super) enum Program {
    /// Its text.
    Source(&'static str),
    /// A compiled file: starting it takes half the time.
    Compiled(Vec<u8>),
}

impl Program {
    /// Name and content of the file that is started.
    pub(super) fn file(&self) -> (&'static str, &[u8]) {
        match self {
            Program::Source(text) => ("main.py", text.as_bytes()),
            Program::Compiled(bytes) => ("main.pyc", bytes),
        }
    }
}

/// A suite that can be run.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) declared: Vec<Vec<String>>,
    pub(super) checker: Program,
    pub(super) worker: Program,
}

impl Prepared {
    /// Declared cases of each test file that is UTF-8, in their order.
    pub fn declared(&self) -> impl Iterator<Item = &[String]> {
        self.declared.iter().map(Vec::as_slice)
    }
}

/// Asks the interpreter. Only the suite and our own texts are read; `spawner` need not confine it.
pub fn prepare(
    spawner: &dyn Spawner,
    python: &Interpreter,
    suite: &Suite,
    isolation: Isolation,
) -> Result<Prepared, InfraError> {
    let texts: Vec<&str> = suite.tests().filter_map(SuiteFile::text).collect();
    let programs = [runtime::checker(isolation), runtime::WORKER];
    let answer = ask(spawner, python, &texts, &programs)?;
    let mut compiled = answer.programs.into_iter();
    let [checker, worker] = programs.map(|text| match compiled.next().flatten() {
        Some(bytes) => Program::Compiled(bytes),
        None => Program::Source(text),
    });
    Ok(Prepared { declared: answer.declared, checker, worker })
}

/// Declared cases of each text, in order, by parsing only (8.1).
pub fn declared_cases(
    spawner: &dyn Spawner,
    python: &Interpreter,
    texts: &[&str],
) -> Result<Vec<Vec<String>>, InfraError> {
    Ok(ask(spawner, python, texts, &[])?.declared)
}

/// What the interpreter answered.
pub(super) struct Answer {
    pub(super) declared: Vec<Vec<String>>,
    pub(super) programs: Vec<Option<Vec<u8>>>,
}

/// One isolated interpreter parses all; when it does not survive them, each text gets its own, and the one that kills
/// its parser declares nothing.
pub(super) fn ask(
    spawner: &dyn Spawner,
    python: &Interpreter,
    texts: &[&str],
    programs: &[&str],
) -> Result<Answer, InfraError> {
    if let Some(answer) = once(spawner, python, texts, programs)? {
        return Ok(answer);
    }
    // An interpreter that cannot even read nothing is the desk's trouble, not the suite's.
    let Some(mut answer) = once(spawner, python, &[], programs)? else {
        return Err(io::Error::other("the interpreter does not start, or cannot parse an empty list").into());
    };
    for text in texts {
        let alone = once(spawner, python, &[*text], &[])?;
        answer.declared.push(alone.and_then(|mut alone| alone.declared.pop()).unwrap_or_default());
    }
    Ok(answer)
}

fn once(
    spawner: &dyn Spawner,
    python: &Interpreter,
    texts: &[&str],
    programs: &[&str],
) -> Result<Option<Answer>, InfraError> {
    let folder = tempfile::tempdir()?;
    // Beside the scratch folder, not in it: a sandbox lays an empty one over that.
    let (code, scratch) = (folder.path().join("code"), folder.path().join("scratch"));
    std::fs::create_dir(&code)?;
    std::fs::create_dir(&scratch)?;
    let script = code.join("prepare.py");
    std::fs::write(&script, runtime::PREPARE)?;
    let question = Object::new().with("texts", texts.to_vec()).with("programs", programs.to_vec());
    let mut input = tempfile::tempfile()?;
    input.write_all(&compact_ascii(&question.into()))?;
    input.rewind()?;
    let mut output = tempfile::tempfile()?;
    let job = Job {
        program: python.program.clone(),
        args: python.isolated_args(&script),
        env: runtime::environment(&scratch),
        cwd: scratch.clone(),
        read_only: vec![code],
        scratch,
        pass_fds: vec![(input.into(), 0), (output.try_clone()?.into(), 1)],
        wall: WALL,
        role: Role::Discovery,
    };
    let exit = spawner.start(job)?.wait()?;
    output.rewind()?;
    let mut bytes = Vec::new();
    output.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(if exit.status == Status::Code(0) { read(&bytes, texts.len(), programs.len()) } else { None })
}

fn read(bytes: &[u8], texts: usize, programs: usize) -> Option<Answer> {
    let value = Reader::strict().read(bytes).ok()?;
    let names = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let program = |value: &Value| -> Option<Option<Vec<u8>>> {
        if value.is_null() { Some(None) } else { Some(Some(unhex(value.as_str()?)?)) }
    };
    let declared: Vec<_> = value.get("declared")?.as_array()?.iter().map(names).collect::<Option<_>>()?;
    let compiled: Vec<_> = value.get("programs")?.as_array()?.iter().map(program).collect::<Option<_>>()?;
    (declared.len() == texts && compiled.len() == programs).then_some(Answer { declared, programs: compiled })
}
