//! A suite that is data against a candidate in any language (31.5).
//!
//! What the candidate's process is given: its own text, the name of the entry point, and the arguments of one call at a
//! time. What is expected, and the arguments of later calls, stay here; the comparison is made here.

use crate::conversation::{Broken, Conversation, Reply};
use crate::crossing::not_for;
use crate::rust::{self, Compiled};
use crate::server::Server;
use crate::worker::Worker;
use crate::{Candidate, CheckInfraError, Detail, Language, Place};
use desk::sandbox::Limits;
use std::time::{Duration, Instant};

/// A suite as the evaluator needs it: calls, and a judge for what they return.
pub trait Suite {
    /// The name that is called.
    fn entry_point(&self) -> &str;
    /// How many tests there are.
    fn tests(&self) -> usize;
    /// The positional arguments of a test: the text of a literal list, written by us.
    fn arguments(&self, test: usize) -> &str;
    /// Whether the test accepts this value, the text of a literal; nothing when it is no literal.
    fn accepts(&self, test: usize, value: &str) -> Option<bool>;
}

/// Whether the process of a Python candidate is started or forked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// A new interpreter for each candidate.
    #[default]
    Fresh,
    /// A process forked from a started interpreter for each candidate.
    Fork,
}

/// What a candidate may use.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For loading and all calls together. One call may take nine tenths of it, at least 0.1 s. Zero fails.
    pub timeout: Duration,
    /// Memory of the candidate's process, in bytes. For Node.js, which reserves far more than it uses, the limit of data.
    pub memory_bytes: u64,
    /// How Python processes are made.
    pub reuse: Reuse,
}

impl Default for Options {
    fn default() -> Options {
        let (timeout, memory_bytes) = (crate::library::TIMEOUT, crate::library::MEMORY_BYTES);
        Options { timeout, memory_bytes, reuse: Reuse::Fresh }
    }
}

/// How a candidate did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Every test accepted what the candidate returned.
    pub ok: bool,
    /// The first test that did not, from 0; nothing when all did or the candidate did not load.
    pub first_failing_test: Option<usize>,
    /// How many tests the suite has.
    pub n_tests: usize,
    /// The candidate was loaded and has the entry point.
    pub loads_ok: bool,
    /// Why it did not pass.
    pub detail: Option<Detail>,
    /// The same for people, in the candidate's own words where it has some. Never what was expected.
    pub message: String,
}

/// Evaluates candidates, one after the other.
#[derive(Debug)]
pub struct Evaluator<'a> {
    place: &'a Place,
    options: Options,
    server: Option<Server>,
}

const PROCESSES: u64 = 64;
/// The keeper's limit lies this far behind ours: it holds when the desk is stopped.
const BACKSTOP: Duration = Duration::from_secs(120);
const OUTPUT_BYTES: u64 = 64 << 10;

/// Where the candidate's process came from.
enum Source {
    Own(Worker),
    Forked(Server, Conversation),
}

impl<'a> Evaluator<'a> {
    /// With nothing started.
    pub fn new(place: &'a Place, options: Options) -> Evaluator<'a> {
        Evaluator { place, options, server: None }
    }

    /// Runs `suite` against `candidate`, up to the first test that fails.
    ///
    /// # Errors
    ///
    /// [`CheckInfraError`] when the desk could not find out; never because of what the candidate did.
    pub fn evaluate(
        &mut self,
        suite: &dyn Suite,
        candidate: &Candidate,
    ) -> Result<Evaluation, CheckInfraError> {
        if let Some(test) = not_for(candidate.language, suite) {
            return Err(CheckInfraError::NotForLanguage(test, candidate.language.name()));
        }
        if self.place.is_stopped() {
            return Err(CheckInfraError::Interrupted);
        }
        match self.seen(suite, candidate) {
            Ok(seen) if seen.ok => Ok(seen),
            // What was ended from outside looks like a candidate that ended itself, or like a trouble of ours.
            _ if self.place.is_stopped() => Err(CheckInfraError::Interrupted),
            seen => seen,
        }
    }

    fn seen(&mut self, suite: &dyn Suite, candidate: &Candidate) -> Result<Evaluation, CheckInfraError> {
        if self.options.timeout.is_zero() {
            return Ok(unloaded(suite, Detail::NoTime, "the limit of time is zero".into()));
        }
        let compiled = match candidate.language {
            Language::Rust => match rust::compile(self.place, suite.entry_point(), &candidate.source)? {
                Compiled::Program(program) => Some(program),
                Compiled::Refused(why) => return Ok(unloaded(suite, Detail::NotCompiled, why)),
            },
            Language::Python | Language::JavaScript => None,
        };
        let mut source = match (&compiled, candidate.language) {
            (Some(program), _) => match Worker::program(self.place, &program.path, self.limits(candidate)) {
                Ok(worker) => Source::Own(worker),
                // It is the candidate from its first instruction on; that programs start here was shown by its compiler.
                Err(CheckInfraError::NotStarted(why)) => return Ok(unloaded(suite, Detail::NotLoaded, why)),
                Err(other) => return Err(other),
            },
            (None, Language::JavaScript) => Source::Own(Worker::node(self.place, self.limits(candidate))?),
            (None, _) if self.options.reuse == Reuse::Fork => self.forked(candidate)?,
            (None, _) => Source::Own(Worker::python(self.place, self.limits(candidate))?),
        };
        let conversation = match &mut source {
            Source::Own(worker) => &mut worker.conversation,
            Source::Forked(_, conversation) => conversation,
        };
        let evaluation = converse(conversation, suite, &candidate.source, self.options.timeout);
        match source {
            Source::Own(worker) => drop(worker.end()),
            Source::Forked(server, conversation) => {
                drop(conversation);
                self.server = server.cleared();
            }
        }
        Ok(evaluation?)
    }

    /// A forked process. A server that does not fork any more is replaced once: an earlier candidate may have harmed it,
    /// this one has not been there yet.
    fn forked(&mut self, candidate: &Candidate) -> Result<Source, CheckInfraError> {
        if let Some(mut server) = self.server.take() {
            match server.fork() {
                Ok(conversation) => return Ok(Source::Forked(server, conversation)),
                Err(_) => server.end(),
            }
        }
        let limits = Limits { wall_ms: None, cpu_seconds: None, ..self.limits(candidate) };
        let mut server = Server::start(self.place, self.cpu_seconds(), limits)?;
        match server.fork() {
            Ok(conversation) => Ok(Source::Forked(server, conversation)),
            Err(why) => {
                server.end();
                Err(why)
            }
        }
    }

    fn cpu_seconds(&self) -> u64 {
        self.options.timeout.as_secs() + 1
    }

    fn limits(&self, candidate: &Candidate) -> Limits {
        let wall = self.options.timeout.saturating_add(BACKSTOP);
        let reserves = candidate.language == Language::JavaScript;
        Limits {
            wall_ms: Some(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)),
            cpu_seconds: Some(self.cpu_seconds()),
            memory_bytes: Some(if reserves {
                self.options.memory_bytes * 8
            } else {
                self.options.memory_bytes
            }),
            address_bytes: (!reserves).then_some(self.options.memory_bytes),
            processes: Some(PROCESSES),
            output_bytes: OUTPUT_BYTES,
            ..Limits::check()
        }
    }
}

impl Drop for Evaluator<'_> {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.end();
        }
    }
}

fn unloaded(suite: &dyn Suite, detail: Detail, message: String) -> Evaluation {
    Evaluation {
        ok: false,
        first_failing_test: None,
        n_tests: suite.tests(),
        loads_ok: false,
        detail: Some(detail),
        message,
    }
}

/// The whole conversation about one candidate. The error is the system's randomness.
fn converse(
    conversation: &mut Conversation,
    suite: &dyn Suite,
    source: &str,
    timeout: Duration,
) -> std::io::Result<Evaluation> {
    let end = Instant::now() + timeout;
    let one = (timeout * 9 / 10).max(Duration::from_millis(100));
    let loading = [("load", source), ("entry_point", suite.entry_point())];
    match conversation.ask(&loading, end)? {
        Ok(Reply::Loaded) => {}
        Ok(Reply::Error(class, message)) => {
            return Ok(unloaded(suite, Detail::NotLoaded, format!("{class}: {message}")));
        }
        Ok(Reply::Value(_)) => return Ok(unloaded(suite, Detail::ProtocolBroken, String::new())),
        Err(broken) => return Ok(unloaded(suite, of(broken), String::new())),
    }
    for test in 0..suite.tests() {
        let reply = conversation.ask(&[("call", suite.arguments(test))], end.min(Instant::now() + one))?;
        if let Some((detail, message)) = judged(suite, test, reply) {
            return Ok(Evaluation {
                first_failing_test: Some(test),
                loads_ok: true,
                ..unloaded(suite, detail, message)
            });
        }
    }
    Ok(Evaluation {
        ok: true,
        first_failing_test: None,
        n_tests: suite.tests(),
        loads_ok: true,
        detail: None,
        message: String::new(),
    })
}

/// Why a test did not accept a reply; nothing when it did.
fn judged(suite: &dyn Suite, test: usize, reply: Result<Reply, Broken>) -> Option<(Detail, String)> {
    match reply {
        Ok(Reply::Value(value)) => match suite.accepts(test, &value) {
            Some(true) => None,
            Some(false) => Some((Detail::WrongValue, String::new())),
            None => Some((Detail::NotLiteral, String::new())),
        },
        Ok(Reply::Error(class, message)) if class == NOT_LITERAL => Some((Detail::NotLiteral, message)),
        Ok(Reply::Error(class, message)) => Some((Detail::Raised, format!("{class}: {message}"))),
        Ok(Reply::Loaded) => Some((Detail::ProtocolBroken, String::new())),
        Err(broken) => Some((of(broken), String::new())),
    }
}

/// The class by which a worker says that it cannot hand a value over.
const NOT_LITERAL: &str = "NotLiteral";

fn of(broken: Broken) -> Detail {
    match broken {
        Broken::TimedOut => Detail::TimedOut,
        Broken::Ended => Detail::WorkerEnded,
        Broken::NotAllowed => Detail::ProtocolBroken,
    }
}
