//! The signed records of a matrix: what was frozen, which holdout units were taken, how runs ended.
//!
//! A chain is never continued by a process that did not open it, so each record is a chain of one entry with its key beside
//! it, which `touchstone verify` checks alone; its payload has its number and the head of the record before it. A record
//! that was taken away in the middle is noticed; one taken away at the end is not, as with every chain: keep the head.

use crate::Problem;
use canon::{Digest, Object, Value, canonical};
use desk::store::{now_ms, write_atomic};
use ledger::Mode;
use ledger::identity::{Identity, PublicKey};
use ledger::logbook::{self, Appender};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A configuration, its tests, seeds and thresholds were frozen (GD-05).
    Freeze,
    /// A run took holdout units.
    Holdout,
    /// A run ended.
    Run,
}

impl Kind {
    /// The type of the entry.
    pub fn entry(self) -> &'static str {
        match self {
            Kind::Freeze => "matrix_freeze",
            Kind::Holdout => "matrix_holdout",
            Kind::Run => "matrix_run",
        }
    }

    fn of(entry: &str) -> Option<Kind> {
        [Kind::Freeze, Kind::Holdout, Kind::Run].into_iter().find(|kind| kind.entry() == entry)
    }
}

/// One record that verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its place, from 1.
    pub number: u64,
    /// What it says.
    pub kind: Kind,
    /// Entry hash.
    pub head: Digest,
    /// Id of the key that signed it.
    pub signer: String,
    /// When, in milliseconds since 1970. A time is said, not proved.
    pub ts_ms: i64,
    /// The payload.
    pub payload: Object,
}

impl Record {
    /// A text of the payload.
    pub fn text(&self, name: &str) -> &str {
        self.payload.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number of the payload.
    pub fn natural(&self, name: &str) -> Option<u64> {
        u64::try_from(self.payload.get(name)?.as_i64()?).ok()
    }
}

/// A folder of records.
#[derive(Debug)]
pub struct Records {
    folder: PathBuf,
    all: Vec<Record>,
}

impl Records {
    /// Reads and verifies every record. A folder that does not exist has none.
    ///
    /// # Errors
    /// One that does not verify, or is missing between others.
    pub fn read(folder: &Path) -> Result<Records, Problem> {
        let mut records = Records { folder: folder.to_path_buf(), all: Vec::new() };
        records.reread()?;
        Ok(records)
    }

    /// All records in order.
    pub fn all(&self) -> &[Record] {
        &self.all
    }

    /// Those of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.all.iter().filter(move |record| record.kind == kind)
    }

    /// Where they lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Signs the next record and waits until it is on disk. `decide` sees every record that is there, with no other
    /// process writing, and gives the payload, or nothing when none is needed after all.
    ///
    /// # Errors
    /// What `decide` gives, and whatever keeps the record from being written.
    pub fn append(
        &mut self,
        kind: Kind,
        identity: Identity,
        decide: impl FnOnce(&[Record]) -> Result<Option<Object>, Problem>,
    ) -> Result<Option<Record>, Problem> {
        fs::create_dir_all(&self.folder).map_err(Problem::written(&self.folder))?;
        let _lock = self.lock()?;
        self.reread()?;
        let Some(payload) = decide(&self.all)? else { return Ok(None) };
        let number = self.all.len() as u64 + 1;
        let payload =
            payload.with("number", number).with("previous", self.all.last().map(|record| record.head));
        let mut appender = Appender::default();
        let appended =
            appender.append(kind.entry(), payload.into(), &identity, now_ms()).map_err(Problem::NotSigned)?;
        // The key first: the chain is the commit point, and a key without a chain is written over.
        let public = identity.public();
        let key = Object::new().with("pub_hex", public.to_hex()).with("vacant_id", public.id().as_str());
        let mut key = canonical(&key.into());
        key.push(b'\n');
        self.write(&self.key_path(number), &key)?;
        self.write(&self.chain_path(number), &appended.line)?;
        self.all.push(self.load(number)?);
        Ok(self.all.last().cloned())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Problem> {
        write_atomic(path, bytes, 0o644).map_err(Problem::written(path))
    }

    /// Waits for other writers. The lock ends with the process that holds it, however it ends.
    fn lock(&self) -> Result<File, Problem> {
        let path = self.folder.join("lock");
        let take = || -> io::Result<File> {
            let file = File::options().create(true).truncate(false).write(true).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        take().map_err(Problem::written(&path))
    }

    fn reread(&mut self) -> Result<(), Problem> {
        let last = last_number(&self.folder).map_err(Problem::read(&self.folder))?;
        self.all.clear();
        for number in 1..=last {
            let record = self.load(number)?;
            self.all.push(record);
        }
        Ok(())
    }

    fn load(&self, number: u64) -> Result<Record, Problem> {
        let path = self.chain_path(number);
        let chain = match fs::read(&path) {
            Ok(chain) => chain,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Problem::RecordGap(number)),
            Err(error) => return Err(Problem::NotRead(path, error)),
        };
        let key_path = self.key_path(number);
        let key = fs::read(&key_path).map_err(Problem::read(&key_path))?;
        let previous = self.all.last().map(|record| record.head);
        verified(&chain, &key, number, previous).map_err(|code| Problem::RecordBroken(path, code))
    }

    fn chain_path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("record-{number:04}.ndjson"))
    }

    fn key_path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("record-{number:04}.pub.json"))
    }
}

/// The code of a record that cannot be what it says.
const BROKEN: &str = "matrix_record_broken";

/// One record; the error is a code.
fn verified(chain: &[u8], key: &[u8], number: u64, previous: Option<Digest>) -> Result<Record, &'static str> {
    let key = canon::Reader::strict().read(key).map_err(|error| error.fault.code())?;
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let public =
        text("pub_hex").and_then(|hex| PublicKey::parse(hex).ok()).ok_or("pubkey_file_unreadable")?;
    let signer = public.id().as_str().to_owned();
    if text("vacant_id") != Some(&signer) {
        return Err("id_not_derived_from_key");
    }
    let keep = |kind: &str, payload: &Value| Some((Kind::of(kind)?, payload.as_object()?.clone()));
    let lines = logbook::lines(chain)
        .iter()
        .map(|line| logbook::examine(line, &public, Mode::Strict, &keep))
        .collect();
    let chain = logbook::link(lines);
    if let Some(failure) = chain.failures.first() {
        return Err(failure.reason.code());
    }
    let one = match chain.lines.as_slice() {
        [line] => line.entry.as_ref(),
        _ => None,
    };
    let entry = one.ok_or(BROKEN)?;
    let (kind, payload) = entry.facts.clone().ok_or(BROKEN)?;
    let record =
        Record { number, kind, head: chain.head, signer, ts_ms: entry.ts_ms.unwrap_or_default(), payload };
    let linked = record.natural("number") == Some(number)
        && record.payload.get("previous") == Some(&Value::from(previous))
        && (kind != Kind::Freeze || crate::freeze::holds(&record));
    if linked { Ok(record) } else { Err(BROKEN) }
}

/// The highest number of a record; 0 when there is none.
fn last_number(folder: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut last = 0;
    for entry in entries {
        let name = entry?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix("record-")?.strip_suffix(".ndjson")?.parse().ok());
        last = last.max(number.unwrap_or_default());
    }
    Ok(last)
}
