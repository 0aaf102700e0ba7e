//! Where candidates run: a measured sandbox and the programs that are in reach there.

use crate::CheckInfraError;
use desk::gate::Tool;
use desk::python_suite::{Interpreter, START, START_AND_WIRE, environment};
use desk::sandbox::{Level, Limits, Running, Sandbox, Spec, Stdin};
use std::ffi::OsString;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Wall limit of compiling our programs, in milliseconds.
const COMPILE_WALL_MS: u64 = 60_000;
const LITERAL: &str = include_str!("python/literal.py");
const CALL: &str = include_str!("python/call.py");

/// What decides how a candidate is called and what it is said to have answered.
pub(crate) const ADAPTERS: [&str; 4] =
    [LITERAL, CALL, include_str!("../adapters/call.js"), include_str!("../adapters/call.rs")];

/// One of our Python programs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    Screen,
    Fresh,
    ForkServer,
    LibraryRunner,
    LibraryWorker,
    Mutate,
    Compile,
}

impl Program {
    const ALL: [Program; 7] = [
        Program::Screen,
        Program::Fresh,
        Program::ForkServer,
        Program::LibraryRunner,
        Program::LibraryWorker,
        Program::Mutate,
        Program::Compile,
    ];

    fn name(self) -> &'static str {
        match self {
            Program::Screen => "screen",
            Program::Fresh => "fresh",
            Program::ForkServer => "forkserver",
            Program::LibraryRunner => "runner",
            Program::LibraryWorker => "worker",
            Program::Mutate => "mutate",
            Program::Compile => "compile",
        }
    }

    fn text(self) -> String {
        match self {
            Program::Screen => include_str!("python/screen.py").to_owned(),
            Program::Mutate => include_str!("python/mutate.py").to_owned(),
            Program::Compile => include_str!("python/compile.py").to_owned(),
            Program::Fresh => [START, LITERAL, CALL, include_str!("python/fresh.py")].concat(),
            Program::ForkServer => [START, LITERAL, CALL, include_str!("python/forkserver.py")].concat(),
            Program::LibraryRunner => [START_AND_WIRE, include_str!("python/library_runner.py")].concat(),
            Program::LibraryWorker => [START_AND_WIRE, include_str!("python/library_worker.py")].concat(),
        }
    }
}

/// A sandbox, folders of the desk, and the tools for candidates.
///
/// The programs of ours lie in a folder of the desk that every worker may read: they are no secret. Neither a candidate
/// nor a test is ever a file there.
#[derive(Debug)]
pub struct Place {
    sandbox: Sandbox,
    root: tempfile::TempDir,
    home: PathBuf,
    python: OnceLock<Option<Tool>>,
    node: OnceLock<Option<Tool>>,
    rustc: OnceLock<Option<Tool>>,
    starts: AtomicU32,
    compiled: OnceLock<()>,
    stop: Option<Arc<AtomicBool>>,
}

/// How many of our Python programs are started from their texts before they are compiled, which takes as long as three
/// starts and shortens each by a fifth.
const STARTS_FROM_TEXT: u32 = 8;

impl Place {
    /// A place in `sandbox`. The tools are looked for when they are needed first.
    pub fn new(sandbox: Sandbox) -> Result<Place, CheckInfraError> {
        let root = tempfile::Builder::new().prefix("touchstone-check-").tempdir()?;
        let home = root.path().canonicalize()?;
        std::fs::create_dir(home.join("code"))?;
        for program in Program::ALL {
            std::fs::write(home.join("code").join(program.name()).with_extension("py"), program.text())?;
        }
        std::fs::write(home.join("code/call.js"), include_str!("../adapters/call.js"))?;
        let [python, node, rustc] = std::array::from_fn(|_| OnceLock::new());
        let (starts, compiled) = (AtomicU32::new(0), OnceLock::new());
        Ok(Place { sandbox, root, home, python, node, rustc, starts, compiled, stop: None })
    }

    /// The same; what runs in it is ended as soon as `stop` is set, and says nothing about a candidate then.
    pub fn ended_by(self, stop: &Arc<AtomicBool>) -> Place {
        Place { sandbox: self.sandbox.clone().ended_by(stop), stop: Some(Arc::clone(stop)), ..self }
    }

    /// Somebody wants the desk to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The same with this interpreter in place of the `python3` of the search path.
    pub fn with_python(self, program: &Path) -> Place {
        let tool = program.to_str().and_then(|name| Tool::find(name, &self.home));
        Place { python: OnceLock::from(tool), ..self }
    }

    /// The folder of the desk that holds our programs and the folders of each run; it goes with the place.
    pub fn folder_of_desk(&self) -> &Path {
        self.root.path()
    }

    /// How much the sandbox takes away.
    pub fn level(&self) -> Level {
        self.sandbox.level()
    }

    pub(crate) fn python(&self) -> Result<&Tool, CheckInfraError> {
        self.tool(&self.python, "python3")
    }

    pub(crate) fn node(&self) -> Result<&Tool, CheckInfraError> {
        self.tool(&self.node, "node")
    }

    pub(crate) fn rustc(&self) -> Result<&Tool, CheckInfraError> {
        self.tool(&self.rustc, "rustc")
    }

    fn tool<'a>(
        &'a self,
        kept: &'a OnceLock<Option<Tool>>,
        name: &'static str,
    ) -> Result<&'a Tool, CheckInfraError> {
        kept.get_or_init(|| Tool::find(name, &self.home)).as_ref().ok_or(CheckInfraError::ToolMissing(name))
    }

    /// The folder with our programs.
    pub(crate) fn code(&self) -> PathBuf {
        self.home.join("code")
    }

    /// A fresh folder of the desk.
    pub(crate) fn folder(&self) -> io::Result<tempfile::TempDir> {
        tempfile::Builder::new().prefix("run-").tempdir_in(self.root.path())
    }

    /// Whether a process has to give up its rights itself, because no sandbox took them.
    pub(crate) fn bare(&self) -> bool {
        self.level() == Level::None
    }

    /// Starts one of our Python programs. `folder` is where it may write, and nothing else lies there.
    pub(crate) fn start_python(
        &self,
        program: Program,
        args: &[&str],
        folder: &Path,
        wiring: Wiring,
        limits: Limits,
    ) -> Result<Running, CheckInfraError> {
        let tool = self.python()?;
        let interpreter = Interpreter { program: tool.program.clone(), packages: Vec::new() };
        let script = self.script(program);
        let mut argv = vec![tool.program.clone().into_os_string()];
        argv.extend(interpreter.isolated_args(&script));
        argv.extend(args.iter().map(OsString::from));
        let env = environment(folder);
        self.start(tool, argv, env, folder, wiring, limits)
    }

    /// The file that is started: the compiled one where there is one.
    fn script(&self, program: Program) -> PathBuf {
        let text = self.code().join(program.name()).with_extension("py");
        if matches!(program, Program::Compile)
            || self.starts.fetch_add(1, Ordering::Relaxed) < STARTS_FROM_TEXT
        {
            return text;
        }
        self.compiled.get_or_init(|| self.compile());
        let compiled = text.with_extension("pyc");
        if compiled.exists() { compiled } else { text }
    }

    /// Where this fails, the texts are started as before.
    fn compile(&self) {
        let Ok(folder) = self.folder() else { return };
        let names = Program::ALL.map(Program::name);
        let wiring = Wiring { writable: vec![self.code()], ..Wiring::stdin(Stdin::Null) };
        let limits = Limits::check_within_ms(COMPILE_WALL_MS);
        if let Ok(running) = self.start_python(Program::Compile, &names, folder.path(), wiring, limits) {
            running.wait();
        }
    }

    /// Starts a program in reach of our code folder and of its own installation.
    pub(crate) fn start(
        &self,
        tool: &Tool,
        argv: Vec<OsString>,
        env: Vec<(OsString, OsString)>,
        folder: &Path,
        wiring: Wiring,
        limits: Limits,
    ) -> Result<Running, CheckInfraError> {
        let mut read_only =
            if wiring.writable.contains(&self.code()) { Vec::new() } else { vec![self.code()] };
        read_only.extend(tool.roots.iter().cloned());
        read_only.extend(wiring.read_only);
        let spec = Spec {
            argv,
            cwd: self.code(),
            env,
            stdin: wiring.stdin,
            read_only,
            writable: wiring.writable,
            scratch: Some(folder.to_owned()),
            pass_fds: wiring.fds,
            limits,
        };
        Ok(self.sandbox.start(spec)?)
    }
}

/// What a process is connected to.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) stdin: Stdin,
    pub(crate) fds: Vec<(OwnedFd, RawFd)>,
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
}

impl Wiring {
    /// Standard input and nothing else.
    pub(crate) fn stdin(stdin: Stdin) -> Wiring {
        Wiring { stdin, fds: Vec::new(), read_only: Vec::new(), writable: Vec::new() }
    }

    /// These descriptors, and nothing to read.
    pub(crate) fn fds(fds: Vec<(OwnedFd, RawFd)>) -> Wiring {
        Wiring { fds, ..Wiring::stdin(Stdin::Null) }
    }
}
