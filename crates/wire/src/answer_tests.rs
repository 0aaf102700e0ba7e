//! Streams and documents of every protocol.

use super::*;
use std::io::Write as _;

fn stream(protocol: Protocol, body: &str) -> Reading {
    read(protocol, "text/event-stream; charset=utf-8", None, body.as_bytes(), 5)
}

fn read(protocol: Protocol, media: &str, coding: Option<&str>, body: &[u8], size: usize) -> Reading {
    let mut answer = Answer::new(protocol, Some(media.as_bytes()), coding.map(str::as_bytes));
    body.chunks(size).for_each(|piece| answer.push(piece));
    answer.finish(true)
}

#[test]
fn each_protocol_has_its_own_end() {
    let chat = "data: {\"model\":\"m\",\"choices\":[]}\n\ndata: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n";
    let reading = stream(Protocol::ChatCompletions, chat);
    assert!(!reading.ended && !reading.error && reading.kind == Kind::Stream);
    let reading = stream(Protocol::ChatCompletions, &format!("{chat}data: [DONE]\n\n"));
    assert!(reading.ended);
    assert_eq!(reading.model.as_deref(), Some("m"));
    assert_eq!(reading.usage, Usage { input: Some(3), output: Some(4) });

    let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"r\",\"error\":null}}\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}}\n\n";
    let reading = stream(Protocol::Responses, responses);
    assert!(reading.ended && !reading.error);
    assert_eq!((reading.model.as_deref(), reading.usage.output), (Some("r"), Some(6)));
    assert!(!stream(Protocol::Responses, "data: [DONE]\n\n").ended);

    let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"c\",\"usage\":{\"input_tokens\":7}}}\n\n\
        event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":8}}\n\n";
    assert!(!stream(Protocol::Messages, messages).ended);
    let reading = stream(
        Protocol::Messages,
        &format!("{messages}event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"),
    );
    assert!(reading.ended);
    assert_eq!(reading.usage, Usage { input: Some(7), output: Some(8) });

    let lines =
        "{\"model\":\"o\",\"done\":false}\n{\"done\":true,\"prompt_eval_count\":9,\"eval_count\":10}\n";
    let reading = read(Protocol::Ollama, "application/x-ndjson", None, lines.as_bytes(), 3);
    assert!(reading.ended && reading.kind == Kind::Stream);
    assert_eq!(reading.usage, Usage { input: Some(9), output: Some(10) });

    let gemini = "data: {\"candidates\":[{\"content\":{}}],\"modelVersion\":\"g\"}\r\n\r\n";
    assert!(!stream(Protocol::Gemini, gemini).ended);
    let reading = stream(
        Protocol::Gemini,
        &format!(
            "{gemini}data: {{\"candidates\":[{{\"finishReason\":\"STOP\"}}],\"usageMetadata\":{{\"promptTokenCount\":1,\"candidatesTokenCount\":2}}}}\r\n\r\n"
        ),
    );
    assert!(reading.ended);
    assert_eq!((reading.model.as_deref(), reading.usage.input), (Some("g"), Some(1)));

    let complete = "event: completion\ndata: {\"stop_reason\":null}\n\n";
    assert!(!stream(Protocol::Complete, complete).ended);
    assert!(
        stream(Protocol::Complete, &format!("{complete}data: {{\"stop_reason\":\"stop_sequence\"}}\n\n"))
            .ended
    );
}

#[test]
fn pc_25_an_error_is_an_error_wherever_it_stands() {
    let chat = "data: {\"choices\":[]}\n\n";
    for error in [
        "data: {\"error\":{\"message\":\"x\"}}\n\ndata: [DONE]\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
        "data: {\"error\":{\"code\":429}}",
    ] {
        assert!(stream(Protocol::ChatCompletions, &format!("{chat}{error}")).error, "{error}");
    }
    assert!(stream(Protocol::Messages, "event: error\ndata: {}\n\n").error);
    assert!(stream(Protocol::Responses, "data: {\"type\":\"response.failed\",\"response\":{}}\n\n").error);
    assert!(read(Protocol::Ollama, "application/x-ndjson", None, b"{\"error\":\"x\"}\n", 2).error);
    let plain =
        |body: &str| read(Protocol::ChatCompletions, "application/json", None, body.as_bytes(), 4).error;
    assert!(plain("{\"error\":{\"message\":\"x\"}}"));
    assert!(plain("[{\"error\":{\"code\":400}}]"));
    assert!(!plain(
        "{\"error\":null,\"choices\":[{\"message\":{\"content\":\"{\\\"error\\\":1}\",\"error\":1}}]}"
    ));
}

#[test]
fn text_that_speaks_of_ends_and_errors_is_text() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"[DONE] \\\"error\\\": event: error\"}}]}\n\n";
    let reading = stream(Protocol::ChatCompletions, body);
    assert!(!reading.ended && !reading.error);
}

#[test]
fn a_stream_that_breaks_off_keeps_what_it_said() {
    let mut answer = Answer::new(Protocol::ChatCompletions, Some(b"text/event-stream"), None);
    answer.push(b"data: {\"model\":\"m\"}\n\ndata: [DONE]");
    let reading = answer.finish(false);
    assert!(!reading.ended);
    assert_eq!(reading.model.as_deref(), Some("m"));
}

#[test]
fn pc_27_packed_bodies_are_read_on_a_copy() {
    let body = b"data: {\"model\":\"m\"}\n\ndata: [DONE]\n\n";
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).unwrap();
    let packed = encoder.finish().unwrap();
    for size in [1, 7, 1000] {
        let reading = read(Protocol::ChatCompletions, "text/event-stream", Some("gzip"), &packed, size);
        assert!(reading.ended && reading.readable, "{reading:?}");
    }
    let cut =
        read(Protocol::ChatCompletions, "text/event-stream", Some("gzip"), &packed[..packed.len() - 9], 7);
    assert!(!cut.readable);
    let damaged = read(Protocol::ChatCompletions, "text/event-stream", Some("gzip"), b"no gzip at all", 7);
    assert!(!damaged.readable && !damaged.ended);
    let zstd = read(Protocol::ChatCompletions, "text/event-stream", Some("zstd"), b"\x28\xB5\x2F\xFD", 7);
    assert!(!zstd.readable);
    // The shortest brotli stream: an empty body.
    assert!(read(Protocol::Other, "application/json", Some("br"), &[0x3B], 1).readable);
}

#[test]
fn pc_30_a_body_that_unpacks_to_very_much_is_given_up() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..300 {
        encoder.write_all(&zeros).unwrap();
    }
    let packed = encoder.finish().unwrap();
    let reading = read(Protocol::ChatCompletions, "application/json", Some("gzip"), &packed, 1 << 14);
    assert!(!reading.readable);

    let mut request = RequestReader::new(Some(b"zstd"));
    request.push(b"\x28\xB5\x2F\xFD{\"model\":\"m\"}");
    assert!(!request.readable() && request.model().is_none());
    let mut request = RequestReader::new(None);
    b"{\"messages\":[{\"model\":\"no\"}],\"model\":\"m\",\"x\":1}"
        .chunks(3)
        .for_each(|piece| request.push(piece));
    assert_eq!(request.model(), Some("m"));
}
