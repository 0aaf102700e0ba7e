//! PC-72: a snapshot is everything.

use crate::{room, run};
use room::Room;
use room::input::{Command, Verb};
use room::profile::Profile;
use room::setup::Identity;
use room::world::{Obj, Parent};

#[test]
fn save_load_and_go_on_at_odd_ticks_pc_72() {
    let mut straight = room("V01", 3, Identity::Niko);
    let mut saved = straight.clone();
    for tick in 0..6_000_u64 {
        let commands = disturbance(tick);
        straight.step(&commands);
        saved.step(&commands);
        if tick % 97 == 13 || tick < 60 {
            let text = saved.save();
            saved = Room::load(Profile::reference(), &text).expect("what was saved is read");
            assert_eq!(canon::canonical(&saved.save()), canon::canonical(&text), "tick {tick}");
        }
        assert_eq!(straight.fold(), saved.fold(), "tick {tick}");
    }
    assert_eq!(straight.state_hash(), saved.state_hash());
    assert_eq!(run(&mut straight, 600), run(&mut saved, 600));
}

/// Moves, damage, blockers and people, so that there is something to remember.
fn disturbance(tick: u64) -> Vec<Command> {
    match tick {
        40 => vec![Command::new(1, Verb::Damage).on(Obj::Dispenser)],
        90 => vec![Command::new(2, Verb::Come).by(0)],
        120 => vec![Command::new(3, Verb::Take).on(Obj::Cup).by(0)],
        200 => vec![Command::new(4, Verb::Return).on(Obj::Cup).by(0).to(Parent::with(Obj::Window))],
        300 => vec![Command::new(5, Verb::Block).at(room::grid::Cell::at(6, 9).unwrap())],
        900 => vec![Command::new(6, Verb::Fault)],
        910 => vec![Command::new(7, Verb::SwitchOn).on(Obj::Heater)],
        2_000 => vec![Command::new(8, Verb::Cue)],
        _ => Vec::new(),
    }
}

#[test]
fn the_cached_fold_is_the_fold() {
    let mut room = room("V01", 1, Identity::Mira);
    for tick in 0..3_000 {
        room.step(&disturbance(tick));
        assert_eq!(room.fold(), room.state().fold_afresh(), "tick {tick}");
    }
}

#[test]
fn a_snapshot_that_was_changed_is_refused_with_its_place() {
    let room = room("V01", 0, Identity::Mira);
    let saved = room.save();
    let mut state = saved.get("state").unwrap().as_object().unwrap().clone();
    state.remove("mind");
    let broken = canon::Object::new().with("setup", saved.get("setup").unwrap().clone()).with("state", state);
    let misread = Room::load(Profile::reference(), &broken.into()).unwrap_err();
    assert_eq!(misread.at, "state.mind");
}
