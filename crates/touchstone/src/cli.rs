//! Arguments in: the verbs and what they take.

use crate::{exit, verify};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Looks only at what can be checked, decides, signs the decision, and lets anybody check it again.
#[derive(Parser)]
#[command(name = "touchstone", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Check receipts offline: ours and the Python peer's.
    Verify(verify::Args),
}

/// Parses the arguments and runs the verb.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, everything else is wrong use (never 2, which means yellow).
            let code = if error.use_stderr() { exit::USAGE } else { exit::OK };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    ExitCode::from(match cli.verb {
        Verb::Verify(args) => verify::run(&args),
    })
}
