//! Tokens of Python 3.11, as far as expressions need them.

use super::scan::{number, string};
use super::unicode::{identifier_part, identifier_start};
use super::{BigInt, LiteralError, Text, syntax};
use canon::Float;

/// Open brackets at once; Python's own limit.
const BRACKETS_MAX: usize = 200;

/// A token and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) offset: usize,
    pub(super) kind: Kind<'a>,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    /// A name or keyword.
    Name(&'a str),
    Int(BigInt),
    Float(Float),
    Imaginary(Float),
    Str(Text),
    /// An f-string, which is no literal.
    Formatted,
    Bytes(Vec<u8>),
    /// An operator or a bracket.
    Op(&'static str),
    /// The end of a line outside of brackets.
    Newline,
    /// Blanks before a line; nothing after them is read.
    Indent,
    /// The end of the text.
    End,
}

/// Operators, longest first.
const OPERATORS: [&str; 47] = [
    "**=", "//=", ">>=", "<<=", "...", "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=",
    "^=", "==", "<=", ">=", "<<", ">>", "**", "//", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<",
    ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";",
];

/// Words that are never names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// True for a word that Python never takes as a name.
pub(crate) fn keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// The tokens of a text; the last one is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, LiteralError> {
    if let Some(offset) = text.find('\0') {
        return syntax(offset, "a null character");
    }
    let start = text.len() - text.trim_start_matches([' ', '\t']).len();
    let mut lexer = Lexer { text, at: start, open: Vec::new(), out: Vec::new() };
    lexer.line_start()?;
    while lexer.token()? {}
    if let Some((_, offset)) = lexer.open.first() {
        return syntax(*offset, "a bracket is never closed");
    }
    lexer.push(text.len(), Kind::End);
    Ok(lexer.out)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Closing brackets that are expected, and where they were opened.
    open: Vec<(&'static str, usize)>,
    out: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, offset: usize, kind: Kind<'a>) {
        self.out.push(Token { offset, kind });
    }

    /// The next token; false at the end.
    fn token(&mut self) -> Result<bool, LiteralError> {
        let offset = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(false) };
        match first {
            ' ' | '\t' | '\x0c' => self.at += 1,
            '#' => self.comment(),
            '\n' | '\r' => self.newline()?,
            '\\' => self.continuation()?,
            '"' | '\'' => self.string(offset, "")?,
            '0'..='9' => self.number(offset)?,
            '.' if self.rest()[1..].starts_with(|ch: char| ch.is_ascii_digit()) => self.number(offset)?,
            ch if identifier_start(ch) => self.name(offset)?,
            _ => self.operator(offset)?,
        }
        Ok(true)
    }

    fn comment(&mut self) {
        self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
    }

    fn end_of_line(&mut self) {
        self.at += if self.rest().starts_with("\r\n") { 2 } else { 1 };
    }

    fn newline(&mut self) -> Result<(), LiteralError> {
        let offset = self.at;
        self.end_of_line();
        if self.open.is_empty() {
            if !matches!(self.out.last().map(|token| &token.kind), None | Some(Kind::Newline)) {
                self.push(offset, Kind::Newline);
            }
            self.line_start()?;
        }
        Ok(())
    }

    /// The blanks of a line outside of brackets: only a line with nothing on it may begin with them.
    fn line_start(&mut self) -> Result<(), LiteralError> {
        let (mut column, mut continued) = (0u64, 0u64);
        loop {
            match self.rest().as_bytes().first() {
                Some(b' ') => column += 1,
                Some(b'\t') => column = (column / 8 + 1) * 8,
                Some(b'\x0c') => column = 0,
                Some(b'\\') => {
                    continued = if continued == 0 { column } else { continued };
                    self.continuation()?;
                    continue;
                }
                Some(b'\n' | b'\r' | b'#') => return Ok(()),
                _ if column.max(continued) == 0 => return Ok(()),
                // The very end of the text counts as a line with something on it, as in Python. No expression goes
                // on here, so nothing behind this place can matter.
                _ => {
                    self.push(self.at, Kind::Indent);
                    self.at = self.text.len();
                    return Ok(());
                }
            }
            self.at += 1;
        }
    }

    fn continuation(&mut self) -> Result<(), LiteralError> {
        let offset = self.at;
        self.at += 1;
        if !self.rest().starts_with(['\n', '\r']) {
            return syntax(offset, "a backslash that continues no line");
        }
        self.end_of_line();
        if self.rest().is_empty() { syntax(offset, "the text ends in a continued line") } else { Ok(()) }
    }

    fn name(&mut self, offset: usize) -> Result<(), LiteralError> {
        let length = self.rest().find(|ch| !identifier_part(ch)).unwrap_or(self.rest().len());
        let name = &self.rest()[..length];
        self.at += length;
        let prefix = ["r", "u", "b", "f", "br", "rb", "fr", "rf"]
            .iter()
            .any(|prefix| name.eq_ignore_ascii_case(prefix));
        if prefix && self.rest().starts_with(['\'', '"']) {
            return self.string(offset, name);
        }
        self.push(offset, Kind::Name(name));
        Ok(())
    }

    fn string(&mut self, offset: usize, prefix: &str) -> Result<(), LiteralError> {
        let (kind, length) = string(prefix, self.rest(), self.at)?;
        self.at += length;
        self.push(offset, kind);
        Ok(())
    }

    fn number(&mut self, offset: usize) -> Result<(), LiteralError> {
        let (kind, length) = number(self.rest(), offset)?;
        self.at += length;
        self.push(offset, kind);
        Ok(())
    }

    fn operator(&mut self, offset: usize) -> Result<(), LiteralError> {
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.rest().starts_with(operator)) else {
            return syntax(offset, "a character that Python does not know");
        };
        self.at += operator.len();
        match operator {
            "(" | "[" | "{" => {
                if self.open.len() == BRACKETS_MAX {
                    return syntax(offset, "too many nested brackets");
                }
                let close = match operator {
                    "(" => ")",
                    "[" => "]",
                    _ => "}",
                };
                self.open.push((close, offset));
            }
            ")" | "]" | "}" if self.open.pop().is_none_or(|(close, _)| close != operator) => {
                return syntax(offset, "a bracket that does not match");
            }
            _ => {}
        }
        self.push(offset, Kind::Op(operator));
        Ok(())
    }
}
