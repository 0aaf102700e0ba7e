//! The difference of two canonical forms, as paths.

use super::form::{Canonicaliser, Dropped, Form};
use super::node::{self, Node};
use super::{Document, FormError};
use crate::read::Limits;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// One place where two canonical forms differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `steps[1].out`; list positions are those of the canonical form.
    pub path: String,
    /// What stands there on the left, as canonical JSON; nothing where nothing stands.
    pub left: Option<String>,
    /// The same on the right.
    pub right: Option<String>,
}

/// Where two canonical forms differ, in their order, at most `max` places. Empty only when they are equal.
pub fn difference(left: &Form, right: &Form, max: usize) -> Vec<Difference> {
    let limits = Limits { depth_max: usize::MAX, bytes_max: usize::MAX };
    let (Ok(a), Ok(b)) = (node::read(left.bytes(), limits), node::read(right.bytes(), limits)) else {
        // A form is always JSON; should it not be, it is one difference at the top and not none.
        return vec![Difference {
            path: "$".into(),
            left: Some(left.text().into()),
            right: Some(right.text().into()),
        }];
    };
    let mut diff = Diff { found: Vec::new(), path: String::new(), max };
    diff.compare(Some(&a), Some(&b));
    diff.found
}

struct Diff {
    found: Vec<Difference>,
    path: String,
    max: usize,
}

impl Diff {
    fn compare(&mut self, left: Option<&Node<'_>>, right: Option<&Node<'_>>) {
        if left == right || self.found.len() >= self.max {
            return;
        }
        match (left, right) {
            (Some(Node::Map(a)), Some(Node::Map(b))) => self.objects(a, b),
            (Some(Node::List(a)), Some(Node::List(b))) => self.lists(a, b),
            _ => {
                let path = if self.path.is_empty() { "$".to_owned() } else { self.path.clone() };
                self.found.push(Difference { path, left: left.map(written), right: right.map(written) });
            }
        }
    }

    fn objects(&mut self, a: &[(Cow<'_, str>, Node<'_>)], b: &[(Cow<'_, str>, Node<'_>)]) {
        let left: BTreeMap<&str, &Node<'_>> = a.iter().map(|(key, node)| (&**key, node)).collect();
        let right: BTreeMap<&str, &Node<'_>> = b.iter().map(|(key, node)| (&**key, node)).collect();
        let keys: BTreeSet<&str> = left.keys().chain(right.keys()).copied().collect();
        for key in keys {
            let name = super::path::shown_path(&[key]);
            let dot = if self.path.is_empty() { "" } else { "." };
            self.inside(&format!("{dot}{name}"), left.get(key).copied(), right.get(key).copied());
        }
    }

    /// Equal ends are left out, so that one element more is one difference and not all that follow.
    fn lists(&mut self, a: &[Node<'_>], b: &[Node<'_>]) {
        let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[front..], &b[front..]);
        let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
        for index in 0..a.len().max(b.len()) {
            self.inside(&format!("[{}]", front + index), a.get(index), b.get(index));
        }
    }

    fn inside(&mut self, segment: &str, left: Option<&Node<'_>>, right: Option<&Node<'_>>) {
        let length = self.path.len();
        self.path.push_str(segment);
        self.compare(left, right);
        self.path.truncate(length);
    }
}

fn written(node: &Node<'_>) -> String {
    let mut out = String::new();
    node.write(&mut out);
    out
}

/// Two runs of one task, side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Canonical forms.
    pub forms: [Form; 2],
    /// Paths of dropped fields whose values differ: proof that dropping them does something (section 8, `full`).
    pub physical: BTreeSet<String>,
}

impl Canonicaliser<'_> {
    /// Compares two runs: what takes part in the hash, and what was dropped.
    ///
    /// # Errors
    /// As [`Canonicaliser::form`].
    pub fn compare(&mut self, left: &Document<'_>, right: &Document<'_>) -> Result<Comparison, FormError> {
        let (a, dropped_a) = self.form_and_dropped(&left.0)?;
        let (b, dropped_b) = self.form_and_dropped(&right.0)?;
        let (by_path_a, by_path_b) = (by_path(&dropped_a), by_path(&dropped_b));
        let places: BTreeSet<u32> = by_path_a.keys().chain(by_path_b.keys()).copied().collect();
        let differs = |at: &u32| by_path_a.get(at) != by_path_b.get(at);
        let physical = places.into_iter().filter(differs).map(|at| self.schema.path(at)).collect();
        Ok(Comparison { forms: [a, b], physical })
    }
}

/// The values of each path in their order.
fn by_path(dropped: &[Dropped]) -> BTreeMap<u32, Vec<&str>> {
    let mut paths: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (at, text) in dropped {
        paths.entry(*at).or_default().push(text);
    }
    paths
}
