//! One page that needs nothing else: no script, no request, both colour schemes, a phone or a wide screen.

use super::markdown::says;
use super::{Facts, MUTATION_COLUMNS, MUTATIONS_FROM, grouped, interval, signed, svg, word};
use crate::records::Kind;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($part:tt)*) => {{
        let _ = write!($out, $($part)*);
    }};
}

/// The report as a page.
pub fn html(facts: &Facts<'_>) -> String {
    let report = &facts.conclusion.report;
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    // The page could not ask for anything if it wanted to.
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
    );
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    let title = format!("{}: {}", word(report.colour()), report.subject);
    put!(out, "<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n", escape(&title));
    head(&mut out, facts);
    out.push_str("<main>\n");
    scenarios(&mut out, facts);
    findings(&mut out, facts);
    failing(&mut out, facts);
    measures(&mut out, facts);
    distributions(&mut out, facts);
    coverage(&mut out, facts);
    checks(&mut out, facts);
    mutations(&mut out, facts);
    records(&mut out, facts);
    out.push_str("</main>\n");
    foot(&mut out, facts);
    out.push_str("</body>\n</html>\n");
    out
}

/// Text that is no markup. What a terminal or the direction of the line would obey is written as a code.
pub(super) fn escape(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for ch in canon::shown(text.as_bytes()).chars() {
        match ch {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            ch => out.push(ch),
        }
    }
    out
}

fn head(out: &mut String, facts: &Facts<'_>) {
    let report = &facts.conclusion.report;
    let colour = report.colour();
    let judgements = &facts.conclusion.judgements;
    let holds = judgements.iter().filter(|one| facts.came(one).word() == "holds").count();
    put!(out, "<header class=\"{}\">\n<div class=\"wide\">\n", colour.word());
    put!(
        out,
        "<p class=\"verdict\"><strong>{}</strong> <span>exit {}</span></p>\n",
        word(colour),
        colour.exit_code()
    );
    put!(out, "<h1>{}</h1>\n<dl class=\"key\">\n", escape(&report.subject));
    let mut fact = |name: &str, value: String| put!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>\n");
    fact("scenarios that hold", format!("{holds} of {}", judgements.len()));
    fact("runs", grouped(facts.conclusion.outcomes_n));
    fact("simulated ticks", grouped(facts.ticks()));
    fact("failing runs", grouped(facts.failing().1 as u64));
    fact("verdict hash", format!("<code>{}</code>", report.verdict_hash()));
    fact("evidence class", "simulated".to_owned());
    out.push_str("</dl>\n");
    let parts = [
        ("scenarios", "Scenarios"),
        ("findings", "Findings"),
        ("distributions", "Distributions"),
        ("coverage", "Situations"),
        ("checks", "Checks"),
        ("mutations", "Planted faults"),
        ("records", "Records"),
    ];
    let links = parts.map(|(id, name)| format!("<a href=\"#{id}\">{name}</a>")).join("\n");
    put!(out, "<nav>\n{links}\n</nav>\n</div>\n</header>\n");
}

fn section(out: &mut String, id: &str, title: &str, words: &str) {
    put!(out, "<section id=\"{id}\">\n<h2>{title}</h2>\n");
    if !words.is_empty() {
        put!(out, "<p class=\"note\">{words}</p>\n");
    }
}

/// Rows whose cells know their heading: on a phone each row is a card. Cells are markup already; a column of numbers stands
/// at the right.
fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    grid(out, "scroll", head, rows);
}

/// The same with `scroll tight` for rows that are narrow enough to stay rows on a phone.
fn grid(out: &mut String, class: &str, head: &[&str], rows: &[Vec<String>]) {
    let is_number = |cell: &&str| cell.starts_with(|ch: char| ch.is_ascii_digit() || ch == '\u{2212}');
    // A word that stands for a number does not move the others.
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(String::as_str);
    let numbers = |column: usize| {
        cells(column).any(|cell| is_number(&cell))
            && cells(column)
                .filter(|cell| !cell.starts_with("<span class=\"pill"))
                .all(|cell| is_number(&cell))
    };
    let classes: Vec<&str> = (0..head.len()).map(|column| if numbers(column) { "n" } else { "" }).collect();
    put!(out, "<div class=\"{class}\"><table>\n<thead><tr>");
    for (name, class) in head.iter().zip(&classes) {
        put!(out, "<th scope=\"col\" class=\"{class}\">{name}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for ((name, class), cell) in head.iter().zip(&classes).zip(row) {
            let class = if cell.is_empty() { "e" } else { class };
            put!(out, "<td data-k=\"{name}\" class=\"{class}\"><div>{cell}</div></td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// A word with a sign and a colour.
fn pill(word: &str) -> String {
    let (class, sign) = match word {
        "holds" => ("green", "\u{2713}"),
        "failed" => ("red", "\u{2717}"),
        _ => ("yellow", "\u{25cb}"),
    };
    format!("<span class=\"pill {class}\">{sign} {word}</span>")
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

fn scenarios(out: &mut String, facts: &Facts<'_>) {
    section(out, "scenarios", "Scenarios", "");
    let head = ["scenario", "what", "outcome", "runs", "ticks", "real checks", "failures", "situations"];
    let mut rows = Vec::new();
    for judgement in &facts.conclusion.judgements {
        let (made, failed) = judgement.totals();
        let reached = judgement.reached.values().filter(|runs| **runs > 0).count();
        rows.push(vec![
            format!("<b>{}</b>", escape(judgement.id)),
            escape(judgement.title),
            pill(facts.came(judgement).word()),
            format!("{} of {}", grouped(judgement.ran), grouped(judgement.planned)),
            grouped(judgement.ticks),
            grouped(made),
            grouped(failed),
            format!("{reached} of {}", judgement.reached.len()),
        ]);
    }
    table(out, &head, &rows);
    out.push_str("</section>\n");
}

fn findings(out: &mut String, facts: &Facts<'_>) {
    section(out, "findings", "Findings", "");
    let checks = &facts.conclusion.report.checks;
    let mut rows = Vec::new();
    for (check, finding) in checks.iter().flat_map(|check| check.findings.iter().map(move |one| (check, one)))
    {
        rows.push(vec![
            format!("<b>{}</b>", escape(check.id)),
            pill(if finding.fails { "failed" } else { "lowers" }),
            code(finding.reason),
            escape(&finding.place),
            escape(&finding.detail),
        ]);
    }
    if rows.is_empty() {
        out.push_str("<p>None: every scenario of the stage ran whole, twice, and holds.</p>\n");
    } else {
        table(out, &["where", "weight", "reason", "place", "detail"], &rows);
    }
    out.push_str("</section>\n");
}

fn failing(out: &mut String, facts: &Facts<'_>) {
    let (listed, n) = facts.failing();
    if n == 0 {
        return;
    }
    section(out, "failing", "Failing runs", "Each command makes its run again, tick by tick.");
    out.push_str("<ul class=\"failing\">\n");
    for one in &listed {
        let (unit, what, command) = (escape(&one.unit), escape(&one.what), escape(&one.command));
        put!(out, "<li><b>{unit}</b> <span>{what}</span><pre><code>{command}</code></pre></li>\n");
    }
    out.push_str("</ul>\n");
    if n > listed.len() {
        put!(out, "<p class=\"note\">{} more are in the run folder.</p>\n", n - listed.len());
    }
    out.push_str("</section>\n");
}

fn measures(out: &mut String, facts: &Facts<'_>) {
    let measured = facts.measured();
    if measured.is_empty() {
        return;
    }
    let words = "Wilson intervals of shares and Newcombe-Wilson intervals of differences, 95 %, computed of the counts.";
    section(out, "measures", "Measures", words);
    let row = |one: &super::Measured<'_>| {
        vec![
            format!("<b>{}</b>", escape(one.scenario)),
            escape(one.name()),
            escape(&one.counts()),
            one.interval.map_or_else(|| "of nothing".to_owned(), |value| escape(&interval(value))),
            svg::bar(one),
        ]
    };
    let rows: Vec<Vec<String>> = measured.iter().map(row).collect();
    table(out, &["scenario", "measure", "counts", "value and bounds", "interval"], &rows);
    out.push_str("</section>\n");
}

fn distributions(out: &mut String, facts: &Facts<'_>) {
    let words = "Every run is a dot; the shaded part is the middle half of the runs, the line the median.";
    section(out, "distributions", "Distributions over all seeds", words);
    let (same, vary): (Vec<_>, Vec<_>) = facts.series().into_iter().partition(|one| one.constant().is_some());
    out.push_str("<div class=\"plots\">\n");
    for series in &vary {
        let (scenario, name) = (escape(&series.scenario), escape(&series.name));
        put!(
            out,
            "<figure><figcaption><b>{scenario}</b> {name}</figcaption>{}</figure>\n",
            svg::strip(series)
        );
    }
    out.push_str("</div>\n");
    if !same.is_empty() {
        put!(out, "<details><summary>{} counts are the same in every run</summary>\n", same.len());
        let row = |series: &super::Series| {
            let value = series.constant().map(signed).unwrap_or_default();
            vec![escape(&series.scenario), escape(&series.name), value, grouped(series.len() as u64)]
        };
        table(out, &["scenario", "count", "value", "runs"], &same.iter().map(row).collect::<Vec<_>>());
        out.push_str("</details>\n");
    } else if vary.is_empty() {
        out.push_str("<p>No scenario counted anything.</p>\n");
    }
    out.push_str("</section>\n");
}

fn coverage(out: &mut String, facts: &Facts<'_>) {
    let words = "A run in which nothing happened shows nothing. What a scenario must reach and no run reached keeps it yellow.";
    section(out, "coverage", "Situations reached", words);
    let mut rows = Vec::new();
    for judgement in &facts.conclusion.judgements {
        for (situation, runs) in &judgement.reached {
            let share = (100 * runs).checked_div(judgement.ran).unwrap_or_default();
            let class = if *runs == 0 { "meter never" } else { "meter" };
            let text = if *runs == 0 {
                "never".to_owned()
            } else {
                format!("{} of {}", grouped(*runs), grouped(judgement.ran))
            };
            rows.push(vec![
                format!("<b>{}</b>", escape(judgement.id)),
                escape(situation),
                format!("<span class=\"{class}\"><i style=\"width:{share}%\"></i></span> {text}"),
            ]);
        }
    }
    grid(out, "scroll tight", &["scenario", "situation", "runs that reached it"], &rows);
    out.push_str("</section>\n");
}

fn checks(out: &mut String, facts: &Facts<'_>) {
    let words = "How often each check was really made. A check that had nothing to look at is unchecked, and no pass.";
    section(out, "checks", "Checks", words);
    for judgement in &facts.conclusion.judgements {
        let (made, failed) = judgement.totals();
        let n = judgement.checks.len();
        let open = if failed > 0 { " open" } else { "" };
        let id = escape(judgement.id);
        let (made, failed) = (grouped(made), grouped(failed));
        put!(
            out,
            "<details{open}><summary><b>{id}</b> {n} checks, really made {made} times, failed {failed} times</summary>\n"
        );
        let row = |(check, total): (&String, &crate::gate::CheckTotal)| {
            let made = if total.made == 0 { pill("unchecked") } else { grouped(total.made) };
            let runs = format!("{} of {}", grouped(total.runs), grouped(judgement.ran));
            vec![
                format!("<b>{}</b>", escape(check)),
                made,
                runs,
                grouped(total.failed),
                grouped(total.allowed),
            ]
        };
        let rows: Vec<Vec<String>> = judgement.checks.iter().map(row).collect();
        grid(out, "scroll tight", &["check", "really made", "in runs", "failed", "allowed"], &rows);
        out.push_str("</details>\n");
    }
    out.push_str("</section>\n");
}

fn mutations(out: &mut String, facts: &Facts<'_>) {
    let all = facts.mutations;
    let caught = all.iter().filter(|one| one.is_caught()).count();
    let right = all.iter().filter(|one| one.is_blamed_right()).count();
    let words = match all.len() {
        0 => "Not run for this report.".to_owned(),
        n => format!(
            "{caught} of {n} turned a scenario red, {right} were blamed on the place where they were planted. {MUTATIONS_FROM}"
        ),
    };
    section(out, "mutations", "Planted faults", &words);
    if !all.is_empty() {
        let row = |one: &crate::mutation::Mutation| {
            let by: Vec<&str> = one.caught_by.iter().map(String::as_str).collect();
            let by = match by.is_empty() {
                true if one.beside.is_empty() => pill("failed").replace("failed", "nothing"),
                true => "no scenario".to_owned(),
                false => escape(&by.join(", ")),
            };
            let sign = if one.is_blamed_right() { "\u{2713} " } else { "" };
            let blamed = format!("{sign}{}", escape(one.blamed.as_deref().unwrap_or_default()));
            vec![code(&one.name), escape(&one.planted), by, escape(&one.what), escape(&one.beside), blamed]
        };
        let rows: Vec<Vec<String>> = all.iter().map(row).collect();
        table(out, &MUTATION_COLUMNS, &rows);
    }
    out.push_str("</section>\n");
}

fn records(out: &mut String, facts: &Facts<'_>) {
    let frozen = facts.records.iter().filter(|record| record.kind == Kind::Freeze).count();
    let words = match frozen {
        0 => "Nothing was frozen, so nothing here is holdout.".to_owned(),
        1 => "One freeze; configuration, tests, seeds and thresholds have not moved since.".to_owned(),
        n => format!("{n} freezes: something moved after the first one, and all of them are here."),
    };
    section(out, "records", "Signed records", &words);
    let row = |record: &crate::records::Record| {
        vec![
            format!("<b>{} {}</b>", record.number, escape(record.kind.entry())),
            format!("<code class=\"hash\">{}</code>", escape(record.text("gate_hash"))),
            escape(&says(record)),
            format!("<code class=\"hash\">{}</code>", escape(&record.signer)),
            format!("<code class=\"hash\">{}</code>", record.head),
        ]
    };
    if !facts.records.is_empty() {
        let rows: Vec<Vec<String>> = facts.records.iter().map(row).collect();
        table(out, &["record", "gate hash", "says", "signed by", "entry hash"], &rows);
    }
    out.push_str("</section>\n");
}

fn foot(out: &mut String, facts: &Facts<'_>) {
    let report = &facts.conclusion.report;
    out.push_str("<footer class=\"wide\">\n<h2>What the verdict rests on</h2>\n<dl class=\"hashes\">\n");
    put!(out, "<div><dt>verdict</dt><dd><code>{}</code></dd></div>\n", report.verdict_digest());
    for (name, digest) in &report.evidence {
        put!(out, "<div><dt>{}</dt><dd><code>{digest}</code></dd></div>\n", escape(name));
    }
    out.push_str("</dl>\n");
    for note in facts.notes {
        put!(out, "<p>{}</p>\n", escape(note));
    }
    put!(out, "<p>Made {}; the time is no part of the verdict.</p>\n</footer>\n", escape(facts.ts_build));
}
