//! Sentences for what keeps a matrix from running.

use ::matrix::Problem;
use std::path::Path;

/// What is wrong, what to do, and whether the command was wrong.
pub(super) fn say(problem: &Problem) -> (String, &'static str, bool) {
    let at =
        |path: &Path, what: &str| format!("{}: {what}", canon::shown(path.as_os_str().as_encoded_bytes()));
    let (said, hint, usage) = match problem {
        Problem::LintFailed(findings) => {
            (format!("{} findings of the lint", findings.len()), "`touchstone matrix lint` names them", false)
        }
        Problem::ScenarioUnknown(id) => (
            format!("no scenario {}", canon::shown(id.as_bytes())),
            "`touchstone matrix list` names them",
            true,
        ),
        Problem::NothingSelected => ("no run is selected".to_owned(), "take fewer conditions", true),
        Problem::NotFrozen(gate) => (
            format!("holdout seeds need a freeze record of gate {gate}"),
            "`touchstone matrix freeze` signs one, before the first holdout run",
            false,
        ),
        Problem::HoldoutSpent(record) => (
            format!("record {record} took these holdout seeds under the same freeze"),
            "go on in its folder, or give a reason with --again",
            false,
        ),
        Problem::OutcomesLost(signed, there) => (
            format!("{signed} outcomes are signed and {there} are in the folder"),
            "restore the folder; a run is not made again to look better",
            false,
        ),
        Problem::RecordBroken(path, code) => {
            (at(path, code), "restore the records; nothing runs beside a broken one", false)
        }
        Problem::RecordGap(number) => {
            (format!("record {number} is missing between others"), "restore the records", false)
        }
        Problem::NotSigned(_) => {
            ("the record does not fit into an entry".to_owned(), "nothing was signed", false)
        }
        Problem::OtherManifest(path, member) => {
            (at(path, &format!("a run of something else ({member})")), "choose another folder", true)
        }
        Problem::ForeignFolder(path) => (at(path, "no run folder"), "choose another folder", true),
        Problem::FolderLocked(path) => (at(path, "another process runs in it"), "wait for it", true),
        Problem::OutcomeUnreadable(path, number) => {
            (at(path, &format!("line {number} is no outcome")), "the folder was edited; restore it", false)
        }
        Problem::Contradiction(unit) => (
            format!("two different outcomes of {unit}"),
            "one of the folders was edited, or two engines ran",
            false,
        ),
        Problem::UnitUnknown(unit) => (
            format!("no run {}", canon::shown(unit.as_bytes())),
            "a run is SCENARIO/ARM/IDENTITY/INDEX",
            true,
        ),
        Problem::ShardMissing(missing) => {
            (format!("shards are missing: {missing:?}"), "give the folders of all shards", false)
        }
        Problem::NotRead(path, error) => (at(path, &error.to_string()), "give a path that can be read", true),
        Problem::NotWritten(path, error) => {
            (at(path, &error.to_string()), "give a path that can be written", false)
        }
        Problem::ThreadNotStarted(error) => (error.to_string(), "try fewer --threads", false),
    };
    (format!("{}: {said}", problem.code()), hint, usage)
}
