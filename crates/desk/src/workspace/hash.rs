//! The two hashes of a workspace: the peer's, bit-exact, and ours, which has no blind spot.

use super::scan::{EXCLUDED_DIRECTORIES, Kind, Leaf, Scan};
use canon::{Digest, Hasher, Object, Value, canonical_digest};

/// A leaf as the peer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLeaf {
    /// Path text.
    pub path: String,
    /// Digest of the content or of the link's target text; nothing for special files.
    pub sha256: Option<Digest>,
    /// Owner-execute bit of a regular file.
    pub exec: bool,
    symlink: bool,
    special: bool,
}

/// Section 7: the manifest of the peer's hash.
#[derive(Clone, Debug)]
pub struct PeerManifest {
    /// SHA-256 of the canonical list of leaves.
    pub ws_sha256: Digest,
    /// Leaves.
    pub files_n: u64,
    /// Bytes of regular files.
    pub bytes_n: u64,
}

/// The leaves of the peer's hash, or nothing when a name or a link target is not UTF-8: the peer cannot represent
/// such a tree.
pub fn peer_leaves(scan: &Scan) -> Option<Vec<PeerLeaf>> {
    let mut leaves = Vec::new();
    for leaf in scan.leaves.iter().filter(|leaf| !leaf.excluded) {
        let (sha256, exec, symlink, special) = match &leaf.kind {
            Kind::Directory | Kind::Link { to_directory: true, .. } => continue,
            Kind::File { sha256, .. } => (Some(*sha256), leaf.mode & 0o100 != 0, false, false),
            Kind::Link { target, .. } => {
                std::str::from_utf8(target).ok()?;
                (Some(Digest::of(target)), false, true, false)
            }
            Kind::Special(_) => (None, false, false, true),
        };
        let path = String::from_utf8(leaf.path.clone()).ok()?;
        leaves.push(PeerLeaf { path, sha256, exec, symlink, special });
    }
    Some(leaves)
}

/// The peer's hash of a tree, or nothing when the peer could not represent it.
pub fn peer_manifest(scan: &Scan) -> Option<PeerManifest> {
    let leaves = peer_leaves(scan)?;
    let bytes = |leaf: &Leaf| match leaf.kind {
        Kind::File { size, .. } if !leaf.excluded => size,
        _ => 0,
    };
    Some(PeerManifest {
        ws_sha256: canonical_digest(&Value::Array(leaves.iter().map(PeerLeaf::to_value).collect())),
        files_n: leaves.len() as u64,
        bytes_n: scan.leaves.iter().map(bytes).sum(),
    })
}

impl PeerLeaf {
    fn to_value(&self) -> Value {
        let mut object = Object::new()
            .with("path", self.path.as_str())
            .with("sha256", self.sha256)
            .with("exec", self.exec);
        for (member, set) in [("symlink", self.symlink), ("special", self.special)] {
            if set {
                object.set(member, true);
            }
        }
        object.into()
    }
}

/// What the second hash leaves out. The list is hashed with the tree, so that two lists never give one hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// Nothing: the live workspace.
    Nothing,
    /// The three directories: the frozen copy, which never contains them (ruling 27).
    CacheDirectories,
}

impl Excluded {
    /// The names, as signed.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Excluded::Nothing => &[],
            Excluded::CacheDirectories => &EXCLUDED_DIRECTORIES,
        }
    }
}

/// `ws_sha256_v2` (31.4): every entry, directories and links to directories included, in a length-prefixed binary
/// form (PC-52), names as raw bytes, all twelve mode bits. The form is `docs/formats.md`, "Workspace hash".
pub fn hash_v2(scan: &Scan, excluded: Excluded) -> Digest {
    let mut hasher = Hasher::new();
    hasher.update(b"touchstone.ws/2\0");
    number(&mut hasher, excluded.names().len() as u64);
    for name in excluded.names() {
        text(&mut hasher, name.as_bytes());
    }
    let leaves = || scan.leaves.iter().filter(|leaf| excluded == Excluded::Nothing || !leaf.excluded);
    number(&mut hasher, leaves().count() as u64);
    for leaf in leaves() {
        text(&mut hasher, &leaf.path);
        number(&mut hasher, u64::from(leaf.mode));
        match &leaf.kind {
            Kind::Directory => hasher.update(b"d"),
            Kind::File { size, sha256 } => {
                hasher.update(b"f");
                number(&mut hasher, *size);
                hasher.update(sha256.as_bytes());
            }
            Kind::Link { target, .. } => {
                hasher.update(b"l");
                text(&mut hasher, target);
            }
            Kind::Special(what) => {
                hasher.update(b"s");
                text(&mut hasher, what.as_bytes());
            }
        }
    }
    hasher.finish()
}

fn number(hasher: &mut Hasher, value: u64) {
    hasher.update(&value.to_le_bytes());
}

fn text(hasher: &mut Hasher, bytes: &[u8]) {
    number(hasher, bytes.len() as u64);
    hasher.update(bytes);
}
