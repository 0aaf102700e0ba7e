//! `touchstone delivery`: makes what `gate-then-run` asks for, so that two people can try it without the peer.

use crate::launch::Here;
use crate::output::{Tone, paint};
use crate::verify::read_regular;
use crate::{exit, output};
use canon::{Digest, Object, Reader, Value, canonical, canonical_digest};
use desk::sandbox::Choice;
use desk::{keydir, store};
use ledger::identity::{Identity, PublicKey};
use ledger::{Mode, logbook};
use peers::Fixed;
use peers::delegation::{
    Audit, Card, Check as _, Credit, Given, Receipt, Review, ReviewCount, Scores, Signer, Terms, Word,
};
use std::path::{Path, PathBuf};

const FILE_BYTES_MAX: u64 = 64 << 20;
/// Characters of a digest that a card shows.
const SPEC_DIGEST: usize = 16;

/// Make a delivery that another desk can take with gate-then-run: a chain, reviews by others, a receipt with its card.
///
/// The deliverer runs `make`, gives chain and answer to reviewers, who run `review` with keys of their own, and then
/// runs `sign`. `review` and `sign` run the check and write down what came of it; nobody can ask for another word.
///
/// Exit codes: 0 made, 20 the check fails, 22 the check could not be run here, 64 wrong use.
///
/// Example: touchstone delivery make --keys deliverer --task-id t-1 --answer answer.txt --chain delivery.ndjson
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Write the deliverer's chain: opened, this answer delivered, closed. A chain that exists is never continued.
    Make {
        /// Key folder of the deliverer.
        #[arg(long, value_name = "DIR")]
        keys: PathBuf,
        /// What the task is called on the chain.
        #[arg(long, value_name = "ID")]
        task_id: String,
        /// The answer.
        #[arg(long, value_name = "FILE")]
        answer: PathBuf,
        /// The new chain.
        #[arg(long, value_name = "FILE")]
        chain: PathBuf,
    },
    /// Review a delivery: run the check here and sign what came of it, PASS or FAIL.
    Review {
        /// Key folder of the reviewer, not the deliverer's.
        #[arg(long, value_name = "DIR")]
        keys: PathBuf,
        /// Public key of the deliverer, 64 hex digits, from where you trust it.
        #[arg(long, value_name = "HEX")]
        deliverer: String,
        #[command(flatten)]
        work: Work,
        /// The signed review.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Sign card and receipt.
    Sign {
        /// Key folder of the deliverer.
        #[arg(long, value_name = "DIR")]
        keys: PathBuf,
        #[command(flatten)]
        work: Work,
        /// Id of the request, from whoever asked.
        #[arg(long, value_name = "ID")]
        request_id: String,
        /// The task as asked.
        #[arg(long, value_name = "FILE")]
        task: PathBuf,
        /// The risk as asked.
        #[arg(long, default_value = "normal", value_parser = ["normal", "high"])]
        risk: String,
        /// A review by somebody else; may be given again.
        #[arg(long, value_name = "FILE")]
        review: Vec<PathBuf>,
        /// What an audit came to. You state this; nothing here checks it, and gate-then-run asks for one that passed.
        #[arg(long, default_value = "none", value_parser = ["none", "passed", "failed"])]
        audit: String,
        /// The new card.
        #[arg(long, value_name = "FILE")]
        card: PathBuf,
        /// The new receipt.
        #[arg(long, value_name = "FILE")]
        receipt: PathBuf,
    },
}

/// What is judged.
#[derive(clap::Args)]
struct Work {
    /// The deliverer's chain.
    #[arg(long, value_name = "FILE")]
    chain: PathBuf,
    /// The answer.
    #[arg(long, value_name = "FILE")]
    answer: PathBuf,
    /// The check, JSON.
    #[arg(long, value_name = "FILE")]
    tests: PathBuf,
    /// What the deliverer runs on, as the registry says it.
    #[arg(long, value_name = "WORD")]
    substrate: String,
    /// How a test program and the answer are confined.
    #[arg(long, value_parser = ["auto", "none"], default_value = "auto")]
    sandbox: String,
}

/// Where a delivery stands on its chain.
struct Delivered {
    stream: Digest,
    deliver: Digest,
    head: Digest,
    task_id: String,
}

/// Why nothing was made: the code, and what is said.
type Failed = (u8, String);

fn wrong(path: &Path, why: impl std::fmt::Display) -> Failed {
    (exit::USAGE, format!("{}: {why}", path.display()))
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let made = match &args.verb {
        Verb::Make { keys, task_id, answer, chain } => make(keys, task_id, answer, chain),
        Verb::Review { keys, deliverer, work, out } => review(keys, deliverer, work, out),
        sign @ Verb::Sign { .. } => seal(sign),
    };
    match made {
        Ok((said, true)) => {
            output::line(&format!("{}  {said}", paint("made", Tone::Good)));
            exit::OK
        }
        Ok((said, false)) => {
            output::line(&format!("{}  {said}", paint("made, and the check FAILS", Tone::Bad)));
            exit::REFUSED
        }
        Err((code, why)) => {
            output::note(&why);
            code
        }
    }
}

fn load(keys: &Path) -> Result<Identity, Failed> {
    keydir::load(keys, None).map_err(|error| wrong(keys, error))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failed> {
    read_regular(path, FILE_BYTES_MAX).map_err(|why| wrong(path, why))
}

fn text(path: &Path) -> Result<String, Failed> {
    String::from_utf8(bytes(path)?).map_err(|_| wrong(path, "not UTF-8 text"))
}

fn json(path: &Path) -> Result<Value, Failed> {
    Reader::strict().read(bytes(path)?.trim_ascii_end()).map_err(|error| wrong(path, error.fault.code()))
}

fn write(path: &Path, value: &Value) -> Result<(), Failed> {
    let mut line = canonical(value);
    line.push(b'\n');
    store::write_atomic(path, &line, 0o644).map_err(|error| wrong(path, error))
}

fn make(keys: &Path, task_id: &str, answer: &Path, path: &Path) -> Result<(String, bool), Failed> {
    let (identity, answer) = (load(keys)?, text(answer)?);
    let mut chain = store::ChainFile::create(path, identity).map_err(|error| wrong(path, error))?;
    let deliver = Object::new().with("task_id", task_id).with("answer_sha256", Digest::of(answer.as_bytes()));
    // A review is of the entry before the last: the deliverer cannot add to what was reviewed, nor take it back.
    for (kind, payload) in [("GENESIS", Object::new()), ("DELIVER", deliver), ("CLOSE", Object::new())] {
        chain.append(kind, payload.into()).map_err(|error| wrong(path, error))?;
    }
    Ok((format!("{}  head {}", path.display(), chain.head()), true))
}

/// The chain, verified, and that it delivers this answer.
fn delivered(path: &Path, key: &PublicKey, answer: &str) -> Result<Delivered, Failed> {
    let keep = |_: &str, payload: &Value| Some(payload.clone());
    let file = bytes(path)?;
    let lines = logbook::lines(&file);
    let lines = lines.iter().map(|line| logbook::examine(line, key, Mode::Strict, &keep)).collect();
    let chain = logbook::link(lines);
    if !chain.failures.is_empty() {
        return Err(wrong(path, "the chain does not hold with the deliverer's key"));
    }
    let entries: Vec<_> = chain.lines.iter().filter_map(|line| line.entry.as_ref()).collect();
    let last = entries.len().checked_sub(2).and_then(|place| entries.get(place));
    let entry = last.filter(|entry| entry.kind.as_ref() == "DELIVER");
    let found = entry.and_then(|entry| {
        let payload = entry.facts.as_ref()?;
        let member = |name| payload.get(name).and_then(Value::as_str);
        let same = member("answer_sha256") == Some(Digest::of(answer.as_bytes()).to_hex().as_str());
        let task_id = member("task_id").filter(|_| same)?.to_owned();
        Some(Delivered { stream: chain.stream_id?, deliver: entry.hash, head: chain.head, task_id })
    });
    found.ok_or_else(|| wrong(path, "the entry before the last does not deliver this answer"))
}

impl Work {
    /// Runs the check here.
    fn passes(&self, tests: &Value, answer: &str) -> Result<bool, Failed> {
        let here = Here { sandbox: if self.sandbox == "none" { Choice::None } else { Choice::Auto } };
        if !here.is_usable(tests) {
            return Err(wrong(&self.tests, "no check of the type equals, json_schema or run_python"));
        }
        here.passes(tests, answer).ok_or((exit::VOID, "nothing was signed".to_owned()))
    }
}

fn review(keys: &Path, deliverer: &str, work: &Work, out: &Path) -> Result<(String, bool), Failed> {
    let key = PublicKey::parse(deliverer);
    let key = key.map_err(|_| (exit::USAGE, "--deliverer is no public key of 64 hex digits".to_owned()))?;
    let (reviewer, answer, tests) = (load(keys)?, text(&work.answer)?, json(&work.tests)?);
    if reviewer.public() == key {
        return Err((exit::USAGE, "nobody reviews a delivery of their own".to_owned()));
    }
    let on_chain = delivered(&work.chain, &key, &answer)?;
    let passes = work.passes(&tests, &answer)?;
    let review = Review {
        reviewer_id: reviewer.public().id().to_string(),
        target_id: key.id().to_string(),
        target_stream: on_chain.stream,
        branch_id: "main".to_owned(),
        target_head: on_chain.deliver,
        task_id: on_chain.task_id,
        substrate: work.substrate.clone(),
        scores: Scores::all(if passes { Word::Pass } else { Word::Fail }),
        ts_ms: store::now_ms(),
        family: None,
    };
    let signed = Object::new().with("reviewer_pub_hex", reviewer.public().to_hex());
    write(out, &signed.with("envelope", review.sign(&reviewer)).into())?;
    Ok((out.display().to_string(), passes))
}

/// A review as `review` wrote it.
fn given(path: &Path) -> Result<Given, Failed> {
    let file = json(path)?;
    let read = || {
        let key = PublicKey::parse(file.get("reviewer_pub_hex")?.as_str()?).ok()?;
        let envelope = file.get("envelope")?.clone();
        let word = Review::read(&envelope)?.scores.word()?;
        let signed = Review::is_signed_by(&envelope, &key);
        // Without a reputation that counts, a review weighs what a newcomer's does.
        let name = key.id().to_string();
        signed.then_some(Given { name, key, word, weight: Fixed::HALF, envelope })
    };
    read().ok_or_else(|| wrong(path, "no signed review"))
}

fn seal(verb: &Verb) -> Result<(String, bool), Failed> {
    let Verb::Sign { keys, work, request_id, task, risk, review, audit, card, receipt } = verb else {
        return Err((exit::USAGE, "not sign".to_owned()));
    };
    let (deliverer, answer, tests) = (load(keys)?, text(&work.answer)?, json(&work.tests)?);
    let task = text(task)?;
    let on_chain = delivered(&work.chain, &deliverer.public(), &answer)?;
    let verified = work.passes(&tests, &answer)?;
    let reviews = review.iter().map(|path| given(path)).collect::<Result<Vec<_>, _>>()?;
    let passed = reviews.iter().filter(|given| given.word == Word::Pass).count() as u64;
    let count = ReviewCount { count: reviews.len() as u64, passed };
    let audit = Audit { performed: audit != "none", passed: audit == "passed" };
    let trust_on = !reviews.is_empty();
    let name = deliverer.public().id().to_string();
    let the_card = Card {
        task_id: on_chain.task_id,
        spec_digest: canonical_digest(&tests).to_hex()[..SPEC_DIGEST].to_owned(),
        trust_on,
        name: name.clone(),
        stream_id: on_chain.stream,
        credit: Credit { score: Fixed::HALF, n_obs: Fixed::ZERO, flags: Vec::new() },
        reviews,
        audit,
        retro_audit: None,
        chain_head: on_chain.head,
        ts_ms: store::now_ms(),
    }
    .sign(&deliverer);
    let signer = Signer {
        vacant_id: name,
        key: deliverer.public(),
        stream_id: on_chain.stream,
        branch_id: "main".to_owned(),
        chain_head: on_chain.head,
    };
    let terms = Terms { request_id, task: &task, tests: &tests, risk, answer: &answer };
    let signed = Receipt {
        verified,
        trust_on,
        audit,
        reviews: count,
        substrate: work.substrate.clone(),
        ..Receipt::for_terms(&terms, &the_card, signer, store::now_ms())
    };
    write(card, &the_card)?;
    write(receipt, &signed.sign(&deliverer))?;
    Ok((format!("{} and {}", receipt.display(), card.display()), verified))
}
