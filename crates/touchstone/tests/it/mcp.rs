//! `touchstone mcp`, as clients meet it: the official Python client in two versions, the inspector's command line, and raw bytes.

use super::stage::{ADD, MUL, Stage, has, touchstone, verify};
use canon::{Object, Reader, Value, canonical};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const DELIVERY: &str = "def add(a, b):\n    return a + b\ndef mul(a, b):\n    return a + b\n";

fn stage() -> Stage {
    let stage = Stage::python(&[ADD]);
    stage.write("workspace/solution.py", DELIVERY);
    stage.write("stricter/test_mul.py", MUL);
    fs::create_dir(stage.path("runs")).unwrap();
    stage
}

fn read(text: &str) -> Value {
    Reader::strict().read(text.trim().as_bytes()).unwrap_or_else(|error| panic!("{error:?}: {text}"))
}

/// A client that speaks the protocol by hand.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn new(stage: &Stage) -> Client {
        let mut command = touchstone();
        command.args(["mcp", "--root"]).arg(stage.root.path()).arg("--runs").arg(stage.path("runs"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client { child, input, output, asked: 0 };
        client.ask(
            "initialize",
            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}",
        );
        client.hear();
        client.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        client
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
        input.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: &str) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"));
        id
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        read(&line)
    }

    fn start(&mut self, tool: &str, arguments: &str) -> u64 {
        self.ask("tools/call", &format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}"))
    }

    /// The structured answer of a tool, and whether it is marked as an error.
    fn call(&mut self, tool: &str, arguments: &str) -> (Value, bool) {
        let id = self.start(tool, arguments);
        loop {
            let heard = self.hear();
            if heard.get("id").and_then(Value::as_i64) == Some(id.cast_signed()) {
                return result(&heard);
            }
        }
    }

    #[track_caller]
    fn wrong(&mut self, tool: &str, arguments: &str, code: &str) {
        let (answer, error) = self.call(tool, arguments);
        let said = answer.get("error").map(|error| vectors::text(error, "code").to_owned());
        assert_eq!((said.as_deref(), error), (Some(code), true), "{tool} {arguments}: {answer:?}");
    }

    /// Closes its input; the server ends by itself.
    fn end(mut self) {
        self.input.take();
        assert!(self.child.wait().unwrap().success());
    }
}

fn result(heard: &Value) -> (Value, bool) {
    let result = heard.get("result").unwrap_or_else(|| panic!("{heard:?}"));
    let error = result.get("isError").and_then(Value::as_bool).unwrap_or_default();
    (result.get("structuredContent").unwrap().clone(), error)
}

fn means(answer: &Value) -> &str {
    vectors::text(answer, "means")
}

#[test]
fn a_workspace_is_judged_and_the_receipt_verifies() {
    if !has("a_workspace_is_judged_and_the_receipt_verifies", "python3") {
        return;
    }
    let stage = stage();
    let mut client = Client::new(&stage);
    let (accepted, error) = client.call("run_suite", "{\"workspace\":\"workspace\",\"suite\":\"suite\"}");
    assert_eq!((means(&accepted), error), ("accepted", false));
    let task = "{\"workspace\":\"workspace\",\"suite\":\"stricter\",\"task_id\":\"--json\"}";
    let (refused, error) = client.call("run_suite", task);
    assert_eq!((means(&refused), error), ("refused", false), "a refusal is an answer, not an error");
    let summary = refused.get("answer").unwrap();
    assert_eq!(vectors::text(summary, "task_id"), "--json", "a value is never read as an option");
    let folder = vectors::text(summary, "run_dir");
    assert_eq!(verify(Path::new(folder)).1, Some(0));

    let path = |tail: &str| format!("{{\"path\":\"{folder}\"{tail}}}");
    let (verified, _) = client.call("verify_receipts", &path(""));
    assert_eq!(means(&verified), "OK");
    let head = format!(",\"expect_head\":\"{}\"", "0".repeat(64));
    let (broken, error) = client.call("verify_receipts", &path(&head));
    assert_eq!((means(&broken), error), ("BROKEN or UNVERIFIABLE", false));
    let (shown, _) = client.call("show_receipt", &path(""));
    let text = String::from_utf8(canonical(&shown)).unwrap();
    assert!(
        text.contains("\"type\":\"ws_verdict\"") && text.contains("\"stop_reason\":\"visible_fail\""),
        "{text}"
    );
    client.end();
}

const SUM: &str = "{\"v\":1,\"entry_point\":\"add\",\"tests\":[{\"args\":\"[1, 2]\",\"expected\":\"3\"},\
    {\"args\":\"[40, 2]\",\"expected\":\"42\"}]}";

/// Suites as data, over every tool that takes one; what is expected is never told.
#[test]
fn candidates_are_judged_by_suites_that_are_data() {
    if !has("candidates_are_judged_by_suites_that_are_data", "python3") {
        return;
    }
    let stage = stage();
    let mut client = Client::new(&stage);
    let (good, bad) = ("def add(a, b): return a + b", "def add(a, b): return 3");
    let source = |name: &str, text: &str| format!("\"{name}\":\"{text}\"");
    let suite = format!("\"suite\":{SUM}");
    let quoted = format!("\"suite\":\"{}\"", SUM.replace('"', "\\\""));
    let mut says = |tool: &str, members: &[&str]| {
        let (answer, error) = client.call(tool, &format!("{{{}}}", members.join(",")));
        assert!(!error, "{tool}: {answer:?}");
        (means(&answer).to_owned(), String::from_utf8(canonical(&answer)).unwrap())
    };
    for suite in [&suite, &quoted] {
        assert_eq!(says("check_suite", &[suite, &source("candidate", good)]).0, "accepted");
        let (word, text) = says("check_suite", &[suite, &source("candidate", bad)]);
        assert!(word == "refused" && text.contains("\"first_failing_test\":1"), "{text}");
        assert!(!text.contains("42"), "what was expected: {text}");
    }
    let javascript = [
        suite.as_str(),
        &source("candidate", "function add(a, b) { return a + b }"),
        "\"language\":\"javascript\"",
    ];
    if has("candidates_are_judged_by_suites_that_are_data", "node") {
        assert_eq!(says("check_suite", &javascript).0, "accepted");
    }
    for (draft, fix, word) in [
        (bad, good, "fixed"),
        (good, good, "nothing_was_broken"),
        (bad, bad, "not_fixed"),
        (good, bad, "not_fixed"),
    ] {
        let (said, text) = says("verify_fix", &[&suite, &source("draft", draft), &source("fix", fix)]);
        assert_eq!(said, word);
        assert_eq!(text.contains("\"exit_code\":0"), word == "fixed", "{text}");
    }
    assert_eq!(says("gauge", &[&suite, &source("reference", good)]).0, "accepted");
    let stubs = format!("\"stubs\":[\"{bad}\",\"{good}\"]");
    assert_eq!(says("gauge", &[&suite, &source("reference", good), &stubs]).0, "refused");
    let drafts = format!("\"drafts\":[\"{bad}\",\"{good}\"],\"task_id\":\"t\"");
    let (word, text) = says("quorum", &[&suite, &drafts]);
    assert!(word == "accepted" && text.contains("\"index\":1"), "{text}");
    let panel = fs::read_dir(stage.path("runs")).unwrap().next().unwrap().unwrap().path().join("panel");
    assert!(panel.join("statements/executor-3.ndjson").exists(), "what was signed stays");
    for (tool, members) in [
        ("check_suite", vec![source("candidate", good), "\"suite\":7".into()]),
        ("check_suite", vec![source("candidate", good), "\"suite\":\"{\"".into()]),
        ("check_suite", vec![source("candidate", good), suite.clone(), source("language", "cobol")]),
        ("verify_fix", vec![source("draft", good), suite.clone()]),
        ("quorum", vec![suite.clone(), "\"drafts\":[],\"task_id\":\"t\"".into()]),
        ("gauge", vec![suite.clone(), source("reference", good), "\"stubs\":[1]".into()]),
    ] {
        client.wrong(tool, &format!("{{{}}}", members.join(",")), "mcp_argument");
    }
    let code = format!("{{{},\"suite\":{{\"v\":1}}}}", source("candidate", good));
    client.wrong("check_suite", &code, "mcp_usage");
    client.end();
}

#[test]
fn no_tool_raises_and_each_error_has_a_code() {
    let stage = stage();
    std::os::unix::fs::symlink("/etc", stage.path("way_out")).unwrap();
    let mut client = Client::new(&stage);
    for (tool, arguments, code) in [
        ("delete_everything", "{}", "mcp_tool_unknown"),
        ("verify_receipts", "{}", "mcp_argument"),
        ("verify_receipts", "{\"path\":7}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"suite\",\"x\":1}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"a\\u0000b\"}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"\"}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"--help\"}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"suite\",\"expect_count\":-1}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"suite\",\"expect_count\":1.5}", "mcp_argument"),
        ("verify_receipts", "{\"path\":\"suite\",\"expect_head\":\"--json\"}", "mcp_usage"),
        ("verify_receipts", "{\"path\":\"/etc\"}", "mcp_outside_root"),
        ("verify_receipts", "{\"path\":\"way_out\"}", "mcp_outside_root"),
        ("verify_receipts", "{\"path\":\"way_out/passwd\"}", "mcp_outside_root"),
        ("verify_receipts", "{\"path\":\"../x\"}", "mcp_outside_root"),
        ("verify_receipts", "{\"path\":\"/nonexistent\"}", "mcp_outside_root"),
        ("run_suite", "{\"workspace\":\"workspace\",\"suite\":\"/\"}", "mcp_outside_root"),
        ("run_suite", "{\"workspace\":\"workspace\",\"suite\":\"workspace\"}", "mcp_usage"),
        ("explain_reason", "{\"code\":[]}", "mcp_argument"),
    ] {
        client.wrong(tool, arguments, code);
    }
    client.end();
}

/// What is no call of the protocol ends nothing: the next call is answered.
#[test]
fn noise_between_the_lines_is_survived() {
    let stage = stage();
    let mut client = Client::new(&stage);
    for noise in [
        "",
        "no json",
        "[]",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"id\":900,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":\"no/such\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":\"tools/call\",\"params\":{\"name\":1}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}",
    ] {
        client.say(noise);
    }
    client.say(&"[".repeat(100_000));
    let (answer, error) = client.call("explain_reason", "{\"code\":\"no_suite\"}");
    assert!(!error && answer.get("answer").unwrap().get("no_suite").is_some(), "{answer:?}");
    client.end();
}

/// More calls than may wait are refused at once, and every one is answered.
#[test]
fn a_flood_is_answered_to_the_last_call() {
    let stage = stage();
    let mut client = Client::new(&stage);
    let calls = 300;
    for _ in 0..calls {
        client.start("explain_reason", "{\"code\":\"no_suite\"}");
    }
    let mut busy = 0;
    for _ in 0..calls {
        let (answer, error) = result(&client.hear());
        let code = answer.get("error").map(|error| vectors::text(error, "code").to_owned());
        assert_eq!(code.is_some(), error);
        assert!(code.as_deref().is_none_or(|code| code == "mcp_busy"), "{answer:?}");
        busy += u32::from(error);
    }
    assert!(busy > 0 && busy < calls, "{busy} of {calls} were told to come again");
    client.end();
}

/// Time that is up, a call that is taken back, and a client that goes away: the run is signed as ended, or was never begun.
#[test]
fn calls_that_are_cut_short_leave_nothing_running() {
    if !has("calls_that_are_cut_short_leave_nothing_running", "python3") {
        return;
    }
    let stage = stage();
    let mark = format!("mark_{}", std::process::id());
    stage.write("slow/test_slow.py", &format!("import time\ndef check_{mark}():\n    time.sleep(600)\n"));
    let slow = "{\"workspace\":\"workspace\",\"suite\":\"slow\",\"test_timeout_s\":600,\"limit_s\":1}";
    let mut client = Client::new(&stage);
    client.wrong("run_suite", slow, "mcp_timed_out");
    let long = slow.replace("\"limit_s\":1", "\"limit_s\":600");
    let id = client.start("run_suite", &long);
    client.say(&format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
    ));
    client.start("run_suite", &long);
    let (answer, _) = client.call("explain_reason", "{\"code\":\"no_suite\"}");
    assert_eq!(means(&answer), "known", "the others do not stand in its way");
    client.end();
    // What was told to end does so by itself; whatever has our runs among its arguments is one of its processes.
    let runs = stage.path("runs");
    let left = || Command::new("pgrep").args(["-f", runs.to_str().unwrap()]).output().unwrap().stdout;
    for _ in 0..600 {
        if left().is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(String::from_utf8(left()).unwrap(), "");
    // Chains of runs that had begun verify, as void.
    for folder in fs::read_dir(&runs).unwrap() {
        let folder = folder.unwrap().path();
        if folder.join("receipts_RUN-ON.ndjson").exists() {
            assert_eq!(verify(&folder).0, "VOID", "{folder:?}");
        }
    }
}

// --------------------------------------------------------------------------------------------------- HTTP

/// A server over HTTP, ended with the test.
struct Served {
    child: Child,
    url: String,
    token: String,
}

impl Served {
    fn new(stage: &Stage) -> Served {
        let file = stage.path("token");
        let mut command = touchstone();
        command.args(["mcp", "--http", "0", "--token-file"]).arg(&file);
        command.arg("--root").arg(stage.root.path()).arg("--runs").arg(stage.path("runs"));
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().last().unwrap().to_owned();
        let token = fs::read_to_string(file).unwrap().trim().to_owned();
        Served { child, url, token }
    }

    /// A request by hand: the status line.
    fn status(&self, head: &str, body: &str) -> String {
        let address = self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let head = head.replace("TOKEN", &self.token).replace("ADDRESS", address);
        write!(stream, "{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

const LIST: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

#[test]
fn the_port_is_for_who_has_the_token_and_for_no_page() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = stage();
    let served = Served::new(&stage);
    let head = |rest: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{rest}"
        )
    };
    let host = "Host: ADDRESS\r\n";
    let token = "Authorization: Bearer TOKEN\r\n";
    for (rest, status) in [
        (host.to_owned(), "401"),
        (format!("{host}Authorization: Bearer {}\r\n", "0".repeat(64)), "401"),
        (format!("{host}Authorization: Basic TOKEN\r\n"), "401"),
        (format!("Host: rebound.example\r\n{token}"), "403"),
        (format!("{host}{token}Origin: http://localhost:3000\r\n"), "403"),
        (format!("{host}{token}Origin: null\r\n"), "403"),
    ] {
        let said = served.status(&head(&rest), LIST);
        assert!(said.contains(status), "{rest}: {said}");
    }
    let mode = fs::metadata(stage.path("token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // A token that others can read is none.
    fs::set_permissions(stage.path("token"), fs::Permissions::from_mode(0o644)).unwrap();
    let mut open = touchstone();
    open.args(["mcp", "--http", "0", "--token-file"]).arg(stage.path("token")).stdin(Stdio::null());
    let output = open.output().unwrap();
    assert!(
        output.status.code() == Some(64) && String::from_utf8_lossy(&output.stderr).contains("chmod 600")
    );
    // A token that anybody guesses, and one without a port, are wrong use.
    for (words, token) in
        [(&["--http", "0"][..], "short\n"), (&["--http", "0"], "two words of a token\n"), (&[], "x")]
    {
        stage.write("weak", token);
        fs::set_permissions(stage.path("weak"), fs::Permissions::from_mode(0o600)).unwrap();
        let mut command = touchstone();
        command.arg("mcp").args(words).arg("--token-file").arg(stage.path("weak"));
        assert_eq!(command.stdin(Stdio::null()).output().unwrap().status.code(), Some(64), "{token}");
    }
}

/// Clients that never end their request do not keep the server.
#[test]
fn open_connections_do_not_keep_the_server() {
    let stage = stage();
    let mut served = Served::new(&stage);
    let address = served.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let open: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le").unwrap();
            stream
        })
        .collect();
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(served.child.wait().unwrap().success());
    drop(open);
}

// ------------------------------------------------------------------------------------------- other people's clients

const CALLS: &str = "[[\"run_suite\",{\"workspace\":\"workspace\",\"suite\":\"suite\"}],\
    [\"run_suite\",{\"workspace\":\"workspace\",\"suite\":\"stricter\"}],\
    [\"run_suite\",{\"workspace\":\"/etc\",\"suite\":\"suite\"}],[\"no_such_tool\",{}]]";
const EXPECTED: [&str; 4] = ["accepted", "refused", "mcp_outside_root", "mcp_tool_unknown"];

/// What the script printed, sorted: the word of each answer.
fn answers(python: &str, stage: &Stage, door: &str) -> Vec<String> {
    for together in [false, true] {
        stage.write(
            &format!("plan_{together}"),
            &format!("{{{door},\"together\":{together},\"calls\":{CALLS}}}"),
        );
    }
    let script = vectors::repository().join("crates/touchstone/tests/mcp/client.py");
    let run = |plan: &str| {
        let output = Command::new(python).arg(&script).arg(stage.path(plan)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        let mut lines = said.lines().map(read);
        let tools = lines.next().unwrap();
        for (name, tool) in tools.get("tools").and_then(Value::as_object).into_iter().flat_map(Object::iter) {
            let text = tool.as_array().unwrap()[0].as_str().unwrap();
            assert!(text.contains("Advisory"), "{name}: {text}");
        }
        let word = |line: Value| {
            assert_eq!(line.get("same").and_then(Value::as_bool), Some(true), "{line:?}");
            let answer = line.get("answer").unwrap();
            let error = answer.get("error").map(|error| vectors::text(error, "code"));
            error.unwrap_or_else(|| means(answer)).to_owned()
        };
        lines.map(word).collect::<Vec<String>>()
    };
    let one_by_one = run("plan_false");
    let mut together = run("plan_true");
    together.sort();
    let mut sorted = one_by_one.clone();
    sorted.sort();
    assert_eq!(together, sorted);
    one_by_one
}

/// Versions 1 and 2 of the official client; CI installs both.
#[test]
fn the_official_python_client_over_both_transports() {
    let test = "the_official_python_client_over_both_transports";
    let pythons = ["TOUCHSTONE_PEER_PYTHON", "TOUCHSTONE_MCP_PYTHON"];
    let found: Vec<String> = pythons.iter().filter_map(|name| std::env::var(name).ok()).collect();
    if found.len() < pythons.len() {
        vectors::skip(
            test,
            "TOUCHSTONE_PEER_PYTHON and TOUCHSTONE_MCP_PYTHON name no Pythons with mcp 1 and 2",
        );
        return;
    }
    for python in found {
        let stage = stage();
        let root = stage.root.path().display();
        let program = env!("CARGO_BIN_EXE_touchstone");
        let stdio =
            format!("\"stdio\":[\"{program}\",\"mcp\",\"--root\",\"{root}\",\"--runs\",\"{root}/runs\"]");
        assert_eq!(answers(&python, &stage, &stdio), EXPECTED, "{python}");
        let served = Served::new(&stage);
        let http = format!("\"http\":\"{}\",\"token\":\"{}\"", served.url, served.token);
        assert_eq!(answers(&python, &stage, &http), EXPECTED, "{python}");
    }
}

#[test]
fn the_inspector_over_both_transports() {
    let test = "the_inspector_over_both_transports";
    let Ok(inspector) = std::env::var("TOUCHSTONE_MCP_INSPECTOR") else {
        vectors::skip(test, "TOUCHSTONE_MCP_INSPECTOR names no command line of the MCP inspector");
        return;
    };
    let stage = stage();
    let served = Served::new(&stage);
    let root = stage.root.path().to_str().unwrap();
    let bearer = format!("Authorization: Bearer {}", served.token);
    let stdio = [env!("CARGO_BIN_EXE_touchstone"), "mcp", "--root", root];
    let http = [served.url.as_str(), "--transport", "http", "--header", &bearer];
    let call = |door: &[&str], rest: &[&str]| {
        let output = Command::new(&inspector).arg("--cli").args(door).args(rest).output().unwrap();
        read(&String::from_utf8_lossy(&output.stdout))
    };
    let tools = call(&stdio, &["--method", "tools/list"]);
    assert_eq!(canonical(&tools), canonical(&call(&http, &["--method", "tools/list"])));
    let run = ["--method", "tools/call", "--tool-name", "run_suite", "--tool-arg", "workspace=workspace"];
    for door in [&stdio[..], &http[..]] {
        let answer = call(door, &[&run[..], &["--tool-arg", "suite=stricter"]].concat());
        assert_eq!(means(answer.get("structuredContent").unwrap()), "refused");
        assert_eq!(answer.get("isError").and_then(Value::as_bool), Some(false));
    }
}
