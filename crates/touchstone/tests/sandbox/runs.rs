use super::*;
use desk::sandbox::{Cannot, Output, StartError, Status, Stdin, Strays, program_roots};
use desk::supervise::{Start, start};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn exit_codes_and_signals_come_back() {
    for (script, status) in [
        ("exit 0", Status::Exited(0)),
        ("exit 7", Status::Exited(7)),
        ("exit 127", Status::Exited(127)),
        ("kill -SEGV $$", Status::Signaled(libc::SIGSEGV)),
        ("kill -KILL $$", Status::Signaled(libc::SIGKILL)),
    ] {
        at_each_level(script, same, |level, _, ended| assert_eq!(ended.status, status, "{level:?} {script}"));
    }
}

/// Ruling 17: a missing program is neither the program's failure nor the sandbox's.
#[test]
fn what_could_not_start_is_told_apart() {
    for sandbox in confined() {
        let place = Place::new();
        let file = |name: &str, text: &str, mode| {
            let path = place.path("workspace").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            path.display().to_string()
        };
        symlink("loop", place.path("workspace").join("loop")).unwrap();
        let endless = place.path("workspace").join("loop").display().to_string();
        let cases = [
            (endless, Cannot::Other(libc::ELOOP)),
            ("no-such-program".to_owned(), Cannot::NotFound),
            ("/no/such/program".to_owned(), Cannot::NotFound),
            (file("unset", "#!/bin/sh\n", 0o644), Cannot::NotPermitted),
            (file("text", "just text\n", 0o755), Cannot::BadFormat),
            (file("script", "#!/no/such/interpreter\n", 0o755), Cannot::NotFound),
        ];
        for (program, why) in cases {
            let ended = run(&sandbox, place.spec(&[&program]));
            let expected = Status::CouldNotStart { program: program.into(), why };
            assert_eq!(ended.status, expected, "{:?}", sandbox.level());
        }
        let mut spec = place.sh("exit 0");
        spec.cwd = place.path("outside").join("gone");
        let ended = run(&sandbox, spec);
        let failed =
            matches!(&ended.status, Status::SetupFailed { step, errno: libc::ENOENT } if step == "cwd");
        assert!(failed, "{:?} {ended:?}", sandbox.level());
    }
}

#[test]
fn no_directory_of_the_delivery_is_in_the_search() {
    for sandbox in confined() {
        let place = Place::new();
        let planted = place.path("workspace").join("planted-tool");
        std::fs::write(&planted, "#!/bin/sh\necho planted\n").unwrap();
        std::fs::set_permissions(&planted, PermissionsExt::from_mode(0o755)).unwrap();
        let mut spec = place.spec(&["planted-tool"]);
        spec.env = vec![("PATH".into(), ":.:/usr/bin".into())];
        assert_eq!(run(&sandbox, spec).status.code(), "program_not_found");
    }
}

#[test]
fn given_paths_are_there_with_the_given_rights() {
    for sandbox in confined() {
        let place = Place::new();
        std::fs::write(place.path("workspace").join("in"), "read me").unwrap();
        std::fs::create_dir(place.path("workspace").join("out")).unwrap();
        let mut spec = place.sh("cat in; echo w >out/f; echo s >$HOME/f; cat $HOME/f; echo x >/dev/null; head -c 2 /dev/zero | wc -c");
        spec.writable = vec![place.path("workspace").join("out")];
        let ended = run(&sandbox, spec);
        assert_eq!(text(&ended), "read mes\n2\n", "{:?}", sandbox.level());
        assert_eq!(std::fs::read_to_string(place.path("workspace/out/f")).unwrap(), "w\n");
        let on_disk = place.path("scratch").join("f").exists();
        assert_eq!(on_disk, sandbox.level() != Level::Full);
    }
}

/// Ruling 16: a delivery cannot keep the sandbox from starting by what it is called or what lies in it.
#[test]
fn odd_names_and_planted_links_do_not_keep_it_from_starting() {
    for sandbox in confined() {
        let place = Place::new();
        let odd = place.path("workspace").join(OsStr::from_bytes(b"a b\n\"'$(x)\xff"));
        std::fs::create_dir(&odd).unwrap();
        for (target, name) in
            [(".", "loop"), ("/", "root"), ("/dev/zero", "z"), ("../../..", "up"), ("nowhere", "tmp")]
        {
            symlink(target, odd.join(name)).unwrap();
        }
        let fifo = Command::new("mkfifo").arg(odd.join("p")).status().unwrap();
        assert!(fifo.success());
        std::fs::create_dir(odd.join("locked")).unwrap();
        std::fs::set_permissions(odd.join("locked"), PermissionsExt::from_mode(0o000)).unwrap();
        let mut spec = Spec::new(words(&["sh", "-c", "ls | wc -l"]), &odd);
        spec.scratch = Some(place.path("scratch"));
        let ended = run(&sandbox, spec);
        assert_eq!(ended.status, Status::Exited(0), "{:?} {}", sandbox.level(), text(&ended));
        // A link in the place of a root is not followed.
        let mut spec = place.sh("true");
        spec.writable = vec![odd.join("root")];
        assert!(matches!(sandbox.start(spec), Err(StartError::Root(..))));
        std::fs::set_permissions(odd.join("locked"), PermissionsExt::from_mode(0o700)).unwrap();
    }
}

fn mounts() -> String {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap()
}

fn listing(top: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut open = vec![top.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all.sort();
    all
}

/// PC-40.
#[test]
fn nothing_new_and_nothing_mounted_afterwards() {
    for sandbox in confined() {
        let place = Place::new();
        std::fs::write(place.path("workspace").join("f"), "x").unwrap();
        let (before, mounted) = (listing(place.top.path()), mounts());
        assert_eq!(
            run(&sandbox, place.sh("cat f; ls -la; touch .git .bashrc")).stdout.text().get(..1),
            Some("x")
        );
        assert_eq!(listing(place.top.path()), before, "{:?}", sandbox.level());
        assert_eq!(mounts(), mounted);
    }
}

/// PC-40: the desk is killed in the middle of a check.
#[test]
fn a_killed_desk_leaves_nothing_behind() {
    for sandbox in confined() {
        let place = Place::new();
        let (before, mounted, mark) = (listing(place.top.path()), mounts(), mark());
        let mut desk = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "runs::inner_desk", "--ignored", "--nocapture"])
            .env("TOUCHSTONE_TEST_MARK", &mark)
            .env("TOUCHSTONE_TEST_TOP", place.top.path())
            .env("TOUCHSTONE_TEST_FORBID", if sandbox.level() == Level::Full { "0" } else { "1" })
            .spawn()
            .unwrap();
        until("three sleepers", || alive(&mark) == 3);
        desk.kill().unwrap();
        desk.wait().unwrap();
        until("no sleeper", || alive(&mark) == 0);
        assert_eq!(listing(place.top.path()), before);
        assert_eq!(mounts(), mounted);
    }
}

#[test]
#[ignore = "started by a_killed_desk_leaves_nothing_behind"]
fn inner_desk() {
    let var = |name| std::env::var(name).unwrap();
    let sandbox = setting(Choice::Auto, None, var("TOUCHSTONE_TEST_FORBID") == "1").unwrap();
    let top = PathBuf::from(var("TOUCHSTONE_TEST_TOP")).canonicalize().unwrap();
    let mark = var("TOUCHSTONE_TEST_MARK");
    let script = format!(
        "trap '' TERM HUP; setsid sleep {mark} & (setsid sh -c 'sleep {mark} & exit' &); sleep {mark}; :"
    );
    let mut spec = Spec::new(words(&["sh", "-c", &script]), top.join("workspace"));
    spec.scratch = Some(top.join("scratch"));
    spec.limits = Limits::check_within_ms(LONG_MS);
    // Started on a thread that ends: the run must not hang on the thread that began it.
    std::thread::spawn(move || sandbox.start(spec).unwrap()).join().unwrap().wait();
}

#[test]
fn dropping_or_killing_a_run_ends_it() {
    for sandbox in confined() {
        let (place, one, two) = (Place::new(), mark(), mark());
        let running = sandbox.start(place.sh(&format!("sleep {one} & sleep {one}; :"))).unwrap();
        until("both alive", || alive(&one) == 2);
        running.kill();
        assert_eq!(running.wait().status, Status::Killed, "{:?}", sandbox.level());
        assert_eq!(alive(&one), 0);
        drop(sandbox.start(place.sh(&format!("sleep {two}; :"))).unwrap());
        until("dropped run over", || alive(&two) == 0);
    }
}

fn pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap()
}

/// A checker and a candidate at the same time, two pipes between them, a third for the result.
#[test]
fn two_runs_talk_over_passed_descriptors() {
    for sandbox in confined() {
        let place = Place::new();
        let ((ask_r, ask_w), (tell_r, tell_w), (result_r, result_w)) = (pipe(), pipe(), pipe());
        let mut candidate = place.sh("while read x <&5; do echo $((x * 2)) >&3; done; exit 4");
        candidate.pass_fds = vec![(ask_r, 5), (tell_w, 3)];
        let mut checker = place.sh("for i in 1 2 3; do echo $i >&6; read y <&3; echo got $y >&4; done");
        checker.pass_fds = vec![(ask_w, 6), (tell_r, 3), (result_w, 4)];
        let candidate = sandbox.start(candidate).unwrap();
        let checker = sandbox.start(checker).unwrap();
        let mut result = String::new();
        std::fs::File::from(result_r).read_to_string(&mut result).unwrap();
        assert_eq!(result, "got 2\ngot 4\ngot 6\n", "{:?}", sandbox.level());
        assert_eq!(checker.wait().status, Status::Exited(0));
        // Ends by the end of its input: nobody else holds an end of that pipe.
        assert_eq!(candidate.wait().status, Status::Exited(4), "{:?}", sandbox.level());
    }
}

#[test]
fn only_the_passed_descriptors_are_open() {
    for sandbox in confined() {
        let place = Place::new();
        let (read, write) = pipe();
        let mut spec = place.sh("cd /proc/self/fd; echo *");
        spec.pass_fds = vec![(write, 9)];
        let ended = run(&sandbox, spec);
        drop(read);
        let open: Vec<String> = ended.stdout.text().split_whitespace().map(str::to_owned).collect();
        // One more while the shell reads the directory.
        assert!(
            open.starts_with(&["0".into(), "1".into(), "2".into()]),
            "{:?} {}",
            sandbox.level(),
            text(&ended)
        );
        assert!(open.contains(&"9".into()) && open.len() <= 5, "{open:?}");
    }
}

/// An installation with its own prefix is shown as a whole; node needs more address space than the default.
#[test]
fn interpreters_run() {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let prefixes = std::fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten().flatten();
    let mut pythons: Vec<PathBuf> = prefixes.map(|e| e.path().join("bin/python3")).collect();
    pythons.push("/usr/bin/python3".into());
    let script = "import json, ssl, sqlite3, tempfile, multiprocessing, subprocess, sys, os\n\
        with tempfile.TemporaryFile() as f: f.write(b'x')\n\
        subprocess.run([sys.executable, '-c', 'print(1)'], check=True)\n\
        print(sys.prefix)";
    for sandbox in confined() {
        for python in pythons.iter().filter(|p| p.exists()) {
            let place = Place::new();
            let mut spec = place.spec(&[python.to_str().unwrap(), "-c", script]);
            spec.read_only.extend(program_roots(python));
            let ended = run(&sandbox, spec);
            assert_eq!(ended.status, Status::Exited(0), "{:?} {python:?} {}", sandbox.level(), text(&ended));
        }
        if Path::new("/usr/bin/node").exists() {
            let place = Place::new();
            let mut spec = place.spec(&["node", "-e", "console.log(require('os').totalmem() > 0)"]);
            (spec.limits.memory_bytes, spec.limits.address_bytes) = (Some(4 << 30), None);
            let ended = run(&sandbox, spec);
            assert_eq!(text(&ended), "true\n", "{:?} {:?}", sandbox.level(), ended.status);
        } else {
            vectors::skip("interpreters_run", "no /usr/bin/node");
        }
    }
}

#[test]
fn standard_input_is_what_was_given() {
    for sandbox in confined() {
        let place = Place::new();
        let mut spec = place.spec(&["cat"]);
        spec.stdin = Stdin::Bytes(b"some bytes".to_vec());
        assert_eq!(run(&sandbox, spec).stdout.text(), "some bytes");
        let (read, write) = pipe();
        let mut spec = place.spec(&["cat"]);
        spec.stdin = Stdin::Fd(read);
        let running = sandbox.start(spec).unwrap();
        std::fs::File::from(write).write_all(b"by a pipe").unwrap();
        assert_eq!(running.wait().stdout.text(), "by a pipe");
        assert_eq!(text(&run(&sandbox, place.spec(&["cat"]))), "");
    }
}

// ---- without a sandbox: the agent

fn agent(script: &str) -> Start {
    let mut agent = Start::new(words(&["sh", "-c", script]), "/");
    agent.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    agent.helper = Some(helper());
    agent
}

#[test]
fn an_agent_is_supervised_without_a_sandbox() {
    let (one, two) = (mark(), mark());
    let script = format!(
        "env; echo err >&2; setsid nohup sh -c 'sleep {one} & exit 0' >/dev/null 2>&1; sleep 0.2; exit 3"
    );
    let ended = start(agent(&script)).unwrap().wait();
    assert_eq!((ended.status, ended.strays), (Status::Exited(3), Strays::Killed(1)));
    assert!(ended.stdout.text().contains("PATH=/usr/bin:/bin\n") && !ended.stdout.text().contains("HOME="));
    assert_eq!(ended.stderr.text(), "err\n");
    assert_eq!(alive(&one), 0);
    let mut slow = agent(&format!("sleep {two} & sleep {two}; :"));
    slow.limits.wall_ms = Some(300);
    slow.stderr = Output::Null;
    assert_eq!(start(slow).unwrap().wait().status, Status::TimedOut);
    assert_eq!(alive(&two), 0);
    let mut missing = agent("");
    missing.argv = words(&["no-such-agent"]);
    assert_eq!(start(missing).unwrap().wait().status.code(), "program_not_found");
}

#[test]
fn a_missing_keeper_is_the_desks_own_trouble() {
    for _ in 0..8 {
        let mut agent = agent("true");
        agent.helper = Some("/no/such/helper".into());
        assert!(matches!(start(agent), Err(StartError::System("keeper", _))));
    }
    let setting = Establish { helper: Some("/no/such/helper".into()), ..Establish::new(Choice::Auto, None) };
    assert_eq!(setting.run().unwrap_err().cause().code(), "sandbox_probe_failed");
}

/// What can be seen before anything is started is said before anything is started.
#[test]
fn a_command_that_is_none_starts_nothing() {
    let refused = |argv: &[&str], cwd: &str, env: Vec<(OsString, OsString)>| {
        let mut agent = Start::new(words(argv), cwd);
        (agent.helper, agent.env) = (Some(helper()), env);
        start(agent).unwrap_err()
    };
    assert!(matches!(refused(&[], "/", Vec::new()), StartError::EmptyCommand));
    assert!(matches!(refused(&["a\0b"], "/", Vec::new()), StartError::ZeroByte));
    assert!(matches!(refused(&["a"], "/", vec![("N".into(), "\0".into())]), StartError::ZeroByte));
    for sandbox in confined() {
        for path in ["relative", "/tmp/../etc", "/"] {
            let mut spec = Place::new().sh("true");
            spec.read_only = vec![path.into()];
            assert!(matches!(sandbox.start(spec), Err(StartError::NotAbsolute(_))), "{path}");
        }
    }
}

/// Runs at the same time in one desk: each finds its own strays and leaves the others' alone.
#[test]
fn concurrent_runs_do_not_mix_up_their_strays() {
    let (long, short) = (mark(), mark());
    let other = start(agent(&format!("setsid sh -c 'sleep {long} &'; sleep {long}; :"))).unwrap();
    until("the other's two", || alive(&long) == 2);
    let runs: Vec<_> =
        (0..4).map(|_| start(agent(&format!("setsid sleep {short} & sleep 0.2"))).unwrap()).collect();
    for run in runs {
        assert_eq!(run.wait().strays, Strays::Killed(1));
    }
    assert_eq!((alive(&short), alive(&long)), (0, 2));
    other.kill();
    other.wait();
    assert_eq!(alive(&long), 0);
}

/// PC-01: also where the desk has a terminal, the agent has none.
#[test]
fn an_agent_has_no_terminal() {
    const NAME: &str = "an_agent_has_no_terminal";
    let inner =
        format!("{} --exact runs::inner_terminal --ignored", std::env::current_exe().unwrap().display());
    match Command::new("script")
        .args(["-qec", &inner, "/dev/null"])
        .stdin(std::process::Stdio::null())
        .output()
    {
        Ok(out) => {
            let said = String::from_utf8_lossy(&out.stdout);
            assert!(out.status.success() && said.contains("1 passed"), "{said}");
        }
        Err(why) => vectors::skip(NAME, &format!("script: {why}")),
    }
}

#[test]
#[ignore = "started by an_agent_has_no_terminal"]
fn inner_terminal() {
    assert!(std::fs::File::open("/dev/tty").is_ok(), "the desk itself has a terminal here");
    let mut agent = agent("read x </dev/tty; echo went on");
    agent.limits.wall_ms = Some(LONG_MS);
    let ended = start(agent).unwrap().wait();
    assert_eq!(ended.status.code(), "exited");
    assert!(!ended.stdout.text().contains("timed"), "{ended:?}");
    for sandbox in confined() {
        let place = Place::new();
        let ended = run(&sandbox, place.sh("read x </dev/tty; echo went on"));
        assert_eq!(ended.status.code(), "exited");
        assert_eq!(sandbox.measured().answer(Probe::Terminal).code(), "blocked");
    }
}
