//! The real key goes into one header and nowhere else; the sentinel stays on this machine.

use crate::support::{Desk, Server, answer, no_name, no_tls, nobody, post, read_request};
use proxy::{Keys, Secret};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use wire::{CallError, Outcome};

const KEY: &str = "sk-real-0123456789abcdef";
const SENTINEL: &str = "vacant-run-00112233445566778899aabbccddeeff";

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(std::fs::read(path).unwrap()) }
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn keys() -> Keys {
    let key = || Some(Secret::new(KEY));
    Keys { openai: key(), anthropic: key(), ollama: key(), gemini: key() }
}

/// Runs requests and gives what an upstream saw, what the agent saw, and what was said.
fn run(url: &str, keys: Keys, requests: &[Vec<u8>]) -> (Vec<u8>, String) {
    let said: Arc<Mutex<String>> = Arc::default();
    let hear = Arc::clone(&said);
    let mut desk = Desk::with(url, |config| {
        config.keys = keys;
        config.sentinel = SENTINEL.to_owned();
        config.watch = Some(Arc::new(move |event| hear.lock().unwrap().push_str(&format!("{event:?}"))));
    });
    let got: Vec<u8> = requests.iter().flat_map(|request| desk.call(request)).collect();
    let shown = format!("{:?}", desk.proxy());
    let (ended, rows) = desk.stop();
    assert_eq!(rows.len(), requests.len());
    let mut written = Vec::new();
    files(desk.root(), &mut written);
    assert!(written.len() > requests.len(), "index and bodies were looked at");
    assert!(!written.iter().any(|file| contains(file, KEY)), "no real key on disk");
    let said = said.lock().unwrap().clone() + &shown + &format!("{ended:?}");
    (got, said)
}

fn with(head: &str, path: &str) -> Vec<u8> {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}Content-Length: 2\r\n\r\n{{}}")
        .into_bytes()
}

fn requests() -> Vec<Vec<u8>> {
    vec![
        with(&format!("Authorization: Bearer {SENTINEL}\r\n"), "/v1/chat/completions"),
        with(&format!("X-Api-Key: {SENTINEL}\r\n"), "/v1/messages"),
        with(&format!("x-goog-api-key: {SENTINEL}\r\n"), "/v1beta/models/m:generateContent"),
        with("", &format!("/v1beta/models/m:generateContent?key={SENTINEL}&alt=json")),
        post("/api/chat", "{}"),
        // An agent that found a real key by itself: even then it does not get into the index.
        with("", &format!("/v1beta/models/m:generateContent?key={KEY}")),
    ]
}

#[test]
fn the_key_is_swapped_in_and_never_written() {
    let seen: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let see = Arc::clone(&seen);
    let server = Server::new(move |mut stream| {
        while let Some(request) = read_request(&mut stream) {
            see.lock().unwrap().push(request);
            let _ = stream.write_all(&answer("200 OK", "application/json", "{}"));
        }
    });
    let (got, said) = run(&server.url(), keys(), &requests());
    let seen = seen.lock().unwrap();
    let has = |number: usize, line: &str| {
        assert!(contains(&seen[number], line), "{number}: {}", String::from_utf8_lossy(&seen[number]));
    };
    has(0, &format!("\r\nAuthorization: Bearer {KEY}\r\n"));
    has(1, &format!("\r\nX-Api-Key: {KEY}\r\n"));
    has(2, &format!("\r\nx-goog-api-key: {KEY}\r\n"));
    has(3, &format!("?key={KEY}&alt=json HTTP/1.1\r\n"));
    has(4, &format!("\r\nAuthorization: Bearer {KEY}\r\n"));
    assert!(!seen.iter().any(|request| contains(request, SENTINEL)), "the sentinel does not leave");
    assert!(!contains(&got, KEY) && !said.contains(KEY));
}

#[test]
fn nothing_is_written_after_failures_either() {
    let drops = Server::new(|mut stream| drop(read_request(&mut stream)));
    let urls = [format!("http://{}", nobody()), no_tls(), drops.url(), no_name()];
    for url in urls {
        let (got, said) = run(&url, keys(), &requests());
        assert!(!contains(&got, KEY) && !said.contains(KEY), "{url}");
    }
    assert_eq!(format!("{:?}", keys()).matches("***").count(), 4);
}

#[test]
fn without_a_key_the_header_is_dropped() {
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let see = Arc::clone(&seen);
    let server = Server::new(move |mut stream| {
        while let Some(request) = read_request(&mut stream) {
            see.lock().unwrap().extend(request);
            let _ = stream.write_all(&answer("401 No", "application/json", "{}"));
        }
    });
    run(&server.url(), Keys::default(), &requests()[..4]);
    let seen = seen.lock().unwrap();
    assert!(!contains(&seen, SENTINEL) && contains(&seen, "?key=&alt=json"));
    assert!(!contains(&seen, "Authorization"), "{}", String::from_utf8_lossy(&seen));
}

#[test]
fn an_upstream_that_repeats_the_key() {
    let said = format!("{{\"error\":\"no such key: {KEY}\"}}");
    let whole = answer("401 Unauthorized", "application/json", &said);
    let in_head = format!("HTTP/1.1 401 No\r\nX-Key: {KEY}\r\nContent-Length: 0\r\n\r\n").into_bytes();
    for bytes in [whole, in_head] {
        let mut desk = Desk::with(&Server::answering(bytes).url(), |config| config.keys = keys());
        let got = desk.call(post("/v1/messages", "{}"));
        assert!(!contains(&got, KEY), "it does not reach the agent");
        let row = desk.only_row();
        assert_eq!((row.outcome, row.error), (Outcome::NotRecorded, Some(CallError::KeyInAnswer)));
        let mut written = Vec::new();
        files(desk.root(), &mut written);
        assert!(!written.iter().any(|file| contains(file, KEY)), "nor the disk");
    }
}
