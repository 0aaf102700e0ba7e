//! The replay canonical form and what rests on it: field tables, replay hash, sensitivity, differences
//! (determinism specification, sections 2 to 4; `docs/determinism.md`).
//!
//! The ledger's form signs what was said; this one compares what two runs did. It keeps what the field table calls
//! `repro`, drops what it calls `physical`, and counts every field that it does not name.

mod decimal;
mod diff;
mod form;
mod node;
mod order;
mod path;
mod schema;
mod sensitivity;
mod table;

pub use diff::{Difference, difference};
pub use form::{Canonicaliser, Form};
pub use path::Pattern;
pub use sensitivity::{Reverse, Sensitivity, each_tampered, respelled};
pub use table::{Class, MINIMUM_PHYSICAL, Order, Table, TableError, TableFault};

use crate::read::{Limits, ReadError, ReadFault};
use node::Node;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A document of one run, read strictly, every number as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a>(Node<'a>);

impl<'a> Document<'a> {
    /// One JSON document.
    ///
    /// # Errors
    /// What the strict reader refuses, and numbers whose exponent is beyond 400 either way (D-2).
    pub fn json(bytes: &'a [u8], limits: Limits) -> Result<Document<'a>, ReadError> {
        node::read(bytes, limits).map(Document)
    }

    /// JSON Lines: the list of the documents (ruling 23), ended by line feeds and by nothing else. Blank lines hold no
    /// record; the length limit is the whole file's.
    ///
    /// # Errors
    /// The first line that cannot be read, with its offset in the file. No line is ever skipped (PC-49).
    pub fn lines(bytes: &'a [u8], limits: Limits) -> Result<Document<'a>, ReadError> {
        if bytes.len() > limits.bytes_max {
            return Err(ReadError { fault: ReadFault::TooLong(limits.bytes_max), offset: limits.bytes_max });
        }
        // The list is a level of its own.
        let limits = Limits { depth_max: limits.depth_max.saturating_sub(1), ..limits };
        let mut offset = 0;
        let mut records = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
                let at = |error: ReadError| ReadError { offset: error.offset + offset, ..error };
                records.push(node::read(line, limits).map_err(at)?);
            }
            offset += line.len();
        }
        Ok(Document(Node::List(records)))
    }

    /// An object of documents, such as the files of a folder. Keys must be unique.
    pub fn object(members: Vec<(String, Document<'a>)>) -> Document<'a> {
        Document(Node::Map(
            members.into_iter().map(|(key, document)| (Cow::Owned(key), document.0)).collect(),
        ))
    }

    /// Number of records: elements of a list, else 1.
    pub fn records(&self) -> usize {
        match &self.0 {
            Node::List(items) => items.len(),
            _ => 1,
        }
    }

    /// Whether it is an object, or a list of objects: nothing else has fields.
    pub fn has_fields(&self) -> bool {
        match &self.0 {
            Node::Map(_) => true,
            Node::List(items) => items.iter().all(|item| matches!(item, Node::Map(_))),
            _ => false,
        }
    }

    /// The receipts in it: the object, the objects of the list, or those of each file of a folder.
    pub fn receipts(&self) -> Vec<Document<'a>> {
        match &self.0 {
            Node::List(items) => items.iter().cloned().map(Document).collect(),
            _ => vec![self.clone()],
        }
    }

    /// The text of a member, if it is one; `Some(None)` where the member is there and is no text.
    pub fn text(&self, key: &str) -> Option<Option<&str>> {
        let Node::Map(members) = &self.0 else { return None };
        let (_, node) = members.iter().find(|(name, _)| name == key)?;
        Some(match node {
            Node::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Whether the member is there and is not `null`.
    pub fn has(&self, key: &str) -> bool {
        let Node::Map(members) = &self.0 else { return false };
        members.iter().any(|(name, node)| name == key && *node != Node::Null)
    }

    /// Whether the member is a number.
    pub fn is_number(&self, key: &str) -> bool {
        let Node::Map(members) = &self.0 else { return false };
        members.iter().any(|(name, node)| name == key && matches!(node, Node::Number(_)))
    }

    /// The value as the ledger has it; a number that the ledger's form cannot write stands there as text.
    pub fn to_value(&self) -> crate::Value {
        let text = |token: &str| Some(crate::Value::Str(token.to_owned()));
        self.0.to_value_or(&text).unwrap_or(crate::Value::Null)
    }

    /// Every object inside that has the member `key`, itself not counted.
    pub fn inner_with(&self, key: &str) -> Vec<Document<'a>> {
        let mut found = Vec::new();
        let mut pending: Vec<&Node<'a>> = match &self.0 {
            Node::List(items) => items.iter().collect(),
            Node::Map(members) => members.iter().map(|(_, node)| node).collect(),
            _ => Vec::new(),
        };
        while let Some(node) = pending.pop() {
            match node {
                Node::List(items) => pending.extend(items),
                Node::Map(members) => {
                    if members.iter().any(|(name, _)| name == key) {
                        found.push(Document(node.clone()));
                    }
                    pending.extend(members.iter().map(|(_, node)| node));
                }
                _ => {}
            }
        }
        found
    }

    /// The document written again, without blanks.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.0.write(&mut out);
        out
    }
}

/// Why a document has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormError {
    /// An opaque payload holds a number that the ledger's form cannot write exactly; the path.
    OpaqueNumber(String),
    /// The canonical form would be longer than [`FORM_BYTES_MAX`].
    TooLong,
}

/// Longest canonical form, in bytes: fixed-point text can be a hundred times as long as what was written.
pub const FORM_BYTES_MAX: usize = 128 << 20;

crate::codes! {
    impl FormError: &self {
        FormError::OpaqueNumber(_) => "form_opaque_number",
        FormError::TooLong => "form_too_long",
    }
}

/// What was met while documents were brought into canonical form: paths with counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Leaves that take part in the hash.
    pub repro: BTreeMap<String, u64>,
    /// Values that the table calls physical.
    pub physical: BTreeMap<String, u64>,
    /// Values that no path of the table fits: dropped, and a warning (R1).
    pub unknown: BTreeMap<String, u64>,
    /// Lists of objects that were sorted by bytes for want of a stable key (D-5).
    pub unkeyed: BTreeMap<String, u64>,
}

impl Observed {
    /// All leaves that take part. With none the hash depends on nothing (S-2).
    pub fn leaves(&self) -> u64 {
        self.repro.values().sum()
    }
}
