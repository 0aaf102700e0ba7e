//! Answers of the proxy itself.

use wire::CallError;

/// Status and phrase.
pub(crate) fn status(error: CallError) -> (u16, &'static str) {
    match error {
        CallError::NonModelPath => (403, "Forbidden"),
        CallError::CallLimit | CallError::ByteLimit => (429, "Too Many Requests"),
        CallError::Upgrade => (426, "Upgrade Required"),
        CallError::Stopped => (503, "Service Unavailable"),
        CallError::Method => (405, "Method Not Allowed"),
        CallError::Version => (505, "HTTP Version Not Supported"),
        CallError::HeadTooLarge => (431, "Request Header Fields Too Large"),
        CallError::HeadMalformed
        | CallError::FramingAmbiguous
        | CallError::Target
        | CallError::RequestMalformed
        | CallError::RequestCut => (400, "Bad Request"),
        CallError::Sink
        | CallError::UpstreamName
        | CallError::UpstreamConnect
        | CallError::UpstreamTls
        | CallError::UpstreamClosed
        | CallError::UpstreamMalformed
        | CallError::UpstreamCut
        | CallError::NotStored
        | CallError::KeyInAnswer => (502, "Bad Gateway"),
    }
}

/// What a person reads in the agent's output: the cause and the way out.
fn sentence(error: CallError) -> &'static str {
    match error {
        CallError::Sink => {
            "No upstream was named for this kind of call, so the recording proxy sent it nowhere. Name the model server, or allow the provider's public address."
        }
        CallError::NonModelPath => "The recording proxy of this enclosure passes on paths of models only.",
        CallError::CallLimit => "This run has used up its calls.",
        CallError::ByteLimit => "This run has used up its bytes.",
        CallError::Stopped => "The run is over; the recording proxy passes nothing on any more.",
        CallError::NotStored => {
            "The recording proxy cannot write to its disk and passes nothing on without a record."
        }
        CallError::Upgrade => "There is no WebSocket here; the same call over HTTP is passed on.",
        _ => "The recording proxy could not read this request, or could read it in two ways.",
    }
}

/// The body that explains a refusal.
pub(crate) fn explanation(error: CallError) -> Vec<u8> {
    let inner = canon::Object::new()
        .with("type", "recording_proxy")
        .with("code", error.code())
        .with("message", sentence(error));
    canon::compact_ascii(&canon::Object::new().with("error", inner).into())
}

/// The head and the body. An answer to HEAD has none.
pub(crate) fn answer(error: CallError, body: &[u8], method: &str, close: bool) -> Vec<u8> {
    let (status, phrase) = status(error);
    let mut out = format!("HTTP/1.1 {status} {phrase}\r\n");
    if error == CallError::Upgrade {
        out.push_str("Upgrade: HTTP/1.1\r\n");
    }
    if !body.is_empty() {
        out.push_str("Content-Type: application/json\r\n");
    }
    out.push_str(&format!("Content-Length: {}\r\n", body.len()));
    out.push_str(match (close, error) {
        (true, _) => "Connection: close\r\n\r\n",
        (false, CallError::Upgrade) => "Connection: Upgrade\r\n\r\n",
        (false, _) => "\r\n",
    });
    let mut out = out.into_bytes();
    if method != "HEAD" {
        out.extend_from_slice(body);
    }
    out
}
