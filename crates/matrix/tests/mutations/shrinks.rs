//! A failing run shrinks itself, shown on planted faults: from a run with far too many inputs and ticks to the few from
//! which nothing can go.

use matrix::shrink::shrink;
use room::faults::{Fault, SHRINKABLE, fails, noisy};
use room::input::Input;

/// Tries for one fault at the most.
const TRIES_MAX: u64 = 2_000;
/// Bytes of what is left of a run, at the most.
const BYTES_MAX: usize = 32 << 10;

fn bytes(inputs: &[Input]) -> usize {
    inputs.iter().map(|input| canon::canonical(&room::given::line(input).into()).len() + 1).sum()
}

#[test]
fn a_run_with_a_planted_fault_shrinks_to_what_matters() {
    for fault in SHRINKABLE {
        let case = noisy(fault);
        let red = |inputs: &[Input], ticks: u64| fails(fault, &case.setup, inputs, ticks);
        let shrunk = shrink(&case.inputs, case.ticks, TRIES_MAX, red).expect("the case fails");
        println!(
            "{:<22} inputs {:>3} -> {:<2} ticks {:>5} -> {:<5} tries {}",
            fault.name(),
            case.inputs.len(),
            shrunk.inputs.len(),
            case.ticks,
            shrunk.ticks,
            shrunk.tries
        );
        assert!(shrunk.minimal, "{}", fault.name());
        assert!(shrunk.inputs.len() <= needed(fault), "{}: {}", fault.name(), shrunk.inputs.len());
        assert!(
            red(&shrunk.inputs, shrunk.ticks) && !red(&shrunk.inputs, shrunk.ticks - 1),
            "{}",
            fault.name()
        );
        for without in 0..shrunk.inputs.len() {
            let rest = [&shrunk.inputs[..without], &shrunk.inputs[without + 1..]].concat();
            assert!(!red(&rest, shrunk.ticks), "{}: input {without} can go", fault.name());
        }
        assert!(bytes(&shrunk.inputs) <= BYTES_MAX, "{}", fault.name());
    }
}

/// Inputs without which a fault does not matter: the content alone, a cause, or a cause and what waits for it.
fn needed(fault: Fault) -> usize {
    match fault {
        Fault::OldListKept | Fault::DrinksFromNothing | Fault::RetryNotCharged => 0,
        Fault::TwoActive | Fault::BedNotVerified | Fault::EditLeavesHalf | Fault::LateAnswer => 1,
        Fault::SuspendedHolds | Fault::LeaseWithoutEnd | Fault::NoVersionDiscount => 1,
        _ => 2,
    }
}
