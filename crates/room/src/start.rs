//! The state before the first tick.

use crate::choose;
use crate::episode::Episodes;
use crate::fixed::ONE;
use crate::grid::{CELLS, Cell, CellSet, Direction};
use crate::item::Owner;
use crate::layout::Layout;
use crate::learn::Expectations;
use crate::profile::Profile;
use crate::retry::Ledger;
use crate::section::Section;
use crate::setup::Setup;
use crate::state::*;
use crate::world::{Authority, Curve, Obj, Parent, Source, Stage, Visible};

/// The first state of a run, before the commands of its fixture.
pub(crate) fn state(profile: &Profile, layout: &Layout, setup: &Setup) -> State {
    let world = world(profile, layout);
    let [x, y] = profile.world.spawn;
    let spawn = setup.fixture.spawn.or(Cell::at(x, y)).unwrap_or(Cell(0));
    State {
        now: 0,
        levels: Section::new(setup.fixture.levels.unwrap_or(levels(profile))),
        body: Section::new(Body { cell: spawn, facing: Direction::North, pose: Pose::Standing, hand: None }),
        hidden: Section::new(hidden(profile, layout, setup)),
        safety: Section::new(safety()),
        control: Section::new(control()),
        queue: Section::new(Queue { items: Vec::new(), safety: Vec::new(), operator: Vec::new(), next: 1 }),
        pending: Section::new(Pendings { list: Vec::new() }),
        regulation: Section::new(regulation()),
        mind: Section::new(mind()),
        habits: Section::new(choose::Memory::new()),
        visits: Section::new(Visits { cells: vec![0; CELLS] }),
        expectations: Section::new(Expectations::new()),
        retries: Section::new(Ledger::new()),
        recovery: Section::new(recovery()),
        episodes: Section::new(Episodes::new(profile)),
        beliefs: Section::new(beliefs(&world)),
        facts: Section::new(Facts { list: Vec::new(), total: 0, next_cluster: 1 }),
        seen: Section::new(Seen { commands: Vec::new(), recent: Vec::new(), deferred: Vec::new() }),
        audit: Section::new(audit()),
        world: Section::new(world),
    }
}

fn levels(profile: &Profile) -> Levels {
    let reserve = profile.regulation.initial_reserves;
    Levels {
        energy: reserve,
        hydration: reserve,
        calories: reserve,
        thermal: reserve,
        pain: ONE - profile.regulation.initial_pain_comfort,
        posture: reserve,
        engagement: profile.regulation.initial_engagement,
    }
}

/// Where each object is at the start (GD-09), and its stock.
fn world(profile: &Profile, layout: &Layout) -> World {
    let blank = Visible {
        parent: Parent::DESTROYED,
        on: false,
        broken: false,
        stock: 0,
        object_version: 1,
        premise_version: 1,
        premise_since: 0,
    };
    let absent = Human { present: false, cell: door(profile), hand: None, busy: false };
    let mut world = World {
        objects: std::array::from_fn(|_| blank.clone()),
        inside: [0; Obj::COUNT],
        floor: 0,
        fixed: 0,
        destroyed: (1 << Obj::COUNT) - 1,
        humans: std::array::from_fn(|_| absent.clone()),
        blocked: CellSet::default(),
        version: 1,
    };
    for obj in Obj::ALL {
        world.place(obj, first_parent(profile, layout, obj), &mut None);
    }
    let (regulation, thirds) = (&profile.regulation, profile.regulation.eat_portion_parts);
    for (obj, stock) in [
        (Obj::Dispenser, regulation.water_portions_primary),
        (Obj::Jug, regulation.water_portions_backup),
        (Obj::Pantry, regulation.food_portions_primary * thirds),
        (Obj::Tin, regulation.food_portions_backup * thirds),
    ] {
        world.objects[obj.index()].stock = u32::try_from(stock).expect("the profile bounds stocks");
    }
    world.objects[Obj::Breaker.index()].on = true;
    world.objects[Obj::Radio.index()].broken = true;
    world
}

/// Where an object is at the start; System Edit puts it back there.
pub(crate) fn first_parent(profile: &Profile, layout: &Layout, obj: Obj) -> Parent {
    match obj {
        Obj::Jug | Obj::Tin | Obj::Cup => Parent::with(Obj::Table),
        Obj::Radio => Parent::with(Obj::Workbench),
        Obj::Screwdriver | Obj::Coil => Parent::with(Obj::SharedBox),
        Obj::Notebook | Obj::MedicationBox => Parent::with(Obj::Drawer),
        Obj::Plant => {
            let [x, y] = profile.world.place_plant;
            Parent::cell(Cell::at(x, y).unwrap_or(Cell(0)))
        }
        _ => Parent::fixed(layout.cells(obj).first().copied().unwrap_or(Cell(0))),
    }
}

fn door(profile: &Profile) -> Cell {
    let [x, y] = profile.world.anchor_door;
    Cell::at(x, y).unwrap_or(Cell(0))
}

fn hidden(profile: &Profile, layout: &Layout, setup: &Setup) -> Hidden {
    let off = |cell, curve, ttc: u64, visible, uncontrollable| Source {
        cell,
        curve,
        stage: Stage::Off,
        since: 0,
        risk: 0,
        ttc,
        fault: false,
        visible,
        uncontrollable,
        harmed: false,
    };
    let heater = layout.cells(Obj::Heater).first().copied().unwrap_or(Cell(0));
    let ttc = profile.safety.heater_ttc.cast_unsigned();
    let mut sources = vec![off(heater, Curve::Heater, ttc, setup.fixture.heater_visible, false)];
    if let Some(hazard) = &setup.fixture.hazard {
        sources.push(off(hazard.cell, Curve::Series, hazard.ttc, hazard.visible, !hazard.controllable));
    }
    Hidden { objects: std::array::from_fn(|_| Authority { locked: false, damaged: false }), sources }
}

fn safety() -> Safety {
    Safety {
        mode: SafetyMode::Clear,
        since: 0,
        clear_from: None,
        outside_from: None,
        episode: 0,
        entered: 0,
        confirmed: false,
        called: false,
        source: 0,
        assist_until: None,
        assisted: false,
        safe_at: None,
        entries: 0,
    }
}

fn control() -> Control {
    Control {
        mode: ControlMode::Autonomous,
        owner: Owner::Agent,
        since: 0,
        until: 0,
        commanded: 0,
        waiting: None,
        lease_asked: false,
        refused_for: None,
        intervened: None,
    }
}

fn regulation() -> Regulation {
    let record = Uncontrolled { t0: None, since: None, messages: 0, urgency: 0, asking: false };
    Regulation {
        band: [Band::Comfort; Channel::COUNT],
        control: [Controllable::Yes; Channel::COUNT],
        fallible: [false; Channel::COUNT],
        none: [false; Channel::COUNT],
        record: std::array::from_fn(|_| record.clone()),
        tier1: 0,
        early: 0,
        served: [0; Channel::COUNT],
        minute_work: false,
        minute_paused: false,
        minute_busy: false,
        familiar: None,
        waste: 0,
    }
}

fn mind() -> Mind {
    Mind {
        triggers: 0,
        intent: None,
        next_intent: 1,
        transactions: 0,
        cue: None,
        inspected: std::array::from_fn(|_| Inspected { count: 0, premise_version: 0 }),
        novelty: None,
        explored: None,
        wanted: 0,
        scans: 0,
        search: None,
        answered: Vec::new(),
        withdrawn: None,
    }
}

fn recovery() -> Recovery {
    Recovery {
        mode: RecoveryMode::Normal,
        cause: RecoveryCause::None,
        since: 0,
        spent: 0,
        success: None,
        failed: 0,
        option: 0,
        item: None,
        goal: None,
        target: None,
        episodes: 0,
        resting: None,
        suspended: 0,
    }
}

fn beliefs(world: &World) -> Beliefs {
    Beliefs {
        objects: std::array::from_fn(|n| Belief { seen: world.objects[n].clone(), tick: 0 }),
        blocked: world.blocked,
        present: 0,
        hazard: false,
        version: world.version,
        refuted: 0,
    }
}

fn audit() -> Audit {
    Audit {
        reduced: Vec::new(),
        duplicates: 0,
        water_used: 0,
        food_used: 0,
        water_added: 0,
        food_added: 0,
        draws: [0; 10],
        outcomes: 0,
        prepared: 0,
        canceled: 0,
    }
}
