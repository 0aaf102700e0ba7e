//! The keeper's descendants: counting them, and killing them until the kernel says that none is left.

use crate::supervise::Strays;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpgid, kill_process, kill_process_group, wait,
};
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// How long a sweep goes on. What is still there then sits in the kernel and cannot be killed by anybody.
const SWEEP: Duration = Duration::from_secs(10);

/// What waiting without blocking found.
pub(super) struct Reaped {
    /// The status of the watched process, when it was among the dead.
    pub(super) watched: Option<WaitStatus>,
    /// The kernel says that no child exists, and to a subreaper that means no descendant.
    pub(super) nobody_left: bool,
    /// How many were collected.
    pub(super) count: u64,
}

/// Collects every dead child.
pub(super) fn reap(watched: Pid) -> Reaped {
    let mut found = Reaped { watched: None, nobody_left: false, count: 0 };
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                found.count += 1;
                if pid == watched {
                    found.watched = Some(status);
                }
            }
            Ok(None) => return found,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                found.nobody_left = true;
                return found;
            }
        }
    }
}

/// All living descendants of this process, children before grandchildren.
pub(super) fn descendants() -> Result<Vec<Pid>, String> {
    let own = rustix::process::getpid();
    match by_children_files(own) {
        Some(found) => Ok(found),
        None => by_parent_numbers(own),
    }
}

/// Quick, and only as large as the family: the kernel's list of children of each task.
fn by_children_files(own: Pid) -> Option<Vec<Pid>> {
    let mut found = Vec::new();
    children_of(own, &mut found)?;
    let mut next = 0;
    while next < found.len() {
        // A descendant may have ended since it was listed; its own children come to us and are seen next time.
        let _ = children_of(found[next], &mut found);
        next += 1;
    }
    Some(found)
}

fn children_of(parent: Pid, found: &mut Vec<Pid>) -> Option<()> {
    for task in std::fs::read_dir(format!("/proc/{parent}/task")).ok()? {
        let list = std::fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        found.extend(list.split_ascii_whitespace().filter_map(|n| Pid::from_raw(n.parse().ok()?)));
    }
    Some(())
}

/// For kernels without those lists: the parent numbers of all processes.
fn by_parent_numbers(own: Pid) -> Result<Vec<Pid>, String> {
    let entries = std::fs::read_dir("/proc").map_err(|e| format!("/proc cannot be read: {e}"))?;
    let mut pairs = Vec::new();
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in brackets may contain anything, so count from its end: state, parent.
        let parent =
            stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(1)?.parse().ok());
        if let Some(parent) = parent {
            pairs.push((parent, pid));
        }
    }
    let mut family = BTreeSet::from([own.as_raw_nonzero().get()]);
    loop {
        let before = family.len();
        family.extend(
            pairs.iter().filter(|(parent, _)| family.contains(parent)).map(|p| p.1).collect::<Vec<_>>(),
        );
        if family.len() == before {
            break;
        }
    }
    family.remove(&own.as_raw_nonzero().get());
    Ok(family.into_iter().filter_map(Pid::from_raw).collect())
}

/// Kills all descendants until none is left, collecting them on the way.
///
/// Whole process groups first: the kernel kills a group in one step that no fork can slip through, so a fork bomb
/// that stays in its group dies at once; one that changes groups is overtaken in the next rounds.
pub(crate) fn sweep(main: Pid) -> Strays {
    if reap(main).nobody_left {
        return Strays::None;
    }
    let end = Instant::now() + SWEEP;
    let own_group = rustix::process::getpgrp();
    let mut killed = HashSet::new();
    let mut collected = 0u64;
    loop {
        let left = match descendants() {
            Ok(left) => left,
            Err(why) => return Strays::NotMeasurable(why),
        };
        let groups: HashSet<_> = left.iter().filter_map(|pid| getpgid(Some(*pid)).ok()).collect();
        for group in groups.into_iter().filter(|group| *group != own_group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for pid in left {
            // Cannot hit a stranger: a descendant keeps its number until we, or its living parent, collect it.
            let _ = kill_process(pid, Signal::KILL);
            if pid != main {
                killed.insert(pid);
            }
        }
        let round = reap(main);
        collected += round.count - u64::from(round.watched.is_some());
        if round.nobody_left {
            let count = collected.max(killed.len() as u64);
            return if count == 0 { Strays::None } else { Strays::Killed(count) };
        }
        if Instant::now() > end {
            return Strays::NotMeasurable("some processes could not be killed".into());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}
