//! Why a level is not to be had, and what can be done about it (PC-36).

use super::{Level, Probe};
use std::fmt;

/// Why one level is not available here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// `user.max_user_namespaces` is 0.
    UserNamespacesZero,
    /// `kernel.unprivileged_userns_clone` is 0.
    UserNamespacesPrivileged,
    /// `kernel.apparmor_restrict_unprivileged_userns` is 1.
    AppArmor,
    /// A seccomp filter around the desk (a container's) refuses the calls.
    Seccomp,
    /// The kernel has no Landlock, or it is not in the list of active security modules.
    NoLandlock,
    /// A step of the set-up failed for another reason.
    Setup {
        /// Which step.
        step: String,
        /// The kernel's error number, 0 when there is none.
        errno: i32,
    },
    /// The probe did not start or did not come back.
    ProbeFailed(String),
    /// The set-up worked, but these were not blocked when tried.
    NotBlocked(Vec<Probe>),
    /// It works, but less than it was required.
    BelowFloor,
}

// Closed list, signed into receipts.
canon::codes! {
    impl Cause: &self {
        Cause::UserNamespacesZero => "sandbox_userns_zero",
        Cause::UserNamespacesPrivileged => "sandbox_userns_privileged",
        Cause::AppArmor => "sandbox_userns_apparmor",
        Cause::Seccomp => "sandbox_outer_seccomp",
        Cause::NoLandlock => "sandbox_no_landlock",
        Cause::Setup { .. } => "sandbox_setup",
        Cause::ProbeFailed(_) => "sandbox_probe_failed",
        Cause::NotBlocked(_) => "sandbox_not_blocked",
        Cause::BelowFloor => "sandbox_below_floor",
    }
}

impl Cause {
    /// The switch of the kernel that forbids it, where it is one.
    pub fn switch(&self) -> Option<&'static str> {
        match self {
            Cause::UserNamespacesZero => Some("user.max_user_namespaces=0"),
            Cause::UserNamespacesPrivileged => Some("kernel.unprivileged_userns_clone=0"),
            Cause::AppArmor => Some("kernel.apparmor_restrict_unprivileged_userns=1"),
            Cause::Seccomp => Some("seccomp filter of the surrounding container"),
            Cause::NoLandlock => Some("lsm= without landlock"),
            _ => None,
        }
    }

    /// What opens the level again.
    pub fn cure(&self) -> &'static str {
        match self {
            Cause::UserNamespacesZero => "as root: sysctl user.max_user_namespaces=16384",
            Cause::UserNamespacesPrivileged => "as root: sysctl kernel.unprivileged_userns_clone=1",
            Cause::AppArmor => {
                "as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for this binary that allows userns"
            }
            Cause::Seccomp => {
                "start the container with a seccomp profile that allows unshare, mount and landlock"
            }
            Cause::NoLandlock => {
                "use Linux 5.13 or newer with landlock in the lsm= list of the kernel command line"
            }
            Cause::BelowFloor | Cause::NotBlocked(_) | Cause::Setup { .. } | Cause::ProbeFailed(_) => {
                "run the desk on a machine or in a virtual machine where it works"
            }
        }
    }

    /// Finds the switch behind a failed step of the full profile.
    pub(crate) fn of_setup(step: String, errno: i32) -> Cause {
        if step.starts_with("landlock not enforced") {
            // A kernel without it has two answers; any other one comes from a filter around the desk.
            let of_kernel = matches!(errno, libc::ENOSYS | libc::EOPNOTSUPP);
            return if !of_kernel && outer_filter() { Cause::Seccomp } else { Cause::NoLandlock };
        }
        let is =
            |file: &str, value: &str| std::fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
        let ordinary = !rustix::process::geteuid().is_root();
        let namespaces =
            matches!(step.as_str(), "unshare" | "setgroups" | "uid_map" | "gid_map" | "private mounts");
        if !namespaces {
            return Cause::Setup { step, errno };
        }
        if is("/proc/sys/user/max_user_namespaces", "0") {
            Cause::UserNamespacesZero
        } else if ordinary && is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
            Cause::UserNamespacesPrivileged
        } else if ordinary && is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
            Cause::AppArmor
        } else if outer_filter() {
            Cause::Seccomp
        } else {
            Cause::Setup { step, errno }
        }
    }
}

fn outer_filter() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"))
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())?;
        match self {
            Cause::Setup { step, errno } => {
                write!(f, ": {step}: {}", std::io::Error::from_raw_os_error(*errno))
            }
            Cause::ProbeFailed(why) => write!(f, ": {why}"),
            Cause::NotBlocked(probes) => {
                let names: Vec<_> = probes.iter().map(|p| p.code()).collect();
                write!(f, ": {}", names.join(", "))
            }
            other => other.switch().map_or(Ok(()), |switch| write!(f, ": {switch}")),
        }
    }
}

/// No level that is good enough. The desk's own environment: exit 22, never a verdict about a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What was required at least.
    pub floor: Level,
    /// Why not the full profile; `None` when it was not tried.
    pub full: Option<Cause>,
    /// Why not the Landlock profile; `None` when it was not tried.
    pub landlock: Option<Cause>,
    /// Why not even without confinement; `None` when it was not asked for.
    pub none: Option<Cause>,
}

impl Unavailable {
    /// The cause to show first: of the best level that was wanted.
    pub fn cause(&self) -> &Cause {
        self.full.as_ref().or(self.landlock.as_ref()).or(self.none.as_ref()).unwrap_or(&Cause::BelowFloor)
    }

    /// Two ways to go on.
    pub fn ways_on(&self) -> [&'static str; 2] {
        let second = if self.landlock == Some(Cause::BelowFloor) {
            "or accept the Landlock profile: --require-sandbox landlock"
        } else {
            "or run the checks without confinement, which the receipt then says: --sandbox none"
        };
        [self.cause().cure(), second]
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (level, cause) in [("full", &self.full), ("landlock", &self.landlock), ("none", &self.none)] {
            parts.extend(cause.as_ref().map(|cause| format!("{level}: {cause}")));
        }
        let [one, two] = self.ways_on();
        write!(f, "{} | {one} | {two}", parts.join("; "))
    }
}

impl std::error::Error for Unavailable {}
