//! The folder of a panel: what is asked, and what was signed about it. Whatever lies in it may come from anybody: digests are
//! compared, and keys are taken from a roster only.

use crate::check::{language, suite_file, text};
use crate::verify::read_regular;
use ::check::Language;
use canon::{Digest, Object, Reader, Value, canonical};
use ledger::Mode;
use ledger::identity::PublicKey;
use ledger::logbook::{lines, verify};
use peers::quorum::{Attestation, Author, Code, Draft, Roster, Suite, Task};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use suite::native::Program;
use suite::spec::Spec;

const QUESTION: &str = "question.json";
const SUITE: &str = "suite.json";
const DRAFTS: &str = "drafts";
const STATEMENTS: &str = "statements";
/// The roster of the executors that `run` started.
pub(super) const ROSTER: &str = "roster.json";

/// Longest file of a panel, in bytes, and most drafts and executors.
const FILE_BYTES_MAX: u64 = 64 << 20;
const DRAFTS_MAX: usize = 64;
pub(super) const EXECUTORS_MAX: usize = 64;

/// A panel that was read.
pub(super) struct Panel {
    folder: PathBuf,
    pub(super) spec: Spec,
    pub(super) task: Task,
    pub(super) drafts: Vec<Draft>,
    pub(super) languages: Vec<Language>,
    /// Votes that are needed; nothing for a majority of the roster.
    pub(super) quorum: Option<NonZeroUsize>,
}

/// A suite as executors of this program run it: natively, and they say so.
pub(super) fn suite_of(spec: &Spec) -> Result<Suite, String> {
    let suite = Suite::of_normalised(spec.normalised(), Program::this().over(spec));
    suite.ok_or_else(|| "a suite without tests decides nothing".to_owned())
}

/// Names that the runner needs itself: a [`Spec`] that has one cannot be read at all.
pub(super) fn is_reserved(_: &str) -> bool {
    false
}

/// Writes the folder. The author of a draft is who is named before `=`, else the file.
pub(super) fn make(
    folder: &Path,
    suite: &Path,
    task_id: &str,
    quorum: Option<NonZeroUsize>,
    drafts: &[String],
) -> Result<(), String> {
    let spec = suite_file(suite)?;
    if drafts.len() > DRAFTS_MAX {
        return Err(format!("at most {DRAFTS_MAX} drafts"));
    }
    let mut named = Vec::new();
    let mut texts = Vec::new();
    for (number, draft) in drafts.iter().enumerate() {
        let (author, path) = match draft.split_once('=') {
            Some((author, path)) if !author.is_empty() && !Path::new(draft).exists() => (author, path),
            _ => (draft.as_str(), draft.as_str()),
        };
        let path = Path::new(path);
        let (language, code) = (language(path)?, Code(text(path)?));
        let file = format!("{number}.{}", language.extension());
        let entry =
            Object::new().with("author", author).with("file", file.as_str()).with("sha256", code.digest());
        named.push(entry);
        texts.push((file, code));
    }
    let question = Object::new()
        .with("v", 1_i64)
        .with("task_id", task_id)
        .with("entry_point", spec.entry_point())
        .with("suite_sha256", spec.digest())
        .with("quorum", quorum.map(|quorum| quorum.get() as u64))
        .with("drafts", named);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir(folder).map_err(failed)?;
    std::fs::create_dir(folder.join(DRAFTS)).map_err(failed)?;
    std::fs::create_dir(folder.join(STATEMENTS)).map_err(failed)?;
    for (file, code) in texts {
        std::fs::write(folder.join(DRAFTS).join(file), code.0).map_err(failed)?;
    }
    std::fs::write(folder.join(SUITE), canonical(&spec.normalised())).map_err(failed)?;
    std::fs::write(folder.join(QUESTION), canonical(&question.into())).map_err(failed)
}

impl Panel {
    /// Reads and compares every digest.
    pub(super) fn read(folder: &Path) -> Result<Panel, String> {
        let question = object(&folder.join(QUESTION))?;
        let wrong = |what: &str| format!("{}: {what}", folder.join(QUESTION).display());
        let member = |name: &str| question.get(name).and_then(Value::as_str).ok_or_else(|| wrong(name));
        let spec = suite_file(&folder.join(SUITE))?;
        if member("suite_sha256")? != spec.digest().to_hex() {
            return Err(wrong("suite_sha256 is of another suite"));
        }
        let task = Task {
            task_id: member("task_id")?.to_owned(),
            entry_point: Some(member("entry_point")?.to_owned()),
        };
        let quorum = match question.get("quorum") {
            None | Some(Value::Null) => None,
            Some(value) => {
                let number = value.as_i64().and_then(|number| usize::try_from(number).ok());
                Some(number.and_then(NonZeroUsize::new).ok_or_else(|| wrong("quorum"))?)
            }
        };
        let named = question.get("drafts").and_then(Value::as_array).ok_or_else(|| wrong("drafts"))?;
        let (mut drafts, mut languages) = (Vec::new(), Vec::new());
        for (number, draft) in named.iter().take(DRAFTS_MAX).enumerate() {
            let text_of = |name: &str| draft.get(name).and_then(Value::as_str).ok_or_else(|| wrong("drafts"));
            let language = language(Path::new(text_of("file")?))?;
            // The name is ours, not the file's: it cannot lead out of the folder.
            let path = folder.join(DRAFTS).join(format!("{number}.{}", language.extension()));
            let code = Code(text(&path)?);
            if code.digest().to_hex() != text_of("sha256")? {
                return Err(format!("{}: not the draft that the question names", path.display()));
            }
            drafts.push(Draft { code, author: Author(text_of("author")?.to_owned()) });
            languages.push(language);
        }
        Ok(Panel { folder: folder.to_owned(), spec, task, drafts, languages, quorum })
    }

    /// Where an executor's chain goes; its name becomes a file name.
    pub(super) fn chain(&self, id: &str) -> Result<PathBuf, String> {
        Ok(self.folder.join(STATEMENTS).join(format!("{}.ndjson", plain(id)?)))
    }

    /// The chains of statements that lie in the panel.
    pub(super) fn chains(&self, roster: &Roster) -> Result<Chains, String> {
        Chains::read(&self.folder.join(STATEMENTS), roster)
    }

    /// The roster that `run` left, of executors that it started itself.
    pub(super) fn own_roster(&self) -> PathBuf {
        self.folder.join(ROSTER)
    }
}

/// Chains of statements, by executor.
pub(super) struct Chains {
    /// Those that hold, and those of executors that the roster does not know: they are rejected by name.
    files: Vec<(String, Vec<u8>)>,
    /// Executors of the roster whose chain does not hold under their key: edited, cut in the middle, put in another order. None
    /// of what it says counts, or a statement could be taken out of it unnoticed.
    pub(super) broken: BTreeSet<String>,
}

impl Chains {
    pub(super) fn read(folder: &Path, roster: &Roster) -> Result<Chains, String> {
        let holds = |id: &String, file: &[u8]| {
            roster.get(id).is_none_or(|key| verify(file, key, Mode::Strict).failures.is_empty())
        };
        let (files, broken): (Vec<_>, Vec<_>) =
            chains(folder)?.into_iter().partition(|(id, file)| holds(id, file));
        Ok(Chains { files, broken: broken.into_iter().map(|(id, _)| id).collect() })
    }

    pub(super) fn voices(&self, task_id: &str, draft: Digest) -> Vec<Attestation> {
        voices(&self.files, task_id, draft)
    }
}

/// What is said about a draft in a task. Statements about other drafts and tasks are no voices here. A line that cannot be
/// read is one that says nothing, and is rejected by name rather than passed over.
pub(super) fn voices(chains: &[(String, Vec<u8>)], task_id: &str, draft: Digest) -> Vec<Attestation> {
    let draft = draft.to_hex();
    let mut all = Vec::new();
    for (id, file) in chains {
        for line in lines(file).iter().filter(|line| !line.bytes.trim_ascii().is_empty()) {
            let entry = Reader::strict().read(line.bytes).unwrap_or(Value::Null);
            let payload = entry.get("payload");
            let is = |name: &str, want: &str| {
                payload.and_then(|payload| payload.get(name)?.as_str()).is_none_or(|text| text == want)
            };
            if is("draft_sha256", &draft) && is("task_id", task_id) {
                all.push(Attestation { executor_id: id.clone(), entry });
            }
        }
    }
    all
}

/// The chain files of a folder, by the name of the executor.
pub(super) fn chains(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(".ndjson")).map(str::to_owned));
    }
    if names.len() > EXECUTORS_MAX {
        return Err(format!("{}: more than {EXECUTORS_MAX} chains", folder.display()));
    }
    let chain = |id: String| {
        let path = folder.join(format!("{}.ndjson", plain(&id)?));
        // A link or a pipe in place of a chain is one that does not hold; it keeps nobody else from being counted.
        let file = read_regular(&path, FILE_BYTES_MAX).unwrap_or_else(|_| b"unreadable\n".to_vec());
        Ok((id, file))
    };
    names.into_iter().map(chain).collect()
}

/// The name of an executor, which is the name of a file too.
fn plain(id: &str) -> Result<&str, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(plain) {
        return Err(format!("{}: a name of letters, digits, - and _ is needed", canon::shown(id.as_bytes())));
    }
    Ok(id)
}

/// Who may judge: a list of names and keys, each once.
pub(super) fn roster(path: &Path) -> Result<Roster, String> {
    let wrong = |why: &str| format!("{}: {why}", path.display());
    let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|why| wrong(&why))?;
    let list = Reader::strict().read(&bytes).map_err(|error| wrong(error.fault.code()))?;
    let mut roster = Roster::new();
    for entry in list.as_array().ok_or_else(|| wrong("no list"))? {
        let text = |member: &str| entry.get(member).and_then(Value::as_str).ok_or_else(|| wrong(member));
        let id = plain(text("executor_id")?)?;
        let key = PublicKey::parse(text("pub_hex")?).map_err(|_| wrong("pub_hex is no key"))?;
        let twice = roster.values().any(|known| *known == key) || roster.insert(id.to_owned(), key).is_some();
        if twice {
            return Err(wrong("a name or a key stands there twice: one machine would vote twice"));
        }
    }
    match roster.len() {
        0 => Err(wrong("nobody may judge")),
        n if n > EXECUTORS_MAX => Err(wrong("too many executors")),
        _ => Ok(roster),
    }
}

/// A roster as a file.
pub(super) fn roster_bytes(roster: &Roster) -> Vec<u8> {
    let entry = |(id, key): (&String, &PublicKey)| {
        Object::new().with("executor_id", id.as_str()).with("pub_hex", key.to_hex())
    };
    canonical(&Value::from(roster.iter().map(entry).collect::<Vec<_>>()))
}

/// A file that holds one JSON object.
pub(super) fn object(path: &Path) -> Result<Object, String> {
    let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))?;
    match Reader::strict().read(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("{}: not an object", path.display())),
        Err(error) => Err(format!("{}: {}", path.display(), error.fault.code())),
    }
}

/// The first line of a chain file.
pub(super) fn first_entry(path: &Path) -> Result<Value, String> {
    let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = lines(&bytes);
    let line = lines.first().ok_or_else(|| format!("{}: empty", path.display()))?;
    Reader::strict().read(line.bytes).map_err(|error| format!("{}: {}", path.display(), error.fault.code()))
}

/// Digests of a panel's drafts, for words.
pub(super) fn short(digest: Digest) -> String {
    digest.to_hex()[..12].to_owned()
}
