//! What `record pack` can find out by itself. What cannot be found out is absent, never guessed.

use canon::{Object, Value};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// Manifest fields that this machine and the repository around `folder` answer: `os`, `machine`, `utc_end`, and
/// where they exist `python`, `repo_commit`, `repo_dirty`, `repo_dirty_paths`.
pub fn measured(folder: &Path) -> Object {
    let mut fields = Object::new();
    let kernel = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    if let (Ok(name), Ok(release)) = (kernel("ostype"), kernel("osrelease")) {
        fields.set("os", format!("{} {}", name.trim(), release.trim()));
    }
    // No host name: packs are handed to strangers.
    let cores =
        std::thread::available_parallelism().map_or(String::new(), |cores| format!(", {cores} cores"));
    fields.set("machine", format!("{}{cores}", std::env::consts::ARCH));
    if let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) {
        fields.set("utc_end", utc(now.as_secs()));
    }
    if let Some(version) =
        answer(folder, "python3", &["-I", "-c", "import sys; print(sys.version.split()[0])"])
    {
        fields.set("python", version.trim());
    }
    if let Some(commit) = answer(folder, "git", &["rev-parse", "--verify", "HEAD"]) {
        fields.set("repo_commit", commit.trim());
        repository(folder, &mut fields);
    }
    fields
}

fn repository(folder: &Path, fields: &mut Object) {
    let Some(status) = answer(folder, "git", &["status", "--porcelain", "-z", "--no-renames"]) else {
        return;
    };
    // Two letters, a blank, the path.
    let paths: Vec<String> = status
        .split('\0')
        .filter_map(|entry| entry.get(3..))
        .map(|path| canon::shown(path.as_bytes()))
        .collect();
    fields.set("repo_dirty", !paths.is_empty());
    fields.set("repo_dirty_paths", Value::from(paths));
}

/// Standard output of a command that succeeded.
fn answer(folder: &Path, program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `2026-01-31T12:00:00Z` of seconds since 1970.
pub(super) fn utc(seconds: u64) -> String {
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Days from 1 March of year 0, in cycles of 400 years: the leap day is the last of its year.
    let day = day + 719_468;
    let (cycle, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + cycle * 400 + u64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}
