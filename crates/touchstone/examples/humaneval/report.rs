//! What was found, as lines, as evidence and as a page.

use crate::bank::Bank;
use crate::cases::Case;
use crate::executors::Mutation;
use crate::gauged::{Gauged, STUBS};
use crate::{MUTANTS_MAX, TIMEOUT};
use canon::{Object, compact_ascii};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const SOURCE: &str = "target/release/examples/humaneval HumanEval.jsonl.gz";

/// All figures of one run.
pub(crate) struct Report {
    pub(crate) level: String,
    pub(crate) bank: Bank,
    pub(crate) gauged: Gauged,
    pub(crate) mutation: Mutation,
    pub(crate) cases: Vec<Case>,
    /// Seconds of each round with reused and with fresh workers.
    pub(crate) seconds: [Vec<f64>; 2],
}

impl Report {
    /// One finding a line, each count with what it is of.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (all, n) = (self.bank.len(), self.bank.problems.len());
        let mut lines = vec![format!("converted: {n} of {all}")];
        lines.extend(self.bank.unable.iter().map(|(name, why)| format!("not converted: {name}: {why}")));
        let Gauged { reference_passed, ok_default, ok_all, .. } = self.gauged;
        lines.push(format!("published solution accepted: {reference_passed} of {n} suites"));
        lines.push(format!("gauge passes with the default stub: {ok_default} of {n} suites"));
        lines.push(format!("gauge passes with all {} stubs: {ok_all} of {n} suites", STUBS.len()));
        for (stub, through) in STUBS.iter().zip(self.gauged.let_through) {
            lines.push(format!("stub that returns {stub}: let through by {through} of {n} suites"));
        }
        for (name, stubs) in &self.gauged.leaks {
            lines.push(format!("{name} lets through: {}", stubs.join(", ")));
        }
        let Mutation { killed, made, accepted, unstable } = self.mutation;
        lines.push(format!(
            "mutants refused: {killed} of {made}; published solutions accepted: {accepted} of {n}"
        ));
        lines.push(format!("drafts of which three honest runs differ: {unstable}, not in the cases"));
        lines.extend(self.cases.iter().map(Case::line));
        for (how, seconds) in ["reused", "fresh"].iter().zip(&self.seconds) {
            let median = median(seconds);
            lines.push(format!(
                "quorum of 3 over {n} problems, {how} workers: {median:.1} s (n {}, {})",
                seconds.len(),
                spread(seconds)
            ));
        }
        lines
    }

    /// The page.
    pub(crate) fn markdown(&self, day: u64) -> String {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let n = self.bank.problems.len();
        let mut page = String::from(HEAD);
        page += &format!(
            "\nSandbox level {}, {cores} cores, {} s for a candidate. The lines below as printed, with their time: [quorum-humaneval.jsonl](quorum-humaneval.jsonl) (`measure_ts` {day}).\n",
            self.level.to_lowercase(),
            TIMEOUT.as_secs()
        );
        page += &format!("\n## Suites\n\n{n} of {} problems convert. Not:\n\n", self.bank.len());
        for (name, why) in &self.bank.unable {
            page += &format!("* {name}: {why}\n");
        }
        page += &format!(
            "\nThe published solution is accepted by {} of {n} suites; with the default stub alone the gauge passes for {} of {n}, with all\n{} stubs for {} of {n}.\n\n| a stub that returns | let through, of {n} suites |\n|---|--:|\n",
            self.gauged.reference_passed,
            self.gauged.ok_default,
            STUBS.len(),
            self.gauged.ok_all
        );
        for (stub, through) in STUBS.iter().zip(self.gauged.let_through) {
            page += &format!("| {stub} | {through} |\n");
        }
        for (name, stubs) in &self.gauged.leaks {
            page += &format!("\n{name} lets through: {}.\n", stubs.join(", "));
        }
        let Mutation { killed, made, unstable, .. } = self.mutation;
        page += &format!(
            "\nMutants: at most {MUTANTS_MAX} of a problem, evenly from its ordered list. The suites refuse {killed} of {made}.\n"
        );
        page += &format!(
            "Drafts of which the three honest runs saw different things, which are in no case: {unstable}.\n"
        );
        page += CASES_HEAD;
        self.cases.iter().for_each(|case| page += &case.row());
        page += CASES_TAIL;
        for (how, seconds) in ["reused (forked)", "fresh"].iter().zip(&self.seconds) {
            let median = median(seconds);
            let met = if median < 60.0 { "met" } else { "**missed**" };
            page += &format!(
                "| {how} | {} | {median:.1} | {} | under 60 s, {met} |\n",
                seconds.len(),
                spread(seconds)
            );
        }
        page
    }

    /// Writes the page and the evidence into a folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let evidence = |printed: String| {
            let line = Object::new()
                .with("evidence_class", "measured")
                .with("measure_source", SOURCE)
                .with("measure_ts", i64::try_from(now).unwrap_or(i64::MAX))
                .with("printed", printed);
            compact_ascii(&line.into()).into_iter().chain([b'\n']).collect::<Vec<u8>>()
        };
        let lines: Vec<u8> = self.lines().into_iter().flat_map(evidence).collect();
        for (name, bytes) in
            [("quorum-humaneval.jsonl", lines), ("quorum-humaneval.md", self.markdown(now).into_bytes())]
        {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

impl Case {
    fn line(&self) -> String {
        let Case { name, n, right, undecided, lies, liar_named, honest_named } = self;
        format!(
            "{name}: right {right} of {n}, undecided {undecided} of {n}, liars named {liar_named} of {lies}, an honest one named {honest_named} of {n}"
        )
    }

    fn row(&self) -> String {
        let Case { name, n, right, undecided, lies, liar_named, honest_named } = self;
        format!(
            "| {name} | {right} of {n} | {undecided} of {n} | {liar_named} of {lies} | {honest_named} of {n} |\n"
        )
    }
}

fn sorted(seconds: &[f64]) -> Vec<f64> {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(seconds: &[f64]) -> f64 {
    sorted(seconds).get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

fn spread(seconds: &[f64]) -> String {
    let sorted = sorted(seconds);
    let end = |second: Option<&f64>| second.map_or_else(String::new, |second| format!("{second:.1}"));
    format!("{} to {}", end(sorted.first()), end(sorted.last()))
}

const HEAD: &str = "\
# HumanEval before three executors, some of whom lie

Generated by `cargo run --release -p touchstone --example humaneval -- HumanEval.jsonl.gz docs`: do not edit. The data is the public
set of github.com/openai/human-eval. `examples/humaneval/specs.py` makes a suite of data of each problem whose checks are plain comparisons.
";

const CASES_HEAD: &str = "
## Who is named

A draft is a published solution or a mutant. Each of three executors, with processes of its own, really runs each draft once; every
case signs from these same runs, with fresh keys and chains, and a liar signs something else than its own run. The right verdict is what the three runs saw.
*Liars named* is of the drafts about which somebody lied: in c a draft that passes has no failing test to lie about. The suites
are admitted without their gauge records.

| case | verdict right | undecided | liars named | an honest one named |
|---|--:|--:|--:|--:|
";

const CASES_TAIL: &str = "
One liar of three changes no verdict and is named each time that it lies. **Two who tell the same lie decide, are not named,
and the honest one stands there as the dissenter**: a quorum of three bears one liar (`corrupt_tolerated` in every
verdict), and nothing in the verdict tells that there were two.

## Time

Three executors at once, each runs and signs all published solutions, then the verdicts are formed. The sandbox is established before.

| workers | n | median, s | spread, s | target |
|---|--:|--:|--:|--:|
";
