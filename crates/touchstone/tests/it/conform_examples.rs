//! The graded runtimes under `examples/conform`: each row that a page publishes, through the built binary.

use std::path::PathBuf;
use std::process::Command;

/// The rows of the tables of a page: the cells of each line that begins with a name in code.
fn rows(page: &str) -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(folder().join(page)).unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>();
    let rows = text.lines().filter(|line| line.starts_with("| `")).map(cells);
    rows.map(|cells| [1, 2, 3].map(|index| cells[index].clone())).collect()
}

fn folder() -> PathBuf {
    vectors::repository().join("examples/conform")
}

/// Grades the example and holds every line against its page; `grades` are those that the overview repeats.
fn example(test: &str, name: &str, grades: &[(&str, &str)]) {
    let Some(python) = std::env::var_os("TOUCHSTONE_CONFORM_PYTHON") else {
        vectors::skip(
            test,
            "TOUCHSTONE_CONFORM_PYTHON names no Python with examples/conform/requirements.txt",
        );
        return;
    };
    let mut run = Command::new("sh");
    run.arg(folder().join("run.sh")).arg(name).env("TOUCHSTONE_CONFORM_PYTHON", python);
    run.env("TOUCHSTONE", env!("CARGO_BIN_EXE_touchstone"));
    let output = run.output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");

    let published = rows(&format!("{name}/README.md"));
    assert!(!published.is_empty(), "{name}: no row is published");
    for [case, grade, reasons] in &published {
        let (start, end) = (format!("{name:<13} {case:<22} "), format!(" {grade} {reasons}"));
        let graded = said.lines().any(|line| line.starts_with(&start) && line.ends_with(&end));
        let passed_over = case.starts_with("published ") && said.contains("SKIPPED");
        assert!(graded || passed_over, "{name}: {case}: not {grade} {reasons} in\n{said}");
    }
    let overview = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let row = overview.lines().find(|line| line.contains(&format!("({name}/README.md)"))).unwrap();
    for (case, grade) in grades {
        assert!(published.iter().any(|[known, given, _]| known == case && given == grade), "{case}: {grade}");
        assert!(row.contains(&format!("`{grade}`")), "{row}");
    }
}

#[test]
fn vacant_peer_example() {
    let test = "vacant_peer_example";
    // The page also grades published runs; without them the rest is graded all the same.
    let _ = vectors::shared(test, "vectors/receiving-desk/runs");
    example(test, "vacant-peer", &[("run directory", "incompatible"), ("receipts_RUN-ON.ndjson", "sampled")]);
}

#[test]
fn pytest_junit_example() {
    example("pytest_junit_example", "pytest-junit", &[("as published", "full")]);
}

#[test]
fn langgraph_example() {
    example("langgraph_example", "langgraph", &[("as published", "sampled")]);
}

#[test]
fn pydantic_ai_example() {
    example("pydantic_ai_example", "pydantic-ai", &[("as published", "sampled")]);
}
