//! What is measured: a long chain, many files, a large file, a small suite.

use canon::{Digest, Object, Value, canonical};
use ledger::identity::Identity;
use ledger::logbook::Appender;
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// A run directory of `entries` entries in the peer's format: an attempt and a verdict per task, and the rows.
pub(crate) fn run_directory(folder: &Path, entries: usize) {
    fs::create_dir(folder).unwrap();
    let identity = Identity::from_seed(&[7; 32]);
    let digest = |text: &str| Digest::of(text.as_bytes());
    let (mut chain, mut rows, mut appender) = (Vec::new(), Vec::new(), Appender::default());
    for task in 0..entries / 2 {
        let payload = Object::new()
            .with("task_id", format!("task-{task:06}"))
            .with("arm", "RUN-ON")
            .with("run", "vacant-run")
            .with("accepted", true)
            .with("agent_rc", 0_i64)
            .with("requests_seen", 1_i64)
            .with("stop_reason", "visible_pass")
            .with("ws_start_sha256", digest("start"))
            .with("ws_end_sha256", digest("end"))
            .with("verdict_sha256", digest("verdict"))
            .with("conversation_sha256", digest("conversation"));
        let attempt = payload.clone().with("attempt", 1_i64).with("ws_sha256", digest("end"));
        for (kind, payload) in [("ws_attempt", attempt), ("ws_verdict", payload.clone())] {
            chain.extend(appender.append(kind, payload.into(), &identity, task as i64).unwrap().line);
        }
        rows.extend(canonical(&Value::Object(payload)));
        rows.push(b'\n');
    }
    let key = identity.public();
    let public = Object::new().with("vacant_id", key.id().as_str()).with("pub_hex", key.to_hex());
    fs::write(folder.join("receipts_RUN-ON.ndjson"), chain).unwrap();
    fs::write(folder.join("receipts_RUN-ON.pub.json"), canonical(&public.into())).unwrap();
    fs::write(folder.join("rows.jsonl"), rows).unwrap();
}

/// Files of 16 to 1039 bytes, two hundred to a folder.
pub(crate) fn small_files(root: &Path, count: usize) {
    let content: Vec<u8> = (0..2048_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for index in 0..count {
        let folder = root.join(format!("{:03}", index / 200));
        if index % 200 == 0 {
            fs::create_dir_all(&folder).unwrap();
        }
        fs::write(folder.join(format!("{index:06}.txt")), &content[index % 1000..][..16 + index % 1024])
            .unwrap();
    }
}

/// One file without holes.
pub(crate) fn large_file(root: &Path, bytes: usize) {
    fs::create_dir(root).unwrap();
    let block: Vec<u8> =
        (0..1 << 20_u32).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut file = fs::File::create(root.join("large")).unwrap();
    for _ in 0..bytes >> 20 {
        file.write_all(&block).unwrap();
    }
    file.sync_all().unwrap();
}

/// A delivery that is as it should be, and two checks of it.
pub(crate) fn workspace_and_suite(root: &Path) {
    let write = |folder: &str, name: &str, text: &str| {
        fs::create_dir(root.join(folder)).unwrap();
        fs::write(root.join(folder).join(name), text).unwrap();
    };
    write("workspace", "solution.py", "def add(a, b):\n    return a + b\ndef mul(a, b):\n    return a * b\n");
    let checks = "import solution\ndef check_add():\n    assert solution.add(2, 3) == 5\n\
                  def check_mul():\n    assert solution.mul(2, 3) == 6\n";
    write("suite", "test_calculator.py", checks);
}
