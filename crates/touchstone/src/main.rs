//! The binary: arguments in, words out, exit codes.

mod cli;
mod exit;
mod output;
mod verify;

fn main() -> std::process::ExitCode {
    cli::main()
}
