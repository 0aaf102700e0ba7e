//! A tiny scanner of Rust: enough to tell code from comments and strings, and to find functions.

/// A file with its text; for Rust also the text in which only code, or only comments, are left.
pub struct Source {
    /// As written.
    pub(crate) text: String,
    /// Rust: comments and contents of literals are blanks. Other files: as written.
    pub(crate) code: String,
    /// Rust: everything but comments is blanks. Other files: empty.
    pub(crate) comments: String,
}

/// A function: where it begins and how many lines it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: String) -> Source {
        if !path.ends_with(".rs") {
            return Source { code: text.clone(), text, comments: String::new() };
        }
        let kinds = kinds(&text);
        let only = |keep: Kind| -> String {
            let pick = |(ch, kind): (char, &Kind)| if ch == '\n' || *kind == keep { ch } else { ' ' };
            text.chars().zip(&kinds).map(pick).collect()
        };
        Source { code: only(Kind::Code), comments: only(Kind::Comment), text }
    }

    /// Lines of code, numbered from 1.
    pub(crate) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.code)
    }

    /// Lines as written, numbered from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }

    /// Lines of comments, numbered from 1.
    pub(crate) fn comment_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.comments)
    }

    /// Functions with a body.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let code: Vec<char> = self.code.chars().collect();
        let mut functions = Vec::new();
        for (at, _) in words(&code).filter(|(_, word)| word == "fn") {
            let name: String =
                code[at + 2..].iter().skip_while(|ch| **ch == ' ').take_while(|ch| is_word(**ch)).collect();
            if let Some(end) = body_end(&code[at..]).filter(|_| !name.is_empty()) {
                let breaks = |part: &[char]| part.iter().filter(|ch| **ch == '\n').count();
                let lines = breaks(&code[at..at + end]) + 1;
                functions.push(Function { name, line: breaks(&code[..at]) + 1, lines });
            }
        }
        functions
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

pub(crate) fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// True when `line` has `word` and no longer word around it.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn words(code: &[char]) -> impl Iterator<Item = (usize, String)> + '_ {
    let starts = (0..code.len()).filter(|at| is_word(code[*at]) && (*at == 0 || !is_word(code[*at - 1])));
    starts.map(|at| (at, code[at..].iter().take_while(|ch| is_word(**ch)).collect()))
}

/// Offset of the closing brace of the function that begins here; nothing for a declaration.
fn body_end(code: &[char]) -> Option<usize> {
    let (mut round, mut braces) = (0_i32, 0_i32);
    for (at, ch) in code.iter().enumerate() {
        match ch {
            '(' | '[' if braces == 0 => round += 1,
            ')' | ']' if braces == 0 => round -= 1,
            ';' if braces == 0 && round == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces <= 0 {
                    return (braces == 0).then_some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// What each character belongs to; quotes belong to their literal.
fn kinds(text: &str) -> Vec<Kind> {
    let chars: Vec<char> = text.chars().collect();
    let mut kinds = Vec::with_capacity(chars.len());
    while kinds.len() < chars.len() {
        let at = kinds.len();
        let rest = &chars[at..];
        let (kind, length) = match rest {
            ['/', '/', ..] => (Kind::Comment, until(rest, |ch| ch == '\n')),
            ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
            ['"', ..] => (Kind::Literal, string(rest)),
            ['\'', ..] => (Kind::Literal, character(rest)),
            ['r', ..] if at == 0 || !is_word(chars[at - 1]) || chars[at - 1] == 'b' => {
                (Kind::Literal, raw_string(rest))
            }
            _ => (Kind::Code, 1),
        };
        // A length of 0 says that it only looked like one.
        if length == 0 {
            kinds.push(Kind::Code);
        } else {
            kinds.extend(std::iter::repeat_n(kind, length));
        }
    }
    kinds
}

fn until(rest: &[char], end: impl Fn(char) -> bool) -> usize {
    rest.iter().position(|ch| end(*ch)).unwrap_or(rest.len())
}

fn block_comment(rest: &[char]) -> usize {
    let (mut at, mut depth) = (0, 0_u32);
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (at, depth) = (at + 2, depth + 1),
            ['*', '/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character literal; 0 for a lifetime.
fn character(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', _, tail @ ..] => 3 + until(tail, |ch| ch == '\'') + usize::from(tail.contains(&'\'')),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

/// `r"..."` or `r#"..."#`; 0 when it is neither.
fn raw_string(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|ch| **ch == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let mut end = vec!['"'];
    end.extend(std::iter::repeat_n('#', hashes));
    let body = 2 + hashes;
    let found = rest[body..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |at| body + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_comments_and_strings() {
        let text = "let a = \"// no \\\" dbg!\"; // dbg! here\nlet b = r#\"x\"dbg!\"#; /* dbg! /* */ x */ let c = '\"';\nfn f<'a>() {}";
        let source = Source::new("a.rs", text.to_owned());
        assert!(!source.code.contains("dbg!"), "{}", source.code);
        assert!(source.code.contains("let c") && source.code.contains("fn f<'a>()"), "{}", source.code);
        assert_eq!(source.comments.matches("dbg!").count(), 2);
        assert_eq!(source.code.lines().count(), 3);
    }

    #[test]
    fn functions_are_measured() {
        let text = "fn a(x: [u8; 2]) -> u8 {\n    if x { 1 }\n}\ntrait T { fn b(&self); fn c(&self) {} }\nconst F: fn() = x;\n";
        let source = Source::new("a.rs", text.to_owned());
        let seen: Vec<_> = source.functions().into_iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(seen, [("a".to_owned(), 1, 3), ("c".to_owned(), 4, 1)]);
    }
}
