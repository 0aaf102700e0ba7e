//! The authoritative Tests: they read the truth and answer with general evidence only (GD-84).

use crate::grid::Cell;
use crate::item::{Evidence, Goal, Item, Owner};
use crate::kind::Kind;
use crate::room::Room;
use crate::world::{Obj, Place};

impl Room {
    /// The cell from which an object can be used, nearest to the Agent, and the steps there. From the truth.
    pub(crate) fn access(&self, obj: Obj) -> Option<(Cell, u8)> {
        let world = &self.state.world;
        self.layout.nearest(obj, &|o| world.object(o).parent, self.state.body.cell, &self.paths)
    }

    /// Where the body has to be for an item: the cell and the steps there.
    pub(crate) fn destination(&self, item: &Item) -> Option<(Cell, u8)> {
        let here = self.state.body.cell;
        if let Some(cell) = item.cell {
            return self.paths.distance(here, cell).map(|steps| (cell, steps));
        }
        match item.target {
            // Safety confirms from where the body is: it does not walk up to a danger.
            Some(_) if item.kind == Kind::LookAt && item.owner == Owner::Safety => Some((here, 0)),
            // What is looked for has no place to go to.
            Some(_) if item.goal == Goal::Search => Some((here, 0)),
            Some(target) if self.in_hand(target) => Some((here, 0)),
            Some(target) if handled_beside(item.kind) => {
                let (cell, steps) = self.access(target)?;
                match self.way_to_switch(item, cell) {
                    Some(way) => way.map(|(steps, _)| (cell, steps)),
                    None => Some((cell, steps)),
                }
            }
            _ => Some((here, 0)),
        }
    }

    pub(crate) fn in_hand(&self, obj: Obj) -> bool {
        self.state.body.hand == Some(obj)
    }

    /// Whether an item can start, from the truth. Hidden faults are found out by trying.
    pub(crate) fn start_test(&self, item: &Item) -> Evidence {
        let evidence = self.target_test(item);
        if evidence != Evidence::Ok {
            return evidence;
        }
        let evidence = self.hand_test(item);
        if evidence != Evidence::Ok {
            return evidence;
        }
        match self.destination(item) {
            Some((_, steps)) if i64::from(steps) <= self.profile.interaction.walk_wcet => Evidence::Ok,
            _ => Evidence::PathBlocked,
        }
    }

    /// Whether what it is about is still what it was meant to be; asked again in every tick.
    pub(crate) fn target_test(&self, item: &Item) -> Evidence {
        if let Some(human) = item.human {
            let human = &self.state.world.humans[usize::from(human)];
            if !human.present {
                return Evidence::RefusedByPerson;
            }
        }
        let Some(target) = item.target.filter(|_| item.goal != Goal::Search) else { return Evidence::Ok };
        let object = self.state.world.object(target);
        match object.parent.place {
            Place::Destroyed => return Evidence::NotThere,
            Place::HumanHand if item.kind != Kind::Receive => return Evidence::RefusedByPerson,
            _ => {}
        }
        if item.kind != Kind::LookAt && object.broken && !matches!(item.kind, Kind::Repair | Kind::PickUp) {
            return Evidence::NoEffect;
        }
        if matches!(item.kind, Kind::Drink | Kind::Eat) && object.stock == 0 {
            return Evidence::NoEffect;
        }
        Evidence::Ok
    }

    fn hand_test(&self, item: &Item) -> Evidence {
        let hand = self.state.body.hand;
        let fits = match item.kind {
            Kind::PickUp | Kind::Receive => hand.is_none(),
            Kind::PutDown | Kind::Give => hand.is_some() && (item.target.is_none() || hand == item.target),
            Kind::Repair => hand == Some(Obj::Screwdriver),
            _ => true,
        };
        if fits { Evidence::Ok } else { Evidence::HandConflict }
    }

    /// What happens at a commit: the truth, hidden faults included, answered as general evidence.
    pub(crate) fn commit_test(&self, item: &Item) -> Evidence {
        let evidence = self.target_test(item);
        if evidence != Evidence::Ok {
            return evidence;
        }
        if let Some(target) = item.target {
            let hidden = &self.state.hidden.objects[target.index()];
            let opens = matches!(item.kind, Kind::Open | Kind::Close);
            if hidden.locked && opens {
                return Evidence::DoesNotOpen;
            }
            let inside = self.state.world.object(target).parent.holder();
            let shut = inside.is_some_and(|holder| self.state.hidden.objects[holder.index()].locked);
            if shut && item.kind == Kind::PickUp {
                return Evidence::NotGraspable;
            }
            if hidden.damaged && item.kind != Kind::Repair {
                return Evidence::NoEffect;
            }
        }
        self.commit_hands(item)
    }

    fn commit_hands(&self, item: &Item) -> Evidence {
        let human = item.human.map(|human| &self.state.world.humans[usize::from(human)]);
        let person = |free: bool| human.is_some_and(|h| h.present && !h.busy && (h.hand.is_none() == free));
        let fits = match item.kind {
            Kind::PickUp => self.state.body.hand.is_none() && item.target.is_some_and(Obj::movable),
            Kind::PutDown => self.state.body.hand.is_some() && self.drop_place(item).is_some(),
            Kind::Give => self.state.body.hand.is_some() && person(true),
            Kind::Receive => {
                self.state.body.hand.is_none() && person(false) && human.and_then(|h| h.hand) == item.target
            }
            _ => true,
        };
        if fits { Evidence::Ok } else { Evidence::HandConflict }
    }

    /// Where PutDown puts things: on a surface or in an open container beside the Agent, else on the floor.
    pub(crate) fn drop_place(&self, item: &Item) -> Option<crate::world::Parent> {
        use crate::world::Parent;
        let held = self.state.body.hand?;
        let room_on = |holder: Obj| {
            let capacity = if holder.container() {
                self.profile.world.container_capacity
            } else {
                self.profile.world.surface_capacity
            };
            let open = !holder.container() || self.state.world.object(holder).on;
            open && i64::from(self.state.world.held_by(holder)) < capacity
        };
        let beside = |holder: Obj| self.access(holder).is_some_and(|(_, steps)| steps == 0);
        Obj::ALL
            .into_iter()
            .filter(|obj| *obj != held && (obj.surface() || obj.container()))
            .find(|obj| room_on(*obj) && beside(*obj))
            .map(Parent::with)
            .or_else(|| Some(Parent::cell(item.cell.unwrap_or(self.state.body.cell))))
    }
}

/// Kinds that need the body beside their target.
fn handled_beside(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::TurnTo | Kind::PutDown | Kind::Give | Kind::Receive | Kind::Speak | Kind::Ask | Kind::Negotiate
    )
}
