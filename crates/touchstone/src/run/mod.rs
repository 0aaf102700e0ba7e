//! `touchstone run`: the launcher's arguments, and its answer for people and for machines.

mod enclosed;
mod events;
mod probe;
mod status;

use crate::output::{self, Tone, paint};
use crate::stop::{self, Second};
use canon::{Value, shown};
use desk::agents::Preset;
use desk::gate::Judgement;
use desk::run::{Calls, FeedbackInto, Options, Report, Retry, RunError};
use desk::sandbox::{Choice, Level};
use events::Events;
use status::Status;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use verdict::StopReason;

/// Run an agent, check its delivery, sign the verdict.
///
/// The verdict follows from the suite alone; what the agent says and how it exits is recorded and decides nothing.
///
/// Exit: 0 accepted, 20 refused, 21 inconclusive, 22 infrastructure void, 64 wrong use.
/// With --probe: 0 a model was asked through us, 1 nothing came, 2 other calls only, 22 not measured.
///
/// Example: touchstone run --suite ../checks -- python3 my_agent.py
/// Example: touchstone run --suite ../checks --retry revise -- python3 my_agent.py
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Folder with the checks; must lie outside the workspace.
    #[arg(long, value_name = "DIR")]
    suite: Option<PathBuf>,
    /// Say explicitly that nothing is measured; the receipt then says so too.
    #[arg(long)]
    allow_no_suite: bool,
    /// Folder that the agent works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// Folder for the receipts: new or empty, outside the workspace [default: ~/.touchstone/runs/TASK].
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// After an attempt that failed: nothing, a fresh workspace, or the same workspace and what failed.
    #[arg(long, value_parser = ["none", "resample", "revise"], default_value = "none")]
    retry: String,
    /// Most attempts, a ceiling on cost [default: 1, with a retry 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_attempts: Option<u32>,
    /// How the agent is told what failed: VACANT_FEEDBACK.md in its folder, {VACANT_FEEDBACK} at the end of one of its
    /// arguments, or both.
    #[arg(long, value_parser = ["file", "prompt", "both"], default_value = "file")]
    feedback_into: String,
    /// 1: checks decide. 0: record only; no checks, no receipt, the agent's own exit code [default: $VACANT, or 1].
    #[arg(long, value_parser = ["0", "1"])]
    vacant: Option<String>,
    /// Name of the task [default: generated].
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// Seconds the agent may take [default: no limit].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=8_640_000))]
    timeout: Option<u64>,
    /// Seconds each test file or check may take, where the suite sets none.
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    test_timeout: u64,
    /// What the agent reads: nothing, or what this command reads.
    #[arg(long, value_parser = ["devnull", "inherit"], default_value = "devnull")]
    stdin: String,
    /// How checks are confined: the best that this machine allows, or not at all.
    #[arg(long, value_parser = ["auto", "none"], default_value = "auto")]
    sandbox: String,
    /// The least confinement; below it the run is void (22), never silently weaker.
    #[arg(long, value_parser = ["full", "landlock"])]
    require_sandbox: Option<String>,
    /// Whether the agent's model calls go through a recording proxy; auto: when one of the options about it is given, or
    /// a base URL variable names an upstream.
    #[arg(long, value_parser = ["auto", "record", "ignore"], default_value = "auto")]
    calls: String,
    /// Point a known agent at the proxy (see `touchstone agents`).
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The model that the agent's own configuration names.
    #[arg(long, value_name = "NAME", requires = "agent")]
    agent_model: Option<String>,
    /// Port of the proxy [default: any free one].
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Calls whose upstream nobody named go to the provider's public address instead of nowhere.
    #[arg(long)]
    allow_public_upstream: bool,
    /// Most model and other calls of the run; more are answered with 429.
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
    /// Most bytes of all calls of the run.
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
    #[command(flatten)]
    enclosed: enclosed::Enclosed,
    /// Only see whether the command asks its model through us: it runs in the workspace until its first such call, which is
    /// answered here; nothing leaves this machine, nothing is checked or signed.
    #[arg(long, conflicts_with_all = ["suite", "allow_no_suite", "run_dir", "vacant", "events", "max_calls"])]
    probe: bool,
    /// Write what happens as JSON Lines to the end of this file; it must lie outside the workspace.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Remove the frozen copy at the end.
    #[arg(long)]
    discard_frozen: bool,
    /// Print the summary as one JSON object; the agent's output then goes to agent_stdout.log.
    #[arg(long)]
    json: bool,
    /// The agent's command, as you would type it.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: Args) -> u8 {
    let (json, probe) = (args.json, args.probe);
    let file = args.events.clone();
    let options = match options(args) {
        Ok(options) => options,
        Err(why) => return output::usage(&why),
    };
    let events = match file.map(|file| Events::open(&file, &options.workspace)).transpose() {
        Ok(events) => events,
        Err(why) => return output::usage(&why),
    };
    // The first interrupt ends the run with a signed void entry; after a second one the chain says that the run has no end.
    let second = Second::Exits(StopReason::Interrupted.exit_code());
    if let Err(error) = stop::on_signals(&options.interrupted, second) {
        return output::usage(&format!("signals cannot be handled: {error}"));
    }
    if probe {
        return probe::probe(options, json);
    }
    let status = Status::new(options.inherit_stdin, Arc::clone(&options.interrupted));
    let ran = desk::run::run(&options, &|event| {
        status.tell(&event);
        if let Some(events) = &events {
            events.tell(&event);
        }
    });
    let lost_n = events.as_ref().map_or(0, Events::lost_n);
    if lost_n > 0 {
        let _ = writeln!(std::io::stderr().lock(), "touchstone: {lost_n} events could not be written");
    }
    match ran {
        Ok(report) => {
            print(&report, json);
            report.exit_code
        }
        Err(RunError::Usage(error)) => output::usage(&error.to_string()),
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "touchstone: void: {error}");
            StopReason::DeskFault.exit_code()
        }
    }
}

fn options(args: Args) -> Result<Options, String> {
    let asked = args.agent.is_some()
        || args.port.is_some()
        || args.allow_public_upstream
        || args.max_calls.is_some()
        || args.max_bytes.is_some()
        || (args.enclosed.enclose && args.calls != "ignore");
    if (asked || args.probe) && args.calls == "ignore" {
        return Err("--calls ignore contradicts an option of the proxy: drop one".to_owned());
    }
    let record_calls = match args.calls.as_str() {
        "record" => true,
        "ignore" => false,
        _ => asked || desk::run::upstream_is_named(),
    };
    let unknown =
        |name: &String| format!("no agent is called {}; see `touchstone agents`", shown(name.as_bytes()));
    let agent =
        args.agent.as_ref().map(|name| Preset::named(name).ok_or_else(|| unknown(name))).transpose()?;
    let options = Options {
        record_calls,
        agent,
        agent_model: args.agent_model,
        port: args.port.unwrap_or(0),
        allow_public_upstream: args.allow_public_upstream,
        max_calls: args.max_calls,
        max_bytes: args.max_bytes,
        gated: gated(args.vacant.as_deref())?,
        retry: named(Retry::ALL, Retry::word, &args.retry),
        max_attempts: args.max_attempts,
        feedback_into: named(FeedbackInto::ALL, FeedbackInto::word, &args.feedback_into),
        run_dir: args.run_dir,
        suite: args.suite,
        allow_no_suite: args.allow_no_suite,
        task_id: args.task_id,
        timeout_ms: args.timeout.map(|seconds| seconds * 1000),
        test_timeout_ms: args.test_timeout * 1000,
        inherit_stdin: args.stdin == "inherit",
        capture_stdout: args.json,
        sandbox: if args.sandbox == "none" { Choice::None } else { Choice::Auto },
        floor: args.require_sandbox.map(|level| match level.as_str() {
            "full" => Level::Full,
            _ => Level::Landlock,
        }),
        discard_frozen: args.discard_frozen,
        ..Options::new(args.workspace, args.command)
    };
    Ok(args.enclosed.apply(options))
}

/// The member of a closed list that an argument names; the argument's parser knows the same words.
fn named<T: Copy + Default, const N: usize>(all: [T; N], word: fn(T) -> &'static str, name: &str) -> T {
    all.into_iter().find(|member| word(*member) == name).unwrap_or_default()
}

/// Whether the desk judges: the argument, else the variable, else yes (10.1).
fn gated(argument: Option<&str>) -> Result<bool, String> {
    let variable = std::env::var_os("VACANT").filter(|value| !value.is_empty());
    let variable = variable.map(|value| value.to_string_lossy().into_owned());
    match argument.map(str::to_owned).or(variable).as_deref() {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => Err(format!("VACANT={}: 0 or 1 is needed", shown(other.as_bytes()))),
    }
}

fn print(report: &Report, json: bool) {
    if json {
        output::line(&String::from_utf8_lossy(&canon::canonical(&report.answer())));
    } else {
        output::rule("touchstone");
        for line in lines(report) {
            output::line(&line);
        }
    }
}

/// The answer, without the color of any one terminal in it but the verdict's.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let (word, tone) = word(report.stop);
    let mut lines = vec![format!("{}  {}", paint(word, tone), report.stop.code())];
    let mut say = |label: &str, text: String| lines.push(output::hanging(&format!("  {label:<9} "), &text));
    if let Some(judgement) = &report.judgement {
        // In a void run they are the trouble.
        let failures =
            judgement.failures.iter().filter(|_| report.trouble.is_none() || !report.stop.is_void());
        for failure in failures {
            say("failed", shown(failure.as_bytes()));
        }
        if !report.stop.is_void() {
            say("checks", checks(report.stop, judgement));
        }
    }
    if let Some(trouble) = &report.trouble {
        // What the desk itself could not do comes with ways to go on, behind bars.
        for (index, part) in trouble.split(" | ").enumerate() {
            say(if index == 0 { "trouble" } else { "go on" }, shown(part.as_bytes()));
        }
    }
    let given = report.summary.get("suite").is_some_and(|suite| *suite != Value::Null);
    if report.stop == StopReason::NoSuite && !given {
        say("go on", "give --suite DIR, or --allow-no-suite to say that nothing is measured".to_owned());
    }
    if report.max_attempts > 1 {
        say("attempts", format!("{} of at most {}", report.attempts_used, report.max_attempts));
    }
    say("agent", agent(report));
    for (label, text) in calls(report) {
        say(label, text);
    }
    for (label, text) in enclosed::lines(report) {
        say(label, text);
    }
    say("delivery", delivery(report));
    if let Some(level) = report.sandbox_level {
        say("sandbox", sandbox(level, report.why_not_full.as_deref()));
        if level != "none" && report.why_not_full.is_some() {
            say("go on", "see \"The sandbox says what it measured\" in README".to_owned());
        }
    }
    match report.head {
        Some(head) => {
            say("receipts", format!("{} entries in {}", report.entries_n, shown_path(report)));
            say("head", head.to_hex());
        }
        None => say("receipts", format!("none, by --vacant 0; the record is in {}", shown_path(report))),
    }
    lines
}

fn word(stop: StopReason) -> (&'static str, Tone) {
    match (stop.exit_code(), stop) {
        (_, StopReason::Ungated) => ("NOT JUDGED", Tone::Warn),
        (0, _) => ("ACCEPTED", Tone::Good),
        (20, _) => ("REFUSED", Tone::Bad),
        (21, _) => ("INCONCLUSIVE", Tone::Warn),
        _ => ("VOID", Tone::Warn),
    }
}

fn checks(stop: StopReason, judgement: &Judgement) -> String {
    let isolation = match judgement.isolation {
        "process" => "delivery in its own process",
        "in-process" => "delivery inside the checks' process",
        "command" => "commands",
        other => other,
    };
    match (judgement.passed, judgement.total) {
        (Some(passed), Some(total)) => format!("{passed} of {total} passed ({isolation})"),
        _ if stop == StopReason::VisiblePass => "passed by exit status; cases: not measured".to_owned(),
        _ => "cases: not measured".to_owned(),
    }
}

fn agent(report: &Report) -> String {
    let ended = match report.agent_rc {
        _ if report.agent_timed_out => "ended at its time limit".to_owned(),
        Some(code) if code < 0 => format!("ended by signal {} (decides nothing)", -code),
        Some(code) if report.head.is_none() => format!("exit code {code}"),
        Some(code) => format!("exit code {code} (decides nothing)"),
        None => "did not run to an end".to_owned(),
    };
    let strays = report.summary.get("orphans_killed").and_then(Value::as_bool) == Some(true);
    if strays { format!("{ended}; what it left running was ended") } else { ended }
}

/// What is known of the agent's model calls. A run without one says so aloud, and what to do.
fn calls(report: &Report) -> Vec<(&'static str, String)> {
    let counts = match &report.calls {
        Calls::NotRecorded => {
            let loud = paint("NOT RECORDED", Tone::Warn);
            return vec![("calls", format!("{loud} (--calls record, or --agent NAME)"))];
        }
        Calls::RecordChanged => {
            let loud = paint("NOT MEASURED", Tone::Warn);
            return vec![("calls", format!("{loud}: their record was changed"))];
        }
        Calls::Counted(counts) => counts,
    };
    let mut lines = vec![("calls", counted(counts))];
    // An agent that was never started asked nobody, and that is not its fault.
    if counts.model_succeeded() == 0 && report.attempts_used > 0 {
        let none =
            if counts.requests_seen() == 0 { "NO MODEL CALL WAS RECORDED" } else { "NO MODEL ANSWERED" };
        let then = if report.head.is_some() { ", and verify will say VOID" } else { "" };
        lines.push(("calls", format!("{}: this run is not mediated{then}", paint(none, Tone::Warn))));
        lines.extend(why_none(counts, report.tier.is_some()));
    }
    lines
}

/// Why no model answered, as far as the record says, and what helps.
fn why_none(counts: &wire::Counts, enclosed: bool) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if counts.requests_seen() == 0 {
        let why = "the agent may ignore the variables: see `touchstone agents`, --agent and --probe";
        lines.push(("go on", why.to_owned()));
        if !enclosed {
            lines.push(("go on", "an agent that asks no model runs with --calls ignore".to_owned()));
        }
        return lines;
    }
    for (error, n) in &counts.errors {
        lines.push(("calls", format!("{n} ended with {}", error.code())));
    }
    if counts.errors.contains_key(&wire::CallError::Sink) {
        let name = "say where the model is: OPENAI_BASE_URL, ANTHROPIC_BASE_URL or VACANT_RUN_UPSTREAM_OPENAI=URL; or \
                    --allow-public-upstream";
        lines.push(("go on", name.to_owned()));
    }
    lines
}

fn counted(counts: &wire::Counts) -> String {
    let answered = counts.model_succeeded();
    let failed = counts.model.all() - answered - counts.model.of(wire::Outcome::Blocked);
    let other = counts.other.all() - counts.other.of(wire::Outcome::Blocked);
    format!("{answered} of models answered, {failed} not; {other} others; {} blocked", counts.blocked())
}

fn delivery(report: &Report) -> String {
    let short = |digest: canon::Digest| digest.to_hex()[..12].to_owned();
    let Some(end) = report.ws_end_sha256_v2 else { return "not frozen".to_owned() };
    let start = report.ws_start_sha256_v2;
    if start == end {
        return format!("{}: the workspace did not change", short(start));
    }
    let counts = report.changes.as_ref().map_or_else(String::new, |changes| {
        let (added, changed, removed) = (changes.added.len(), changes.changed.len(), changes.removed.len());
        format!(": {added} added, {changed} changed, {removed} removed")
    });
    format!("{} -> {}{counts}", short(start), short(end))
}

fn sandbox(level: &str, why_not_full: Option<&str>) -> String {
    match (level, why_not_full) {
        ("none", _) => "none: not a sandbox, by your request".to_owned(),
        (level, Some(why)) => format!("{level}, not full: {}", shown(why.as_bytes())),
        (level, None) => format!("{level}, as measured"),
    }
}

fn shown_path(report: &Report) -> String {
    shown(report.run_dir.as_os_str().as_encoded_bytes())
}
