//! One linear pass over the markup before the XML parser sees it.
//!
//! The parser compares every attribute of an element with every other and copies namespace lists, so its time is
//! not linear for hostile files. The pass bounds what those costs depend on, and the nesting.

use crate::report::{DEPTH_MAX, Limit, Refusal};

/// Most attributes of one element.
const ATTRIBUTES_MAX: usize = 256;
/// Most occurrences of `xmlns` inside tags.
const NAMESPACES_MAX: usize = 1024;

/// Refuses a document type declaration and markup beyond the limits. Does not check that the text is well formed.
pub(super) fn prescan(text: &str) -> Result<(), Refusal> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut namespaces = 0_usize;
    let mut at = 0;
    while let Some(open) = find(bytes, at, b"<") {
        let rest = &bytes[open..];
        let end = if rest.starts_with(b"<!--") {
            find(bytes, open + 4, b"-->")
        } else if rest.starts_with(b"<![CDATA[") {
            find(bytes, open + 9, b"]]>")
        } else if rest.starts_with(b"<?") {
            find(bytes, open + 2, b"?>")
        } else if rest.starts_with(b"<!") {
            let (line, column) = super::position(text, open);
            return Err(Refusal::JunitDoctype { line, column });
        } else {
            let tag = Tag::scan(bytes, open);
            limit(tag.attributes, ATTRIBUTES_MAX, Limit::Attributes)?;
            namespaces += tag.namespaces;
            limit(namespaces, NAMESPACES_MAX, Limit::Namespaces)?;
            if rest.starts_with(b"</") {
                depth = depth.saturating_sub(1);
            } else if !tag.is_empty {
                depth += 1;
                limit(depth, DEPTH_MAX, Limit::Depth)?;
            }
            tag.end
        };
        // Cut markup: the parser says where.
        let Some(end) = end else { return Ok(()) };
        at = end + 1;
    }
    Ok(())
}

struct Tag {
    attributes: usize,
    namespaces: usize,
    /// `<name/>`
    is_empty: bool,
    /// Where its `>` is.
    end: Option<usize>,
}

impl Tag {
    fn scan(bytes: &[u8], open: usize) -> Tag {
        let mut tag = Tag { attributes: 0, namespaces: 0, is_empty: false, end: None };
        let mut quote = None;
        for (at, byte) in bytes.iter().copied().enumerate().skip(open + 1) {
            match (quote, byte) {
                (Some(closing), _) if byte == closing => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => tag.attributes += 1,
                (None, b'x') if bytes[at..].starts_with(b"xmlns") => tag.namespaces += 1,
                (None, b'>') => {
                    tag.is_empty = bytes[at - 1] == b'/';
                    tag.end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        tag
    }
}

fn limit(value: usize, max: usize, what: Limit) -> Result<(), Refusal> {
    if value > max { Err(Refusal::ReportLimit { what, limit: max as u64 }) } else { Ok(()) }
}

/// Position of `needle` at or after `from`; of its last byte, so that the caller continues behind it.
fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let tail = bytes.get(from..)?;
    let at = tail.windows(needle.len()).position(|window| window == needle)?;
    Some(from + at + needle.len() - 1)
}
