//! The stage of the demo: two workspaces, one suite, two agents, and this binary run as a user would run it.

use crate::output::{self, Tone, paint};
use canon::{Reader, Value, shown};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// One act of the demo.
#[derive(Clone, Copy)]
pub(super) struct Act {
    name: &'static str,
    title: &'static str,
    delivery: &'static str,
    expected: i32,
}

impl Act {
    /// Claims two functions and delivers one of them wrong.
    pub(super) const LIAR: Act = Act {
        name: "liar",
        title: "Act 1: an agent that claims more than it did",
        delivery: "add() { echo $(($1 + $2)); }\nmul() { echo $(($1 + $2)); }\n",
        expected: 20,
    };
    /// Delivers what it claims.
    pub(super) const HONEST: Act = Act {
        name: "honest",
        title: "Act 2: an honest agent, the same words, the same suite",
        delivery: "add() { echo $(($1 + $2)); }\nmul() { echo $(($1 * $2)); }\n",
        expected: 0,
    };
}

/// What both agents say.
const CLAIM: &str = "Done: solution.sh has add and mul, and everything works.";

/// Checks in plain shell, one TAP point each: what runs anywhere.
const SHELL_CHECK: &str = r#"#!/bin/sh
. "$1/solution.sh"
point() {
    if [ "$3" = "$4" ]; then echo "ok $1 - $2"; else
        printf 'not ok %s - %s\n  ---\n  message: got %s, not %s\n  ...\n' "$@"
    fi
}
echo 1..2
point 1 add "$(add 2 3)" 5
point 2 mul "$(mul 2 3)" 6
"#;

const SHELL_SUITE: &str = r#"version = 1
name = "calculator"

[[check]]
name = "calculator"
run = ["/bin/sh", "{suite}/check.sh", "{workspace}"]
result = "tap"
expect = ["add", "mul"]
min = 2
"#;

/// The same two checks where Python is there.
const PYTHON_CHECK: &str = r#"import subprocess

def call(name, *args):
    script = '. ./solution.sh; "$@"'
    run = subprocess.run(["/bin/sh", "-c", script, "sh", name, *map(str, args)], capture_output=True, text=True)
    return run.stdout.strip()

def check_add():
    got = call("add", 2, 3)
    assert got == "5", f"add 2 3 gave {got}, not 5"

def check_mul():
    got = call("mul", 2, 3)
    assert got == "6", f"mul 2 3 gave {got}, not 6"
"#;

/// Where everything lies.
pub(super) struct Stage {
    root: PathBuf,
}

impl Stage {
    /// Writes suite, agents and workspaces below `root`.
    pub(super) fn set(root: &Path) -> io::Result<Stage> {
        fs::create_dir_all(root)?;
        if fs::read_dir(root)?.next().is_some() {
            return Err(io::Error::other("not empty: name a new folder"));
        }
        let root = root.canonicalize()?;
        let suite = root.join("suite");
        fs::create_dir(&suite)?;
        if python_works() {
            fs::write(suite.join("test_calculator.py"), PYTHON_CHECK)?;
        } else {
            fs::write(suite.join("suite.toml"), SHELL_SUITE)?;
            fs::write(suite.join("check.sh"), SHELL_CHECK)?;
        }
        for act in [Act::LIAR, Act::HONEST] {
            fs::create_dir(root.join(format!("workspace-{}", act.name)))?;
            let agent = format!("cat > solution.sh <<'END'\n{}END\necho '{CLAIM}'\n", act.delivery);
            fs::write(root.join(format!("agent-{}.sh", act.name)), agent)?;
        }
        Ok(Stage { root })
    }

    /// The folder, for the terminal.
    pub(super) fn shown(&self) -> String {
        shown(self.root.as_os_str().as_encoded_bytes())
    }

    /// Plays one act and says whether the gate behaved.
    pub(super) fn play(&self, act: Act) -> io::Result<bool> {
        output::line(&format!("\n{}\n", paint(act.title, Tone::Good)));
        let path = |kind: &str| self.root.join(format!("{kind}-{}", act.name));
        let receipts = path("receipts");
        let agent = self.root.join(format!("agent-{}.sh", act.name));
        output::line(&format!("  $ touchstone run --suite suite --workspace workspace-{} \\", act.name));
        output::line(&format!("        --run-dir receipts-{0} -- sh agent-{0}.sh", act.name));
        let run = this_binary()?
            .arg("run")
            .arg("--json")
            .arg("--suite")
            .arg(self.root.join("suite"))
            .arg("--workspace")
            .arg(path("workspace"))
            .arg("--run-dir")
            .arg(&receipts)
            .args(["--task-id", act.name, "--", "/bin/sh"])
            .arg(agent)
            .stdin(Stdio::null())
            .output()?;
        let said = fs::read_to_string(receipts.join("agent_stdout.log")).unwrap_or_default();
        for line in said.lines() {
            say("agent says", &shown(line.as_bytes()));
        }
        let code = run.status.code();
        let summary = match Reader::strict().read(&run.stdout) {
            Ok(summary) => summary,
            Err(_) => return Err(io::Error::other(String::from_utf8_lossy(&run.stderr).trim().to_owned())),
        };
        print_summary(&summary, code);
        let verified = self.verify(&receipts)?;
        Ok(code == Some(act.expected) && verified)
    }

    fn verify(&self, receipts: &Path) -> io::Result<bool> {
        let verify = this_binary()?.arg("verify").arg("--json").arg(receipts).output()?;
        let answer = Reader::strict().read(&verify.stdout).unwrap_or(Value::Null);
        let run = answer.get("runs").and_then(Value::as_array).and_then(<[Value]>::first);
        let chain =
            run.and_then(|run| run.get("chains")).and_then(Value::as_array).and_then(<[Value]>::first);
        let field = |name: &str| chain.and_then(|chain| chain.get(name)).cloned().unwrap_or(Value::Null);
        let entries = field("entries_n").as_i64().unwrap_or(0);
        let verdict = answer.get("verdict").and_then(Value::as_str).unwrap_or("no answer").to_owned();
        say(
            "receipts",
            &format!("{entries} signed entries, verified offline: {}", paint(&verdict, tone(&verify))),
        );
        say("chain head", field("head").as_str().unwrap_or("unknown"));
        Ok(verify.status.success())
    }
}

fn print_summary(summary: &Value, code: Option<i32>) {
    let text = |name: &str| summary.get(name).and_then(Value::as_str).unwrap_or("not measured").to_owned();
    let number = |name: &str| {
        summary
            .get(name)
            .and_then(Value::as_i64)
            .map_or("not measured".to_owned(), |number| number.to_string())
    };
    say("agent exits", &number("agent_rc"));
    for failure in summary.get("failures").and_then(Value::as_array).unwrap_or_default() {
        say("checks say", &shown(failure.as_str().unwrap_or_default().as_bytes()));
    }
    say("passed", &format!("{} of {}", number("visible_passed"), number("visible_total")));
    let (word, tone) = match summary.get("accepted").and_then(Value::as_bool) {
        Some(true) => ("ACCEPTED", Tone::Good),
        Some(false) => ("REFUSED", Tone::Bad),
        None => ("NOT JUDGED", Tone::Warn),
    };
    say("verdict", &format!("{} ({})", paint(word, tone), text("stop_reason")));
    let code = code.map_or("none".to_owned(), |code| code.to_string());
    say("exit code", &code);
    let level = summary.get("sandbox").and_then(|sandbox| sandbox.get("level")).and_then(Value::as_str);
    say("sandbox", &format!("{}, as measured", level.unwrap_or("none")));
}

/// A labelled line, wrapped so that it fits.
fn say(label: &str, text: &str) {
    output::line(&output::hanging(&format!("  {label:<13}"), text));
}

fn tone(verify: &Output) -> Tone {
    if verify.status.success() { Tone::Good } else { Tone::Bad }
}

fn this_binary() -> io::Result<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

fn python_works() -> bool {
    let mut python = Command::new("python3");
    python.args(["-I", "-c", "pass"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}
