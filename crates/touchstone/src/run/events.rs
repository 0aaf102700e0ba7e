//! `--events FILE`: one JSON object a line for each thing that happens, whole and in order.

use canon::{Object, Value, shown};
use desk::run::{EVENTS_SCHEMA, Event};
use rustix::fs::{FileType, Mode, OFlags};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The file, and what stands in each of its lines.
pub(super) struct Events {
    state: RefCell<State>,
    run_id: String,
}

struct State {
    file: File,
    seq: u64,
    /// Of the run, once it is known.
    task_id: Value,
    arm: Value,
    lost_n: u64,
}

impl Events {
    /// Opens `path` for lines at its end. It must be a regular file outside the agent's `workspace`: whoever reads a pipe
    /// slowly must not hold up a run.
    pub(super) fn open(path: &Path, workspace: &Path) -> Result<Events, String> {
        let name = shown(path.as_os_str().as_encoded_bytes());
        let refuse = |why: &str| format!("events file {name}: {why}");
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(|error| refuse(&error.to_string()))?;
        if workspace.canonicalize().is_ok_and(|workspace| folder.starts_with(workspace)) {
            return Err(refuse("it must not lie in the workspace"));
        }
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o644));
        let file = opened.map_err(|error| refuse(&error.to_string()))?;
        let kind = rustix::fs::fstat(&file).map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind != Ok(FileType::RegularFile) {
            return Err(refuse("it must be a regular file"));
        }
        let (task_id, arm) = (Value::Null, Value::Null);
        let state = RefCell::new(State { file: file.into(), seq: 0, task_id, arm, lost_n: 0 });
        Ok(Events { state, run_id: run_id() })
    }

    /// Writes the line of an event that has one.
    pub(super) fn tell(&self, event: &Event) {
        let Some(members) = event.members() else { return };
        let mut state = self.state.borrow_mut();
        if let Event::RunStarted { task_id, arm, .. } = event {
            (state.task_id, state.arm) = (task_id.as_str().into(), (*arm).into());
        }
        state.seq += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut line = Object::new()
            .with("schema", EVENTS_SCHEMA)
            .with("run_id", self.run_id.as_str())
            .with("seq", state.seq)
            .with("ts_ms", u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
            .with("task_id", state.task_id.clone())
            .with("arm", state.arm.clone());
        for (name, value) in members.iter() {
            line.set(name, value.clone());
        }
        let mut bytes = canon::canonical(&line.into());
        bytes.push(b'\n');
        // An event that is lost costs no receipt: it is counted and said at the end.
        if state.file.write_all(&bytes).is_err() {
            state.lost_n += 1;
        }
    }

    /// Lines that could not be written.
    pub(super) fn lost_n(&self) -> u64 {
        self.state.borrow().lost_n
    }
}

/// Tells the runs of one file apart. Nothing rests on it.
fn run_id() -> String {
    let mut bytes = [0; 16];
    let random = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if random.is_err() {
        bytes[..4].copy_from_slice(&std::process::id().to_be_bytes());
    }
    canon::hex(&bytes)
}
