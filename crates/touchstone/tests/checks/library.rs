use super::{PATIENT, place, places};
use check::library::{Checked, PythonCheck, answer, judge_python, run_python_capture, run_python_check};
use check::{CheckInfraError, Detail, Place};
use std::time::Duration;
use vectors::{json, list, shared, text};

const ADD: &str = "def add(a, b):\n    return a + b\n";

fn names(case: &canon::Value, member: &str) -> Vec<String> {
    let listed = case.get("options").and_then(|options| options.get(member));
    listed.map_or_else(Vec::new, |listed| {
        listed.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    })
}

/// 51 cases, with the peer's answer, at the best level of this machine.
#[test]
fn the_peers_two_process_cases_have_the_peers_answers() {
    let Some(path) = shared("two_process_cases", "vectors/receiving-desk/checks/checks.json") else { return };
    let place = place();
    let all = json(&path);
    let cases = list(&all, "run_python");
    let mut wrong = Vec::new();
    for case in cases {
        let (imports, points) = (names(case, "allowed_imports"), names(case, "allowed_entry_points"));
        let given = case.get("options").and_then(|options| options.get("timeout")?.as_i64());
        let check = PythonCheck {
            timeout: given.map_or(PATIENT, |seconds| Duration::from_secs(seconds.unsigned_abs())),
            allowed_imports: &imports,
            allowed_entry_points: &points,
            ..PythonCheck::new(text(case, "candidate"), text(case, "test"))
        };
        let checked = judge_python(&place, &check).unwrap();
        if Some(checked.refused.is_none()) != case.get("ok").unwrap().as_bool() {
            wrong.push(format!("{}: {:?}", text(case, "name"), checked.refused));
        }
    }
    assert_eq!((cases.len(), wrong), (51, Vec::<String>::new()));
}

fn judge(place: &Place, candidate: &str, test: &str) -> Checked {
    judge_python(place, &PythonCheck { timeout: PATIENT, ..PythonCheck::new(candidate, test) }).unwrap()
}

fn detail(checked: &Checked) -> Option<Detail> {
    checked.refused.as_ref().map(|(detail, _)| *detail)
}

#[test]
fn every_level_gives_the_same_answers() {
    for place in places() {
        let level = place.level();
        assert_eq!(detail(&judge(&place, ADD, "assert add(2, 3) == 5")), None, "{level:?}");
        let wrong = judge(&place, ADD, "assert add(2, 3) == 6, 'six'");
        assert_eq!(wrong.refused, Some((Detail::TestFailed, "AssertionError: six".into())), "{level:?}");
        let exits = "def add(a, b):\n    raise SystemExit(0)\n";
        assert_eq!(
            detail(&judge(&place, exits, "assert add(2, 3) == 5")),
            Some(Detail::TestFailed),
            "{level:?}"
        );
    }
}

#[test]
fn each_refusal_has_its_code() {
    let place = place();
    let screened = judge(&place, "import os\ndef f():\n    return 1\n", "assert f() == 1");
    assert_eq!(screened.refused, Some((Detail::Screened, "the import os".into())));
    let nothing = PythonCheck { timeout: Duration::ZERO, ..PythonCheck::new(ADD, "pass") };
    assert_eq!(detail(&judge_python(&place, &nothing).unwrap()), Some(Detail::NoTime));
    let check = PythonCheck {
        timeout: Duration::from_millis(300),
        ..PythonCheck::new("def f():\n    return 1\n", "while True:\n    f()")
    };
    assert_eq!(detail(&judge_python(&place, &check).unwrap()), Some(Detail::TimedOut));
}

#[test]
fn inner_lists_change_in_place_and_tuples_pass_changes_on() {
    let candidate = "def f(x, *, k):\n    x[0].append(1)\n    k[0]['a'] = {2}\n    return x is k\n";
    let test =
        "inner = []\nd = {}\nassert f([inner], k=(d,)) is False\nassert inner == [1] and d == {'a': {2}}";
    assert_eq!(judge(&place(), candidate, test).refused, None);
}

#[test]
fn what_the_test_prints_is_captured_and_what_the_candidate_prints_is_not() {
    let place = place();
    let candidate = "print('loaded')\ndef f():\n    print('called')\n    return 1\n";
    let check = PythonCheck { timeout: PATIENT, ..PythonCheck::new(candidate, "print('value', f())") };
    assert_eq!(run_python_capture(&place, &check).unwrap(), Some(b"value 1\n".to_vec()));
    let failing = PythonCheck { test: "print('value', f())\nassert False", ..check };
    assert_eq!(run_python_capture(&place, &failing).unwrap(), None);
    assert!(!run_python_check(&place, &failing).unwrap());
}

#[test]
fn a_desk_that_cannot_start_python_measures_nothing() {
    let nowhere = || place().with_python(std::path::Path::new("/nonexistent/python3"));
    let check = PythonCheck::new(ADD, "assert add(2, 3) == 5");
    let error = run_python_check(&nowhere(), &check).unwrap_err();
    assert!(
        matches!(error, CheckInfraError::ToolMissing("python3") | CheckInfraError::NotStarted(_)),
        "{error}"
    );
    // A program that ends at once with the runner's own code for success is not a passed check.
    let ends = place().with_python(std::path::Path::new("/bin/true"));
    let error = run_python_check(&ends, &check).unwrap_err();
    assert!(matches!(error, CheckInfraError::NotStarted(_)), "{error}");
}

/// 15 answers under compiled checks, three of them with a test program.
#[test]
fn the_peers_compiled_checks_have_the_peers_answers() {
    let Some(path) = shared("compiled_checks", "vectors/receiving-desk/checks/checks.json") else { return };
    let place = place();
    let all = json(&path);
    let cases = list(&all, "compile_check");
    for case in cases {
        let compiled = suite::checks::compile(case.get("spec").unwrap()).unwrap();
        let seen = answer(&place, &compiled, text(case, "answer")).unwrap();
        assert_eq!(seen, case.get("ok").unwrap().as_bool(), "{}", text(case, "name"));
    }
    assert_eq!(cases.len(), 15);
}
