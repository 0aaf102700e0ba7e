//! `cargo xtask tidy`: exit 0 when every rule of the house holds, 1 when not, 64 for wrong use.

use std::process::ExitCode;
use xtask::{Repo, tidy};

fn main() -> ExitCode {
    if std::env::args().skip(1).collect::<Vec<_>>() != ["tidy"] {
        eprintln!("xtask: the one command is `cargo xtask tidy`");
        return ExitCode::from(64);
    }
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
