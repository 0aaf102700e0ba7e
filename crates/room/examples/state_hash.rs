//! Prints the state hashes of the room, to be compared byte by byte between machines: `sh examples/machines.sh`.

#[path = "state_hash/report.rs"]
mod report;

fn main() {
    print!("{}", report::report());
}
