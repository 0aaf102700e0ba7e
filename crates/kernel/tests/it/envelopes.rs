//! V-6: for every code of the guard there is a small file that provokes it, and no other files.
//!
//! A folder holds a sequence of one sender; the last envelope has the reason. A text may be written as
//! `{"$repeat": [text, times]}`, so that large envelopes are small files. For `perm_short_NtoM` the kernel is told that
//! the skill needs N.

use super::stage::handle;
use canon::{Reader, Value, canonical};
use kernel::guard::danger::Danger;
use kernel::guard::{Layer, Reason};
use kernel::receipt::Receipt;
use kernel::{Config, Kernel};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    vectors::repository().join("crates/kernel/tests/envelopes")
}

/// The bytes of a line; a file that is no JSON is one too.
fn line(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    match Reader::strict().read(&bytes) {
        Ok(value) => canonical(&expanded(value)),
        Err(_) => bytes,
    }
}

fn expanded(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(expanded).collect()),
        Value::Object(object) => {
            if let Some([text, times]) = object.get("$repeat").and_then(Value::as_array) {
                let times = usize::try_from(times.as_i64().unwrap()).unwrap();
                return Value::Str(text.as_str().unwrap().repeat(times));
            }
            let mut members = canon::Object::new();
            for (key, member) in object.iter() {
                members.set(key, expanded(member.clone()));
            }
            members.into()
        }
        other => other,
    }
}

/// Every file or folder by the code that it is named after.
fn examples() -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut examples = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut files = vec![path.clone()];
        if path.is_dir() {
            files = std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().path()).collect();
            files.sort();
        }
        assert!(examples.insert(code, files.iter().map(|file| line(file)).collect()).is_none());
    }
    examples
}

/// One kernel for each permission that the skill may need here.
struct Kernels([Kernel; 4]);

impl Kernels {
    fn new() -> Kernels {
        Kernels([0, 1, 2, 3].map(|needs| {
            let permissions = BTreeMap::from([("text.words".to_owned(), needs)]);
            Kernel::new(Config { permissions, ..Config::default() }).unwrap()
        }))
    }

    fn handle(&self, code: &str, lines: &[Vec<u8>]) -> Vec<Receipt> {
        let needs: usize = code.strip_prefix("perm_short_").map_or(0, |needs| needs[..1].parse().unwrap());
        handle(&self.0[needs], lines)
    }

    fn last(&self, code: &str, lines: &[Vec<u8>]) -> Receipt {
        self.handle(code, lines).pop().unwrap()
    }
}

fn codes() -> BTreeSet<String> {
    let danger = Danger::builtin().unwrap();
    let patterns = danger.patterns().iter().map(|pattern| pattern.id);
    Reason::CODES.iter().copied().chain(patterns).map(str::to_owned).collect()
}

/// The layer of a family, written down again.
fn layer(code: &str) -> Layer {
    match code.split('_').next().unwrap() {
        "struct" => Layer::Structure,
        "size" => Layer::Size,
        "danger" => Layer::Danger,
        "perm" => Layer::Permission,
        "ident" => Layer::Identity,
        "meta" => Layer::Metadata,
        "audit" => Layer::Audit,
        "cons" | "hon" => Layer::Consistency,
        other => panic!("no family {other}"),
    }
}

#[test]
fn every_code_is_provoked_by_its_file_and_by_no_other() {
    let examples = examples();
    assert_eq!(examples.keys().cloned().collect::<BTreeSet<_>>(), codes());
    let kernels = Kernels::new();
    for (code, lines) in &examples {
        let receipt = kernels.last(code, lines);
        assert_eq!((receipt.verdict.reason, receipt.verdict.layer), (code.as_str(), layer(code).name()));
        let hit = receipt.finding.as_ref().unwrap();
        assert!(!hit.member.is_empty() && !hit.pattern.is_empty(), "{code}: V-5");
        // The envelopes before the last one are in order.
        for before in kernels.handle(code, &lines[..lines.len() - 1]) {
            assert_eq!(before.verdict.reason, "skill_done", "{code}");
        }
    }
}

/// V-4: the same envelope and the same configuration, another kernel: the same receipt.
#[test]
fn the_reason_is_the_same_every_time() {
    let (kernels, others) = (Kernels::new(), Kernels::new());
    for (code, lines) in &examples() {
        assert_eq!(kernels.last(code, lines), others.last(code, lines), "{code}");
    }
}

/// V-1 and K-2: layers in order, the last step is the block, nothing follows it.
#[test]
fn steps_end_with_the_block() {
    let kernels = Kernels::new();
    for (code, lines) in &examples() {
        let receipt = kernels.last(code, lines);
        let layers: Vec<&str> = receipt.steps.iter().map(|step| step.triple.layer).collect();
        assert!(layers.is_sorted() || receipt.route.is_some(), "{code}: {layers:?}");
        if receipt.verdict.action == verdict::Action::Block {
            assert_eq!(receipt.steps.last().unwrap().triple, receipt.verdict, "{code}");
            assert!(receipt.output.is_none() && receipt.route.is_none(), "{code}");
        } else {
            // Advice does not stop the skill.
            assert_eq!(receipt.steps.last().unwrap().triple.reason, "skill_done", "{code}");
            assert_eq!(receipt.verdict.action, verdict::Action::Advise, "{code}");
        }
    }
}
