//! The reference profile is what the registry says, and each way to break it has its code.

use super::*;
use crate::kind::Kind;

/// The codes of the reference with one replacement.
fn problems(from: &str, to: &str) -> Vec<&'static str> {
    assert!(REFERENCE.contains(from), "{from}");
    let found = Profile::parse(&REFERENCE.replacen(from, to, 1)).err().unwrap_or_default();
    found.iter().map(|problem| problem.code.code()).collect()
}

#[test]
fn the_reference_is_read() {
    let profile = Profile::parse(REFERENCE).unwrap();
    assert_eq!(profile.clock.proposal_ttl, 60);
    assert_eq!(profile.regulation.energy_awake, -25);
    assert_eq!(profile.selection.cost_time, 1_000);
    assert_eq!(profile.fixture.v08_lists[3][4], 100_000);
    assert_eq!(profile.world.rows[11], "..D............L");
    assert_eq!(profile.config_hash(), Profile::reference().config_hash());
}

#[test]
fn each_fault_has_its_code() {
    for (from, to, code) in [
        ("proposal_ttl = {", "proposal_ttl_x = {", "prof_missing_key"),
        ("proposal_ttl = {", "proposal_tll = {", "prof_unknown_key"),
        ("renegotiation_wait = {", "renegotiation_weight = {", "prof_missing_key"),
        ("name = \"v0-reference\"", "name = \"v0-reference\"\nother = 1", "prof_file"),
        ("name = \"v0-reference\"", "", "prof_file"),
        ("[K.clock]", "[K.clock", "prof_file"),
        (
            "value = 60, unit = \"ticks\", origin = \"RC-CLK-03\"",
            "value = 60, unit = \"ticks\"",
            "prof_entry",
        ),
        ("origin = \"RC-CLK-03\"", "origin = \"RC-CLK-03\", why = 1", "prof_entry"),
        ("origin = \"RC-CLK-03\", stage = 0", "origin = \"RC-CLK-03\", stage = 1", "prof_stage"),
        ("origin = \"RC-CLK-12\", stage = 2", "origin = \"RC-CLK-12\", stage = 0", "prof_stage"),
        ("value = 60, unit = \"ticks\"", "value = 60, unit = \"tick\"", "prof_unit"),
        (
            "value = 60, unit = \"ticks\", origin = \"RC-CLK-03\"",
            "value = [60], unit = \"ticks\", origin = \"RC-CLK-03\"",
            "prof_shape",
        ),
        ("help_backoff = { value = [30, 60, 120]", "help_backoff = { value = [30, 60]", "prof_shape"),
        (
            "value = 60, unit = \"ticks\", origin = \"RC-CLK-03\"",
            "value = 601, unit = \"ticks\", origin = \"RC-CLK-03\"",
            "prof_range",
        ),
        ("value = [1, 2, 3]", "value = [1, 2, 30]", "prof_range"),
        ("controllable_ttc_min = { value = 26", "controllable_ttc_min = { value = 27", "prof_safety_path"),
        ("heater_ttc = { value = 40", "heater_ttc = { value = 13", "prof_safety_path"),
        ("heater_ttc = { value = 40", "heater_ttc = { value = 26", "prof_hazard_ttc"),
        ("pending_max = { value = 10", "pending_max = { value = 26", "prof_dwell"),
        ("preparing_max = { value = 35", "preparing_max = { value = 34", "prof_dwell"),
        ("eat_parts = { value = [10, 20, 30]", "eat_parts = { value = [10, 10, 30]", "prof_interaction"),
        ("drink_commit = { value = 8", "drink_commit = { value = 9", "prof_interaction"),
        ("calories_path = { value = 60", "calories_path = { value = 61", "prof_interaction"),
        ("danger_exit = { value = 250_000", "danger_exit = { value = 350_000", "prof_hysteresis"),
        ("recovery_below = { value = 350_000", "recovery_below = { value = 650_000", "prof_hysteresis"),
        ("cost_risk_cap = { value = 50_000", "cost_risk_cap = { value = 50_001", "prof_sum"),
        ("window = { value = 100_000", "window = { value = 110_000", "prof_sum"),
        ("water_portions_backup = { value = 6", "water_portions_backup = { value = 5", "prof_sum"),
        ("lineage_cap = { value = 120_000", "lineage_cap = { value = 89_999", "prof_sum"),
        ("grants_max = { value = 2", "grants_max = { value = 3", "prof_retry"),
        ("v08_stride = { value = 4099", "v08_stride = { value = 4100", "prof_fixture"),
        ("v08_epsilon = { value = 10_000", "v08_epsilon = { value = 12_500", "prof_fixture"),
        ("seed_holdout = { value = [50, 149]", "seed_holdout = { value = [49, 149]", "prof_fixture"),
        ("v03_ttc = { value = [27, 26, 25]", "v03_ttc = { value = [26, 26, 25]", "prof_fixture"),
        ("..............S.", "################", "prof_world"),
        ("......#..WW.....", "......#..WW....", "prof_world"),
        ("spawn = { value = [8, 8]", "spawn = { value = [6, 0]", "prof_world"),
        ("danger_radius = { value = 4", "danger_radius = { value = 9", "prof_world"),
    ] {
        let found = problems(from, to);
        assert!(found.contains(&code), "{to}: {found:?}");
    }
}

#[test]
fn rows_of_gd_22() {
    let profile = Profile::reference();
    let pick = profile.interaction.of(Kind::PickUp);
    assert_eq!((pick.wcet, pick.nonpreempt, pick.cleanup, pick.minimum), (8, 2, 2, 8));
    assert_eq!([4, 5, 6, 7].map(|tick| pick.committed(tick)), [false, true, true, false]);
    assert_eq!([1, 2, 5, 6].map(|tick| pick.safe_point(tick)), [false, true, false, true]);
    let eat = profile.interaction.of(Kind::Eat);
    assert_eq!([9, 10, 20, 30].map(|tick| eat.part_at(tick)), [None, Some(0), Some(1), Some(2)]);
    let repair = profile.interaction.of(Kind::Create);
    let committed: Vec<i64> = (1..=20).filter(|tick| repair.committed(*tick)).collect();
    assert_eq!(committed, [5, 6, 10, 15, 16, 20]);
    let sleep = profile.interaction.of(Kind::Sleep);
    assert_eq!((sleep.minimum, sleep.maximum, sleep.cleanup), (300, 28_800, 1));
    let minimum = |kind| profile.interaction.of(kind).minimum;
    assert_eq!([Kind::Rest, Kind::Scan, Kind::Idle, Kind::Wait].map(minimum), [60, 5, 1, 1]);
    assert!(Kind::ALL.iter().all(|kind| profile.interaction.of(*kind).wcet > 0), "RC-INT-15");
}

#[test]
fn the_canonical_form_is_that_of_gd_05() {
    assert_eq!(entry::decimal(1, true), "0.000001");
    assert_eq!(entry::decimal(-1_500_000, true), "-1.500000");
    assert_eq!(entry::decimal(7, false), "7.000000");
    let mut none = Vec::new();
    let file = File::read(REFERENCE, &mut none);
    let bytes = canon::canonical(&file.canonical());
    let text = String::from_utf8(bytes).unwrap();
    let key = "\"proposal_ttl\":{\"cal\":false,\"max\":\"600.000000\",\"min\":\"1.000000\",\"origin\":\"RC-CLK-03\",\
               \"stage\":\"0.000000\",\"unit\":\"ticks\",\"value\":\"60.000000\"}";
    assert!(text.contains(key));
    assert!(text.contains("\"energy_awake\":{\"cal\":false,\"max\":\"0.000000\",\"min\":\"-0.010000\""));
    assert!(
        text.starts_with("{\"K\":{\"attention\":{\"buffer_slots\":")
            && text.ends_with("\"name\":\"v0-reference\"}")
    );
}

#[test]
fn a_number_changes_the_hash_and_a_comment_does_not() {
    let hash = |text: &str| Profile::parse(text).unwrap().config_hash();
    let reference = Profile::reference().config_hash();
    assert_eq!(hash(&format!("{REFERENCE}\n# nothing\n")), reference);
    assert_ne!(
        hash(&REFERENCE.replacen("clear_hold = { value = 10", "clear_hold = { value = 11", 1)),
        reference
    );
    let later = REFERENCE.replacen("habit_step = { value = 5000", "habit_step = { value = 5001", 1);
    assert_ne!(later, REFERENCE);
    assert_ne!(hash(&later), reference, "keys of later stages count");
}

/// The comment of each field names the rule and the unit that the file gives its key.
#[test]
fn comments_agree_with_the_file() {
    let mut none = Vec::new();
    let file = File::read(REFERENCE, &mut none);
    let (mut group, mut comment, mut seen) = (String::new(), String::new(), 0);
    let sources =
        [include_str!("keys/body.rs"), include_str!("keys/mind.rs"), include_str!("keys/content.rs")];
    for line in sources.iter().flat_map(|source| source.lines()).map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment += text;
        } else if let Some((_, name)) = line.strip_suffix(" {").and_then(|line| line.split_once(' ')) {
            group = name.trim_matches('"').to_owned();
            comment.clear();
        } else if let Some((key, _)) = line.strip_suffix(',').and_then(|line| line.split_once(": ")) {
            let entry = &file.entries[&group][key];
            let unit = if entry.unit == "text" { String::new() } else { format!(", {}", entry.unit) };
            let end = format!("({}){unit}.", entry.origin);
            assert!(comment.ends_with(&end), "{group}.{key}: {comment} / {end}");
            comment.clear();
            seen += 1;
        }
    }
    assert_eq!(seen, FIELDS.iter().map(|(_, keys)| keys.len()).sum::<usize>());
}
