//! One spelling for what can be spelled in many ways (K-2): the text in which danger patterns are sought.
//!
//! A machine over characters that writes into a stack: what it appends may complete something that it takes back
//! (`%6f`, `\x6f`, `" + "`, `${IFS}`). Each such step shortens the stack by what it read, so the time is linear and the
//! result never longer than three bytes a character. The result holds no quote and no backslash, so that normalising
//! twice changes nothing. What is covered is listed in `docs/kernel.md`.

use super::lookalike::{Folded, fold};
use super::reading::literal_prefix;
pub use super::reading::{Ambiguous, Reading};

/// Normalised texts, one behind the other, each ended by a zero byte.
#[derive(Debug, Default)]
pub struct Normal {
    /// The texts.
    pub bytes: Vec<u8>,
    /// Where something was left out that separates words: quotes, and blanks behind a full stop. Ascending.
    gaps: Vec<usize>,
    /// Where each text begins.
    pub(super) starts: Vec<usize>,
    /// Another reading would give another result.
    pub ambiguous: Ambiguous,
    /// First text with a bidirectional control, an invisible character, U+FFFD.
    pub(super) distorted: [Option<usize>; 3],
}

/// Indexes of `Normal::distorted`.
pub(super) const BIDI: usize = 0;
pub(super) const INVISIBLE: usize = 1;
pub(super) const LOST: usize = 2;

impl Normal {
    /// Forgets everything and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.gaps.clear();
        self.starts.clear();
        self.ambiguous = Ambiguous::default();
        self.distorted = [None; 3];
    }

    /// Appends one text.
    pub fn push(&mut self, text: &str, reading: Reading) {
        self.starts.push(self.bytes.len());
        self.extend([text].into_iter(), reading);
        self.bytes.push(0);
    }

    /// Appends several texts as one, with a blank between them: an argument list.
    pub(super) fn push_words<'a>(&mut self, texts: impl Iterator<Item = &'a str>, reading: Reading) {
        self.starts.push(self.bytes.len());
        self.extend(texts, reading);
        self.bytes.push(0);
    }

    fn extend<'a>(&mut self, texts: impl Iterator<Item = &'a str>, reading: Reading) {
        let base = self.bytes.len();
        let mut machine = Machine {
            text: self,
            base,
            reading,
            slow_until: 0,
            escape: Escape::None,
            escape_at: base,
            joint: Joint::None,
            joint_at: base,
        };
        for (index, text) in texts.enumerate() {
            if index > 0 {
                machine.step(b' ');
            }
            machine.feed(text);
            if machine.escape != Escape::None {
                machine.abandon();
            }
            machine.joint = Joint::None;
        }
    }

    /// Whether something that separates words was left out at `at`.
    pub(super) fn is_gap(&self, at: usize) -> bool {
        self.gaps.binary_search(&at).is_ok()
    }

    /// Which text the byte at `at` belongs to.
    pub(super) fn text_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }
}

/// How far an escape has been read. Its bytes stand at the end of the stack, backslash first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    None,
    Slash,
    Hex(u8),
    Unicode(u8),
    /// `\U`, which has eight digits.
    Long(u8),
    Braced(u8),
    Octal(u8),
}

/// What stands between the last quote and here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    None,
    Quote,
    Plus,
    Comma,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Blank,
    Quote,
    Slash,
    /// `+`, which may join two literals.
    Plus,
    /// `%` and `$`, which may begin something.
    Mark,
    /// Blanks on either side of it mean nothing.
    Tight,
    Dropped,
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => Class::Blank,
            0..=0x1f | 0x7f => Class::Dropped,
            b'"' | b'\'' | b'`' => Class::Quote,
            b'\\' => Class::Slash,
            b'+' => Class::Plus,
            b'%' | b'$' => Class::Mark,
            b'.' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b'|' | b'&' | b'=' | b'<'
            | b'>' | b':' => Class::Tight,
            0x80..=0xff => Class::Wide,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// What [`words`] does with a byte: 0 takes it, 1 takes it behind a 0, 2 ends.
const IN_WORDS: [u8; 256] = {
    let mut kinds = [2; 256];
    let mut byte = 0;
    while byte < 256 {
        if matches!(CLASSES[byte], Class::Plain) {
            kinds[byte] = 0;
        }
        byte += 1;
    }
    kinds[b' ' as usize] = 1;
    kinds
};

/// Length of the words with single blanks between them that `bytes` begins with: they are copied as they are.
fn words(bytes: &[u8]) -> usize {
    let mut before = 1;
    for (at, byte) in bytes.iter().enumerate() {
        let kind = IN_WORDS[usize::from(*byte)];
        if kind & (before | 2) != 0 {
            return at;
        }
        before = kind;
    }
    bytes.len()
}

/// Longest thing that an appended byte can complete, without its last byte: `$if`.
const REACH: usize = 3;

struct Machine<'a> {
    text: &'a mut Normal,
    base: usize,
    reading: Reading,
    /// Below this length an appended byte may complete something.
    slow_until: usize,
    escape: Escape,
    escape_at: usize,
    joint: Joint,
    joint_at: usize,
}

impl Machine<'_> {
    fn len(&self) -> usize {
        self.text.bytes.len()
    }

    fn feed(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            // Without a blank before it, it may be what a quote encloses: `r'f'`.
            let behind_blank = at > 0 && class(bytes[at - 1]) == Class::Blank;
            if self.joint == Joint::Plus || (self.joint == Joint::Quote && behind_blank) {
                let prefix = literal_prefix(&bytes[at..]);
                if prefix > 0 {
                    self.text.ambiguous.literals = true;
                    if self.reading.joins() {
                        at += prefix;
                    }
                }
            }
            if self.escape == Escape::None && self.len() >= self.slow_until {
                let end = at + words(&bytes[at..]);
                if end > at {
                    self.joint = Joint::None;
                    self.text.bytes.extend(bytes[at..end].iter().map(u8::to_ascii_lowercase));
                    at = end;
                    continue;
                }
            }
            if bytes[at] == b'U' && self.escape == Escape::Slash {
                self.keep(b'u', Escape::Long(0));
                at += 1;
            } else if bytes[at] < 0x80 {
                self.step(bytes[at].to_ascii_lowercase());
                at += 1;
            } else if let Some(ch) = text[at..].chars().next() {
                self.wide(ch);
                at += ch.len_utf8();
            }
        }
    }

    /// Takes one character that is not ASCII.
    fn wide(&mut self, ch: char) {
        let text = self.text.starts.len().saturating_sub(1);
        let mut seen = |kind: usize| {
            self.text.distorted[kind].get_or_insert(text);
        };
        match fold(ch) {
            Folded::Ascii(byte) => self.step(byte.to_ascii_lowercase()),
            Folded::Blank => self.step(b' '),
            Folded::Invisible => seen(INVISIBLE),
            Folded::Bidi => seen(BIDI),
            Folded::Lost => seen(LOST),
            Folded::Other => {
                if self.escape != Escape::None {
                    self.abandon();
                }
                self.joint = Joint::None;
                self.text.bytes.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    /// Takes one ASCII byte, and whatever it stands for until nothing is completed any more.
    fn step(&mut self, byte: u8) {
        let mut next = self.once(byte);
        while let Some(ch) = next {
            if ch.is_ascii() {
                next = self.once((ch as u8).to_ascii_lowercase());
            } else {
                // A decoded wide character folds to at most one ASCII byte, which may complete something again.
                next = match fold(ch) {
                    Folded::Ascii(byte) => self.once(byte.to_ascii_lowercase()),
                    _ => {
                        self.wide(ch);
                        None
                    }
                };
            }
        }
    }

    /// Takes one byte; returns the character that it completed, which is then to be taken in its place.
    fn once(&mut self, byte: u8) -> Option<char> {
        if self.escape != Escape::None {
            match self.escaped(byte) {
                Taken::Yes => return None,
                Taken::Decoded(ch) => return Some(ch),
                Taken::No => self.abandon(),
            }
        }
        match class(byte) {
            Class::Blank => self.blank(),
            Class::Quote => self.quote(),
            Class::Slash => {
                self.escape = Escape::Slash;
                self.escape_at = self.len();
                self.text.bytes.push(byte);
            }
            Class::Plus => {
                self.joint = if self.joint == Joint::Quote { Joint::Plus } else { Joint::None };
                self.text.bytes.push(byte);
            }
            Class::Mark => {
                self.joint = Joint::None;
                self.text.bytes.push(byte);
                self.slow_until = self.len() + REACH;
            }
            Class::Tight => return self.tight(byte),
            Class::Plain => {
                self.joint = Joint::None;
                self.text.bytes.push(byte);
                if self.len() <= self.slow_until {
                    return self.completed();
                }
            }
            Class::Dropped | Class::Wide => {}
        }
        None
    }

    fn last(&self) -> Option<u8> {
        self.text.bytes[self.base..].last().copied()
    }

    fn blank(&mut self) {
        match self.last() {
            None | Some(b' ') => {}
            Some(b'.') => self.gap(),
            Some(last) if class(last) == Class::Tight => {}
            Some(_) => self.text.bytes.push(b' '),
        }
    }

    fn gap(&mut self) {
        let at = self.len();
        // What was taken back since may have left gaps behind the end.
        while self.text.gaps.last().is_some_and(|gap| *gap >= at) {
            self.text.gaps.pop();
        }
        self.text.gaps.push(at);
    }

    fn tight(&mut self, byte: u8) -> Option<char> {
        self.joint = if self.joint == Joint::Quote && byte == b',' { Joint::Comma } else { Joint::None };
        if self.last() == Some(b' ') {
            self.text.bytes.pop();
        }
        self.text.bytes.push(byte);
        if byte == b'}' && self.text.bytes[self.base..].ends_with(b"${ifs}") {
            self.shorten(self.len() - 6);
            return Some(' ');
        }
        if byte == b'}'
            && [&b"${@}"[..], b"${*}"].iter().any(|empty| self.text.bytes[self.base..].ends_with(empty))
        {
            self.shorten(self.len() - 4);
        }
        None
    }

    /// Quotes are left out. Between two of them a plus is a concatenation, a comma separates arguments.
    fn quote(&mut self) {
        match self.joint {
            Joint::Quote if self.len() > self.joint_at => {
                self.text.ambiguous.literals = true;
                if self.reading.joins() {
                    self.shorten(self.joint_at);
                }
            }
            Joint::Plus => self.shorten(self.joint_at),
            Joint::Comma => {
                self.shorten(self.joint_at);
                self.blank();
            }
            Joint::None | Joint::Quote => {}
        }
        self.joint = Joint::Quote;
        self.joint_at = self.len();
        self.gap();
    }

    fn shorten(&mut self, len: usize) {
        self.text.bytes.truncate(len.max(self.base));
        self.slow_until = self.len() + REACH;
    }

    /// What the byte that was just appended completed.
    fn completed(&mut self) -> Option<char> {
        let stack = &self.text.bytes[self.base..];
        let len = self.len();
        match *stack {
            [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let value = hex(high) * 16 + hex(low);
                self.shorten(len - 3);
                char::from_u32(value)
            }
            [.., b'$', b'i', b'f', b's'] => {
                self.shorten(len - 4);
                Some(' ')
            }
            [.., b'$', b'@' | b'*'] => {
                self.shorten(len - 2);
                None
            }
            _ => None,
        }
    }

    fn keep(&mut self, byte: u8, escape: Escape) -> Taken {
        self.text.bytes.push(byte);
        self.escape = escape;
        Taken::Yes
    }

    fn escaped(&mut self, byte: u8) -> Taken {
        let digit = byte.is_ascii_hexdigit();
        match self.escape {
            Escape::Slash => self.slashed(byte),
            Escape::Hex(1) if digit => self.decoded(byte, 16, 2),
            Escape::Hex(n) if digit => self.keep(byte, Escape::Hex(n + 1)),
            Escape::Unicode(3) | Escape::Long(7) if digit => self.decoded(byte, 16, 2),
            Escape::Long(n) if digit => self.keep(byte, Escape::Long(n + 1)),
            Escape::Unicode(n) if digit => self.keep(byte, Escape::Unicode(n + 1)),
            Escape::Unicode(0) if byte == b'{' => self.keep(byte, Escape::Braced(0)),
            Escape::Braced(n) if digit && n < 6 => self.keep(byte, Escape::Braced(n + 1)),
            Escape::Braced(1..) if byte == b'}' => self.decoded(b'}', 16, 3),
            Escape::Octal(2) if matches!(byte, b'0'..=b'7') => self.decoded(byte, 8, 1),
            Escape::Octal(n) if matches!(byte, b'0'..=b'7') => self.keep(byte, Escape::Octal(n + 1)),
            _ => Taken::No,
        }
    }

    /// The byte behind a backslash.
    fn slashed(&mut self, byte: u8) -> Taken {
        match byte {
            b'x' => self.keep(byte, Escape::Hex(0)),
            b'u' => self.keep(byte, Escape::Unicode(0)),
            b'0'..=b'7' => self.keep(byte, Escape::Octal(1)),
            // A line that goes on.
            b'\r' => Taken::Yes,
            b'\n' => {
                self.drop_escape();
                Taken::Yes
            }
            b'n' | b't' | b'r' => {
                self.text.ambiguous.escapes = true;
                if !self.reading.blank_escapes() {
                    return Taken::No;
                }
                self.drop_escape();
                Taken::Decoded(' ')
            }
            _ => Taken::No,
        }
    }

    fn drop_escape(&mut self) {
        self.escape = Escape::None;
        self.shorten(self.escape_at);
    }

    /// The character of an escape whose digits begin `skip` bytes behind its backslash and end with `last`.
    fn decoded(&mut self, last: u8, radix: u32, skip: usize) -> Taken {
        let digits = self.text.bytes[self.escape_at + skip..].iter().copied().chain([last]);
        let value = digits.filter(u8::is_ascii_hexdigit).fold(0, |value, digit| value * radix + hex(digit));
        self.drop_escape();
        // Half of a surrogate pair stands for nothing.
        char::from_u32(value).map_or(Taken::Yes, Taken::Decoded)
    }

    /// It was no escape: the backslash goes, what followed it is taken as it is.
    fn abandon(&mut self) {
        let mut pending = [0; 12];
        let read = &self.text.bytes[self.escape_at + 1..];
        let count = read.len().min(pending.len());
        pending[..count].copy_from_slice(&read[..count]);
        self.drop_escape();
        for byte in &pending[..count] {
            self.step(*byte);
        }
    }
}

enum Taken {
    Yes,
    No,
    Decoded(char),
}

fn hex(digit: u8) -> u32 {
    (digit as char).to_digit(16).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str, reading: Reading) -> String {
        let mut normal = Normal::default();
        normal.push(text, reading);
        normal.bytes.pop();
        String::from_utf8(normal.bytes).unwrap()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(normal(text, Reading::Joined), expected, "{text:?}");
    }

    #[test]
    fn one_spelling() {
        check("OS . System ( 'x' )", "os.system(x)");
        check("\"os.sys\" + \"tem\"", "os.system");
        check("'o''s'.\"sys\" \"tem\"", "os.system");
        check("r\\m -r\"\"f  /", "rm -rf /");
        check("r\"m\" -r'f'\t/", "rm -rf /");
        check("rm${IFS}-rf$IFS/", "rm -rf /");
        check("r$@m -rf /", "rm -rf /");
        check("r${@}m ${*}-rf /", "rm -rf /");
        check("\\U0000006fs.system", "os.system");
        check("C:\\Users", "c:users");
        check("\"os.sys\" f\"tem\"+rb'(1)'", "os.system(1)");
        check("\\x6f\\u0073.\\u{73}ystem", "os.system");
        check("%6f%73.system", "os.system");
        check("\\157s.system", "os.system");
        check("%256f", "o");
        check("оѕ.ｓｙｓ\u{200b}tem", "os.system");
        check("rm \\\n -rf /", "rm -rf /");
        check("[\"rm\", \"-rf\", \"/\"]", "[rm -rf /]");
        check("curl x | sh", "curl x|sh");
        check("100% of 5", "100% of 5");
        check("a\\", "a");
        check("%\\66z", "fz");
        check("語 x", "語 x");
    }

    #[test]
    fn what_two_languages_read_differently() {
        let text = "x\\nos.system";
        assert_eq!(normal(text, Reading::Joined), "xnos.system");
        assert_eq!(normal(text, Reading::Apart), "x os.system");
        assert_eq!(normal("\"rm\" \"-rf\"", Reading::Apart), "rm -rf");
        assert_eq!(normal("\"rm\" f\"-rf\"", Reading::Apart), "rm f-rf");
        let text = "\"echo hi\\nr\" \"m -rf /\"";
        assert_eq!(normal(text, Reading::JoinedLiteral), "echo hi rm -rf /");
        assert_eq!(normal(text, Reading::ApartShell), "echo hinr m -rf /");
    }

    #[test]
    fn nested_codes_do_not_recurse() {
        let text = format!("{}6", "%3".repeat(200_000));
        assert_eq!(normal(&text, Reading::Joined).len(), 1);
    }

    /// Characters that do something, more often than others.
    fn tricky() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[ -~]",
            Just("\\".to_owned()),
            Just("\\x6".to_owned()),
            Just("\\u00".to_owned()),
            Just("\\u{".to_owned()),
            Just("%".to_owned()),
            Just("%6".to_owned()),
            Just("$".to_owned()),
            Just("$if".to_owned()),
            Just("${ifs".to_owned()),
            Just("\" + '".to_owned()),
            Just("\" f'".to_owned()),
            Just("\\U0000".to_owned()),
            Just("${@}".to_owned()),
            Just("\\n".to_owned()),
            Just("', \"".to_owned()),
            Just(" . ".to_owned()),
            Just("\u{200b}".to_owned()),
            Just("ѕ".to_owned()),
            Just("語".to_owned()),
            "[0-9a-f]",
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn twice_is_once_and_never_longer(text in tricky()) {
            for reading in Reading::ALL {
                let once = normal(&text, reading);
                prop_assert_eq!(&normal(&once, reading), &once);
                prop_assert!(once.len() <= text.len() + 1, "{} {}", once.len(), text.len());
                prop_assert!(!once.contains(['"', '\'', '\\', '`']));
            }
        }
    }
}
