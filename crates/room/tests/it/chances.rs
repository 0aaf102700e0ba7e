//! Looking changes nothing, and neither does what ran before (PC-70, PC-74).

use crate::{room, run};
use room::Listen;
use room::setup::Identity;

#[test]
fn looking_draws_nothing_pc_74() {
    let (mut quiet, mut watched) = (room("V01", 5, Identity::Niko), room("V01", 5, Identity::Niko));
    watched.listen(Listen::Everything);
    assert_eq!(run(&mut quiet, 20_000), run(&mut watched, 20_000));
    assert_eq!(quiet.state().audit.draws, watched.state().audit.draws);
    assert!(
        quiet.state().audit.draws[1] > 0 && quiet.state().audit.draws[3] > 0,
        "there was something to draw"
    );
}

#[test]
fn one_seed_in_any_order_and_on_two_threads_pc_70() {
    let fresh = || run(&mut room("V01", 6, Identity::Mira), 20_000);
    let first = fresh();
    run(&mut room("V01", 7, Identity::Niko), 5_000);
    assert_eq!(fresh(), first);
    let threads: Vec<u64> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..2).map(|_| scope.spawn(fresh)).collect();
        handles.into_iter().map(|handle| handle.join().expect("it ends")).collect()
    });
    assert_eq!(threads, [first, first]);
}

#[test]
fn three_days_of_both_identities_hold_every_check() {
    for (identity, index) in [(Identity::Mira, 0), (Identity::Niko, 1)] {
        let mut room = room("V01", index, identity);
        run(&mut room, 259_200);
        assert_eq!(room.checks().first, None);
        assert!(room.checks().lowest.iter().all(|level| *level > 150_000), "{:?}", room.checks().lowest);
    }
}
