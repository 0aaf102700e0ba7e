//! The room and what is in it: where things are, and the one way to move them.

mod hazard;
mod object;

pub use hazard::{Curve, Source, Stage};
pub use object::{Authority, Family, Obj, Parent, Place, Visible};

use crate::grid::Cell;
use crate::state::World;

/// Who moved or changed something: decides about `premise_version` (GD-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The predicted effect of the Agent's own Outcome.
    Own,
    /// Anything else.
    Foreign,
}

impl World {
    /// An object.
    #[inline]
    #[must_use]
    pub fn object(&self, obj: Obj) -> &Visible {
        &self.objects[obj.index()]
    }

    /// Where one stands to use an object is found from this cell: its own, or that of what holds it. `None` for what is in
    /// a hand or gone.
    #[must_use]
    pub fn cell_of(&self, obj: Obj) -> Option<Cell> {
        cell_of(obj, |held| self.object(held).parent)
    }

    /// Moves an object: its parent, and both lists, in one step (RC-LIF-07).
    pub fn place(&mut self, obj: Obj, parent: Parent, hand: &mut Option<Obj>) {
        self.unlist(obj, hand);
        self.objects[obj.index()].parent = parent;
        match parent.place {
            Place::Cell => self.floor |= obj.bit(),
            Place::Fixed => self.fixed |= obj.bit(),
            Place::Destroyed => self.destroyed |= obj.bit(),
            Place::Surface | Place::Container => self.inside[usize::from(parent.of)] |= obj.bit(),
            Place::AgentHand => *hand = Some(obj),
            Place::HumanHand => self.humans[usize::from(parent.of)].hand = Some(obj),
        }
    }

    fn unlist(&mut self, obj: Obj, hand: &mut Option<Obj>) {
        let old = self.object(obj).parent;
        match old.place {
            Place::Cell => self.floor &= !obj.bit(),
            Place::Fixed => self.fixed &= !obj.bit(),
            Place::Destroyed => self.destroyed &= !obj.bit(),
            Place::Surface | Place::Container => self.inside[usize::from(old.of)] &= !obj.bit(),
            Place::AgentHand => *hand = None,
            Place::HumanHand => self.humans[usize::from(old.of)].hand = None,
        }
    }

    /// Counts a change of an object (GD-04).
    pub fn changed(&mut self, obj: Obj, cause: Cause, now: u64) {
        self.version += 1;
        let object = &mut self.objects[obj.index()];
        object.object_version += 1;
        if cause == Cause::Foreign {
            object.premise_version += 1;
            object.premise_since = now;
        }
    }

    /// How many things lie on or in an object.
    #[must_use]
    pub fn held_by(&self, holder: Obj) -> u32 {
        self.inside[holder.index()].count_ones()
    }
}

/// The cell of an object, given where each object is: beliefs use it as well as the truth.
#[must_use]
pub fn cell_of(obj: Obj, parent_of: impl Fn(Obj) -> Parent) -> Option<Cell> {
    let parent = parent_of(obj);
    match parent.place {
        Place::Cell | Place::Fixed => Some(Cell(parent.of)),
        Place::Surface | Place::Container => {
            let holder = parent_of(parent.holder()?);
            matches!(holder.place, Place::Fixed | Place::Cell).then_some(Cell(holder.of))
        }
        Place::AgentHand | Place::HumanHand | Place::Destroyed => None,
    }
}
