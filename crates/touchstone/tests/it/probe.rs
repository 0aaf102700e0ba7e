//! `touchstone run --probe`: does a command ask its model through the desk?

use super::calls::{KEY, Model, RIGHT, asking};
use super::stage::{Ran, Stage, has, ran, touchstone};
use std::fs;
use std::net::TcpListener;
use std::process::Command;

/// `run --probe` in the workspace of a stage, with a model that must never hear of it.
fn command(stage: &Stage, model: &Model, options: &[&str], agent: &[&str]) -> Command {
    let mut command = touchstone();
    command.args(["run", "--probe"]).arg("--workspace").arg(stage.path("workspace"));
    command.args(options).arg("--").args(agent);
    command.env("OPENAI_BASE_URL", &model.base).env("OPENAI_API_KEY", KEY).env("HOME", stage.path("home"));
    command
}

fn probe(stage: &Stage, model: &Model, options: &[&str], agent: &[&str]) -> Ran {
    ran(command(stage, model, &[&["--json"], options].concat(), agent).output().unwrap())
}

/// The first call of a model is seen and answered here; the command is ended, however often it would ask.
#[test]
fn a_command_that_asks_through_us() {
    if !has("a_command_that_asks_through_us", "python3") {
        return;
    }
    let (stage, model) = (Stage::new(), Model::start(200));
    let script = asking(1, "/chat/completions", RIGHT) + "import time\nwhile True: time.sleep(1)\n";
    let ran = probe(&stage, &model, &[], &["python3", "-c", &script]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(0), "through"), "{}", ran.stderr);
    assert_eq!(
        (ran.text("wire"), ran.text("protocol")),
        ("openai".to_owned(), "chat_completions".to_owned())
    );
    assert_eq!(ran.text("path"), "/v1/chat/completions");
    assert!(model.heads().is_empty(), "nothing leaves the machine");
    assert!(!stage.path("home").exists() && !stage.path("run").exists(), "nothing is kept");
    let script =
        asking(1, "/messages", RIGHT).replace("OPENAI_BASE_URL'] + '", "ANTHROPIC_BASE_URL'] + '/v1");
    let output = command(&stage, &model, &[], &["python3", "-c", &script]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("THROUGH THE DESK") && text.contains("POST /v1/messages"), "{text}");
}

#[test]
fn a_command_that_does_not() {
    if !has("a_command_that_does_not", "python3") {
        return;
    }
    let (stage, model) = (Stage::new(), Model::start(200));
    let ran = probe(&stage, &model, &[], &["true"]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(1), "not_seen"), "{}", ran.stderr);
    // It asks the model behind our back: nothing comes to us.
    let around = asking(1, "/chat/completions", RIGHT)
        .replace("os.environ['OPENAI_BASE_URL']", &format!("{:?}", model.base));
    let ran = probe(&stage, &model, &[], &["python3", "-c", &around]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(1), "not_seen"), "{}", ran.stderr);
    assert_eq!(model.heads().len(), 1);
    assert!(!model.heads()[0].contains(KEY));
    let ran = probe(&stage, &model, &[], &["python3", "-c", &asking(2, "/embeddings", RIGHT)]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(2), "only_others"), "{}", ran.stderr);
    let output = command(&stage, &model, &[], &["true"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("NOT SEEN") && text.contains("touchstone agents"), "{text}");
    let ran = probe(&stage, &model, &["--timeout", "1"], &["sleep", "60"]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(1), "not_seen"), "{}", ran.stderr);
    assert_eq!(ran.summary.get("agent_timed_out"), Some(&true.into()));
}

#[test]
fn what_cannot_be_probed_is_not_called_a_no() {
    let (stage, model) = (Stage::new(), Model::start(200));
    let ran = probe(&stage, &model, &[], &["/no/such/agent"]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(22), "not_measured"), "{}", ran.stderr);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = probe(&stage, &model, &["--port", &port], &["true"]);
    assert_eq!((ran.code, ran.text("probe").as_str()), (Some(22), "not_measured"), "{}", ran.stderr);
    fs::create_dir_all(stage.path("suite")).unwrap();
    let suite = stage.path("suite");
    for options in [&["--suite", suite.to_str().unwrap()][..], &["--calls", "ignore"], &["--agent", "nosuch"]]
    {
        let ran = probe(&stage, &model, options, &["true"]);
        assert_eq!(ran.code, Some(64), "{options:?}: {}", ran.stderr);
    }
}
