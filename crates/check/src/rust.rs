//! Candidates in Rust: compiled inside the sandbox together with our adapter.

use crate::CheckInfraError;
use crate::place::{Place, Wiring};
use desk::sandbox::{Limits, Status, Stdin};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Our side of the protocol, which a candidate may use the types of.
const ADAPTER: &str = include_str!("../adapters/call.rs");
/// Limits of the compiler: milliseconds, bytes. A candidate can make it work for ever.
const WALL_MS: u64 = 60_000;
const MEMORY_BYTES: u64 = 4 << 30;
/// Most of what the compiler said that is kept, in characters.
const MESSAGE_CHARS: usize = 500;

/// What came of compiling.
pub(crate) enum Compiled {
    Program(Executable),
    /// The compiler's first words.
    Refused(String),
}

/// A program in a folder of its own, which goes with it.
pub(crate) struct Executable {
    pub(crate) path: PathBuf,
    _folder: tempfile::TempDir,
}

/// Compiles `source` with `entry_point` as the function that is called. Nothing of the candidate runs: there is no
/// build script and no macro crate.
pub(crate) fn compile(place: &Place, entry_point: &str, source: &str) -> Result<Compiled, CheckInfraError> {
    let tool = place.rustc()?;
    let folder = place.folder()?;
    let [text, made, scratch] = ["text", "made", "scratch"].map(|name| folder.path().join(name));
    for each in [&text, &made, &scratch] {
        std::fs::create_dir(each)?;
    }
    let main = format!(
        "mod candidate;\nmod touchstone;\nfn main() {{ touchstone::serve(candidate::{entry_point}) }}\n"
    );
    for (name, content) in [("main.rs", main.as_str()), ("touchstone.rs", ADAPTER), ("candidate.rs", source)]
    {
        std::fs::write(text.join(name), content)?;
    }
    let program = made.join("candidate");
    let ended = {
        let wiring = Wiring {
            read_only: vec![text.clone()],
            writable: vec![made.clone()],
            ..Wiring::stdin(Stdin::Null)
        };
        let argv = arguments(&tool.program, &text.join("main.rs"), &program);
        let limits = Limits {
            memory_bytes: Some(MEMORY_BYTES),
            address_bytes: None,
            ..Limits::check_within_ms(WALL_MS)
        };
        place.start(tool, argv, tool.env.clone(), &scratch, wiring, limits)?.wait()
    };
    match ended.status {
        Status::Exited(0) => Ok(Compiled::Program(Executable { path: program, _folder: folder })),
        Status::Exited(1) => Ok(Compiled::Refused(ended.stderr.text().chars().take(MESSAGE_CHARS).collect())),
        Status::TimedOut | Status::Signaled(_) | Status::TooManyProcesses | Status::Exited(_) => {
            Ok(Compiled::Refused(format!("the compiler did not survive the candidate: {:?}", ended.status)))
        }
        _ => Err(CheckInfraError::ended("the compiler", &ended)),
    }
}

fn arguments(rustc: &Path, main: &Path, program: &Path) -> Vec<OsString> {
    let words = [
        "--edition=2024",
        "--crate-name=candidate",
        "-Copt-level=1",
        "-Coverflow-checks=yes",
        "--cap-lints=allow",
    ];
    let mut argv: Vec<OsString> = vec![rustc.into()];
    argv.extend(words.map(OsString::from));
    argv.extend(["-o".into(), program.into(), main.into()]);
    argv
}
