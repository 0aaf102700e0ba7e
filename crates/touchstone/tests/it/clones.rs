//! Two clean clones of one commit, built on their own, give one verdict hash (section 7).

use canon::Reader;
use std::path::Path;
use std::process::Command;

fn run(program: &str, folder: &Path, arguments: &[&str], target: &Path) -> Vec<u8> {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).env("CARGO_TARGET_DIR", target);
    let output = command.output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn two_clean_clones_give_one_verdict_hash() {
    const NAME: &str = "two_clean_clones_give_one_verdict_hash";
    if std::env::var_os("TOUCHSTONE_CLONES").is_none() {
        return vectors::skip(NAME, "it builds the workspace twice; TOUCHSTONE_CLONES=1 runs it");
    }
    let root = tempfile::tempdir().unwrap();
    let hash = |name: &str| {
        let clone = root.path().join(name);
        let from = vectors::repository();
        run("git", root.path(), &["clone", "-q", "--no-local", from.to_str().unwrap(), name], root.path());
        // One folder for what is built: other crates once, ours for each clone, because their paths differ.
        let target = root.path().join("target");
        let arguments =
            ["run", "-q", "--locked", "-p", "touchstone", "--", "attest", "--out", "reports", "--json"];
        let answer = run("cargo", &clone, &arguments, &target);
        vectors::text(&Reader::strict().read(answer.trim_ascii()).unwrap(), "verdict_hash").to_owned()
    };
    assert_eq!(hash("one"), hash("two"));
}
