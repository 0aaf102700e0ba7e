use super::*;
use desk::sandbox::{Status, Strays};
use std::process::Stdio;

#[test]
fn a_gigabyte_of_output_costs_no_memory_and_does_not_block() {
    at_each_level("head -c 1073741824 /dev/zero; printf end", same, |level, _, ended| {
        assert_eq!(ended.status, Status::Exited(0), "{level:?}");
        assert_eq!(ended.stdout.total_bytes, (1 << 30) + 3, "{level:?}");
        assert_eq!(ended.stdout.head.len() + ended.stdout.tail.len(), 1 << 20);
        assert!(ended.stdout.tail.ends_with(b"end"));
    });
}

/// Bounded by itself as well: a tree of at most 1024 shells that end after 3 s, but for the sleepers, should all our limits fail.
#[test]
fn a_fork_bomb_is_contained() {
    for again in ["", "setsid "] {
        let mark = mark();
        let script = r#"echo 'if [ "$1" -gt 0 ]; then AGAIN sh $HOME/b $(($1-1)) & AGAIN sh $HOME/b $(($1-1)) & fi; sleep MARK & sleep 3' >$HOME/b; sh $HOME/b 9"#;
        let script = script.replace("AGAIN", again).replace("MARK", &mark);
        let small = |_: &Place, spec: &mut Spec| spec.limits.processes = Some(40);
        at_each_level(&script, small, |level, _, ended| {
            let contained = matches!(ended.status, Status::TooManyProcesses | Status::Exited(_));
            assert!(contained, "{level:?} {ended:?}");
            assert_ne!(ended.strays.code(), "strays_not_measurable", "{level:?} {:?}", ended.strays);
            assert_eq!(alive(&mark), 0, "{level:?}");
        });
    }
}

#[test]
fn ignoring_sigterm_does_not_help() {
    let mark = mark();
    let short = |_: &Place, spec: &mut Spec| spec.limits.wall_ms = Some(300);
    at_each_level(&format!("trap '' TERM; while :; do sleep {mark}; done"), short, |level, _, ended| {
        assert_eq!(ended.status, Status::TimedOut, "{level:?}");
        assert_eq!(alive(&mark), 0, "{level:?}");
    });
}

/// PC-42: a grandchild holds the pipe open.
#[test]
fn over_when_the_limit_passes_whoever_holds_the_pipe() {
    let mark = mark();
    let short = |_: &Place, spec: &mut Spec| spec.limits.wall_ms = Some(300);
    at_each_level(&format!("sleep {mark} & wait"), short, |level, _, ended| {
        assert_eq!(ended.status, Status::TimedOut, "{level:?}");
        assert_eq!(alive(&mark), 0, "{level:?}");
    });
}

/// PC-42 and PC-43: the run ends with its main process; what is left is killed and recorded.
#[test]
fn strays_are_killed_and_recorded() {
    let cases = [
        "sleep MARK & exit 0",
        "setsid sleep MARK & exit 0",
        "setsid sh -c 'setsid nohup sleep MARK >/dev/null 2>&1 & exit 0'; exit 0",
        "(env -i setsid sh -c '(sleep MARK &) ; exit 0' </dev/null >/dev/null 2>&1 &) ; exit 0",
    ];
    for case in cases {
        let mark = mark();
        // The stray is given the time to have come to life.
        let script = case.replace("MARK", &mark).replace("exit 0", "sleep 0.2; exit 0");
        at_each_level(&script, same, |level, _, ended| {
            assert_eq!(ended.status, Status::Exited(0), "{level:?} {case}: {ended:?}");
            assert!(
                matches!(ended.strays, Strays::Killed(n) if n >= 1),
                "{level:?} {case}: {:?}",
                ended.strays
            );
            assert_eq!(alive(&mark), 0, "{level:?} {case}");
        });
    }
}

#[test]
fn nobody_left_is_said_as_none() {
    at_each_level("true", same, |level, _, ended| assert_eq!(ended.strays, Strays::None, "{level:?}"));
}

#[test]
fn closing_all_descriptors_changes_nothing() {
    let script = "exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&-; sleep 0.1; exit 7";
    at_each_level(script, same, |level, _, ended| assert_eq!(ended.status, Status::Exited(7), "{level:?}"));
}

#[test]
fn nothing_outside_can_be_written_or_read() {
    for sandbox in confined() {
        let place = Place::new();
        let secret = place.path("outside").join("secret");
        std::fs::write(&secret, "the secret").unwrap();
        std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        let script = format!(
            "cat {o}/secret; echo x >{o}/new; echo x >>{o}/secret; rm {o}/secret; chmod 777 {o}/secret {o}; ln -s {o} $HOME/l; cat $HOME/l/secret; \
             echo x >new; mkdir sub; cat /etc/shadow; cat /proc/kcore; exit 3",
            o = place.path("outside").display()
        );
        let ended = run(&sandbox, place.sh(&script));
        assert_eq!(ended.status, Status::Exited(3), "{:?}", sandbox.level());
        assert_eq!(ended.stdout.text(), "", "{:?}", sandbox.level());
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "the secret");
        let mode = std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", sandbox.level());
        assert_eq!(std::fs::read_dir(place.path("outside")).unwrap().count(), 1);
        assert_eq!(std::fs::read_dir(place.path("workspace")).unwrap().count(), 0);
    }
}

#[test]
fn no_socket_is_to_be_had() {
    const NAME: &str = "no_socket_is_to_be_had";
    if !std::path::Path::new("/usr/bin/python3").exists() {
        vectors::skip(NAME, "no /usr/bin/python3 (the canaries cover the same)");
        return;
    }
    let script = r#"
import socket, os, ctypes
kinds = [(f, t) for f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16, 40) for t in (1, 2, 3, 5)]
for f, t in kinds:
    try:
        socket.socket(f, t); print("socket", f, t)
    except OSError: pass
for t in (2, 3):
    try:
        socket.socketpair(socket.AF_UNIX, t); print("pair", t)
    except OSError: pass
a, b = socket.socketpair()
for way in (lambda: a.connect("/dev/log"), lambda: a.sendto(b"x", "/dev/log")):
    try:
        way(); print("address on a pair")
    except OSError: pass
a.send(b"ok"); assert b.recv(2) == b"ok"
libc = ctypes.CDLL(None, use_errno=True)
for number in (0x40000000 + 41, 0x40000000 + 39, 425, 101, 310, 438, 321, 323, 165, 272, 308):
    if libc.syscall(number, 1, 1, 0, 0, 0, 0) >= 0: print("syscall", number)
"#;
    for sandbox in confined() {
        let place = Place::new();
        let ended = run(&sandbox, place.spec(&["/usr/bin/python3", "-c", script]));
        assert_eq!(
            (ended.status.clone(), text(&ended)),
            (Status::Exited(0), String::new()),
            "{:?}",
            sandbox.level()
        );
    }
}

#[test]
fn scratch_is_limited() {
    let small = |_: &Place, spec: &mut Spec| {
        spec.limits.scratch_bytes = 4 << 20;
        spec.limits.file_bytes = Some(6 << 20);
    };
    at_each_level("dd if=/dev/zero of=$HOME/f bs=65536 count=1024", small, |level, place, ended| {
        assert_ne!(ended.status, Status::Exited(0), "{level:?}");
        let left = std::fs::metadata(place.path("scratch").join("f")).map_or(0, |m| m.len());
        match level {
            Level::Full => assert_eq!(left, 0, "memory, not the disk"),
            _ => assert!(left <= 6 << 20, "{left}"),
        }
    });
}

#[test]
fn memory_is_limited() {
    let small = |_: &Place, spec: &mut Spec| {
        (spec.limits.memory_bytes, spec.limits.address_bytes) = (Some(64 << 20), None)
    };
    at_each_level("tail /dev/zero", small, |level, _, ended| {
        assert!(!matches!(ended.status, Status::Exited(0) | Status::TimedOut), "{level:?} {ended:?}");
    });
}

#[test]
fn processor_time_is_limited() {
    let small = |_: &Place, spec: &mut Spec| spec.limits.cpu_seconds = Some(1);
    at_each_level("while :; do :; done", small, |level, _, ended| {
        assert_eq!(ended.status, Status::Signaled(libc::SIGXCPU), "{level:?}");
    });
}

#[test]
fn the_parent_cannot_be_killed_or_looked_into() {
    let script = "kill -KILL $PPID; kill -TERM $PPID; \
        for p in $PPID 1; do ls /proc/$p/fd; cat /proc/$p/environ /proc/$p/maps /proc/$p/mem; ls /proc/$p/root/; readlink /proc/$p/exe; done; \
        echo still; exit 5";
    at_each_level(script, same, |level, _, ended| {
        assert_eq!(ended.stdout.text(), "still\n", "{level:?} {}", text(&ended));
        assert_eq!(ended.status, Status::Exited(5), "{level:?}");
    });
}

/// Ends with its owner, also when an assertion fails.
struct Bystander(std::process::Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `kill(-1)` answers "done" even when every single process was refused, so somebody outside has to watch.
#[test]
fn killing_everybody_reaches_nobody_outside() {
    let script = "trap 'exit 9' URG; while :; do sleep 0.02; done";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bystander = Bystander(shell.spawn().unwrap());
    for sandbox in confined() {
        if sandbox.measured().answer(Probe::SignalDesk).code() != "blocked" {
            vectors::skip("killing_everybody_reaches_nobody_outside", "this kernel has no signal scopes");
            continue;
        }
        // The signal that everybody else ignores by default, should it get out after all.
        let signal = if sandbox.level() == Level::Full { "KILL" } else { "URG" };
        run(&sandbox, Place::new().sh(&format!("kill -{signal} -1; sleep 0.3")));
        assert!(bystander.0.try_wait().unwrap().is_none(), "{:?}", sandbox.level());
    }
}

#[test]
fn nothing_of_the_delivery_runs_by_itself_and_the_environment_is_exact() {
    for sandbox in confined() {
        let place = Place::new();
        for name in [".bash_profile", ".bash_login", ".profile", ".bashrc", ".zshenv", ".pythonrc"] {
            std::fs::write(place.path("workspace").join(name), "echo planted\n").unwrap();
        }
        std::fs::write(place.path("workspace/env"), "#!/bin/sh\necho planted\n").unwrap();
        std::fs::set_permissions(place.path("workspace/env"), PermissionsExt::from_mode(0o755)).unwrap();
        let mut spec = place.spec(&["env"]);
        spec.env = vec![("EXTRA".into(), "1".into())];
        let ended = run(&sandbox, spec);
        let scratch = place.path("scratch").display().to_string();
        let expected = format!(
            "EXTRA=1\nHOME={scratch}\nLANG=C.UTF-8\nLC_ALL=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n\
             PYTHONDONTWRITEBYTECODE=1\nTMPDIR={scratch}\n"
        );
        assert_eq!(ended.stdout.text(), expected, "{:?}", sandbox.level());
        let ended = run(&sandbox, place.spec(&["bash", "-lc", "echo $BASH_VERSION | wc -l"]));
        assert!(!text(&ended).contains("planted"), "{}", text(&ended));
    }
}
