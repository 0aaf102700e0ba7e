//! Why a level is not to be had: each cause on a kernel that answers as such a machine does.

use super::*;
use libc::{EPERM, c_long};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};
use std::collections::BTreeMap;

/// Which cause is to be met; the program runs itself once for each.
const WHICH: &str = "TOUCHSTONE_TEST_CAUSE";

/// The cause, the call that such a machine refuses, its answer, and the switch of the kernel that says so.
fn machines() -> [(Cause, c_long, i32, &'static str); 6] {
    let setup = Cause::Setup { step: "setsid".into(), errno: EPERM };
    [
        (Cause::Seccomp, libc::SYS_unshare, EPERM, ""),
        (Cause::Seccomp, libc::SYS_landlock_create_ruleset, EPERM, ""),
        (Cause::NoLandlock, libc::SYS_landlock_create_ruleset, libc::ENOSYS, ""),
        (setup, libc::SYS_setsid, EPERM, ""),
        (Cause::UserNamespacesPrivileged, libc::SYS_unshare, EPERM, "unprivileged_userns_clone=0"),
        (Cause::AppArmor, libc::SYS_unshare, EPERM, "apparmor_restrict_unprivileged_userns=1"),
    ]
}

#[test]
fn every_cause_is_named() {
    // An ordinary user in whose world the switch stands as the kernel of such a machine shows it.
    const WORLD: &str = "mount -t tmpfs none /proc/sys/kernel && echo ${1#*=} > /proc/sys/kernel/${1%=*} && shift && exec unshare -U --map-user=65534 \"$@\"";
    let program = std::env::current_exe().unwrap();
    for (index, (cause, .., switch)) in machines().into_iter().enumerate() {
        let mut command = if switch.is_empty() { Command::new(&program) } else { Command::new("unshare") };
        if !switch.is_empty() {
            command.args(["-Urm", "sh", "-c", WORLD, "sh", switch]).arg(&program);
        }
        command.args(["--exact", "causes::inner_meets_the_cause", "--ignored", "--nocapture"]);
        match command.env(WHICH, index.to_string()).output() {
            Ok(out) if String::from_utf8_lossy(&out.stdout).contains("running 1 test") => {
                let said = [out.stdout, out.stderr].concat();
                assert!(out.status.success(), "{cause:?}: {}", String::from_utf8_lossy(&said));
            }
            other => vectors::skip("every_cause_is_named", &format!("{cause:?}: {other:?}")),
        }
    }
}

#[test]
#[ignore = "started by every_cause_is_named"]
fn inner_meets_the_cause() {
    let index: usize = std::env::var(WHICH).unwrap().parse().unwrap();
    let (cause, call, errno, switch) = machines().into_iter().nth(index).unwrap();
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let rules = BTreeMap::from([(call, Vec::new())]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
    apply_filter_all_threads(&BpfProgram::try_from(filter).unwrap()).unwrap();
    let refused = setting(Choice::Auto, Some(Level::Full), false).unwrap_err();
    assert_eq!(refused.full.as_ref(), Some(&cause), "{refused}");
    assert!(refused.to_string().contains(switch), "{refused}");
}
