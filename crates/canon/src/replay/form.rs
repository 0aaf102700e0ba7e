//! The replay canonical form: physical fields dropped, numbers fixed, lists in order (R1-R3, D-1 to D-7).

use super::decimal::push_fixed;
use super::node::Node;
use super::order::Rank;
use super::schema::{Kind, Rule, Schema};
use super::table::{Class, Table};
use super::{Document, FORM_BYTES_MAX, FormError, Observed};
use crate::digest::Digest;
use crate::write::{canonical, write_string};
use std::cmp::Ordering;
use std::ops::Range;

/// A document in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    text: String,
}

impl Form {
    /// The bytes that are hashed.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The bytes that are hashed, which are UTF-8.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `repro_digest`: all of the SHA-256. Whatever is signed binds this (D-6).
    pub fn digest(&self) -> Digest {
        Digest::of(self.bytes())
    }

    /// `repro_hash`: the first 16 hex digits, the draft's short form (D-6).
    pub fn hash(&self) -> String {
        let mut hex = self.digest().to_hex();
        hex.truncate(16);
        hex
    }
}

/// One value that was dropped: the path's number and the value as it was written.
pub(crate) type Dropped = (u32, String);

/// Brings documents of one field table into canonical form. Paths are classified when they are first seen, so one
/// canonicaliser for many documents is faster than many; the result is the same.
#[derive(Debug)]
pub struct Canonicaliser<'t> {
    pub(crate) table: &'t Table,
    pub(crate) schema: Schema,
}

impl<'t> Canonicaliser<'t> {
    /// For documents of this table.
    pub fn new(table: &'t Table) -> Canonicaliser<'t> {
        Canonicaliser { table, schema: Schema::new(table) }
    }

    /// The canonical form of a document.
    ///
    /// # Errors
    /// [`FormError::OpaqueNumber`] only: everything else was refused when the document was read.
    pub fn form(&mut self, document: &Document<'_>) -> Result<Form, FormError> {
        self.form_of(&document.0)
    }

    pub(crate) fn form_of(&mut self, node: &Node<'_>) -> Result<Form, FormError> {
        let text = self.walk(node, None)?.0;
        Ok(Form { text })
    }

    /// The canonical text of an element of the list at `at`.
    pub(crate) fn element_text(&mut self, node: &Node<'_>, at: u32) -> Result<String, FormError> {
        let mut walk = self.begin(None);
        walk.element(node, at)?;
        Ok(walk.out)
    }

    /// The same, and every value that was dropped, in the order of the canonical form.
    pub(crate) fn form_and_dropped(&mut self, node: &Node<'_>) -> Result<(Form, Vec<Dropped>), FormError> {
        let (text, dropped) = self.walk(node, Some(Vec::new()))?;
        Ok((Form { text }, dropped.unwrap_or_default()))
    }

    /// What was met in every document since the last [`Canonicaliser::reset`].
    pub fn observed(&self) -> Observed {
        let mut observed = Observed::default();
        for (at, place) in self.schema.places() {
            let counts = place.counts;
            let mut add = |to: fn(&mut Observed) -> &mut std::collections::BTreeMap<String, u64>, count| {
                if count > 0 {
                    to(&mut observed).insert(self.schema.path(at), count);
                }
            };
            match place.kind {
                Kind::Unknown => add(|observed| &mut observed.unknown, counts.dropped),
                Kind::Known(_) => add(|observed| &mut observed.physical, counts.dropped),
            }
            add(|observed| &mut observed.repro, counts.leaves);
            add(|observed| &mut observed.unkeyed, counts.unkeyed);
        }
        observed
    }

    /// Forgets what was met.
    pub fn reset(&mut self) {
        self.schema.reset();
    }

    fn walk(
        &mut self,
        node: &Node<'_>,
        dropped: Option<Vec<Dropped>>,
    ) -> Result<(String, Option<Vec<Dropped>>), FormError> {
        let mut walk = self.begin(dropped);
        walk.value(node, 0)?;
        Ok((walk.out, walk.dropped))
    }

    fn begin<'n>(&mut self, dropped: Option<Vec<Dropped>>) -> Walk<'_, 'n> {
        Walk { table: self.table, schema: &mut self.schema, out: String::new(), members: Vec::new(), dropped }
    }
}

/// One document being written.
struct Walk<'c, 'n> {
    table: &'c Table,
    schema: &'c mut Schema,
    out: String,
    /// Members of the objects that are open, each object's part sorted by key.
    members: Vec<(&'n str, &'n Node<'n>, u32)>,
    dropped: Option<Vec<Dropped>>,
}

/// One element of a list, written at the end of the output.
struct Element<'n> {
    text: Range<usize>,
    dropped: Range<usize>,
    ranks: Vec<Rank<'n>>,
}

impl<'n> Walk<'_, 'n> {
    fn value(&mut self, node: &'n Node<'n>, at: u32) -> Result<(), FormError> {
        match node {
            Node::List(items) => return self.list(items, at, false),
            Node::Map(members) => return self.object(members, at),
            Node::Null => self.out.push_str("null"),
            Node::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Node::Text(text) => write_string(&mut self.out, text, false),
            Node::Number(token) => {
                self.out.push('"');
                push_fixed(&mut self.out, token, self.schema.place(at).scale);
                self.out.push('"');
            }
        }
        self.schema.counts(at).leaves += 1;
        if self.out.len() > FORM_BYTES_MAX { Err(FormError::TooLong) } else { Ok(()) }
    }

    fn object(
        &mut self,
        members: &'n [(std::borrow::Cow<'n, str>, Node<'n>)],
        at: u32,
    ) -> Result<(), FormError> {
        let base = self.members.len();
        for (position, (key, node)) in members.iter().enumerate() {
            let child = self.schema.child(self.table, at, key, position);
            match self.schema.place(child).kind {
                Kind::Known(Class::Repro | Class::Opaque) => self.members.push((key, node, child)),
                _ => self.drop(node, child),
            }
        }
        let kept = &mut self.members[base..];
        if !kept.is_sorted_by(|a, b| a.0 < b.0) {
            kept.sort_unstable_by_key(|(key, _, _)| *key);
        }
        self.out.push('{');
        for index in base..self.members.len() {
            let (key, node, child) = self.members[index];
            if index > base {
                self.out.push(',');
            }
            write_string(&mut self.out, key, false);
            self.out.push(':');
            match self.schema.place(child).kind {
                Kind::Known(Class::Opaque) => self.opaque(node, child)?,
                _ => self.value(node, child)?,
            }
        }
        self.out.push('}');
        self.members.truncate(base);
        Ok(())
    }

    fn drop(&mut self, node: &Node<'_>, at: u32) {
        self.schema.counts(at).dropped += 1;
        if let Some(dropped) = &mut self.dropped {
            let mut text = String::new();
            node.write(&mut text);
            dropped.push((at, text));
        }
    }

    /// Somebody else's payload, as the digest of the ledger's form of it (D-4, ruling 23).
    fn opaque(&mut self, node: &Node<'_>, at: u32) -> Result<(), FormError> {
        let value = node.to_value().ok_or_else(|| FormError::OpaqueNumber(self.schema.path(at)))?;
        self.out.push_str("\"sha256:");
        self.out.push_str(&Digest::of(&canonical(&value)).to_hex());
        self.out.push('"');
        self.schema.counts(at).leaves += 1;
        Ok(())
    }

    /// An element of the list at `at`: a list in a list has the same path and not the same meaning.
    fn element(&mut self, node: &'n Node<'n>, at: u32) -> Result<(), FormError> {
        match node {
            Node::List(items) => self.list(items, at, true),
            other => self.value(other, at),
        }
    }

    fn list(&mut self, items: &'n [Node<'n>], at: u32, inner: bool) -> Result<(), FormError> {
        let in_place = keeps_order(&self.schema.place(at).rule, items, inner);
        self.out.push('[');
        if in_place || items.len() < 2 {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    self.out.push(',');
                }
                self.element(item, at)?;
            }
        } else {
            self.sorted(items, at)?;
        }
        self.out.push(']');
        Ok(())
    }

    /// Writes the elements one after the other and then brings them into order.
    fn sorted(&mut self, items: &'n [Node<'n>], at: u32) -> Result<(), FormError> {
        let keys = match &self.schema.place(at).rule {
            Rule::Keys(keys) => keys.clone(),
            _ => Vec::new(),
        };
        let start = self.out.len();
        let mut elements = Vec::with_capacity(items.len());
        for item in items {
            let (from, dropped) = (self.out.len(), self.dropped_count());
            self.element(item, at)?;
            let ranks = keys.iter().map(|key| self.rank(item, at, key)).collect();
            elements.push(Element {
                text: from..self.out.len(),
                dropped: dropped..self.dropped_count(),
                ranks,
            });
        }
        let scales: Vec<u32> = keys.iter().map(|key| self.key_scale(at, key)).collect();
        let by_bytes = self.arrange(start, elements, &scales);
        if by_bytes && !keys.is_empty() {
            self.schema.counts(at).unkeyed += 1;
        }
        Ok(())
    }

    fn dropped_count(&self) -> usize {
        self.dropped.as_ref().map_or(0, Vec::len)
    }

    /// A stable key that is not part of the canonical form orders nothing: its value would reach the hash.
    fn rank(&mut self, item: &'n Node<'n>, at: u32, key: &str) -> Rank<'n> {
        let Node::Map(members) = item else { return Rank::Missing };
        let Some((position, (_, node))) = members.iter().enumerate().find(|(_, (name, _))| name == key)
        else {
            return Rank::Missing;
        };
        let child = self.schema.child(self.table, at, key, position);
        let place = self.schema.place(child);
        match place.kind {
            Kind::Known(Class::Repro) => Rank::of(node, place.scale),
            Kind::Known(Class::Opaque) => Rank::Other,
            _ => Rank::Missing,
        }
    }

    fn key_scale(&mut self, at: u32, key: &str) -> u32 {
        let child = self.schema.child(self.table, at, key, 0);
        self.schema.place(child).scale
    }

    /// Puts the elements that stand from `start` on into order, with commas between them. True when two of them that
    /// differ have no key at all and their bytes had to decide.
    fn arrange(&mut self, start: usize, mut elements: Vec<Element<'n>>, scales: &[u32]) -> bool {
        let written = self.out.split_off(start);
        let text = |element: &Element<'_>| &written[element.text.start - start..element.text.end - start];
        let compare = |a: &Element<'_>, b: &Element<'_>| {
            let ranks = a.ranks.iter().zip(&b.ranks).zip(scales);
            let by_rank =
                ranks.map(|((a, b), scale)| a.compare(b, *scale)).find(|order| *order != Ordering::Equal);
            by_rank.unwrap_or_else(|| text(a).cmp(text(b)))
        };
        let dropped_from = elements.first().map_or(0, |element| element.dropped.start);
        elements.sort_by(compare);
        let keyless = |element: &Element<'_>| {
            element.ranks.iter().all(|rank| matches!(rank, Rank::Missing | Rank::Other))
        };
        let by_bytes =
            elements.windows(2).any(|pair| pair.iter().all(keyless) && text(&pair[0]) != text(&pair[1]));
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.out.push_str(text(element));
        }
        if let Some(dropped) = &mut self.dropped {
            let mut written = dropped.split_off(dropped_from);
            for element in &elements {
                let range = element.dropped.start - dropped_from..element.dropped.end - dropped_from;
                dropped.extend(written[range].iter_mut().map(std::mem::take));
            }
        }
        by_bytes
    }
}

/// Whether the order of a list is part of its meaning. In a list of lists a rule of the table is about the outer one; an
/// inner list keeps its order unless its elements are objects (R2).
pub(crate) fn keeps_order(rule: &Rule, items: &[Node<'_>], inner: bool) -> bool {
    let objects = items.iter().all(|item| matches!(item, Node::Map(_)));
    match rule {
        Rule::Sequence => true,
        Rule::Set => inner && !objects,
        Rule::Keys(_) => !objects,
    }
}
