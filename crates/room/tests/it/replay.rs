//! Records: what is stored is met, what was edited is named (PC-69, PC-71, PC-73, PC-75).

use crate::room;
use room::diff::{Side, first_difference};
use room::input::{Command, Input, Verb};
use room::profile::Profile;
use room::record::{Record, RecordFault, record};
use room::section::Phase;
use room::setup::{Identity, Setup};
use room::world::{Obj, Parent};

fn inputs() -> Vec<Input> {
    let input = |tick, command| Input { tick, command };
    vec![
        input(50, Command::new(1, Verb::Come).by(0)),
        input(80, Command::new(2, Verb::Move).on(Obj::Cup).to(Parent::with(Obj::Window))),
        input(700, Command::new(3, Verb::Damage).on(Obj::Dispenser)),
        input(1_300, Command::new(4, Verb::Leave).by(0)),
    ]
}

fn made() -> Record {
    record(&Profile::reference(), Setup::of("V01", 2, Identity::Mira), inputs(), 3_000).expect("it runs")
}

#[test]
fn a_record_replays_and_survives_its_text() {
    let record = made();
    assert_eq!(record.keyframes.len(), 5);
    assert_eq!(record.violation, None);
    let read = Record::read(&record.text()).expect("what is written is read");
    assert_eq!(read, record);
    assert_eq!(read.text(), record.text());
    let receipt = room::receipt::of(&record);
    let reason =
        receipt.get("verdict").and_then(|verdict| verdict.get("reason")).and_then(canon::Value::as_str);
    assert_eq!(reason, Some("room_contract_held"));
    read.replay(&Profile::reference()).expect("it meets every hash");
}

#[test]
fn inputs_that_cannot_be_are_refused_before_the_first_tick_pc_69() {
    let refused = |inputs: Vec<Input>| {
        let refusal =
            record(&Profile::reference(), Setup::of("V01", 2, Identity::Mira), inputs, 10).unwrap_err();
        assert_eq!(refusal.fault, RecordFault::Inputs);
        (refusal.at, refusal.detail)
    };
    let mut past = inputs();
    past[1].tick = 49;
    assert_eq!(refused(past), ("inputs.1.tick".into(), "room_input_past".into()));
    let mut twice = inputs();
    twice[3].command.id = 1;
    assert_eq!(refused(twice), ("inputs.3.command.id".into(), "room_input_duplicate".into()));
    let mut nothing = inputs();
    nothing[1].command.to = None;
    assert_eq!(refused(nothing), ("inputs.1.command".into(), "room_input_argument".into()));
    let text = String::from_utf8(made().text()).unwrap();
    for (from, to) in
        [("\"damage\"", "\"explode\""), ("\"verb\":\"come\"", "\"verb\":7"), ("\"human\":", "\"person\":")]
    {
        let refusal = Record::read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert_eq!(refusal.fault, RecordFault::Unreadable, "{from}");
        assert!(refusal.at.starts_with("inputs."), "{from}: {}", refusal.at);
    }
}

#[test]
fn an_edited_hash_between_right_ones_is_no_divergence_pc_71() {
    let mut edited = made();
    edited.keyframes[2].hash = canon::Digest::of(b"x");
    let refusal = edited.replay(&Profile::reference()).unwrap_err();
    assert_eq!((refusal.fault, refusal.at.as_str()), (RecordFault::HashEdited, "tick 1800"));
    let mut swapped = made();
    let (a, b) = (swapped.keyframes[1].hash, swapped.keyframes[3].hash);
    swapped.keyframes[1].hash = b;
    swapped.keyframes[3].hash = a;
    let refusal = swapped.replay(&Profile::reference()).unwrap_err();
    assert_eq!((refusal.fault, refusal.at.as_str()), (RecordFault::HashEdited, "tick 1200"));
    let mut folds = made();
    folds.folds_digest = canon::Digest::of(b"x");
    assert_eq!(folds.replay(&Profile::reference()).unwrap_err().fault, RecordFault::HashEdited);
    let mut checks = made();
    checks.checks[0].1 += 1;
    assert_eq!(checks.replay(&Profile::reference()).unwrap_err().fault, RecordFault::ChecksEdited);
}

#[test]
fn a_changed_input_is_named_even_without_an_effect_pc_75() {
    let mut edited = made();
    // The window is closed already: this changes no state at all.
    edited.inputs[3].command.verb = Verb::Leave;
    edited.inputs[3].command.human = Some(1);
    let refusal = edited.replay(&Profile::reference()).unwrap_err();
    assert_eq!((refusal.fault, refusal.at.as_str()), (RecordFault::InputEdited, "inputs.3.human"));
    assert_eq!(refusal.detail, "tick 1300 phase P2 leave");
    let mut shifted = made();
    shifted.inputs.iter_mut().for_each(|input| input.tick += 1);
    let refusal = shifted.replay(&Profile::reference()).unwrap_err();
    assert_eq!((refusal.fault, refusal.at.as_str()), (RecordFault::InputEdited, "inputs.0.tick"), "PC-73");
}

#[test]
fn a_divergence_is_told_from_an_edit_and_names_the_sections() {
    let mut other = made();
    let longer = record(&Profile::reference(), Setup::of("V01", 4, Identity::Mira), inputs(), 3_000).unwrap();
    other.keyframes = longer.keyframes;
    other.folds_digest = longer.folds_digest;
    let refusal = other.replay(&Profile::reference()).unwrap_err();
    assert_eq!(refusal.fault, RecordFault::Diverges);
    assert!(refusal.detail.contains("visits") || refusal.detail.contains("mind"), "{}", refusal.detail);
}

#[test]
fn another_profile_or_setup_is_refused() {
    let mut profile = made();
    profile.config_hash = canon::Digest::of(b"other");
    assert_eq!(profile.replay(&Profile::reference()).unwrap_err().fault, RecordFault::Profile);
    let mut setup = made();
    setup.setup.seed = "12".into();
    assert_eq!(setup.replay(&Profile::reference()).unwrap_err().fault, RecordFault::SetupEdited);
    type Edit = fn(&mut Record);
    let edits: [Edit; 6] = [
        |record| record.setup.index = 4,
        |record| record.setup.suite = "V22".into(),
        |record| record.setup.identity = Identity::Niko,
        |record| record.gate_hash = Some(canon::Digest::of(b"x")),
        |record| record.ticks = 2_400,
        |record| {
            record.inputs.pop();
            record.seals.pop();
        },
    ];
    for (n, edit) in edits.into_iter().enumerate() {
        let mut edited = made();
        edit(&mut edited);
        assert_eq!(edited.replay(&Profile::reference()).unwrap_err().fault, RecordFault::SetupEdited, "{n}");
    }
    // A setup that was never run, with a digest of its own.
    let spawned = Setup { seed: "12".into(), ..Setup::of("V01", 2, Identity::Mira) };
    let refused = record(&Profile::reference(), spawned, Vec::new(), 10).unwrap_err();
    assert_eq!(refused.fault, RecordFault::Setup);
}

#[test]
fn the_first_difference_is_named_by_tick_phase_and_field() {
    let inputs = inputs();
    let mut changed = inputs.clone();
    changed[1].command.to = Some(Parent::with(Obj::Workbench));
    let side = |inputs| Side { room: room("V01", 2, Identity::Mira), inputs };
    let found = first_difference(side(&inputs), side(&changed), 3_000).expect("they differ");
    assert_eq!((found.tick, found.phase), (80, Phase::P2));
    assert_eq!(found.field, "seen.recent.0.command.to.of");
    assert_eq!(first_difference(side(&inputs), side(&inputs), 3_000), None);
}
