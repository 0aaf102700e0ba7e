//! INV-01 to INV-10, as 16.15 makes them machine checks.

use super::{Check, Checks};
use crate::item::{Item, Owner, Phase};
use crate::room::Room;
use crate::section::{Phase as TickPhase, bit};
use crate::state::{ControlMode, HUMANS, SafetyMode, World};
use crate::world::{Family, Obj, Parent, Place};

/// Who may write the visible world and what is hidden in it.
const WORLD_WRITERS: u16 = bit(TickPhase::P3) | bit(TickPhase::P7);
/// Who may write the body.
const BODY_WRITERS: u16 = bit(TickPhase::P6) | bit(TickPhase::P7);
/// Who may write the reserves.
const LEVEL_WRITERS: u16 = bit(TickPhase::P3) | bit(TickPhase::P7) | bit(TickPhase::P8);

impl Room {
    pub(super) fn invariants(&self, checks: &mut Checks) {
        let now = self.state.now;
        let mut look = |check, broken: Option<u64>| {
            checks.checked(check);
            if let Some(about) = broken {
                checks.broke(check, now, about);
            }
        };
        look(Check::Inv01, self.parents());
        look(Check::Inv02, self.hands());
        look(Check::Inv03, self.owner());
        look(Check::Inv04, self.one_active());
        look(Check::Inv05, self.conserved());
        look(Check::Inv07, self.writers());
        self.outcomes_once(checks);
        self.facts_have_sources(checks);
        self.active_items(checks);
        self.danger_not_repeated(checks);
        self.edit_is_whole(checks);
    }

    fn parents(&self) -> Option<u64> {
        parents(&self.state.world, self.state.body.hand)
    }

    fn hands(&self) -> Option<u64> {
        let world = &self.state.world;
        let hand = self.state.body.hand;
        let held = |obj: Obj| world.object(obj).parent == Parent::AGENT_HAND;
        if hand.is_some_and(|obj| !held(obj)) {
            return Some(1);
        }
        let people = world.humans.iter().enumerate();
        people
            .filter_map(|(n, human)| human.hand.map(|obj| (n, obj)))
            .find(|(n, obj)| world.object(*obj).parent != Parent::human(*n as u8))
            .map(|(n, _)| n as u64)
    }

    /// The owner belongs to the mode of control, and that to the mode of Safety (GD-26).
    fn owner(&self) -> Option<u64> {
        let control = &self.state.control;
        let forced = match self.state.safety.mode {
            SafetyMode::Clear => None,
            SafetyMode::Recovery => Some(ControlMode::Recovery),
            _ if self.assist_open() => Some(ControlMode::OperatorLease),
            _ => Some(ControlMode::Emergency),
        };
        let free = !matches!(control.mode, ControlMode::Emergency | ControlMode::Recovery);
        let fits = forced.map_or(free, |mode| control.mode == mode);
        (!fits || control.owner != control.mode.owner()).then_some(control.owner as u64)
    }

    fn one_active(&self) -> Option<u64> {
        let active = self.state.queue.all().filter(|item| item.phase.on_body()).count();
        (active > 1).then_some(active as u64)
    }

    /// Portions that are there and portions that were used are what was there at the start and what was added.
    fn conserved(&self) -> Option<u64> {
        let (world, audit) = (&self.state.world, &self.state.audit);
        let stock = |a: Obj, b: Obj| i64::from(world.object(a).stock) + i64::from(world.object(b).stock);
        let regulation = &self.profile.regulation;
        let water = stock(Obj::Dispenser, Obj::Jug) + i64::from(audit.water_used);
        let food = stock(Obj::Pantry, Obj::Tin) + i64::from(audit.food_used);
        if water != regulation.water_portions + audit.water_added {
            return Some(Family::Water as u64);
        }
        let thirds = regulation.food_portions * regulation.eat_portion_parts;
        (food != thirds + audit.food_added).then_some(Family::Food as u64)
    }

    fn writers(&self) -> Option<u64> {
        let state = &self.state;
        let wrong = [
            state.world.writers() & !WORLD_WRITERS,
            state.hidden.writers() & !WORLD_WRITERS,
            state.body.writers() & !BODY_WRITERS,
            state.levels.writers() & !LEVEL_WRITERS,
        ];
        wrong.iter().position(|wrong| *wrong != 0).map(|n| n as u64)
    }

    /// An independent memory of Outcome IDs, beside the Reducer's own.
    fn outcomes_once(&self, checks: &mut Checks) {
        if self.tick.reduced.is_empty() {
            return;
        }
        for id in &self.tick.reduced {
            if id.0 < checks.oldest || !checks.outcomes.insert(*id) {
                checks.broke(Check::Inv05, self.state.now, u64::from(id.0));
            }
        }
        if let Some(oldest) = self.state.queue.all().map(|item| item.id).min() {
            checks.oldest = oldest;
            checks.outcomes = checks.outcomes.split_off(&(oldest, 0));
        }
    }

    fn facts_have_sources(&self, checks: &mut Checks) {
        let facts = &self.state.facts;
        let new = facts.total - self.tick.facts_before;
        if new == 0 {
            return;
        }
        checks.checked(Check::Inv06);
        for fact in facts.list.iter().rev().take(new as usize) {
            if fact.tick != self.state.now || !self.tick.sources.contains(&fact.sequence) {
                checks.broke(Check::Inv06, self.state.now, u64::from(fact.cluster));
                return;
            }
        }
    }

    fn active_items(&self, checks: &mut Checks) {
        let Some(item) = self.state.queue.active() else { return };
        checks.checked(Check::Inv08);
        if !self.sound(item) {
            checks.broke(Check::Inv08, self.state.now, u64::from(item.id));
        }
    }

    /// Version, reservation and a deadline that lies ahead.
    fn sound(&self, item: &Item) -> bool {
        let version = item.target.is_none_or(|target| self.current(item, target));
        let reservation = item.target.is_none() || item.reserved || item.lost;
        let row = self.profile.interaction.of(item.kind);
        let ahead = match item.phase {
            Phase::Preparing => {
                self.state.now < item.since + self.ticks(self.profile.clock.preparing_max) + 1
            }
            _ => item.running_tick(self.state.now) <= row.maximum.cast_unsigned(),
        };
        version && reservation && ahead
    }

    /// What it was proposed for is still what is there, or changed after the last look at it in this tick. A commit under
    /// way is finished, and what is left of a meal or a repair goes on.
    fn current(&self, item: &Item, target: Obj) -> bool {
        let object = self.state.world.object(target);
        let same = item.premise_version == object.premise_version || object.premise_since == self.state.now;
        item.premise_version > 0 && (same || item.parts > 0 || item.phase == Phase::Committed)
    }

    fn danger_not_repeated(&self, checks: &mut Checks) {
        let safety = &self.state.safety;
        if safety.mode == SafetyMode::Clear {
            return;
        }
        checks.checked(Check::Inv09);
        let source = usize::from(safety.source);
        let again = self.state.queue.all().find(|item| {
            // What was ordered in the tick of the entry came before it, and is marked.
            let after = item.created > safety.entered || (item.created == safety.entered && !item.risk);
            item.owner != Owner::Safety && item.alive() && after && self.causes_risk(item, source)
        });
        if let Some(item) = again {
            checks.broke(Check::Inv09, self.state.now, u64::from(item.id));
        }
    }

    fn edit_is_whole(&self, checks: &mut Checks) {
        let Some((verb, object)) = self.tick.edited else { return };
        checks.checked(Check::Inv10);
        let half = self.state.queue.all().find(|item| {
            item.phase == Phase::Committed
                || (item.reserved && matches!(item.phase, Phase::Closed | Phase::Proposed))
                || (item.created < self.state.now && crate::step::touched(verb, object, item) && item.alive())
        });
        if let Some(item) = half {
            checks.broke(Check::Inv10, self.state.now, u64::from(item.id));
        }
    }
}

/// Where the lists stand: what each object holds first, then the floor, what stands, what is gone, the Agent's hand, those of
/// the people, and one for a parent that there is not.
const FLOOR: usize = Obj::COUNT;
const FIXED: usize = FLOOR + 1;
const GONE: usize = FIXED + 1;
const HAND: usize = GONE + 1;
const PEOPLE: usize = HAND + 1;
const NOWHERE: usize = PEOPLE + HUMANS;
const LISTS: usize = NOWHERE + 1;

/// Each object is on exactly one list, and its own parent says which: the lists as the objects tell them are the lists that
/// are kept.
fn parents(world: &World, hand: Option<Obj>) -> Option<u64> {
    let mut told = [0_u32; LISTS];
    for (n, object) in world.objects.iter().enumerate() {
        told[list(object.parent)] |= 1 << n;
    }
    let mut kept = [0_u32; LISTS];
    kept[..FLOOR].copy_from_slice(&world.inside);
    kept[FLOOR] = world.floor;
    kept[FIXED] = world.fixed;
    kept[GONE] = world.destroyed;
    kept[HAND] = hand.map_or(0, Obj::bit);
    for (n, human) in world.humans.iter().enumerate() {
        kept[PEOPLE + n] = human.hand.map_or(0, Obj::bit);
    }
    let wrong = told.iter().zip(&kept).map(|(told, kept)| told ^ kept).find(|wrong| *wrong != 0)?;
    Some(u64::from(wrong.trailing_zeros()))
}

/// The list that a parent means.
#[inline]
fn list(parent: Parent) -> usize {
    let (first, end) = match parent.place {
        Place::Surface | Place::Container => (0, FLOOR),
        Place::Cell => return FLOOR,
        Place::Fixed => return FIXED,
        Place::Destroyed => return GONE,
        Place::AgentHand => return HAND,
        Place::HumanHand => (PEOPLE, NOWHERE),
    };
    let list = first + usize::from(parent.of);
    if list < end { list } else { NOWHERE }
}
