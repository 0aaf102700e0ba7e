//! Pieces go on as they come, and nothing is collected.

use crate::support::{Desk, PATIENCE, Server, answer, events, post, read_head, read_request};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use wire::Outcome;

const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// An upstream that sends each piece only when the test says so.
fn stepwise(pieces: Vec<Vec<u8>>, stays: bool) -> (Server, Sender<()>) {
    let (go, steps): (_, Receiver<()>) = channel();
    let steps = Mutex::new(steps);
    let server = Server::new(move |mut stream: TcpStream| {
        read_request(&mut stream).unwrap();
        let steps = steps.lock().unwrap();
        for piece in &pieces {
            steps.recv_timeout(PATIENCE).unwrap();
            stream.write_all(piece).unwrap();
        }
        if stays {
            // Whatever comes, this connection is not ended by its upstream.
            let _ = stream.read(&mut [0; 16]);
        }
    });
    (server, go)
}

fn expect(stream: &mut TcpStream, bytes: &[u8]) {
    let mut got = vec![0; bytes.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(got, bytes);
}

#[test]
fn pc_26_each_event_is_there_before_the_next_is_sent() {
    let event = |n: u8| {
        [b"e\r\n".to_vec(), format!("data: {{\"n\":{n}}}\n").into_bytes()[..14].to_vec(), b"\r\n".to_vec()]
            .concat()
    };
    let pieces = vec![STREAM.to_vec(), event(1), event(2), event(3)];
    let (server, go) = stepwise(pieces.clone(), true);
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    for piece in &pieces {
        go.send(()).unwrap();
        // A proxy that waited for more would wait for ever: the next is sent when this was read.
        expect(&mut stream, piece);
    }
    // Still open when the run is stopped: recorded as far as it went, and marked so.
    let row = desk.only_row();
    assert_eq!((row.outcome, row.partial, row.response_bytes), (Outcome::OpenAtEnd, true, 42));
    assert_eq!(desk.body(&row, "resp.bin").unwrap().len(), 42);
}

#[test]
fn pc_22_characters_cut_in_two() {
    let text = "data: {\"t\":\"\u{9082}🙂é\"}\n\n".as_bytes();
    let mut pieces = vec![STREAM.to_vec()];
    for byte in text {
        pieces.push([b"1\r\n", &[*byte][..], b"\r\n"].concat());
    }
    pieces.push(b"0\r\n\r\n".to_vec());
    let (server, go) = stepwise(pieces.clone(), false);
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    for piece in &pieces {
        go.send(()).unwrap();
        expect(&mut stream, piece);
    }
    let row = desk.only_row();
    assert_eq!(desk.body(&row, "resp.bin").unwrap(), text);
    assert_eq!(row.outcome, Outcome::StreamNotEnded);
}

#[test]
fn pc_23_four_spellings_of_a_stream() {
    let unix = ": ping\n\nevent: x\ndata: {\"model\":\"m\"}\n\ndata: [DONE]\n\n";
    let spellings = [
        unix.to_owned(),
        unix.replace('\n', "\r\n"),
        unix.replace('\n', "\r"),
        format!("\u{feff}{}", unix.replace(": ", ":").trim_end()),
    ];
    for spelling in spellings {
        let server = Server::answering(events(&spelling));
        let mut desk = Desk::before(&server);
        assert_eq!(desk.call(post("/v1/chat/completions", "{}")), events(&spelling));
        let row = desk.only_row();
        assert_eq!((row.outcome, row.stream_ended), (Outcome::Succeeded, true), "{spelling:?}");
        assert_eq!(row.model.as_deref(), Some("m"));
    }
}

#[test]
fn a_slow_agent_slows_the_upstream() {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let server = Server::new(move |mut stream| {
        read_request(&mut stream).unwrap();
        let total = 256_usize << 20;
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n").unwrap();
        stream.set_nonblocking(true).unwrap();
        let (mut sent, mut idle) = (0_usize, 0);
        // It has come to a stop when nothing could be written for a while.
        while sent < total && idle < 100 {
            match stream.write(&vec![7; 64 << 10].as_slice()[..(total - sent).min(64 << 10)]) {
                Ok(length) => (sent, idle) = (sent + length, 0),
                Err(_) => {
                    idle += 1;
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
            }
        }
        tell.lock().unwrap().send(sent).unwrap();
        std::thread::park_timeout(PATIENCE);
    });
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/chat/completions", "{}")).unwrap();
    read_head(&mut stream).unwrap();
    let sent = told.recv_timeout(PATIENCE).unwrap();
    assert!(sent < 64 << 20, "the upstream wrote {sent} bytes that nobody read");
    let row = desk.only_row();
    assert!(row.response_bytes <= sent as u64);
    assert_eq!(row.outcome, Outcome::OpenAtEnd);
}

#[test]
fn call_after_call_on_one_connection() {
    let server = Server::answering(answer("200 OK", "application/json", r#"{"model":"m"}"#));
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    let request = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    let whole = answer("200 OK", "application/json", r#"{"model":"m"}"#);
    for _ in 0..5 {
        stream.write_all(request).unwrap();
        expect(&mut stream, &whole);
    }
    // Sent ahead, all at once, with the line ends that some clients leave between requests.
    stream.write_all(&[&request[..], b"\r\n", request, request].concat()).unwrap();
    expect(&mut stream, &whole.repeat(3));
    drop(stream);
    let (ended, rows) = desk.stop();
    assert_eq!((rows.len(), ended.counts.model_succeeded()), (8, 8));
}

#[test]
fn an_idle_connection_is_closed_with_the_upstreams() {
    let server = Server::new(|mut stream| {
        read_request(&mut stream).unwrap();
        stream.write_all(&answer("200 OK", "application/json", "{}")).unwrap();
    });
    let mut desk = Desk::before(&server);
    let mut stream = desk.connect();
    for _ in 0..2 {
        stream.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        expect(&mut stream, &answer("200 OK", "application/json", "{}"));
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "a client sees that it needs another connection");
        stream = desk.connect();
    }
    let (ended, _) = desk.stop();
    assert_eq!(ended.counts.model_succeeded(), 2);
}
