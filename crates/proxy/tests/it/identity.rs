//! A thousand exchanges: both sides see through the proxy what they see without it.

use crate::support::{Desk, PATIENCE, Seed, Server, chunked, connect, read_all};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use wire::Outcome;

const HOST: &str = "@HOST@";

/// Both scripts of an exchange.
#[derive(Clone, Default)]
struct Exchange {
    request_head: Vec<u8>,
    request_body: Vec<u8>,
    /// The client waits for a 100 between head and body.
    waits: bool,
    /// The upstream sends it.
    interim: Vec<u8>,
    answer: Vec<u8>,
    /// Sizes of the pieces of both.
    sizes: Vec<usize>,
    /// Length of the heads of the answer.
    head: usize,
    /// The answer breaks off after so many bytes, behind its head: before that it is none, and the agent gets a 502.
    cut: Option<usize>,
    /// The answer ends with the connection.
    ends: bool,
}

fn text(seed: &mut Seed, length: usize) -> Vec<u8> {
    let letters = ["a", "é", "漢", "🙂", "\"", "\\n", " ", "data: ", "0\r\n\r\n"];
    let mut out = String::new();
    while out.len() < length {
        out.push_str(seed.pick(&letters));
    }
    out.into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn in_chunks(seed: &mut Seed, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let length = if seed.one_in(2) { 1 } else { 1 + seed.below(300) }.min(rest.len());
        let extension = seed.pick(&["", "", ";x=1", "; name=\"q\""]);
        let spelled = if seed.one_in(2) { format!("{length:x}") } else { format!("{length:04X}") };
        out.extend_from_slice(format!("{spelled}{extension}\r\n").as_bytes());
        out.extend_from_slice(&rest[..length]);
        out.extend_from_slice(b"\r\n");
        rest = &rest[length..];
    }
    out.extend_from_slice(seed.pick::<[u8]>(&[
        b"0\r\n\r\n",
        b"0\r\nX-Checksum: 1\r\n\r\n",
        b"000\r\nX-A: 1\r\nx-a: 2\r\n\r\n",
    ]));
    out
}

/// Header lines that a proxy likes to tidy up.
fn lines(seed: &mut Seed, own: &[&str]) -> String {
    let odd = [
        "X-A: 1\r\nx-a:2\r\n",
        "X-Empty:\r\n",
        "x-MiXed-CaSe:   three blanks\r\n",
        "Cookie: a=1; b=2\r\nCookie: c=3\r\n",
        "Accept-Encoding: gzip, br, zstd\r\n",
        "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
        "Set-Cookie: a=1, b; Expires=Mon, 30 Nov 2026\r\nX-B: 2\r\nSet-Cookie: c\r\n",
        "Authorization: Bearer own-key\r\n",
        "X-Utf8: é\r\n",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n",
    ];
    let mut all: Vec<String> = own.iter().map(|line| (*line).to_owned()).collect();
    for _ in 0..seed.below(4) {
        let at = seed.below(all.len() + 1);
        all.insert(at, seed.pick(&odd).to_owned());
    }
    all.concat()
}

fn exchange(number: u64) -> Exchange {
    let mut seed = Seed(number);
    let mut made = Exchange::default();
    let method = seed.pick(&["POST", "POST", "POST", "GET", "HEAD", "DELETE", "PUT", "OPTIONS"]);
    request(&mut seed, &mut made, method);
    let body = match seed.below(5) {
        0 => Vec::new(),
        1 => text(&mut seed, 1),
        _ => {
            let length = seed.below(6000);
            text(&mut seed, length)
        }
    };
    answer(&mut seed, &mut made, method, body);
    let few = seed.one_in(4);
    made.sizes = (0..8).map(|_| if few { 1 + seed.below(3) } else { 1 + seed.below(4000) }).collect();
    if seed.one_in(5) && made.answer.len() > made.head {
        made.cut = Some(made.head + seed.below(made.answer.len() - made.head));
    }
    made
}

fn request(seed: &mut Seed, made: &mut Exchange, method: &str) {
    let path = seed.pick(&[
        "/v1/chat/completions",
        "/v1/messages?beta=true",
        "/v1/responses",
        "/api/chat",
        "/v1beta/models/m:streamGenerateContent?alt=sse&x=%20y",
        "/v1/models",
        "/anything//else/./?",
    ]);
    let host = format!("Host: {HOST}\r\n");
    let body = if method == "GET" || method == "HEAD" {
        Vec::new()
    } else {
        let length = seed.below(5000);
        text(seed, length)
    };
    let packed = if seed.one_in(5) { gzip(&body) } else { body };
    let (framing, body) = match seed.below(3) {
        _ if packed.is_empty() => (String::new(), Vec::new()),
        0 => ("Transfer-Encoding: chunked\r\n".to_owned(), in_chunks(seed, &packed)),
        _ => (format!("Content-Length: {}\r\n", packed.len()), packed),
    };
    made.waits = !body.is_empty() && seed.one_in(6);
    let expect = if made.waits { "Expect: 100-continue\r\n" } else { "" };
    let lines = lines(seed, &[&host, &framing, expect]);
    made.request_head = format!("{method} {path} HTTP/1.1\r\n{lines}\r\n").into_bytes();
    made.request_body = body;
    if made.waits {
        made.interim = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    }
}

fn answer(seed: &mut Seed, made: &mut Exchange, method: &str, body: Vec<u8>) {
    let status = seed.pick(&[
        "200 OK",
        "200 OK",
        "200 ",
        "201 Created",
        "404 Nope",
        "429 Slow down",
        "204 None",
        "304 Same",
        "500 é",
    ]);
    let kind = seed.pick(&[
        "application/json",
        "text/event-stream",
        "application/x-ndjson",
        "text/plain; charset=\"x\"",
    ]);
    let packed = seed.one_in(4);
    let body = if packed { gzip(&body) } else { body };
    let coding = if packed { "content-encoding: gzip\r\n" } else { "" };
    let (framing, coded) = match seed.below(4) {
        0 => (String::new(), body.clone()),
        1 => (format!("content-length: {}\r\n", body.len()), body.clone()),
        _ => ("transfer-encoding: chunked\r\n".to_owned(), in_chunks(seed, &body)),
    };
    let kind = format!("Content-Type: {kind}\r\n");
    let lines = lines(seed, &[&kind, coding, &framing]);
    let early = if seed.one_in(8) { "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" } else { "" };
    made.answer = format!("{early}HTTP/1.1 {status}\r\n{lines}\r\n").into_bytes();
    made.head = made.answer.len();
    let none = method == "HEAD" || status.starts_with("204") || status.starts_with("304");
    if !none {
        made.answer.extend_from_slice(&coded);
    }
    made.ends = !none && framing.is_empty();
}

/// Writes in the pieces of the exchange.
fn write(stream: &mut TcpStream, mut bytes: &[u8], sizes: &[usize]) {
    let mut sizes = sizes.iter().cycle();
    // A script of tiny pieces ends in one large one: a thousand of them have to fit into a test.
    for _ in 0..40 {
        let length = (*sizes.next().unwrap()).min(bytes.len());
        if stream.write_all(&bytes[..length]).is_err() {
            return;
        }
        bytes = &bytes[length..];
    }
    let _ = stream.write_all(bytes);
}

fn exactly(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut read = 0;
    while read < length {
        match stream.read(&mut bytes[read..]) {
            Ok(more @ 1..) => read += more,
            _ => break,
        }
    }
    bytes.truncate(read);
    bytes
}

/// The upstream's part: gives what it read. What a direct connection would bring is what it waits for.
fn serve(mut stream: TcpStream, script: &Exchange, own: SocketAddr) -> Vec<u8> {
    let head = hosted(&script.request_head, own);
    let mut seen = exactly(&mut stream, head.len());
    stream.write_all(&script.interim).unwrap();
    seen.extend(exactly(&mut stream, script.request_body.len()));
    let answer = &script.answer[..script.cut.unwrap_or(script.answer.len())];
    write(&mut stream, answer, &script.sizes);
    if !script.ends && script.cut.is_none() {
        // It stays open: what the client gets may not depend on the end of the connection.
        seen.extend(read_all(&mut stream));
    }
    seen
}

fn hosted(head: &[u8], address: SocketAddr) -> Vec<u8> {
    String::from_utf8(head.to_vec()).unwrap().replace(HOST, &address.to_string()).into_bytes()
}

/// The client's part: gives what it read.
fn ask(to: SocketAddr, script: &Exchange) -> Vec<u8> {
    let mut stream = connect(to);
    write(&mut stream, &hosted(&script.request_head, to), &script.sizes);
    let mut seen = Vec::new();
    if script.waits {
        seen.extend(exactly(&mut stream, script.interim.len()));
    }
    write(&mut stream, &script.request_body, &script.sizes);
    if script.ends || script.cut.is_some() {
        seen.extend(read_all(&mut stream));
    } else {
        seen.extend(exactly(&mut stream, script.answer.len()));
    }
    seen
}

type Job = (Exchange, Sender<Vec<u8>>);

#[test]
fn a_thousand_exchanges_are_the_same_with_and_without() {
    let next: Arc<Mutex<Option<Job>>> = Arc::default();
    let jobs = Arc::clone(&next);
    let own: Arc<Mutex<Option<SocketAddr>>> = Arc::default();
    let address = Arc::clone(&own);
    let server = Server::new(move |stream| {
        let (script, seen) = jobs.lock().unwrap().take().unwrap();
        let own = address.lock().unwrap().unwrap();
        seen.send(serve(stream, &script, own)).unwrap();
    });
    *own.lock().unwrap() = Some(server.address);
    let mut desk = Desk::before(&server);
    let (mut cut, mut waited, mut ended) = (0, 0, 0);
    for number in 0..1000 {
        let script = exchange(number);
        let run = |to| {
            let (send, seen) = channel();
            *next.lock().unwrap() = Some((script.clone(), send));
            let got = ask(to, &script);
            (got, seen.recv_timeout(PATIENCE).expect("the upstream ends"))
        };
        let (direct, direct_seen) = run(server.address);
        let (through, through_seen) = run(desk.address);
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(shown(&through_seen), shown(&direct_seen), "exchange {number}, the upstream's side");
        assert_eq!(through_seen, direct_seen, "exchange {number}, the upstream's side");
        assert_eq!(shown(&through), shown(&direct), "exchange {number}, the agent's side");
        assert_eq!(through, direct, "exchange {number}, the agent's side");
        cut += u32::from(script.cut.is_some());
        waited += u32::from(script.waits);
        ended += u32::from(script.ends);
    }
    assert!(cut > 50 && waited > 50 && ended > 50, "the generator makes all kinds: {cut} {waited} {ended}");
    let (ended, rows) = desk.stop();
    assert_eq!((ended.rows_n, ended.blobs_n, ended.faults.len()), (1000, 1000, 0));
    assert!(rows.iter().any(|row| row.outcome == Outcome::Succeeded));
    assert!(rows.iter().any(|row| row.outcome == Outcome::CutByUpstream));
    assert!(rows.iter().any(|row| row.outcome == Outcome::Unknown));
}

#[test]
fn sixty_four_mebibytes_each_way() {
    let body: Vec<u8> = (0..64_u32 << 20).map(|at| (at ^ (at >> 11)) as u8).collect();
    let body = Arc::new(body);
    let echoed = Arc::clone(&body);
    let server = Server::new(move |mut stream| {
        let request = crate::support::read_request(&mut stream).unwrap();
        assert!(request.ends_with(&echoed[..]));
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n";
        stream.write_all(head).unwrap();
        stream.write_all(&chunked(echoed.chunks(1 << 20))).unwrap();
    });
    let mut desk = Desk::before(&server);
    let got = desk.call(crate::support::post("/v1/chat/completions", &body[..]));
    assert!(got.ends_with(&chunked(body.chunks(1 << 20))));
    let row = desk.only_row();
    assert_eq!((row.request_bytes, row.response_bytes), (64 << 20, 64 << 20));
    assert_eq!(row.outcome, Outcome::Succeeded);
}

#[test]
fn both_arms_pass_and_store_the_same() {
    let arm = |mode| {
        let server = Server::answering(crate::support::answer("200 OK", "application/json", "{}"));
        let mut desk = Desk::with(&server.url(), |config| config.mode = mode);
        for number in 0..20 {
            let script = exchange(number);
            let path = if number % 2 == 0 { "/v1/messages" } else { "/v1/models" };
            desk.call(crate::support::post(path, &script.request_body));
        }
        let (ended, rows) = desk.stop();
        assert!(rows.iter().all(|row| row.mode == mode));
        (ended.digest, ended.counts, rows.into_iter().map(|row| row.request_sha256).collect::<Vec<_>>())
    };
    assert_eq!(arm(wire::Mode::Tee), arm(wire::Mode::Act));
}
