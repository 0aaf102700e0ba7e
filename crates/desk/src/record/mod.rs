//! Evidence packs: desk specification section 23 and nothing else.
//!
//! A pack is a folder whose files are listed with their digests in `SHA256SUMS`. It proves that it agrees with
//! itself, not that it is true: whoever changes a file can make the sums again (boundary 17). What a pack cannot
//! do is change unnoticed under sums that were taken out of reach before.
//!
//! No link is followed and no path leaves the pack. A file named `identity.key` is never opened.

mod chains;
mod check;
mod measure;
mod pack;
mod problem;
mod sums;
mod tree;

pub use check::check;
pub use measure::measured;
pub use pack::{Options, PackError, Packed, pack};
pub use problem::{Cause, Problem};

/// Written last.
pub const SUMS: &str = "SHA256SUMS";
/// Where the run comes from.
pub const MANIFEST: &str = "manifest.json";
/// The events of the run, one object a line.
pub const EVENTS: &str = "ledger_events.jsonl";
/// One PASS or FAIL line per chain.
pub const CHAIN_VERIFY: &str = "chain_verify.txt";
/// One line per card.
pub const CARD_VERIFY: &str = "card_verify.txt";
/// What went wrong, in people's words.
pub const ANOMALIES: &str = "anomalies.md";
/// A file of this name is a private key: declared, never listed, never opened.
pub const PRIVATE_KEY: &str = "identity.key";

/// Files that every pack has.
pub const REQUIRED: [&str; 5] = [MANIFEST, EVENTS, CHAIN_VERIFY, ANOMALIES, SUMS];
/// Files that may be absent with a reason in `manifest.missing`.
pub const EXCUSABLE: [&str; 2] = ["wire.jsonl", "model_io.jsonl"];
/// Fields that every manifest has.
pub const FIELDS: [&str; 13] = [
    "repo_commit",
    "pip_freeze",
    "os",
    "python",
    "model_id",
    "endpoint",
    "no_think",
    "seeds",
    "machine",
    "utc_start",
    "utc_end",
    "trust_arm",
    "scripts",
];

/// Longest manifest, sum file or verify file.
const SMALL_BYTES_MAX: u64 = 64 << 20;
/// Longest chain or file beside one.
const CHAIN_BYTES_MAX: u64 = 1 << 30;

/// Cards come with a later version; until then nothing here can say PASS about one.
fn is_card(path: &str) -> bool {
    path.strip_prefix("trust_cards/").is_some_and(|name| !name.contains('/') && name.ends_with(".json"))
}
