//! `--probe`: the command runs until it first asks a model, to see whether it asks through the desk. No call leaves this
//! machine, so it costs nothing and the agent is told nothing that it could act on.

use crate::exit;
use crate::output::{self, Tone, paint};
use canon::{Object, Reader, shown};
use desk::run::{Event, Options, Report, Retry, RunError};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use verdict::StopReason;
use wire::{Class, Row};

/// A limit for commands that never ask, where the user sets none.
const LIMIT_MS: u64 = 120_000;

/// What a probe finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// A call of a model came to the proxy.
    Through,
    /// Nothing came.
    NotSeen,
    /// Calls came, none of a model.
    OnlyOthers,
    /// The command was not started, or not to its end.
    NotMeasured,
}

impl Finding {
    fn word(self) -> &'static str {
        match self {
            Finding::Through => "through",
            Finding::NotSeen => "not_seen",
            Finding::OnlyOthers => "only_others",
            Finding::NotMeasured => "not_measured",
        }
    }

    fn exit_code(self) -> u8 {
        match self {
            Finding::Through => exit::OK,
            Finding::NotSeen => exit::FAILED,
            Finding::OnlyOthers => 2,
            Finding::NotMeasured => StopReason::DeskFault.exit_code(),
        }
    }
}

/// Runs the command of `options` once and says what came to the proxy.
pub(super) fn probe(options: Options, json: bool) -> u8 {
    let place = match tempfile::tempdir() {
        Ok(place) => place,
        Err(error) => return not_started(&format!("no temporary folder: {error}")),
    };
    let stopped_by_us = AtomicBool::new(false);
    let options = Options {
        run_dir: Some(place.path().join("run")),
        suite: None,
        allow_no_suite: true,
        gated: false,
        retry: Retry::None,
        max_attempts: None,
        record_calls: true,
        // Every call is answered here with 429.
        max_calls: Some(0),
        timeout_ms: options.timeout_ms.or(Some(LIMIT_MS)),
        capture_stdout: true,
        ..options
    };
    let ran = desk::run::run(&options, &|event| {
        if let Event::ModelCall { model: true, .. } = event {
            stopped_by_us.store(true, Ordering::Relaxed);
            options.interrupted.store(true, Ordering::Relaxed);
        }
    });
    match ran {
        Ok(report) => {
            let rows = rows(&report.run_dir);
            let finding = finding(&report, &rows, stopped_by_us.load(Ordering::Relaxed));
            say(finding, &report, &rows, options.agent.is_none(), json);
            finding.exit_code()
        }
        Err(RunError::Usage(error)) => output::usage(&error.to_string()),
        Err(error) => not_started(&error.to_string()),
    }
}

fn not_started(why: &str) -> u8 {
    let _ = writeln!(std::io::stderr().lock(), "touchstone: void: {why}");
    Finding::NotMeasured.exit_code()
}

fn finding(report: &Report, rows: &[Row], stopped_by_us: bool) -> Finding {
    if rows.iter().any(|row| row.class == Class::Model) {
        Finding::Through
    } else if report.stop.is_void() && !stopped_by_us {
        Finding::NotMeasured
    } else if rows.is_empty() {
        Finding::NotSeen
    } else {
        Finding::OnlyOthers
    }
}

/// The calls of the run.
fn rows(run_dir: &Path) -> Vec<Row> {
    let index = std::fs::read(run_dir.join("wire_RUN-OFF/index.jsonl")).unwrap_or_default();
    let lines = index.split(|byte| *byte == b'\n').filter_map(|line| Reader::strict().read(line).ok());
    lines.filter_map(|line| Row::read(&line).ok()).collect()
}

fn say(finding: Finding, report: &Report, rows: &[Row], no_preset: bool, json: bool) {
    let first = rows.iter().find(|row| row.class == Class::Model);
    if json {
        let answer = Object::new()
            .with("v", 1_i64)
            .with("probe", finding.word())
            .with("wire", first.map(|row| row.wire.code()))
            .with("protocol", first.map(|row| row.protocol.code()))
            .with("method", first.map(|row| row.method.as_str()))
            .with("path", first.map(|row| row.path.as_str()))
            .with("requests_seen", rows.len() as u64)
            .with("agent_rc", report.agent_rc)
            .with("agent_timed_out", report.agent_timed_out)
            .with("exit_code", i64::from(finding.exit_code()));
        return output::line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    }
    let label = |label: &str, text: &str| output::line(&output::hanging(&format!("  {label:<9} "), text));
    let (word, tone) = match finding {
        Finding::Through => ("THROUGH THE DESK", Tone::Good),
        Finding::NotSeen => ("NOT SEEN", Tone::Bad),
        Finding::OnlyOthers => ("NO MODEL WAS ASKED", Tone::Warn),
        Finding::NotMeasured => ("NOT MEASURED", Tone::Warn),
    };
    output::line(&paint(word, tone));
    match first {
        Some(row) => {
            let path = shown(row.path.as_bytes());
            label(
                "call",
                &format!("{} {path} ({}), answered here with 429", row.method, row.protocol.code()),
            );
        }
        None => label("calls", &format!("{} came, none asks a model", rows.len())),
    }
    if let Some(trouble) = report.trouble.as_ref().filter(|_| finding == Finding::NotMeasured) {
        label("trouble", &shown(trouble.as_bytes()));
    }
    if finding == Finding::NotSeen {
        let ended = if report.agent_timed_out { "was ended at its limit" } else { "ended by itself" };
        label("agent", &format!("it {ended}; if it asked a model, then not through us"));
        if no_preset {
            label("go on", "it may ignore the variables: see `touchstone agents` and --agent");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_its_own_exit_code() {
        let all = [Finding::Through, Finding::NotSeen, Finding::OnlyOthers, Finding::NotMeasured];
        assert_eq!(all.map(Finding::exit_code), [0, 1, 2, 22]);
        assert_eq!(all.map(Finding::word), ["through", "not_seen", "only_others", "not_measured"]);
    }
}
