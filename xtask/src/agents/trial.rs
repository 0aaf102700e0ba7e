//! One agent over one protocol, honest and lying, and what must hold of both.

use super::report::{Row, Side};
use super::stub::Stub;
use super::table::{Agent, Trial};
use canon::{Reader, Value};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// The file of the task.
pub(super) const FILE: &str = "solution.py";
const PROMPT: &str =
    "Write the file solution.py with a function mul(a, b) that returns the product of a and b. Do not ask.";
const CHECK: &str = "import solution\n\n\ndef check_mul():\n    assert solution.mul(2, 3) == 6\n";
const RIGHT: &str = "def mul(a, b):\n    return a * b";
const WRONG: &str = "def mul(a, b):\n    return a + b";
/// Seconds for one run of an agent.
const LIMIT: &str = "180";

/// What a user has at home before the run. None of it may be there when an agent with a folder of its own looks, and
/// all of it must be there afterwards, byte for byte: nothing listens on port 9.
const MINE: [(&str, &str); 9] = [
    (".aider.conf.yml", "gitignore: false\n"),
    (".claude/settings.json", "{}\n"),
    (".cline/mine.txt", "mine\n"),
    (".codex/config.toml", "openai_base_url = \"http://127.0.0.1:9/v1\"\n"),
    // opencode itself adds the address of its schema where it lacks.
    (
        ".config/opencode/opencode.json",
        "{\"$schema\":\"https://opencode.ai/config.json\",\"share\":\"manual\"}\n",
    ),
    (".continue/config.yaml", "name: mine\nversion: 1.0.0\nschema: v1\nmodels: []\n"),
    (".copilot/mine.txt", "mine\n"),
    (".gemini/settings.json", "{\"security\":{\"auth\":{\"selectedType\":\"oauth-personal\"}}}\n"),
    (".pi/agent/models.json", "{\"providers\":{\"openai\":{\"baseUrl\":\"http://127.0.0.1:9/v1\"}}}\n"),
];

/// Runs both and says what did not hold.
pub(super) fn both(
    root: &Path,
    desk: &Path,
    agent: &Agent,
    trial: &Trial,
    programs: &Path,
) -> Result<Row, String> {
    let mut row = Row::of(agent, &trial.protocol);
    for (lies, text) in [(false, RIGHT), (true, WRONG)] {
        let seen = Run { root, desk, agent, trial, programs }.run(text)?;
        let word = if lies { "lying" } else { "honest" };
        let want = if lies { (20, "visible_fail") } else { (0, "visible_pass") };
        let mut wrong = seen.wrong;
        if (seen.side.exit, seen.side.stop.as_str()) != want {
            wrong.push(format!("exit {} {}, not {} {}", seen.side.exit, seen.side.stop, want.0, want.1));
        }
        if seen.side.verify != "OK" {
            wrong.push(format!("verify says {}", seen.side.verify));
        }
        if seen.side.models < 1 {
            wrong.push("no model call succeeded".to_owned());
        }
        row.problems.extend(wrong.into_iter().map(|what| format!("{word}: {what}")));
        row.seen.extend(seen.protocols);
        row.tier = seen.tier.unwrap_or(row.tier);
        if lies {
            row.lying = Some(seen.side);
        } else {
            row.seconds = seen.seconds;
            row.honest = Some(seen.side);
        }
    }
    Ok(row)
}

/// One run of one agent.
struct Run<'a> {
    root: &'a Path,
    desk: &'a Path,
    agent: &'a Agent,
    trial: &'a Trial,
    programs: &'a Path,
}

/// What was seen of it.
struct Seen {
    side: Side,
    protocols: BTreeSet<String>,
    tier: Option<String>,
    seconds: u64,
    wrong: Vec<String>,
}

impl Run<'_> {
    fn run(&self, text: &str) -> Result<Seen, String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let at = |name: &str| place.path().join(name);
        let fault = |error: std::io::Error| format!("{}: {error}", place.path().display());
        for folder in ["workspace", "suite", "home", "tmp", "log"] {
            fs::create_dir(at(folder)).map_err(fault)?;
        }
        fs::write(at("suite/test_mul.py"), CHECK).map_err(fault)?;
        for (name, text) in MINE {
            let path = at("home").join(name);
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&path, text))
                .map_err(fault)?;
        }
        let key = format!(
            "sk-the-real-key-{:016x}",
            u64::from(std::process::id()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        );
        let stub = Stub::start(self.root, &self.trial.style, text, at("log/requests.jsonl"))?;
        let started = Instant::now();
        let output = self.command(place.path(), &stub, &key).output().map_err(fault)?;
        let seconds = started.elapsed().as_secs();
        let mut wrong = Vec::new();
        let (keyless, asked) = stub.without(&key);
        if keyless > 0 {
            wrong.push(format!("{keyless} of {asked} requests reached the model without the real key"));
        }
        drop(stub);
        for (name, text) in MINE {
            if fs::read(at("home").join(name)).ok().as_deref() != Some(text.as_bytes()) {
                wrong.push(format!("the user's {name} is not what it was"));
            }
        }
        wrong.extend(leaks(place.path(), &output, &key));
        let side = self.side(&output, &at("run"));
        let answer = Reader::strict().read(&output.stdout).unwrap_or(Value::Null);
        let tier = answer.get("tier").and_then(Value::as_str).map(str::to_owned);
        if side.exit != 0 && side.exit != 20 {
            wrong.push(format!("it said: {}", last_words(&output)));
        }
        Ok(Seen { protocols: protocols(&at("run")), side, tier, seconds, wrong })
    }

    fn command(&self, place: &Path, stub: &Stub, key: &str) -> Command {
        let mut command = Command::new(self.desk);
        command.args(["run", "--json", "--calls", "record", "--timeout", LIMIT, "--task-id", "task"]);
        for (option, folder) in [("--suite", "suite"), ("--workspace", "workspace"), ("--run-dir", "run")] {
            command.arg(option).arg(place.join(folder));
        }
        if let Some(preset) = &self.agent.preset {
            command.args(["--agent", preset]);
        }
        if let Some(model) = &self.trial.model {
            command.args(["--agent-model", model]);
        }
        command.arg("--").args(self.trial.command.iter().map(|word| word.replace("{prompt}", PROMPT)));
        let base = format!("http://127.0.0.1:{}", stub.port);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path: Vec<PathBuf> =
            std::iter::once(self.programs.to_path_buf()).chain(std::env::split_paths(&path)).collect();
        // A user's environment, and nothing of the machine that this runs on.
        command.env_clear().env("PATH", std::env::join_paths(path).unwrap_or_else(|_| OsString::new()));
        command.env("HOME", place.join("home")).env("TMPDIR", place.join("tmp"));
        command.env("LANG", "C.UTF-8").env("TERM", "dumb").envs(&self.trial.environment);
        command.env("VACANT_RUN_UPSTREAM_OPENAI", format!("{base}/v1"));
        for wire in ["ANTHROPIC", "OLLAMA", "GEMINI"] {
            command.env(format!("VACANT_RUN_UPSTREAM_{wire}"), &base);
        }
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_API_KEY"] {
            command.env(name, key);
        }
        command.stdin(Stdio::null());
        command
    }

    /// What the run says of itself, and `verify` of the run.
    fn side(&self, output: &Output, run: &Path) -> Side {
        let summary = Reader::strict().read(&output.stdout).unwrap_or(Value::Null);
        let verified = Command::new(self.desk).args(["verify", "--json"]).arg(run).output();
        let verified = verified.ok().and_then(|output| Reader::strict().read(&output.stdout).ok());
        let first = |value: &Value, name: &str| value.get(name)?.as_array()?.first().cloned();
        let calls = verified
            .as_ref()
            .and_then(|answer| first(&first(answer, "runs")?, "chains"))
            .and_then(|chain| chain.get("calls").cloned())
            .unwrap_or(Value::Null);
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or("(none)").to_owned()
        };
        let number = |name: &str| calls.get(name).and_then(Value::as_i64).unwrap_or(-1);
        Side {
            exit: output.status.code().unwrap_or(-1),
            stop: text(&summary, "stop_reason"),
            verify: verified
                .as_ref()
                .map_or_else(|| "(nothing)".to_owned(), |answer| text(answer, "verdict")),
            models: number("model_succeeded_n"),
            failed: number("model_failed_n"),
            others: number("other_n"),
            blocked: number("blocked_n"),
        }
    }
}

/// What the calls of models were, from the index: protocol, and whether answers were streams.
fn protocols(run: &Path) -> BTreeSet<String> {
    let index = fs::read(run.join("wire_RUN-ON/index.jsonl")).unwrap_or_default();
    let rows = index.split(|byte| *byte == b'\n').filter_map(|line| Reader::strict().read(line).ok());
    let of_model = rows.filter(|row| {
        let is = |name: &str, word: &str| row.get(name).and_then(Value::as_str) == Some(word);
        is("class", "model") && is("outcome", "wire_succeeded")
    });
    of_model
        .map(|row| {
            let protocol = row.get("protocol").and_then(Value::as_str).unwrap_or("(none)");
            let streamed = row.get("streamed").and_then(Value::as_bool) == Some(true);
            format!("{protocol}, {}", if streamed { "streamed" } else { "whole" })
        })
        .collect()
}

/// Where the real key was found: it may be in the log of the model, and nowhere else.
fn leaks(place: &Path, output: &Output, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["run", "workspace", "home", "tmp"] {
        search(&place.join(folder), key.as_bytes(), &mut found);
    }
    for (name, bytes) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        if holds(bytes, key.as_bytes()) {
            found.push(name.to_owned());
        }
    }
    found.into_iter().map(|place| format!("the real key is in {place}")).collect()
}

fn search(folder: &Path, key: &[u8], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&path, key, found);
        } else if entry.file_type().is_ok_and(|kind| kind.is_file())
            && fs::read(&path).is_ok_and(|bytes| holds(&bytes, key))
        {
            found.push(path.display().to_string());
        }
    }
}

fn holds(bytes: &[u8], key: &[u8]) -> bool {
    bytes.windows(key.len()).any(|part| part == key)
}

/// The end of what was printed, for people.
fn last_words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let start = text.char_indices().rev().nth(300).map_or(0, |(at, _)| at);
    text[start..].replace('\n', " | ")
}
