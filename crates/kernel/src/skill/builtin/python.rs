//! Python source, line by line: what is code, what is a string or comment, where functions begin and end.

use crate::skill::Failed;
use crate::skill::payload::Work;

/// A line of a file.
pub(super) struct Line {
    /// The code, with a blank for each byte of a comment and of the inside of a string.
    pub(super) code: String,
    /// Whether anything but a comment stands in it; the inside of a string counts.
    pub(super) has_code: bool,
    /// Blanks before its code, a tab up to the next multiple of eight.
    pub(super) indent: usize,
    /// Whether a statement may begin in it: no bracket, string or continued line is open at its beginning.
    pub(super) begins: bool,
}

/// A file.
pub(super) struct Source {
    pub(super) lines: Vec<Line>,
}

/// A function or method.
pub(super) struct Function {
    /// Its name, with those of the classes and functions around it.
    pub(super) name: String,
    /// Index of its first line.
    pub(super) first: usize,
    /// Lines up to the last one of its body.
    pub(super) lines: usize,
}

/// What is open at the end of a line.
#[derive(Default)]
struct Open {
    brackets: usize,
    /// Quote character, and whether there are three of it.
    string: Option<(u8, bool)>,
    continued: bool,
}

impl Source {
    /// Reads a file; whatever it is, each line gets an answer.
    pub(super) fn of(text: &str) -> Source {
        let mut open = Open::default();
        Source { lines: text.lines().map(|line| read(line, &mut open)).collect() }
    }
}

fn read(line: &str, open: &mut Open) -> Line {
    let begins = open.brackets == 0 && open.string.is_none() && !open.continued;
    let in_string = open.string.is_some();
    let bytes = line.as_bytes();
    let (mut code, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let three = |quote: u8| bytes[at..].starts_with(&[quote; 3]);
        let (length, shown) = match (open.string, bytes[at]) {
            (Some(_), b'\\') => (2, b' '),
            (Some((quote, true)), byte) if byte == quote && three(quote) => {
                open.string = None;
                (3, b'"')
            }
            (Some((quote, false)), byte) if byte == quote => {
                open.string = None;
                (1, b'"')
            }
            (Some(_), _) => (1, b' '),
            (None, b'#') => break,
            (None, byte @ (b'"' | b'\'')) => {
                open.string = Some((byte, three(byte)));
                (if three(byte) { 3 } else { 1 }, b'"')
            }
            (None, byte) => {
                match byte {
                    b'(' | b'[' | b'{' => open.brackets += 1,
                    b')' | b']' | b'}' => open.brackets = open.brackets.saturating_sub(1),
                    _ => {}
                }
                (1, byte)
            }
        };
        code.push(shown);
        at += length;
    }
    open.continued = bytes.last() == Some(&b'\\');
    // A string with one quote ends with its line, unless the line is continued.
    if open.string.is_some_and(|(_, three)| !three) && !open.continued {
        open.string = None;
    }
    // Strings begin and end at ASCII quotes, so that no letter was cut.
    let code = String::from_utf8_lossy(&code).into_owned();
    let has_code = !code.trim().is_empty() || (in_string && !line.trim().is_empty());
    Line { indent: indent(line), has_code, begins, code }
}

fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).fold(0, |column, byte| match byte {
        b'\t' => (column / 8 + 1) * 8,
        _ => column + 1,
    })
}

/// The functions of a file in the order of their first lines.
pub(super) fn functions(source: &Source) -> Result<Vec<Function>, Failed> {
    let mut work = Work::of(4_000_000);
    let mut around: Vec<(usize, String)> = Vec::new();
    let mut functions = Vec::new();
    for (index, line) in source.lines.iter().enumerate().filter(|(_, line)| line.begins && line.has_code) {
        around.retain(|(indent, _)| *indent < line.indent);
        let words = line.code.trim_start();
        let words = words.strip_prefix("async ").map_or(words, str::trim_start);
        let (function, rest) = match (words.strip_prefix("def "), words.strip_prefix("class ")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => continue,
        };
        let own: String =
            rest.trim_start().chars().take_while(|ch| ch.is_alphanumeric() || *ch == '_').collect();
        let name = around.last().map_or(own.clone(), |(_, outer)| format!("{outer}.{own}"));
        around.push((line.indent, name.clone()));
        // A deep chain of long names, and a function in a function, are read again for each.
        work.spend(1 + name.len())?;
        if function {
            let lines = length(source, index, &mut work)?;
            functions.push(Function { name, first: index, lines });
        }
    }
    Ok(functions)
}

/// Lines from the one of `def` to the last that has code and belongs to it.
fn length(source: &Source, first: usize, work: &mut Work) -> Result<usize, Failed> {
    let mut last = first;
    for (index, line) in source.lines.iter().enumerate().skip(first + 1) {
        work.spend(1)?;
        if line.begins && line.has_code && line.indent <= source.lines[first].indent {
            break;
        }
        if line.has_code {
            last = index;
        }
    }
    Ok(last + 1 - first)
}
