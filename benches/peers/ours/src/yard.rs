//! The room as the yardstick sees it.

use crate::{POINT, Room, step};
use yardstick::{Peer, Record};

/// One room.
pub struct Yard<const FOLD: bool>(Room<FOLD>);

impl<const FOLD: bool> Peer for Yard<FOLD> {
    fn start() -> Self {
        Yard(Room::default())
    }

    fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            step(&mut self.0);
        }
    }

    fn record(&self) -> Record {
        let room = &self.0;
        Record {
            ticks: room.tick,
            needs: room.needs.map(|need| (need / POINT).cast_unsigned()),
            doing: room.doing.map(|doing| (doing.interaction as u64, doing.left.cast_unsigned())),
            generator: room.generator,
        }
    }

    fn reloaded(self) -> Option<(&'static str, Self)> {
        let room = Room::load(&self.0.save()).expect("what was saved can be loaded");
        Some(("its own bytes", Yard(room)))
    }

    fn fold(&self) -> Option<u64> {
        FOLD.then_some(self.0.fold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_that_save_can_have_written_are_loaded() {
        let mut room = Room::<true>::default();
        for _ in 0..100 {
            step(&mut room);
        }
        let bytes = room.save();
        assert_eq!(Room::load(&bytes), Some(room));
        assert_eq!(Room::<true>::load(&bytes[1..]), None);
        assert_eq!(Room::<true>::load(&[&bytes[..], &[0; 8]].concat()), None);
        let with = |word: usize, value: u64| {
            let mut bytes = bytes.clone();
            bytes[word * 8..][..8].copy_from_slice(&value.to_le_bytes());
            Room::<true>::load(&bytes)
        };
        for (word, value) in [(1, 1_000_001), (8, u64::MAX), (9, 13), (9, u64::MAX), (10, 0), (10, 39)] {
            assert_eq!(with(word, value), None, "word {word} = {value}");
        }
        assert!(with(9, 0).is_none(), "idle with ticks left");
    }
}
