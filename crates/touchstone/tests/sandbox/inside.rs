use super::*;
use desk::sandbox::Status;

/// A copy of the helper whose probe calls one of its findings by another name: its answer never comes back.
fn mute(folder: &tempfile::TempDir, probe: Probe) -> PathBuf {
    let mut bytes = std::fs::read(helper()).unwrap();
    let name = probe.code().as_bytes();
    let found: Vec<usize> =
        bytes.windows(name.len()).enumerate().filter(|(_, at)| *at == name).map(|(at, _)| at).collect();
    assert!(!found.is_empty(), "the name of {probe:?} is not in the binary");
    for at in found {
        bytes[at] = b'X';
    }
    let path = folder.path().join(format!("touchstone-{}", probe.code()));
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// What was not measured is not promised: a level with one unanswered probe is not reported.
#[test]
fn an_unanswered_probe_lowers_the_level() {
    let folder = tempfile::Builder::new().prefix("touchstone-mute-").tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let honest = confined();
    for probe in [Probe::Keyctl, Probe::SeeDesk] {
        let path = mute(&folder, probe);
        for forbid_userns in [false, true] {
            let establish = |choice| Establish {
                helper: Some(path.clone()),
                forbid_userns,
                ..Establish::new(choice, None)
            };
            let why = Cause::NotBlocked(vec![probe]);
            let excused = probe == Probe::SeeDesk;
            match establish(Choice::Auto).run() {
                // Names of processes are not promised at level Landlock.
                Ok(sandbox) => {
                    assert!(excused, "{probe:?} {:?}", sandbox.level());
                    assert_eq!(sandbox.level(), Level::Landlock);
                    assert_eq!(sandbox.measured().answer(probe).code(), "not_measured");
                    let full = honest.iter().any(|sandbox| sandbox.level() == Level::Full);
                    assert!(forbid_userns || !full || sandbox.not_full() == Some(&why));
                }
                Err(unavailable) => {
                    for (level, cause) in
                        [(Level::Full, &unavailable.full), (Level::Landlock, &unavailable.landlock)]
                    {
                        let there = honest.iter().any(|sandbox| sandbox.level() == level);
                        if there && !(forbid_userns && level == Level::Full) {
                            assert_eq!(cause.as_ref(), Some(&why), "{level:?} {probe:?}");
                            assert!(!(excused && level == Level::Landlock));
                        }
                    }
                    assert_eq!(unavailable.none, None, "no silent way to no confinement");
                }
            }
            // Without confinement nothing is promised, and the report says what was not measured.
            let none = establish(Choice::None).run().unwrap();
            assert_eq!(none.measured().answer(probe).code(), "not_measured");
        }
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
