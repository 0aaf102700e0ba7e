//! The chains of a pack: logbooks with a key beside them, and run directories.

use super::CHAIN_BYTES_MAX;
use super::tree::Tree;
use canon::{Object, Value, canonical};
use ledger::identity::PublicKey;
use ledger::receipts::{Files, InOrder, Verdict, verify_run};
use ledger::{Fault, Mode, logbook, receipts};
use std::collections::{BTreeMap, BTreeSet};

/// What was found out about one chain.
pub(super) struct Chain {
    /// Entries that could be read.
    pub(super) entries_n: usize,
    /// Id derived from the key.
    pub(super) id: Option<String>,
    /// VOID for a run that proves nothing although its chain holds.
    pub(super) void: bool,
    /// Code of the first failure; nothing when the chain holds.
    pub(super) failure: Option<&'static str>,
}

impl Chain {
    fn failed(fault: Fault) -> Chain {
        Chain { entries_n: 0, id: None, void: false, failure: Some(fault.code()) }
    }

    /// The line of `chain_verify.txt`.
    pub(super) fn line(&self, path: &str) -> String {
        let Some(failure) = self.failure else {
            let id = self.id.as_deref().unwrap_or("unknown");
            let void = if self.void { "  run=VOID" } else { "" };
            return format!("PASS {path}  entries={}  vacant_id={id}{void}\n", self.entries_n);
        };
        format!("FAIL {path}  {failure}\n")
    }
}

/// Every chain of the pack by path, verified again.
pub(super) fn verify(tree: &Tree) -> BTreeMap<String, Chain> {
    let mut chains = BTreeMap::new();
    for path in tree.files.keys().filter(|path| super::tree::file_name(path) == "logbook.ndjson") {
        chains.insert(path.clone(), logbook_chain(tree, path));
    }
    let folders: BTreeSet<&str> =
        tree.files.keys().filter(|path| is_receipts(path)).map(|path| folder(path)).collect();
    for folder in folders {
        run_chains(tree, folder, &mut chains);
    }
    chains
}

fn is_receipts(path: &str) -> bool {
    let name = super::tree::file_name(path);
    let arm = name.strip_prefix("receipts_").and_then(|name| name.strip_suffix(".ndjson"));
    arm.is_some_and(|arm| !arm.is_empty() && !arm.contains('.'))
}

/// The folder of a path with its slash; empty at the top.
fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

fn logbook_chain(tree: &Tree, path: &str) -> Chain {
    let key_path = format!("{}identity.pub", folder(path));
    if !tree.files.contains_key(&key_path) {
        return Chain::failed(Fault::PubkeyFileMissing);
    }
    let Some(key) = public_key(tree, &key_path) else { return Chain::failed(Fault::PubkeyFileUnreadable) };
    let Ok(file) = tree.read(path, CHAIN_BYTES_MAX) else { return Chain::failed(Fault::EntryUnreadable) };
    let chain = logbook::verify(&file, &key, Mode::Strict);
    let id = key.id();
    let mut failure = chain.failures.first().map(|failure| failure.reason.code());
    if chain.entries_n == 0 {
        // A chain over nothing was not verified (house rule 5).
        failure = failure.or(Some(Fault::EmptyChain.code()));
    }
    if let Ok(written) = tree.read(&format!("{}vacant_id", folder(path)), 4096)
        && std::str::from_utf8(&written).map(str::trim) != Ok(id.as_str())
    {
        failure = failure.or(Some(Fault::IdNotDerivedFromKey.code()));
    }
    Chain { entries_n: chain.entries_n, id: Some(id.to_string()), void: false, failure }
}

fn public_key(tree: &Tree, path: &str) -> Option<PublicKey> {
    let text = String::from_utf8(tree.read(path, 4096).ok()?).ok()?;
    PublicKey::parse(text.trim()).ok()
}

/// The chains of one run directory, with the files that the verifier has a use for.
fn run_chains(tree: &Tree, folder: &str, chains: &mut BTreeMap<String, Chain>) {
    let mut files = Files::new();
    for path in tree.files.keys() {
        let Some(name) = path.strip_prefix(folder) else { continue };
        if !of_run(name) {
            continue;
        }
        match tree.read(path, CHAIN_BYTES_MAX) {
            Ok(bytes) => drop(files.insert(name.to_owned(), bytes)),
            Err(_) if is_receipts(path) => {
                chains.insert(path.clone(), Chain::failed(Fault::EntryUnreadable));
            }
            // The verifier misses it, and the tree has named it.
            Err(_) => {}
        }
    }
    for report in verify_run(&files, &receipts::Options::new(Mode::Strict), &InOrder) {
        let holds = matches!(report.verdict, Verdict::Ok | Verdict::Void);
        let failure = report.failures.first().map_or(Fault::EmptyChain, |failure| failure.reason);
        let chain = Chain {
            entries_n: report.chain.as_ref().map_or(0, |facts| facts.entries_n),
            id: report.vacant_id,
            void: report.verdict == Verdict::Void,
            failure: (!holds).then(|| failure.code()),
        };
        chains.insert(format!("{folder}receipts_{}.ndjson", report.arm), chain);
    }
}

fn of_run(name: &str) -> bool {
    let json = name.ends_with(".json") && !name.contains('/');
    name == "rows.jsonl"
        || (is_receipts(name) && !name.contains('/'))
        || (json && ["receipts_", "run_", "visible_"].iter().any(|start| name.starts_with(start)))
        || (name.starts_with("wire_") && name.ends_with("/index.jsonl") && name.matches('/').count() == 1)
}

/// Events for a pack that brings none of its own: what the chains say, entry by entry, in the order of the file.
pub(super) fn events(tree: &Tree, chains: &BTreeMap<String, Chain>) -> Vec<u8> {
    let mut events = Vec::new();
    for path in chains.keys() {
        let Ok(file) = tree.read(path, CHAIN_BYTES_MAX) else { continue };
        for line in logbook::lines(&file) {
            let Ok(Value::Object(entry)) = canon::Reader::strict().read(line.bytes) else { continue };
            let member = |name: &str| entry.get(name).cloned().unwrap_or(Value::Null);
            let event = Object::new()
                .with("chain", path.as_str())
                .with("seq", member("seq"))
                .with("ts_ms", member("ts_ms"))
                .with("type", member("type"));
            events.extend(canonical(&event.into()));
            events.push(b'\n');
        }
    }
    events
}
