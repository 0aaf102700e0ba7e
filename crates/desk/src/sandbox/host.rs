//! What of the host every check may see: programs and libraries, a few settings, no data of anybody.

/// Programs and libraries. Where one of them is a symbolic link it stays one.
pub(super) const PROGRAMS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Settings that the loader and interpreters read. Not `/etc` as a whole: it holds secrets that user 0 may read
/// without any capability.
pub(super) const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/ssl/openssl.cnf",
];

/// Facts about the kernel, and the program's own entry; other processes are not in the list.
pub(super) const KERNEL_FACTS: &[&str] = &[
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/kernel/osrelease",
    "/sys/devices/system/cpu",
];

/// Devices without state.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What an agent may read beside these: other places where programs are installed, certificates, and settings of
/// interpreters and tools. Still not `/etc` as a whole.
pub(super) const FOR_AGENTS: &[&str] = &[
    "/opt",
    "/nix/store",
    "/snap",
    "/etc/ssl/certs",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/mime.types",
    "/etc/services",
    "/etc/protocols",
    "/etc/timezone",
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/gitconfig",
    "/etc/profile",
    "/etc/bash.bashrc",
    "/etc/inputrc",
    "/etc/terminfo",
    "/etc/npmrc",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/sys/devices/system/cpu",
];
