//! A spawner without a sandbox, for these tests only: own session, group kill, clean environment, nothing else.

use desk::python_suite::spawn::{Exit, Job, Process, SpawnError, Spawner, Status};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Plain;

struct PlainProcess {
    child: Child,
    deadline: Instant,
    stderr: std::fs::File,
}

impl Spawner for Plain {
    fn start(&self, job: Job) -> Result<Box<dyn Process>, SpawnError> {
        let stderr = tempfile::tempfile()?;
        let mut command = Command::new(&job.program);
        command.args(&job.args).env_clear().envs(job.env).current_dir(&job.cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr.try_clone()?);
        let fds = lifted(&job.pass_fds)?;
        pass(&mut command, fds.iter().map(|(fd, target)| (fd.as_raw_fd(), *target)).collect());
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SpawnError::ProgramMissing(job.program.clone()),
            _ => SpawnError::Io(error),
        })?;
        Ok(Box::new(PlainProcess { child, deadline: Instant::now() + job.wall, stderr }))
    }
}

/// Copies far above every target number, so that placing one descriptor never closes another.
fn lifted(fds: &[(OwnedFd, RawFd)]) -> io::Result<Vec<(OwnedFd, RawFd)>> {
    let lift = |(fd, target): &(OwnedFd, RawFd)| -> io::Result<(OwnedFd, RawFd)> {
        Ok((rustix::io::fcntl_dupfd_cloexec(fd, 100)?, *target))
    };
    fds.iter().map(lift).collect()
}

#[allow(unsafe_code)]
fn pass(command: &mut Command, fds: Vec<(RawFd, RawFd)>) {
    // SAFETY: only async-signal-safe calls (setsid, dup2) between fork and exec.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            for (from, to) in &fds {
                if libc::dup2(*from, *to) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
}

impl PlainProcess {
    fn exit(&mut self, status: Status) -> io::Result<Exit> {
        self.kill();
        let mut text = Vec::new();
        self.stderr.rewind()?;
        self.stderr.read_to_end(&mut text)?;
        Ok(Exit { status, stderr_tail: String::from_utf8_lossy(&text).into_owned() })
    }
}

impl Process for PlainProcess {
    fn wait(&mut self) -> io::Result<Exit> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                let status = match (status.code(), status.signal()) {
                    (Some(code), _) => Status::Code(code),
                    (None, signal) => Status::Signal(signal.unwrap_or(0)),
                };
                return self.exit(status);
            }
            if Instant::now() >= self.deadline {
                self.kill();
                self.child.wait()?;
                return self.exit(Status::TimedOut);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
