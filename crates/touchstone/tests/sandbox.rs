//! The sandbox and the supervisor against programs that mean harm (receiving-desk.md section 9; PC-01, PC-36, PC-39,
//! PC-40, PC-42, PC-43).
//!
//! The same cases run at every level this machine offers, as the present user; `as_an_ordinary_user` runs this
//! very test program once more as user 65534. Cases that cannot run say `SKIPPED: name: reason` on standard error.

use desk::sandbox::{
    Answer, Cannot, Choice, Ended, Establish, Level, Limits, Probe, Sandbox, Spec, Status, Stdin, Strays,
};
use std::path::{Path, PathBuf};

const HELPER: &str = env!("CARGO_BIN_EXE_touchstone");

fn establish(choice: Choice, forbid_userns: bool) -> Result<Sandbox, desk::sandbox::Unavailable> {
    Establish { helper: Some(HELPER.into()), forbid_userns, ..Establish::new(choice, None) }.run()
}

/// Each confined level that this machine has.
fn confined() -> Vec<Sandbox> {
    let mut all = Vec::new();
    for forbid in [false, true] {
        match establish(Choice::Auto, forbid) {
            Ok(sandbox) => all.push(sandbox),
            Err(why) => eprintln!("SKIPPED: level (userns forbidden: {forbid}): {why}"),
        }
    }
    all
}

#[test]
fn smoke() {
    for s in confined() {
        eprintln!("{:?} {:?}", s.level(), s.not_full().map(|c| c.to_string()));
        for (p, a) in s.measured().answers() {
            eprintln!("  {} {} {}", p.code(), a.code(), a.text());
        }
    }
    let s = establish(Choice::None, false).unwrap();
    for (p, a) in s.measured().answers() {
        eprintln!("  {} {} {}", p.code(), a.code(), a.text());
    }
}
