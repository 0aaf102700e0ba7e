//! `reasons.toml`: every code with its layer, meaning and the version that brought it (V-6).

use std::collections::BTreeMap;

/// The registry as written.
pub const REASONS: &str = include_str!("../reasons.toml");

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Which part of the product emits it.
    pub layer: String,
    /// What it means, in one sentence.
    pub meaning: String,
    /// First version that has it.
    pub since: String,
}

/// The families of V-3 by prefix. Families are open: a code of no such prefix is of the family of its layer.
const FAMILIES: [(&str, &str); 8] = [
    ("struct_", "structure"),
    ("size_", "size"),
    ("danger_", "danger"),
    ("perm_", "permission"),
    ("ident_", "identity"),
    ("meta_", "metadata"),
    ("audit_", "audit"),
    ("hon_", "honesty"),
];

impl Reason {
    /// The family of `code`, whose entry this is.
    pub fn family(&self, code: &str) -> &str {
        FAMILIES.iter().find(|(prefix, _)| code.starts_with(prefix)).map_or(&self.layer, |(_, family)| family)
    }
}

/// Every code, sorted. Panics never: an entry that cannot be read is absent, and the test that compares the
/// registry with the code fails.
pub fn all() -> BTreeMap<String, Reason> {
    let table: toml::Table = REASONS.parse().unwrap_or_default();
    let mut reasons = BTreeMap::new();
    for (layer, codes) in table {
        for (code, entry) in codes.as_table().into_iter().flatten() {
            let text = |key: &str| entry.get(key).and_then(toml::Value::as_str).map(str::to_owned);
            if let (Some(meaning), Some(since)) = (text("meaning"), text("since")) {
                reasons.insert(code.clone(), Reason { layer: layer.clone(), meaning, since });
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_those_of_the_draft() {
        let all = all();
        let family = |code: &str| all[code].family(code).to_owned();
        assert_eq!(family("struct_missing_recipient"), "structure");
        assert_eq!(family("hon_measured_no_source"), "honesty");
        assert_eq!(family("visible_pass"), "run");
    }
}
