//! Does the hash see every change (S-1), does it depend on anything (S-2), does it ignore what is physical (S-3)?
//!
//! Each change is judged where it happens: with everything around it unchanged, the canonical form changes exactly when
//! the changed value's own canonical text does, and sorting cannot hide that, because a sorted list of other texts is
//! another text. So a thousand leaves cost about as much as writing the document twice. That argument is itself
//! checked: an evenly spread sample of the changes is made in the document, which is then hashed from the start; where
//! the two answers differ, the path is named as a fault of this build.

use super::decimal::{next_unit, push_fixed};
use super::form::{Canonicaliser, keeps_order};
use super::node::Node;
use super::path::shown_path;
use super::schema::Kind;
use super::table::Class;
use super::{Document, FormError};
use crate::write::{canonical, write_string};
use std::borrow::Cow;

/// Changes that are also hashed from the start; fewer of a document whose form is longer than a mebibyte.
const REHASHED_MAX: u64 = 16;
const REHASHED_LARGE: u64 = 2;

/// What tampering with every repro leaf showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sensitivity {
    /// Changes that were tried.
    pub changes: u64,
    /// Paths whose change was not seen.
    pub unseen: Vec<String>,
    /// Changes that were also hashed from the start.
    pub rehashed: u64,
    /// Paths at which the two ways of judging disagree: a fault of this build.
    pub disagree: Vec<String>,
}

/// What changing every dropped value at once showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reverse {
    /// Values that were changed.
    pub changes: u64,
    /// Paths whose change reached the hash.
    pub leaked: Vec<String>,
}

/// One change of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Site {
    /// `steps[1].out`, positions as in the document.
    path: String,
    route: Vec<usize>,
    change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The value becomes another one of its kind.
    Value { scale: u32 },
    /// Something inside an opaque or dropped payload becomes another.
    Inside,
    /// The last element goes.
    Remove,
    /// These two neighbours of a list whose order counts change places.
    Swap(usize),
}

/// What the visitor looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Kept,
    Dropped,
}

impl Canonicaliser<'_> {
    /// Changes every repro leaf, one at a time (S-1): a character of a string, a unit in the last place of a number, a
    /// truth value flipped, `null` replaced, a list one shorter and a sequence with two neighbours swapped, something
    /// inside an opaque payload.
    ///
    /// # Errors
    /// As [`Canonicaliser::form`].
    pub fn sensitivity(&mut self, document: &Document<'_>) -> Result<Sensitivity, FormError> {
        let form = self.form(document)?;
        let before = form.hash();
        let rehashed = if form.bytes().len() > 1 << 20 { REHASHED_LARGE } else { REHASHED_MAX };
        let mut total = 0;
        self.visit(&document.0, Wanted::Kept, &mut |_, _, _| total += 1);
        // Every one of a small document, an evenly spread sample of a large one.
        let sampled = |index: u64| index * rehashed / total != (index + 1) * rehashed / total;
        let mut result = Sensitivity::default();
        let mut samples: Vec<(Site, bool)> = Vec::new();
        self.visit(&document.0, Wanted::Kept, &mut |node, route, change| {
            let seen = is_seen(node, change);
            if !seen || sampled(result.changes) {
                let site = Site { path: shown_route(&document.0, route), route: route.to_vec(), change };
                if !seen {
                    result.unseen.push(site.path.clone());
                }
                samples.push((site, seen));
            }
            result.changes += 1;
        });
        for (site, seen) in samples {
            let after = self.form_of(&tampered(&document.0, &site))?.hash();
            result.rehashed += 1;
            if (after != before) != seen {
                result.disagree.push(site.path);
            }
        }
        Ok(result)
    }

    /// Changes every dropped value at once; the hash must stay (S-3). Where it does not, each is tried alone and the
    /// guilty ones are named.
    ///
    /// # Errors
    /// As [`Canonicaliser::form`].
    pub fn reverse(&mut self, document: &Document<'_>) -> Result<Reverse, FormError> {
        let before = self.form(document)?.hash();
        let mut sites = Vec::new();
        self.visit(&document.0, Wanted::Dropped, &mut |_, route, change| {
            sites.push(Site { path: String::new(), route: route.to_vec(), change });
        });
        let mut all = document.0.clone();
        for site in &sites {
            apply(&mut all, site);
        }
        let mut reverse = Reverse { changes: sites.len() as u64, leaked: Vec::new() };
        if self.form_of(&all)?.hash() != before {
            for site in sites {
                if self.form_of(&tampered(&document.0, &site))?.hash() != before {
                    reverse.leaked.push(shown_route(&document.0, &site.route));
                }
            }
        }
        Ok(reverse)
    }

    /// The position of two neighbours whose canonical texts differ: spellings, what lies below the scale and what is dropped
    /// have no order that could be changed.
    fn unlike_neighbours(&mut self, items: &[Node<'_>], at: u32) -> Option<usize> {
        let mut same = |a, b| self.element_text(a, at).ok() == self.element_text(b, at).ok();
        items.windows(2).position(|pair| pair[0] != pair[1] && !same(&pair[0], &pair[1]))
    }

    /// Calls `found` for every place that can be changed, in document order.
    fn visit(&mut self, node: &Node<'_>, wanted: Wanted, found: &mut dyn FnMut(&Node<'_>, &[usize], Change)) {
        self.visit_from(node, (0, false), wanted, &mut Vec::new(), found);
    }

    fn visit_from(
        &mut self,
        node: &Node<'_>,
        (at, inner): (u32, bool),
        wanted: Wanted,
        route: &mut Vec<usize>,
        found: &mut dyn FnMut(&Node<'_>, &[usize], Change),
    ) {
        match node {
            Node::Map(members) => {
                for (position, (key, member)) in members.iter().enumerate() {
                    let child = self.schema.child(self.table, at, key, position);
                    route.push(position);
                    match (self.schema.place(child).kind, wanted) {
                        (Kind::Known(Class::Repro), _) => {
                            self.visit_from(member, (child, false), wanted, route, found)
                        }
                        (Kind::Known(Class::Opaque), Wanted::Kept) => found(member, route, Change::Inside),
                        (Kind::Known(Class::Physical) | Kind::Unknown, Wanted::Dropped) => {
                            found(member, route, Change::Inside);
                        }
                        _ => {}
                    }
                    route.pop();
                }
            }
            Node::List(items) => {
                if wanted == Wanted::Kept && !items.is_empty() {
                    found(node, route, Change::Remove);
                    let ordered = keeps_order(&self.schema.place(at).rule, items, inner);
                    if let Some(place) = ordered.then(|| self.unlike_neighbours(items, at)).flatten() {
                        found(node, route, Change::Swap(place));
                    }
                }
                for (position, item) in items.iter().enumerate() {
                    route.push(position);
                    self.visit_from(item, (at, true), wanted, route, found);
                    route.pop();
                }
            }
            _ if wanted == Wanted::Kept => {
                found(node, route, Change::Value { scale: self.schema.place(at).scale })
            }
            _ => {}
        }
    }
}

/// Calls `each` with the path and the whole text of every single change of what the table keeps. Slow: for judging a
/// hash that is not ours, and for tests.
pub fn each_tampered(
    canonicaliser: &mut Canonicaliser<'_>,
    document: &Document<'_>,
    each: &mut dyn FnMut(&str, &str),
) {
    let mut sites = Vec::new();
    canonicaliser.visit(&document.0, Wanted::Kept, &mut |_, route, change| {
        sites.push(Site { path: shown_route(&document.0, route), route: route.to_vec(), change });
    });
    for site in sites {
        let mut text = String::new();
        tampered(&document.0, &site).write(&mut text);
        each(&site.path, &text);
    }
}

/// The document with every number that takes part spelled another way, and how many those are: one value, one spelling
/// means that the hash stays (R3).
pub fn respelled(canonicaliser: &mut Canonicaliser<'_>, document: &Document<'_>) -> (u64, String) {
    let mut routes = Vec::new();
    canonicaliser.visit(&document.0, Wanted::Kept, &mut |node, route, change| {
        let number = matches!(node, Node::Number(token) if !token.contains(['e', 'E']));
        // Inside an opaque payload a spelling is content.
        if number && matches!(change, Change::Value { .. }) {
            routes.push(route.to_vec());
        }
    });
    let mut changed = document.0.clone();
    for route in &routes {
        if let Some(Node::Number(token)) = at_route(&mut changed, route) {
            *token = Cow::Owned(format!("{token}e0"));
        }
    }
    let mut text = String::new();
    changed.write(&mut text);
    (routes.len() as u64, text)
}

/// Whether the canonical text of the value itself changes.
fn is_seen(node: &Node<'_>, change: Change) -> bool {
    match change {
        Change::Value { scale } => scalar_text(node, scale) != scalar_text(&another(node, scale), scale),
        Change::Inside => {
            let mut after = node.clone();
            change_inside(&mut after);
            match (node.to_value(), after.to_value()) {
                (Some(before), Some(after)) => canonical(&before) != canonical(&after),
                _ => false,
            }
        }
        Change::Remove => matches!(node, Node::List(items) if !items.is_empty()),
        Change::Swap(at) => matches!(node, Node::List(items) if items.get(at) != items.get(at + 1)),
    }
}

fn scalar_text(node: &Node<'_>, scale: u32) -> String {
    let mut out = String::new();
    match node {
        Node::Number(token) => {
            out.push('"');
            push_fixed(&mut out, token, scale);
            out.push('"');
        }
        Node::Text(text) => write_string(&mut out, text, false),
        other => other.write(&mut out),
    }
    out
}

/// Another scalar of the same kind, as near as it can be.
fn another(node: &Node<'_>, scale: u32) -> Node<'static> {
    match node {
        Node::Null => Node::Text(Cow::Borrowed("x")),
        Node::Bool(value) => Node::Bool(!value),
        Node::Number(token) => {
            let mut fixed = String::new();
            push_fixed(&mut fixed, token, scale);
            Node::Number(Cow::Owned(next_unit(&fixed)))
        }
        Node::Text(text) => {
            let middle = text.char_indices().nth(text.chars().count() / 2);
            let (at, length) = middle.map_or((0, 0), |(at, old)| (at, old.len_utf8()));
            let new = if text[at..].starts_with('x') { "y" } else { "x" };
            Node::Text(Cow::Owned(format!("{}{new}{}", &text[..at], &text[at + length..])))
        }
        Node::List(_) | Node::Map(_) => Node::Null,
    }
}

/// Changes the first scalar inside; an empty container becomes the other kind of empty.
fn change_inside(node: &mut Node<'_>) {
    match node {
        Node::List(items) if items.is_empty() => *node = Node::Map(Vec::new()),
        Node::Map(members) if members.is_empty() => *node = Node::List(Vec::new()),
        Node::List(items) => items.first_mut().into_iter().for_each(change_inside),
        Node::Map(members) => members.first_mut().into_iter().for_each(|(_, first)| change_inside(first)),
        // Not a unit more: the ledger's form of a large float would not show it.
        Node::Number(token) => *token = Cow::Borrowed(if token == "7" { "8" } else { "7" }),
        scalar => *scalar = another(scalar, 0),
    }
}

fn tampered<'a>(document: &Node<'a>, site: &Site) -> Node<'a> {
    let mut changed = document.clone();
    apply(&mut changed, site);
    changed
}

fn at_route<'d, 'a>(document: &'d mut Node<'a>, route: &[usize]) -> Option<&'d mut Node<'a>> {
    let mut node = document;
    for step in route {
        node = match node {
            Node::List(items) => items.get_mut(*step)?,
            Node::Map(members) => &mut members.get_mut(*step)?.1,
            _ => return None,
        };
    }
    Some(node)
}

fn apply(document: &mut Node<'_>, site: &Site) {
    let Some(node) = at_route(document, &site.route) else { return };
    match (site.change, node) {
        (Change::Value { scale }, node) => *node = another(node, scale),
        (Change::Inside, node) => change_inside(node),
        (Change::Remove, Node::List(items)) => drop(items.pop()),
        (Change::Swap(at), Node::List(items)) => items.swap(at, at + 1),
        (Change::Remove | Change::Swap(_), _) => {}
    }
}

/// `steps[1].out`
fn shown_route(document: &Node<'_>, route: &[usize]) -> String {
    let mut path = String::new();
    let mut node = document;
    for step in route {
        match node {
            Node::List(items) => {
                path.push_str(&format!("[{step}]"));
                node = &items[*step];
            }
            Node::Map(members) => {
                let (key, member) = &members[*step];
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&shown_path(&[key]));
                node = member;
            }
            _ => break,
        }
    }
    if path.is_empty() { "$".to_owned() } else { path }
}
