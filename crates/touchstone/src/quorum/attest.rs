//! One executor: judges every draft of a panel, and signs what it saw.

use super::Where;
use super::panel::{Panel, is_reserved, suite_of};
use crate::check::How;
use crate::{exit, output};
use ::check::{Candidate, CheckInfraError, Evaluator, Language};
use canon::{Object, canonical};
use desk::keydir;
use desk::store::{now_ms, write_public_key};
use peers::quorum::{Bound, CannotAttest, Code, Executor, Outcome, Probe};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    place: Where,
    /// The executor's name, as the roster has it.
    #[arg(long, value_name = "NAME")]
    id: String,
    /// Sign with the key in this folder instead of a fresh one.
    #[arg(long, value_name = "DIR")]
    sign: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    /// Started by `run`, and ended with it.
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// Runs a draft in the language that the panel says.
struct Native<'a> {
    evaluator: Evaluator<'a>,
    panel: &'a Panel,
    language: Language,
}

impl Probe for Native<'_> {
    type Error = CheckInfraError;

    fn run(&mut self, code: &Code, _: &Bound<'_>) -> Result<Outcome, CheckInfraError> {
        let candidate = Candidate { language: self.language, source: code.0.clone() };
        let seen = self.evaluator.evaluate(&self.panel.spec, &candidate)?;
        Ok(Outcome {
            visible_ok: seen.ok,
            first_failing_test: seen.first_failing_test.map(|test| test as u64),
            loads_ok: seen.loads_ok,
            detail_reason: seen.detail.map(|detail| detail.code().to_owned()),
        })
    }
}

pub(super) fn run(args: &Args) -> u8 {
    if args.with_parent
        && let Err(errno) = set_parent_process_death_signal(Some(Signal::KILL))
    {
        return output::usage(&format!("it would outlive its parent: {errno}"));
    }
    let panel = match Panel::read(&args.place.panel) {
        Ok(panel) => panel,
        Err(why) => return output::usage(&why),
    };
    let identity = match &args.sign {
        None => keydir::fresh().map_err(|error| error.to_string()),
        Some(folder) => keydir::load(folder, None).map_err(|error| format!("{}: {error}", folder.display())),
    };
    let (identity, path) = match (identity, panel.chain(&args.id)) {
        (Ok(identity), Ok(path)) => (identity, path),
        (Err(why), _) | (_, Err(why)) => return output::usage(&why),
    };
    let suite = match suite_of(&panel.spec) {
        Ok(suite) => suite,
        Err(why) => return output::usage(&why),
    };
    let bound = match suite.bind(&panel.task, &is_reserved) {
        Ok(bound) => bound,
        // Nobody runs anything for it, and that is an answer.
        Err(unbound) => {
            output::line(&String::from_utf8_lossy(&canonical(
                &Object::new().with("executor_id", args.id.as_str()).with("refused", unbound.code()).into(),
            )));
            return exit::REFUSED;
        }
    };
    let place = match args.how.place() {
        Ok(place) => place,
        Err(code) => return code,
    };
    let key = identity.public();
    let mut chain = match create(&path, &key) {
        Ok(chain) => chain,
        Err(why) => return output::usage(&why),
    };
    let evaluator = Evaluator::new(&place, args.how.options());
    let probe = Native { evaluator, panel: &panel, language: Language::Python };
    let mut executor = Executor::new(&args.id, identity, probe);
    let mut written = 0;
    for (draft, language) in panel.drafts.iter().zip(&panel.languages) {
        executor.probe().language = *language;
        let attested = executor.attest(&draft.code, &bound, now_ms());
        if let Err(why) = attested {
            return not_attested(&why);
        }
        // On disk before the next draft is judged.
        let lines = &executor.lines()[written..];
        if let Err(error) = chain.write_all(lines).and_then(|()| chain.sync_all()) {
            output::refused(&format!("{}: {error}", path.display()), "what was signed is not all on disk");
            return exit::VOID;
        }
        written = executor.lines().len();
    }
    output::line(&String::from_utf8_lossy(&canonical(
        &Object::new()
            .with("executor_id", args.id.as_str())
            .with("key", key.to_hex())
            .with("statements_n", panel.drafts.len() as u64)
            .into(),
    )));
    exit::OK
}

fn create(path: &Path, key: &ledger::identity::PublicKey) -> Result<File, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = File::create_new(path).map_err(failed)?;
    write_public_key(&path.with_extension("pub.json"), key).map_err(failed)?;
    Ok(file)
}

fn not_attested(why: &CannotAttest<CheckInfraError>) -> u8 {
    let said = match why {
        CannotAttest::Probe(why) => why.to_string(),
        CannotAttest::Append(why) => format!("{why:?}"),
    };
    output::refused(&said, "nothing was signed about this draft; it says nothing about the draft");
    exit::VOID
}
