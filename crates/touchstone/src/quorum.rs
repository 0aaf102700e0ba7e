//! `touchstone quorum`: what the statements of several executors come to (desk specification 18).

use crate::output::{Tone, paint};
use crate::verify::read_regular;
use crate::{exit, output};
use canon::{Digest, Object, Reader, Value, canonical};
use ledger::identity::PublicKey;
use peers::quorum::{Attestation, Binding, Gauged, Roster, Upheld, Verdict, challenge_rerun, form_verdict};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const FILE_BYTES_MAX: u64 = 64 << 20;

/// Count signed judgements of one draft, and name who differs.
///
/// A folder of a panel holds one chain for each executor of the roster, NAME.ndjson. Keys come from the roster alone. More
/// than half of the keys decide, whatever they saw, and a corrupt suite passes with every vote honest.
///
/// Example: touchstone quorum verdict --roster roster.json --task-id t --draft solution.py
///   --suite-sha256 HEX --render-sha256 HEX panel
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Exit 0 passed, 20 refused, 21 undecided.
    Verdict {
        #[command(flatten)]
        about: About,
        /// Folder of the panel.
        #[arg(value_name = "PANEL")]
        panel: PathBuf,
    },
    /// A second panel judged again: exit 0 upheld, 1 overturned, 2 undecided.
    Challenge {
        #[command(flatten)]
        about: About,
        /// Folder of the first panel.
        #[arg(value_name = "PANEL")]
        first: PathBuf,
        /// Folder of the second panel.
        #[arg(value_name = "SECOND")]
        second: PathBuf,
    },
}

#[derive(clap::Args)]
struct About {
    /// Who may judge: a JSON list of {executor_id, pub_hex}.
    #[arg(long, value_name = "FILE")]
    roster: PathBuf,
    /// Id of the task.
    #[arg(long, value_name = "ID")]
    task_id: String,
    /// The draft that was judged.
    #[arg(long, value_name = "FILE")]
    draft: PathBuf,
    /// Digest of the suite.
    #[arg(long, value_name = "HEX")]
    suite_sha256: String,
    /// Digest of the program that ran.
    #[arg(long, value_name = "HEX")]
    render_sha256: String,
    /// Votes that are needed [default: more than half of the roster].
    #[arg(long, value_name = "N")]
    quorum: Option<NonZeroUsize>,
    /// The answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let code = match &args.verb {
        Verb::Verdict { about, panel } => about.judge(panel).map(|verdict| tell(&verdict, about.json)),
        Verb::Challenge { about, first, second } => about.judge(first).and_then(|first| {
            let second = about.judge(second)?;
            challenge(&first, &second, about.json)
        }),
    };
    code.unwrap_or_else(|message| output::usage(&message))
}

impl About {
    fn judge(&self, panel: &Path) -> Result<Verdict, String> {
        let roster = roster(&read(&self.roster)?)?;
        let digest = |text: &str, option: &str| {
            Digest::parse(text).map_err(|_| format!("{option} is no digest of 64 hex digits"))
        };
        let binding = Binding {
            task_id: self.task_id.clone(),
            draft: Digest::of(&read(&self.draft)?),
            suite: digest(&self.suite_sha256, "--suite-sha256")?,
            render: digest(&self.render_sha256, "--render-sha256")?,
        };
        let mut said = Vec::new();
        for id in roster.keys() {
            let path = panel.join(format!("{id}.ndjson"));
            // Somebody who says nothing has no vote; that is no wrong use.
            if path.exists() {
                said.extend(statements(id, &read(&path)?, &binding)?);
            }
        }
        let majority = NonZeroUsize::MIN.saturating_add(roster.len() / 2);
        let quorum = self.quorum.unwrap_or(majority);
        Ok(form_verdict(&said, &roster, &binding, quorum, Gauged::Unchecked))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))
}

fn roster(bytes: &[u8]) -> Result<Roster, String> {
    let list = Reader::strict().read(bytes).map_err(|error| format!("--roster: {}", error.fault.code()))?;
    let mut roster = Roster::new();
    for entry in list.as_array().ok_or("--roster is no JSON list")? {
        let text = |member: &str| {
            entry.get(member).and_then(Value::as_str).ok_or(format!("an entry of the roster has no {member}"))
        };
        let id = text("executor_id")?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if id.is_empty() || !id.bytes().all(plain) {
            return Err(format!("{id}: the name of an executor is letters, digits, - and _"));
        }
        let key = PublicKey::parse(text("pub_hex")?).map_err(|_| format!("{id}: pub_hex is no key"))?;
        if roster.values().any(|known| *known == key) || roster.insert(id.to_owned(), key).is_some() {
            return Err(format!(
                "{id}: name and key stand in the roster once, or one machine would vote twice"
            ));
        }
    }
    if roster.is_empty() { Err("the roster is empty: nobody judges".to_owned()) } else { Ok(roster) }
}

/// Entries of a chain that speak of this draft in this task. Other drafts of the same executor are not the matter.
fn statements(id: &str, chain: &[u8], binding: &Binding) -> Result<Vec<Attestation>, String> {
    let mut said = Vec::new();
    for line in chain.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let entry = Reader::strict().read(line).map_err(|error| format!("{id}: {}", error.fault.code()))?;
        let text = |member: &str| entry.get("payload").and_then(|payload| payload.get(member)?.as_str());
        if text("draft_sha256") == Some(&binding.draft.to_hex()) && text("task_id") == Some(&binding.task_id)
        {
            said.push(Attestation { executor_id: id.to_owned(), entry });
        }
    }
    Ok(said)
}

fn tell(verdict: &Verdict, json: bool) -> u8 {
    let (code, word, tone) = match verdict.visible_ok {
        Some(true) => (exit::OK, "passed", Tone::Good),
        Some(false) => (exit::NOT_ADMITTED, "refused", Tone::Bad),
        None => (exit::UNDECIDED, "undecided", Tone::Warn),
    };
    if json {
        output::line(&String::from_utf8_lossy(&canonical(&verdict.to_value())));
        return code;
    }
    let (pass_n, fail_n) = (verdict.camp_pass.len(), verdict.camp_fail.len());
    output::line(&format!("{}  {pass_n} passed it, {fail_n} did not", paint(word, tone)));
    for (what, ids) in [
        ("dissents", &verdict.dissenters),
        ("failed elsewhere", &verdict.detail_dissenters),
        ("said two things", &verdict.equivocators),
    ] {
        for id in ids {
            output::line(&format!("{}  {id}", paint(what, Tone::Warn)));
        }
    }
    for (id, reason) in &verdict.rejected {
        output::line(&format!("{}  {id}: {}", paint("no vote", Tone::Warn), reason.code()));
    }
    let bound = verdict.corrupt_tolerated();
    output::line(&format!(
        "holds while at most {bound} of {} keys lie, and the suite does not",
        verdict.roster_n
    ));
    code
}

fn challenge(first: &Verdict, second: &Verdict, json: bool) -> Result<u8, String> {
    let challenge =
        challenge_rerun(first, second).map_err(|_| "the panels judged different things".to_owned())?;
    let (code, tone) = match challenge.outcome {
        Upheld::Upheld => (exit::OK, Tone::Good),
        Upheld::Overturned => (exit::FAILED, Tone::Bad),
        Upheld::Undecided => (exit::YELLOW, Tone::Warn),
    };
    let accused: Vec<&str> = challenge.accused.iter().map(String::as_str).collect();
    if json {
        let object = Object::new().with("outcome", challenge.outcome.code()).with("accused", accused);
        output::line(&String::from_utf8_lossy(&canonical(&object.into())));
    } else {
        output::line(&format!("{}  accused: {}", paint(challenge.outcome.code(), tone), accused.join(" ")));
    }
    Ok(code)
}
