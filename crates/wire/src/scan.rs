//! A scanner of JSON that holds a path and one short value, however long the document is. It finds members by name, it
//! does not validate: what is forwarded is not ours to judge, and a body that a strict reader refuses still says "error".

/// Deepest object whose members are looked at; arrays do not count.
const DEPTH_MAX: usize = 4;
/// Longest key that is told from others, in bytes.
const KEY_MAX: usize = 24;
/// Longest value that is kept, in bytes.
const VALUE_MAX: usize = 256;
/// Deepest nesting whose kinds of brackets are remembered; below only their number is.
const NESTING_MAX: u32 = 64;

/// A value that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf<'a> {
    /// A string without its escapes undone; cut after 256 bytes.
    Str(&'a [u8]),
    /// A number, `true`, `false` or `null`.
    Bare(&'a [u8]),
    /// An object or an array begins.
    Nested,
}

/// Receives the members of a document: names from the root on, elements of arrays under the name of their array.
pub(crate) trait Sink {
    /// A member.
    fn leaf(&mut self, path: &[&[u8]], leaf: Leaf<'_>);
}

#[derive(Clone, Copy, Debug, Default)]
struct Key {
    bytes: [u8; KEY_MAX],
    /// Over the maximum for a key that equals no name.
    length: usize,
}

impl Key {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
        }
        self.length = (self.length + 1).min(KEY_MAX + 1);
    }

    fn name(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Nothing,
    Key,
    Str,
    Bare,
}

/// The scanner. One for each document; [`Scan::reset`] starts the next.
#[derive(Debug)]
pub(crate) struct Scan {
    within: Within,
    escaped: bool,
    /// Open brackets.
    nesting: u32,
    /// A bit for each of them: set for an object.
    objects: u64,
    /// Open objects among them, and the key that is current in each of the first ones.
    depth: usize,
    keys: [Key; DEPTH_MAX],
    /// Before the colon of a member.
    expects_key: bool,
    value: Vec<u8>,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            within: Within::Nothing,
            escaped: false,
            nesting: 0,
            objects: 0,
            depth: 0,
            keys: [Key::default(); DEPTH_MAX],
            expects_key: false,
            value: Vec::new(),
        }
    }
}

impl Scan {
    /// Forgets the document.
    pub(crate) fn reset(&mut self) {
        let mut value = std::mem::take(&mut self.value);
        value.clear();
        *self = Scan { value, ..Scan::default() };
    }

    /// Reads on.
    pub(crate) fn push(&mut self, piece: &[u8], sink: &mut impl Sink) {
        let mut at = 0;
        while at < piece.len() {
            at += match self.within {
                Within::Nothing => self.outside(piece[at], sink),
                Within::Bare => self.bare(piece[at], sink),
                Within::Key | Within::Str => self.string(&piece[at..], sink),
            };
        }
    }

    /// The document ends: a bare value has no end of its own.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) {
        if self.within == Within::Bare {
            self.tell(sink);
        }
    }

    fn in_object(&self) -> bool {
        let known = (1..=NESTING_MAX).contains(&self.nesting);
        known && self.objects >> (self.nesting - 1) & 1 == 1
    }

    /// One byte between strings; gives the number of bytes used.
    fn outside(&mut self, byte: u8, sink: &mut impl Sink) -> usize {
        match byte {
            b'{' | b'[' => {
                if self.depth > 0 {
                    self.give(Leaf::Nested, sink);
                }
                self.open(byte == b'{');
            }
            b'}' | b']' => self.close(),
            b'"' if self.expects_key && self.in_object() => {
                self.within = Within::Key;
                if let Some(key) = self.depth.checked_sub(1).and_then(|depth| self.keys.get_mut(depth)) {
                    key.length = 0;
                }
            }
            b'"' => self.within = Within::Str,
            b':' => self.expects_key = false,
            b',' => self.expects_key = self.in_object(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                self.within = Within::Bare;
                self.value.push(byte);
            }
        }
        1
    }

    fn open(&mut self, object: bool) {
        self.nesting = self.nesting.saturating_add(1);
        if self.nesting <= NESTING_MAX {
            let bit = 1 << (self.nesting - 1);
            self.objects = if object { self.objects | bit } else { self.objects & !bit };
            self.depth += usize::from(object);
            if let Some(key) =
                self.depth.checked_sub(1).and_then(|depth| self.keys.get_mut(depth)).filter(|_| object)
            {
                key.length = 0;
            }
        }
        self.expects_key = object;
    }

    fn close(&mut self) {
        if self.in_object() {
            self.depth = self.depth.saturating_sub(1);
        }
        self.nesting = self.nesting.saturating_sub(1);
        self.expects_key = false;
    }

    /// A byte of a bare value, or the one behind it, which is not used.
    fn bare(&mut self, byte: u8, sink: &mut impl Sink) -> usize {
        if matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n') {
            self.tell(sink);
            return 0;
        }
        if self.value.len() < VALUE_MAX {
            self.value.push(byte);
        }
        1
    }

    /// Bytes of a string up to its end or that of the piece.
    fn string(&mut self, rest: &[u8], sink: &mut impl Sink) -> usize {
        if std::mem::take(&mut self.escaped) {
            self.keep(&rest[..1]);
            return 1;
        }
        let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        self.keep(&rest[..run]);
        match rest.get(run) {
            None => run,
            Some(b'\\') => {
                self.escaped = true;
                self.keep(b"\\");
                run + 1
            }
            Some(_) => {
                if self.within == Within::Str {
                    self.tell(sink);
                }
                self.within = Within::Nothing;
                run + 1
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.within == Within::Str {
            let room = VALUE_MAX - self.value.len();
            self.value.extend_from_slice(&bytes[..bytes.len().min(room)]);
        } else if let Some(key) = self.depth.checked_sub(1).and_then(|depth| self.keys.get_mut(depth)) {
            for byte in bytes.iter().take(KEY_MAX + 1) {
                key.push(*byte);
            }
        }
    }

    /// Tells the value that just ended.
    fn tell(&mut self, sink: &mut impl Sink) {
        let value = std::mem::take(&mut self.value);
        let leaf = if self.within == Within::Str { Leaf::Str(&value) } else { Leaf::Bare(&value) };
        self.give(leaf, sink);
        self.within = Within::Nothing;
        self.value = value;
        self.value.clear();
    }

    fn give(&self, leaf: Leaf<'_>, sink: &mut impl Sink) {
        if self.depth == 0 || self.depth > DEPTH_MAX || self.nesting > NESTING_MAX {
            return;
        }
        let mut path: [&[u8]; DEPTH_MAX] = [&[]; DEPTH_MAX];
        for (name, key) in path.iter_mut().zip(&self.keys[..self.depth]) {
            *name = key.name();
        }
        sink.leaf(&path[..self.depth], leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Sink for Seen {
        fn leaf(&mut self, path: &[&[u8]], leaf: Leaf<'_>) {
            let path: Vec<_> = path.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
            let leaf = match leaf {
                Leaf::Str(text) => format!("\"{}\"", String::from_utf8_lossy(text)),
                Leaf::Bare(text) => String::from_utf8_lossy(text).into_owned(),
                Leaf::Nested => "…".to_owned(),
            };
            self.0.push(format!("{}={leaf}", path.join(".")));
        }
    }

    fn seen(text: &str, size: usize) -> String {
        let (mut scan, mut seen) = (Scan::default(), Seen::default());
        text.as_bytes().chunks(size).for_each(|piece| scan.push(piece, &mut seen));
        scan.finish(&mut seen);
        seen.0.join(" ")
    }

    #[test]
    fn members_by_path_in_pieces_of_any_size() {
        let text = r#"{"model":"m\"x","a":[{"b":1},{"b":"é"}],"error":null,"u":{"v":{"w":{"x":{"deep":1}}}},"z":true}"#;
        let want =
            "model=\"m\\\"x\" a=… a=… a.b=1 a=… a.b=\"é\" error=null u=… u.v=… u.v.w=… u.v.w.x=… z=true";
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(seen(text, size), want, "pieces of {size}");
        }
    }

    #[test]
    fn a_text_that_looks_like_members_is_text() {
        assert_eq!(seen(r#"{"t":"{\"error\":{}}","n":-1.5e3}"#, 4), r#"t="{\"error\":{}}" n=-1.5e3"#);
    }

    #[test]
    fn nonsense_is_survived() {
        for text in ["}}}}]]]]{\"a\":1}", "\"\\", "{\"a\"", "[[[[", ":::,,,", "{,\"a\":}"] {
            seen(text, 1);
        }
        seen(&"[".repeat(100_000), 1000);
        seen(&"{\"a\":".repeat(100_000), 999);
    }
}
