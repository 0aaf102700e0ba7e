//! `consent grant|withdraw|erase`: the one chain that is continued by a process that did not open it (decision 0018).

use super::stage::touchstone;
use canon::{Digest, Object, Reader, Value};
use ledger::identity::{Identity, PublicKey};
use ledger::logbook::Appender;
use ledger::{Mode, logbook};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PERSONA: &str = r#"{"topics":["sourdough baking"],"style":"terse","needs":["step free access"]}"#;

/// A keeper of consent with a key, and one person.
struct Stand {
    root: TempDir,
}

impl Stand {
    fn new() -> Stand {
        let stand = Stand { root: tempfile::tempdir().unwrap() };
        fs::write(stand.path("persona"), PERSONA).unwrap();
        stand.keys("keys");
        stand
    }

    fn keys(&self, name: &str) {
        let made = touchstone().args(["key", "new"]).arg(self.path(name)).output().unwrap();
        assert!(made.status.success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn command(&self, verb: &str, subject: &str, head: Option<&str>) -> Command {
        let mut command = touchstone();
        command.args(["consent", verb]).arg(self.path("chain")).arg("--keys").arg(self.path("keys"));
        command.args(["--json", "--subject", subject]);
        command.args(head.map(|head| ["--expect-head", head]).into_iter().flatten());
        if verb != "withdraw" {
            command.arg("--persona").arg(self.path("persona")).arg("--nonce").arg(self.path("nonce"));
        }
        if verb == "grant" {
            command.args(["--nonce-ref", "n-1", "--fields", "topics,style", "--scope", "demo"]);
        }
        command.stdin(Stdio::null());
        command
    }

    fn grant(&self, subject: &str, head: Option<&str>) -> Result<String, String> {
        said(self.command("grant", subject, head))
    }

    fn withdraw(&self, subject: &str, head: Option<&str>) -> Result<String, String> {
        said(self.command("withdraw", subject, head))
    }

    fn erase(&self, subject: &str, head: Option<&str>) -> Result<String, String> {
        said(self.command("erase", subject, head))
    }

    fn key(&self) -> PublicKey {
        PublicKey::parse(fs::read_to_string(self.path("keys/identity.pub")).unwrap().trim()).unwrap()
    }

    fn chain(&self) -> Vec<u8> {
        fs::read(self.path("chain")).unwrap_or_default()
    }

    /// Hashes of the entries of a chain that holds.
    fn hashes(&self) -> Vec<String> {
        let chain = logbook::verify(&self.chain(), &self.key(), Mode::Strict);
        assert!(chain.failures.is_empty(), "{:?}", chain.failures);
        chain.lines.iter().filter_map(|line| Some(line.entry.as_ref()?.hash.to_hex())).collect()
    }

    /// Erasures that were begun and not finished.
    fn plans(&self) -> usize {
        let names = fs::read_dir(self.root.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".erasing")).count()
    }

    fn audit(&self) -> Option<i32> {
        let mut audit = touchstone();
        audit.args(["consent", "audit", "--json", "--key", &self.key().to_hex()]).arg(self.path("chain"));
        audit.output().unwrap().status.code()
    }
}

/// The new head, or the reason.
fn said(mut command: Command) -> Result<String, String> {
    let output = command.output().unwrap();
    let answer = Reader::strict()
        .read(output.stdout.trim_ascii_end())
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let text = |member| answer.get(member).and_then(Value::as_str).map(str::to_owned);
    assert_eq!(output.status.code(), Some(if text("head").is_some() { 0 } else { 1 }));
    text("head").ok_or_else(|| text("reason").unwrap())
}

fn refused(reason: &str) -> Result<String, String> {
    Err(reason.to_owned())
}

#[test]
fn granted_withdrawn_erased_by_three_processes() {
    let stand = Stand::new();
    let granted = stand.grant("s-1", None).unwrap();
    assert_eq!(stand.audit(), Some(0));
    assert_eq!(stand.grant("s-1", Some(&granted)), refused("consent_granted_twice"));
    assert_eq!(stand.erase("s-1", Some(&granted)), refused("consent_orphan_erasure"));
    assert!(
        stand.path("nonce").exists() && stand.path("persona").exists(),
        "a refused erasure deletes nothing"
    );
    let mut telling = stand.command("withdraw", "s-1", Some(&granted));
    telling.args(["--reason", "terse", "--persona"]).arg(stand.path("persona"));
    telling.arg("--nonce").arg(stand.path("nonce"));
    assert_eq!(said(telling), refused("consent_plaintext"));
    let withdrawn = stand.withdraw("s-1", Some(&granted)).unwrap();
    assert_eq!(stand.audit(), Some(2), "an erasure is due");
    assert_eq!(stand.withdraw("s-1", Some(&withdrawn)), refused("consent_withdrawn_twice"));
    assert_eq!(stand.withdraw("s-2", Some(&withdrawn)), refused("consent_orphan_withdrawal"));
    let erased = stand.erase("s-1", Some(&withdrawn)).unwrap();
    assert_eq!(stand.audit(), Some(0));
    assert_eq!(stand.hashes(), [granted, withdrawn, erased]);
    for name in ["nonce", "persona"] {
        assert!(!stand.path(name).exists(), "{name}");
    }
    assert_eq!(stand.plans(), 0);
    let chain = String::from_utf8(stand.chain()).unwrap();
    assert!(!chain.contains("sourdough") && !chain.contains("terse"), "{chain}");
}

/// The nonce is made by `grant`, for its owner alone, and what it commits to can be checked by whoever has both.
#[test]
fn a_grant_commits_and_says_nothing() {
    let stand = Stand::new();
    stand.grant("s-1", None).unwrap();
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(stand.path("nonce")).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    let nonce = fs::read_to_string(stand.path("nonce")).unwrap();
    let persona = Reader::strict().read(PERSONA.as_bytes()).unwrap();
    let commitment = ledger::commitment::commit(&persona, nonce.trim_end()).unwrap().to_hex();
    assert!(String::from_utf8(stand.chain()).unwrap().contains(&commitment));
    // A subject, scope or reference that says something of the person.
    let head = stand.hashes().remove(0);
    assert_eq!(stand.grant("terse", Some(&head)), refused("consent_plaintext"));
    assert_eq!(stand.grant("Jo Bloggs", Some(&head)), refused("consent_word"));
    assert_eq!(stand.hashes(), [head]);
}

/// PC-64: whatever does not hold is not gone on with, and stays as it is.
#[test]
fn what_does_not_hold_is_not_gone_on_with() {
    let stand = Stand::new();
    let first = stand.grant("s-1", None).unwrap();
    let second = stand.grant("s-2", Some(&first)).unwrap();
    let whole = stand.chain();
    let line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let refuses = |chain: &[u8], head: Option<&str>, reason: &str| {
        fs::write(stand.path("chain"), chain).unwrap();
        assert_eq!(stand.grant("s-3", head), refused(reason));
        assert_eq!(stand.withdraw("s-1", head), refused(reason));
        assert_eq!(stand.chain(), chain, "{reason}");
    };
    for cut in [1, 2, 40, whole.len() - line - 1] {
        refuses(&whole[..whole.len() - cut], Some(&second), "consent_chain_broken");
    }
    // The last line is gone, and the chain holds: only the head that was kept shows it.
    refuses(&whole[..line], Some(&second), "consent_chain_other_head");
    refuses(&whole, None, "consent_chain_head_needed");
    refuses(&whole, Some(&first), "consent_chain_other_head");
    refuses(&whole[line..], Some(&second), "consent_chain_broken");
    refuses(b"", None, "consent_chain_broken");
    let changed = String::from_utf8(whole.clone()).unwrap().replace("s-2", "s-9");
    refuses(changed.as_bytes(), Some(&second), "consent_chain_broken");
    fs::remove_file(stand.path("chain")).unwrap();
    assert_eq!(stand.grant("s-3", Some(&second)), refused("consent_chain_other_head"));
    assert!(!stand.path("chain").exists());
    fs::write(stand.path("chain"), &whole).unwrap();
    fs::rename(stand.path("keys"), stand.path("keys-of-before")).unwrap();
    stand.keys("keys");
    assert_eq!(stand.grant("s-3", Some(&second)), refused("consent_chain_broken"));
    fs::remove_dir_all(stand.path("keys")).unwrap();
    fs::rename(stand.path("keys-of-before"), stand.path("keys")).unwrap();
    fs::rename(stand.path("chain"), stand.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(stand.path("elsewhere"), stand.path("chain")).unwrap();
    assert_eq!(stand.grant("s-3", Some(&second)), refused("consent_chain_io"));
    fs::remove_file(stand.path("chain")).unwrap();
    fs::rename(stand.path("elsewhere"), stand.path("chain")).unwrap();
    stand.grant("s-3", Some(&second)).unwrap();
}

/// The door is for consent: no run of the desk and no branch is continued through it.
#[test]
fn other_chains_do_not_pass_the_door() {
    let stand = Stand::new();
    let key = fs::read_to_string(stand.path("keys/identity.key")).unwrap();
    let identity: Identity = ledger::pem::read(&key, None).unwrap();
    let refuses = |branch: &str, kind: &str, reason: &str| {
        let entry = Appender::new(branch).append(kind, Object::new().into(), &identity, 1).unwrap();
        fs::write(stand.path("chain"), &entry.line).unwrap();
        assert_eq!(stand.grant("s-1", Some(&entry.hash.to_hex())), refused(reason));
        assert_eq!(stand.chain(), entry.line);
    };
    refuses("main", "run_start", "consent_chain_foreign_entry");
    refuses("other", "CONSENT_GRANT", "consent_chain_other_branch");
}

/// Sixteen processes that saw the same head: one writes, the others are told that the chain went on.
#[test]
fn of_16_writers_at_once_one_goes_on() {
    let stand = Stand::new();
    let head = stand.grant("s-0", None).unwrap();
    let writers: Vec<_> = (1..=16)
        .map(|number| {
            let mut command = stand.command("grant", &format!("s-{number}"), Some(&head));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> = writers.into_iter().map(|writer| writer.wait_with_output().unwrap()).collect();
    let wrote = outputs.iter().filter(|output| output.status.code() == Some(0)).count();
    let told = |output: &&std::process::Output| {
        String::from_utf8_lossy(&output.stdout).contains("consent_chain_other_head")
    };
    assert_eq!((wrote, outputs.iter().filter(told).count()), (1, 15));
    assert_eq!(stand.hashes().len(), 2);
}

/// A writer that holds the lock is waited for.
#[test]
fn a_lock_is_waited_for() {
    let stand = Stand::new();
    let head = stand.grant("s-0", None).unwrap();
    let lock = fs::File::options().write(true).open(stand.path("chain.lock")).unwrap();
    lock.lock().unwrap();
    let mut waiting = stand.command("grant", "s-1", Some(&head));
    let mut waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(waiting.try_wait().unwrap().is_none());
    assert_eq!(stand.hashes().len(), 1);
    lock.unlock().unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_eq!(stand.hashes().len(), 2);
}

/// kill -9 at random points: the chain holds after each, every acknowledged entry is there, and it can be gone on with.
#[test]
fn kill_9_leaves_a_chain_that_holds() {
    let stand = Stand::new();
    let mut head = stand.grant("s-0", None).unwrap();
    let whole = std::time::Instant::now();
    head = stand.grant("t-0", Some(&head)).unwrap();
    let whole = u64::try_from(whole.elapsed().as_micros()).unwrap();
    let mut seed = 0x0c05_e27a_u64;
    let (mut before, mut after) = (0, 0);
    for point in 0..60 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let entries = stand.hashes();
        let mut writer = stand.command("grant", &format!("k-{point}"), Some(&head));
        let mut writer = writer.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros((seed >> 33) % (whole + whole / 4)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let now = stand.hashes();
        assert_eq!(now[..entries.len()], entries, "point {point}: no acknowledged entry is lost");
        if now.len() > entries.len() {
            after += 1
        } else {
            before += 1
        }
        head = now.last().unwrap().clone();
        head = stand.grant(&format!("g-{point}"), Some(&head)).unwrap();
    }
    eprintln!("killed before the entry {before} times, after it {after} times");
}

/// An erasure that was cut off between deleting and writing is given again, with the digests of what is gone.
#[test]
fn an_erasure_that_was_cut_off_is_finished() {
    let stand = Stand::new();
    let granted = stand.grant("s-1", None).unwrap();
    let withdrawn = stand.withdraw("s-1", Some(&granted)).unwrap();
    let nonce = Digest::of(&fs::read(stand.path("nonce")).unwrap());
    // Another persona than the one that was granted is not deleted in its place.
    let kept = fs::read(stand.path("persona")).unwrap();
    fs::write(stand.path("persona"), r#"{"topics":["other"]}"#).unwrap();
    let other = stand.command("erase", "s-1", Some(&withdrawn)).output().unwrap();
    assert_eq!(other.status.code(), Some(64), "not what was committed to");
    assert!(stand.path("nonce").exists() && stand.plans() == 0);
    fs::write(stand.path("persona"), kept).unwrap();
    // The state after a crash between deleting and writing, by hand.
    let file = Object::new().with("ref", "n-1").with("sha256", nonce).with("bytes_n", 65_i64);
    let plan = |hash: &str| {
        let plan =
            Object::new().with("withdraw_hash", hash).with("erased", vec![Value::Object(file.clone())]);
        fs::write(stand.path(&format!("chain.{withdrawn}.erasing")), canon::canonical(&plan.into())).unwrap();
    };
    plan(&granted);
    let foreign = stand.command("erase", "s-1", Some(&withdrawn)).output().unwrap();
    assert_eq!(foreign.status.code(), Some(64), "a plan of another withdrawal");
    plan(&withdrawn);
    // Whatever was given in the place of the persona is not deleted on the strength of a plan.
    let persona = fs::read(stand.path("persona")).unwrap();
    fs::write(stand.path("persona"), "{}").unwrap();
    assert_eq!(stand.command("erase", "s-1", Some(&withdrawn)).output().unwrap().status.code(), Some(64));
    assert!(stand.path("persona").exists());
    fs::write(stand.path("persona"), persona).unwrap();
    // The plan lists the nonce alone: neither one file more, nor another in its place.
    fs::write(stand.path("more"), "more").unwrap();
    let mut more = stand.command("erase", "s-1", Some(&withdrawn));
    more.arg("--also").arg(format!("m-1={}", stand.path("more").display()));
    assert_eq!(more.output().unwrap().status.code(), Some(64));
    assert!(stand.path("more").exists() && stand.path("persona").exists());
    fs::remove_file(stand.path("persona")).unwrap();
    let kept = fs::read(stand.path("nonce")).unwrap();
    fs::write(stand.path("nonce"), "another nonce, not the one").unwrap();
    assert_eq!(stand.command("erase", "s-1", Some(&withdrawn)).output().unwrap().status.code(), Some(64));
    assert!(stand.path("nonce").exists());
    fs::write(stand.path("nonce"), kept).unwrap();
    stand.erase("s-1", Some(&withdrawn)).unwrap();
    assert!(!stand.path("persona").exists() && stand.plans() == 0);
    assert!(String::from_utf8(stand.chain()).unwrap().contains(&nonce.to_hex()));
    assert_eq!(stand.audit(), Some(0));
}

/// What will not fit on the chain is said before anything is deleted.
#[test]
fn an_erasure_that_cannot_be_written_deletes_nothing() {
    let stand = Stand::new();
    let granted = stand.grant("s-1", None).unwrap();
    let withdrawn = stand.withdraw("s-1", Some(&granted)).unwrap();
    fs::write(stand.path("more"), "more").unwrap();
    let mut large = stand.command("erase", "s-1", Some(&withdrawn));
    for number in 0..900 {
        large.arg("--also").arg(format!("m-{number}={}", stand.path("more").display()));
    }
    assert_eq!(said(large), refused("consent_chain_entry"));
    for name in ["more", "nonce", "persona"] {
        assert!(stand.path(name).exists(), "{name}");
    }
    assert_eq!((stand.plans(), stand.hashes().len()), (0, 2));
}
