//! What a proxy changes in a list of headers, and nothing else: order, spelling and duplicates stay (14.4, PC-29).

use crate::Wire;

/// One header as it came: the value is everything behind the colon, blanks included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The name as spelled.
    pub name: &'a [u8],
    /// The value as spelled.
    pub value: &'a [u8],
}

impl Line<'_> {
    /// Whether this is the header of that lower-case name.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// The value without blanks around it.
    pub fn trimmed(&self) -> &[u8] {
        self.value.trim_ascii()
    }

    /// Whether the value is a list in which this lower-case word occurs.
    pub fn lists(&self, word: &str) -> bool {
        self.value
            .split(|byte| *byte == b',')
            .any(|part| part.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    }
}

/// Headers that speak about one connection only.
const HOP: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te"];
/// What `Connection` may not take away: without these a message means something else.
const KEPT: [&str; 10] = [
    "host",
    "content-length",
    "transfer-encoding",
    "trailer",
    "expect",
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "content-type",
    "content-encoding",
];

/// The lines that go on: without those of the connection itself and those that it names. With `upgrade` the two lines
/// that ask for a WebSocket stay.
pub fn end_to_end<'a>(lines: &[Line<'a>], upgrade: bool) -> Vec<Line<'a>> {
    let named = |line: &Line<'_>| {
        let Ok(name) = std::str::from_utf8(line.name) else { return false };
        let name = name.to_ascii_lowercase();
        !KEPT.contains(&name.as_str())
            && lines.iter().filter(|line| line.is("connection")).any(|line| line.lists(&name))
    };
    let hop = |line: &Line<'_>| HOP.iter().any(|name| line.is(name)) || line.is("upgrade") || named(line);
    let asks = |line: &Line<'_>| upgrade && (line.is("connection") || line.is("upgrade"));
    lines.iter().filter(|line| asks(line) || !hop(line)).copied().collect()
}

/// Whether the sender closes after this message.
pub fn closes(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.is("connection") && line.lists("close"))
}

/// Whether a request asks for a WebSocket.
pub fn asks_websocket(lines: &[Line<'_>]) -> bool {
    let has = |name: &str, word: &str| lines.iter().any(|line| line.is(name) && line.lists(word));
    has("connection", "upgrade") && has("upgrade", "websocket")
}

/// Name of the header that carries the key of a wire, and what stands before the key.
pub fn key_header(wire: Wire) -> (&'static str, &'static str) {
    match wire {
        Wire::Openai | Wire::Ollama => ("Authorization", "Bearer "),
        Wire::Anthropic => ("x-api-key", ""),
        Wire::Gemini => ("x-goog-api-key", ""),
    }
}

/// The value that takes a line's place when it carries the sentinel: `None` leaves the line as it is, `Some(None)` drops
/// it, because without a real key the sentinel does not leave the machine.
pub fn swapped(line: &Line<'_>, wire: Wire, sentinel: &str, key: Option<&[u8]>) -> Option<Option<Vec<u8>>> {
    if sentinel.is_empty() || memchr::memmem::find(line.value, sentinel.as_bytes()).is_none() {
        return None;
    }
    let Some(key) = key else { return Some(None) };
    let (name, before) = key_header(wire);
    if line.is(&name.to_ascii_lowercase()) {
        return Some(Some([b" ", before.as_bytes(), key].concat()));
    }
    Some(Some(replaced(line.value, sentinel.as_bytes(), key)))
}

/// A request target with the sentinel in its query replaced by the key, percent-encoded, or by nothing.
pub fn swapped_target(target: &str, sentinel: &str, key: Option<&[u8]>) -> Option<Vec<u8>> {
    if sentinel.is_empty() || !target.contains(sentinel) {
        return None;
    }
    let mut encoded = Vec::new();
    for byte in key.unwrap_or_default() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(*byte),
            other => encoded.extend(format!("%{other:02X}").into_bytes()),
        }
    }
    Some(replaced(target.as_bytes(), sentinel.as_bytes(), &encoded))
}

/// Every occurrence of `what` replaced.
pub fn replaced(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(text.len() + by.len()), 0);
    for at in memchr::memmem::find_iter(text, what) {
        out.extend_from_slice(&text[from..at]);
        out.extend_from_slice(by);
        from = at + what.len();
    }
    out.extend_from_slice(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'a>(name: &'a str, value: &'a str) -> Line<'a> {
        Line { name: name.as_bytes(), value: value.as_bytes() }
    }

    #[test]
    fn pc_29_the_list_stays_a_list() {
        let lines = [
            line("X-A", " 1"),
            line("Connection", " close, X-Hop, Content-Length"),
            line("x-a", " 2"),
            line("X-Hop", " gone"),
            line("Content-Length", " 3"),
            line("X-Empty", ""),
            line("Upgrade", " h2c"),
        ];
        let kept: Vec<&[u8]> = end_to_end(&lines, false).iter().map(|line| line.name).collect();
        assert_eq!(kept, [&b"X-A"[..], b"x-a", b"Content-Length", b"X-Empty"]);
        assert!(closes(&lines));
    }

    #[test]
    fn the_key_takes_the_sentinels_place() {
        let key = Some(&b"real"[..]);
        let of = |line: Line<'_>, wire, key| swapped(&line, wire, "sent", key);
        assert_eq!(
            of(line("AUTHORIZATION", " bearer sent"), Wire::Openai, key),
            Some(Some(b" Bearer real".to_vec()))
        );
        assert_eq!(of(line("X-Api-Key", " sent"), Wire::Anthropic, key), Some(Some(b" real".to_vec())));
        assert_eq!(
            of(line("authorization", " Bearer sent"), Wire::Anthropic, key),
            Some(Some(b" Bearer real".to_vec()))
        );
        assert_eq!(of(line("X-Other", " a-sent-b"), Wire::Openai, key), Some(Some(b" a-real-b".to_vec())));
        assert_eq!(of(line("Authorization", " Bearer sent"), Wire::Openai, None), Some(None));
        assert_eq!(of(line("Authorization", " Bearer own"), Wire::Openai, key), None);
        assert_eq!(
            swapped_target("/x?key=sent&a=1", "sent", Some(b"r/1")),
            Some(b"/x?key=r%2F1&a=1".to_vec())
        );
        assert_eq!(swapped_target("/x?key=sent", "sent", None), Some(b"/x?key=".to_vec()));
    }
}
