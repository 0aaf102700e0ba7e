//! What the desk costs, as ratios of one run on one machine: `cargo bench -p touchstone`.
//!
//! Absolute times of two machines cannot be compared, so every line measures both sides here and now and prints the
//! ratio of the medians beside the target. With `PEER_PYTHON` set to a Python that has the peer installed the lines
//! against the peer are measured too (`examples/bench_peer.sh` sees to it); otherwise they are left out, aloud.
//! Arguments are substrings of line names: `cargo bench -p touchstone -- sandbox`. `BENCH_SCALE=10` divides the sizes.
#![allow(missing_docs, clippy::unwrap_used)]

mod data;
mod measure;

use desk::sandbox::{Choice, Establish, Limits, Spec, Stdin};
use measure::{Sample, Table, child, command, repeat};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const TOUCHSTONE: &str = env!("CARGO_BIN_EXE_touchstone");

struct Bench {
    root: tempfile::TempDir,
    peer: Option<String>,
    wanted: Vec<String>,
    scale: usize,
    table: Table,
}

fn main() {
    let wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let scale = std::env::var("BENCH_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let peer = std::env::var("PEER_PYTHON").ok();
    if peer.is_none() {
        println!("PEER_PYTHON is not set: no line against the peer");
    }
    let root = tempfile::tempdir().unwrap();
    let mut bench = Bench { root, peer, wanted, scale, table: Table::default() };
    println!("{}\n", measure::machine());
    bench.verify_long_chain();
    bench.verify_small();
    bench.workspace_small_files();
    bench.workspace_large_file();
    bench.sandbox_start();
    bench.whole_run();
    println!("\n{}", bench.table);
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|word| name.contains(word.as_str()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn ours(&self, args: &[&str], path: &Path) -> Command {
        let mut command = command(TOUCHSTONE, self.root.path());
        command.args(args).arg(path);
        command
    }

    /// The peer's interpreter, when there is one.
    fn peers(&self, args: &[&str]) -> Option<Command> {
        let mut command = command(self.peer.as_deref()?, self.root.path());
        command.args(args);
        Some(command)
    }

    fn verify_long_chain(&mut self) {
        if !self.wants("verify long chain") {
            return;
        }
        let entries = 100_000 / self.scale;
        let folder = self.path("long");
        data::run_directory(&folder, entries);
        let ours = repeat(5, || child(&mut self.ours(&["verify"], &folder)));
        let memory = ours.peak_mib();
        self.table.line("verify long chain: entries per second", &ours.per_second(entries), None, "");
        self.table.line("verify long chain: seconds", &ours, None, "");
        self.table.line("verify long chain: processor seconds", &ours.cpu(), None, "");
        self.table.number(
            "verify long chain: peak memory",
            format!("{memory} MiB"),
            "under 256 MiB",
            memory < 256,
        );
        if let Some(mut peer) = self.peers(&["-m", "vacant_network.vrun.verify_receipts", "--glob"]) {
            peer.arg(&folder);
            // A minute each: once, without the run that does not count.
            let theirs = Sample::of(vec![child(&mut peer)]);
            self.table.number(
                "verify long chain: peer's peak memory",
                format!("{} MiB", theirs.peak_mib()),
                "",
                true,
            );
            self.table.line(
                "verify long chain: peer, processor seconds",
                &theirs.cpu(),
                Some(&ours.cpu()),
                "",
            );
            self.table.line("verify long chain: peer, seconds", &theirs, Some(&ours), "10 x");
        }
    }

    fn verify_small(&mut self) {
        if !self.wants("verify start-up") {
            return;
        }
        let folder = self.path("small");
        data::run_directory(&folder, 2);
        let ours = repeat(101, || child(&mut self.ours(&["verify"], &folder)));
        self.table.line("verify start-up: small run, seconds", &ours, None, "");
        if let Some(mut peer) = self.peers(&["-m", "vacant_network.vrun.verify_receipts", "--glob"]) {
            peer.arg(&folder);
            let theirs = repeat(15, || child(&mut peer));
            self.table.line("verify start-up: peer, seconds", &theirs, Some(&ours), "20 x");
        }
    }

    fn workspace_small_files(&mut self) {
        if !self.wants("workspace small files") {
            return;
        }
        let folder = self.path("files");
        data::small_files(&folder, 100_000 / self.scale);
        let ours = repeat(3, || child(&mut self.ours(&["workspace", "hash"], &folder)));
        let mut find = Command::new("sh");
        find.args(["-c", "find \"$0\" -type f -print0 | xargs -0 -n 5000 sha256sum > /dev/null"])
            .arg(&folder);
        let sums = repeat(3, || child(&mut find));
        self.table.line("workspace small files: seconds", &ours, None, "");
        self.table.line(
            "workspace small files: sha256sum, processor seconds",
            &sums.cpu(),
            Some(&ours.cpu()),
            "1/1.3 x",
        );
        self.table.line("workspace small files: sha256sum, seconds", &sums, Some(&ours), "");
        self.peers_hash("workspace small files: peer, seconds", &folder, &ours);
    }

    fn workspace_large_file(&mut self) {
        if !self.wants("workspace large file") {
            return;
        }
        let folder = self.path("large");
        data::large_file(&folder, (1 << 30) / self.scale);
        let ours = repeat(3, || child(&mut self.ours(&["workspace", "hash"], &folder)));
        let sums = repeat(3, || child(Command::new("sha256sum").arg(folder.join("large"))));
        self.table.line("workspace large file: seconds", &ours, None, "");
        self.table.line(
            "workspace large file: sha256sum, processor seconds",
            &sums.cpu(),
            Some(&ours.cpu()),
            "1/1.3 x",
        );
        self.table.line("workspace large file: sha256sum, seconds", &sums, Some(&ours), "1/1.3 x");
        self.peers_hash("workspace large file: peer, seconds", &folder, &ours);
        std::fs::remove_dir_all(folder).unwrap();
    }

    fn peers_hash(&mut self, name: &str, folder: &Path, ours: &Sample) {
        let Some(mut peer) = self.peers(&["-m", "vacant_network.vrun.wshash"]) else { return };
        peer.arg(folder);
        let theirs = repeat(2, || child(&mut peer));
        self.table.line(name, &theirs, Some(ours), "");
    }

    /// From the call to the end of `/bin/true`, against the same without a sandbox.
    fn sandbox_start(&mut self) {
        if !self.wants("sandbox start") {
            return;
        }
        let mut establish = Establish::new(Choice::Auto, None);
        establish.helper = Some(TOUCHSTONE.into());
        let measuring = Instant::now();
        let Ok(sandbox) = establish.run() else {
            return println!("sandbox start: no sandbox on this machine");
        };
        let probe = measuring.elapsed().as_secs_f64() * 1e3;
        let level = sandbox.level().code();
        self.table.number("sandbox start: canary probe, once per run", format!("{probe:.1} ms"), "", true);
        let cwd = self.path("cwd");
        std::fs::create_dir(&cwd).unwrap();
        let cwd = cwd.canonicalize().unwrap();
        let inside = repeat(200, || {
            let mut spec = Spec::new(vec!["/bin/true".into()], &cwd);
            (spec.stdin, spec.limits) = (Stdin::Null, Limits::check());
            measure::timed(|| drop(sandbox.start(spec).unwrap().wait()))
        });
        let bare =
            repeat(200, || measure::timed(|| assert!(Command::new("/bin/true").status().unwrap().success())));
        let p50 = inside.median() * 1e3;
        self.table.line("sandbox start: bare spawn of true, seconds", &bare, None, "");
        self.table.line(&format!("sandbox start: level {level}, seconds"), &inside, None, "");
        self.table.number("sandbox start: median", format!("{p50:.2} ms"), "under 15 ms", p50 < 15.0);
        self.table.number("sandbox start: p95", format!("{:.2} ms", inside.quantile(0.95) * 1e3), "", true);
    }

    /// An agent that does nothing, two checks in one Python file.
    fn whole_run(&mut self) {
        if !self.wants("whole run") {
            return;
        }
        data::workspace_and_suite(self.root.path());
        let (workspace, suite) = (self.path("workspace"), self.path("suite"));
        // Both sides start the same Python: `python3` is the peer's when there is a peer.
        let folder = self.peer.as_ref().and_then(|peer| Some(Path::new(peer).parent()?.to_path_buf()));
        let old = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folder.into_iter().chain(std::env::split_paths(&old))).unwrap();
        let mut number = 0;
        let mut options = |command: &mut Command| {
            number += 1;
            command
                .env("PATH", &path)
                .arg("run")
                .arg("--json")
                .arg("--workspace")
                .arg(&workspace)
                .arg("--suite")
                .arg(&suite);
            command.arg("--run-dir").arg(self.root.path().join(format!("run-{number}"))).args(["--", "true"]);
        };
        let ours = repeat(21, || {
            let mut command = command(TOUCHSTONE, self.root.path());
            options(&mut command);
            child(&mut command)
        });
        let theirs = self.peer.as_ref().map(|peer| {
            repeat(9, || {
                let mut command = command(peer, self.root.path());
                command.args(["-m", "vacant_network.cli"]);
                options(&mut command);
                child(&mut command)
            })
        });
        self.table.line("whole run: two checks, seconds", &ours, None, "");
        self.table.line("whole run: two checks, processor seconds", &ours.cpu(), None, "");
        if let Some(theirs) = theirs {
            self.table.line("whole run: peer, processor seconds", &theirs.cpu(), Some(&ours.cpu()), "");
            self.table.line("whole run: peer, seconds", &theirs, Some(&ours), "5 x");
        }
    }
}
