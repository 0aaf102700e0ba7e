//! Placeholders in the arguments of a check.

use std::ffi::{OsStr, OsString};
use std::fmt;

/// A folder or file that only the desk knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `{suite}`: the suite's folder.
    Suite,
    /// `{workspace}`: the delivery as the check sees it.
    Workspace,
    /// `{report}`: the file that the command is to write (ruling 12). It does not exist when the command starts.
    Report,
    /// `{scratch}`: an empty folder for the command's own files.
    Scratch,
}

impl Placeholder {
    const ALL: [(Placeholder, &'static str); 4] = [
        (Placeholder::Suite, "suite"),
        (Placeholder::Workspace, "workspace"),
        (Placeholder::Report, "report"),
        (Placeholder::Scratch, "scratch"),
    ];

    fn name(self) -> &'static str {
        Placeholder::ALL.iter().find(|(placeholder, _)| *placeholder == self).map_or("", |(_, name)| name)
    }
}

/// What the placeholders stand for in one run of one check.
#[derive(Clone, Copy, Debug)]
pub struct Paths<'a> {
    /// For `{suite}`.
    pub suite: &'a OsStr,
    /// For `{workspace}`.
    pub workspace: &'a OsStr,
    /// For `{report}`.
    pub report: &'a OsStr,
    /// For `{scratch}`.
    pub scratch: &'a OsStr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Path(Placeholder),
}

/// One argument, parsed. Displays as the suite writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    pieces: Vec<Piece>,
}

impl Arg {
    /// Parses an argument: `{name}` is a placeholder, `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A sentence, if a placeholder is unknown or not closed, a brace stands alone, or there is a NUL.
    pub fn parse(text: &str) -> Result<Arg, String> {
        if text.contains('\0') {
            return Err("an argument cannot hold a NUL".to_owned());
        }
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                plain.push_str(&from[..1]);
                rest = after;
                continue;
            }
            let (placeholder, after) = placeholder(from)?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Path(placeholder));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Arg { pieces })
    }

    /// The argument with every placeholder replaced.
    pub fn expand(&self, paths: &Paths<'_>) -> OsString {
        let mut out = OsString::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push(text),
                Piece::Path(Placeholder::Suite) => out.push(paths.suite),
                Piece::Path(Placeholder::Workspace) => out.push(paths.workspace),
                Piece::Path(Placeholder::Report) => out.push(paths.report),
                Piece::Path(Placeholder::Scratch) => out.push(paths.scratch),
            }
        }
        out
    }

    /// Whether the argument has this placeholder.
    pub fn mentions(&self, placeholder: Placeholder) -> bool {
        self.pieces.contains(&Piece::Path(placeholder))
    }

    /// The argument, if it has no placeholder and is not empty.
    pub fn as_text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it is a path below the folder in which the command starts, not a bare program name.
    pub(super) fn is_relative_path(&self) -> bool {
        matches!(self.pieces.first(), Some(Piece::Text(text)) if text.contains('/') && !text.starts_with('/'))
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Path(placeholder) => write!(f, "{{{}}}", placeholder.name())?,
            }
        }
        Ok(())
    }
}

/// Reads a placeholder at the start of `text`, which begins with a brace.
fn placeholder(text: &str) -> Result<(Placeholder, &str), String> {
    let inner = text.strip_prefix('{').ok_or("a single }; write }} for a brace")?;
    let (name, after) = inner.split_once('}').ok_or("a { without its }; write {{ for a brace")?;
    match Placeholder::ALL.iter().find(|(_, known)| *known == name) {
        Some((placeholder, _)) => Ok((*placeholder, after)),
        None => Err(format!(
            "unknown placeholder {{{name}}}; known are {{suite}}, {{workspace}}, {{report}} and {{scratch}}, and {{{{ for a brace"
        )),
    }
}
