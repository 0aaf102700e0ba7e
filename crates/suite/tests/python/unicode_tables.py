"""Writes crates/suite/src/literal/unicode.rs: what Python 3.11 (Unicode 14.0.0) calls printable, and an identifier.

Run with an interpreter whose unicodedata.unidata_version is 14.0.0; the output goes to standard output.
"""

import sys
import unicodedata

assert unicodedata.unidata_version == "14.0.0", unicodedata.unidata_version


def ranges(holds):
    found, start = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and holds(chr(code))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            found.append((start, code - 1))
            start = None
    return found


def table(name, why, holds):
    print(f"\n/// {why}")
    print("#[rustfmt::skip]")
    found = ranges(holds)
    print(f"const {name}: [(u32, u32); {len(found)}] = [")
    line = ""
    for low, high in found:
        item = f"(0x{low:x}, 0x{high:x}),"
        if len(line) + len(item) > 104:
            print("    " + line.strip())
            line = ""
        line += " " + item
    print("    " + line.strip())
    print("];")


print("""//! Which characters Python 3.11 prints as they are and takes for identifiers (Unicode 14.0.0).
//!
//! The peer's hashes were made with these tables, so a newer Unicode would give other hashes. Written by
//! `tests/python/unicode_tables.py`; a test compares every character with the interpreter when it has the same Unicode.

/// Python's `str.isprintable` for one code point; surrogates are not printable.
pub(crate) fn printable(code: u32) -> bool {
    !within(&NOT_PRINTABLE, code)
}

/// Python's `str.isidentifier`. Keywords are identifiers here.
pub fn identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(identifier_start) && chars.all(identifier_part)
}

/// True for a character that may begin an identifier.
pub(crate) fn identifier_start(ch: char) -> bool {
    within(&IDENTIFIER_START, u32::from(ch))
}

/// True for a character that may stand inside an identifier.
pub(crate) fn identifier_part(ch: char) -> bool {
    identifier_start(ch) || within(&IDENTIFIER_LATER, u32::from(ch))
}

fn within(table: &[(u32, u32)], code: u32) -> bool {
    let after = table.partition_point(|(low, _)| *low <= code);
    after.checked_sub(1).is_some_and(|at| code <= table[at].1)
}""")
table("NOT_PRINTABLE", "Escaped in the text of a string.", lambda c: not c.isprintable())
table("IDENTIFIER_START", "May begin an identifier.", lambda c: c.isidentifier())
table("IDENTIFIER_LATER", "May follow in an identifier and not begin one.",
      lambda c: not c.isidentifier() and ("a" + c).isidentifier())
