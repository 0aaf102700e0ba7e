//! The workspace as evidence: what lies in it, its two hashes, how it changed, and the frozen copy that is judged
//! (desk specification sections 7, 10.3e and 31.4).

mod diff;
mod freeze;
mod hash;
pub(crate) mod open;
mod scan;

pub use diff::{Changes, changes};
pub use freeze::{Frozen, copy_whole, freeze};
pub use hash::{Excluded, PeerLeaf, PeerManifest, hash_v2, peer_leaves, peer_manifest};
pub use scan::{EXCLUDED_DIRECTORIES, Kind, Leaf, Limits, Scan, scan};

use canon::shown;
use std::fmt;

/// What keeps a workspace from being hashed or frozen. After the agent has run each of these is a finding about the
/// delivery (ruling 16), never an excuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The root is no directory.
    NotADirectory,
    /// A file or directory that cannot be opened, and the system's word for why.
    Unreadable {
        /// Path relative to the workspace, as bytes.
        path: Vec<u8>,
        /// The system's error.
        why: String,
    },
    /// A path longer than the system can open.
    PathTooLong(Vec<u8>),
    /// More entries than the limit.
    TooManyEntries(u64),
    /// More bytes than the limit.
    TooManyBytes(u64),
    /// The tree changed while it was being copied: the first path that differs.
    Moved(Vec<u8>),
    /// The copy could not be written: the desk's own trouble (disk, rights of the run directory).
    CopyFailed(String),
}

// The stable code.
canon::codes! {
    impl Fault: &self {
        Fault::NotADirectory => "ws_not_a_directory",
        Fault::Unreadable { .. } => "ws_unreadable",
        Fault::PathTooLong(_) => "ws_path_too_long",
        Fault::TooManyEntries(_) => "ws_too_many_entries",
        Fault::TooManyBytes(_) => "ws_too_many_bytes",
        Fault::Moved(_) => "ws_moved_during_freeze",
        Fault::CopyFailed(_) => "freeze_copy_failed",
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotADirectory => f.write_str("not a directory"),
            Fault::Unreadable { path, why } => write!(f, "{}: {why}", shown(path)),
            Fault::PathTooLong(path) => write!(f, "path too long: {}", shown(path)),
            Fault::TooManyEntries(limit) => write!(f, "more than {limit} entries"),
            Fault::TooManyBytes(limit) => write!(f, "more than {limit} bytes"),
            Fault::Moved(path) => write!(f, "changed during the freeze: {}", shown(path)),
            Fault::CopyFailed(why) => f.write_str(why),
        }
    }
}
