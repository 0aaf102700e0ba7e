//! Runs whose model calls are recorded: counts by class, VOID, keys, both arms, agents by name (desk specification 10.4, 14,
//! 31.10, 31.11).

use super::stage::{MUL, Ran, Stage, entries, has, ran, verify};
use canon::{Digest, Value};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

pub(super) const KEY: &str = "sk-the-real-key-of-a-user";

/// A model server on the loopback address: one answer to everything, and the heads that it got.
pub(super) struct Model {
    pub(super) base: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Model {
    pub(super) fn start(status: u16) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heads);
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let head = answer(stream, status);
                kept.lock().unwrap().push(head);
            }
        });
        Model { base, heads }
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, status: u16) -> String {
    let mut got = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&got).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                break;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => got.extend_from_slice(&buffer[..n]),
        }
    }
    let body = "{\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}";
    let head =
        format!("HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
    let _ = stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n{body}").as_bytes());
    String::from_utf8_lossy(&got).into_owned()
}

/// An agent that asks its model `n` times and writes `text` as its work. What it says to the model holds what it can see.
pub(super) fn asking(n: u32, path: &str, text: &str) -> String {
    format!(
        "import os, json, urllib.request, urllib.error\n\
         body = json.dumps([sorted(k for k in os.environ), os.getcwd(), os.listdir('.')]).encode()\n\
         for _ in range({n}):\n\
         \x20   request = urllib.request.Request(os.environ['OPENAI_BASE_URL'] + '{path}', body, headers={{\n\
         \x20       'Authorization': 'Bearer ' + os.environ['OPENAI_API_KEY'], 'Content-Type': 'application/json'}})\n\
         \x20   try: urllib.request.urlopen(request).read()\n\
         \x20   except urllib.error.HTTPError: pass\n\
         open('solution.py', 'w').write('''{text}''')\n"
    )
}

pub(super) const RIGHT: &str = "def mul(a, b):\\n    return a * b\\n";
const WRONG: &str = "def mul(a, b):\\n    return a + b\\n";

pub(super) fn command(stage: &Stage, model: Option<&Model>, options: &[&str], agent: &[&str]) -> Command {
    let mut command = stage.command_line(options, agent);
    for name in ["OPENAI_API_BASE", "OPENAI_BASE", "HTTP_PROXY", "http_proxy", "ANTHROPIC_BASE_URL"] {
        command.env_remove(name);
    }
    command.env_remove("OPENAI_BASE_URL").env("OPENAI_API_KEY", KEY);
    if let Some(model) = model {
        command.env("OPENAI_BASE_URL", &model.base);
    }
    command
}

fn run(stage: &Stage, model: Option<&Model>, options: &[&str], script: &str) -> Ran {
    ran(command(stage, model, options, &["python3", "-c", script]).output().unwrap())
}

/// What the same run says to people, on both streams.
fn said(stage: &Stage, model: Option<&Model>, options: &[&str], agent: &[&str]) -> String {
    let asked = command(stage, model, options, agent);
    let mut for_people = Command::new(asked.get_program());
    for_people.args(asked.get_args().filter(|word| *word != "--json"));
    for (name, value) in asked.get_envs() {
        match value {
            Some(value) => for_people.env(name, value),
            None => for_people.env_remove(name),
        };
    }
    let output = for_people.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn calls(stage: &Stage) -> (String, Value) {
    let (verdict, _, answer) = stage.verify();
    let chain = &vectors::list(&vectors::list(&answer, "runs")[0], "chains")[0];
    (verdict, chain.get("calls").unwrap().clone())
}

fn number(value: &Value, member: &str) -> Option<i64> {
    value.get(member).and_then(Value::as_i64)
}

/// Every file below a folder.
fn files(folder: &Path, all: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), all);
        } else {
            all.push(fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn a_recorded_run_is_counted_signed_and_holds_no_key() {
    if !has("a_recorded_run_is_counted_signed_and_holds_no_key", "python3") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let events = stage.path("events.jsonl");
    let options = ["--events", events.to_str().unwrap()];
    let ran = run(&stage, Some(&model), &options, &asking(2, "/chat/completions", RIGHT));
    ran.is(0, "visible_pass");
    assert_eq!(number(&ran.summary, "requests_seen"), Some(2));
    let (verdict, counted) = calls(&stage);
    assert_eq!((verdict.as_str(), number(&counted, "model_succeeded_n")), ("OK", Some(2)));
    let end = stage.payload("ws_verdict");
    let index = fs::read(stage.path("run/wire_RUN-ON/index.jsonl")).unwrap();
    let signed = ran.summary.get("files_sha256").unwrap().get("wire_RUN-ON/index.jsonl").unwrap();
    assert_eq!(*signed, Digest::of(&index).into());
    assert_eq!(vectors::text(&end, "wire_count_semantics"), "exact");
    assert_eq!(end.get("conversation_sha256"), stage.payload("ws_attempt").get("conversation_sha256"));
    // The key went upstream, and nowhere else.
    assert!(model.heads().iter().all(|head| head.contains(&format!("Bearer {KEY}"))), "{:?}", model.heads());
    let mut all = vec![fs::read(&events).unwrap(), ran.stderr.into_bytes()];
    files(stage.root.path(), &mut all);
    let holds = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains(KEY);
    assert!(all.len() > 8 && !all.iter().any(holds));
    let told = entries(&fs::read(&events).unwrap());
    let kind = |line: &&Value| vectors::text(line, "type") == "model_call";
    let model_calls: Vec<&Value> = told.iter().filter(kind).collect();
    assert_eq!(model_calls.len(), 2);
    assert_eq!(number(model_calls[0], "tokens"), Some(7));
    assert_eq!(number(told.last().unwrap(), "requests_seen"), Some(2));
}

/// 10.4: the bodies of both arms are the same bytes.
#[test]
fn both_arms_send_the_same_bytes() {
    if !has("both_arms_send_the_same_bytes", "python3") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let mut sent = Vec::new();
    for (vacant, arm, code) in [("1", "RUN-ON", 0), ("0", "RUN-OFF", 0)] {
        let ran = run(&stage, Some(&model), &["--vacant", vacant], &asking(1, "/chat/completions", RIGHT));
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        let index = entries(&fs::read(stage.path(&format!("run/wire_{arm}/index.jsonl"))).unwrap());
        sent.push(index[0].get("request_sha256").unwrap().clone());
        fs::remove_dir_all(stage.path("run")).unwrap();
        fs::remove_file(stage.path("workspace/solution.py")).unwrap();
    }
    assert_eq!(sent[0], sent[1]);
}

/// What reached no model is VOID, and the run says so aloud.
#[test]
fn a_run_that_reached_no_model_is_void() {
    if !has("a_run_that_reached_no_model_is_void", "python3") {
        return;
    }
    let (answers, refuses) = (Model::start(200), Model::start(429));
    let list = asking(1, "/embeddings", RIGHT);
    let asks = asking(1, "/chat/completions", RIGHT);
    let cases: [(&str, Option<&Model>, &str); 4] = [
        ("no call", Some(&answers), "open('solution.py', 'w').write('def mul(a, b):\\n    return a * b\\n')"),
        ("only another call", Some(&answers), &list),
        ("refused upstream", Some(&refuses), &asks),
        ("nobody named an upstream", None, &asks),
    ];
    for (name, model, script) in cases {
        let stage = Stage::python(&[MUL]);
        run(&stage, model, &["--calls", "record"], script).is(0, "visible_pass");
        let (verdict, _, answer) = stage.verify();
        assert_eq!(verdict, "VOID", "{name}: {answer:?}");
    }
    let stage = Stage::python(&[MUL]);
    let text = said(&stage, Some(&answers), &[], &["true"]);
    assert!(text.contains("NO MODEL CALL WAS RECORDED") && text.contains("0 of models answered"), "{text}");
    assert!(text.contains("--probe") && text.contains("--calls ignore"), "{text}");
    // An agent that asked, and whose model nobody named, does not ignore anything.
    let stage = Stage::python(&[MUL]);
    let ask = asking(1, "/chat/completions", RIGHT);
    let text = said(&stage, None, &["--calls", "record"], &["python3", "-c", &ask]);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("NO MODEL ANSWERED") && plain.contains("1 ended with unspecified_upstream_sink"),
        "{text}"
    );
    assert!(plain.contains("say where the model is") && !plain.contains("may ignore"), "{text}");
    // Without a receipt nothing is said of one.
    let stage = Stage::python(&[MUL]);
    let text = said(&stage, Some(&answers), &["--vacant", "0"], &["true"]);
    assert!(!text.contains("VOID") && !text.contains("decides nothing"), "{text}");
    // And one whose calls nobody recorded says that.
    let stage = Stage::python(&[MUL]);
    let text = said(&stage, None, &["--calls", "auto"], &["true"]);
    assert!(text.contains("NOT RECORDED (--calls record"), "{text}");
}

/// Attempts count their own calls; the verdict counts all, and the chain is the peer's shape.
#[test]
fn attempts_count_their_own_calls() {
    if !has("attempts_count_their_own_calls", "python3") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let (once, twice) = (asking(1, "/chat/completions", WRONG), asking(2, "/chat/completions", RIGHT));
    let script = format!(
        "import os\nif os.path.exists('VACANT_FEEDBACK.md'):\n    exec({twice:?})\nelse:\n    exec({once:?})\n"
    );
    run(&stage, Some(&model), &["--retry", "revise"], &script).is(0, "visible_pass");
    let chain = entries(&fs::read(stage.path("run/receipts_RUN-ON.ndjson")).unwrap());
    let seen: Vec<Option<i64>> =
        chain[1..].iter().map(|entry| number(entry.get("payload").unwrap(), "requests_seen")).collect();
    assert_eq!(seen, [Some(1), Some(2), Some(3)]);
    assert_eq!(stage.verify().0, "OK");
    if let Ok(python) = std::env::var("TOUCHSTONE_PEER_PYTHON") {
        let mut peer = Command::new(python);
        peer.args(["-m", "vacant_network.vrun.verify_receipts", "--glob"]).arg(stage.path("run"));
        let output = peer.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("  OK"), "{text}");
    } else {
        vectors::skip(
            "attempts_count_their_own_calls",
            "TOUCHSTONE_PEER_PYTHON names no Python with the peer",
        );
    }
}

/// Ruling 16: an agent that writes into the record is refused; it makes neither a void run nor a broken chain.
#[test]
fn an_agent_that_edits_the_record_is_refused() {
    if !has("an_agent_that_edits_the_record_is_refused", "python3") {
        return;
    }
    let model = Model::start(429);
    // Another number of calls; and the same bodies with another end.
    for forged in ["t * 2", "t.replace('429', '200').replace('wire_refused_by_upstream', 'wire_succeeded')"] {
        let stage = Stage::python(&[MUL]);
        // The line of a call may come after its answer.
        let forge = format!(
            "\np = '../run/wire_RUN-ON/index.jsonl'\nwhile not open(p).read().endswith('\\n'): pass\n\
             t = open(p).read()\nopen(p, 'w').write({forged})\n"
        );
        let ran = run(&stage, Some(&model), &[], &(asking(1, "/chat/completions", RIGHT) + &forge));
        ran.is(20, "delivery_unfit");
        assert!(ran.text("trouble").contains("record of the agent's calls"), "{}", ran.text("trouble"));
        assert_eq!(stage.payload("ws_verdict").get("requests_seen"), Some(&Value::Null));
        let (verdict, code, answer) = verify(&stage.path("run"));
        assert_eq!((verdict.as_str(), code), ("OK", Some(0)), "{answer:?}");
        // The same again, for people: what was forged is not counted on the screen either.
        let again = Stage::python(&[MUL]);
        let script = asking(1, "/chat/completions", RIGHT) + &forge;
        let text = said(&again, Some(&model), &[], &["python3", "-c", &script]);
        assert!(text.contains("NOT MEASURED: their record was changed") && !text.contains("VOID"), "{text}");
    }
}

/// What lies in the index's place is never waited for, followed, or signed when the proxy has not written it.
#[test]
fn an_agent_that_replaces_the_record_is_refused() {
    if !has("an_agent_that_replaces_the_record_is_refused", "python3") {
        return;
    }
    let model = Model::start(200);
    let put = [
        "os.remove(p); os.mkfifo(p)",
        "os.remove(p); os.symlink('/dev/zero', p)",
        "os.remove(p); os.mkdir(p)",
        "os.rename(p, '../kept'); os.symlink('../../kept', p)",
        "t = open(p).read(); open(p, 'w').write(t.replace(':', ': ', 1))",
    ];
    for put in put {
        let stage = Stage::python(&[MUL]);
        let forge = format!(
            "\nimport os\np = '../run/wire_RUN-ON/index.jsonl'\nwhile not open(p).read().endswith('\\n'): pass\n{put}\n"
        );
        let ran = run(&stage, Some(&model), &[], &(asking(1, "/chat/completions", RIGHT) + &forge));
        ran.is(20, "delivery_unfit");
        let (verdict, code, answer) = verify(&stage.path("run"));
        assert_eq!((verdict.as_str(), code), ("OK", Some(0)), "{put}: {answer:?}");
    }
}

#[test]
fn what_cannot_be_recorded_is_void_and_limits_hold() {
    if !has("what_cannot_be_recorded_is_void_and_limits_hold", "python3") {
        return;
    }
    let model = Model::start(200);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let stage = Stage::python(&[MUL]);
    let ran = run(&stage, Some(&model), &["--port", &port], "open('../ran', 'w')");
    ran.is(22, "wire_unavailable");
    assert!(ran.text("trouble").contains("wire_port_unusable") && !stage.path("ran").exists());
    assert_eq!((stage.verify().0.as_str(), stage.entry_types().len()), ("VOID", 2));
    let stage = Stage::python(&[MUL]);
    run(&stage, Some(&model), &["--max-calls", "2"], &asking(5, "/chat/completions", RIGHT))
        .is(0, "visible_pass");
    let (verdict, counted) = calls(&stage);
    assert_eq!((verdict.as_str(), number(&counted, "model_succeeded_n")), ("OK", Some(2)));
    assert_eq!(number(&counted, "blocked_n"), Some(3));
    let stage = Stage::python(&[MUL]);
    let ran = run(&stage, Some(&model), &["--calls", "ignore", "--max-calls", "2"], "pass");
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
}

/// A program by the name of an agent that says what it was given.
fn stand_in(stage: &Stage, name: &str, script: &str) -> String {
    let folder = stage.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join(name);
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().to_owned()
}

#[test]
fn an_agent_by_name_finds_its_own_configuration() {
    let (stage, model) = (Stage::new(), Model::start(200));
    let codex = stand_in(
        &stage,
        "codex",
        "cat \"$CODEX_HOME/config.toml\" > ../config; echo \"$CODEX_HOME\" > ../home",
    );
    let mut command = command(&stage, Some(&model), &["--agent", "codex"], &[&codex, "exec", "x"]);
    let mine = stage.path("mine");
    command.env("CODEX_HOME", &mine);
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.code, Some(20), "no suite: {}", ran.stderr);
    let config = fs::read_to_string(stage.path("config")).unwrap();
    assert!(
        config.starts_with("openai_base_url = \"http://127.0.0.1:") && config.ends_with("/v1\"\n"),
        "{config}"
    );
    let home = fs::read_to_string(stage.path("home")).unwrap();
    assert!(!Path::new(home.trim()).exists() && !mine.exists(), "{home}");
    assert_eq!(ran.text("agent_preset"), "codex");
}

#[test]
fn an_agent_that_writes_its_configuration_is_asked_to_first() {
    let (stage, model) = (Stage::new(), Model::start(200));
    let cline = stand_in(
        &stage,
        "cline",
        "echo \"$@\" >> ../said; echo \"$HOME\" >> ../homes; test \"$MODE\" != bad",
    );
    let options = ["--agent", "cline", "--agent-model", "m"];
    let ran = |mode: &str| {
        let mut command = command(&stage, Some(&model), &options, &[&cline, "do it"]);
        super::stage::ran(command.env("MODE", mode).output().unwrap())
    };
    assert_eq!(ran("good").code, Some(20));
    let said = fs::read_to_string(stage.path("said")).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("auth -p openai -k vacant-run-") && lines[1] == "do it", "{said}");
    let homes = fs::read_to_string(stage.path("homes")).unwrap();
    let homes: Vec<&str> = homes.lines().collect();
    assert_eq!(homes[0], homes[1]);
    fs::remove_dir_all(stage.path("run")).unwrap();
    ran("bad").is(22, "agent_spawn_failed");
    for (options, said) in [(&["--agent", "cline"][..], "--agent-model"), (&["--agent", "nosuch"], "nosuch")]
    {
        let stage = Stage::new();
        let ran = super::stage::ran(command(&stage, Some(&model), options, &[&cline, "x"]).output().unwrap());
        assert_eq!(ran.code, Some(64));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}
