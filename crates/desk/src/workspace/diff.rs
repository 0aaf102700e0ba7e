//! What an agent changed.

use super::scan::{Kind, Leaf, Scan};
use std::collections::BTreeMap;

/// Paths that differ between two scans, sorted by bytes. The excluded directories are counted, not listed: their
/// names would drown the delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Only in the later tree.
    pub added: Vec<Vec<u8>>,
    /// Only in the earlier tree.
    pub removed: Vec<Vec<u8>>,
    /// Content, kind or mode differ.
    pub changed: Vec<Vec<u8>>,
    /// Differing entries inside excluded directories.
    pub in_excluded_n: u64,
}

impl Changes {
    /// True when nothing at all differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty() && self.in_excluded_n == 0
    }
}

/// Compares two trees.
pub fn changes(before: &Scan, after: &Scan) -> Changes {
    let earlier: BTreeMap<&[u8], &Leaf> =
        before.leaves.iter().map(|leaf| (leaf.path.as_slice(), leaf)).collect();
    let mut changes = Changes::default();
    let mut seen = 0;
    for leaf in &after.leaves {
        let list = match earlier.get(leaf.path.as_slice()) {
            None => &mut changes.added,
            Some(old) => {
                seen += 1;
                if same(old, leaf) {
                    continue;
                }
                &mut changes.changed
            }
        };
        if leaf.excluded { changes.in_excluded_n += 1 } else { list.push(leaf.path.clone()) }
    }
    if seen < before.leaves.len() {
        let later: std::collections::BTreeSet<&[u8]> =
            after.leaves.iter().map(|leaf| leaf.path.as_slice()).collect();
        for leaf in before.leaves.iter().filter(|leaf| !later.contains(leaf.path.as_slice())) {
            if leaf.excluded {
                changes.in_excluded_n += 1;
            } else {
                changes.removed.push(leaf.path.clone());
            }
        }
    }
    changes
}

/// The same entry. Whether a link's target happens to be a directory is no property of the entry.
pub(super) fn same(a: &Leaf, b: &Leaf) -> bool {
    let kind = match (&a.kind, &b.kind) {
        (Kind::Link { target: a, .. }, Kind::Link { target: b, .. }) => a == b,
        (a, b) => a == b,
    };
    kind && a.mode == b.mode
}
