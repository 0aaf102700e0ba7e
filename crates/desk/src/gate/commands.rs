//! Command suites inside the sandbox (rulings 10 to 19).

mod places;
mod printed;

use super::python::name_of;
use super::tools::Tool;
use super::view::{self, View};
use super::{Delivery, GateReason, Judgement, StoredSuite, stop_for, tampered, works_on_nothing};
use crate::command_suite::config::{Check, Counts, Cwd, Paths, ResultKind};
use crate::command_suite::judge::{Cases, CheckResult, Ended, Evidence, Of, ReportFile, Verdict, VoidCause};
use crate::command_suite::{judge_check, judge_suite, tool};
use crate::report::{ExitStatus, Meaning, REPORT_BYTES_MAX, Refusal};
use crate::sandbox::{self, Cannot, Limits, Sandbox, Spec, Status};
use crate::supervise::Captured;
use crate::workspace::Fault;
use canon::{Object, Value, canonical_digest};
use places::Places;
use printed::Printed;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use verdict::StopReason;

/// A command suite and what it is run on.
pub(super) struct Commands<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) suite: &'a StoredSuite,
    pub(super) counts: Counts,
    pub(super) checks: &'a [Check],
    pub(super) allow: &'a [String],
    /// The program of each check, in their order; nothing where it belongs to the delivery or is missing.
    pub(super) tools: &'a [Found],
    pub(super) delivery: &'a Delivery<'a>,
}

/// The fresh folders of one check.
struct Folders {
    root: PathBuf,
    suite: PathBuf,
    report: PathBuf,
    scratch: PathBuf,
}

impl Commands<'_> {
    pub(super) fn judge(&self) -> Judgement {
        if let Some(tool) = self.tools.iter().filter_map(Found::tool).find(|tool| !tool.is_unchanged()) {
            return tampered(tool);
        }
        let Delivery { frozen, scan, scratch, .. } = self.delivery;
        let view = match view::for_reading(frozen, scan, self.allow, scratch) {
            Ok(view) => view,
            Err(fault) => return self.unfit(&fault),
        };
        let mut places = Places::default();
        if self.delivery.scratch.file_name().is_some_and(|name| name.as_encoded_bytes().len() > 12) {
            places.add_name(self.delivery.scratch, "{desk}");
        }
        let mut results = Vec::new();
        for (index, check) in self.checks.iter().enumerate() {
            match self.run(index, check, &view, &mut places) {
                Ok(result) => results.push(result),
                Err(fault) => return self.unfit(&fault),
            }
        }
        self.judgement(&results, &view, &places)
    }

    fn unfit(&self, fault: &Fault) -> Judgement {
        let stop = stop_for(fault, works_on_nothing(self.sandbox, self.delivery.scratch));
        Judgement::without_checks(stop, fault.code(), fault.to_string())
    }

    fn run(
        &self,
        index: usize,
        check: &Check,
        view: &View,
        places: &mut Places,
    ) -> Result<(CheckResult, Printed), Fault> {
        let trouble = |error: io::Error| Fault::CopyFailed(error.to_string());
        let folders = self.folders(index).map_err(trouble)?;
        let root = if check.writable {
            view::for_writing(view, &self.delivery.scratch.join(format!("writable-{}", index + 1)))?
        } else {
            view.root.clone()
        };
        let tool = self.tools.get(index).and_then(Found::tool);
        if let Some(cause) = self.missing_tool(check, tool, &folders) {
            let evidence = evidence(Ended::Infrastructure(cause), &[], false, ReportFile::Absent);
            return Ok((judge_check(check, self.counts, &evidence), Printed::default()));
        }
        let report = folders.report.join("report");
        places.add(
            match check.cwd {
                Cwd::Workspace => &root,
                Cwd::Suite => &folders.suite,
            },
            &[
                (&folders.suite, "{suite}"),
                (&root, "{workspace}"),
                (&report, "{report}"),
                (&folders.scratch, "{scratch}"),
            ],
        );
        places.add_name(&folders.root, "{check}");
        let paths = Paths {
            suite: folders.suite.as_os_str(),
            workspace: root.as_os_str(),
            report: report.as_os_str(),
            scratch: folders.scratch.as_os_str(),
        };
        let argv: Vec<OsString> = check.run.iter().map(|arg| arg.expand(&paths)).collect();
        let program = Program::of(argv, tool);
        let (ended, stdout, stderr) = self.start(check, program, &root, &folders);
        let mut printed = Printed::of(&stdout, &stderr);
        printed.stdout_is_report = check.result != ResultKind::Exit && !check.report_is_file();
        let truncated = stdout.dropped_bytes() > 0;
        let bytes;
        let file = match read_report(&report) {
            Ok(None) => ReportFile::Absent,
            Ok(Some(read)) if read.len() > REPORT_BYTES_MAX => ReportFile::TooLarge,
            Ok(Some(read)) => {
                bytes = read;
                ReportFile::Bytes(&bytes)
            }
            Err(_) => ReportFile::NotAFile,
        };
        let stdout = stdout.bytes();
        let evidence = evidence(ended, &stdout, truncated, file);
        Ok((judge_check(check, self.counts, &evidence), printed))
    }

    fn folders(&self, index: usize) -> io::Result<Folders> {
        // A link of the delivery must not lead to the suite: nobody can know where it will lie.
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(|error| io::Error::other(error.to_string()))?;
        let root = self.delivery.scratch.join(format!("check-{}-{}", index + 1, canon::hex(&name)));
        let folder = |name: &str| -> io::Result<PathBuf> {
            let path = root.join(name);
            fs::create_dir_all(&path)?;
            Ok(path)
        };
        let (suite, report, scratch) = (folder("suite")?, folder("report")?, folder("scratch")?);
        let folders = Folders { root, suite, report, scratch };
        self.suite.write_to(&folders.suite)?;
        Ok(folders)
    }

    /// A runner that is a module of another program is asked for where no delivery can answer (ruling 17).
    fn missing_tool(&self, check: &Check, tool: Option<&Tool>, folders: &Folders) -> Option<VoidCause> {
        let probe = tool::probe(check)?;
        let argv = probe.argv.iter().map(OsString::from).collect();
        let program = Program::of(argv, tool);
        let mut spec = Spec::new(program.argv, folders.scratch.clone());
        spec.read_only = program.roots;
        spec.scratch = Some(folders.scratch.clone());
        spec.env = program.env;
        spec.limits = Limits { ..limits(check, self.delivery) };
        let ended = self.sandbox.start(spec).ok()?.wait();
        (ended.status != Status::Exited(0)).then_some(VoidCause::ProgramMissing { program: probe.tool })
    }

    fn start(
        &self,
        check: &Check,
        program: Program,
        root: &Path,
        folders: &Folders,
    ) -> (Ended, Captured, Captured) {
        let mut read_only = program.roots;
        read_only.push(folders.suite.clone());
        let mut writable = vec![folders.report.clone()];
        let tree = if check.writable { &mut writable } else { &mut read_only };
        tree.push(root.to_path_buf());
        let spec = Spec {
            argv: program.argv,
            cwd: match check.cwd {
                Cwd::Workspace => root.to_path_buf(),
                Cwd::Suite => folders.suite.clone(),
            },
            env: program.env,
            stdin: sandbox::Stdin::Null,
            read_only,
            writable,
            scratch: Some(folders.scratch.clone()),
            pass_fds: Vec::new(),
            limits: limits(check, self.delivery),
        };
        let ended = match self.sandbox.start(spec) {
            Ok(running) => running.wait(),
            Err(error) => {
                let how = self.not_started("start", &error.to_string());
                return (how, Captured::default(), Captured::default());
            }
        };
        let how = match &ended.status {
            Status::Exited(code) => Ended::Status(ExitStatus::Exited(*code)),
            Status::Signaled(signal) => Ended::Status(ExitStatus::Signaled(*signal)),
            Status::Killed | Status::TooManyProcesses => Ended::Status(ExitStatus::Signaled(libc::SIGKILL)),
            Status::TimedOut => Ended::TimedOut,
            Status::CouldNotStart { why: Cannot::NotFound, .. } => Ended::ProgramMissing,
            Status::CouldNotStart { why, program } => self.not_started(why.code(), &name_of(program)),
            Status::SetupFailed { step, errno } => {
                self.not_started(step, &io::Error::from_raw_os_error(*errno).to_string())
            }
            Status::Lost => {
                self.not_started(ended.status.code(), "the keeper of the check was ended from outside")
            }
        };
        (how, ended.stdout, ended.stderr)
    }

    /// The desk's own trouble, or the delivery's (ruling 16).
    fn not_started(&self, step: &str, detail: &str) -> Ended {
        if works_on_nothing(self.sandbox, self.delivery.scratch) {
            return Ended::Status(ExitStatus::Signaled(libc::SIGKILL));
        }
        Ended::Infrastructure(VoidCause::StartFailed { step: step.to_owned(), detail: detail.to_owned() })
    }

    fn judgement(&self, ran: &[(CheckResult, Printed)], view: &View, places: &Places) -> Judgement {
        let results: Vec<CheckResult> = ran.iter().map(|(result, _)| result.clone()).collect();
        let verdict = judge_suite(&results);
        let tallies: Vec<_> = results.iter().filter_map(CheckResult::tally).collect();
        let measured = !tallies.is_empty();
        let passed: u64 = tallies.iter().map(|tally| tally.passed).sum();
        let counted: u64 = tallies.iter().map(|tally| tally.counted()).sum();
        let (mut stop, reasons, mut failures) = explain(&verdict);
        failures.extend(results.iter().flat_map(messages).take(FAILURES_MAX));
        failures.iter_mut().for_each(|failure| *failure = places.without(failure));
        let failing: Vec<_> =
            ran.iter().filter(|(result, _)| matches!(result.verdict, Verdict::Refused(_))).collect();
        if let Some((result, printed)) = failing.first() {
            let lines = printed.last_lines(places).into_iter();
            failures.extend(lines.map(|line| format!("{}: {line}", result.name)));
        }
        let printed = failing.iter().map(|(result, printed)| {
            let tails = Object::new()
                .with("name", result.name.as_str())
                .with("stdout_tail", printed.stdout_tail(places))
                .with("stderr_tail", printed.stderr_tail(places));
            Value::from(tails)
        });
        let printed = Value::Array(printed.collect());
        let unreadable = |result: &CheckResult| matches!(result.cases, Cases::Unreadable);
        if stop == StopReason::VisiblePass && results.iter().any(unreadable) {
            // Cannot happen by the judge's rules; a pass without its report must not depend on that.
            stop = StopReason::VisibleFail;
        }
        let record = Object::new()
            .with("suite", "visible")
            .with("task_id", self.delivery.task_id)
            .with("suite_sha256", self.suite.sha256())
            .with("checks", Value::Array(results.iter().map(|result| reduced(result, places)).collect()))
            .with("passed", measured.then_some(passed))
            .with("total", measured.then_some(counted));
        let result_sha256 = canonical_digest(&Value::Object(record.clone()));
        let hidden = view.hidden.iter().map(|hidden| {
            let path = canon::shown(hidden.path.as_os_str().as_encoded_bytes());
            Value::from(Object::new().with("path", path).with("reader", hidden.rule.reader))
        });
        let record = record
            .with("result_sha256", result_sha256)
            .with("stop_reason", stop.code())
            .with("reasons", reasons.clone())
            .with("findings", failures.clone())
            .with("printed", printed)
            .with("hidden", Value::Array(hidden.collect()));
        Judgement {
            stop,
            passed: measured.then_some(passed),
            total: measured.then_some(counted),
            result_sha256: Some(result_sha256),
            isolation: "command",
            reasons,
            failures,
            record: record.into(),
        }
    }
}

fn evidence<'a>(ended: Ended, stdout: &'a [u8], truncated: bool, report: ReportFile<'a>) -> Evidence<'a> {
    Evidence { ended, stdout, stdout_truncated: truncated, report }
}

/// Room for compilers and runtimes that a Python check never needs.
fn limits(check: &Check, delivery: &Delivery<'_>) -> Limits {
    let wall_ms = check.timeout_s.map_or(delivery.test_timeout_ms, |seconds| u64::from(seconds) * 1000);
    Limits {
        cpu_seconds: Some(wall_ms.div_ceil(1000).saturating_mul(4) + 5),
        memory_bytes: Some(4 << 30),
        address_bytes: None,
        processes: Some(512),
        open_files: Some(4096),
        file_bytes: Some(1 << 30),
        scratch_bytes: 1 << 30,
        output_bytes: 2 * REPORT_BYTES_MAX as u64,
        ..Limits::check_within_ms(wall_ms)
    }
}

/// The report, if the command left one. Anything but a regular file is an error: it is not opened for reading.
fn read_report(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(meta) if meta.is_file() => {}
        _ => return Err(io::Error::other("not a regular file")),
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(REPORT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Most failing cases that are told with their message.
const FAILURES_MAX: usize = 6;

/// What the runner said about failing cases, where it said anything.
fn messages(result: &CheckResult) -> Vec<String> {
    let Cases::Measured(report) = &result.cases else { return Vec::new() };
    let failing = report.cases().iter().filter(|case| case.outcome.meaning() == Meaning::Failed);
    failing
        .filter_map(|case| {
            let message = case.message.as_deref().filter(|message| !message.is_empty())?;
            let (name, outcome) = (report.full_name(case), case.outcome.code());
            Some(format!("{}: {name}: {outcome}: {message}", result.name))
        })
        .collect()
}

/// The part of a result that is signed: no times, no messages, no paths of this one run.
fn reduced(result: &CheckResult, places: &Places) -> Value {
    let cases = match &result.cases {
        Cases::NotMeasured => Value::from("not_measured"),
        Cases::Unreadable => Value::from("unreadable"),
        Cases::Measured(report) => Value::Array(
            report
                .cases()
                .iter()
                .map(|case| {
                    let name = places.without(&report.full_name(case));
                    Value::Array(vec![name.into(), case.outcome.code().into()])
                })
                .collect(),
        ),
    };
    let (stop, reasons, _) = explain(&result.verdict);
    Object::new()
        .with("name", result.name.as_str())
        .with("verdict", stop.code())
        .with("reasons", reasons)
        .with("cases", cases)
        .into()
}

/// How a verdict ends the run, its codes, and its findings one line each.
fn explain(verdict: &Verdict) -> (StopReason, Vec<String>, Vec<String>) {
    fn lines<T>(
        items: &[Of<T>],
        code: impl Fn(&T) -> &'static str,
        data: impl Fn(&T) -> String,
    ) -> (Vec<String>, Vec<String>) {
        let mut codes: Vec<String> = Vec::new();
        let mut findings = Vec::new();
        for item in items {
            let (code, check) = (code(&item.what), item.check.as_deref().unwrap_or("the suite"));
            if !codes.iter().any(|known| known == code) {
                codes.push(code.to_owned());
            }
            findings.push(format!("{check}: {code}{}", data(&item.what)));
        }
        (codes, findings)
    }
    let (stop, (codes, findings)) = match verdict {
        Verdict::Accepted => (StopReason::VisiblePass, (Vec::new(), Vec::new())),
        Verdict::Refused(reasons) => {
            let only_no_suite = reasons.iter().all(|reason| reason.what == Refusal::NoSuite);
            let stop = if only_no_suite { StopReason::NoSuite } else { StopReason::VisibleFail };
            (stop, lines(reasons, Refusal::code, data))
        }
        Verdict::Inconclusive(names) => (
            StopReason::VisibleUnstable,
            lines(names, |_| GateReason::CaseUnstable.code(), |name| format!(": {name}")),
        ),
        Verdict::Void(causes) => {
            let missing = |cause: &Of<VoidCause>| matches!(cause.what, VoidCause::ProgramMissing { .. });
            let stop =
                if causes.iter().all(missing) { StopReason::SuiteToolMissing } else { StopReason::DeskFault };
            (stop, lines(causes, VoidCause::code, data))
        }
    };
    (stop, codes, findings)
}

/// The data that a code carries, as written in the source: `(status: 1)`.
fn data<T: std::fmt::Debug>(what: &T) -> String {
    let text = format!("{what:?}");
    match text.split_once('{') {
        Some((_, data)) => format!(" ({})", data.trim().trim_end_matches('}').trim()),
        None => String::new(),
    }
}

/// What is started, and what of the host it needs to see.
struct Program {
    argv: Vec<OsString>,
    roots: Vec<PathBuf>,
    env: Vec<(OsString, OsString)>,
}

impl Program {
    /// The command with the program that was found for it; as written where none was.
    fn of(mut argv: Vec<OsString>, tool: Option<&Tool>) -> Program {
        let Some(tool) = tool else { return Program { argv, roots: Vec::new(), env: Vec::new() } };
        if let Some(first) = argv.first_mut() {
            tool.program.as_os_str().clone_into(first);
        }
        Program { argv, roots: tool.roots.clone(), env: tool.env.clone() }
    }
}

/// The program of a check, as it was found before the agent started.
#[derive(Debug)]
pub(super) enum Found {
    /// It belongs to the delivery.
    OfTheDelivery,
    /// It is here.
    Tool(Tool),
    /// It is not installed.
    Missing {
        /// Name of the check.
        check: String,
        /// The program as the suite writes it.
        program: String,
    },
}

impl Found {
    fn tool(&self) -> Option<&Tool> {
        match self {
            Found::Tool(tool) => Some(tool),
            _ => None,
        }
    }
}

/// Finds the program of each check before the agent starts.
pub(super) fn tools(checks: &[Check], workspace: &Path) -> Vec<Found> {
    let find = |check: &Check| {
        let program = check.run.first().filter(|_| !check.program_is_in_delivery());
        // A program in the suite or a scratch folder is looked for when it is started.
        let Some(name) = program.and_then(|program| program.as_text()) else { return Found::OfTheDelivery };
        match Tool::find(name, workspace) {
            Some(tool) => Found::Tool(tool),
            None => Found::Missing { check: check.name.clone(), program: check.program() },
        }
    };
    checks.iter().map(find).collect()
}

/// The end of a run whose suite names programs that are not here (ruling 17).
pub(super) fn missing(tools: &[Found]) -> Option<Judgement> {
    let causes: Vec<Of<VoidCause>> = tools
        .iter()
        .filter_map(|found| match found {
            Found::Missing { check, program } => Some(Of {
                check: Some(check.clone()),
                what: VoidCause::ProgramMissing { program: program.clone() },
            }),
            _ => None,
        })
        .collect();
    let (stop, codes, findings) = explain(&Verdict::Void(causes));
    let code = codes.first()?;
    Some(Judgement::without_checks(stop, code, findings.join("; ")))
}
