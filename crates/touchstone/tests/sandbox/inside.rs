use super::*;
use desk::sandbox::Status;

/// A helper that confines as ours does and whose probe says what `say` prints.
struct StandIn {
    folder: tempfile::TempDir,
}

impl StandIn {
    fn new(say: &str) -> StandIn {
        let folder = tempfile::Builder::new().prefix("touchstone-stand-in-").tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let ours = helper();
        let script = format!(
            "#!/bin/sh\ncase $1 in __confine) exec '{}' \"$@\";; __canary) {say};; esac\n",
            ours.display()
        );
        let path = folder.path().join("helper");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        StandIn { folder }
    }

    fn at(&self, choice: Choice, forbid_userns: bool) -> Result<Sandbox, Unavailable> {
        let helper = Some(self.folder.path().join("helper"));
        Establish { helper, forbid_userns, ..Establish::new(choice, None) }.run()
    }
}

/// Every probe blocked but one, of which the given word is said, or nothing.
fn all_but(probe: Probe, word: Option<&str>) -> String {
    let lines = Probe::ALL.iter().filter_map(|one| {
        let word = if *one == probe { word? } else { "blocked" };
        Some(format!("{}\\t{word}\\ttext\\n", one.code()))
    });
    format!("printf '{}'", lines.collect::<String>())
}

/// What is open or was not measured is not promised: a level with one such probe is not reported, and nothing falls to
/// no confinement by itself. Whether the probe is promised is the level's matter.
#[test]
fn one_probe_that_is_not_blocked_lowers_the_level() {
    let honest = confined();
    let has = |level| honest.iter().any(|sandbox| sandbox.level() == level);
    let blocked = StandIn::new(&all_but(Probe::TcpLoopback, Some("blocked")));
    for sandbox in &honest {
        let forbid = sandbox.level() == Level::Landlock;
        assert_eq!(blocked.at(Choice::Auto, forbid).unwrap().level(), sandbox.level(), "the stand-in works");
    }
    for probe in Probe::ALL {
        let excused = matches!(probe, Probe::SeeDesk | Probe::SignalDesk);
        for word in [Some("reachable"), Some("not_measured"), None] {
            let stand_in = StandIn::new(&all_but(probe, word));
            let why = Some(Cause::NotBlocked(vec![probe]));
            match stand_in.at(Choice::Auto, false) {
                Ok(sandbox) => {
                    assert!(excused && sandbox.level() == Level::Landlock, "{probe:?} {:?}", sandbox.level());
                    assert_eq!(sandbox.measured().answer(probe).code(), word.unwrap_or("not_measured"));
                    assert!(!has(Level::Full) || sandbox.not_full() == why.as_ref());
                }
                Err(unavailable) => {
                    assert!(!has(Level::Full) || unavailable.full == why, "{probe:?} {unavailable}");
                    let landlock = has(Level::Landlock);
                    assert!(
                        !landlock || (unavailable.landlock == why && !excused),
                        "{probe:?} {unavailable}"
                    );
                    assert_eq!(unavailable.none, None);
                }
            }
        }
    }
}

/// What arrived at the desk counts, whatever the probe says.
#[test]
fn what_arrived_overrules_the_probe() {
    let claims = all_but(Probe::TcpLoopback, Some("blocked"));
    let silent = StandIn::new(&claims).at(Choice::None, false).unwrap();
    assert_eq!(silent.measured().answer(Probe::WriteOutside).code(), "blocked");
    let caught = StandIn::new(&format!("echo x > written; {claims}")).at(Choice::None, false).unwrap();
    assert_eq!(caught.measured().answer(Probe::WriteOutside).code(), "reachable");
    // A probe that fails is none.
    for say in ["exit 1", "kill -9 $$"] {
        let failed = StandIn::new(&format!("{claims}; {say}")).at(Choice::None, false).unwrap_err();
        assert!(matches!(failed.none, Some(Cause::ProbeFailed(_))), "{say}: {failed}");
    }
}

/// The probes can find something open, and at a reported level they found nothing of what it promises.
#[test]
fn nothing_promised_is_open_at_a_reported_level() {
    let none = setting(Choice::None, None, false).unwrap();
    let open: Vec<Probe> = none
        .measured()
        .answers()
        .filter(|(_, answer)| matches!(answer, Answer::Reachable(_)))
        .map(|(probe, _)| probe)
        .collect();
    assert!(open.len() >= 5, "{open:?}");
    for sandbox in confined() {
        for probe in Probe::ALL {
            let answer = sandbox.measured().answer(probe);
            let excused =
                sandbox.level() == Level::Landlock && matches!(probe, Probe::SeeDesk | Probe::SignalDesk);
            assert!(excused || matches!(answer, Answer::Blocked(_)), "{:?} {probe:?}", sandbox.level());
        }
    }
}

fn python(test: &str, script: &str) {
    if !std::path::Path::new("/usr/bin/python3").exists() {
        return vectors::skip(test, "no /usr/bin/python3");
    }
    for sandbox in confined() {
        let ended = run(&sandbox, Place::new().spec(&["/usr/bin/python3", "-c", script]));
        let got = (ended.status.clone(), text(&ended));
        assert_eq!(got, (Status::Exited(0), "done\n".to_owned()), "{:?}", sandbox.level());
    }
}

/// Nobody types into the terminal for the user. Where there is no terminal the filter must answer, not the device.
#[test]
fn typing_into_a_terminal_is_refused_by_the_filter() {
    let script = r#"
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def ioctl(request):
    byte = ctypes.create_string_buffer(b"x")
    got = libc.syscall(ctypes.c_long(IOCTL), ctypes.c_long(0), ctypes.c_ulong(request), byte)
    return got, errno.errorcode.get(ctypes.get_errno())
for request in (TIOCSTI, 0x541c):
    # The kernel looks at the low 32 bits only.
    for high in (0, 1 << 32, 0xffffffff << 32):
        if ioctl(high | request) != (-1, "EPERM"): print(hex(high | request), ioctl(high | request))
if ioctl(0x5401) == (-1, "EPERM"): print("every ioctl is refused: this shows nothing")
print("done")
"#;
    let script = script.replace("IOCTL", &libc::SYS_ioctl.to_string());
    let script = script.replace("TIOCSTI", &libc::TIOCSTI.to_string());
    python("typing_into_a_terminal_is_refused_by_the_filter", &script);
}

/// No privilege is left inside: effective, permitted, inheritable.
#[test]
fn no_capability_is_left() {
    let script = r#"
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)(*[7] * 6)
assert libc.syscall(ctypes.c_long(CAPGET), header, data) == 0, ctypes.get_errno()
if any(data): print("capabilities", list(data))
try:
    for line in open("/proc/self/status"):
        if line.startswith(("CapEff", "CapPrm", "CapInh", "CapAmb")) and int(line.split()[1], 16): print(line)
except OSError: pass
print("done")
"#;
    python("no_capability_is_left", &script.replace("CAPGET", &libc::SYS_capget.to_string()));
}
