//! The order of a list: stable keys, then bytes (D-5).

use super::decimal::{compare_fixed, push_fixed};
use super::node::Node;
use std::cmp::Ordering;

/// What one stable key of an element is worth. It follows from the canonical form alone, so that two elements that
/// are written alike are ordered alike. Elements that lack the key come first, numbers before strings (ruling 23).
#[derive(Debug)]
pub(crate) enum Rank<'n> {
    /// Not there, or not part of the canonical form.
    Missing,
    /// Something that has no order of its own; the element's bytes decide.
    Other,
    Bool(bool),
    /// A short whole number, at any scale.
    Small(i64),
    /// Fixed-point text.
    Fixed(String),
    Text(&'n str),
}

impl<'n> Rank<'n> {
    /// The rank of a kept scalar.
    pub(crate) fn of(node: &'n Node<'_>, scale: u32) -> Rank<'n> {
        match node {
            Node::Bool(value) => Rank::Bool(*value),
            Node::Text(text) => Rank::Text(text),
            Node::Number(token) => match small(token) {
                Some(number) => Rank::Small(number),
                None => {
                    let mut fixed = String::new();
                    push_fixed(&mut fixed, token, scale);
                    Rank::Fixed(fixed)
                }
            },
            _ => Rank::Other,
        }
    }

    fn class(&self) -> u8 {
        match self {
            Rank::Missing => 0,
            Rank::Other => 1,
            Rank::Bool(_) => 2,
            Rank::Small(_) | Rank::Fixed(_) => 3,
            Rank::Text(_) => 4,
        }
    }

    /// Compares two ranks of one path; both are written with the same `scale`.
    pub(crate) fn compare(&self, other: &Rank<'_>, scale: u32) -> Ordering {
        match (self, other) {
            (Rank::Bool(a), Rank::Bool(b)) => a.cmp(b),
            (Rank::Text(a), Rank::Text(b)) => a.cmp(b),
            (Rank::Small(a), Rank::Small(b)) => a.cmp(b),
            (Rank::Fixed(a), Rank::Fixed(b)) => compare_fixed(a, b),
            (Rank::Small(a), Rank::Fixed(b)) => compare_fixed(&fixed(*a, scale), b),
            (Rank::Fixed(a), Rank::Small(b)) => compare_fixed(a, &fixed(*b, scale)),
            _ => self.class().cmp(&other.class()),
        }
    }
}

fn small(token: &str) -> Option<i64> {
    if token.len() < 18 { token.parse().ok() } else { None }
}

fn fixed(number: i64, scale: u32) -> String {
    let mut out = String::new();
    push_fixed(&mut out, &number.to_string(), scale);
    out
}
