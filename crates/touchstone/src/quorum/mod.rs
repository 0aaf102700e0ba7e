//! `touchstone quorum`: several executors judge drafts, each with a key and a chain of its own (desk specification 18).

mod attest;
mod commit;
mod count;
mod panel;
mod run;
mod say;
mod verdict;

use std::path::PathBuf;

/// Let several executors judge drafts by a suite that is data; the majority decides, and who said otherwise is named.
///
/// A panel is a folder: the question, the suite, the drafts, and one chain of statements for each executor. It may travel: an
/// executor on another machine adds its chain, and anybody forms the verdict again from what was signed.
///
/// Exit: 0 a draft ships (upheld), 20 none does (overturned), 21 undecided, 22 an executor could not measure, 64 wrong use.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Make a panel, let executors of this machine judge it, each a process with a fresh key, and form the verdict.
    ///
    /// Example: touchstone quorum run --suite suite.json --task-id t1 --executors 3 --out panel a.py b.py
    #[command(verbatim_doc_comment)]
    Run(run::RunArgs),
    /// Make a panel and let nobody judge it yet.
    ///
    /// Example: touchstone quorum ask --suite suite.json --task-id t1 --out panel a.py
    #[command(verbatim_doc_comment)]
    Ask(run::AskArgs),
    /// Judge the drafts of a panel and sign what was seen into a chain of its own.
    ///
    /// Example: touchstone quorum attest panel --id alice --sign mykeys
    #[command(verbatim_doc_comment)]
    Attest(attest::Args),
    /// Form the verdict from the statements of a panel.
    ///
    /// Example: touchstone quorum verdict panel --roster roster.json
    #[command(verbatim_doc_comment)]
    Verdict(verdict::VerdictArgs),
    /// Count statements about one draft when only digests are known, such as those of other programs.
    ///
    /// Example: touchstone quorum count chains --roster roster.json --task-id t1 --draft a.py --suite-sha256 HEX --render-sha256 HEX
    #[command(verbatim_doc_comment)]
    Count(count::Args),
    /// Compare the verdict of a panel with that of a second one about the same draft.
    ///
    /// Example: touchstone quorum challenge panel second --roster roster.json --second-roster other.json
    #[command(verbatim_doc_comment)]
    Challenge(verdict::ChallengeArgs),
    /// Commit to a suite before there is a draft. Needs the passing record of `touchstone gauge`.
    ///
    /// Example: touchstone quorum commit suite.json --task-id t1 --gauge gauge.json --nonce-file nonce --sign mykeys --out commit.ndjson
    #[command(verbatim_doc_comment)]
    Commit(commit::Args),
}

/// The panel that a verb works on.
#[derive(clap::Args)]
struct Where {
    /// The folder of the panel.
    #[arg(value_name = "PANEL")]
    panel: PathBuf,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    match &args.verb {
        Verb::Run(args) => run::run(args),
        Verb::Ask(args) => run::ask(args),
        Verb::Attest(args) => attest::run(args),
        Verb::Verdict(args) => verdict::run(args),
        Verb::Count(args) => count::run(args),
        Verb::Challenge(args) => verdict::challenge(args),
        Verb::Commit(args) => commit::run(args),
    }
}
