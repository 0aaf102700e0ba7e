//! Two processes in two environments: what `impure::sources` says of them in one process is what each reads of its own.

use crate::{impure, start};
use room::faults::{Fault, case};
use room::record::Feed;
use std::process::Command;

/// Says which fault a child process runs with; it prints the fold of its last tick.
const CHILD: &str = "ROOM_FAULT_CHILD";

#[test]
fn two_processes_in_two_environments_differ() {
    for (fault, variable, [a, b]) in [
        (Fault::EnvironmentThreshold, "ROOM_TUNING", ["0", "100000"]),
        (Fault::LocaleOrder, "LC_ALL", ["C", "de_DE.UTF-8"]),
    ] {
        let run = |value: &str| child(fault, variable, value);
        assert_ne!(run(a), run(b), "{}", fault.name());
        assert_eq!(run(a), run(a), "{}: one environment, one run", fault.name());
    }
}

fn child(fault: Fault, variable: &str, value: &str) -> String {
    let own = std::env::current_exe().expect("a test knows its binary");
    let output = Command::new(own)
        .args(["process::child_process", "--exact", "--nocapture"])
        .env(CHILD, fault.name())
        .env(variable, value)
        .output()
        .expect("the own binary starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let fold = text.lines().find_map(|line| line.strip_prefix("fold "));
    fold.unwrap_or_else(|| panic!("no fold in {text}")).to_owned()
}

/// Nothing but the body of [`child`].
#[test]
fn child_process() {
    let Some(fault) = std::env::var(CHILD).ok().and_then(|name| Fault::of(&name)) else { return };
    let case = case(fault);
    let mut room = start(&case);
    let source = if fault == Fault::LocaleOrder { impure::locale } else { impure::environment };
    room.plant(fault, source);
    let mut feed = Feed::new(&case.inputs);
    for tick in 0..case.ticks {
        room.step(feed.at(tick));
    }
    println!("fold {:016x}", room.fold());
}
