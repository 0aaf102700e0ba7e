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
