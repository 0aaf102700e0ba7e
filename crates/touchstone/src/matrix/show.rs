//! `matrix list` and `matrix lint`.

use super::{Stage, print_json};
use crate::exit;
use crate::output::{Tone, hanging, line, paint};
use ::matrix::scenario::{Choice, Set};
use ::matrix::scenarios::Rooms;
use ::matrix::{Problem, Scenario};
use canon::Object;

/// The stage that this binary has.
const STAGE: u8 = 0;

pub(super) fn list(json: bool) -> u8 {
    let scenarios = Stage::new().scenarios;
    let runs =
        |scenario: &Scenario<Rooms>, set| (scenario.units)(&Choice { set, exhaustive: false }).len() as u64;
    if json {
        let object = |scenario: &Scenario<Rooms>| {
            Object::new()
                .with("id", scenario.id)
                .with("title", scenario.title)
                .with("runs_calibration", runs(scenario, Set::Calibration))
                .with("runs_holdout", runs(scenario, Set::Holdout))
                .with("checks", scenario.checks.iter().map(|check| check.id).collect::<Vec<_>>())
                .with("needs", scenario.needs.to_vec())
                .with("mutations", scenario.mutations.to_vec())
        };
        print_json(
            Object::new()
                .with("stage", u64::from(STAGE))
                .with("scenarios", scenarios.iter().map(object).collect::<Vec<_>>()),
        );
        return exit::OK;
    }
    for scenario in &scenarios {
        let (calibration, holdout) = (runs(scenario, Set::Calibration), runs(scenario, Set::Holdout));
        line(&format!("{:<6} {}", paint(scenario.id, Tone::Good), scenario.title));
        line(&format!(
            "       runs: {calibration} calibration, {holdout} holdout; checks: {}",
            scenario.checks.len()
        ));
        line(&hanging("       must reach: ", &scenario.needs.join(", ")));
        line(&hanging("       planted faults it catches: ", &scenario.mutations.join(", ")));
    }
    exit::OK
}

pub(super) fn lint(json: bool) -> Result<u8, Problem> {
    let stage = Stage::new();
    let found = stage.lint(STAGE).err().unwrap_or_default();
    if json {
        let finding = |finding: &::matrix::lint::Finding| {
            Object::new()
                .with("scenario", finding.scenario.as_str())
                .with("reason", finding.fault.code())
                .with("place", finding.place.as_str())
        };
        print_json(Object::new().with("findings", found.iter().map(finding).collect::<Vec<_>>()));
    } else {
        for finding in &found {
            line(&format!(
                "{} {} at {}",
                finding.scenario,
                finding.fault.code(),
                canon::shown(finding.place.as_bytes())
            ));
        }
        let word = if found.is_empty() { paint("OK", Tone::Good) } else { paint("REFUSED", Tone::Bad) };
        line(&format!("{word}  scenarios {}, findings {}", stage.scenarios.len(), found.len()));
    }
    Ok(if found.is_empty() { exit::OK } else { exit::FAILED })
}
