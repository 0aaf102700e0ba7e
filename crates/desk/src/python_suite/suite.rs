//! Reading a suite before anything runs (desk specification 8.1, ruling 20): files, digest, declared cases.

use super::InfraError;
use super::runtime::{self, Interpreter};
use super::spawn::{Job, Role, Spawner, Status};
use canon::{Digest, Reader, Value, compact_ascii};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

/// One `*.py` file of a suite, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteFile {
    /// File name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl SuiteFile {
    /// True for files that hold cases.
    pub fn is_test(&self) -> bool {
        self.name.starts_with("test_")
    }

    /// The text, when it is UTF-8. Others are never run: what a parser of another encoding saw would not be
    /// what the reader of a receipt sees.
    pub fn text(&self) -> Option<&str> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        std::str::from_utf8(bytes).ok()
    }
}

/// The files of a suite in memory. Later changes on disk do not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    files: Vec<SuiteFile>,
}

impl Suite {
    /// Reads the regular `*.py` files directly inside `folder`. Links are not followed: what they lead to may
    /// change between hashing and running. Names that are not UTF-8 are an error.
    pub fn read(folder: &Path) -> io::Result<Suite> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "py") || !entry.file_type()?.is_file() {
                continue;
            }
            let name = entry.file_name().into_string().map_err(|name| {
                io::Error::new(io::ErrorKind::InvalidData, format!("suite file name is not UTF-8: {name:?}"))
            })?;
            files.push(SuiteFile { name, bytes: std::fs::read(&path)? });
        }
        Ok(Suite::from_files(files))
    }

    /// A suite from files in memory.
    pub fn from_files(mut files: Vec<SuiteFile>) -> Suite {
        files.sort_by(|left, right| left.name.cmp(&right.name));
        Suite { files }
    }

    /// All files, sorted by name.
    pub fn files(&self) -> &[SuiteFile] {
        &self.files
    }

    /// The files that hold cases, sorted by name.
    pub fn tests(&self) -> impl Iterator<Item = &SuiteFile> {
        self.files.iter().filter(|file| file.is_test())
    }

    /// `suite_sha256` of a test directory (2.2): compact ASCII JSON of `[[name, sha256], ...]`.
    pub fn sha256(&self) -> Digest {
        let pair =
            |file: &SuiteFile| Value::Array(vec![file.name.as_str().into(), Digest::of(&file.bytes).into()]);
        Digest::of(&compact_ascii(&Value::Array(self.files.iter().map(pair).collect())))
    }
}

/// Most that discovery may answer, in bytes, and how long it may take.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
const DISCOVERY_WALL: Duration = Duration::from_secs(20);

/// Declared cases of each text, in order, by parsing only (8.1). One isolated interpreter parses all; when it
/// does not survive them, each text gets its own, and the one that kills its parser declares nothing.
pub fn declared_cases(
    spawner: &dyn Spawner,
    python: &Interpreter,
    texts: &[&str],
) -> Result<Vec<Vec<String>>, InfraError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(answer) = discover(spawner, python, texts)? {
        return Ok(answer);
    }
    // A parser that cannot even read nothing is the desk's trouble, not the suite's.
    if discover(spawner, python, &[""])?.is_none() {
        return Err(io::Error::other("the interpreter does not start, or cannot parse an empty file").into());
    }
    texts.iter().map(|text| Ok(discover(spawner, python, &[*text])?.map_or_else(Vec::new, only))).collect()
}

fn only(mut answer: Vec<Vec<String>>) -> Vec<String> {
    answer.pop().unwrap_or_default()
}

fn discover(
    spawner: &dyn Spawner,
    python: &Interpreter,
    texts: &[&str],
) -> Result<Option<Vec<Vec<String>>>, InfraError> {
    let folder = tempfile::tempdir()?;
    // Beside the scratch folder, not in it: a sandbox lays an empty one over that.
    let (code, scratch) = (folder.path().join("code"), folder.path().join("scratch"));
    std::fs::create_dir(&code)?;
    std::fs::create_dir(&scratch)?;
    let script = code.join("discover.py");
    std::fs::write(&script, runtime::DISCOVER)?;
    let mut question = tempfile::tempfile()?;
    question.write_all(&compact_ascii(&texts.to_vec().into()))?;
    question.rewind()?;
    let mut answer = tempfile::tempfile()?;
    let job = Job {
        program: python.program.clone(),
        args: python.isolated_args(&script),
        env: runtime::environment(&scratch),
        cwd: scratch.clone(),
        read_only: vec![code],
        scratch,
        pass_fds: vec![(question.into(), 0), (answer.try_clone()?.into(), 1)],
        wall: DISCOVERY_WALL,
        role: Role::Discovery,
    };
    let exit = spawner.start(job)?.wait()?;
    answer.rewind()?;
    let mut bytes = Vec::new();
    answer.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(if exit.status == Status::Code(0) { names(&bytes, texts.len()) } else { None })
}

fn names(bytes: &[u8], count: usize) -> Option<Vec<Vec<String>>> {
    let value = Reader::strict().read(bytes).ok()?;
    let lists = value.as_array()?;
    let list = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
    };
    (lists.len() == count).then(|| lists.iter().map(list).collect())?
}
