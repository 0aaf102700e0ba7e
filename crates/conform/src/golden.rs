//! Golden files on disk, and the rule that a change of one is said in the title of the commit (L-2).

use crate::{Problem, load};
use canon::replay::Table;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use verdict::golden::{Entry, Golden, GoldenError, GoldenFault};
use verdict::judge::{self, Run};

/// The mark in the title of a commit that changes golden values.
pub const MARK: &str = "[golden]";

/// Reads a golden file made under `table`.
///
/// # Errors
/// [`Problem::GoldenMissing`], [`Problem::GoldenRefused`].
pub fn read(path: &Path, table: &Table) -> Result<Golden, Problem> {
    let refused = |error| Problem::GoldenRefused(path.to_path_buf(), error);
    let bytes =
        std::fs::read(path).map_err(|error| Problem::GoldenMissing(path.to_path_buf(), error.to_string()))?;
    let golden = Golden::parse(&bytes).map_err(refused)?;
    if golden.table != table.digest() {
        let place = format!("table_sha256 {}, the table has {}", golden.table, table.digest());
        return Err(refused(GoldenError::Fault(GoldenFault::OtherTable, place)));
    }
    Ok(golden)
}

/// Freezes the hashes of runs on this class of machines; entries of other classes under the same table stay.
///
/// # Errors
/// A run that has no canonical form, or a file that is no golden file of this table.
pub fn freeze(table: &Table, runs: &[Run<'_>], out: &Path) -> Result<Golden, Problem> {
    let mut golden = match out.exists() {
        true => read(out, table).or_else(|problem| renewed(problem, table))?,
        false => Golden { table: table.digest(), entries: Vec::new() },
    };
    let mut frozen = BTreeMap::new();
    for run in runs {
        for (case, form) in judge::forms(table, run).map_err(Problem::Refused)? {
            let digest = form.digest();
            // Two runs of one case that differ have no value that could be frozen.
            if frozen.insert(case.clone(), digest).is_some_and(|other| other != digest) {
                let fault = GoldenError::Fault(GoldenFault::Unstable, case);
                return Err(Problem::GoldenRefused(out.to_path_buf(), fault));
            }
            golden.set(Entry { case, host: crate::host_class(), digest });
        }
    }
    desk::store::write_atomic(out, &golden.to_bytes(), 0o644)
        .map_err(|error| Problem::NotWritten(out.to_path_buf(), error.to_string()))?;
    Ok(golden)
}

/// Under another table every hash is another one: the file begins anew.
fn renewed(problem: Problem, table: &Table) -> Result<Golden, Problem> {
    match problem {
        Problem::GoldenRefused(_, GoldenError::Fault(GoldenFault::OtherTable, _)) => {
            Ok(Golden { table: table.digest(), entries: Vec::new() })
        }
        other => Err(other),
    }
}

/// What a range of commits does to golden files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Commits in the range.
    pub commits: usize,
    /// Commits that change a golden file without the mark: short id, title, file.
    pub unmarked: Vec<(String, String, String)>,
    /// Commits that change one with the mark.
    pub marked: usize,
    /// A golden file is another one at the end than at the start, and no title has the mark.
    pub red: bool,
}

/// Looks at the commits `A..B` of the repository at `folder` (L-2, ruling 25). Golden files are those named
/// `golden*.json` and those that `touchstone.toml` lists under `golden`.
///
/// # Errors
/// [`Problem::Git`] when the range does not exist or git is missing.
pub fn range(folder: &Path, range: &str) -> Result<Range, Problem> {
    let (from, to) = range
        .split_once("..")
        .filter(|(from, to)| !from.is_empty() && !to.is_empty() && !to.starts_with('.'))
        .ok_or_else(|| Problem::Git(format!("{range} is not A..B")))?;
    let listed = listed(folder)?;
    let is_golden = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        (name.starts_with("golden") && name.ends_with(".json")) || listed.iter().any(|known| known == path)
    };
    let changed = |arguments: &[&str]| -> Result<Vec<String>, Problem> {
        let paths = git(folder, arguments)?;
        Ok(paths.split('\0').filter(|path| is_golden(path)).map(str::to_owned).collect())
    };
    let over_all = changed(&["diff", "--name-only", "--no-renames", "-z", from, to, "--"])?;
    let mut result = Range::default();
    for line in git(folder, &["log", "--format=%H %s", &format!("{from}..{to}"), "--"])?.lines() {
        let (id, title) = line.split_once(' ').unwrap_or((line, ""));
        result.commits += 1;
        let files = changed(&[
            "diff-tree",
            "--no-commit-id",
            "--name-only",
            "--no-renames",
            "-r",
            "-m",
            "--root",
            "-z",
            id,
        ])?;
        for file in files {
            if title.contains(MARK) {
                result.marked += 1;
            } else {
                result.unmarked.push((id.chars().take(12).collect(), title.to_owned(), file));
            }
        }
    }
    let titled = git(folder, &["log", "--format=%s", &format!("{from}..{to}"), "--"])?.contains(MARK);
    result.red = !over_all.is_empty() && !titled;
    Ok(result)
}

/// Files that `touchstone.toml` calls golden.
fn listed(folder: &Path) -> Result<Vec<String>, Problem> {
    let path = folder.join("touchstone.toml");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(Vec::new()) };
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| Problem::Documents(path.clone(), error.message().to_owned()))?;
    let list = table.get("golden").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    Ok(list.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, Problem> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .map_err(|error| Problem::Git(format!("git: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Problem::Git(said.lines().next().unwrap_or("git failed").to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs for freezing: each path is a case of the name of its file, or `case` where that is given.
///
/// # Errors
/// As [`load::run`].
pub fn load(paths: &[PathBuf], case: Option<&str>) -> Result<Vec<load::RunBytes>, Problem> {
    let stem = |path: &Path| {
        path.file_stem().map_or_else(|| "run".into(), |stem| canon::shown(stem.as_encoded_bytes()))
    };
    paths.iter().map(|path| load::run(path, &case.map_or_else(|| stem(path), str::to_owned))).collect()
}

/// The case of a golden file that has one only.
pub fn only_case(golden: &Golden) -> Option<String> {
    let cases = cases(golden);
    if cases.len() == 1 { cases.into_keys().next().map(str::to_owned) } else { None }
}

/// Cases of a golden file with the number of host classes of each.
pub fn cases(golden: &Golden) -> BTreeMap<&str, usize> {
    let mut cases = BTreeMap::new();
    for entry in &golden.entries {
        *cases.entry(entry.case.as_str()).or_default() += 1;
    }
    cases
}
