//! What two languages read differently, and the ways to read it.

/// How to read what two languages read differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// `\n` is the letter n (a shell), and `"a" f"b"` is one word (Python, C).
    Joined,
    /// `\n` is a blank (a string literal), and `"a" f"b"` is two words (a shell).
    Apart,
    /// `\n` is a blank, and `"a" f"b"` is one word: a program of one language.
    JoinedLiteral,
    /// `\n` is the letter n, and `"a" f"b"` is two words: a shell.
    ApartShell,
}

impl Reading {
    /// Every reading, in the order in which they are tried.
    pub const ALL: [Reading; 4] =
        [Reading::Joined, Reading::Apart, Reading::JoinedLiteral, Reading::ApartShell];

    /// Whether this reading may find more than those before it in a text with such places. One kind of place needs two
    /// readings, both kinds need all four.
    pub fn adds(self, seen: Ambiguous) -> bool {
        match self {
            Reading::Joined => true,
            Reading::Apart => seen.escapes || seen.literals,
            Reading::JoinedLiteral | Reading::ApartShell => seen.escapes && seen.literals,
        }
    }

    pub(super) fn joins(self) -> bool {
        matches!(self, Reading::Joined | Reading::JoinedLiteral)
    }

    pub(super) fn blank_escapes(self) -> bool {
        matches!(self, Reading::Apart | Reading::JoinedLiteral)
    }
}

/// Places of a text that two languages read differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ambiguous {
    /// `\n`, `\t`, `\r`.
    pub escapes: bool,
    /// Two literals with a blank or a prefix between them.
    pub literals: bool,
}

impl Ambiguous {
    /// Either.
    pub fn or(self, other: Ambiguous) -> Ambiguous {
        Ambiguous { escapes: self.escapes || other.escapes, literals: self.literals || other.literals }
    }
}

/// Length of the letters in front of a literal that `bytes` begins with: `f"`, `rb'`.
pub(super) fn literal_prefix(bytes: &[u8]) -> usize {
    let letter = |byte: &u8| matches!(byte, b'f' | b'r' | b'b' | b'u' | b'F' | b'R' | b'B' | b'U');
    match bytes {
        [a, b'"' | b'\'', ..] if letter(a) => 1,
        [a, b, b'"' | b'\'', ..] if letter(a) && letter(b) => 2,
        _ => 0,
    }
}
