//! The binary: arguments in, words out, exit codes.

mod agents;
mod attest;
mod certificate;
mod check;
mod cli;
mod conform;
mod consent;
mod delivery;
mod demo;
mod exit;
mod gauge;
mod golden;
mod kernel;
mod key;
mod launch;
mod matrix;
mod mcp;
mod output;
mod quorum;
mod reasons;
mod record;
mod room;
mod run;
mod stop;
mod verify;
mod workspace;

fn main() -> std::process::ExitCode {
    // The desk re-executes this binary as its helper; that has to be found out before anything else happens.
    if let Some(code) = desk::sandbox::helper_main(std::env::args_os()) {
        std::process::exit(code);
    }
    cli::main()
}
