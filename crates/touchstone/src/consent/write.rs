//! `touchstone consent grant|withdraw|erase`: one entry more, through the one door (`desk::consent_chain`).

use super::{FILE_BYTES_MAX, say};
use crate::output::{Tone, paint};
use crate::verify::read_regular;
use crate::{exit, output};
use canon::{Digest, Object, Reader, Value, canonical};
use desk::consent_chain::{ConsentChain, ConsentChainError};
use desk::{keydir, store};
use ledger::commitment::commit;
use peers::consent::{ConsentError, ErasedFile, Erasure, Grant, Subject, Withdrawal, plaintext};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the three have in common.
#[derive(clap::Args)]
struct Common {
    /// The chain file; `grant` begins one where there is none.
    #[arg(value_name = "CHAIN")]
    chain: PathBuf,
    /// Key folder of whoever keeps the chain.
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// What the person is called on the chain: a made-up word, never a name.
    #[arg(long, value_name = "REF")]
    subject: String,
    /// Where the chain ends, as it was printed the last time. Needed when the chain has entries.
    #[arg(long, value_name = "HEX")]
    expect_head: Option<String>,
    /// The answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// What describes the person, and what keeps the commitment from being guessed.
#[derive(clap::Args)]
struct Secret {
    /// What describes the person: a JSON file.
    #[arg(long, value_name = "FILE")]
    persona: PathBuf,
    /// The nonce: a file with one word of at least 16 characters. `grant` makes one where there is none.
    #[arg(long, value_name = "FILE")]
    nonce: PathBuf,
}

#[derive(clap::Args)]
pub(super) struct GrantArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    secret: Secret,
    /// What the nonce is called on the chain.
    #[arg(long, value_name = "REF")]
    nonce_ref: String,
    /// What consent is given for, of: domains, needs, style, topics.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    fields: Vec<String>,
    /// Where it may be used: one word.
    #[arg(long, value_name = "WORD")]
    scope: String,
}

#[derive(clap::Args)]
pub(super) struct WithdrawArgs {
    #[command(flatten)]
    common: Common,
    /// Why: one word.
    #[arg(long, value_name = "WORD", default_value = "requested")]
    reason: String,
    /// What describes the person: none of its texts may be the reason. Nobody needs it to withdraw.
    #[arg(long, value_name = "FILE", requires = "nonce")]
    persona: Option<PathBuf>,
    /// Its nonce.
    #[arg(long, value_name = "FILE", requires = "persona")]
    nonce: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(super) struct EraseArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    secret: Secret,
    /// Another file to delete, listed on the chain with its digest: only what cannot be guessed from that.
    #[arg(long, value_name = "REF=FILE")]
    also: Vec<String>,
}

/// Why nothing was written, or not all.
enum Refused {
    /// The arguments cannot be meant.
    Usage(String),
    /// A reason code, and more about it.
    Code(&'static str, String),
}

impl From<ConsentChainError> for Refused {
    fn from(error: ConsentChainError) -> Refused {
        let more = match &error {
            ConsentChainError::Broken(failures) => {
                failures.iter().map(|failure| failure.reason.code()).collect::<Vec<_>>().join(" ")
            }
            ConsentChainError::Io(error) => error.to_string(),
            ConsentChainError::HeadNeeded => "give --expect-head, from where you kept it".to_owned(),
            _ => String::new(),
        };
        Refused::Code(error.code(), more)
    }
}

impl From<ConsentError> for Refused {
    fn from(error: ConsentError) -> Refused {
        Refused::Code(error.code(), String::new())
    }
}

fn usage(path: &Path, why: impl std::fmt::Display) -> Refused {
    Refused::Usage(format!("{}: {why}", path.display()))
}

/// `consent grant`.
pub(super) fn grant(args: &GrantArgs) -> u8 {
    let granted = || -> Result<Digest, Refused> {
        let persona = args.secret.persona()?;
        let nonce = match args.secret.nonce() {
            Err(_) if !args.secret.nonce.exists() => fresh_nonce(&args.secret.nonce)?,
            nonce => nonce?,
        };
        let commitment =
            commit(&persona, &nonce).map_err(|_| usage(&args.secret.nonce, "under 16 characters"))?;
        let fields: Vec<&str> = args.fields.iter().map(String::as_str).collect();
        let grant =
            Grant::new(&args.common.subject, &commitment.to_hex(), &fields, &args.scope, &args.nonce_ref)?;
        no_plaintext(&grant.payload(), &persona, &nonce)?;
        Ok(args.common.open()?.grant(&grant)?)
    };
    args.common.tell("granted", granted())
}

/// `consent withdraw`.
pub(super) fn withdraw(args: &WithdrawArgs) -> u8 {
    let withdrawn = || -> Result<Digest, Refused> {
        let chain = args.common.open()?;
        let subject = args.common.subject(&chain)?;
        let withdrawal = Withdrawal::new(&args.common.subject, subject.grant_hash(), &args.reason)?;
        if let (Some(persona), Some(nonce)) = (&args.persona, &args.nonce) {
            let secret = Secret { persona: persona.clone(), nonce: nonce.clone() };
            no_plaintext(&withdrawal.payload(), &secret.persona()?, &secret.nonce()?)?;
        }
        Ok(chain.withdraw(&withdrawal)?)
    };
    args.common.tell("withdrawn", withdrawn())
}

/// `consent erase`. The files go before the entry is written: an entry that says "gone" before it is true would be false
/// after a crash. What the entry will say lies beside the chain in between, so that the command can be given again.
pub(super) fn erase(args: &EraseArgs) -> u8 {
    let erased = || -> Result<Digest, Refused> {
        let chain = args.common.open()?;
        let (nonce_ref, withdraw_hash, commitment) = {
            let subject = args.common.subject(&chain)?;
            let hash = subject.withdraw_hash().filter(|_| subject.is_unfulfilled());
            let orphan = Refused::Code(peers::consent::Problem::OrphanErasure.code(), String::new());
            (subject.nonce_ref().to_owned(), hash.ok_or(orphan)?, subject.commitment)
        };
        let files = args.files(&nonce_ref)?;
        // The persona goes first and the nonce last: while there is a persona, what is deleted can be compared with what
        // was committed to.
        if args.secret.persona.exists() {
            args.secret.is(commitment)?;
        }
        let plan = args.common.plan(withdraw_hash);
        let listed = match fs::read(&plan) {
            Ok(bytes) => {
                let listed = planned(&bytes, withdraw_hash).filter(|listed| is_about(listed, &files));
                listed.ok_or_else(|| usage(&plan, "lists other files than these, or another erasure"))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                args.secret.is(commitment)?;
                let listed =
                    files.iter().map(|(name, path)| digest(name, path)).collect::<Result<Vec<_>, _>>()?;
                let erasure = Erasure::new(&args.common.subject, withdraw_hash, &nonce_ref, listed.clone())?;
                chain.would_take(&erasure)?;
                let erasure = erasure.payload();
                no_plaintext(&erasure, &args.secret.persona()?, &args.secret.nonce()?)?;
                store::write_atomic(&plan, &canonical(&erasure), 0o600).map_err(|why| usage(&plan, why))?;
                listed
            }
            Err(error) => return Err(usage(&plan, error)),
        };
        let erasure = Erasure::new(&args.common.subject, withdraw_hash, &nonce_ref, listed)?;
        for path in
            [args.secret.persona.as_path()].into_iter().chain(files.iter().rev().map(|(_, path)| *path))
        {
            remove(path).map_err(|error| usage(path, error))?;
        }
        let head = chain.erase(&erasure)?;
        remove(&plan).map_err(|error| usage(&plan, error))?;
        Ok(head)
    };
    args.common.tell("erased", erased())
}

impl EraseArgs {
    /// What is deleted and listed, by name; the nonce first.
    fn files<'args>(&'args self, nonce_ref: &'args str) -> Result<Vec<(&'args str, &'args Path)>, Refused> {
        let mut files = vec![(nonce_ref, self.secret.nonce.as_path())];
        for also in &self.also {
            let pair = also.split_once('=').ok_or(Refused::Usage(format!("--also {also}: not REF=FILE")))?;
            files.push((pair.0, Path::new(pair.1)));
        }
        Ok(files)
    }
}

impl Common {
    fn open(&self) -> Result<ConsentChain, Refused> {
        let head = match &self.expect_head {
            None => None,
            Some(text) => Some(
                Digest::parse(text).map_err(|_| Refused::Usage("--expect-head is no digest".to_owned()))?,
            ),
        };
        let identity = keydir::load(&self.keys, None).map_err(|error| usage(&self.keys, error))?;
        Ok(ConsentChain::open(&self.chain, identity, head)?)
    }

    fn subject<'chain>(&self, chain: &'chain ConsentChain) -> Result<&'chain Subject, Refused> {
        let orphan = peers::consent::Problem::OrphanWithdrawal.code();
        chain.audit().subjects.get(&self.subject).ok_or(Refused::Code(orphan, String::new()))
    }

    /// Where an erasure that was begun says what it lists. One for each withdrawal: what a crash after the entry leaves
    /// here is in nobody's way.
    fn plan(&self, withdraw_hash: Digest) -> PathBuf {
        let mut path = self.chain.clone().into_os_string();
        path.push(format!(".{withdraw_hash}.erasing"));
        path.into()
    }

    fn tell(&self, done: &str, result: Result<Digest, Refused>) -> u8 {
        let object = Object::new().with("ok", result.is_ok()).with("subject_ref", self.subject.as_str());
        match result {
            Ok(head) if self.json => say(&object.with("head", head).into()),
            Ok(head) => {
                output::line(&format!("{}  {}", paint(done, Tone::Good), self.subject));
                output::line(&format!("head  {head}"));
            }
            Err(Refused::Usage(why)) => return output::usage(&why),
            Err(Refused::Code(code, more)) => {
                if self.json {
                    say(&object.with("reason", code).with("detail", more).into());
                } else {
                    output::line(format!("{}  {code}  {more}", paint("not written", Tone::Bad)).trim_end());
                }
                return exit::FAILED;
            }
        }
        exit::OK
    }
}

impl Secret {
    /// What is deleted is what was committed to, and nothing else.
    fn is(&self, commitment: Digest) -> Result<(), Refused> {
        if commit(&self.persona()?, &self.nonce()?) == Ok(commitment) {
            return Ok(());
        }
        Err(usage(&self.persona, "with this nonce is not what the grant commits to"))
    }

    fn persona(&self) -> Result<Value, Refused> {
        let bytes = read_regular(&self.persona, FILE_BYTES_MAX).map_err(|why| usage(&self.persona, why))?;
        Reader::strict().read(&bytes).map_err(|error| usage(&self.persona, error.fault.code()))
    }

    fn nonce(&self) -> Result<String, Refused> {
        let bytes = read_regular(&self.nonce, FILE_BYTES_MAX).map_err(|why| usage(&self.nonce, why))?;
        let text = String::from_utf8(bytes).map_err(|_| usage(&self.nonce, "not UTF-8 text"))?;
        Ok(text.trim_end().to_owned())
    }
}

/// A nonce that nobody can guess, readable by its owner alone.
fn fresh_nonce(path: &Path) -> Result<String, Refused> {
    let nonce = keydir::token().map_err(|error| usage(path, error))?;
    store::write_atomic(path, format!("{nonce}\n").as_bytes(), 0o600).map_err(|error| usage(path, error))?;
    Ok(nonce)
}

/// Nothing of the person goes on the chain: looked for in what is about to be signed.
fn no_plaintext(payload: &Value, persona: &Value, nonce: &str) -> Result<(), Refused> {
    match plaintext([payload], persona, nonce).first() {
        None => Ok(()),
        Some(leak) => Err(Refused::Code(ConsentError::Plaintext.code(), leak.path.clone())),
    }
}

fn digest(name: &str, path: &Path) -> Result<ErasedFile, Refused> {
    let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|why| usage(path, why))?;
    Ok(ErasedFile { reference: name.to_owned(), sha256: Digest::of(&bytes), bytes_n: bytes.len() as u64 })
}

/// What an erasure that was begun lists; nothing when it is about another withdrawal.
fn planned(bytes: &[u8], withdraw_hash: Digest) -> Option<Vec<ErasedFile>> {
    let plan = Reader::strict().read(bytes).ok()?;
    if plan.get("withdraw_hash")?.as_str()? != withdraw_hash.to_hex() {
        return None;
    }
    let file = |file: &Value| {
        Some(ErasedFile {
            reference: file.get("ref")?.as_str()?.to_owned(),
            sha256: Digest::parse(file.get("sha256")?.as_str()?).ok()?,
            bytes_n: u64::try_from(file.get("bytes_n")?.as_i64()?).ok()?,
        })
    };
    plan.get("erased")?.as_array()?.iter().map(file).collect()
}

/// Whether a plan lists exactly these files, and those that are still there are what it lists.
fn is_about(listed: &[ErasedFile], files: &[(&str, &Path)]) -> bool {
    let same = |(name, path): &(&str, &Path)| {
        let planned = listed.iter().find(|file| file.reference == *name);
        let now = if path.exists() { digest(name, path).ok() } else { planned.cloned() };
        planned.is_some() && planned == now.as_ref()
    };
    listed.len() == files.len() && files.iter().all(same)
}

/// Deletes a file and waits until the folder knows; one that is gone already is no error.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}
