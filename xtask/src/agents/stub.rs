//! The scripted model: `examples/agents/stub.py`, one process for each run.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A model that runs; it ends with this value.
pub(super) struct Stub {
    child: Child,
    log: PathBuf,
    /// Its port on the loopback address.
    pub(super) port: u16,
}

impl Stub {
    /// Starts one whose answers put `text` into the file of the task.
    pub(super) fn start(root: &Path, style: &str, text: &str, log: PathBuf) -> Result<Stub, String> {
        let mut command = Command::new("python3");
        command.arg(root.join("examples/agents/stub.py")).args([style, super::trial::FILE, text]).arg(&log);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("python3: {error}"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| format!("stub: {error}"))?;
        }
        // Held before the port is looked at: whatever it is, the process ends.
        let mut stub = Stub { child, log, port: 0 };
        stub.port = line.trim().parse().map_err(|_| "the stub named no port".to_owned())?;
        Ok(stub)
    }

    /// Requests to a model that came without `key` in one of their headers, and all of them.
    pub(super) fn without(&self, key: &str) -> (usize, usize) {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let asked: Vec<&str> = log.lines().filter(|line| line.contains("\"method\": \"POST\"")).collect();
        (asked.iter().filter(|line| !line.contains(key)).count(), asked.len())
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        // It ends by itself when its input is closed; this is for one that hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
