//! The system calls that no safe crate wraps. Every `unsafe` block of the sandbox is in this file.
//!
//! Nothing here decides anything: each function is one call, or the few that must stand together.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Which side of a fork we woke up on.
pub(crate) enum Fork {
    /// The new process.
    Child,
    /// The old process, with the number of the new one.
    Parent(i32),
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Forks the helper. Only the helper calls this, and it never has a second thread.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: the caller is the re-executed helper, which starts no thread, so no lock of the allocator or of
    // the standard library can be held by somebody who does not exist in the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

/// Enters new namespaces; `flags` are `CLONE_NEW*` bits.
pub(crate) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: no pointer is passed. The helper has one thread, so nobody else shares what is unshared.
    check(unsafe { libc::unshare(flags) })
}

/// Replaces the process. Returns only when that failed.
pub(crate) fn execve(path: &CStr, argv: &[CString], env: &[CString]) -> io::Error {
    let list = |words: &[CString]| -> Vec<*const libc::c_char> {
        words.iter().map(|w| w.as_ptr()).chain(std::iter::once(std::ptr::null())).collect()
    };
    let (argv, env) = (list(argv), list(env));
    // SAFETY: both lists end in a null pointer and point at strings that live until the call returns.
    unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// Default disposition for every signal and an empty mask: what a program expects at its start.
pub(crate) fn default_signals() {
    for signal in 1..=64 {
        // SAFETY: `SIG_DFL` installs no code of ours; the numbers the kernel refuses are refused harmlessly.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by `sigemptyset` before it is read.
    unsafe {
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// Marks every descriptor from `first` on as closed at the next exec.
pub(crate) fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    let first = libc::c_uint::try_from(first).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: three numbers; with this flag nothing is closed now, so no owner in this process is surprised.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts a copy of `from` at the number `to`, open across exec.
pub(crate) fn dup_to(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: numbers only; the caller is the child that is about to exec and owns no descriptor at `to`.
    check(unsafe { libc::dup2(from, to) })
}

/// Copies a descriptor to the first free number at or above `least`, closed at exec.
pub(crate) fn dup_above(from: RawFd, least: RawFd) -> io::Result<RawFd> {
    // SAFETY: numbers only.
    let copy = unsafe { libc::fcntl(from, libc::F_DUPFD_CLOEXEC, least) };
    check(copy).map(|()| copy)
}

/// Takes ownership of a descriptor that was handed over.
pub(crate) fn adopt(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: F_GETFD only asks; F_SETFD only marks.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    if flags < 0 {
        return None;
    }
    // SAFETY: as above.
    unsafe { libc::fcntl(fd, libc::F_SETFD, flags | libc::FD_CLOEXEC) };
    // SAFETY: it is open (just asked), and the helper asks once for each number it was told, so nobody else owns it.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Leaves `fds` open in the program that `command` starts, under the numbers they have here, which are added to its
/// arguments. They are not moved to agreed numbers: one of those could be the standard library's own pipe for the
/// error of the exec.
pub(crate) fn hand_over(command: &mut Command, fds: Vec<OwnedFd>) {
    command.args(fds.iter().map(|fd| fd.as_raw_fd().to_string()));
    let body = move || {
        for fd in &fds {
            // SAFETY: numbers only, of descriptors that the closure owns.
            check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) })?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure only calls fcntl: async-signal-safe, no allocation, no lock.
    unsafe { command.pre_exec(body) };
}

/// Turns a detached mount tree read-only and/or without set-uid and devices.
pub(crate) fn mount_attributes(tree: impl AsFd, path: &CStr, recursive: bool, set: u64) -> io::Result<()> {
    #[repr(C)]
    struct MountAttr {
        attr_set: u64,
        attr_clr: u64,
        propagation: u64,
        userns_fd: u64,
    }
    let attr = MountAttr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the structure has the layout of the kernel's version 0, the size passed is its own, and the kernel
    // only reads it.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `pivot_root(".", ".")`: the old root ends up stacked on the new one and is detached by the caller.
pub(crate) fn pivot_root_here() -> io::Result<()> {
    // SAFETY: two constant strings.
    let done = unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Brings up the loopback interface of a fresh network namespace, with its addresses.
pub(crate) fn loopback_up() -> io::Result<()> {
    // SAFETY: numbers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(socket)?;
    // SAFETY: just opened, and nobody else knows it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: all-zero is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = *byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request lives during the call, which only reads it.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) })
}

/// The probe's attempt to open a socket of a family, kind and protocol.
pub(crate) fn try_socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    let socket = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    check(socket)?;
    // SAFETY: just opened, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Kills every process of this pid namespace except pid 1, in one step of the kernel.
pub(crate) fn kill_all_of_namespace() {
    // SAFETY: numbers only. The caller has checked that it is pid 1 of its own namespace.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// The canary's attempt to become the tracer of `pid`; undone at once when it worked.
pub(crate) fn try_ptrace(pid: i32) -> io::Result<()> {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: seize and detach read no memory of ours.
    let done = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, none, none) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, pid, none, none) };
    Ok(())
}

/// The canary's signal 0: asks whether `pid` may be signalled.
pub(crate) fn try_signal(pid: i32) -> io::Result<()> {
    // SAFETY: signal 0 is delivered to nobody.
    check(unsafe { libc::kill(pid, 0) })
}

/// A call by number whose other arguments are zero, for its answer.
pub(crate) fn try_syscall(number: libc::c_long, first: libc::c_long) -> io::Result<libc::c_long> {
    // SAFETY: the callers pass calls for which zero or null arguments are refused or harmless.
    let done = unsafe { libc::syscall(number, first, 0, 0, 0, 0, 0) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}

/// The canary's way round `socket`: a datagram to `address` from a socket pair.
pub(crate) fn try_pair_datagram(address: &[u8]) -> io::Result<()> {
    let mut pair = [0; 2];
    // SAFETY: the array has the two places the call writes.
    check(unsafe {
        libc::socketpair(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr())
    })?;
    // SAFETY: both were just opened and nobody else knows them.
    let (one, _other) = unsafe { (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])) };
    // SAFETY: all-zero is a valid address structure.
    let mut name: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    name.sun_family = libc::AF_UNIX as libc::sa_family_t;
    if address.len() > name.sun_path.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, byte) in name.sun_path.iter_mut().zip(address) {
        *place = *byte as libc::c_char;
    }
    let length = (size_of::<libc::sa_family_t>() + address.len()) as libc::socklen_t;
    // SAFETY: one byte of payload and an address of the length given, both alive during the call.
    let sent = unsafe {
        libc::sendto(one.as_raw_fd(), c"x".as_ptr().cast(), 1, 0, (&raw const name).cast(), length)
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
