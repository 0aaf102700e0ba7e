//! Upgrades.

use crate::support::{Desk, PATIENCE, Server, answer, read_head};
use canon::Reader;
use std::io::{Read, Write};
use wire::{CallError, Class, Outcome};

const ASK: &str = "GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

#[test]
fn frames_pass_and_are_logged() {
    let masked = [0x81, 0x82, 1, 2, 3, 4, b'h' ^ 1, b'i' ^ 2];
    let server = Server::new(move |mut stream| {
        let head = String::from_utf8(read_head(&mut stream).unwrap()).unwrap();
        assert!(head.contains("\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"), "{head}");
        // The first frame may come with the head.
        stream.write_all(&[SWITCH, &[0x89, 0]].concat()).unwrap();
        let mut frame = [0; 8];
        stream.read_exact(&mut frame).unwrap();
        assert_eq!(frame, masked, "the mask stays");
        stream.write_all(b"\x01\x03one\x80\x03two").unwrap();
    });
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(ASK.as_bytes()).unwrap();
    assert_eq!(read_head(&mut stream).unwrap(), SWITCH);
    stream.write_all(&masked).unwrap();
    let mut got = [0; 12];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"\x89\x00\x01\x03one\x80\x03two");
    // The upstream hangs up first; who does is what the record says.
    assert_eq!(stream.read(&mut got).unwrap(), 0);
    drop(stream);
    assert!(desk.proxy().quiesce(PATIENCE));
    let row = desk.only_row();
    assert_eq!((row.status, row.frames, row.class), (101, Some(4), Class::Model));
    assert_eq!(row.outcome, Outcome::Unknown, "frames say nothing that ruling 15 could count");
    assert_eq!(desk.body(&row, "req.bin").unwrap(), b"hi");
    assert_eq!(desk.body(&row, "resp.bin").unwrap(), b"onetwo");
    let log = desk.body(&row, "frames.jsonl").unwrap();
    let frames: Vec<_> = log
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let frame = Reader::strict().read(line).unwrap();
            let of = |name: &str| frame.get(name).and_then(canon::Value::as_i64).unwrap();
            (vectors::text(&frame, "from").to_owned(), of("opcode"), of("bytes"))
        })
        .collect();
    let expected = [("upstream", 9, 0), ("agent", 1, 2), ("upstream", 1, 3), ("upstream", 0, 3)];
    assert_eq!(frames, expected.map(|(from, opcode, bytes)| (from.to_owned(), opcode, bytes)));
}

#[test]
fn an_upstream_without_websockets() {
    for (status, expected) in
        [("404 Not Found", 426), ("200 OK", 426), ("405 No", 426), ("401 Who", 401), ("429 Later", 429)]
    {
        let mut desk = Desk::before(&Server::answering(answer(status, "application/json", "{}")));
        let mut stream = desk.connect();
        stream.write_all(ASK.as_bytes()).unwrap();
        let head = String::from_utf8(read_head(&mut stream).unwrap()).unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {expected} ")), "{status}: {head}");
        drop(stream);
        let row = desk.only_row();
        assert_eq!((row.status, row.outcome, row.blocked), (expected, Outcome::Refused, false));
        assert_eq!(row.error, (expected == 426).then_some(CallError::Upgrade));
    }
}
