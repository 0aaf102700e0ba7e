//! Forming a verdict from what was signed, and holding it against a second one.

use super::panel::{Panel, is_reserved, roster, suite_of};
use super::{Where, commit, say};
use crate::{exit, output};
use canon::{Object, Value};
use ledger::identity::PublicKey;
use peers::quorum::{Committed, Question, Roster, Selection, Selector, Upheld, Verdict, challenge_rerun};
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct VerdictArgs {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    counted: Counted,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// How statements are counted.
#[derive(clap::Args, Clone)]
pub(super) struct Counted {
    /// Who may judge: a JSON list of {"executor_id", "pub_hex"} [default: the executors that `run` started].
    #[arg(long, value_name = "FILE")]
    roster: Option<PathBuf>,
    #[command(flatten)]
    commitment: Commitment,
}

/// What the suite must be: the one that was committed to.
#[derive(clap::Args, Clone)]
pub(super) struct Commitment {
    /// The suite must be the one that this entry commits to. Needs --nonce-file and --committer.
    #[arg(long, value_name = "FILE", requires_all = ["nonce_file", "committer"])]
    commit: Option<PathBuf>,
    /// The nonce that opens the commitment.
    #[arg(long, value_name = "FILE", requires = "commit")]
    nonce_file: Option<PathBuf>,
    /// The key (64 hex) that must have signed the commitment; without it an invented gauge record would pass.
    #[arg(long, value_name = "KEY", requires = "commit", value_parser = key)]
    committer: Option<PublicKey>,
}

fn key(text: &str) -> Result<PublicKey, String> {
    PublicKey::parse(text).map_err(|_| "64 lowercase hex digits of a key are needed".to_owned())
}

/// A commitment that was read.
pub(super) struct Opened {
    entry: Value,
    nonce: String,
    committer: PublicKey,
}

impl Commitment {
    pub(super) fn open(&self) -> Result<Option<Opened>, String> {
        match (&self.commit, &self.nonce_file, &self.committer) {
            (Some(file), Some(nonce), Some(key)) => Ok(Some(Opened {
                entry: commit::entry(file)?,
                nonce: commit::nonce(nonce)?,
                committer: *key,
            })),
            _ => Ok(None),
        }
    }
}

#[derive(clap::Args)]
pub(super) struct ChallengeArgs {
    #[command(flatten)]
    place: Where,
    /// The panel that judged again.
    #[arg(value_name = "SECOND")]
    second: PathBuf,
    #[command(flatten)]
    counted: Counted,
    /// Who may judge in the second panel [default: the executors that its `run` started].
    #[arg(long, value_name = "FILE")]
    second_roster: Option<PathBuf>,
    /// Which draft, from 0 [default: the one that shipped, else the first].
    #[arg(long, value_name = "N")]
    draft: Option<usize>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// What came of counting, and who of the roster could not be counted.
pub(super) struct Counting {
    pub(super) selection: Selection,
    /// Their chains do not hold.
    pub(super) broken: BTreeSet<String>,
    /// Of each verdict, who said nothing about the draft.
    pub(super) silent: Vec<BTreeSet<String>>,
}

/// Who of the roster is named nowhere in a verdict.
fn silent(verdict: &Verdict, roster: &Roster, broken: &BTreeSet<String>) -> BTreeSet<String> {
    let spoke = |id: &&String| {
        let sets = [&verdict.camp_pass, &verdict.camp_fail, &verdict.equivocators, broken];
        sets.iter().any(|set| set.contains(*id))
            || verdict.rejected.iter().any(|(rejected, _)| rejected == *id)
    };
    roster.keys().filter(|id| !spoke(id)).cloned().collect()
}

/// What is selected when the statements of a panel are counted.
pub(super) fn select(panel: &Panel, roster: Roster, opened: Option<&Opened>) -> Result<Counting, String> {
    let chains = panel.chains(&roster)?;
    let suite = suite_of(&panel.spec)?;
    let committed = opened.map(|opened| Committed {
        entry: &opened.entry,
        nonce: &opened.nonce,
        committer: &opened.committer,
    });
    let question = Question {
        task: &panel.task,
        suite: &suite,
        drafts: &panel.drafts,
        quorum: panel.quorum,
        committed,
        is_reserved: &is_reserved,
    };
    let mut selector = Selector::new(&question, roster.clone());
    while let Some((draft, _)) = selector.next() {
        selector.judge(&chains.voices(&panel.task.task_id, draft.code.digest()));
    }
    let selection = selector.finish();
    let silent = selection.verdicts.iter().map(|verdict| silent(verdict, &roster, &chains.broken)).collect();
    Ok(Counting { selection, broken: chains.broken, silent })
}

fn of(panel: &Panel, given: Option<&PathBuf>) -> Result<Roster, String> {
    let own = panel.own_roster();
    if given.is_none() && !own.exists() {
        return Err(
            "nobody of this panel was started by `run`: --roster says who may judge, with which keys"
                .to_owned(),
        );
    }
    roster(given.unwrap_or(&own))
}

pub(super) fn run(args: &VerdictArgs) -> u8 {
    let told = || {
        let panel = Panel::read(&args.place.panel)?;
        let roster = of(&panel, args.counted.roster.as_ref())?;
        let opened = args.counted.commitment.open()?;
        Ok((select(&panel, roster, opened.as_ref())?, args.counted.roster.is_some()))
    };
    match told() {
        Ok((counting, pinned)) => say::selection(&counting, pinned, args.json),
        Err::<_, String>(why) => output::usage(&why),
    }
}

/// The verdict about one draft, whichever ships.
fn about(panel: &Panel, roster: &Roster, number: usize) -> Result<Verdict, String> {
    let draft = panel.drafts.get(number).ok_or_else(|| format!("there is no draft {number}"))?;
    let suite = suite_of(&panel.spec)?;
    let bound = suite.bind(&panel.task, &is_reserved).map_err(|unbound| unbound.code().to_owned())?;
    Ok(peers::quorum::form_verdict(
        &panel.chains(roster)?.voices(&panel.task.task_id, draft.code.digest()),
        roster,
        &bound.binding(&draft.code),
        panel.quorum.unwrap_or_else(|| peers::quorum::majority(roster)),
        peers::quorum::Gauged::Unchecked,
    ))
}

pub(super) fn challenge(args: &ChallengeArgs) -> u8 {
    match challenged(args) {
        Ok(code) => code,
        Err(why) => output::usage(&why),
    }
}

fn challenged(args: &ChallengeArgs) -> Result<u8, String> {
    let (panel, second) = (Panel::read(&args.place.panel)?, Panel::read(&args.second)?);
    let roster = of(&panel, args.counted.roster.as_ref())?;
    let other = of(&second, args.second_roster.as_ref())?;
    let opened = args.counted.commitment.open()?;
    let counting = select(&panel, roster.clone(), opened.as_ref())?;
    let shipped = counting.selection.shipped.map_or(0, |shipped| shipped.index);
    if let Some((id, _)) = other.iter().find(|(_, key)| roster.values().any(|known| known == *key)) {
        let id = canon::shown(id.as_bytes());
        return Err(format!(
            "{id} of the second panel judged in the first, too: a challenge needs other keys"
        ));
    }
    let number = args.draft.unwrap_or(shipped);
    let first = about(&panel, &roster, number)?;
    let digest = first.binding.draft;
    let there = second.drafts.iter().position(|draft| draft.code.digest() == digest);
    let there = there.ok_or("the second panel did not judge this draft")?;
    let again = about(&second, &other, there)?;
    let challenge =
        challenge_rerun(&first, &again).map_err(|_| "the panels judged other suites or tasks".to_owned())?;
    if args.json {
        let accused: Vec<&str> = challenge.accused.iter().map(String::as_str).collect();
        say::json(
            Object::new()
                .with("outcome", challenge.outcome.code())
                .with("accused", accused)
                .with("first", first.to_value())
                .with("second", again.to_value()),
        );
    } else {
        say::challenge(&challenge, &first, &again);
    }
    Ok(match challenge.outcome {
        Upheld::Upheld => exit::OK,
        Upheld::Overturned => exit::REFUSED,
        Upheld::Undecided => exit::UNDECIDED,
    })
}
