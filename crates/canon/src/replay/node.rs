//! A document as the replay form sees it: borrowed from its bytes, every number as it was written.

use super::decimal::{self, EXPONENT_MAX};
use crate::build::Build;
use crate::number::{Float, Int};
use crate::read::{Limits, ReadError, ReadFault, Reader};
use crate::value::{Object, Value};
use std::borrow::Cow;

/// A value of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node<'a> {
    Null,
    Bool(bool),
    /// The token of a number, exponent within range.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// Members in source order, keys unique.
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

/// Builds [`Node`].
struct Nodes;

impl<'a> Build<'a> for Nodes {
    type Value = Node<'a>;
    type Key = Cow<'a, str>;

    fn null(&self) -> Node<'a> {
        Node::Null
    }

    fn boolean(&self, value: bool) -> Node<'a> {
        Node::Bool(value)
    }

    fn integer(&self, token: &'a str) -> Node<'a> {
        Node::Number(Cow::Borrowed(token))
    }

    fn decimal(&self, token: &'a str, _: bool) -> Result<Node<'a>, ReadFault> {
        if decimal::exponent(token).unsigned_abs() > EXPONENT_MAX.unsigned_abs() {
            return Err(ReadFault::ExponentRange);
        }
        Ok(Node::Number(Cow::Borrowed(token)))
    }

    fn non_finite(&self, _: f64) -> Option<Node<'a>> {
        None
    }

    fn string(&self, text: Cow<'a, str>) -> Node<'a> {
        Node::Text(text)
    }

    fn array(&self, items: Vec<Node<'a>>) -> Node<'a> {
        Node::List(items)
    }

    fn object(&self, members: Vec<(Cow<'a, str>, Node<'a>)>) -> Node<'a> {
        Node::Map(members)
    }
}

/// Reads one document strictly.
pub(crate) fn read<'a>(bytes: &'a [u8], limits: Limits) -> Result<Node<'a>, ReadError> {
    Reader::strict().with_limits(limits).build(bytes, Nodes)
}

impl Node<'_> {
    /// The same as the ledger's value, for payloads that are hashed in the ledger's form (ruling 23). Nothing for a
    /// number whose value that form cannot write: two payloads that differ must never be one (PC-45).
    pub(crate) fn to_value(&self) -> Option<Value> {
        self.to_value_or(&|_| None)
    }

    /// The same, with another value for the numbers that the ledger's form cannot write.
    pub(crate) fn to_value_or(&self, other: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
        Some(match self {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Number(token) if token.contains(['.', 'e', 'E']) => {
                let float = token.parse().ok().filter(|value: &f64| value.is_finite()).map(Float::new);
                match float.filter(|float| decimal::same_value(&float.to_string(), token)) {
                    Some(float) => Value::Float(float),
                    None => other(token)?,
                }
            }
            Node::Number(token) => Value::Int(Int::from_token(token)),
            Node::Text(text) => Value::Str(text.to_string()),
            Node::List(items) => {
                Value::Array(items.iter().map(|item| item.to_value_or(other)).collect::<Option<_>>()?)
            }
            Node::Map(members) => {
                let member = |(key, node): &(Cow<'_, str>, Node<'_>)| {
                    Some((key.to_string(), node.to_value_or(other)?))
                };
                Value::Object(Object::from_unique(members.iter().map(member).collect::<Option<_>>()?))
            }
        })
    }

    /// The document written again: same order, same numbers, no blanks.
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Node::Null => out.push_str("null"),
            Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Node::Number(token) => out.push_str(token),
            Node::Text(text) => crate::write::write_string(out, text, false),
            Node::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Node::Map(members) => {
                out.push('{');
                for (index, (key, member)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    crate::write::write_string(out, key, false);
                    out.push(':');
                    member.write(out);
                }
                out.push('}');
            }
        }
    }
}
