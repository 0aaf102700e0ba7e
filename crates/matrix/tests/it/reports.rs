//! Reports: the same facts three times, nothing of anybody else's is markup, and the page asks for nothing.

use crate::stage::{Stage, World, concluded, holdout, identity, linted, scenarios, t01, t02};
use canon::{Digest, Object, Reader, Value};
use matrix::gate::{CheckTotal, Judgement, Measure};
use matrix::mutation::{Gaps, Mutation, gaps};
use matrix::outcome::Twice;
use matrix::records::{Kind, Record};
use matrix::report::{Facts, html, json_lines, markdown};
use matrix::scenario::Set;
use matrix::stats::Share;
use matrix::unit::{enumerated, seeded};
use matrix::verdict::Conclusion;
use matrix::{At, Outcome, Scenario, Unit};
use std::collections::{BTreeMap, BTreeSet};
use verdict::report::{Check, Finding, Report};

/// A whole stage, invented: what a page looks like when there is much to say.
struct Sample {
    conclusion: Conclusion,
    outcomes: BTreeMap<Unit, Outcome>,
    records: Vec<Record>,
    mutations: Vec<Mutation>,
}

const STAGE: [(&str, &str, u64); 8] = [
    ("V01", "unattended homeostasis over 72 h", 259_200),
    ("V01b", "sleep, rest and the direction of comfort", 8_580),
    ("V02", "stale pending effects", 900),
    ("V03", "safety threshold noise and opposing direct control", 28_800),
    ("V08", "utility parameter grid", 120),
    ("V10", "failure budget across intents", 604_800),
    ("V19", "protected recovery", 60),
    ("V22a", "evidence splitting and the causal graph", 20),
];

/// Numbers that look drawn and are the same every time.
fn drawn(unit: &Unit, k: u64, n: u64) -> i64 {
    let (At::Index(number) | At::Chunk(number)) = unit.at;
    let seed = room::draw::seed(&unit.scenario, number);
    let who = unit.identity.bytes().map(u64::from).sum::<u64>();
    i64::try_from(room::draw::uniform(room::draw::draw(seed, who, k, 0), n)).unwrap()
}

fn outcome(unit: &Unit, ticks: u64) -> Outcome {
    let mut outcome = Outcome::new(unit);
    outcome.ticks = ticks;
    for number in 1..=10 {
        outcome.checked(&format!("INV-{number:02}"), ticks);
        outcome.checked(&format!("LIV-{number:02}"), if number == 7 { 0 } else { ticks });
    }
    let bell = |k: u64, n: u64| (0..6).map(|part| drawn(unit, 10 * k + part, n)).sum::<i64>();
    match unit.scenario.as_str() {
        "V01" => {
            outcome.count("drinks", 5 + drawn(unit, 1, 3));
            outcome.count("longest interval between drinks, ticks", 40_000 + bell(2, 2_500));
            outcome.count("sleep, share of ticks in µ", 396_000 + bell(3, 5_000));
            outcome.count(
                "least Energy, µ",
                348_000 + bell(4, 20_000) - if unit.identity == "niko" { 30_000 } else { 0 },
            );
            outcome.count("help messages", 0);
        }
        "V08" => outcome.count(
            "start_now of 200",
            if unit.identity == "mira" { 80 + bell(1, 6) } else { 15 + bell(1, 6) },
        ),
        "V10" => outcome.count("attempts", 2 + drawn(unit, 1, 2)),
        "V02" => outcome.count("ticks before danger when the backup took over", bell(1, 40)),
        _ => outcome.count("episodes", 1),
    }
    outcome.twice = Some(Twice { varied: vec!["order of the runs".into()], differs: None });
    outcome
}

fn units(id: &str) -> Vec<Unit> {
    match id {
        "V02" => enumerated(id, &["pending", "preparing", "running"], &["-"], 500),
        "V01b" | "V03" | "V22a" => enumerated(id, &["main"], &["mira"], 24),
        "V10" | "V19" => seeded(id, &["moving", "single"], &["mira"], 50..=69),
        _ => seeded(id, &["main"], &["mira", "niko"], 50..=149),
    }
}

fn sample(finding: Option<Finding>) -> Sample {
    let mut outcomes = BTreeMap::new();
    let mut judgements = Vec::new();
    let mut checks = vec![
        Check::new("FREEZE", "holdout seeds ran once, under a freeze record", 420, "runs"),
        Check::new("TWICE", "every run was made twice", 920, "runs"),
    ];
    for (id, title, ticks) in STAGE {
        let units = units(id);
        let mut totals: BTreeMap<String, CheckTotal> = BTreeMap::new();
        for unit in &units {
            let mut outcome = outcome(unit, ticks);
            if finding.is_some() && id == "V03" && drawn(unit, 9, 5) == 0 {
                outcome.fail("INV-09", Some(1_234), "risk_resubmitted");
            }
            for (check, made) in &outcome.checks {
                let total = totals.entry(check.clone()).or_default();
                total.made += made;
                total.runs += u64::from(*made > 0);
            }
            for failure in &outcome.failures {
                totals.entry(failure.check.clone()).or_default().failed += 1;
            }
            outcomes.insert(unit.clone(), outcome);
        }
        let n = units.len() as u64;
        let reached = [
            ("starving reserve", n),
            ("Safety episode", n / 3),
            ("blocked item", if id == "V19" { 0 } else { 2 }),
        ];
        let measures = match id {
            "V08" => vec![
                Measure::Difference {
                    name: "start_now at the first chance".into(),
                    one: ("mira".into(), Share { k: 9_517, n: 20_000 }),
                    other: ("niko".into(), Share { k: 2_954, n: 20_000 }),
                },
                Measure::Share { name: "survival failures".into(), share: Share { k: 0, n: 200 } },
            ],
            _ => Vec::new(),
        };
        let mut findings = Vec::new();
        if id == "V03" {
            findings.extend(finding.clone());
        }
        if id == "V19" && finding.is_some() {
            findings.push(Finding {
                reason: "matrix_not_reached",
                place: "blocked item".into(),
                detail: "no run reached it".into(),
                fails: false,
            });
        }
        checks.push(Check::new(id, title, n, "runs").with(findings.clone()));
        judgements.push(Judgement {
            id,
            title,
            planned: n,
            ran: n,
            ticks: n * ticks,
            checks: totals,
            reached: reached.into_iter().map(|(situation, runs)| (situation.to_owned(), runs)).collect(),
            findings,
            measures,
        });
    }
    let evidence =
        ["config", "gate", "outcomes", "replay"].map(|name| (name.to_owned(), Digest::of(name.as_bytes())));
    let subject = "room, stage 0, holdout set".to_owned();
    let report = Report { subject, layer: "matrix", grade: None, evidence: evidence.to_vec(), checks };
    let digest = Digest::of(b"outcomes");
    let outcomes_n = outcomes.len() as u64;
    let conclusion =
        Conclusion { report, judgements, outcomes_digest: digest, replay_digest: digest, outcomes_n };
    Sample { conclusion, outcomes, records: invented_records(), mutations: invented_mutations() }
}

fn invented_records() -> Vec<Record> {
    let record = |number: u64, kind, payload: Object| Record {
        number,
        kind,
        head: Digest::of(&number.to_be_bytes()),
        signer: "zQmdFkCQDAqfCiFBSkEajMVAkn5HtDW25oHhZLhsuHrEMoA".into(),
        ts_ms: 1_700_000_000_000,
        payload: payload.with("gate_hash", Digest::of(b"gate")),
    };
    let verdict = Object::new().with("reason", "matrix_pass");
    vec![
        record(1, Kind::Freeze, Object::new().with("config_hash", Digest::of(b"config"))),
        record(2, Kind::Holdout, Object::new().with("run_id", "8d3c").with("shard", "1/1")),
        record(
            3,
            Kind::Run,
            Object::new()
                .with("run_id", "8d3c")
                .with("verdict", verdict)
                .with("verdict_hash", "5d41402abc4b2a76"),
        ),
    ]
}

fn invented_mutations() -> Vec<Mutation> {
    let mutation = |name: &str, what: &str, planted: &str, by: &[&str], blamed: Option<&str>| Mutation {
        name: name.into(),
        what: what.into(),
        planted: planted.into(),
        caught_by: by.iter().map(|one| (*one).to_owned()).collect(),
        blamed: blamed.map(str::to_owned),
        beside: String::new(),
    };
    vec![
        mutation(
            "decay_off_by_one",
            "Energy falls one tick late",
            "P8 energy",
            &["V01", "V01b"],
            Some("P8 energy"),
        ),
        mutation(
            "wcet_not_checked",
            "a phase starts that cannot end in time",
            "P12 admission",
            &["V02"],
            Some("P12 admission"),
        ),
        mutation(
            "shared_stream",
            "exploration draws from the pool's stream",
            "P12 draw",
            &["V08"],
            Some("P12 choice"),
        ),
        mutation(
            "risk_again",
            "the queue submits a risky item again",
            "P13 queue",
            &["V03"],
            Some("P13 queue"),
        ),
        mutation("quiet_leak", "one draw is lost in the log", "P15 log", &[], None),
    ]
}

fn with_facts<T>(sample: &Sample, notes: &[String], make: impl Fn(&Facts<'_>) -> T) -> T {
    make(&Facts {
        conclusion: &sample.conclusion,
        outcomes: &sample.outcomes,
        records: &sample.records,
        mutations: &sample.mutations,
        command: &|unit| format!("touchstone matrix run --unit {unit}"),
        notes,
        ts_build: "2026-01-01T00:00:00Z",
    })
}

fn failed() -> Option<Finding> {
    Some(Finding {
        reason: "matrix_check_failed",
        place: "INV-09 risk_resubmitted: V03/main/mira/c2 at tick 1234".into(),
        detail: "5 times".into(),
        fails: true,
    })
}

/// Pages to look at: `MATRIX_PAGES=DIR cargo test -p matrix reports`.
#[test]
fn pages_have_everything() {
    for (name, finding) in [("pass", None), ("fail", failed())] {
        let sample = sample(finding);
        let notes = ["x86_64-linux; not run on s390x".to_owned()];
        let (page, text, lines) =
            with_facts(&sample, &notes, |facts| (html(facts), markdown(facts), json_lines(facts)));
        if let Some(folder) = std::env::var_os("MATRIX_PAGES").map(std::path::PathBuf::from) {
            std::fs::write(folder.join(format!("{name}.html")), &page).unwrap();
            std::fs::write(folder.join(format!("{name}.md")), &text).unwrap();
            std::fs::write(folder.join(format!("{name}.jsonl")), &lines).unwrap();
        }
        let lines = String::from_utf8(lines).unwrap();
        for text in [&page, &text, &lines] {
            for needed in [
                sample.conclusion.report.verdict_hash().as_str(),
                "V22a",
                "0.32815",
                "0.31962",
                "0.33660",
                "quiet",
                "simulated",
                "drinks",
                "starving reserve",
                "s390x",
                "2026-01-01",
            ] {
                assert!(text.contains(needed), "{name}: {needed}");
            }
            let command = "touchstone matrix run --unit V03/main/mira/c";
            assert_eq!(text.contains(command), name == "fail");
            assert!(text.contains(if name == "fail" { "fail" } else { "pass" }) || text.contains("green"));
        }
    }
}

#[test]
fn the_page_asks_for_nothing() {
    let page = with_facts(&sample(failed()), &[], html);
    for part in ["<script", "http:", "https:", "src=", "url(", "@import", "<link", "<iframe", "javascript:"] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("prefers-color-scheme: dark"));
    let opened = page.matches("<svg").count();
    assert!(opened >= 7 && opened == page.matches("</svg>").count(), "{opened}");
    for tag in ["section", "table", "details", "figure", "ul", "tr", "td", "div"] {
        let open = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

/// Every seed of a series is a dot of its own, with its name.
#[test]
fn every_seed_is_a_dot() {
    let page = with_facts(&sample(None), &[], html);
    let figure = page.split("<figcaption>").find(|part| part.starts_with("<b>V01</b> drinks")).unwrap();
    let figure = figure.split("</figure>").next().unwrap();
    assert_eq!(figure.matches("<circle").count(), 200);
    assert!(figure.contains("<title>V01/main/niko/149: "));
}

#[test]
fn nothing_of_anybody_elses_is_markup() {
    let mut sample = sample(failed());
    let hostile = "<script>alert(1)</script>\"'`|*_[x](http://h)\n# D9\x1b[2J\u{202e}&amp;";
    sample.conclusion.report.subject = hostile.into();
    sample.conclusion.judgements[0].reached.insert(hostile.into(), 1);
    sample.conclusion.judgements[0].checks.insert(hostile.into(), CheckTotal::default());
    for check in &mut sample.conclusion.report.checks {
        for finding in &mut check.findings {
            finding.place = hostile.into();
            finding.detail = hostile.into();
        }
    }
    sample.mutations[0].what = hostile.into();
    sample.mutations[0].planted = hostile.into();
    sample.mutations[0].blamed = Some(hostile.into());
    sample.records[1].payload.set("again", hostile);
    let some = sample.outcomes.values_mut().find(|outcome| outcome.is_failing()).unwrap();
    some.count(hostile, 1);
    some.failures[0].code = hostile.into();
    let notes = [hostile.to_owned()];
    let (page, text, lines) =
        with_facts(&sample, &notes, |facts| (html(facts), markdown(facts), json_lines(facts)));
    assert!(!page.contains("<script") && !page.contains('\x1b') && !page.contains('\u{202e}'));
    assert!(!page.contains("\"'`|") && page.contains("&lt;script&gt;"));
    assert!(
        !text.contains("<script>")
            && !text.contains("\n# D9")
            && !text.contains("[x](")
            && !text.contains('\x1b')
    );
    for line in String::from_utf8(lines).unwrap().lines() {
        let value = Reader::strict().read(line.as_bytes()).unwrap();
        assert!(value.get("kind").and_then(Value::as_str).is_some());
        assert_eq!(canon::canonical(&value), line.as_bytes());
    }
    let columns: BTreeSet<usize> = text
        .lines()
        .filter(|line| line.starts_with("| V03 |") && line.contains("yes"))
        .map(|line| line.replace("\\|", "").matches('|').count())
        .collect();
    assert_eq!(columns, BTreeSet::from([6]), "a cell stays a cell");
}

/// Of a real run: the report says what the verdict says, and the time does not reach it.
#[test]
fn a_real_run_is_reported() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let world = World::with("broken");
    let folder = stage.run(&holdout(&linted), "run", &world, 1);
    let conclusion = concluded(&linted, &folder, &world, Set::Holdout);
    let gate = holdout(&linted).definition().gate_hash();
    matrix::verdict::sign(&conclusion, folder.run_id(), gate, &mut stage.records(), identity()).unwrap();
    let records = stage.records();
    let report = |ts_build: &str| {
        let facts = Facts {
            conclusion: &conclusion,
            outcomes: folder.outcomes(),
            records: records.all(),
            mutations: &[],
            command: &|unit| format!("again {unit}"),
            notes: &[],
            ts_build,
        };
        (html(&facts), markdown(&facts), json_lines(&facts))
    };
    let (page, text, _) = report("T");
    assert!(text.contains("again T01/main/mira/53") && page.contains("again T01/main/niko/53"));
    assert!(text.contains("INV-01 two\\_bodies: T01/main/mira/53 at tick 7"), "{text}");
    assert!(text.contains("matrix_holdout") && text.contains("Not run for this report."));
    assert_eq!(report("T"), report("T"));
    assert_eq!(report("T").1.replace("Made T;", "Made U;"), report("U").1);
}

#[test]
fn a_report_of_nothing_is_a_report() {
    let scenarios = scenarios();
    let linted = linted(&scenarios);
    let outcomes = BTreeMap::new();
    let standing = crate::stage::standing(Set::Calibration);
    let conclusion = matrix::verdict::conclude(&linted, &World::default(), &outcomes, &standing).unwrap();
    assert_eq!(conclusion.report.colour().exit_code(), 2);
    let sample = Sample { conclusion, outcomes, records: Vec::new(), mutations: Vec::new() };
    let (page, text) = with_facts(&sample, &[], |facts| (html(facts), markdown(facts)));
    assert!(page.contains("Nothing was frozen") && text.contains("Nothing was frozen"));
    assert!(text.contains("matrix_scenario_not_run"));
}

/// A scenario that no fault turns red is a defect, and so is a fault that nothing catches.
#[test]
fn gaps_of_the_table_of_mutations_are_named() {
    let scenarios = [Scenario { mutations: &["broken", "panic"], ..t01() }, t02()];
    let linted = linted(&scenarios);
    let of = |name: &str, by: &[&str]| Mutation {
        name: name.into(),
        caught_by: by.iter().map(|one| (*one).to_owned()).collect(),
        ..Mutation::default()
    };
    let table = [of("broken", &["T01"]), of("panic", &[]), of("gate", &["T01"])];
    let expected = Gaps {
        uncaught: vec!["panic".into()],
        never_red: vec!["T02".into()],
        missed: vec!["T01: panic".into(), "T02: broken".into()],
    };
    assert_eq!(gaps(&linted, &table), expected);
    let whole = [of("broken", &["T01", "T02"]), of("panic", &["T01"])];
    assert_eq!(gaps(&linted, &whole), Gaps::default());
}
