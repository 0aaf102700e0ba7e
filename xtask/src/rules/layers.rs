//! Which crate may use which, and what the pure ring may not touch.

use crate::{Out, Repo};
use std::collections::{BTreeMap, BTreeSet};

/// Crates of the pure ring.
const PURE: [&str; 7] = ["canon", "ledger", "verdict", "kernel", "room", "wire", "suite"];

/// The first statement of each of them.
const DENY: &str = "#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]";

/// What `clippy.toml` must forbid, at least.
const IMPURE: [(&str, &[&str]); 2] = [
    (
        "disallowed-methods",
        &[
            "std::time::SystemTime::now",
            "std::time::Instant::now",
            "std::env::var",
            "std::env::vars",
            "std::env::args",
            "std::fs::read",
            "std::fs::read_to_string",
            "std::fs::write",
            "std::fs::File::open",
            "std::fs::File::create",
            "std::thread::spawn",
            "std::thread::scope",
            "std::process::Command::new",
            "std::net::TcpStream::connect",
            "std::net::TcpListener::bind",
        ],
    ),
    (
        "disallowed-types",
        &[
            "std::collections::HashMap",
            "std::collections::HashSet",
            "std::time::SystemTime",
            "std::time::Instant",
        ],
    ),
];

/// Arrows only point down. A crate without a row fails, and so does an edge that is not in its row.
const EDGES: [(&str, &[&str]); 15] = [
    ("canon", &[]),
    ("wire", &["canon"]),
    ("suite", &["canon"]),
    ("proxy", &["canon", "wire"]),
    ("ledger", &["canon"]),
    ("verdict", &["canon", "ledger"]),
    ("kernel", &["canon", "verdict"]),
    ("room", &["canon", "verdict"]),
    ("desk", &["canon", "ledger", "proxy", "verdict", "wire"]),
    ("cluster", &["canon", "ledger", "verdict", "kernel", "desk"]),
    ("conform", &["canon", "ledger", "verdict", "kernel", "desk"]),
    ("matrix", &["canon", "ledger", "verdict", "room", "desk"]),
    (
        "touchstone",
        &[
            "canon", "ledger", "verdict", "kernel", "room", "desk", "cluster", "conform", "matrix", "proxy",
            "wire", "suite",
        ],
    ),
    ("vectors", &["canon"]),
    ("xtask", &["canon"]),
];

/// Test material: only ever a dev-dependency.
const TESTS_ONLY: &str = "vectors";

/// Most external crates under the verifier.
const VERIFIER_CRATES_MAX: usize = 59;
/// What would give the verifier a socket.
const NETWORK: [&str; 5] = ["reqwest", "hyper", "tokio", "ureq", "curl"];

/// (a) Every pure crate turns on the purity list, and turns it off nowhere.
pub(super) fn pure_crates(repo: &Repo, out: &mut Out<'_>) {
    for name in PURE {
        let lib = format!("crates/{name}/src/lib.rs");
        let first = repo.files().find(|(path, _)| *path == lib).and_then(|(_, source)| {
            source.code_lines().map(|(_, line)| line.trim()).find(|line| !line.is_empty())
        });
        if first != Some(DENY) {
            out.find(&lib, 1, format!("a pure crate begins with {DENY}"));
        }
        let folder = format!("crates/{name}/src/");
        for (path, source) in repo.rust().filter(|(path, _)| path.starts_with(&folder)) {
            for (number, line) in source.code_lines() {
                let lint = line.contains("clippy::disallowed_") || line.contains("clippy::float_arithmetic");
                if lint && (line.contains("allow(") || line.contains("expect(")) {
                    out.find(path, number, "a pure crate may not take the purity list back");
                }
            }
        }
    }
}

/// (a) The purity list itself.
pub(super) fn purity_list(repo: &Repo, out: &mut Out<'_>) {
    let clippy = repo.toml("clippy.toml").unwrap_or_default();
    for (list, wanted) in IMPURE {
        let entries = clippy.get(list).and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let path = |entry: &toml::Value| {
            let path = entry.as_str().or_else(|| entry.get("path").and_then(toml::Value::as_str));
            path.map(str::to_owned)
        };
        let known: BTreeSet<String> = entries.iter().filter_map(path).collect();
        for path in wanted.iter().filter(|path| !known.contains(**path)) {
            out.find("clippy.toml", 0, format!("{list} lacks {path}"));
        }
    }
}

/// One manifest of ours: its name, its sections of dependencies.
struct Manifest {
    file: String,
    name: String,
    table: toml::Table,
}

fn manifests(repo: &Repo) -> Vec<Manifest> {
    let ours = |path: &str| {
        path == "xtask/Cargo.toml" || (path.starts_with("crates/") && path.matches('/').count() == 2)
    };
    let read = |(path, _): (&str, _)| {
        let table = repo.toml(path)?;
        let name = table.get("package")?.get("name")?.as_str()?.to_owned();
        Some(Manifest { file: path.to_owned(), name, table })
    };
    repo.ending("/Cargo.toml").filter(|(path, _)| ours(path)).filter_map(read).collect()
}

impl Manifest {
    /// Names of the packages in a kind of dependencies, those for single targets included.
    fn of(&self, kind: &str) -> BTreeSet<String> {
        let targets = self.table.get("target").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let sections = targets.values().map(|target| target.get(kind)).chain([self.table.get(kind)]);
        let package = |(name, value): (&String, &toml::Value)| {
            value.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned()
        };
        sections
            .flatten()
            .filter_map(toml::Value::as_table)
            .flat_map(|table| table.iter().map(package))
            .collect()
    }

    fn all(&self) -> BTreeSet<String> {
        ["dependencies", "build-dependencies", "dev-dependencies"]
            .iter()
            .flat_map(|kind| self.of(kind))
            .collect()
    }
}

fn is_ours(name: &str) -> bool {
    EDGES.iter().any(|(known, _)| *known == name)
}

/// (b) Edges between our crates.
pub(super) fn edges(repo: &Repo, out: &mut Out<'_>) {
    let manifests = manifests(repo);
    let names: BTreeSet<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    for manifest in &manifests {
        let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == manifest.name) else {
            out.find(&manifest.file, 0, format!("crate {} has no row in the table of edges", manifest.name));
            continue;
        };
        for (kind, dev) in
            [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)]
        {
            for to in manifest.of(kind).iter().filter(|to| names.contains(to.as_str()) || is_ours(to)) {
                let fine = allowed.contains(&to.as_str()) || (dev && to == TESTS_ONLY);
                if !fine {
                    let edge = format!("{} -> {to} ({kind}) is not in the table of edges", manifest.name);
                    out.find(&manifest.file, 0, edge);
                }
            }
        }
    }
    for (name, _) in EDGES.iter().filter(|(name, _)| !names.contains(name)) {
        out.find(
            "xtask/src/rules/layers.rs",
            0,
            format!("the table of edges has a row for {name}, which is no crate"),
        );
    }
}

/// (c) The checker does not link what it checks.
pub(super) fn verifier_source(repo: &Repo, out: &mut Out<'_>) {
    let mut files = 0;
    for (path, source) in repo.rust().filter(|(path, _)| path.starts_with("crates/touchstone/src/verify")) {
        files += 1;
        for (number, line) in source.code_lines() {
            if line.contains("desk::") || line.contains("use desk") {
                out.find(path, number, "the verifier uses canon, ledger and verdict only, never the desk");
            }
        }
    }
    if files == 0 {
        out.find(
            "crates/touchstone/src/verify",
            0,
            "the verifier's files are not where this rule looks for them",
        );
    }
}

/// (c) External crates under `ledger` and `verdict`. Cargo says which are linked here; the lock file, which knows no
/// features, targets and kinds, says which could be, and none of those may open a socket either.
pub(super) fn verifier_tree(repo: &Repo, out: &mut Out<'_>) {
    let possible = locked_under(repo, &["ledger", "verdict"]);
    let linked: BTreeSet<&str> = match repo.verifier_tree() {
        Ok(tree) => tree.iter().map(String::as_str).filter(|name| !is_ours(name)).collect(),
        Err(why) => return out.find("Cargo.lock", 0, format!("the verifier's tree was not measured: {why}")),
    };
    out.note(format!(
        "verifier's tree: {} external crates linked (at most {VERIFIER_CRATES_MAX}), {} in the lock file",
        linked.len(),
        possible.len()
    ));
    if linked.is_empty() || possible.is_empty() {
        out.find("Cargo.lock", 0, "no external crate under the verifier: this rule looks in the wrong place");
    }
    if linked.len() > VERIFIER_CRATES_MAX {
        out.find("Cargo.lock", 0, format!("the verifier links {} external crates", linked.len()));
    }
    for name in NETWORK.iter().filter(|name| linked.contains(**name) || possible.contains(**name)) {
        out.find("Cargo.lock", 0, format!("{name} in the verifier's tree: verifying needs no network"));
    }
}

/// External crates that the lock file has under these crates of ours.
fn locked_under(repo: &Repo, roots: &[&str]) -> BTreeSet<String> {
    let lock = repo.toml("Cargo.lock").unwrap_or_default();
    let packages = lock.get("package").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let mut locked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in &packages {
        let name = package.get("name").and_then(toml::Value::as_str).unwrap_or_default();
        // "name", or "name version" where two versions are locked; they are then counted as one.
        let needs = package.get("dependencies").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let needs = needs.iter().filter_map(|need| need.as_str()?.split(' ').next().map(str::to_owned));
        locked.entry(name.to_owned()).or_default().extend(needs);
    }
    // Of our own crates the lock file mixes in what only tests need; their manifests do not.
    for manifest in manifests(repo) {
        locked.insert(manifest.name.clone(), manifest.of("dependencies").into_iter().collect());
    }
    let mut seen = BTreeSet::new();
    let mut pending: Vec<String> = roots.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = pending.pop() {
        if seen.insert(name.clone()) {
            pending.extend(locked.get(&name).into_iter().flatten().cloned());
        }
    }
    seen.retain(|name| !is_ours(name));
    seen
}

/// (f) A name that says nothing collects everything.
pub(super) fn crate_names(repo: &Repo, out: &mut Out<'_>) {
    for manifest in manifests(repo) {
        if manifest
            .name
            .split(['-', '_'])
            .any(|part| ["utils", "util", "common", "misc", "types"].contains(&part))
        {
            out.find(&manifest.file, 0, format!("a crate named {} has no one responsibility", manifest.name));
        }
    }
}

/// (g) The two profiles may not behave differently.
pub(super) fn release_profile(repo: &Repo, out: &mut Out<'_>) {
    let root = repo.toml("Cargo.toml").unwrap_or_default();
    let release = root.get("profile").and_then(|profile| profile.get("release"));
    for switch in ["overflow-checks", "debug-assertions"] {
        if release.and_then(|release| release.get(switch)?.as_bool()) != Some(true) {
            out.find("Cargo.toml", 0, format!("[profile.release] keeps {switch} = true"));
        }
    }
}

/// (o) A test target that needs a feature is run by nothing that runs the workspace: CI names it.
pub(super) fn feature_tests(repo: &Repo, out: &mut Out<'_>) {
    const CI: &str = ".ci/run";
    let ci = repo.text(CI).unwrap_or_default();
    for manifest in manifests(repo) {
        let targets = manifest.table.get("test").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        for target in &targets {
            let name = target.get("name").and_then(toml::Value::as_str).unwrap_or_default();
            let needed = target.get("required-features").and_then(toml::Value::as_array);
            let features: Vec<&str> = needed.into_iter().flatten().filter_map(toml::Value::as_str).collect();
            let command = format!("-p {} --features {} --test {name}", manifest.name, features.join(","));
            if !features.is_empty() && !ci.lines().any(|line| line.ends_with(&command)) {
                out.find(&manifest.file, 0, format!("{CI} does not run cargo test {command}"));
            }
        }
    }
}

/// (o) Planted faults are for tests: no crate depends on another with them.
pub(super) fn planted_faults(repo: &Repo, out: &mut Out<'_>) {
    for manifest in manifests(repo) {
        let on = |value: &toml::Value| {
            let features = value.get("features").and_then(toml::Value::as_array);
            features.into_iter().flatten().any(|feature| feature.as_str() == Some("faults"))
        };
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let table = manifest.table.get(kind).and_then(toml::Value::as_table).cloned().unwrap_or_default();
            for (name, _) in table.iter().filter(|(_, value)| on(value)) {
                out.find(&manifest.file, 0, format!("{kind} turn on the planted faults of {name}"));
            }
        }
    }
}

/// (i) Every direct dependency is named with a reason.
pub(super) fn dependencies(repo: &Repo, out: &mut Out<'_>) {
    const FILE: &str = "ARCHITECTURE.md";
    let Some(text) = repo.text(FILE) else {
        return out.find(FILE, 0, "is missing: its section Dependencies justifies each direct dependency");
    };
    let rows = justified(text);
    let mut used: BTreeMap<String, String> = BTreeMap::new();
    for manifest in manifests(repo) {
        for name in manifest.all().into_iter().filter(|name| !is_ours(name)) {
            used.entry(name).or_insert_with(|| manifest.file.clone());
        }
    }
    for (name, file) in &used {
        match rows.get(name.as_str()) {
            None => out.find(file, 0, format!("{name} has no row in {FILE}, section Dependencies")),
            Some((line, "")) => out.find(FILE, *line, format!("{name} is named without a reason")),
            Some(_) => {}
        }
    }
    for (name, (line, _)) in rows.iter().filter(|(name, _)| !used.contains_key(**name)) {
        out.find(FILE, *line, format!("{name} is justified and used by no crate"));
    }
    out.note(format!("direct external dependencies: {}", used.len()));
}

/// Rows `| name | why |` of the section, without head and rule.
fn justified(text: &str) -> BTreeMap<&str, (usize, &str)> {
    let mut rows = BTreeMap::new();
    let mut inside = false;
    for (line, number) in text.lines().zip(1..) {
        if line.starts_with("# ") || line.starts_with("## ") {
            inside = line.trim() == "## Dependencies";
        }
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if let (true, true, [name, why, ..]) = (inside, line.trim_start().starts_with('|'), cells.as_slice())
            && !name.starts_with("--")
            && *name != "name"
        {
            rows.insert(name.trim_matches('`'), (number, *why));
        }
    }
    rows
}
