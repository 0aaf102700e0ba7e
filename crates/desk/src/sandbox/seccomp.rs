//! The system calls a check does not get.
//!
//! A list of what is denied, not of what is allowed: a check may be any program in any language, and a list of
//! allowed calls would break with each new libc. Denied calls return EPERM, so programs that can do without go on.
//!
//! **No sockets.** `socket` is denied for every family, also `AF_UNIX`: Landlock does not cover connecting to a
//! socket in the file system (PC-39), and a seccomp filter cannot look at the address. `socketpair` stays, since
//! interpreters use it inside one process tree, but not for datagrams: such a socket could send to any address.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};
use std::collections::BTreeMap;

type Error = Box<dyn std::error::Error>;

/// Whose filter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// Of a check on the host.
    OnTheHost,
    /// Of a check in namespaces of its own.
    Inside,
    /// Of an agent in namespaces of its own: sockets of its own network, and of no other family. `AF_UNIX` stays closed:
    /// a socket in a visible folder is a door to the host that no mount closes (PC-39).
    Agent,
}

/// Applies the filters to this process, for good. Needs `no_new_privs`.
pub(super) fn apply(filter: Filter) -> Result<(), Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    // The last one forbids nothing that applying needs, and `prctl`/`seccomp` stay allowed in all.
    apply_filter(&second_numbering())?;
    apply_filter(&compile(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS, arch)?)?;
    apply_filter(&compile(denied(filter)?, libc::EPERM, arch)?)?;
    Ok(())
}

fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
    arch: TargetArch,
) -> Result<BpfProgram, Error> {
    let deny = SeccompAction::Errno(errno.cast_unsigned());
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, deny, arch)?.try_into()?)
}

/// x86-64 kernels may offer all calls again under numbers with this bit set (x32): none of those.
fn second_numbering() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let op = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    vec![
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

fn denied(filter: Filter) -> Result<BTreeMap<i64, Vec<SeccompRule>>, Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    if filter == Filter::OnTheHost {
        rules.extend(ON_THE_HOST.iter().map(|call| (*call, Vec::new())));
        #[cfg(target_arch = "x86_64")]
        rules.extend(ON_THE_HOST_X86.iter().map(|call| (*call, Vec::new())));
    }
    #[cfg(target_arch = "x86_64")]
    rules.extend(ALWAYS_X86.iter().map(|call| (*call, Vec::new())));
    let when = |argument, op, value| -> Result<SeccompRule, Error> {
        Ok(SeccompRule::new(vec![SeccompCondition::new(argument, Len::Dword, op, value)?])?)
    };
    // clone3 keeps its flags in memory and is answered "no such call", after which libcs use clone.
    let spaces = NAMESPACES.iter().map(|flag| when(0, Op::MaskedEq(*flag), *flag));
    rules.insert(libc::SYS_clone, spaces.collect::<Result<_, _>>()?);
    let kinds = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(i64::from).map(i64::cast_unsigned);
    let mut pairs = vec![when(0, Op::Ne, libc::AF_UNIX as u64)?];
    for kind in kinds {
        pairs.push(when(1, Op::MaskedEq(0xf), kind)?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    if filter == Filter::Agent {
        rules.insert(libc::SYS_socket, families()?);
    } else {
        rules.extend(SOCKETS.iter().map(|call| (*call, Vec::new())));
        let addressed = SeccompCondition::new(4, Len::Qword, Op::Ne, 0)?;
        rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![addressed])?]);
    }
    // Typing into a terminal, and the console's variant of it.
    const TIOCLINUX: u64 = 0x541c;
    rules.insert(libc::SYS_ioctl, vec![when(1, Op::Eq, libc::TIOCSTI)?, when(1, Op::Eq, TIOCLINUX)?]);
    // Limits of others: a processor limit of 0 would end the desk.
    rules.insert(libc::SYS_prlimit64, vec![when(0, Op::Ne, 0)?]);
    // Any personality but asking for the present one: some switch protections off.
    rules.insert(libc::SYS_personality, vec![when(0, Op::Ne, 0xffff_ffff)?]);
    Ok(rules)
}

/// Every family but those of the agent's own network, and of netlink everything but its routes, which list that network.
fn families() -> Result<Vec<SeccompRule>, Error> {
    let is = |argument, op, value: i32| SeccompCondition::new(argument, Len::Dword, op, value as u64);
    let other = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|family| is(0, Op::Ne, family));
    let other = other.into_iter().collect::<Result<Vec<_>, _>>()?;
    let netlink = vec![is(0, Op::Eq, libc::AF_NETLINK)?, is(2, Op::Ne, libc::NETLINK_ROUTE)?];
    Ok(vec![SeccompRule::new(other)?, SeccompRule::new(netlink)?])
}

/// What a check does not get and an agent does.
const SOCKETS: &[i64] = &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen];

const NAMESPACES: &[u64] = &[
    libc::CLONE_NEWUSER as u64,
    libc::CLONE_NEWNS as u64,
    libc::CLONE_NEWPID as u64,
    libc::CLONE_NEWNET as u64,
    libc::CLONE_NEWIPC as u64,
    libc::CLONE_NEWUTS as u64,
    libc::CLONE_NEWCGROUP as u64,
];

const ALWAYS: &[i64] = &[
    // mounts and namespaces
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // large doors into the kernel
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // the machine
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    // message queues are names outside every file rule
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

#[cfg(target_arch = "x86_64")]
const ALWAYS_X86: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];

/// What only namespaces can hold back otherwise: Landlock has no rule for modes, owners and attributes of files, and
/// none for System V memory and queues, which the whole host shares. The price at this level: a check cannot
/// `chmod` its own files either. Times of files stay open, since `touch` is in every build.
const ON_THE_HOST: &[i64] = &[
    // By path: Landlock before its third version has no rule for it. `ftruncate` needs a descriptor open for writing.
    libc::SYS_truncate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
];

// Newer than the libc crate knows; the same numbers on all architectures that we build for.
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_FILE_SETATTR: i64 = 469;

#[cfg(target_arch = "x86_64")]
const ON_THE_HOST_X86: &[i64] = &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown];
