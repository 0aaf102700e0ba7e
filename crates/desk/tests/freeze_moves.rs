//! A tree that changes while it is frozen is never passed off as the copy (10.3e).
#![allow(clippy::unwrap_used)]

use desk::gate::stop_for;
use desk::workspace::{Excluded, Fault, Frozen, Limits, freeze, hash_v2, scan};
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use verdict::StopReason;

/// Freezes that are tried in any case, and at most.
const AT_LEAST: usize = 3;
const AT_MOST: usize = 200;

/// Freezes while `meddle` runs again and again on another thread, until a freeze was refused as moved.
fn frozen_under(meddle: impl Fn(&Path, u64) + Sync) {
    let (root, run) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // So many that copying them takes longer than one turn of a thread, also on a single core.
    for folder in 0..15 {
        fs::create_dir(root.path().join(format!("d{folder}"))).unwrap();
        for file in 0..100 {
            fs::write(root.path().join(format!("d{folder}/{file}")), "content").unwrap();
        }
    }
    for name in ["a", "b", "m"] {
        fs::write(root.path().join(name), "00000000").unwrap();
    }
    let over = AtomicBool::new(false);
    let moved = std::thread::scope(|scope| {
        scope.spawn(|| {
            for count in 0.. {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                meddle(root.path(), count);
            }
        });
        // Also when an assertion fails the other thread must end.
        let tried = std::panic::catch_unwind(|| tries(root.path(), run.path()));
        over.store(true, Ordering::Relaxed);
        tried.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert!(moved > 0, "{AT_MOST} freezes of a tree that never rests, and all of them were taken");
}

fn tries(root: &Path, run: &Path) -> usize {
    let mut moved = 0;
    for count in 0..AT_MOST {
        if count >= AT_LEAST && moved > 0 {
            break;
        }
        let copy = run.join("copy");
        match freeze(root, &copy, &Limits::default()) {
            Ok(Frozen { live }) => {
                let got = scan(&copy, &Limits::default()).unwrap();
                // By their hashes, so that this test does not share the comparison that it tests.
                let hash = |scan| hash_v2(scan, Excluded::Nothing);
                assert_eq!(hash(&live), hash(&got), "taken, and the copy is another tree");
            }
            Err(Fault::Moved(_)) => moved += 1,
            // Listed and gone before it was opened.
            Err(Fault::Unreadable { .. }) => {}
            Err(fault) => panic!("{fault:?}"),
        }
        // A freeze that could not list the tree made none.
        let _ = fs::remove_dir_all(&copy);
    }
    moved
}

/// Same length, other content: only the digest tells.
#[test]
fn a_file_that_is_rewritten_has_moved() {
    frozen_under(|root, count| {
        let file = fs::OpenOptions::new().write(true).open(root.join("m")).unwrap();
        file.write_all_at(format!("{count:08}").as_bytes(), 0).unwrap();
    });
}

/// A folder and a link are not opened for copying: only the comparison tells.
#[test]
fn what_comes_and_goes_has_moved() {
    // One step at a time: wherever the other thread is stopped, both states are as likely.
    let step = |root: &Path, count: u64, come: fn(&Path), go: fn(&Path)| {
        let path = root.join("c");
        if count.is_multiple_of(2) { come(&path) } else { go(&path) }
    };
    frozen_under(|root, count| {
        step(root, count, |path| fs::create_dir(path).unwrap(), |path| fs::remove_dir(path).unwrap());
    });
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    frozen_under(|root, count| {
        step(root, count, |path| std::os::unix::fs::symlink("a", path).unwrap(), remove);
    });
    frozen_under(|root, count| step(root, count, |path| fs::write(path, "").unwrap(), remove));
}

/// Which list was left out is part of the hash, also where the tree has nothing of it.
#[test]
fn the_list_of_what_is_left_out_is_hashed() {
    let root = tempfile::tempdir().unwrap();
    for content in [None, Some("x")] {
        if let Some(content) = content {
            fs::write(root.path().join("f"), content).unwrap();
        }
        let scan = scan(root.path(), &Limits::default()).unwrap();
        assert_ne!(hash_v2(&scan, Excluded::Nothing), hash_v2(&scan, Excluded::CacheDirectories));
    }
}

/// Who is to blame (ruling 16): a copy that fails is the desk's only when a copy of nothing fails as well.
#[test]
fn a_fault_of_the_freeze_has_an_owner() {
    let failed = Fault::CopyFailed("no space".to_owned());
    assert_eq!(stop_for(&failed, false), StopReason::DeskFault);
    assert_eq!(stop_for(&failed, true), StopReason::DeliveryUnfit);
    for works in [false, true] {
        assert_eq!(stop_for(&Fault::Moved(b"f".to_vec()), works), StopReason::WsMovedDuringFreeze);
        let unreadable = Fault::Unreadable { path: b"f".to_vec(), why: "EACCES".to_owned() };
        let others = [
            Fault::NotADirectory,
            unreadable,
            Fault::PathTooLong(b"f".to_vec()),
            Fault::TooManyEntries(1),
            Fault::TooManyBytes(1),
        ];
        for fault in others {
            assert_eq!(stop_for(&fault, works), StopReason::DeliveryUnfit, "{fault:?}");
        }
    }
}
