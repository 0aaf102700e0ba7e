//! Keys and certificates on the command line.

use super::stage::touchstone;
use canon::{Reader, Value};
use ledger::certificate::{Claim, issue};
use ledger::identity::Identity;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

#[test]
fn keys_are_made_for_the_owner_alone_and_never_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("key");
    let new = touchstone().args(["key", "new", "--json"]).arg(&folder).output().unwrap();
    assert_eq!(new.status.code(), Some(0));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("identity.key"))), (0o700, 0o600));
    let show = touchstone().args(["key", "show", "--json"]).arg(&folder).output().unwrap();
    assert_eq!(show.stdout, new.stdout);
    let id = fs::read(folder.join("vacant_id")).unwrap();
    fs::write(folder.join("vacant_id"), "zQmSomebodyElse\n").unwrap();
    let contradicted = touchstone().args(["key", "show"]).arg(&folder).output().unwrap();
    assert_eq!(contradicted.status.code(), Some(1), "an id beside a key is derived and compared");
    fs::write(folder.join("vacant_id"), id).unwrap();
    let key = fs::read(folder.join("identity.key")).unwrap();
    assert_eq!(touchstone().args(["key", "new"]).arg(&folder).output().unwrap().status.code(), Some(1));
    assert_eq!(fs::read(folder.join("identity.key")).unwrap(), key);
    fs::set_permissions(folder.join("identity.key"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(touchstone().args(["key", "show"]).arg(&folder).output().unwrap().status.code(), Some(1));
}

#[test]
fn locked_keys_need_their_passphrase() {
    let root = tempfile::tempdir().unwrap();
    let (folder, right, wrong) =
        (root.path().join("key"), root.path().join("right"), root.path().join("wrong"));
    fs::write(&right, "correct horse\n").unwrap();
    fs::write(&wrong, "wrong\n").unwrap();
    let call = |verb: &str, pass: Option<&std::path::Path>| {
        let mut command = touchstone();
        command.args(["key", verb]).arg(&folder);
        if let Some(pass) = pass {
            command.arg("--passphrase-file").arg(pass);
        }
        command.output().unwrap().status.code()
    };
    assert_eq!(call("new", Some(&right)), Some(0));
    assert_eq!(call("show", Some(&right)), Some(0));
    assert_eq!(call("show", Some(&wrong)), Some(1));
    assert_eq!(call("show", None), Some(1));
}

#[test]
fn certificates_are_checked_strictly() {
    let root = tempfile::tempdir().unwrap();
    let (file, answer) = (root.path().join("c.json"), root.path().join("answer"));
    let claim = Claim { prompt: "p", answer: "a", check: "equals", verified: true, ts_ms: 1 };
    let certificate = issue(&Identity::from_seed(&[1; 32]), &claim);
    fs::write(&file, canon::canonical(&certificate)).unwrap();
    fs::write(&answer, "a").unwrap();
    let check = |more: &[&str]| {
        let mut command = touchstone();
        command.args(["certificate", "check", "--json"]).arg(&file).args(more);
        let output = command.output().unwrap();
        let value = Reader::strict().read(&output.stdout).unwrap();
        (output.status.code(), value.get("reason").cloned())
    };
    assert_eq!(check(&["--answer", answer.to_str().unwrap()]), (Some(0), Some(Value::Null)));
    fs::write(&answer, "b").unwrap();
    assert_eq!(check(&["--answer", answer.to_str().unwrap()]).1, Some("answer_mismatch".into()));
    let mut more = certificate.as_object().unwrap().clone();
    more.set("note", "x");
    fs::write(&file, canon::canonical(&more.into())).unwrap();
    assert_eq!(check(&[]), (Some(1), Some("unknown_member".into())));
    assert_eq!(check(&["--peer-compat"]), (Some(0), Some(Value::Null)));
}
