//! Python suites of top-level `check_*` functions (desk specification 8, rulings 16, 17, 20, 21, 27).
//!
//! A suite is read and hashed before anything runs ([`Suite`]), each test file runs in fresh processes ([`run`]),
//! and what comes back is reconciled with what parsing declared.
//!
//! # Isolation
//!
//! [`Isolation::Process`], the default: a *checker* process holds suite and result pipe and never executes a line
//! of the delivery; modules of the workspace are stand-ins that call a *worker* process. What crosses:
//!
//! * plain values as copies: None, bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset,
//!   dict of exactly those types, range, slice, Ellipsis, built-in classes. A list, dict, set or bytearray that was
//!   passed in is updated in place after the call; returned as itself it is itself.
//! * from a check also functions and iterators, which the candidate calls back. Other objects are a TypeError.
//! * everything else the candidate returns is a handle: equal to itself only, hashed by identity, without truth
//!   value (`bool()` is a TypeError). Attributes, calls, items, iteration, `len`, `in`, `with`, `await`, arithmetic
//!   and ordering are relayed, `isinstance(handle, solution.Class)` too. A handle is never an instance of a
//!   built-in or library class. Decimal, datetime, Counter, named tuples, dataclasses are handles: a suite that
//!   compares such objects says `isolation = "in-process"`.
//! * exceptions: built-in ones as themselves, library ones as themselves where the checker has loaded their
//!   module, the candidate's as local stand-in classes over the same built-in bases.
//! * coroutines of the candidate run in the worker, one after the other, when the check awaits them.
//!
//! Names: modules of the standard library and of the suite win over workspace files of the same name in the
//! checker. The worker imports like a plain interpreter started in the workspace. When the worker ends or breaks
//! the protocol, the running case and every later one fail and the file is incomplete, whatever a check catches.
//!
//! Nothing is imported from `.git`, `__pycache__` or `.pytest_cache` of the workspace (ruling 27) in our own
//! processes. An interpreter that a check or candidate starts reads no planted bytecode either, but its import path
//! is its own: only a sandbox that hides the three folders keeps them from it.
//!
//! A suite that itself executes the text of a delivered file (`exec(open(...).read())`) would move it into the
//! checker. Code that names a file of the workspace is refused there by an audit hook; a suite that evaluates
//! delivered text without a file name gives its protection away.
//!
//! [`Isolation::InProcess`]: the candidate is imported into the interpreter that runs the checks. Refused all the
//! same: early exits, reports forged on any descriptor, patched builtins, replaced checks and replaced suite
//! modules. This mode cannot see a candidate that
//!
//! * returns objects whose `__eq__`, `__bool__`, `__class__` or numeric methods lie;
//! * patches library modules or classes that the checks use (`math.isclose`, `json.loads`, `unittest`);
//! * walks frames or closures (`sys._getframe`, `gc.get_objects`, tracebacks) to the runner's key or to objects of
//!   the checks, or changes them through `ctypes` or `/proc/self/mem`;
//! * traces or profiles the check itself (`sys.settrace`, `sys.monitoring`), switched off only between cases;
//! * starts threads that change what a check compares while it compares;
//! * edits constants or default values of the test module's own globals.
//!
//! There is no fallback from one mode to the other.

mod channel;
mod prepare;
mod reconcile;
mod record;
mod run;
mod runtime;
pub mod spawn;
mod suite;

pub use prepare::{Prepared, declared_cases, prepare};
pub use record::{
    CaseRecord, FILE_CASE, FileResult, Kind, MODULE_CASE, SuiteFault, SuiteResult, Visibility, result_sha256,
};
pub use run::{Options, run, run_prepared};
pub use runtime::{Interpreter, START, START_AND_WIRE, environment};
pub use suite::{Suite, SuiteFile};

use spawn::SpawnError;
use std::io;
use std::path::PathBuf;

/// Where the candidate runs (ruling 21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// In a process of its own.
    #[default]
    Process,
    /// In the interpreter that runs the checks.
    InProcess,
}

impl Isolation {
    /// The text in `suite.toml` and receipts.
    pub fn code(self) -> &'static str {
        match self {
            Isolation::Process => "process",
            Isolation::InProcess => "in-process",
        }
    }
}

/// The desk's own environment failed; never a verdict about the delivery (exit 22).
#[derive(Debug)]
pub enum InfraError {
    /// The interpreter does not exist (ruling 17).
    PythonMissing(PathBuf),
    /// A file, pipe or process of the desk failed.
    Io(io::Error),
}

// The stable code.
canon::codes! {
    impl InfraError: &self {
        InfraError::PythonMissing(_) => "infra_python_missing",
        InfraError::Io(_) => "infra_io",
    }
}

impl From<io::Error> for InfraError {
    fn from(error: io::Error) -> InfraError {
        InfraError::Io(error)
    }
}

impl From<SpawnError> for InfraError {
    fn from(error: SpawnError) -> InfraError {
        match error {
            SpawnError::ProgramMissing(program) => InfraError::PythonMissing(program),
            SpawnError::Io(error) => InfraError::Io(error),
        }
    }
}
