//! The full profile's world: new namespaces and a root that holds only what the run needs.
//!
//! Nothing is made on the host's disks (PC-40): the root is a memory file system in a mount namespace that ends with
//! its last process, mount points are made in it, and what is bound into it is bound at its own path.

use super::helper::{Failed, step};
use super::job::{Job, Root};
use super::{confine, host, sys};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, symlinkat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
    unmount,
};
use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | NO_RISE;
const NO_RISE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// `/tmp` beside a scratch folder of the caller's.
const SMALL_TMP_BYTES: u64 = 16 << 20;

/// Where the probe of an enclosure lies inside.
pub(super) const PROBE: &str = "/run/touchstone-probe";

/// Leaves the host's namespaces, but for the list of processes.
pub(super) fn enter_namespaces(job: &Job) -> Result<(), Failed> {
    if job.forbid_userns {
        return Err(Failed { step: "unshare".into(), errno: libc::EPERM });
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    sys::unshare(
        libc::CLONE_NEWUSER
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWNET
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWUTS,
    )
    .map_err(step("unshare"))?;
    // The same number inside and outside, so that the owner of a file reads the same in both profiles.
    std::fs::write("/proc/self/setgroups", "deny").map_err(step("setgroups"))?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1\n")).map_err(step("uid_map"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1\n")).map_err(step("gid_map"))
}

/// The next fork is pid 1 of a list of its own. No thread can be started by a process that has said so.
pub(super) fn enter_process_list() -> Result<(), Failed> {
    sys::unshare(libc::CLONE_NEWPID).map_err(step("unshare"))
}

/// Builds the new root and moves into it. Called by pid 1: `/proc` belongs to the pid namespace of who mounts it.
pub(super) fn build(job: &Job) -> Result<(), Failed> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(step("private mounts"))?;
    let sources = sources(job)?;
    // Who may not trace a process does not see it: pid 1 is not even a name. Older kernels know no such option.
    let hidden = file_system("proc", &[("hidepid", "ptraceable".into())]);
    let proc = hidden.or_else(|_| file_system("proc", &[]))?;
    let root = file_system("tmpfs", &[("size", "1048576".into()), ("mode", "755".into())])?;
    // Anywhere would do; every Linux that can run us has this directory, and nobody else sees it.
    attach(&root, CWD, "/proc")?;
    let new = New { root };
    new.skeleton(job)?;
    new.mount(&proc, Path::new("/proc"), true)?;
    new.memory(job)?;
    for source in &sources {
        new.mount(&source.tree, &source.path, source.directory)?;
    }
    if let Some(enclosed) = &job.enclosed {
        new.terminals();
        new.cover(&enclosed.hidden)?;
    }
    sys::mount_attributes(&new.root, c"", false, READ_ONLY).map_err(step("read-only root"))?;
    sys::mount_attributes(&proc, c"", false, READ_ONLY | libc::MOUNT_ATTR_NOEXEC)
        .map_err(step("read-only proc"))?;
    rustix::process::fchdir(&new.root).map_err(step("enter root"))?;
    sys::pivot_root_here().map_err(step("pivot_root"))?;
    unmount(".", UnmountFlags::DETACH).map_err(step("detach old root"))?;
    rustix::process::chdir("/").map_err(step("enter root"))
}

/// A piece of the host, cut out and ready to be put in.
struct Source {
    path: PathBuf,
    tree: OwnedFd,
    directory: bool,
}

fn sources(job: &Job) -> Result<Vec<Source>, Failed> {
    let mut all = Vec::new();
    for path in host::PROGRAMS.iter().chain(host::SETTINGS).filter(|p| !made_by_us(p)) {
        all.extend(host_source(Path::new(path), READ_ONLY)?);
    }
    let more = if job.enclosed.is_some() { host::FOR_AGENTS } else { &[] };
    for path in more {
        // Agents do without what cannot be cut out.
        all.extend(host_source(Path::new(path), READ_ONLY).ok().flatten());
    }
    if job.enclosed.is_some() {
        all.push(own_program()?);
    }
    for path in host::DEVICES {
        all.extend(host_source(Path::new(path), libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC)?);
    }
    let mut roots: Vec<&Root> =
        job.roots.iter().filter(|r| r.writable || !r.path.starts_with("/usr")).collect();
    // Outer before inner; the later mount lies on top.
    roots.sort_by_key(|root| root.path.components().count());
    for root in roots {
        let tree = cut_out(root.source.as_ref().unwrap_or(&root.path))
            .map_err(step(format!("root {}", root.path.display())))?;
        confine::same_object(&tree, root)?;
        let attributes = if root.writable { NO_RISE } else { READ_ONLY };
        all.push(finish(&root.path, tree, attributes)?);
    }
    Ok(all)
}

/// This binary under a name that no root can cover: the probe. Nobody can write to it while it runs, and whoever puts
/// another one in its place on the host changes nothing here.
fn own_program() -> Result<Source, Failed> {
    let path = std::env::current_exe().map_err(step("own program"))?;
    let tree = cut_out(&path).map_err(step("own program"))?;
    let [own, found] = [rustix::fs::stat("/proc/self/exe"), rustix::fs::fstat(&tree)];
    let (own, found) = (own.map_err(step("own program"))?, found.map_err(step("own program"))?);
    if (own.st_dev, own.st_ino) != (found.st_dev, found.st_ino) {
        return Err(Failed { step: "own program was exchanged".into(), errno: 0 });
    }
    finish(Path::new(PROBE), tree, READ_ONLY)
}

/// Our own versions of these name nobody but the user of the run.
fn made_by_us(path: &str) -> bool {
    matches!(path, "/etc/passwd" | "/etc/group")
}

/// `None` where this host has no such path, or a link in its place (which `skeleton` repeats).
fn host_source(path: &Path, attributes: u64) -> Result<Option<Source>, Failed> {
    match rustix::fs::lstat(path).map(|s| FileType::from_raw_mode(s.st_mode)) {
        Err(_) | Ok(FileType::Symlink) => Ok(None),
        Ok(_) => {
            let tree = cut_out(path).map_err(step(format!("host {}", path.display())))?;
            finish(path, tree, attributes).map(Some)
        }
    }
}

fn cut_out(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    open_tree(CWD, path, flags)
}

fn finish(path: &Path, tree: OwnedFd, attributes: u64) -> Result<Source, Failed> {
    sys::mount_attributes(&tree, c"", true, attributes)
        .map_err(step(format!("attributes {}", path.display())))?;
    let seen = rustix::fs::fstat(&tree).map_err(step("stat source"))?;
    let directory = FileType::from_raw_mode(seen.st_mode) == FileType::Directory;
    Ok(Source { path: path.into(), tree, directory })
}

fn file_system(kind: &str, options: &[(&str, String)]) -> Result<OwnedFd, Failed> {
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    file_system_with(kind, options, attributes)
}

fn file_system_with(
    kind: &str,
    options: &[(&str, String)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Failed> {
    let open = || -> rustix::io::Result<OwnedFd> {
        let fs = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in options {
            fsconfig_set_string(&fs, *key, value.as_str())?;
        }
        fsconfig_create(&fs)?;
        fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    open().map_err(step(format!("file system {kind}")))
}

fn attach(tree: &OwnedFd, to: impl std::os::fd::AsFd, path: &str) -> Result<(), Failed> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", to, path, flags).map_err(step("attach mount"))
}

/// The new root while it is being filled.
struct New {
    root: OwnedFd,
}

impl New {
    fn skeleton(&self, job: &Job) -> Result<(), Failed> {
        for directory in ["dev", "etc", "proc", "tmp"] {
            mkdirat(&self.root, directory, Mode::from_raw_mode(0o755)).map_err(step("skeleton"))?;
        }
        for path in host::PROGRAMS.iter().chain(host::SETTINGS) {
            if let Ok(target) = rustix::fs::readlink(*path, Vec::new()) {
                // A link deeper than this skeleton is left out; programs must do without settings anyway.
                let _ = symlinkat(target, &self.root, &path[1..]);
            }
        }
        let links = [
            ("/proc/self/fd", "dev/fd"),
            ("/proc/self/fd/0", "dev/stdin"),
            ("/proc/self/fd/1", "dev/stdout"),
            ("/proc/self/fd/2", "dev/stderr"),
            ("/tmp", "dev/shm"),
        ];
        for (target, name) in links {
            symlinkat(target, &self.root, name).map_err(step("skeleton link"))?;
        }
        let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let Some(enclosed) = &job.enclosed else {
            self.file("etc/passwd", &format!("check:x:{user}:{group}::/tmp:/nonexistent\n"))?;
            return self.file("etc/group", &format!("check:x:{group}:\n"));
        };
        // A line of the file has seven fields: a home with a colon or a line feed in its name is left out.
        let home = enclosed.home.to_str().filter(|home| !home.contains([':', '\n'])).unwrap_or("/tmp");
        self.file("etc/passwd", &format!("agent:x:{user}:{group}::{home}:/bin/sh\n"))?;
        self.file("etc/group", &format!("agent:x:{group}:\n"))?;
        self.file("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    }

    /// Terminals of its own, which agents start shells in. A kernel that gives none to this user gives none here.
    fn terminals(&self) {
        let options = [("ptmxmode", "0666".into()), ("mode", "0600".into())];
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let made = file_system_with("devpts", &options, attributes);
        if made.and_then(|tree| self.mount(&tree, Path::new("/dev/pts"), true)).is_ok() {
            let _ = symlinkat("pts/ptmx", &self.root, "dev/ptmx");
        }
    }

    /// Lays an empty folder that nobody can write to over each path that is visible.
    fn cover(&self, hidden: &[PathBuf]) -> Result<(), Failed> {
        for path in hidden {
            let Ok(found) = self.find(path) else { continue };
            let empty = file_system("tmpfs", &[("size", "4096".into()), ("mode", "555".into())])?;
            sys::mount_attributes(&empty, c"", false, READ_ONLY).map_err(step("cover"))?;
            attach(&empty, &found, "")?;
        }
        Ok(())
    }

    fn file(&self, name: &str, text: &str) -> Result<(), Failed> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let fd =
            openat(&self.root, name, flags, Mode::from_raw_mode(0o644)).map_err(step("skeleton file"))?;
        std::fs::File::from(fd).write_all(text.as_bytes()).map_err(step("skeleton file"))
    }

    /// `/tmp` and the scratch folder: memory with a ceiling that the kernel holds.
    fn memory(&self, job: &Job) -> Result<(), Failed> {
        let sized = |bytes: u64| {
            let options =
                [("size", bytes.to_string()), ("nr_inodes", "65536".into()), ("mode", "1777".into())];
            file_system("tmpfs", &options)
        };
        let all = job.limits.scratch_bytes.max(4096);
        if let Some(enclosed) = &job.enclosed {
            self.mount(&sized(all)?, Path::new("/tmp"), true)?;
            return self.mount(&sized(all)?, &enclosed.home, true);
        }
        match &job.scratch {
            None => self.mount(&sized(all)?, Path::new("/tmp"), true),
            Some(scratch) => {
                self.mount(&sized(all.min(SMALL_TMP_BYTES))?, Path::new("/tmp"), true)?;
                self.mount(&sized(all)?, scratch, true)
            }
        }
    }

    fn mount(&self, tree: &OwnedFd, path: &Path, directory: bool) -> Result<(), Failed> {
        let place = self.place(path, directory).map_err(step(format!("place {}", path.display())))?;
        attach(tree, &place, "")
    }

    /// The object at `path` inside, made where it does not exist. Whatever links lie on the way, it stays inside.
    fn place(&self, path: &Path, directory: bool) -> rustix::io::Result<OwnedFd> {
        if let Ok(found) = self.find(path) {
            return Ok(found);
        }
        let mut walked = PathBuf::from("/");
        let names: Vec<&OsStr> = path.components().filter_map(normal).collect();
        for (index, name) in names.iter().enumerate() {
            let parent = self.find(&walked)?;
            walked.push(name);
            let made = if index + 1 < names.len() || directory {
                mkdirat(&parent, *name, Mode::from_raw_mode(0o755))
            } else {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                openat(&parent, *name, flags, Mode::from_raw_mode(0o644)).map(drop)
            };
            match made {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(other) => return Err(other),
            }
        }
        self.find(path)
    }

    fn find(&self, path: &Path) -> rustix::io::Result<OwnedFd> {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.root, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
    }
}

fn normal(component: Component<'_>) -> Option<&OsStr> {
    match component {
        Component::Normal(name) => Some(name),
        _ => None,
    }
}
