//! Every distinct path of the documents seen so far, classified once. A document of a million members has a few dozen
//! paths; looking each up in the table again and again would cost more than writing it.

use super::path::shown_path;
use super::table::{Class, Order, Table};
use std::collections::BTreeMap;

/// What the table says about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Registered.
    Known(Class),
    /// In no table: physical, and a warning (R1).
    Unknown,
}

/// How the elements of a list come into order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// By these keys, the table's or the default ones.
    Keys(Vec<String>),
    Set,
    Sequence,
}

/// Stable keys of a list that the table does not name (D-5).
const DEFAULT_KEYS: [&str; 3] = ["step", "seq", "agent_id"];

/// One path.
#[derive(Debug)]
pub(crate) struct Place {
    key: Box<str>,
    parent: u32,
    pub(crate) kind: Kind,
    pub(crate) scale: u32,
    pub(crate) rule: Rule,
    pub(crate) counts: Counts,
    children: Vec<u32>,
    /// Where `children` is too long to look through.
    index: BTreeMap<Box<str>, u32>,
}

/// What was met at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Values that were dropped.
    pub(crate) dropped: u64,
    /// Values that take part: scalars and opaque payloads.
    pub(crate) leaves: u64,
    /// Lists of objects that were sorted by bytes for want of a key.
    pub(crate) unkeyed: u64,
}

/// All paths. The document is number 0.
#[derive(Debug)]
pub(crate) struct Schema {
    places: Vec<Place>,
}

impl Schema {
    const SMALL: usize = 24;

    pub(crate) fn new(table: &Table) -> Schema {
        let mut schema = Schema { places: Vec::new() };
        schema.add(table, 0, "", &[]);
        schema.places[0].kind = Kind::Known(Class::Repro);
        schema
    }

    pub(crate) fn place(&self, at: u32) -> &Place {
        &self.places[at as usize]
    }

    pub(crate) fn counts(&mut self, at: u32) -> &mut Counts {
        &mut self.places[at as usize].counts
    }

    /// The member `key` of `parent`. `hint` is where it probably stands: objects of one kind list their members in
    /// one order.
    pub(crate) fn child(&mut self, table: &Table, parent: u32, key: &str, hint: usize) -> u32 {
        let place = self.place(parent);
        if let Some(child) = place.children.get(hint)
            && *self.place(*child).key == *key
        {
            return *child;
        }
        let found = if place.children.len() <= Schema::SMALL {
            place.children.iter().copied().find(|child| *self.place(*child).key == *key)
        } else {
            place.index.get(key).copied()
        };
        found.unwrap_or_else(|| {
            let mut keys = self.keys(parent);
            keys.push(key);
            let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            self.add(table, parent, key, &keys)
        })
    }

    fn add(&mut self, table: &Table, parent: u32, key: &str, keys: &[&str]) -> u32 {
        // A document has fewer members than bytes, and those fit in 32 bits.
        let at = self.places.len() as u32;
        let rule = match table.order(keys) {
            None => Rule::Keys(DEFAULT_KEYS.iter().map(|key| (*key).to_owned()).collect()),
            Some(Order::Keys(keys)) => Rule::Keys(keys.clone()),
            Some(Order::Set) => Rule::Set,
            Some(Order::Sequence) => Rule::Sequence,
        };
        self.places.push(Place {
            key: key.into(),
            parent,
            kind: table.class(keys).map_or(Kind::Unknown, Kind::Known),
            scale: table.scale(keys),
            rule,
            counts: Counts::default(),
            children: Vec::new(),
            index: BTreeMap::new(),
        });
        if at != parent {
            self.link(parent, at);
        }
        at
    }

    fn link(&mut self, parent: u32, child: u32) {
        let place = &mut self.places[parent as usize];
        place.children.push(child);
        let new = match place.children.len() {
            0..=Schema::SMALL => return,
            length if length == Schema::SMALL + 1 => place.children.clone(),
            _ => vec![child],
        };
        for child in new {
            let key = self.place(child).key.clone();
            self.places[parent as usize].index.insert(key, child);
        }
    }

    /// Keys from the document to this place.
    fn keys(&self, mut at: u32) -> Vec<&str> {
        let mut keys = Vec::new();
        while at != 0 {
            let place = self.place(at);
            keys.push(&*place.key);
            at = place.parent;
        }
        keys.reverse();
        keys
    }

    /// The path as people read it.
    pub(crate) fn path(&self, at: u32) -> String {
        shown_path(&self.keys(at))
    }

    /// Every path with what was met there.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, &Place)> {
        (0..).zip(&self.places)
    }

    /// Forgets what was met, keeps what was classified.
    pub(crate) fn reset(&mut self) {
        for place in &mut self.places {
            place.counts = Counts::default();
        }
    }
}
