//! The runs that the self-attestation looks at, each made in a process of its own.

use super::Subject;
use crate::Problem;
use crate::load::RunBytes;
use canon::{Digest, Object, Value, canonical};
use kernel::skill::Skills;
use kernel::{Config, Kernel, route};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KERNEL_TABLE: &str = include_str!("../../../kernel/fields.toml");
const KERNEL_GOLDEN: &[u8] = include_bytes!("golden-kernel.json");
const ROOM_TABLE: &str = include_str!("../../../room/fields.toml");
const ROOM_GOLDEN: &[u8] = include_bytes!("golden-room.json");
const DESK_TABLE: &str = include_str!("desk.fields.toml");
const DESK_GOLDEN: &[u8] = include_bytes!("golden-desk.json");

/// Envelopes that the guard stops, one line each: what is refused must be reproducible too.
const REFUSED: &str = include_str!("refused.jsonl");

/// Threads of the two kernel runs (K-5).
const THREADS: [&str; 2] = ["1", "16"];

/// Every subject, run twice through `program`, which is the binary itself.
///
/// # Errors
/// The first run that could not be made.
pub fn collect(program: &Path) -> Result<Vec<Subject>, Problem> {
    let folder = tempfile::tempdir().map_err(|error| not_started(&error))?;
    let folder = folder.path();
    Ok(vec![kernel_subject(program, folder)?, room_subject(program, folder)?, desk_subject(program, folder)?])
}

fn not_started(error: &io::Error) -> Problem {
    Problem::NotStarted(error.to_string())
}

/// Runs `program` and takes what it prints; any other end than the expected one is a problem.
fn printed(program: &Path, arguments: &[&str], folder: &Path, expected: &[i32]) -> Result<Output, Problem> {
    // Modes of files are hashed by the desk: the caller's umask must not reach them.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "umask 022 && exec \"$0\" \"$@\""]).arg(program).args(arguments).current_dir(folder);
    let output = command.output().map_err(|error| not_started(&error))?;
    match output.status.code() {
        Some(code) if expected.contains(&code) => Ok(output),
        other => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last =
                said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").to_owned();
            let status = other.map_or_else(|| "a signal".to_owned(), |code| format!("exit status {code}"));
            Err(Problem::CommandFailed(format!("{} with {status}", arguments.join(" ")), last))
        }
    }
}

// ------------------------------------------------------------------------------------------------- kernel

fn kernel_subject(program: &Path, folder: &Path) -> Result<Subject, Problem> {
    let path = folder.join("envelopes.jsonl");
    std::fs::write(&path, envelopes()).map_err(|error| Problem::NotWritten(path, error.to_string()))?;
    let run = |threads: &str| {
        let output =
            printed(program, &["kernel", "run", "envelopes.jsonl", "--threads", threads], folder, &[0])?;
        Ok(RunBytes::single(format!("{threads} thread(s).jsonl"), "kernel", output.stdout))
    };
    Ok(Subject {
        name: "kernel",
        table: Some(KERNEL_TABLE.to_owned()),
        runs: THREADS.into_iter().map(run).collect::<Result<_, Problem>>()?,
        golden: Some(KERNEL_GOLDEN.to_vec()),
        disclosed: routes()?,
    })
}

/// How many intents of each set go where a person would send them. Disclosed with both denominators, promised nowhere.
fn routes() -> Result<Vec<String>, Problem> {
    let sets = [
        ("fixed, tuned on", include_str!("../../../kernel/intents/fixed.toml")),
        ("held out", include_str!("../../../kernel/intents/held_out.toml")),
    ];
    let kernel = Kernel::new(Config::default()).map_err(Problem::NotStarted)?;
    let score = |(name, text)| {
        let intents = route::intents(text).map_err(Problem::NotStarted)?;
        let accuracy = route::accuracy(kernel.router(), kernel.skills().manifests(), &intents);
        Ok(format!(
            "routes of intents, {name}: {} of {}; disclosed, no criterion",
            accuracy.hits, accuracy.of
        ))
    };
    sets.into_iter().map(score).collect()
}

/// What the kernel is asked: one envelope for every example of every skill, then those that are refused. JSON Lines.
pub fn envelopes() -> Vec<u8> {
    let mut lines = Vec::new();
    let mut previous: Option<Digest> = None;
    let skills = Skills::builtin();
    let examples = skills
        .manifests()
        .flat_map(|manifest| manifest.examples.iter().map(move |example| (manifest, example)));
    for (index, (manifest, example)) in examples.enumerate() {
        let task = manifest.triggers.first().unwrap_or(&manifest.name);
        let envelope: Value = Object::new()
            .with("id", format!("example-{}", index + 1))
            .with("sender", "attest")
            .with("recipient", "kernel")
            .with("task", task.as_str())
            .with("payload", example.payload.clone())
            .with("permission", u64::from(manifest.permission))
            .with("trace", "attest")
            .with("mode", "live")
            .with("claims", Object::new())
            .with("seq", index as u64 + 1)
            .with("prev", previous)
            .into();
        let line = canonical(&envelope);
        previous = Some(Digest::of(&line));
        lines.extend(line);
        lines.push(b'\n');
    }
    lines.extend(REFUSED.as_bytes());
    lines
}

// ------------------------------------------------------------------------------------------------- room

/// Rooms: identity, index, ticks, and what disturbs them.
const ROOMS: [(&str, &str, &str, &str); 3] =
    [("mira", "0", "20000", ""), ("niko", "1", "20000", ""), ("mira", "2", "6000", ROOM_INPUTS)];

/// A visitor, a cup that is somewhere else, a dispenser that stops working.
const ROOM_INPUTS: &str = "{\"tick\":50,\"id\":1,\"verb\":\"come\",\"human\":0}\n\
    {\"tick\":80,\"id\":2,\"verb\":\"move\",\"object\":\"cup\",\"to\":\"surface:window\"}\n\
    {\"tick\":700,\"id\":3,\"verb\":\"damage\",\"object\":\"water_dispenser\"}\n";

/// The second run writes the whole log: looking must change nothing (PC-74).
fn room_subject(program: &Path, folder: &Path) -> Result<Subject, Problem> {
    let run = |looked: bool| {
        let mut receipts = Vec::new();
        for (n, (identity, index, ticks, inputs)) in ROOMS.into_iter().enumerate() {
            let file = folder.join("inputs.jsonl");
            std::fs::write(&file, inputs).map_err(|error| Problem::NotWritten(file, error.to_string()))?;
            let log = format!("room-{n}.log.gz");
            let fixed = ["room", "run", "--identity", identity, "--index", index, "--ticks", ticks, "--json"];
            let given: &[&str] = if inputs.is_empty() { &[] } else { &["--inputs", "inputs.jsonl"] };
            let look: &[&str] = if looked { &["--log", &log] } else { &[] };
            receipts.extend(printed(program, &[&fixed, given, look].concat(), folder, &[0])?.stdout);
        }
        let name = if looked { "with the log.jsonl" } else { "without a log.jsonl" };
        Ok(RunBytes::single(name.to_owned(), "room", receipts))
    };
    Ok(Subject {
        name: "room",
        table: Some(ROOM_TABLE.to_owned()),
        runs: [false, true].into_iter().map(run).collect::<Result<_, Problem>>()?,
        golden: Some(ROOM_GOLDEN.to_vec()),
        disclosed: Vec::new(),
    })
}

// ------------------------------------------------------------------------------------------------- desk

/// Deliveries of the desk: what the agent does, the suite, and how the run must end.
const DELIVERIES: [(&str, &str, &str, i32); 4] = [
    ("accepted", "echo hello > greeting.txt", "checks", 0),
    ("refused", "echo bye > greeting.txt", "checks", 20),
    ("empty-suite", "echo hello > greeting.txt", "nothing", 20),
    ("ungated", "echo hello > greeting.txt", "", 0),
];

const SUITE: &str = "version = 1\ncounts = \"none\"\n[[check]]\nname = \"greets\"\n\
    run = [\"sh\", \"-c\", \"test \\\"$(cat greeting.txt)\\\" = hello\"]\nresult = \"exit\"\n";

fn desk_subject(program: &Path, folder: &Path) -> Result<Subject, Problem> {
    let run = |index: usize| {
        let root = folder.join(format!("desk-{index}"));
        let mut summaries = Vec::new();
        for delivery in DELIVERIES {
            summaries.extend(deliver(program, &root, delivery)?);
        }
        Ok(RunBytes::single(format!("run {index}.jsonl"), "desk", summaries))
    };
    Ok(Subject {
        name: "desk",
        table: Some(DESK_TABLE.to_owned()),
        runs: (1..=2).map(run).collect::<Result<_, Problem>>()?,
        golden: Some(DESK_GOLDEN.to_vec()),
        disclosed: Vec::new(),
    })
}

/// One run of the desk; its summary as a line. Without a sandbox, which differs between machines by nature.
fn deliver(program: &Path, root: &Path, delivery: (&str, &str, &str, i32)) -> Result<Vec<u8>, Problem> {
    let (task, agent, suite, code) = delivery;
    let folder = root.join(task);
    let make = |path: PathBuf| {
        let mode = |path: &Path, bits| std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits));
        let made = std::fs::create_dir_all(&path).and_then(|()| mode(&path, 0o755));
        made.map_err(|error| Problem::NotWritten(path.clone(), error.to_string()))?;
        Ok::<_, Problem>(path)
    };
    make(folder.join("workspace"))?;
    make(folder.join("nothing"))?;
    let checks = make(folder.join("checks"))?.join("suite.toml");
    desk::store::write_atomic(&checks, SUITE.as_bytes(), 0o644)
        .map_err(|error| Problem::NotWritten(checks, error.to_string()))?;
    let gate: &[&str] = if suite.is_empty() { &["--allow-no-suite"] } else { &["--suite", suite] };
    let fixed =
        ["run", "--workspace", "workspace", "--run-dir", "receipts", "--task-id", task, "--sandbox", "none"];
    let arguments = [&fixed, gate, &["--", "sh", "-c", agent]].concat();
    printed(program, &arguments, &folder, &[code])?;
    let path = folder.join("receipts/run_RUN-ON.json");
    std::fs::read(&path).map_err(|error| Problem::RunMissing(path, error.to_string()))
}
