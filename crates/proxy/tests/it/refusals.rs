//! Calls that are answered here: nothing is sent, and each has its line.

use crate::support::{Desk, Server, answer, config, nobody, post, read_all};
use proxy::{Limits, PathPolicy, Proxy, StartError, Upgrades, Upstream};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wire::{CallError, Outcome, Row, Wire};

/// An upstream that counts its connections.
fn counted() -> (Server, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let server = Server::new(move |mut stream| {
        counter.fetch_add(1, Ordering::SeqCst);
        while crate::support::read_request(&mut stream).is_some() {
            let _ = stream.write_all(&answer("200 OK", "application/json", "{}"));
        }
    });
    (server, count)
}

fn status(answer: &[u8]) -> u16 {
    String::from_utf8_lossy(answer).split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn is_blocked(row: &Row, status: u16, error: CallError) {
    assert_eq!((row.status, row.error, row.outcome), (status, Some(error), Outcome::Blocked), "{row:?}");
    assert!(row.blocked);
}

#[test]
fn pc_35_no_second_reading() {
    let (server, connections) = counted();
    let smuggled = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n";
    for framing in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: chunked\t\r\n",
        "Content-Length: +5\r\n",
    ] {
        let mut desk = Desk::before(&server);
        let got =
            desk.call(format!("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{framing}\r\n0\r\n\r\n{smuggled}"));
        assert_eq!(status(&got), 400, "{framing:?}");
        is_blocked(&desk.only_row(), 400, CallError::FramingAmbiguous);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "nothing was sent");
}

#[test]
fn heads_that_are_not_passed_on() {
    let (server, connections) = counted();
    let long = format!("GET /v1/models HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "a".repeat(70_000));
    let cases = [
        ("nonsense\r\n\r\n", 400, CallError::HeadMalformed),
        ("GET /v1/models HTTP/1.1\nHost: x\n\n", 400, CallError::HeadMalformed),
        ("GET /v1/models HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, CallError::HeadMalformed),
        ("GET /v1/models HTTP/1.1\r\nHost: x\r\n folded: 1\r\n\r\n", 400, CallError::HeadMalformed),
        ("GET /v1/models HTTP/1.0\r\nHost: x\r\n\r\n", 505, CallError::Version),
        ("GET /v1/models HTTP/2.0\r\nHost: x\r\n\r\n", 505, CallError::Version),
        ("GET http://elsewhere/v1 HTTP/1.1\r\nHost: x\r\n\r\n", 400, CallError::Target),
        ("CONNECT elsewhere:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405, CallError::Method),
        ("TRACE /v1 HTTP/1.1\r\nHost: x\r\n\r\n", 405, CallError::Method),
        (&long, 431, CallError::HeadTooLarge),
    ];
    for (request, code, error) in cases {
        let mut desk = Desk::before(&server);
        assert_eq!(status(&desk.call(request)), code, "{error:?}");
        is_blocked(&desk.only_row(), code, error);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[test]
fn a_body_that_breaks_its_coding() {
    let (server, _) = counted();
    let mut desk = Desk::before(&server);
    let head = "POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(status(&desk.call(format!("{head}2\r\n{{}}\r\n0\n\nGET / HTTP/1.1\r\n\r\n"))), 400);
    let row = desk.only_row();
    assert_eq!((row.error, row.request_complete), (Some(CallError::RequestMalformed), false));
}

#[test]
fn a_wire_that_nobody_named() {
    let mut desk = Desk::with("http://127.0.0.1:1", |config| config.upstreams.anthropic = Upstream::Sink);
    let got = String::from_utf8(desk.call(post("/v1/messages", "{\"model\":\"m\"}"))).unwrap();
    assert_eq!(status(got.as_bytes()), 502);
    assert!(got.contains(CallError::Sink.code()) && got.contains("Name the model server"), "{got}");
    let row = desk.only_row();
    is_blocked(&row, 502, CallError::Sink);
    assert_eq!((row.upstream.clone(), row.request_model.as_deref()), (None, Some("m")));
    assert!(got.ends_with(std::str::from_utf8(&desk.body(&row, "resp.bin").unwrap()).unwrap()));
}

#[test]
fn the_policy_of_an_enclosure() {
    let (server, connections) = counted();
    let mut desk = Desk::with(&server.url(), |config| config.policy = PathPolicy::Model);
    assert_eq!(status(&desk.call(post("/v1/files", "x"))), 403);
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    assert_eq!(status(&desk.call(post("/v1/messages", "{}"))), 200);
    let (ended, rows) = desk.stop();
    is_blocked(&rows[0], 403, CallError::NonModelPath);
    assert_eq!((ended.counts.blocked(), ended.counts.model_succeeded()), (1, 1));
}

#[test]
fn ten_thousand_calls_and_one() {
    let (server, _) = counted();
    let mut desk =
        Desk::with(&server.url(), |config| config.limits = Limits { calls: Some(10_000), bytes: None });
    let request = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    let whole = answer("200 OK", "application/json", "{}");
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = desk.connect();
            let length = whole.len();
            std::thread::spawn(move || {
                for _ in 0..2500 {
                    stream.write_all(request).unwrap();
                    std::io::Read::read_exact(&mut stream, &mut vec![0; length]).unwrap();
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(status(&desk.call(request)), 429);
    let (ended, rows) = desk.stop();
    assert_eq!((ended.rows_n, ended.blobs_n, ended.counts.model_succeeded()), (10_001, 10_001, 10_000));
    is_blocked(rows.last().unwrap(), 429, CallError::CallLimit);
}

#[test]
fn a_limit_of_bytes() {
    let (server, _) = counted();
    let mut desk =
        Desk::with(&server.url(), |config| config.limits = Limits { calls: None, bytes: Some(50) });
    assert_eq!(status(&desk.call(post("/v1/messages", "x".repeat(60)))), 200, "a call that began is not cut");
    assert_eq!(status(&desk.call(post("/v1/messages", "x"))), 429);
    let (_, rows) = desk.stop();
    is_blocked(&rows[1], 429, CallError::ByteLimit);
}

#[test]
fn talk_after_the_agents_exit() {
    let (server, connections) = counted();
    let mut desk = Desk::before(&server);
    desk.call(post("/v1/messages", "{}"));
    assert!(desk.proxy().quiesce(Duration::from_secs(60)));
    let digest = desk.proxy().digest();
    assert_eq!(status(&desk.call(post("/v1/messages", "{}"))), 503);
    desk.proxy().resume();
    assert_eq!(status(&desk.call(post("/v1/messages", "{}"))), 200);
    let address = desk.address;
    let (ended, rows) = desk.stop();
    is_blocked(&rows[1], 503, CallError::Stopped);
    assert_eq!(connections.load(Ordering::SeqCst), 2);
    assert_ne!(ended.digest, digest);
    assert!(std::net::TcpStream::connect(address).is_err(), "the door is closed");
}

#[test]
fn what_a_proxy_does_not_start_with() {
    let folder = tempfile::tempdir().unwrap();
    let start = |change: &dyn Fn(&mut proxy::Config)| {
        let mut config = config(folder.path(), "http://127.0.0.1:1");
        change(&mut config);
        Proxy::start(config).map(|proxy| drop(proxy.stop()))
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let refused = start(&|config| config.port = port);
    assert!(matches!(refused, Err(StartError::Port(_))), "{refused:?}");
    assert!(!folder.path().join("wire_RUN-ON").exists(), "nothing is left behind");
    let bad = start(&|config| config.upstreams.gemini = Upstream::Named { url: "http://u:p@h".to_owned() });
    assert!(matches!(bad, Err(StartError::Upstream(Wire::Gemini))));
    let bad = start(&|config| config.keys.openai = Some(proxy::Secret::new("two\nlines")));
    assert!(matches!(bad, Err(StartError::Key(Wire::Openai))));
    assert!(matches!(start(&|config| config.roots = vec![vec![1, 2]]), Err(StartError::Roots)));
    let file = folder.path().join("not-a-socket");
    std::fs::write(&file, "mine").unwrap();
    let bad = start(&|config| config.socket = Some(file.clone()));
    assert!(matches!(bad, Err(StartError::Socket(_))));
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    start(&|_| ()).unwrap();
    assert!(matches!(start(&|_| ()), Err(StartError::Folder(_))), "a used folder is refused");
    let codes = [StartError::Roots.to_string(), StartError::Key(Wire::Ollama).to_string()];
    assert_eq!(codes, ["wire_roots_unusable", "wire_key_unusable: ollama"]);
}

#[test]
fn the_door_of_an_enclosure() {
    let (server, _) = counted();
    let place = tempfile::tempdir().unwrap();
    let socket = place.path().join("door");
    // One that a dead proxy left.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let mut desk = Desk::with(&server.url(), |config| config.socket = Some(socket.clone()));
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    stream.write_all(&post("/v1/messages", "{}")).unwrap();
    assert_eq!(read_all(&mut stream), answer("200 OK", "application/json", "{}"));
    assert_eq!(desk.only_row().outcome, Outcome::Succeeded);
    assert!(!socket.exists());
}

/// The desk's probe shows its token at the second door: answered, and no call. Everything else is one.
#[test]
fn a_knock_is_no_call_and_nothing_else_is_a_knock() {
    let (server, _) = counted();
    let place = tempfile::tempdir().unwrap();
    let socket = place.path().join("door");
    let mut desk = Desk::with(&server.url(), |config| {
        config.socket = Some(socket.clone());
        config.knock = Some(std::sync::Arc::new(|token: &[u8]| token == b"right"));
    });
    let knock = |pieces: &[&str]| {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        pieces.iter().for_each(|piece| stream.write_all(piece.as_bytes()).unwrap());
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        read_all(&mut stream)
    };
    assert_eq!(knock(&["KNOCK right\n"]), b"OPEN\n");
    assert_eq!(knock(&["KNO", "CK ri", "ght\n"]), b"OPEN\n");
    assert_eq!(desk.proxy().counts().requests_seen(), 0);
    assert_eq!(status(&knock(&["KNOCK wrong\n"])), 400);
    // At the first door nobody knocks.
    let mut stream = desk.connect();
    stream.write_all(b"KNOCK right\n\r\n").unwrap();
    assert_eq!(status(&read_all(&mut stream)), 400);
    drop(stream);
    let (_, rows) = desk.stop();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.blocked), "{rows:?}");
}

#[test]
fn upgrades_that_are_not_wanted() {
    let mut desk = Desk::with(&format!("http://{}", nobody()), |config| config.upgrades = Upgrades::Refuse);
    let upgrade = "GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let mut stream = desk.connect();
    stream.write_all(upgrade.as_bytes()).unwrap();
    assert_eq!(status(&crate::support::read_head(&mut stream).unwrap()), 426);
    drop(stream);
    is_blocked(&desk.only_row(), 426, CallError::Upgrade);
}
