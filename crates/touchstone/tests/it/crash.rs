//! kill -9 while a run writes: no acknowledged entry is lost, and a chain without its end is never OK (31.2, PC-64).

use super::stage::{Stage, entries, reasons, verify};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SUITE: &str =
    "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/true\"]\nresult = \"exit\"\n";

/// How many points; a long campaign sets TOUCHSTONE_KILLS.
fn points() -> u32 {
    std::env::var("TOUCHSTONE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(200)
}

/// A small generator of our own, so that a failure names a seed that gives it again.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn start(stage: &Stage) -> std::process::Child {
    let mut command = stage.command_line(&["--sandbox", "none"], &["/bin/sh", "-c", "echo x > f"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    command.process_group(0).spawn().unwrap()
}

fn kill_9(child: &mut std::process::Child) {
    // The group of our own child, started a moment ago.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn kill_9_at_random_points_loses_nothing_acknowledged() {
    // How long a whole run takes here, so that the points fall inside it on any machine.
    let stage = Stage::command(SUITE, &[]);
    let whole = Instant::now();
    assert_eq!(start(&stage).wait().unwrap().code(), Some(0));
    let whole = u64::try_from(whole.elapsed().as_micros()).unwrap();
    let mut draw = Draw(0x7011_c457_0e11);
    let (mut ended, mut cut, mut torn) = (0, 0, 0);
    for point in 0..points() {
        let stage = Stage::command(SUITE, &[]);
        let wait = draw.below(whole + whole / 5);
        let mut child = start(&stage);
        // What was on the chain when it was looked at had been acknowledged or was about to be.
        let until = Instant::now() + Duration::from_micros(wait);
        let chain_path = stage.path("run/receipts_RUN-ON.ndjson");
        let mut seen = Vec::new();
        while Instant::now() < until {
            if let Ok(bytes) = fs::read(&chain_path) {
                seen = bytes;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        kill_9(&mut child);
        let after = fs::read(&chain_path).unwrap_or_default();
        assert!(after.starts_with(&seen), "point {point}: an entry that was there is gone");
        if !stage.path("run").exists() {
            continue;
        }
        let (verdict, code, answer) = stage.verify();
        let whole_lines = after.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let has_end = entries(&after[..whole_lines])
            .iter()
            .any(|entry| ["ws_verdict", "run_void"].contains(&vectors::text(entry, "type")));
        if has_end {
            // The commit point was passed: everything is there.
            assert_eq!((verdict.as_str(), code), ("OK", Some(0)), "point {point}: {answer:?}");
            ended += 1;
        } else {
            assert_ne!(verdict, "OK", "point {point}");
            assert_eq!(code, Some(1), "point {point}");
            torn += i32::from(reasons(&answer).contains(&"torn_tail".to_owned()));
            cut += 1;
        }
    }
    println!("{} kills: {cut} before the end ({torn} torn lines), {ended} after it", points());
    assert!(cut > 0, "no kill fell inside a run");
}

/// After a crash nothing goes on silently: the used directory is refused (PC-64).
#[test]
fn pc64_a_torn_chain_is_named_and_its_directory_refused() {
    let stage = Stage::command(SUITE, &[]);
    stage.run(&["--sandbox", "none"], "true").is(0, "visible_pass");
    let path = stage.path("run/receipts_RUN-ON.ndjson");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let (verdict, code, answer) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("BROKEN", Some(1)));
    let chain = &vectors::list(&vectors::list(&answer, "runs")[0], "chains")[0];
    let torn = &vectors::list(chain, "failures")[0];
    assert_eq!(vectors::text(torn, "reason"), "torn_tail");
    assert_eq!(torn.get("good_entries").unwrap().as_i64(), Some(2));
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for kept in 0..3 {
        fs::write(&path, lines[..kept].concat()).unwrap();
        assert_ne!(verify(&stage.path("run")).0, "OK", "{kept} entries left");
    }
    let again = stage.run(&["--sandbox", "none"], "true");
    assert_eq!(again.code, Some(64));
    assert!(again.stderr.contains("not empty"));
}

/// PC-40: a desk that is killed in the middle of a check leaves the workspace as it was and nothing mounted.
#[test]
fn pc40_a_killed_desk_leaves_no_trace_in_the_workspace() {
    let sleeping = "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", \"sleep 987\"]\nresult = \"exit\"\ntimeout_s = 60\n";
    let stage = Stage::command(sleeping, &[]);
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let listing = || {
        let mut names: Vec<_> =
            fs::read_dir(stage.path("workspace")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let mut command = stage.command_line(&[], &["/bin/true"]);
    let mut child = command.stdout(Stdio::null()).process_group(0).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // The check runs when its sleep is there.
    let sleeper =
        || Command::new("pgrep").args(["-f", "^sleep 987$"]).output().is_ok_and(|out| out.status.success());
    while !sleeper() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_9(&mut child);
    while sleeper() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!sleeper(), "the check outlived its desk");
    assert!(listing().is_empty(), "{:?}", listing());
    assert_eq!(mounts(), before);
}

/// Several runs at once on one directory: exactly one gets it, and the others do not disturb it.
#[test]
fn one_directory_takes_one_run() {
    for round in 0..12 {
        let stage = Stage::command(SUITE, &[]);
        let children: Vec<_> = (0..8).map(|_| start(&stage)).collect();
        let mut codes: Vec<_> =
            children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
        codes.sort_unstable();
        assert_eq!(codes, [0, 64, 64, 64, 64, 64, 64, 64], "round {round}");
        assert_eq!(stage.verify().0, "OK");
    }
}
