//! The running room: `step` takes the inputs of one tick and gives its events (GD-03).

use crate::check::Checks;
use crate::draw::{Stream, draw};
use crate::event::{Event, What};
use crate::grid::{Cell, Grid, Paths};
use crate::input::{Command, Input, Verb};
use crate::item::{Evidence, Goal};
use crate::layout::Layout;
use crate::profile::Profile;
use crate::section::Phase;
use crate::setup::{Setup, read_seed};
use crate::shape::{Misread, Shape};
use crate::start;
use crate::state::{Channel, State};
use crate::step::Outcome;
use crate::world::Obj;
use canon::{Digest, Value};
use std::sync::Arc;

canon::codes! {
    /// Why a run does not start.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SetupFault {
        /// The seed is not 16 hexadecimal digits.
        Seed = "room_setup_seed",
        /// The Agent cannot stand where it should start.
        Spawn = "room_setup_spawn",
        /// A hazard harms too soon to be declared controllable (RC-CLK-08).
        Hazard = "room_setup_hazard_ttc",
        /// A danger cell is too far from safety (GD-13).
        HazardPlace = "room_setup_hazard_place",
        /// A level is outside of its domain.
        Level = "room_setup_level",
        /// A command or a wish of the fixture cannot be.
        Before = "room_setup_before",
    }
}

/// What of the events is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Nothing: the fastest. The room does the same.
    Nothing,
    /// Everything: the log of section 9.
    Everything,
}

/// A room that runs.
#[derive(Clone, Debug)]
pub struct Room {
    pub(crate) profile: Arc<Profile>,
    pub(crate) layout: Arc<Layout>,
    pub(crate) grid: Arc<Grid>,
    pub(crate) setup: Arc<Setup>,
    pub(crate) seed: u64,
    /// Distances for `world.blocked`; made anew when that changes and after loading, never saved.
    pub(crate) paths: Arc<Paths>,
    pub(crate) state: State,
    pub(crate) phase: Phase,
    pub(crate) tick: Scratch,
    pub(crate) listen: Listen,
    pub(crate) events: Vec<Event>,
    /// Absent only while P14 looks at the rest.
    pub(crate) checks: Option<Box<Checks>>,
    /// Ticks before the danger time, for each channel: with one path, and with a fallible one before it.
    pub(crate) margins: [[i64; 2]; Channel::COUNT],
    #[cfg(feature = "faults")]
    pub(crate) planted: crate::faults::Planted,
}

/// What lives for one tick only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Number of the next event.
    pub(crate) sequence: u32,
    /// Events of this tick that a fact may come from (INV-06).
    pub(crate) sources: Vec<u32>,
    /// Facts that were there when the tick began.
    pub(crate) facts_before: u32,
    /// Draws of each stream in this tick.
    pub(crate) drawn: [u64; STREAMS],
    /// Physical acts of people and environment, for the Reducer.
    pub(crate) acts: Vec<Command>,
    /// Edits behind the barrier, for the Reducer.
    pub(crate) edits: Vec<Command>,
    /// Answers of the proposer, for the decision.
    pub(crate) answers: Vec<Command>,
    /// Requests whose answer became a proposal in this tick, and when they were made (LIV-08).
    pub(crate) accepted: Vec<(u64, u64)>,
    /// Attempts that failed in this tick (LIV-03).
    pub(crate) failed: Vec<Failed>,
    /// Outcomes of this tick, for the Reducer.
    pub(crate) outcomes: Vec<Outcome>,
    /// Outcomes that were reduced in this tick (INV-05).
    pub(crate) reduced: Vec<(u32, u8)>,
    /// The authored source breaks out in this tick.
    pub(crate) ignite: bool,
    /// The Agent took a step.
    pub(crate) walked: bool,
    /// The system was edited in this tick (INV-10): how, and which object.
    pub(crate) edited: Option<(Verb, Option<Obj>)>,
}

/// An attempt that failed: goal, object, premise version, evidence.
pub(crate) type Failed = (Goal, Obj, u32, Evidence);

const STREAMS: usize = 10;

impl Room {
    /// A room before its first tick.
    ///
    /// # Errors
    /// A setup that cannot be; nothing is corrected silently.
    pub fn new(profile: Arc<Profile>, setup: Setup) -> Result<Room, SetupFault> {
        let seed = read_seed(&setup.seed).ok_or(SetupFault::Seed)?;
        let layout = Arc::new(Layout::new(&profile));
        let grid = Arc::new(Grid::of(&profile.world).expect("the profile was checked"));
        let state = start::state(&profile, &layout, &setup);
        let paths = Arc::new(Paths::new(&grid, &state.world.blocked));
        let mut room = Room {
            checks: Some(Box::new(Checks::new())),
            margins: crate::step::margins(&profile),
            #[cfg(feature = "faults")]
            planted: crate::faults::Planted::default(),
            profile,
            layout,
            grid,
            setup: Arc::new(setup),
            seed,
            paths,
            state,
            phase: Phase::P1,
            tick: Scratch::default(),
            listen: Listen::Nothing,
            events: Vec::new(),
        };
        room.check_setup()?;
        room.before()?;
        Ok(room)
    }

    fn check_setup(&self) -> Result<(), SetupFault> {
        if !self.state.body.cell.in_room() || !self.walkable(self.state.body.cell) {
            return Err(SetupFault::Spawn);
        }
        let wish = self.setup.fixture.want.as_ref().and_then(|want| want.human);
        if wish.is_some_and(|human| usize::from(human) >= crate::state::HUMANS) {
            return Err(SetupFault::Before);
        }
        let levels = &self.state.levels;
        let reserves =
            [levels.energy, levels.hydration, levels.calories, levels.thermal, levels.pain, levels.posture];
        let unit = 0..=crate::fixed::ONE;
        let signed = -crate::fixed::ONE..=crate::fixed::ONE;
        if !reserves.iter().all(|level| unit.contains(level)) || !signed.contains(&levels.engagement) {
            return Err(SetupFault::Level);
        }
        match &self.setup.fixture.hazard {
            Some(hazard) => self.check_hazard(hazard.cell, hazard.ttc, hazard.controllable),
            None => Ok(()),
        }
    }

    fn check_hazard(&self, cell: Cell, ttc: u64, controllable: bool) -> Result<(), SetupFault> {
        if controllable && ttc <= self.ticks(self.profile.safety.controllable_ttc_min) {
            return Err(SetupFault::Hazard);
        }
        let radius = self.profile.safety.danger_radius;
        let steps = self.profile.safety.evac_steps_max;
        match self.paths.steps_to_safety(&self.grid, &self.grid.danger_set(cell, radius)) {
            Some(most) if cell.in_room() && i64::from(most) <= steps => Ok(()),
            _ => Err(SetupFault::HazardPlace),
        }
    }

    /// Runs the commands of the fixture through the Reducer, as acts from outside before the first tick.
    fn before(&mut self) -> Result<(), SetupFault> {
        let setup = Arc::clone(&self.setup);
        let inputs: Vec<Input> =
            setup.fixture.before.iter().map(|command| Input { tick: 0, command: command.clone() }).collect();
        crate::input::check(&inputs).map_err(|_| SetupFault::Before)?;
        for command in &setup.fixture.before {
            self.apply_act(command);
        }
        self.observe_at_start();
        self.events.clear();
        self.tick = Scratch::default();
        self.state.forget_writers();
        Ok(())
    }

    /// One tick. Gives its events: none when nobody listens, which changes nothing else (PC-74).
    ///
    /// Inputs belong to this tick; [`crate::record`] refuses lists that do not fit before anything runs.
    pub fn step(&mut self, inputs: &[Command]) -> &[Event] {
        self.step_watched(inputs, &mut |_, _| {});
        &self.events
    }

    /// One tick, shown to `watch` after each phase: how a difference is blamed on its phase.
    #[inline]
    pub fn step_watched(&mut self, inputs: &[Command], watch: &mut impl FnMut(Phase, &State)) {
        self.begin();
        macro_rules! phases {
            ($($phase:ident => $run:expr;)+) => {$(
                self.phase = Phase::$phase;
                $run;
                watch(Phase::$phase, &self.state);
            )+};
        }
        phases! {
            P2 => self.take_inputs(inputs);
            P3 => self.move_hazards();
            P4 => self.watch_safety();
            P5 => self.arbitrate();
            P6 => self.advance_body();
            P7 => self.reduce();
            P8 => self.regulate();
            P9 => self.observe();
            P10 => self.learn_facts();
            P12 => self.decide();
            P13 => self.maintain();
            P14 => self.check();
        }
        self.phase = Phase::P15;
        self.state.now += 1;
    }

    /// Clock: a new tick begins.
    #[inline]
    fn begin(&mut self) {
        self.phase = Phase::P1;
        self.events.clear();
        self.state.forget_writers();
        self.tick.begin(self.state.facts.total);
    }

    /// The events of the last tick; none when nobody listens.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The tick that comes next.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.state.now
    }

    /// Everything the room is.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// The setup.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What was checked, how often, and what was broken first.
    ///
    /// # Panics
    /// Never: the checks are away within a tick only.
    #[must_use]
    pub fn checks(&self) -> &Checks {
        self.checks.as_ref().expect("between ticks the checks are there")
    }

    /// Keeps the events of the following ticks, or not.
    pub fn listen(&mut self, listen: Listen) {
        self.listen = listen;
    }

    /// The 64-bit fold of the state.
    #[inline]
    pub fn fold(&mut self) -> u64 {
        let fold = self.state.folded();
        if planted!(self, AddressInFold) { fold ^ impurity!(self) } else { fold }
    }

    /// The state hash of a record (GD-05).
    pub fn state_hash(&mut self) -> Digest {
        self.state.digest()
    }

    /// Everything needed to go on, as the canonical form.
    #[must_use]
    pub fn save(&self) -> Value {
        Value::Object(canon::Object::new().with("setup", self.setup.show()).with("state", self.state.show()))
    }

    /// Goes on from a saved room.
    ///
    /// # Errors
    /// A place that is not what [`Room::save`] writes.
    pub fn load(profile: Arc<Profile>, saved: &Value) -> Result<Room, Misread> {
        let object = crate::shape::object_of(saved, &["setup", "state"])?;
        let setup: Setup = crate::shape::member(object, "setup")?;
        let state: State = crate::shape::member(object, "state")?;
        state.sound().map_err(|misread| misread.under("state"))?;
        let mut room =
            Room::new(profile, setup).map_err(|_| Misread::here("a setup that can start").under("setup"))?;
        room.paths = Arc::new(Paths::new(&room.grid, &state.world.blocked));
        room.state = state;
        Ok(room)
    }

    /// Goes on with the state of a room that was loaded, keeping what only this one has: its checks, its listener.
    pub fn go_on_from(&mut self, loaded: Room) {
        self.paths = loaded.paths;
        self.state = loaded.state;
        #[cfg(feature = "faults")]
        self.lose_planted();
    }

    /// A number of ticks of the profile.
    #[inline]
    pub(crate) fn ticks(&self, ticks: i64) -> u64 {
        ticks.cast_unsigned()
    }

    /// The next draw of a stream in this tick (GD-02).
    pub(crate) fn draw(&mut self, stream: Stream) -> u64 {
        let stream = if planted!(self, SharedStream) { Stream::Pool } else { stream };
        let number = &mut self.tick.drawn[stream as usize];
        let drawn = draw(self.seed, stream as u64, self.state.now, *number);
        let drawn = if planted!(self, SystemDraw) { impurity!(self) } else { drawn };
        *number += 1;
        self.state.audit.edit(self.phase).draws[stream as usize] += 1;
        drawn
    }

    /// Counts an event and keeps it when somebody listens. Gives its number within the tick.
    #[inline]
    pub(crate) fn emit(&mut self, what: impl FnOnce() -> What) -> u32 {
        let sequence = self.tick.sequence;
        self.tick.sequence += 1;
        if self.listen == Listen::Everything {
            self.events.push(Event { tick: self.state.now, sequence, what: what() });
        }
        sequence
    }

    /// Asks for a decision (GD-03).
    pub(crate) fn trigger(&mut self, trigger: Trigger) {
        let bit = 1 << trigger as u32;
        if self.state.mind.triggers & bit == 0 {
            self.state.mind.edit(self.phase).triggers |= bit;
        }
    }

    /// A cell where one can stand.
    pub(crate) fn walkable(&self, cell: Cell) -> bool {
        self.grid.walkable().has(cell) && !self.state.world.blocked.has(cell)
    }

    /// Distances, after the blockers changed.
    pub(crate) fn find_paths(&mut self) {
        self.paths = Arc::new(Paths::new(&self.grid, &self.state.world.blocked));
    }
}

impl Scratch {
    #[inline]
    fn begin(&mut self, facts: u32) {
        self.sequence = 0;
        self.facts_before = facts;
        self.ignite = false;
        self.walked = false;
        self.edited = None;
        self.drawn = [0; STREAMS];
        self.sources.clear();
        self.acts.clear();
        self.edits.clear();
        self.answers.clear();
        self.accepted.clear();
        self.failed.clear();
        self.outcomes.clear();
        self.reduced.clear();
    }
}

crate::names! {
    /// What asks for a decision (GD-03).
    pub enum Trigger {
        /// Evidence was processed.
        Evidence = "evidence",
        /// An Interaction ended, or left the body.
        Closed = "closed",
        /// A body deadline was reached.
        Tier1 = "tier1",
        /// A cue is due.
        Cue = "cue",
        /// Safety or body control changed.
        Mode = "mode",
        /// A person's input was understood.
        Input = "input",
        /// The pacing of novelty is over.
        Novelty = "novelty",
        /// Idle is re-evaluated.
        Idle = "idle",
        /// FAILURE_RECOVERY changed.
        Recovery = "recovery",
        /// Something that runs may be left now.
        Recheck = "recheck",
    }
}
