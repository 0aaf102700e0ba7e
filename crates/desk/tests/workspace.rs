//! Workspace hash and freeze: the peer's vectors and the faults of PC-52 to PC-59.
#![allow(clippy::unwrap_used)]

use canon::{Digest, Value, shown};
use desk::workspace::{
    Changes, Excluded, Fault, Kind, Limits, Scan, changes, freeze, hash_v2, peer_leaves, peer_manifest, scan,
};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use tempfile::TempDir;
use vectors::{list, shared, text};

fn tree() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn look(root: &Path) -> Scan {
    scan(root, &Limits::default()).unwrap()
}

fn v2(root: &Path) -> Digest {
    hash_v2(&look(root), Excluded::Nothing)
}

fn peer(root: &Path) -> Option<Digest> {
    peer_manifest(&look(root)).map(|manifest| manifest.ws_sha256)
}

fn write(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
}

fn build(root: &Path, tree: &Value) {
    for entry in tree.as_array().unwrap() {
        let path = root.join(text(entry, "path"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text(entry, "kind") {
            "dir" => fs::create_dir_all(&path).unwrap(),
            "symlink" => symlink(text(entry, "target"), &path).unwrap(),
            "fifo" => fifo(&path),
            "file" => {
                let content = match entry.get("hex") {
                    Some(hex) => canon::unhex(hex.as_str().unwrap()).unwrap(),
                    None => text(entry, "text").as_bytes().to_vec(),
                };
                fs::write(&path, content).unwrap();
                let exec = entry.get("exec").and_then(Value::as_bool) == Some(true);
                let bits =
                    entry.get("mode").and_then(Value::as_i64).unwrap_or(if exec { 0o755 } else { 0o644 });
                mode(&path, u32::try_from(bits).unwrap());
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn peer_hash_vectors() {
    let Some(path) = shared("peer_hash_vectors", "vectors/receiving-desk/wshash/wshash.json") else { return };
    let vectors = vectors::json(&path);
    let cases = list(&vectors, "cases");
    assert_eq!(cases.len(), 19);
    let mut scans = Vec::new();
    for case in cases {
        let root = tree();
        build(root.path(), case.get("tree").unwrap());
        let scan = look(root.path());
        let manifest = peer_manifest(&scan).unwrap();
        assert_eq!(manifest.ws_sha256.to_hex(), text(case, "ws_sha256"), "{}", text(case, "name"));
        assert_eq!(manifest.ws_sha256, Digest::of(text(case, "canonical_utf8").as_bytes()));
        assert_eq!(Some(manifest.files_n as i64), case.get("files_n").unwrap().as_i64());
        assert_eq!(Some(manifest.bytes_n as i64), case.get("bytes_n").unwrap().as_i64());
        scans.push((text(case, "name").to_owned(), scan));
    }
    let of = |name: &str| &scans.iter().find(|(case, _)| case == name).unwrap().1;
    let diff = changes(of("one_file"), of("diff_after"));
    assert_eq!((diff.added, diff.changed), (vec![b"new.py".to_vec()], vec![b"solution.py".to_vec()]));
    // Strict expectation: our own hash records the link that the peer does not see.
    let link = of("symlink_to_dir_invisible");
    assert!(link.leaves.iter().any(|leaf| matches!(leaf.kind, Kind::Link { to_directory: true, .. })));
    let mut without = link.clone();
    without.leaves.retain(|leaf| !matches!(leaf.kind, Kind::Link { .. }));
    assert_eq!(peer_leaves(link), peer_leaves(&without));
    assert_ne!(hash_v2(link, Excluded::Nothing), hash_v2(&without, Excluded::Nothing));
}

/// PC-52: no two different trees give one hash.
#[test]
fn pc52_trees_do_not_collide() {
    type Make = fn(&Path);
    let makers: [Make; 12] = [
        |root| write(root, "aFhi-b", b"x"),
        |root| {
            write(root, "a", b"hi");
            write(root, "b", b"x");
        },
        |root| write(root, "ab", b"c"),
        |root| write(root, "a", b"bc"),
        |root| fs::create_dir(root.join("d")).unwrap(),
        |root| write(root, "d", b""),
        |root| write(root, "l", b"target"),
        |root| symlink("target", root.join("l")).unwrap(),
        |root| fifo(&root.join("l")),
        |root| write(root, ".git/HEAD", b"ref"),
        |root| write(root, ".git/HEAD", b"ref2"),
        |_| {},
    ];
    let hashes: Vec<Digest> = makers
        .iter()
        .map(|make| {
            let root = tree();
            make(root.path());
            v2(root.path())
        })
        .collect();
    let distinct: std::collections::BTreeSet<&Digest> = hashes.iter().collect();
    assert_eq!(distinct.len(), hashes.len());
}

/// PC-54: an inner repository is content, and its `.git` is in the second hash.
#[test]
fn pc54_inner_repositories_are_content() {
    let (root, run) = (tree(), tree());
    write(root.path(), "sub/m.py", b"bad");
    write(root.path(), "sub/.git/HEAD", b"ref");
    let before = look(root.path());
    write(root.path(), "sub/m.py", b"worse");
    write(root.path(), "sub/.git/HEAD", b"other");
    let after = look(root.path());
    let diff = changes(&before, &after);
    assert_eq!(diff.changed, [b"sub/m.py".to_vec()]);
    assert_eq!(diff.in_excluded_n, 1);
    freeze(root.path(), &run.path().join("copy"), &Limits::default()).unwrap();
    assert!(run.path().join("copy/sub/m.py").exists() && !run.path().join("copy/sub/.git").exists());
    write(root.path(), "sub/.git/HEAD", b"third");
    assert_ne!(v2(root.path()), hash_v2(&after, Excluded::Nothing));
    assert_eq!(peer(root.path()), peer_manifest(&after).map(|manifest| manifest.ws_sha256));
}

/// PC-55: any name is present, and shown without ambiguity or power over the terminal.
#[test]
fn pc55_names_of_every_kind() {
    let root = tree();
    let names: [&[u8]; 10] = [
        "ä.txt".as_bytes(),
        b"q\"x",
        b"a -> b",
        b"t\tb",
        b"line\nfeed",
        b"esc\x1b[2K",
        b"blank ",
        "e\u{301}".as_bytes(),
        "\u{e9}".as_bytes(),
        b"back\\slash",
    ];
    let empty = look(root.path());
    for name in names {
        fs::write(root.path().join(OsStr::from_bytes(name)), b"x").unwrap();
    }
    let added = changes(&empty, &look(root.path())).added;
    assert_eq!(added.len(), names.len());
    assert!(peer(root.path()).is_some());
    let mut texts: Vec<String> = added.iter().map(|name| shown(name)).collect();
    assert!(texts.iter().all(|text| !text.chars().any(char::is_control)), "{texts:?}");
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), names.len());
    assert_eq!(shown(b"esc\x1b[2K"), "esc\\u{1b}[2K");
    assert_eq!(shown(b"blank "), "\"blank \"");
    let with_utf8 = v2(root.path());
    fs::write(root.path().join(OsStr::from_bytes(b"bad\xff")), b"x").unwrap();
    assert_eq!(peer(root.path()), None, "the peer cannot represent it");
    assert_ne!(v2(root.path()), with_utf8);
    assert_eq!(shown(b"bad\xff"), "bad\\xff");
}

/// PC-56: the bits that the peer ignores change the second hash; the frozen copy still runs.
#[test]
fn pc56_mode_bits() {
    let (root, run) = (tree(), tree());
    write(root.path(), "run.sh", b"#!/bin/sh\n");
    fs::create_dir(root.path().join("d")).unwrap();
    let script = root.path().join("run.sh");
    mode(&script, 0o644);
    let (peer_plain, ours_plain) = (peer(root.path()), v2(root.path()));
    let before = look(root.path());
    mode(&script, 0o744);
    assert_ne!(peer(root.path()), peer_plain);
    assert_ne!(v2(root.path()), ours_plain);
    assert_eq!(changes(&before, &look(root.path())).changed, [b"run.sh".to_vec()]);
    for bits in [0o664, 0o4644, 0o1644] {
        mode(&script, bits);
        assert_eq!(peer(root.path()), peer_plain, "{bits:o}");
        assert_ne!(v2(root.path()), ours_plain, "{bits:o}");
    }
    mode(&script, 0o644);
    mode(&root.path().join("d"), 0o700);
    assert_ne!(v2(root.path()), ours_plain);
    mode(&script, 0o4755);
    let copy = run.path().join("copy");
    freeze(root.path(), &copy, &Limits::default()).unwrap();
    assert_eq!(
        fs::metadata(copy.join("run.sh")).unwrap().mode() & 0o7777,
        0o755,
        "set-user bit is not carried"
    );
}

/// PC-57: nothing special is opened, links are links.
#[test]
fn pc57_fifos_sockets_loops_and_devices_by_link() {
    let (root, run) = (tree(), tree());
    write(root.path(), "x", b"1");
    fifo(&root.path().join("p"));
    let _socket = UnixListener::bind(root.path().join("s")).unwrap();
    for (target, link) in
        [("p", "l"), (".", "loop"), ("/dev/zero", "z"), ("../../..", "up"), ("none", "dangling")]
    {
        symlink(target, root.path().join(link)).unwrap();
    }
    let copy = run.path().join("copy");
    let frozen = freeze(root.path(), &copy, &Limits::default()).unwrap();
    let specials: Vec<(&[u8], &str)> = frozen.live.specials().collect();
    assert_eq!(specials, [(b"p".as_slice(), "fifo"), (b"s".as_slice(), "socket")]);
    assert_eq!(fs::read_link(copy.join("up")).unwrap(), Path::new("../../.."));
    assert_eq!(fs::read_link(copy.join("z")).unwrap(), Path::new("/dev/zero"));
    assert!(!copy.join("p").exists() && copy.join("x").exists());
}

/// PC-59: the frozen copy has inodes of its own.
#[test]
fn pc59_hard_links_are_not_shared() {
    let (root, run) = (tree(), tree());
    let keep = run.path().join("keep");
    fs::write(&keep, b"before").unwrap();
    fs::hard_link(&keep, root.path().join("f")).unwrap();
    fs::hard_link(root.path().join("f"), root.path().join("g")).unwrap();
    let copy = run.path().join("copy");
    freeze(root.path(), &copy, &Limits::default()).unwrap();
    let hash = v2(&copy);
    fs::write(&keep, b"after").unwrap();
    assert_eq!(v2(&copy), hash);
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_ne!(inode(&copy.join("f")), inode(&keep));
    assert_ne!(inode(&copy.join("f")), inode(&copy.join("g")));
}

#[test]
fn a_tree_that_cannot_be_read_is_a_named_fault() {
    let (root, run) = (tree(), tree());
    write(root.path(), "file", b"x");
    assert_eq!(scan(&root.path().join("file"), &Limits::default()), Err(Fault::NotADirectory));
    assert_eq!(scan(&root.path().join("absent"), &Limits::default()), Err(Fault::NotADirectory));
    let few = Limits { entries_max: 0, bytes_max: 10 };
    assert_eq!(scan(root.path(), &few), Err(Fault::TooManyEntries(0)));
    let small = Limits { entries_max: 10, bytes_max: 0 };
    assert_eq!(scan(root.path(), &small), Err(Fault::TooManyBytes(0)));
    fs::create_dir(run.path().join("copy")).unwrap();
    let taken = freeze(root.path(), &run.path().join("copy"), &Limits::default());
    assert!(matches!(taken, Err(Fault::CopyFailed(_))), "{taken:?}");
}

#[test]
fn an_overlong_path_is_a_finding() {
    let root = tree();
    let mut at =
        rustix::fs::open(root.path(), rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
    let name = "n".repeat(250);
    for _ in 0..20 {
        rustix::fs::mkdirat(&at, &name, rustix::fs::Mode::RWXU).unwrap();
        at =
            rustix::fs::openat(&at, &name, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
    }
    assert!(matches!(scan(root.path(), &Limits::default()), Err(Fault::PathTooLong(_))));
}

#[test]
fn sparse_files_hash_like_dense_ones_and_stay_sparse() {
    let (root, run) = (tree(), tree());
    let path = root.path().join("sparse");
    let file = fs::File::create(&path).unwrap();
    file.set_len(8 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"island", 5 << 20).unwrap();
    let dense = fs::read(&path).unwrap();
    let scan = look(root.path());
    assert_eq!(scan.leaves[0].kind, Kind::File { size: 8 << 20, sha256: Digest::of(&dense) });
    let copy = run.path().join("copy");
    freeze(root.path(), &copy, &Limits::default()).unwrap();
    assert_eq!(fs::read(copy.join("sparse")).unwrap(), dense);
    assert!(fs::metadata(copy.join("sparse")).unwrap().blocks() * 512 < (2 << 20));
}

#[test]
fn an_unchanged_tree_has_no_changes() {
    let root = tree();
    write(root.path(), "a/b", b"1");
    assert_eq!(changes(&look(root.path()), &look(root.path())), Changes::default());
    assert!(changes(&look(root.path()), &look(root.path())).is_empty());
}
