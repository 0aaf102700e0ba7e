//! Upstreams that are not there.

use crate::support::{Desk, Server, no_name, no_tls, nobody, post, read_request};
use std::io::Write;
use wire::{CallError, Outcome};

const NO_ANSWER: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[test]
fn upstreams_that_give_no_answer() {
    let closes = Server::new(|mut stream| drop(read_request(&mut stream)));
    let babbles = Server::new(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n");
    });
    let half_a_head = Server::new(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Le");
    });
    let twice = Server::answering(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    let cases = [
        (format!("http://{}", nobody()), CallError::UpstreamConnect),
        (no_name(), CallError::UpstreamName),
        (closes.url(), CallError::UpstreamClosed),
        (babbles.url(), CallError::UpstreamMalformed),
        (half_a_head.url(), CallError::UpstreamClosed),
        (twice.url(), CallError::UpstreamMalformed),
        (no_tls(), CallError::UpstreamTls),
    ];
    for (url, error) in cases {
        let mut desk = Desk::with(&url, |_| ());
        assert_eq!(desk.call(post("/v1/chat/completions", "{}")), NO_ANSWER, "{url}");
        let row = desk.only_row();
        assert_eq!((row.status, row.error, row.outcome), (0, Some(error), Outcome::NoAnswer), "{url}");
        assert_eq!((row.response_sha256, row.blocked), (None, false));
    }
}
