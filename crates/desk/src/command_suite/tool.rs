//! Whether a suite's tools are there at all (ruling 17), asked where no delivery can answer.
//!
//! A missing program shows when it is started. A runner that is a Python module (`python3 -m pytest`) does not: python
//! starts, says that there is no such module and ends with status 1, as a failing delivery does. What a run prints
//! cannot decide between the two, for a delivery can print it too (ruling 16). So the desk asks before the agent
//! starts, in an empty folder, with the command given here.

use super::config::Check;

/// A command that shows whether a tool is there: status 0 if it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Program and arguments, to be run in an empty folder.
    pub argv: Vec<String>,
    /// What is missing otherwise, for [`VoidCause::ProgramMissing`](super::judge::VoidCause::ProgramMissing).
    pub tool: String,
}

const FIND_MODULE: &str =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1].split('.')[0]) is None)";

/// The probe for a check whose runner is a Python module; `None` for all others, whose program is simply started.
pub fn probe(check: &Check) -> Option<Probe> {
    if check.program_is_in_delivery() {
        return None;
    }
    let program = check.run.first()?.as_text()?;
    if !program.rsplit('/').next()?.starts_with("python") {
        return None;
    }
    let module_at = check.run.iter().position(|arg| arg.as_text() == Some("-m"))? + 1;
    let module = check.run.get(module_at)?.as_text()?;
    // The switches that decide which folders modules are looked for in.
    let switches = check.run[1..module_at].iter().filter_map(|arg| arg.as_text());
    let switches = switches.filter(|arg| matches!(*arg, "-I" | "-E" | "-s" | "-S" | "-P"));
    let argv = std::iter::once(program).chain(switches).chain(["-c", FIND_MODULE, module]);
    Some(Probe { argv: argv.map(str::to_owned).collect(), tool: format!("{program} -m {module}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_suite::config::{Kind, parse};

    fn probe_of(run: &str) -> Option<Probe> {
        let text = format!("version = 1\n[[check]]\nname = \"c\"\nrun = {run}\nresult = \"exit\"");
        match parse(text.as_bytes()).expect("a valid suite").kind {
            Kind::Commands { checks, .. } => probe(&checks[0]),
            Kind::Python { .. } => None,
        }
    }

    #[test]
    fn pc_02_a_python_module_is_asked_for() {
        let run =
            r#"["/usr/bin/python3", "-I", "-X", "pycache_prefix={scratch}", "-m", "pytest", "-m", "slow"]"#;
        let probe = probe_of(run).expect("a probe");
        assert_eq!(probe.tool, "/usr/bin/python3 -m pytest");
        assert_eq!(probe.argv, ["/usr/bin/python3", "-I", "-c", FIND_MODULE, "pytest"]);
    }

    #[test]
    fn other_programs_are_simply_started() {
        for run in [
            r#"["node", "-m", "x"]"#,
            r#"["./python3", "-m", "x"]"#,
            r#"["python3", "{suite}/t.py"]"#,
            r#"["python3", "-m"]"#,
        ] {
            assert_eq!(probe_of(run), None, "{run}");
        }
    }
}
