//! What the reader of single values cannot see: a place in a list that is not there, a tick that has not come. A snapshot
//! that another hand has edited is refused with its path, it does not end the program later.

use super::{HUMANS, State};
use crate::grid::CELLS;
use crate::shape::Misread;
use crate::world::{Obj, Place};

impl State {
    /// That every index has its place and no memory is of the future.
    ///
    /// # Errors
    /// The first that has not.
    pub fn sound(&self) -> Result<(), Misread> {
        self.parents()?;
        self.persons()?;
        self.memories()
    }

    fn parents(&self) -> Result<(), Misread> {
        for (n, object) in self.world.objects.iter().enumerate() {
            let most = match object.parent.place {
                Place::Surface | Place::Container => Obj::COUNT,
                Place::HumanHand => HUMANS,
                Place::Cell => CELLS,
                Place::Fixed | Place::AgentHand | Place::Destroyed => continue,
            };
            if usize::from(object.parent.of) >= most {
                return at(&format!("world.objects.{n}.parent.of"), "a parent that there is");
            }
        }
        Ok(())
    }

    fn persons(&self) -> Result<(), Misread> {
        let known = |human: Option<u8>| human.is_none_or(|human| usize::from(human) < HUMANS);
        for item in self.queue.all() {
            if !known(item.human) {
                return at(&format!("queue item {}.human", item.id), "one of the persons");
            }
        }
        Ok(())
    }

    fn memories(&self) -> Result<(), Misread> {
        if self.hidden.sources.is_empty() {
            return at("hidden.sources", "the heater at least");
        }
        if self.hidden.sources.iter().any(|source| source.since > self.now) {
            return at("hidden.sources", "a stage that has begun");
        }
        let later = |tick: Option<u64>| tick.is_some_and(|tick| tick > self.now);
        if later(self.mind.novelty) || later(self.mind.explored) {
            return at("mind", "a start that was");
        }
        if self.visits.cells.len() != CELLS {
            return at("visits.cells", "one count for each cell");
        }
        Ok(())
    }
}

fn at(path: &str, expected: &'static str) -> Result<(), Misread> {
    Err(Misread::here(expected).under(path))
}
