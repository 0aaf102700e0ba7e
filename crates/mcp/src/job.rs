//! One command of this binary, as a process with bounds.

use crate::wrong::{Refusal, Wrong};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

/// Most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 8 << 20;
/// Most bytes of words beside it that are kept.
const WORDS_BYTES_MAX: u64 = 16 << 10;
/// How long a command may take to end in order, once it is told to.
const GRACE: Duration = Duration::from_secs(10);

/// What is to be started.
#[derive(Debug, Default)]
pub(crate) struct Job {
    pub(crate) words: Vec<OsString>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) limit: Duration,
    /// Files that it reads, and that are gone when it has ended.
    pub(crate) files: Option<tempfile::TempDir>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) answer: Value,
}

/// Exit code of wrong use, of every command.
const USAGE: i32 = 64;

impl Job {
    pub(crate) fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>, limit: Duration) -> Job {
        Job { words: words.into_iter().map(Into::into).collect(), limit, ..Job::default() }
    }

    pub(crate) fn and<W: Into<OsString>>(mut self, words: impl IntoIterator<Item = W>) -> Job {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    /// An option with its value in one word, so that no value is read as an option.
    pub(crate) fn option(self, name: &str, value: Option<impl Into<OsString>>) -> Job {
        match value {
            None => self,
            Some(value) => {
                let mut word = OsString::from(format!("--{name}="));
                word.push(value.into());
                self.and([word])
            }
        }
    }

    /// Starts it and waits: for its end, for its time, or for the client to take the call back.
    pub(crate) async fn run(
        self,
        program: &Path,
        folder: &Path,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Ended, Refusal> {
        let child = Command::new(program)
            .args(&self.words)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Refusal::new(Wrong::NotRun, error.to_string()))?;
        let mut child = Held { child, told: false };
        let talk = talk(&mut child.child, self.stdin);
        let why = tokio::select! {
            said = talk => return heard(said),
            () = tokio::time::sleep(self.limit) => Wrong::TimedOut,
            () = cancelled => Wrong::Cancelled,
        };
        end(&mut child).await;
        Err(Refusal::new(why, format!("after at most {} s", self.limit.as_secs())))
    }
}

struct Said {
    code: Option<i32>,
    answer: Vec<u8>,
    words: Vec<u8>,
}

/// Gives it what it reads, and takes what it says, all at once: neither side waits for the other.
async fn talk(child: &mut Child, stdin: Vec<u8>) -> std::io::Result<Said> {
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut input) = input {
            // A command that does not read its input ends before it is written; its answer says why.
            let _ = input.write_all(&stdin).await;
        }
    };
    let ((), answer, words, status) = tokio::join!(
        write,
        bounded(output, ANSWER_BYTES_MAX),
        bounded(errors, WORDS_BYTES_MAX),
        child.wait()
    );
    Ok(Said { code: status?.code(), answer: answer?, words: words? })
}

/// The first bytes of a stream, and the rest read and dropped.
async fn bounded(stream: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        (&mut stream).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

fn heard(said: std::io::Result<Said>) -> Result<Ended, Refusal> {
    let said = said.map_err(|error| Refusal::new(Wrong::NotRun, error.to_string()))?;
    let words = || canon::shown(said.words.trim_ascii());
    match said.code {
        Some(USAGE) => Err(Refusal::new(Wrong::Usage, words())),
        Some(code) => match answer(&said.answer) {
            Some(answer) => Ok(Ended { code, answer }),
            None => Err(Refusal::new(Wrong::NotRun, format!("exit code {code}, no answer: {}", words()))),
        },
        None => Err(Refusal::new(Wrong::NotRun, "it was ended by a signal".to_owned())),
    }
}

/// What was printed: one value, or a list of the values of several lines.
fn answer(printed: &[u8]) -> Option<Value> {
    let values = serde_json::Deserializer::from_slice(printed).into_iter::<Value>();
    let mut values: Vec<Value> = values.collect::<Result<_, _>>().ok()?;
    if values.len() > 1 { Some(values.into()) } else { values.pop() }
}

/// A command that is told to end when nobody waits for it any more, as when the client has gone: in order, so that a run
/// signs what happened.
struct Held {
    child: Child,
    /// Once: a second signal would end it at once, before it has signed.
    told: bool,
}

impl Held {
    fn tell(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        // Without a number it has been waited for; with one, the number is still its own.
        let pid = self.child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.tell();
    }
}

/// Ends it in order; then at once.
async fn end(child: &mut Held) {
    child.tell();
    if tokio::time::timeout(GRACE, child.child.wait()).await.is_err() {
        let _ = child.child.kill().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    fn run(script: &str, limit_ms: u64, cancelled: impl Future<Output = ()>) -> Result<Ended, Wrong> {
        let job = Job::new(["-c", script], Duration::from_millis(limit_ms));
        let runtime = crate::http::runtime().unwrap();
        runtime
            .block_on(job.run(Path::new("/bin/sh"), Path::new("/"), cancelled))
            .map_err(|refusal| refusal.wrong)
    }

    #[test]
    fn an_answer_comes_with_its_exit_code() {
        let ended = run("cat >&2; echo '{\"a\":1}'; exit 20", 60_000, pending()).unwrap();
        assert_eq!((ended.code, ended.answer), (20, serde_json::json!({ "a": 1 })));
        let several = run("echo '{}'; echo '[]'", 60_000, pending()).unwrap();
        assert_eq!(several.answer, serde_json::json!([{}, []]));
        assert_eq!(run("echo '{} x'", 60_000, pending()).unwrap_err(), Wrong::NotRun);
    }

    #[test]
    fn what_has_no_answer_has_a_code() {
        assert_eq!(run("echo no json", 60_000, pending()).unwrap_err(), Wrong::NotRun);
        assert_eq!(run("kill -9 $$", 60_000, pending()).unwrap_err(), Wrong::NotRun);
        assert_eq!(run("exit 64", 60_000, pending()).unwrap_err(), Wrong::Usage);
        assert_eq!(run("exec sleep 600", 10, pending()).unwrap_err(), Wrong::TimedOut);
        assert_eq!(run("exec sleep 600", 600_000, ready(())).unwrap_err(), Wrong::Cancelled);
        let job = Job::new(["x"], Duration::from_secs(60));
        let nowhere = crate::http::runtime().unwrap().block_on(job.run(
            Path::new("/nonexistent/program"),
            Path::new("/"),
            pending(),
        ));
        assert_eq!(nowhere.unwrap_err().wrong, Wrong::NotRun);
    }

    /// More than is kept is read all the same: the command does not wait for ever.
    #[test]
    fn what_says_too_much_is_cut_and_not_stuck() {
        let script = "head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2";
        assert_eq!(run(script, 600_000, pending()).unwrap_err(), Wrong::NotRun);
    }
}
