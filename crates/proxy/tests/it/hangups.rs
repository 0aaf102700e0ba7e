//! One side goes away.

use crate::support::{Desk, PATIENCE, Server, answer, post, read_all, read_head, read_request};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use wire::{CallError, Outcome};

/// An upstream that streams `pieces` pieces, then waits for its connection to end and says so.
fn streaming(pieces: usize) -> (Server, Receiver<()>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let server = Server::new(move |mut stream: TcpStream| {
        read_request(&mut stream);
        if pieces > 0 {
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
            );
        }
        for _ in 0..pieces {
            let _ = stream.write_all(b"9\r\ndata: 1\n\n\r\n");
        }
        // An end or a reset: either way this side learns of it.
        let _ = stream.read(&mut [0]);
        tell.lock().unwrap().send(()).unwrap();
    });
    (server, told)
}

#[test]
fn pc_28_after_five_pieces() {
    let (server, closed) = streaming(5);
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    read_head(&mut stream).unwrap();
    stream.read_exact(&mut [0; 5 * 14]).unwrap();
    drop(stream);
    closed.recv_timeout(PATIENCE).expect("the upstream's connection is closed");
    assert!(desk.proxy().quiesce(PATIENCE));
    let row = desk.only_row();
    assert_eq!((row.outcome, row.response_bytes, row.partial), (Outcome::EndedByAgent, 45, true));
}

#[test]
fn pc_28_before_the_first_byte() {
    let (server, closed) = streaming(0);
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    drop(stream);
    closed.recv_timeout(PATIENCE).expect("the upstream's connection is closed");
    assert!(desk.proxy().quiesce(PATIENCE), "the run does not wait for a call that nobody waits for");
    let row = desk.only_row();
    assert_eq!((row.status, row.response_sha256, row.request_complete), (0, None, true));
    assert_eq!(row.outcome, Outcome::EndedByAgent);
}

#[test]
fn pc_28_with_half_a_request() {
    let (server, _closed) = streaming(0);
    let mut desk = Desk::before(&server);
    for half in ["POST /v1/mess", "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{\"a\""]
    {
        let mut stream = desk.connect();
        stream.write_all(half.as_bytes()).unwrap();
        drop(stream);
    }
    while desk.proxy().counts().requests_seen() < 2 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (_, rows) = desk.stop();
    for row in &rows {
        assert_eq!((row.outcome, row.error), (Outcome::EndedByAgent, Some(CallError::RequestCut)));
        assert!(row.partial && !row.request_complete && !row.blocked);
    }
    assert_eq!(rows.iter().map(|row| row.request_bytes).sum::<u64>(), 4);
}

#[test]
fn an_agent_that_only_stops_sending_gets_its_answer() {
    let server = Server::new(|mut stream| {
        read_request(&mut stream).unwrap();
        // The end of the agent's side is passed on, as without a proxy.
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        stream.write_all(&answer("200 OK", "application/json", "{}")).unwrap();
    });
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&mut stream), answer("200 OK", "application/json", "{}"));
    assert_eq!(desk.only_row().outcome, Outcome::Succeeded);
}

#[test]
fn pc_32_expectations() {
    // An interim answer is passed on: in `identity`. Here: refused at once, and never answered.
    let refuses = Server::new(|mut stream| {
        read_head(&mut stream).unwrap();
        stream
            .write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .unwrap();
    });
    let mut desk = Desk::before(&refuses);
    let mut stream = desk.connect();
    let head =
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n";
    stream.write_all(head).unwrap();
    assert!(read_head(&mut stream).unwrap().starts_with(b"HTTP/1.1 413 "));
    drop(stream);
    let row = desk.only_row();
    assert_eq!((row.status, row.request_complete, row.request_bytes), (413, false, 0));

    let silent = Server::answering(answer("200 OK", "application/json", "{}"));
    let mut desk = Desk::before(&silent);
    let mut stream = desk.connect();
    stream.write_all(head).unwrap();
    // What a client does after a short wait. Nobody in between waits for anything.
    stream.write_all(&vec![b' '; 2_000_000]).unwrap();
    assert!(read_head(&mut stream).unwrap().starts_with(b"HTTP/1.1 200 "));
    stream.read_exact(&mut [0; 2]).unwrap();
    let row = desk.only_row();
    assert_eq!((row.outcome, row.request_bytes), (Outcome::Succeeded, 2_000_000));
}

#[test]
fn a_reset_does_not_look_like_an_end() {
    let server = Server::new(|mut stream| {
        // Closing with a byte unread is a reset.
        let mut request = post("/v1/messages", "{}");
        request.pop();
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"half\":").unwrap();
        std::thread::sleep(Duration::from_millis(50));
    });
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    // As long as what the upstream reads: the host of the upstream is longer, and the line of the connection is not sent.
    stream.write_all(&post("/v1/messages", "{}".repeat(40))).unwrap();
    let end = loop {
        match stream.read(&mut [0; 64]) {
            Ok(0) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error.kind()),
        }
    };
    assert_eq!(end, Err(std::io::ErrorKind::ConnectionReset), "this body is framed by its end");
    let row = desk.only_row();
    assert_eq!((row.outcome, row.error), (Outcome::CutByUpstream, Some(CallError::UpstreamCut)));
}

#[test]
fn a_stalled_stream_ends_with_the_run() {
    let (server, closed) = streaming(2);
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    read_head(&mut stream).unwrap();
    stream.read_exact(&mut [0; 2 * 14]).unwrap();
    assert!(!desk.proxy().quiesce(Duration::from_millis(50)), "the agent still waits: it is not cut");
    let row = desk.only_row();
    assert_eq!((row.outcome, row.response_bytes), (Outcome::OpenAtEnd, 18));
    closed.recv_timeout(PATIENCE).expect("the upstream's connection is closed");
}
