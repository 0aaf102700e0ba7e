//! What a call counts for: ruling 15 through the whole proxy.

use crate::support::{Desk, Server, answer, events, post};
use std::io::Write;
use wire::{CallError, Class, Outcome, Protocol, Wire};

#[test]
fn pc_25_an_error_behind_a_success() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let cases = [
        (
            "/v1/chat/completions",
            format!("{}data: {{\"error\":{{\"code\":429}}}}\n\ndata: [DONE]\n\n", piece.repeat(200)),
        ),
        ("/v1/messages", "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n".to_owned()),
        ("/v1/responses", "data: {\"type\":\"response.failed\",\"response\":{\"error\":{}}}\n\n".to_owned()),
    ];
    for (path, body) in cases {
        let mut desk = Desk::before(&Server::answering(events(&body)));
        assert_eq!(desk.call(post(path, "{}")), events(&body), "bytes are unchanged");
        let (ended, rows) = desk.stop();
        assert_eq!(rows[0].outcome, Outcome::ErrorInStream, "{path}");
        assert_eq!(ended.counts.model_succeeded(), 0, "alone in a run this is VOID");
    }
    let plain = answer("200 OK", "application/json", r#"{"error":{"message":"quota"}}"#);
    let mut desk = Desk::before(&Server::answering(plain));
    desk.call(post("/v1/chat/completions", "{}"));
    assert_eq!(desk.only_row().outcome, Outcome::ErrorInBody);
}

#[test]
fn pc_27_packed_bodies_pass_packed() {
    let body = r#"{"model":"packed-model","usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let mut damaged = gzip.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xFF;
    for (coding, bytes, model) in [
        ("gzip", &gzip, Some("packed-model")),
        ("br", &gzip, None),
        ("zstd", &gzip, None),
        ("gzip", &damaged, None),
    ] {
        for framing in ["length", "chunked"] {
            let (head, coded) = match framing {
                "length" => (format!("Content-Length: {}", bytes.len()), bytes.clone()),
                _ => ("Transfer-Encoding: chunked".to_owned(), crate::support::chunked([&bytes[..]])),
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Type: application/json\r\n{head}\r\n\r\n"
            );
            let whole = [head.as_bytes(), &coded].concat();
            let mut desk = Desk::before(&Server::answering(whole.clone()));
            assert_eq!(desk.call(post("/v1/chat/completions", "{}")), whole, "{coding}, {framing}");
            let row = desk.only_row();
            assert_eq!(desk.body(&row, "resp.bin").unwrap(), *bytes, "the wire's bytes are kept");
            if model.is_some() {
                assert_eq!(
                    (row.model.as_deref(), row.usage.input, row.usage.output),
                    (model, Some(3), Some(4))
                );
            }
        }
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 999\r\n\r\n";
    let mut desk = Desk::before(&Server::answering(head));
    let got = desk.call("HEAD /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!(got, head.as_bytes());
    let row = desk.only_row();
    assert_eq!((row.class, row.outcome, row.response_bytes), (Class::Other, Outcome::Succeeded, 0));
}

#[test]
fn pc_30_packed_requests_pass_and_count() {
    for (coding, body) in [
        ("zstd", b"\x28\xB5\x2F\xFD rest".to_vec()),
        ("gzip", b"\x1f\x8b\x08 rest".to_vec()),
        ("x-unheard-of", vec![0; 300]),
    ] {
        let server = Server::answering(events("data: {\"type\":\"response.completed\"}\n\n"));
        let mut desk = Desk::before(&server);
        let head = format!(
            "POST /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        assert!(desk.call([head.as_bytes(), &body].concat()).starts_with(b"HTTP/1.1 200 OK"));
        let row = desk.only_row();
        assert_eq!((row.class, row.outcome), (Class::Model, Outcome::Succeeded), "{coding}");
        assert_eq!((row.request_model.clone(), row.request_readable), (None, false), "{coding}");
        assert_eq!(desk.body(&row, "req.bin").unwrap(), body);
    }
}

#[test]
fn wires_protocols_and_models() {
    let server = Server::answering(answer("200 OK", "application/json", r#"{"model":"answered"}"#));
    let mut desk = Desk::before(&server);
    let cases = [
        ("/v1/chat/completions", Wire::Openai, Protocol::ChatCompletions, Class::Model),
        ("/v1/responses?x=1", Wire::Openai, Protocol::Responses, Class::Model),
        ("/messages", Wire::Anthropic, Protocol::Messages, Class::Model),
        ("/api/chat", Wire::Ollama, Protocol::Ollama, Class::Model),
        ("/v1beta/models/m:generateContent", Wire::Gemini, Protocol::Gemini, Class::Model),
        ("/v1/embeddings", Wire::Openai, Protocol::Other, Class::Other),
    ];
    for (path, ..) in cases {
        desk.call(post(path, r#"{"model":"asked","messages":[]}"#));
    }
    let (ended, rows) = desk.stop();
    for (row, (path, wire, protocol, class)) in rows.iter().zip(cases) {
        assert_eq!((row.wire, row.protocol, row.class), (wire, protocol, class), "{path}");
        assert_eq!((row.path.as_str(), row.request_model.as_deref()), (path, Some("asked")));
        assert_eq!((row.model.as_deref(), row.error, row.partial), (Some("answered"), None, false));
    }
    assert!(rows[2].upstream.as_deref().unwrap().ends_with("/v1/messages"));
    assert_eq!((ended.counts.model_succeeded(), ended.counts.requests_seen()), (5, 6));
}

#[test]
fn answers_that_are_no_success() {
    let too_many = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}";
    let by_close = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}";
    let broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnonsense\r\n";
    let cases: [(&[u8], Outcome, Option<CallError>); 4] = [
        (too_many, Outcome::Refused, None),
        (by_close, Outcome::Unknown, None),
        (broken, Outcome::CutByUpstream, Some(CallError::UpstreamMalformed)),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
            Outcome::CutByUpstream,
            Some(CallError::UpstreamCut),
        ),
    ];
    for (bytes, outcome, error) in cases {
        let once = bytes.to_vec();
        let server = Server::new(move |mut stream| {
            crate::support::read_request(&mut stream).unwrap();
            stream.write_all(&once).unwrap();
        });
        let mut desk = Desk::before(&server);
        assert_eq!(desk.call(post("/v1/chat/completions", "{}")), bytes, "retry-after and all else arrives");
        let row = desk.only_row();
        assert_eq!((row.outcome, row.error), (outcome, error));
    }
}

#[test]
fn malformed_events_are_passed_and_do_not_count() {
    let odd = "dat: {\"x\"\n\n}}}\u{0}\n\ndata: {\"choices\":\n\n";
    let mut desk = Desk::before(&Server::answering(events(odd)));
    assert_eq!(desk.call(post("/v1/chat/completions", "{}")), events(odd));
    assert_eq!(desk.only_row().outcome, Outcome::StreamNotEnded);
}
