//! `cargo xtask tidy` and `cargo xtask agents`: exit 0 when all is well, 1 when not, 64 for wrong use.

use std::process::ExitCode;
use xtask::{Repo, agents, tidy};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((verb, [])) if verb == "tidy" => run_tidy(),
        Some((verb, rest)) if verb == "agents" => run_agents(rest),
        _ => usage("the commands are `cargo xtask tidy` and `cargo xtask agents [--only NAMES] [--check]`"),
    }
}

fn usage(why: &str) -> ExitCode {
    eprintln!("xtask: {why}");
    ExitCode::from(64)
}

fn run_agents(words: &[String]) -> ExitCode {
    let ask = match agents::ask(words) {
        Ok(ask) => ask,
        Err(why) => return usage(&why),
    };
    match agents::run(&ask) {
        Ok(all_well) => ExitCode::from(u8::from(!all_well)),
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::from(1)
        }
    }
}

fn run_tidy() -> ExitCode {
    let repo = match Repo::here() {
        Ok(repo) => repo,
        Err(error) => {
            eprintln!("xtask: the repository cannot be read: {error}");
            return ExitCode::from(1);
        }
    };
    let report = tidy(&repo);
    for note in &report.notes {
        println!("{note}");
    }
    for finding in &report.findings {
        println!("{finding}");
    }
    println!("tidy: files {}, findings {}", repo.files().count(), report.findings.len());
    ExitCode::from(u8::from(!report.findings.is_empty()))
}
