//! What each tool asks of this binary: arguments in, a command out.

use crate::arguments::{Arguments, wrong};
use crate::job::Job;
use crate::place::inside;
use crate::server::Inner;
use crate::tool::{LIMIT_S, LIMIT_S_MAX};
use crate::wrong::{Refusal, Wrong};
use serde_json::{Value, json};
use std::time::Duration;

fn limit_of(arguments: &mut Arguments) -> Result<Duration, Refusal> {
    Ok(Duration::from_secs(arguments.number("limit_s", 1..=LIMIT_S_MAX)?.unwrap_or(LIMIT_S)))
}

pub(crate) fn run_suite(arguments: &mut Arguments, desk: &Inner) -> Result<Job, Refusal> {
    let workspace = inside("workspace", &arguments.needed("workspace")?, &[&desk.root])?;
    let suite = inside("suite", &arguments.needed("suite")?, &[&desk.root])?;
    let timeout = arguments.number("test_timeout_s", 1..=LIMIT_S_MAX)?;
    let task = arguments.text("task_id")?;
    let limit = limit_of(arguments)?;
    let run = tempfile::Builder::new().prefix("mcp-").tempdir_in(desk.runs.path());
    let run = run.map_err(|error| Refusal::new(Wrong::NotRun, format!("no run directory: {error}")))?.keep();
    // There is no agent: the workspace is judged as it lies.
    Ok(Job::new(["run", "--json", "--calls=ignore"], limit)
        .option("workspace", Some(workspace))
        .option("suite", Some(suite))
        .option("run-dir", Some(run))
        .option("task-id", task)
        .option("test-timeout", timeout.map(|seconds| seconds.to_string()))
        .and(["--", "true"]))
}

/// Arguments that every tool has that runs candidates.
struct Candidates {
    suite: String,
    language: String,
    timeout: Option<u64>,
    limit: Duration,
}

impl Candidates {
    fn of(arguments: &mut Arguments) -> Result<Candidates, Refusal> {
        let language = arguments.text("language")?.unwrap_or_else(|| "python".to_owned());
        if !["python", "javascript", "rust"].contains(&language.as_str()) {
            return Err(wrong("language", "python, javascript or rust is needed"));
        }
        Ok(Candidates {
            suite: arguments.json("suite")?,
            language,
            timeout: arguments.number("timeout_s", 1..=LIMIT_S_MAX)?,
            limit: limit_of(arguments)?,
        })
    }

    /// A row of `check`.
    fn row(&self, id: &str, source: &str) -> Result<String, Refusal> {
        let suite: Value =
            serde_json::from_str(&self.suite).map_err(|error| wrong("suite", &error.to_string()))?;
        let row = json!({ "id": id, "suite": suite, "candidate": source, "language": self.language });
        Ok(format!("{row}\n"))
    }

    fn check(&self, rows: String) -> Job {
        let mut job = Job::new(["check", "--json", "-"], self.limit)
            .option("timeout", self.timeout.map(|seconds| seconds.to_string()));
        job.stdin = rows.into_bytes();
        job
    }

    /// Files of the suite and of sources, by name.
    fn files(&self, sources: &[(String, &str)]) -> std::io::Result<tempfile::TempDir> {
        let folder = tempfile::Builder::new().prefix("touchstone-mcp-").tempdir()?;
        std::fs::write(folder.path().join("suite.json"), &self.suite)?;
        for (name, source) in sources {
            std::fs::write(folder.path().join(name), source)?;
        }
        Ok(folder)
    }

    fn extension(&self) -> &'static str {
        match self.language.as_str() {
            "javascript" => "js",
            "rust" => "rs",
            _ => "py",
        }
    }
}

fn not_written(error: std::io::Error) -> Refusal {
    Refusal::new(Wrong::NotRun, format!("no folder for its files: {error}"))
}

pub(crate) fn check_suite(arguments: &mut Arguments, _: &Inner) -> Result<Job, Refusal> {
    let candidates = Candidates::of(arguments)?;
    let row = candidates.row("candidate", &arguments.needed("candidate")?)?;
    Ok(candidates.check(row))
}

pub(crate) fn verify_fix(arguments: &mut Arguments, _: &Inner) -> Result<Job, Refusal> {
    let candidates = Candidates::of(arguments)?;
    let rows = [("draft", arguments.needed("draft")?), ("fix", arguments.needed("fix")?)];
    let rows: Result<String, Refusal> = rows.iter().map(|(id, source)| candidates.row(id, source)).collect();
    Ok(candidates.check(rows?))
}

pub(crate) fn gauge(arguments: &mut Arguments, _: &Inner) -> Result<Job, Refusal> {
    let candidates = Candidates::of(arguments)?;
    let (reference, stubs) = (arguments.needed("reference")?, arguments.texts("stubs")?);
    let named = |name: &str| format!("{name}.{}", candidates.extension());
    let mut sources = vec![(named("reference"), reference.as_str())];
    let stub = |(number, source): (usize, &String)| (named(&format!("stub_{number}")), source.clone());
    let stubs: Vec<(String, String)> = stubs.iter().enumerate().map(stub).collect();
    sources.extend(stubs.iter().map(|(name, source)| (name.clone(), source.as_str())));
    let folder = candidates.files(&sources).map_err(not_written)?;
    let paths = sources.iter().map(|(name, _)| folder.path().join(name));
    let mut job = Job::new(["gauge", "--json"], candidates.limit)
        .option("timeout", candidates.timeout.map(|seconds| seconds.to_string()))
        .and([folder.path().join("suite.json")])
        .and(paths);
    job.files = Some(folder);
    Ok(job)
}

pub(crate) fn quorum(arguments: &mut Arguments, desk: &Inner) -> Result<Job, Refusal> {
    let candidates = Candidates::of(arguments)?;
    let (drafts, task) = (arguments.texts("drafts")?, arguments.needed("task_id")?);
    let executors = arguments.number("executors", 1..=9)?.unwrap_or(3);
    if drafts.is_empty() {
        return Err(wrong("drafts", "at least one is needed"));
    }
    let named = |number: usize| format!("draft_{number}.{}", candidates.extension());
    let sources: Vec<(String, &str)> =
        drafts.iter().enumerate().map(|(number, source)| (named(number), source.as_str())).collect();
    let folder = candidates.files(&sources).map_err(not_written)?;
    let panel = tempfile::Builder::new().prefix("mcp-quorum-").tempdir_in(desk.runs.path());
    // What was signed stays; it is evidence.
    let panel = panel.map_err(not_written)?.keep().join("panel");
    let paths = sources.iter().map(|(name, _)| {
        let mut draft = std::ffi::OsString::from(format!("{name}="));
        draft.push(folder.path().join(name));
        draft
    });
    let mut job = Job::new(["quorum", "run", "--json"], candidates.limit)
        .option("suite", Some(folder.path().join("suite.json")))
        .option("task-id", Some(task))
        .option("executors", Some(executors.to_string()))
        .option("timeout", candidates.timeout.map(|seconds| seconds.to_string()))
        .option("out", Some(panel))
        .and(paths.collect::<Vec<_>>());
    job.files = Some(folder);
    Ok(job)
}

pub(crate) fn verify_receipts(arguments: &mut Arguments, desk: &Inner) -> Result<Job, Refusal> {
    let path = inside("path", &arguments.needed("path")?, &[&desk.root, &desk.runs])?;
    let count = arguments.number("expect_count", 0..=u64::from(u32::MAX))?;
    Ok(Job::new(["verify", "--json"], Duration::from_secs(LIMIT_S))
        .option("expect-key", arguments.text("expect_key")?)
        .option("expect-head", arguments.text("expect_head")?)
        .option("expect-count", count.map(|count| count.to_string()))
        .option("require-tier", arguments.text("require_tier")?)
        .and(["--"])
        .and([path]))
}

pub(crate) fn show_receipt(arguments: &mut Arguments, desk: &Inner) -> Result<Job, Refusal> {
    let path = inside("path", &arguments.needed("path")?, &[&desk.root, &desk.runs])?;
    Ok(Job::new(["verify", "--json", "--entries", "--"], Duration::from_secs(LIMIT_S)).and([path]))
}

pub(crate) fn explain_reason(arguments: &mut Arguments, _: &Inner) -> Result<Job, Refusal> {
    Ok(Job::new(["reasons", "--json", "--"], Duration::from_secs(LIMIT_S)).and([arguments.needed("code")?]))
}
