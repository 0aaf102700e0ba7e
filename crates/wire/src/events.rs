//! Server-sent events and lines of JSON, read in pieces of any size with a bounded memory (PC-22, PC-23). The data of an
//! event goes on as it comes; only its first bytes and its name are kept.

/// Longest name of an event that is kept, in bytes.
const NAME_MAX: usize = 64;
/// First bytes of the data that are kept: enough for `[DONE]`.
pub(crate) const HEAD_MAX: usize = 16;

/// Receives what an event stream says.
pub(crate) trait Events {
    /// Bytes of the data of the event that is being read.
    fn data(&mut self, bytes: &[u8]);
    /// The event ends. `head` is the beginning of its data; data that is just `[DONE]` is all there.
    fn end(&mut self, name: &[u8], head: &[u8]);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Bytes of a mark that may stand at the very beginning.
    Mark(u8),
    LineStart,
    Field,
    /// Behind the colon of `data` or `event`: one blank is no part of the value.
    Blank(Value),
    Value(Value),
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Data,
    Name,
}

/// Reader of server-sent events: LF, CR LF and CR end a line, comments are nothing, a blank behind the colon may be
/// missing, and so may the blank line behind the last event.
#[derive(Debug)]
pub(crate) struct Sse {
    at: At,
    /// The last byte was a carriage return that ended a line.
    after_cr: bool,
    field: Vec<u8>,
    name: Vec<u8>,
    head: Vec<u8>,
    has_data: bool,
}

const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Default for Sse {
    fn default() -> Sse {
        Sse {
            at: At::Mark(0),
            after_cr: false,
            field: Vec::new(),
            name: Vec::new(),
            head: Vec::new(),
            has_data: false,
        }
    }
}

impl Sse {
    /// Reads on.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut impl Events) {
        let mut at = 0;
        while at < piece.len() {
            let byte = piece[at];
            // CR LF is one end of a line, also when a piece ends between the two.
            if std::mem::take(&mut self.after_cr) && byte == b'\n' {
                at += 1;
                continue;
            }
            if let At::Mark(seen) = self.at {
                if MARK.get(usize::from(seen)) == Some(&byte) {
                    self.at = if seen == 2 { At::LineStart } else { At::Mark(seen + 1) };
                    at += 1;
                } else {
                    self.at = At::LineStart;
                }
                continue;
            }
            let run = memchr::memchr2(b'\r', b'\n', &piece[at..]).unwrap_or(piece.len() - at);
            if run > 0 {
                self.text(&piece[at..at + run], out);
                at += run;
            }
            if at < piece.len() {
                self.after_cr = piece[at] == b'\r';
                self.line_end(out);
                at += 1;
            }
        }
    }

    /// The stream ends. An event without its blank line counts (PC-23).
    pub(crate) fn finish(&mut self, out: &mut impl Events) {
        if self.at != At::LineStart {
            self.line_end(out);
        }
        self.dispatch(out);
    }

    fn text(&mut self, mut text: &[u8], out: &mut impl Events) {
        while let Some((byte, rest)) = text.split_first() {
            match self.at {
                At::LineStart | At::Field | At::Mark(_) if *byte == b':' => {
                    self.at = match &self.field[..] {
                        b"data" => {
                            if std::mem::replace(&mut self.has_data, true) {
                                self.data(b"\n", out);
                            }
                            At::Blank(Value::Data)
                        }
                        b"event" => {
                            self.name.clear();
                            At::Blank(Value::Name)
                        }
                        _ => At::Skip,
                    };
                    self.field.clear();
                }
                At::LineStart | At::Field | At::Mark(_) => {
                    self.at = if self.field.len() < NAME_MAX { At::Field } else { At::Skip };
                    self.field.push(*byte);
                }
                At::Blank(value) => {
                    self.at = At::Value(value);
                    if *byte != b' ' {
                        continue;
                    }
                }
                At::Value(Value::Data) => return self.data(text, out),
                At::Value(Value::Name) => {
                    let room = NAME_MAX - self.name.len();
                    return self.name.extend_from_slice(&text[..text.len().min(room)]);
                }
                At::Skip => return,
            }
            text = rest;
        }
    }

    fn data(&mut self, bytes: &[u8], out: &mut impl Events) {
        let room = HEAD_MAX - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        out.data(bytes);
    }

    fn line_end(&mut self, out: &mut impl Events) {
        if self.at == At::LineStart {
            self.dispatch(out);
        }
        self.field.clear();
        self.at = At::LineStart;
    }

    fn dispatch(&mut self, out: &mut impl Events) {
        if self.has_data {
            out.end(&self.name, &self.head);
        }
        self.name.clear();
        self.head.clear();
        self.has_data = false;
    }
}

/// Reader of lines of JSON: each line that is not blank is an event without a name.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    head: Vec<u8>,
}

impl Lines {
    /// Reads on.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut impl Events) {
        for (index, part) in piece.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.finish(out);
            }
            if !self.head.is_empty() || part.iter().any(|byte| !byte.is_ascii_whitespace()) {
                let room = HEAD_MAX - self.head.len();
                self.head.extend_from_slice(&part[..part.len().min(room)]);
                out.data(part);
            }
        }
    }

    /// The line or the stream ends.
    pub(crate) fn finish(&mut self, out: &mut impl Events) {
        if !self.head.is_empty() {
            out.end(b"", &self.head);
            self.head.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        data: Vec<u8>,
        events: Vec<(String, String)>,
    }

    impl Events for Seen {
        fn data(&mut self, bytes: &[u8]) {
            self.data.extend_from_slice(bytes);
        }

        fn end(&mut self, name: &[u8], head: &[u8]) {
            assert!(self.data.starts_with(head));
            let data = String::from_utf8_lossy(&std::mem::take(&mut self.data)).into_owned();
            self.events.push((String::from_utf8_lossy(name).into_owned(), data));
        }
    }

    fn events(text: &[u8], size: usize) -> Vec<(String, String)> {
        let (mut sse, mut seen) = (Sse::default(), Seen::default());
        text.chunks(size).for_each(|piece| sse.push(piece, &mut seen));
        sse.finish(&mut seen);
        seen.events
    }

    #[test]
    fn pc_23_every_spelling_is_the_same_events() {
        let plain = "event: a\ndata: one\n\ndata: two\ndata: more\n\ndata: [DONE]\n\n";
        let want = events(plain.as_bytes(), 1000);
        assert_eq!(want.len(), 3);
        assert_eq!(want[1].1, "two\nmore");
        let spellings = [
            plain.to_owned(),
            plain.replace('\n', "\r\n"),
            plain.replace('\n', "\r"),
            plain.replace("data: ", "data:").replace("event: ", "event:"),
            format!("\u{feff}{plain}"),
            plain.replace("\n\n", "\n\n: ping\n\n:\nid: 7\nretry: 10\nunknown\n"),
            plain.trim_end().to_owned(),
            format!("{}\n", plain.trim_end()),
        ];
        for spelling in &spellings {
            for size in 1..12 {
                assert_eq!(events(spelling.as_bytes(), size), want, "{spelling:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn lines_of_json() {
        let (mut lines, mut seen) = (Lines::default(), Seen::default());
        for piece in ["{\"a\"", ":1}\r\n\n  \n{\"b\":2}\n{\"c\"", ":3}"] {
            lines.push(piece.as_bytes(), &mut seen);
        }
        lines.finish(&mut seen);
        let data: Vec<&str> = seen.events.iter().map(|(_, data)| data.trim()).collect();
        assert_eq!(data, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
    }
}
