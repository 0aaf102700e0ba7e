//! Reading CSV (RFC 4180), for `table.parse`.

use crate::skill::{Failed, Fault};

/// Rows of fields.
///
/// Beyond RFC 4180, a line may end with LF alone, and a line without any character is no row. A quoted empty field is
/// one field: its line is a row.
pub(super) fn rows(text: &str, separator: char) -> Result<Vec<Vec<String>>, Failed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { rest: text, line: 1, separator };
    let mut rows = Vec::new();
    while !reader.rest.is_empty() {
        let empty_line = reader.rest.starts_with('\n') || reader.rest.starts_with("\r\n");
        let row = reader.row()?;
        if !empty_line {
            rows.push(row);
        }
    }
    Ok(rows)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    separator: char,
}

impl Reader<'_> {
    fn row(&mut self) -> Result<Vec<String>, Failed> {
        let mut row = Vec::new();
        loop {
            row.push(if self.rest.starts_with('"') { self.quoted()? } else { self.bare()? });
            if let Some(rest) = self.rest.strip_prefix(self.separator) {
                self.rest = rest;
                continue;
            }
            self.rest = self.rest.strip_prefix("\r\n").or(self.rest.strip_prefix('\n')).unwrap_or(self.rest);
            self.line += 1;
            return Ok(row);
        }
    }

    fn bare(&mut self) -> Result<String, Failed> {
        let (separator, text) = (self.separator, self.rest);
        let end = text.find([separator, '\n', '"']).unwrap_or(text.len());
        let (field, rest) = text.split_at(end);
        if rest.starts_with('"') {
            return Err(self.refused("a quote stands inside a field that does not begin with one"));
        }
        let field = if rest.starts_with('\n') { field.strip_suffix('\r').unwrap_or(field) } else { field };
        self.rest = rest;
        Ok(field.to_owned())
    }

    fn quoted(&mut self) -> Result<String, Failed> {
        let mut field = String::new();
        let mut text = &self.rest[1..];
        loop {
            let Some(end) = text.find('"') else { return Err(self.refused("a quote is not closed")) };
            field.push_str(&text[..end]);
            text = &text[end + 1..];
            match text.strip_prefix('"') {
                Some(rest) => {
                    field.push('"');
                    text = rest;
                }
                None => break,
            }
        }
        if !(text.is_empty() || text.starts_with([self.separator, '\n']) || text.starts_with("\r\n")) {
            return Err(self.refused("something stands after a closing quote"));
        }
        self.line += field.matches('\n').count();
        self.rest = text;
        Ok(field)
    }

    fn refused(&self, why: &str) -> Failed {
        Failed::new(Fault::NotCsv, format!("line {}: {why}", self.line))
    }
}
