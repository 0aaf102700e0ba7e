//! Measures of source code, by reading its lines: approximations that need no compiler.

use super::Declared;
use super::python::{Source, functions};
use crate::skill::Failed;
use crate::skill::payload::{choice, text};
use canon::{Object, Value};

const PYTHON: (&str, &str) = ("text", "Python source code");

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "code.lines",
        version: 1,
        description: "Count lines of source code: how many are code, comments or blank (SLOC), for Python, shell, \
                      Rust, C, Java, Go or JavaScript.",
        triggers: &["lines of code", "sloc", "count code lines"],
        needs: &[("text", "the source")],
        takes: &[("comments", "hash (when absent; Python, shell) or slash (Rust, C, Java, Go, JavaScript)")],
        examples: &[
            (
                r##"{"text":"# a\nx = 1  # b\n\n'''doc'''\n"}"##,
                r#"{"lines":4,"code":2,"comment":1,"blank":1}"#,
            ),
            (
                r#"{"text":"/* a\n b */ int x; // c\n// d\n\nchar *s = \"/*\";\n","comments":"slash"}"#,
                r#"{"lines":5,"code":2,"comment":2,"blank":1}"#,
            ),
        ],
        run: lines,
    },
    Declared {
        name: "code.branches",
        version: 1,
        description: "Cyclomatic complexity of Python functions: one plus the number of decisions (if, for, while, \
                      except, and, or ...), for each function.",
        triggers: &["cyclomatic complexity", "code complexity", "count branches"],
        needs: &[PYTHON],
        takes: &[],
        examples: &[
            (
                r#"{"text":"def f(a):\n    if a and 'or':\n        return 1\n    for b in a:\n        pass\n"}"#,
                r#"{"functions":[{"name":"f","line":1,"complexity":4}],"total":4}"#,
            ),
            (r#"{"text":"x = 1 if y else 2  # if\n"}"#, r#"{"functions":[],"total":2}"#),
        ],
        run: branches,
    },
    Declared {
        name: "code.nesting",
        version: 1,
        description: "How deeply blocks of Python code are nested, and in which line the deepest indentation stands.",
        triggers: &["nesting depth", "deepest indentation", "how deeply nested is the code"],
        needs: &[PYTHON],
        takes: &[],
        examples: &[
            (r#"{"text":"def f():\n  if a:\n    b(\n          c)\nx\n"}"#, r#"{"depth":2,"line":3}"#),
            (r#"{"text":"x\n"}"#, r#"{"depth":0,"line":1}"#),
        ],
        run: nesting,
    },
    Declared {
        name: "code.longest",
        version: 1,
        description: "List the functions of a Python file by length, longest first, with their line numbers, to find \
                      those that should be split.",
        triggers: &["longest function", "function length", "long functions"],
        needs: &[PYTHON],
        takes: &[],
        examples: &[
            (
                r#"{"text":"class A:\n    def f(self):\n        x = '''\ndef no():\n'''\n        return x\n\n    async def g(self): pass\n"}"#,
                r#"[{"name":"A.f","line":2,"lines":5},{"name":"A.g","line":8,"lines":1}]"#,
            ),
            (r#"{"text":""}"#, r#"[]"#),
        ],
        run: longest,
    },
    Declared {
        name: "code.markers",
        version: 1,
        description: "Find the notes that programmers leave in comments about unfinished work, such as FIXME and \
                      HACK, with their line numbers.",
        triggers: &["find todos", "todo comments", "fixme comments", "unfinished work"],
        needs: &[("text", "the source, in any language")],
        takes: &[],
        examples: &[
            (
                r#"{"text":"a\nb  # FIXME(ann): later\nHACKER = 1\n"}"#,
                r#"[{"line":2,"marker":"FIXME","text":"b  # FIXME(ann): later"}]"#,
            ),
            (r#"{"text":"// XXX and HACK\n"}"#, r#"[{"line":1,"marker":"XXX","text":"// XXX and HACK"}]"#),
        ],
        run: markers,
    },
];

fn lines(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    let slash = choice(payload, "comments", &["hash", "slash"])? == "slash";
    let (mut code, mut comment, mut blank) = (0_u64, 0_u64, 0_u64);
    let mut count = |has_code: bool, raw: &str| match (has_code, raw.trim().is_empty()) {
        (true, _) => code += 1,
        (false, true) => blank += 1,
        (false, false) => comment += 1,
    };
    if slash {
        let mut inside = false;
        text.lines().for_each(|line| count(slash_code(line, &mut inside), line));
    } else {
        let source = Source::of(text);
        source.lines.iter().zip(text.lines()).for_each(|(line, raw)| count(line.has_code, raw));
    }
    let object = Object::new().with("lines", code + comment + blank).with("code", code);
    Ok(object.with("comment", comment).with("blank", blank).into())
}

/// Whether a line has anything outside comments; `inside` says whether a block comment is open.
fn slash_code(line: &str, inside: &mut bool) -> bool {
    let (mut rest, mut found, mut quote) = (line.as_bytes(), false, None);
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (*inside, quote, first, tail.first()) {
            (true, _, b'*', Some(b'/')) => (*inside, rest) = (false, &tail[1..]),
            (true, ..) => {}
            (_, Some(_), b'\\', Some(_)) => rest = &tail[1..],
            (_, Some(open), ..) => quote = Some(open).filter(|open| open != first),
            (_, None, b'/', Some(b'/')) => return found,
            (_, None, b'/', Some(b'*')) => (*inside, rest) = (true, &tail[1..]),
            (_, None, quote_mark @ (b'"' | b'`'), _) => (quote, found) = (Some(*quote_mark), true),
            // A quote as a character literal opens no string.
            (_, None, b'\'', Some(b'"')) if tail.get(1) == Some(&b'\'') => (rest, found) = (&tail[2..], true),
            (_, None, byte, _) => found |= !byte.is_ascii_whitespace(),
        }
    }
    found
}

/// Words that add a way through a function. A comprehension's `if` and `for` count as others do.
const DECISIONS: [&str; 9] = ["if", "elif", "for", "while", "except", "case", "and", "or", "assert"];

fn branches(payload: &Object) -> Result<Value, Failed> {
    let source = Source::of(text(payload, "text")?);
    let decisions: Vec<u64> = source.lines.iter().map(|line| decisions(&line.code)).collect();
    let mut rows = Vec::new();
    for function in functions(&source)? {
        let inside: u64 = decisions[function.first..function.first + function.lines].iter().sum();
        let row = Object::new().with("name", function.name).with("line", function.first as u64 + 1);
        rows.push(row.with("complexity", inside + 1));
    }
    let total = decisions.iter().sum::<u64>() + 1;
    Ok(Object::new().with("functions", rows).with("total", total).into())
}

fn decisions(code: &str) -> u64 {
    let words = code.split(|ch: char| !ch.is_alphanumeric() && ch != '_');
    words.filter(|word| DECISIONS.contains(word)).count() as u64
}

fn nesting(payload: &Object) -> Result<Value, Failed> {
    let source = Source::of(text(payload, "text")?);
    let (mut open, mut deepest, mut at) = (vec![0], 0, 0);
    for (index, line) in source.lines.iter().enumerate().filter(|(_, line)| line.begins && line.has_code) {
        while open.len() > 1 && open[open.len() - 1] > line.indent {
            open.pop();
        }
        if line.indent > open[open.len() - 1] {
            open.push(line.indent);
        }
        if open.len() - 1 > deepest {
            (deepest, at) = (open.len() - 1, index);
        }
    }
    Ok(Object::new().with("depth", deepest as u64).with("line", at as u64 + 1).into())
}

fn longest(payload: &Object) -> Result<Value, Failed> {
    let source = Source::of(text(payload, "text")?);
    let mut functions = functions(&source)?;
    functions.sort_by_key(|function| (std::cmp::Reverse(function.lines), function.first));
    let row = |function: super::python::Function| {
        let row = Object::new().with("name", function.name).with("line", function.first as u64 + 1);
        row.with("lines", function.lines as u64)
    };
    Ok(functions.into_iter().map(row).collect::<Vec<Object>>().into())
}

/// Words in capitals that mean unfinished work; written apart, so that this file has none.
const MARKERS: [&str; 5] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX"), "HACK", "BUG"];

/// The first marker of a line that stands alone as a word.
pub(super) fn marker(line: &str) -> Option<&'static str> {
    let mut words = line.split(|ch: char| !ch.is_alphanumeric() && ch != '_');
    words.find_map(|word| MARKERS.into_iter().find(|marker| *marker == word))
}

fn markers(payload: &Object) -> Result<Value, Failed> {
    let lines = text(payload, "text")?.lines().enumerate();
    let found = lines.filter_map(|(index, line)| marker(line).map(|marker| (index, marker, line)));
    let row = |(index, marker, line): (usize, &str, &str)| {
        Object::new().with("line", index as u64 + 1).with("marker", marker).with("text", line.trim())
    };
    Ok(found.map(row).collect::<Vec<Object>>().into())
}
