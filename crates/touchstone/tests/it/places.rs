//! Places and files of a run: who may read them, and which may not share a path.

use super::stage::{Stage, has, ran, touchstone};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Neither a suite inside the workspace nor a workspace inside the suite.
#[test]
fn a_workspace_inside_the_suite_is_wrong_use() {
    let stage = Stage::new();
    for inner in ["suite/inner", "suite/a/b"] {
        fs::create_dir_all(stage.path(inner)).unwrap();
        let mut command = touchstone();
        command.args(["run", "--json", "--suite"]).arg(stage.path("suite"));
        command.arg("--workspace").arg(stage.path(inner)).arg("--run-dir").arg(stage.path("run"));
        let ran = ran(command.args(["--", "/bin/sh", "-c", "touch ran"]).output().unwrap());
        assert_eq!(ran.code, Some(64), "{}", ran.stderr);
        assert!(ran.stderr.contains("inside one another"), "{}", ran.stderr);
        assert!(!stage.path(inner).join("ran").exists() && !stage.path("run").exists());
    }
    // A name that only begins alike is another folder.
    fs::create_dir(stage.path("suite-work")).unwrap();
    let mut command = touchstone();
    command.args(["run", "--json", "--suite"]).arg(stage.path("suite"));
    command.arg("--workspace").arg(stage.path("suite-work")).arg("--run-dir").arg(stage.path("run"));
    super::stage::ran(command.args(["--", "/bin/true"]).output().unwrap()).is(20, "no_suite");
}

/// Whoever gives a suite wants it judged, also when it is empty.
#[test]
fn an_empty_suite_and_no_suite_contradict() {
    let stage = Stage::new();
    let ran = stage.run(&["--allow-no-suite"], "touch ran");
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("contradict"), "{}", ran.stderr);
    assert!(!stage.path("workspace/ran").exists() && !stage.path("run").exists());
}

/// The chain and its folder are the owner's, also after the chain was written anew.
#[test]
fn the_chain_is_the_owners_alone() {
    for script in ["true", "rm \"$1\"", "chmod 644 \"$1\"; echo >> \"$1\""] {
        let stage = Stage::new();
        let chain = stage.path("run/receipts_RUN-ON.ndjson");
        let agent = ["/bin/sh", "-c", script, "sh", chain.to_str().unwrap()];
        let ran = ran(stage.command_line(&[], &agent).output().unwrap());
        assert_eq!(ran.code, Some(20), "{}", ran.stderr);
        assert_eq!(mode(&chain), 0o600, "{script}");
        assert_eq!(mode(&stage.path("run")), 0o700);
    }
    // Also while the agent runs, in a folder that was there before and in one that was not.
    for made in [false, true] {
        let stage = Stage::new();
        let run = stage.path("run");
        if made {
            fs::create_dir(&run).unwrap();
            set(&run, 0o700);
        }
        let script = "stat -c %a \"$1\" \"$1/receipts_RUN-ON.ndjson\" > modes";
        let agent = ["/bin/sh", "-c", script, "sh", run.to_str().unwrap()];
        ran(stage.command_line(&[], &agent).output().unwrap()).is(20, "no_suite");
        assert_eq!(fs::read_to_string(stage.path("workspace/modes")).unwrap(), "700\n600\n");
    }
}

/// The same bytes in another file: a writer that holds the old one would write into nothing.
#[test]
fn a_chain_in_another_file_is_tampered_with() {
    let stage = Stage::new();
    let chain = stage.path("run/receipts_RUN-ON.ndjson");
    let script = "cp -p \"$1\" copy && cmp \"$1\" copy && mv copy \"$1\" && touch swapped";
    let agent = ["/bin/sh", "-c", script, "sh", chain.to_str().unwrap()];
    let ran = ran(stage.command_line(&[], &agent).output().unwrap());
    assert!(stage.path("workspace/swapped").exists());
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").starts_with("run_dir_tampered"), "{}", ran.text("trouble"));
    assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "ws_verdict"]);
    assert_eq!(stage.verify().0, "OK");
}

/// A key that is closed lies in a folder that is closed: who may write there replaces it.
#[test]
fn a_key_folder_open_to_others_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("key");
    let call = |verb: &str| touchstone().args(["key", verb]).arg(&folder).output().unwrap();
    assert_eq!(call("new").status.code(), Some(0));
    for bits in [0o755, 0o710, 0o701, 0o770, 0o702] {
        set(&folder, bits);
        let output = call("show");
        assert_eq!(output.status.code(), Some(1), "{bits:o}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("others may read it"), "{bits:o}");
    }
    set(&folder, 0o700);
    assert_eq!(call("show").status.code(), Some(0));
    for bits in [0o640, 0o604, 0o620] {
        set(&folder.join("identity.key"), bits);
        assert_eq!(call("show").status.code(), Some(1), "{bits:o}");
    }
}

/// Neither the desk, which holds the key, nor the keeper lets the agent look into its memory. Root looks into anything,
/// so an ordinary user runs all of it.
#[test]
fn desk_and_keeper_cannot_be_looked_into() {
    let test = "desk_and_keeper_cannot_be_looked_into";
    let root = rustix::process::geteuid().is_root();
    if root && !has(test, "setpriv") {
        return;
    }
    let stage = Stage::new();
    let binary = stage.path("touchstone");
    fs::copy(env!("CARGO_BIN_EXE_touchstone"), &binary).unwrap();
    set(stage.root.path(), 0o755);
    let own = stage.path("own");
    fs::create_dir(&own).unwrap();
    fs::rename(stage.path("workspace"), own.join("workspace")).unwrap();
    if root {
        for path in [&own, &own.join("workspace")] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
    }
    // A process of the agent's own shows that looking works here.
    let script = r#"
        keeper=$PPID
        desk=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$keeper/status)
        sleep 100 & own=$!
        until grep -q sleep /proc/$own/comm; do :; done
        for who in own keeper desk; do
            eval pid=\$$who
            test $who = keeper || echo "$who is $(cat /proc/$pid/comm)"
            for file in environ maps; do
                cat /proc/$pid/$file >/dev/null 2>&1 && echo "$who: $file"
            done
            dd if=/proc/$pid/mem of=/dev/null count=0 2>/dev/null && echo "$who: mem"
        done > seen
        kill $own"#;
    let mut command = Command::new(&binary);
    if root {
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--"]);
        command.arg(&binary);
    }
    command.args(["run", "--json", "--allow-no-suite", "--workspace"]).arg(own.join("workspace"));
    command.arg("--run-dir").arg(own.join("run")).args(["--", "/bin/sh", "-c", script]);
    ran(command.current_dir("/").env("HOME", &own).output().unwrap()).is(0, "ungated");
    let seen = fs::read_to_string(own.join("workspace/seen")).unwrap();
    let mut lines: Vec<&str> = seen.lines().collect();
    // Yama may keep even the agent's own child's memory closed.
    lines.retain(|line| *line != "own: mem");
    let want = ["own is sleep", "own: environ", "own: maps", "desk is touchstone"];
    assert_eq!(lines, want, "{seen}");
}
