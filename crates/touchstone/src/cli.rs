//! Arguments in: the verbs and what they take.

use crate::{
    agents, attest, certificate, check, conform, consent, delivery, demo, exit, gauge, golden, kernel, key,
    launch, matrix, mcp, output, quorum, reasons, record, room, run, verify, workspace,
};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use std::io::Write as _;
use std::process::ExitCode;

/// Looks only at what can be checked, decides, signs the decision, and lets anybody check it again.
#[derive(Parser)]
#[command(name = "touchstone", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes:
  run      0 accepted (or ungated)  20 refused  21 inconclusive  22 infrastructure void
           with --probe: 0 through us  1 not seen  2 other calls only  22 not measured
  gate-then-run  0 the agent ran  20 not admitted  21 it failed  22 not measured, or not on record
  verify   0 OK  3 VOID  1 BROKEN or UNVERIFIABLE
  check    0 accepted  20 one refused  22 one not measured
  gauge    0 ok  20 not ok  22 not measured
  delivery 0 made  20 the check fails  22 not measured
  quorum   0 a draft ships  20 none does  21 undecided  22 not measured
  conform  0 full  1 incompatible, or no judgement  2 sampled
  attest   0 green  1 red  2 yellow
  matrix   0 pass  1 fail  2 yellow
  consent  0 in order  1 not  2 an erasure is due
  golden   0 hit  1 not hit  2 a task without a golden value
  others   0 yes  1 no
  all     64 wrong use";

#[derive(Subcommand)]
enum Verb {
    /// Watch the gate refuse a lying agent and accept an honest one, in seconds, offline.
    Demo(demo::Args),
    /// Run an agent, check its delivery, sign the verdict.
    Run(Box<run::Args>),
    /// Start an agent with a delivery of somebody else, if it holds, and only once.
    GateThenRun(Box<launch::Args>),
    /// Make what gate-then-run takes: a chain, reviews, a receipt with its card.
    Delivery(delivery::Args),
    /// Count signed judgements of one draft, and name who differs.
    Quorum(quorum::Args),
    /// Consent on a chain: grant, withdraw, erase, audit.
    Consent(consent::Args),
    /// List the agents that are known by name, what each needs, and which are installed.
    Agents(agents::Args),
    /// Check receipts offline: ours and the Python peer's.
    Verify(verify::Args),
    /// Grade a runtime by its runs: is it reproducible?
    Conform(conform::Args),
    /// Run candidates in Python, JavaScript or Rust against suites that are data.
    Check(check::Args),
    /// Ask how good a suite is: a reference, known-bad stubs, small mistakes.
    Gauge(gauge::Args),
    /// Freeze and check golden values.
    Golden(golden::Args),
    /// Grade what this binary claims about itself.
    Attest(attest::Args),
    /// Hash a folder as the desk does.
    Workspace(workspace::Args),
    /// Run envelopes through the deterministic kernel; every decision has a reason.
    Kernel(kernel::Args),
    /// Run, replay and compare the simulated room.
    Room(room::Args),
    /// Run the room's verification matrix over preregistered seeds.
    Matrix(matrix::Args),
    /// Serve the desk's checks as tools of the Model Context Protocol; advisory.
    Mcp(mcp::Args),
    /// Make and show signing keys.
    Key(key::Args),
    /// Check answer certificates.
    Certificate(certificate::Args),
    /// Make and check evidence packs.
    Record(record::Args),
    /// Say what a reason code means.
    Reasons(reasons::Args),
}

/// Parses the arguments and runs the verb.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, everything else is wrong use (never 2, which means yellow).
            let code = if error.use_stderr() { exit::USAGE } else { exit::OK };
            let _ = error.print();
            if forgot_the_dashes(&error) {
                let _ = writeln!(std::io::stderr().lock(), "\n  tip: put -- before the agent's command");
            }
            return ExitCode::from(code);
        }
    };
    ExitCode::from(output::heard(match cli.verb {
        Verb::Demo(args) => demo::run(&args),
        Verb::Run(args) => run::run(*args),
        Verb::GateThenRun(args) => launch::run(&args),
        Verb::Quorum(args) => quorum::run(&args),
        Verb::Delivery(args) => delivery::run(&args),
        Verb::Consent(args) => consent::run(&args),
        Verb::Agents(args) => agents::run(&args),
        Verb::Verify(args) => verify::run(&args),
        Verb::Conform(args) => conform::run(args),
        Verb::Check(args) => check::run(&args),
        Verb::Gauge(args) => gauge::run(&args),
        Verb::Golden(args) => golden::run(&args),
        Verb::Attest(args) => attest::run(&args),
        Verb::Workspace(args) => workspace::run(&args),
        Verb::Kernel(args) => kernel::run(&args),
        Verb::Room(args) => room::run(&args),
        Verb::Matrix(args) => matrix::run(&args),
        Verb::Mcp(args) => mcp::run(&args),
        Verb::Key(args) => key::run(&args),
        Verb::Certificate(args) => certificate::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Reasons(args) => reasons::run(&args),
    }))
}

/// `run` met a word of the agent's command where it takes options only.
fn forgot_the_dashes(error: &clap::Error) -> bool {
    let is_run = std::env::args_os().nth(1).is_some_and(|verb| verb == "run");
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => !word.starts_with('-'),
        _ => false,
    };
    is_run && word && error.kind() == ErrorKind::UnknownArgument
}
