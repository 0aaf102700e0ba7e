//! The rules. Each is one function with a name; what it allows is a table beside it.

mod code;
mod codes;
mod docs;
mod ids;
mod layers;
mod literals;
mod size;

use crate::{Out, Repo};

type Rule = fn(&Repo, &mut Out<'_>);

/// Every rule by name.
pub(crate) const RULES: &[(&str, Rule)] = &[
    ("pure-crates", layers::pure_crates),
    ("purity-list", layers::purity_list),
    ("edges", layers::edges),
    ("verifier-source", layers::verifier_source),
    ("verifier-tree", layers::verifier_tree),
    ("one-writer", code::one_writer),
    ("unsafe", code::unsafe_files),
    ("crate-names", layers::crate_names),
    ("unfinished", code::unfinished),
    ("release-profile", layers::release_profile),
    ("feature-tests", layers::feature_tests),
    ("planted-faults", layers::planted_faults),
    ("size", size::size),
    ("dependencies", layers::dependencies),
    ("machine-paths", docs::machine_paths),
    ("banned-words", docs::banned_words),
    ("trouble-ids", ids::trouble_ids),
    ("codes-provoked", codes::provoked),
    ("ruling-numbers", ids::ruling_numbers),
    ("links", docs::links),
    ("room-literals", literals::room_literals),
];

/// Files that must spell what a rule forbids: the rules themselves and their tests.
fn is_rule(path: &str) -> bool {
    path.starts_with("xtask/src/rules/") || path == "xtask/tests/tidy.rs"
}
