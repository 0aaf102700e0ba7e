//! Verdicts for people.

use super::panel::short;
use super::verdict::Counting;
use crate::exit;
use crate::output::{Tone, hanging, line, paint};
use canon::{Object, Value, canonical, shown};
use peers::quorum::{Challenge, Refused, Selection, Verdict};
use std::collections::BTreeSet;

pub(super) fn json(object: Object) {
    line(&String::from_utf8_lossy(&canonical(&object.into())));
}

/// The exit code follows what was selected.
fn code(selection: &Selection) -> u8 {
    match &selection.shipped {
        Ok(_) => exit::OK,
        Err(Refused::NonePassed) if selection.verdicts.iter().any(|verdict| verdict.visible_ok.is_none()) => {
            exit::UNDECIDED
        }
        Err(_) => exit::REFUSED,
    }
}

/// What was selected, with every verdict on the way.
pub(super) fn selection(counting: &Counting, pinned: bool, as_json: bool) -> u8 {
    let selection = &counting.selection;
    if as_json {
        json(selection_object(counting, pinned));
        return code(selection);
    }
    for (number, (verdict, silent)) in selection.verdicts.iter().zip(&counting.silent).enumerate() {
        draft(number, verdict);
        named("said nothing about it", silent);
    }
    named("not counted, the chain does not hold", &counting.broken);
    match &selection.shipped {
        Ok(shipped) => line(&format!(
            "{}  draft {} by {}",
            paint("SHIPS", Tone::Good),
            shipped.index,
            shown(shipped.author.0.as_bytes())
        )),
        Err(refused) => {
            let why = refused.reason().unwrap_or_else(|| "no draft was passed by a majority".to_owned());
            line(&format!("{}  {why}", paint("NONE", Tone::Bad)));
        }
    }
    if let Some(verdict) = selection.verdicts.last() {
        limits(verdict);
    }
    if !pinned {
        let said = "the roster lies in the panel itself; --roster says whose keys they must be";
        line(&paint(&hanging("      ", said), Tone::Quiet));
    }
    code(selection)
}

fn selection_object(counting: &Counting, pinned: bool) -> Object {
    let selection = &counting.selection;
    let ids = |ids: &BTreeSet<String>| Value::from(ids.iter().map(String::as_str).collect::<Vec<_>>());
    let shipped = selection.shipped.as_ref().ok().map(|shipped| {
        Object::new()
            .with("index", shipped.index as u64)
            .with("author", shipped.author.0.as_str())
            .with("draft_sha256", shipped.draft)
    });
    let refused = selection.shipped.as_ref().err().map(|refused| refused.reason());
    Object::new()
        .with("v", 1_i64)
        .with("task_id", selection.task_id.as_str())
        .with("shipped", shipped)
        .with("refused", refused.flatten())
        .with("runs_n", selection.runs_n as u64)
        .with("roster_pinned", pinned)
        .with("chains_broken", ids(&counting.broken))
        .with("silent", counting.silent.iter().map(ids).collect::<Vec<Value>>())
        .with("verdicts", selection.verdicts.iter().map(Verdict::to_value).collect::<Vec<Value>>())
        .with("exit_code", i64::from(code(selection)))
}

/// One verdict by itself.
pub(super) fn verdict(verdict: &Verdict, as_json: bool) -> u8 {
    if as_json {
        line(&String::from_utf8_lossy(&canonical(&verdict.to_value())));
    } else {
        draft(0, verdict);
        limits(verdict);
    }
    match verdict.visible_ok {
        Some(true) => exit::OK,
        Some(false) => exit::REFUSED,
        None => exit::UNDECIDED,
    }
}

fn word(verdict: &Verdict) -> String {
    match verdict.visible_ok {
        Some(true) => paint("passed", Tone::Good),
        Some(false) => paint("failed", Tone::Bad),
        None => paint("undecided", Tone::Warn),
    }
}

fn draft(number: usize, verdict: &Verdict) {
    line(&format!(
        "draft {number}  {}  {}: {} pass, {} fail of {} in the roster, {} needed",
        short(verdict.binding.draft),
        word(verdict),
        verdict.camp_pass.len(),
        verdict.camp_fail.len(),
        verdict.roster_n,
        verdict.quorum
    ));
    named("voted against the majority", &verdict.dissenters);
    named("failed it at another test", &verdict.detail_dissenters);
    named("signed two different statements", &verdict.equivocators);
    for (id, why) in &verdict.rejected {
        line(&hanging("         no vote: ", &format!("{} ({})", shown(id.as_bytes()), why.code())));
    }
}

/// The two limits that go with every verdict (18.2).
fn limits(verdict: &Verdict) {
    let bound = verdict.corrupt_tolerated();
    let said =
        format!("holds while at most {bound} of {} keys lie, and the suite does not", verdict.roster_n);
    line(&paint(&hanging("      ", &said), Tone::Quiet));
}

fn named(what: &str, ids: &BTreeSet<String>) {
    if !ids.is_empty() {
        let ids: Vec<String> = ids.iter().map(|id| shown(id.as_bytes())).collect();
        line(&hanging(&format!("         {what}: "), &ids.join(", ")));
    }
}

pub(super) fn challenge(challenge: &Challenge, first: &Verdict, second: &Verdict) {
    line(&format!("first   {}", word(first)));
    line(&format!("second  {}", word(second)));
    named("dissented or equivocated", &challenge.accused);
    line(&challenge.outcome.code().to_uppercase());
}
