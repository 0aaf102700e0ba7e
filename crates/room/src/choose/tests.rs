//! The window, the guard against swinging, repetition, the stop of rows.

use super::*;
use crate::profile::Profile;

const LOOK: Behaviour = Behaviour { kind: Kind::LookAt, object: Some(19) };
const OPEN: Behaviour = Behaviour { kind: Kind::Open, object: Some(17) };

fn execution(behaviour: Behaviour, wanted: bool) -> Execution {
    Execution { behaviour, object_family: 6, goal: 9, wanted }
}

/// How often each of two candidates is picked over evenly spread draws, of a thousand.
fn shares(gap: i64) -> [usize; 2] {
    let profile = Profile::reference();
    let pool = window(&profile.selection, &[300_000, 300_000 - gap]);
    let mut counts = [0; 2];
    for step in 0..1_000_u64 {
        let draw = step * (u64::MAX / 1_000) + u64::MAX / 2_000;
        counts[pick(&pool, draw).unwrap()] += 1;
    }
    counts
}

/// GD-42: 0.500, 0.647, 0.917, 1.000.
#[test]
fn shares_of_two_candidates() {
    assert_eq!([0, 50_000, 100_000, 100_001].map(shares), [[500, 500], [647, 353], [917, 83], [1000, 0]]);
}

#[test]
fn an_empty_window_chooses_nothing_and_a_draw_of_zero_the_first() {
    let profile = Profile::reference();
    assert_eq!(pick(&window(&profile.selection, &[]), 7), None);
    let pool = window(&profile.selection, &[200_000, -500_000, 250_000]);
    assert_eq!(
        pool.iter().map(|one| (one.place, one.weight)).collect::<Vec<_>>(),
        [(0, 60_000), (2, 110_000)]
    );
    assert_eq!(pick(&pool, 0), Some(0));
    assert_eq!(pick(&pool, u64::MAX), Some(2));
    assert_eq!(highest([3, 1, 4].into_iter()), Some(1));
}

/// RC-CLK-12, RC-SEL-15, RC-SEL-16.
#[test]
fn a_switch_needs_the_dwell_and_the_margin() {
    let clock = &Profile::reference().clock;
    assert!(may_switch(clock, 10, 100_000, 250_000));
    assert!(!may_switch(clock, 9, 100_000, 950_000));
    assert!(!may_switch(clock, 100, 100_000, 249_999));
    let selection = &Profile::reference().selection;
    assert_eq!([None, Some(0), Some(1)].map(|last| novelty_due(selection, last, 80)), [true, true, false]);
}

/// GD-43, RC-XPG-10: the fifth switch in 120 ticks is impossible, and the returning one pays from the third on.
#[test]
fn swinging_is_penalised_and_then_locked() {
    let profile = Profile::reference();
    let selection = &profile.selection;
    let mut memory = Memory::new();
    let mut switches = 0;
    for turn in 0..20_u64 {
        let now = turn * 10;
        let next = if turn % 2 == 0 { LOOK } else { OPEN };
        let penalty = memory.repetition(selection, &execution(next, false), now);
        assert_eq!(penalty, if (2..4).contains(&switches) || switches >= 4 { -150_000 } else { 0 });
        if memory.locked(selection, next, now) {
            break;
        }
        switches += u32::from(memory.chosen(selection, next, now));
    }
    assert_eq!(switches, 4);
    assert!(memory.locked(selection, OPEN, 129), "the first switch was at tick 10");
    assert!(!memory.locked(selection, OPEN, 130), "the window slides");
    memory.evidence(17);
    assert!(!memory.locked(selection, OPEN, 50), "new evidence about one of the objects");
}

/// GD-43: a completed behaviour may be followed by another; the return counts unless something new is known.
#[test]
fn what_counts_as_a_switch() {
    let profile = Profile::reference();
    let selection = &profile.selection;
    let done = |memory: &mut Memory, behaviour, now| {
        let switched = memory.chosen(selection, behaviour, now);
        memory.completed(selection, &execution(behaviour, true), now);
        switched
    };
    let mut memory = Memory::new();
    assert!(!done(&mut memory, LOOK, 0));
    assert!(!done(&mut memory, OPEN, 10));
    assert!(done(&mut memory, LOOK, 20), "a return without new evidence");
    memory.evidence(17);
    assert!(!done(&mut memory, OPEN, 30), "a return with it");
    assert!(!done(&mut memory, OPEN, 40), "the same again");
    assert!(!memory.chosen(selection, OPEN, 50));
    assert!(memory.chosen(selection, LOOK, 60), "left without success");
}

/// GD-41: four counters that fall by 600 µ a tick, capped together.
#[test]
fn repetition_rises_and_decays_without_being_written() {
    let profile = Profile::reference();
    let selection = &profile.selection;
    let mut memory = Memory::new();
    memory.completed(selection, &execution(LOOK, true), 1_000);
    let known = memory.clone();
    let of = |memory: &Memory, behaviour, goal, now| {
        memory.repetition(selection, &Execution { goal, ..execution(behaviour, true) }, now)
    };
    assert_eq!(of(&memory, LOOK, 9, 1_000), -200_000);
    assert_eq!(of(&memory, Behaviour { object: Some(3), ..LOOK }, 9, 1_000), -120_000, "family and goal");
    assert_eq!(of(&memory, OPEN, 9, 1_000), -40_000, "goal");
    assert_eq!(of(&memory, OPEN, 1, 1_000), 0);
    assert_eq!(of(&memory, LOOK, 9, 1_050), -200_000 + 4 * 30_000);
    assert_eq!(of(&memory, LOOK, 9, 1_100), -20_000, "only the family is left");
    assert_eq!(of(&memory, LOOK, 9, 1_134), 0);
    assert_eq!(memory, known, "looking changes nothing");
    memory.completed(selection, &execution(LOOK, true), 1_010);
    assert_eq!(of(&memory, LOOK, 9, 1_010), -300_000, "the cap");
    memory.completed(selection, &execution(OPEN, true), 9_000);
    assert_eq!(memory.counters.len(), 4, "what decayed is forgotten");
}

/// RC-XPG-12, GD-43: three in a row, the fourth is refused for 600 ticks or until new evidence.
#[test]
fn a_row_of_three_is_enough() {
    let profile = Profile::reference();
    let selection = &profile.selection;
    let mut memory = Memory::new();
    let look = execution(LOOK, false);
    let other = execution(Behaviour { object: Some(20), ..LOOK }, false);
    for now in [100, 200, 300] {
        assert!(!memory.stopped(selection, &look, now));
        memory.completed(selection, if now == 200 { &other } else { &look }, now);
    }
    assert!(memory.stopped(selection, &other, 400), "the family of the object counts");
    assert!(!memory.stopped(selection, &execution(LOOK, true), 400), "somebody wants it");
    assert!(!memory.stopped(selection, &execution(OPEN, false), 400));
    assert!(memory.stopped(selection, &look, 899) && !memory.stopped(selection, &look, 900));
    let mut informed = memory.clone();
    informed.evidence(3);
    assert!(!informed.stopped(selection, &look, 400));
    let idle = execution(Behaviour { kind: Kind::Idle, object: None }, false);
    memory.completed(selection, &idle, 350);
    assert!(memory.stopped(selection, &look, 400), "Idle is exempt and breaks no row");
    memory.completed(selection, &execution(OPEN, true), 360);
    assert!(!memory.stopped(selection, &look, 400), "another behaviour does");
}
