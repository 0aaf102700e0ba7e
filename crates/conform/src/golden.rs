//! Golden files on disk, and the rule that a change of one is said in the title of the commit (L-2).

use crate::{Problem, load};
use canon::Digest;
use canon::replay::Table;
use std::collections::{BTreeMap, BTreeSet};
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
    let bytes = load::regular(path, load::TEXT_BYTES_MAX)
        .map_err(|error| Problem::GoldenMissing(path.to_path_buf(), error.to_string()))?;
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
    let not_written = |error: std::io::Error| Problem::NotWritten(out.to_path_buf(), error.to_string());
    let mut frozen: BTreeMap<String, Digest> = BTreeMap::new();
    for run in runs {
        for (case, form) in judge::forms(table, run).map_err(Problem::Refused)? {
            let digest = form.digest();
            // Two runs of one case that differ have no value that could be frozen.
            if frozen.insert(case.clone(), digest).is_some_and(|other| other != digest) {
                let fault = GoldenError::Fault(GoldenFault::Unstable, case);
                return Err(Problem::GoldenRefused(out.to_path_buf(), fault));
            }
        }
    }
    // Of two that freeze at once the second sees what the first wrote.
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lock = std::fs::File::open(folder).map_err(not_written)?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|error| not_written(error.into()))?;
    let mut golden = match out.exists() {
        true => read(out, table).or_else(|problem| renewed(problem, table))?,
        false => Golden { table: table.digest(), entries: Vec::new() },
    };
    golden.set(frozen.into_iter().map(|(case, digest)| Entry { case, host: crate::host_class(), digest }));
    desk::store::write_atomic(out, &golden.to_bytes(), 0o644).map_err(not_written)?;
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
    /// A golden file is another one at the end than at the start.
    pub differs: bool,
    /// A golden file is another one at the end than at the start, and no title has the mark.
    pub red: bool,
}

/// Looks at the commits `A..B` of the repository around `folder` (L-2, ruling 25). Golden files are those named
/// `golden*.json` in letters of any case, and those that `touchstone.toml` lists under `golden` at either end of the range.
///
/// # Errors
/// [`Problem::Git`] when an end is no commit or git is missing, [`Problem::Documents`] for a list that cannot be read.
pub fn range(folder: &Path, range: &str) -> Result<Range, Problem> {
    let (from, to) = range.split_once("..").ok_or_else(|| Problem::Git(format!("{range} is not A..B")))?;
    let commit = |end: &str| {
        let id = git(
            folder,
            &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{end}^{{commit}}")],
        );
        id.map(|id| id.trim().to_owned())
            .map_err(|_| Problem::Git(format!("{range} is not A..B: {end:?} is no commit")))
    };
    let (from, to) = (commit(from)?, commit(to)?);
    let root = PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"])?.trim_end_matches('\n'));
    let mut listed = listed(&root, &from)?;
    listed.extend(self::listed(&root, &to)?);
    let changed = |arguments: &[&str]| -> Result<Vec<String>, Problem> {
        let paths = git(&root, arguments)?;
        Ok(paths.split('\0').filter(|path| is_golden(path, &listed)).map(str::to_owned).collect())
    };
    let plain = ["--name-only", "--no-renames", "--no-relative", "--ignore-submodules=none", "-z"];
    let over_all = changed(&[&["diff"], plain.as_slice(), &[&from, &to, "--"]].concat())?;
    let mut result = Range::default();
    let mut titled = false;
    for id in git(&root, &["rev-list", &format!("{from}..{to}"), "--"])?.lines() {
        // The title is the first line; `%s` would join the lines of the first paragraph.
        let message = git(&root, &["show", "-s", "--format=%B", id])?;
        let title = message.lines().next().unwrap_or_default();
        let marked = title.contains(MARK);
        titled |= marked;
        result.commits += 1;
        let tree = [&["diff-tree", "--no-commit-id", "-r", "-m", "--root"], plain.as_slice(), &[id]].concat();
        // A merge is compared with each of its parents.
        for file in changed(&tree)?.into_iter().collect::<BTreeSet<_>>() {
            if marked {
                result.marked += 1;
            } else {
                result.unmarked.push((id.chars().take(12).collect(), title.to_owned(), file));
            }
        }
    }
    result.differs = !over_all.is_empty();
    result.red = result.differs && !titled;
    Ok(result)
}

fn is_golden(path: &str, listed: &BTreeSet<String>) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    (name.starts_with("golden") && name.ends_with(".json")) || listed.contains(path)
}

/// Files that `touchstone.toml` calls golden in a commit. A list that cannot be read hides nothing: it is an error.
fn listed(root: &Path, commit: &str) -> Result<BTreeSet<String>, Problem> {
    let path = PathBuf::from("touchstone.toml");
    let there = git(root, &["ls-tree", "-z", "--name-only", commit, "--", "touchstone.toml"])?;
    if there.is_empty() {
        return Ok(BTreeSet::new());
    }
    let problem = |why: &str| Problem::Documents(path.clone(), format!("{why} (in {})", &commit[..12]));
    let text = git(root, &["cat-file", "blob", &format!("{commit}:touchstone.toml")])?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| problem(error.message()))?;
    let Some(list) = table.get("golden") else { return Ok(BTreeSet::new()) };
    let plain = |path: &&str| {
        !path.is_empty()
            && !path.ends_with('/')
            && path.split('/').all(|part| !["", ".", ".."].contains(&part))
            && !path.contains(['*', '?', '['])
    };
    let paths = list.as_array().map(|list| {
        list.iter().map(|path| path.as_str().filter(plain).map(str::to_owned)).collect::<Option<_>>()
    });
    paths.flatten().ok_or_else(|| {
        problem("golden must be a list of paths of files from the repository's root, such as a/b.json")
    })
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
