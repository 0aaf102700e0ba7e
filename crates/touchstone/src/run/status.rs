//! What a person sees while a run goes on: one line at the foot of a terminal, or plain lines where there is none.

use crate::output::Busy;
use desk::run::{Event, Phase};
use rustix::termios::tcgetwinsize;
use std::cell::{Cell, RefCell};
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shows events on standard error.
pub(super) struct Status {
    busy: Busy,
    live: RefCell<Option<Live>>,
    attempt: Cell<(u32, u32)>,
    terminal: bool,
    /// The agent may have the terminal for itself.
    shared: bool,
    interrupted: Arc<AtomicBool>,
    tally: Arc<Tally>,
}

/// Calls of the run so far.
#[derive(Default)]
struct Tally {
    calls: AtomicU64,
    tokens: AtomicU64,
}

impl Tally {
    /// Nothing before the first call; tokens only where an answer stated them.
    fn words(&self) -> String {
        match (self.calls.load(Ordering::Relaxed), self.tokens.load(Ordering::Relaxed)) {
            (0, _) => String::new(),
            (calls, 0) => format!("{calls} calls, "),
            (calls, tokens) => format!("{calls} calls, {tokens} tokens, "),
        }
    }
}

impl Status {
    /// `shared` says that the agent talks with the user over the terminal: it is then left alone.
    pub(super) fn new(shared: bool, interrupted: Arc<AtomicBool>) -> Status {
        let terminal = std::io::stderr().is_terminal();
        let (busy, live, attempt) = (Busy::default(), RefCell::default(), Cell::new((0, 0)));
        Status { busy, live, attempt, terminal, shared, interrupted, tally: Arc::default() }
    }

    pub(super) fn tell(&self, event: &Event) {
        match event {
            Event::Phase(phase) => self.phase(*phase),
            Event::AttemptStarted { attempt, max_attempts, .. } => {
                self.attempt.set((*attempt, *max_attempts));
            }
            Event::ModelCall { tokens, .. } => {
                self.tally.calls.fetch_add(1, Ordering::Relaxed);
                self.tally.tokens.fetch_add(*tokens, Ordering::Relaxed);
            }
            _ => {}
        }
        if let Some(words) = (!self.terminal).then(|| words(event)).flatten() {
            let _ = writeln!(std::io::stderr().lock(), "touchstone: {words}");
        }
    }

    fn phase(&self, phase: Phase) {
        // The old line goes before anything new is drawn.
        self.live.replace(None);
        self.busy.with(match phase {
            Phase::Preparing => Some("reading suite and workspace, measuring the sandbox"),
            Phase::Agent | Phase::Ended => None,
            Phase::Freezing => Some("freezing the workspace"),
            Phase::Checking => Some("running the checks"),
        });
        if phase == Phase::Agent && self.terminal && !self.shared {
            let (attempt, max) = self.attempt.get();
            let head = format!("touchstone: attempt {attempt} of {max}");
            let live = Live::start(head, Arc::clone(&self.tally), Arc::clone(&self.interrupted));
            self.live.replace(live);
        }
    }
}

/// The plain line of an event.
fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::AttemptStarted { attempt, max_attempts, .. } => {
            format!("attempt {attempt} of {max_attempts}: the agent runs")
        }
        Event::AgentExited { attempt, agent_rc, timed_out, agent_wall_ms, .. } => {
            let seconds = agent_wall_ms / 1000;
            let how = match agent_rc {
                _ if *timed_out => "was ended at its time limit".to_owned(),
                Some(code) if *code < 0 => format!("was ended by signal {}", -code),
                Some(code) => format!("ended with exit code {code}"),
                None => "was ended".to_owned(),
            };
            format!("attempt {attempt}: the agent {how} after {seconds} s")
        }
        Event::GateRan { attempt, passed, n_passed, n_tests, .. } => {
            let all = if *passed { "passed" } else { "did not pass" };
            match (n_passed, n_tests) {
                (Some(passed), Some(total)) => {
                    format!("attempt {attempt}: {all}, {passed} of {total} checks")
                }
                _ => format!("attempt {attempt}: {all}"),
            }
        }
        Event::FeedbackReady { .. } => "the next attempt is told what failed".to_owned(),
        Event::ModelCall { .. } | Event::Phase(_) | Event::RunStarted { .. } | Event::RunEnded { .. } => {
            return None;
        }
    })
}

/// How often the line is drawn anew.
const TICK: Duration = Duration::from_millis(200);
/// A terminal with fewer rows keeps them all for the agent.
const ROWS_MIN: u16 = 6;

/// A line at the foot of the terminal. What the agent prints scrolls above it: the line is outside of the scroll region.
struct Live {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Nothing where the terminal is too small, or no thread is to be had.
    fn start(head: String, tally: Arc<Tally>, interrupted: Arc<AtomicBool>) -> Option<Live> {
        let rows = rows()?;
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let ended = Arc::clone(&over);
        let draw = move || {
            let started = Instant::now();
            let mut rows = rows;
            reserve(rows);
            let mut said = String::new();
            loop {
                if let Some(now) = self::rows().filter(|now| *now != rows) {
                    rows = now;
                    reserve(rows);
                    said.clear();
                }
                let text =
                    format!("{head}: the agent runs, {}{} s", tally.words(), started.elapsed().as_secs());
                if text != said {
                    put(&format!("\x1b7\x1b[{rows};1H\x1b[2K{text}\x1b8"));
                    said = text;
                }
                let guard = ended.0.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = ended.1.wait_timeout(guard, TICK).unwrap_or_else(PoisonError::into_inner);
                // A second interrupt ends this process at once: by then the terminal must be whole.
                if *waited.0 || interrupted.load(Ordering::Relaxed) {
                    return give_back(rows);
                }
            }
        };
        let thread = std::thread::Builder::new().name("status".to_owned()).spawn(draw).ok()?;
        Some(Live { over, thread: Some(thread) })
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        *self.over.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn rows() -> Option<u16> {
    let size = tcgetwinsize(std::io::stderr()).ok()?;
    Some(size.ws_row).filter(|rows| *rows >= ROWS_MIN)
}

/// One write, so that nothing of the agent's comes between.
fn put(text: &str) {
    let mut stream = std::io::stderr().lock();
    let _ = stream.write_all(text.as_bytes());
}

/// Makes room for one line and takes it out of the scroll region.
fn reserve(rows: u16) {
    put(&format!("\n\x1b7\x1b[1;{}r\x1b8\x1b[1A", rows - 1));
}

fn give_back(rows: u16) {
    put(&format!("\x1b7\x1b[r\x1b[{rows};1H\x1b[2K\x1b8"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_lines() {
        let exited = |agent_rc, timed_out| {
            words(&Event::AgentExited {
                attempt: 2,
                agent_rc,
                timed_out,
                agent_wall_ms: 3999,
                orphans_killed: None,
                requests_seen: None,
                wire_quiesced: None,
            })
            .unwrap()
        };
        assert_eq!(exited(Some(0), false), "attempt 2: the agent ended with exit code 0 after 3 s");
        assert_eq!(exited(Some(-9), false), "attempt 2: the agent was ended by signal 9 after 3 s");
        assert_eq!(exited(None, true), "attempt 2: the agent was ended at its time limit after 3 s");
        let gate = |passed, counts: Option<(u64, u64)>| {
            let (n_passed, n_tests) = counts.unzip();
            words(&Event::GateRan { attempt: 1, passed, n_passed, n_tests, verdict_sha256: None }).unwrap()
        };
        assert_eq!(gate(false, Some((1, 2))), "attempt 1: did not pass, 1 of 2 checks");
        assert_eq!(gate(true, None), "attempt 1: passed");
    }
}
