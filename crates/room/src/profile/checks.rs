//! What the numbers of a profile owe to each other.

use super::Profile;
use super::problem::{Code, Problem};
use crate::fixed::ONE;
use crate::grid::{Cell, CellSet, Grid, Paths};
use crate::kind::Kind;

type Check = fn(&Profile, &mut Vec<Problem>);

/// Adds what contradicts itself in `profile`.
pub(super) fn check(profile: &Profile, problems: &mut Vec<Problem>) {
    let checks: [Check; 9] =
        [safety_path, hazard_ttc, dwell, interactions, hysteresis, sums, retries, fixtures, world];
    for check in checks {
        check(profile, problems);
    }
}

/// Notes that a relation does not hold.
fn hold(ok: bool, problems: &mut Vec<Problem>, code: Code, key: &str, values: &[i64]) {
    if !ok {
        problems.push(Problem::new(code, key, format!("{values:?}")));
    }
}

/// RC-SAF-09, RC-CLK-08: `1 + 2 + 10 = 13`, twice that is the least time to harm of what counts as controllable.
fn safety_path(profile: &Profile, problems: &mut Vec<Problem>) {
    let safety = &profile.safety;
    let path = safety.reaction();
    for (key, found, expected) in [
        ("safety.controllable_ttc_min", safety.controllable_ttc_min, 2 * path),
        ("safety.evac_at_remaining_ttc", safety.evac_at_remaining_ttc, 2 * path),
        ("safety.assist_takeback_ttc", safety.assist_takeback_ttc, path),
        ("interaction.evacuate_wcet", profile.interaction.evacuate_wcet, safety.evacuate_max),
    ] {
        hold(found == expected, problems, Code::SafetyPath, key, &[found, expected]);
    }
    let ttc = safety.heater_ttc;
    hold(path < ttc, problems, Code::SafetyPath, "safety.heater_ttc", &[path, ttc]);
    let fits = safety.evac_steps_max + safety.interrupt_max <= safety.evacuate_max;
    hold(fits, problems, Code::SafetyPath, "safety.evac_steps_max", &[safety.evac_steps_max]);
    let (clear, recovery, least) = (safety.clear_hold, safety.recovery_hold, safety.shortest_action);
    let held = clear >= least && recovery >= least;
    hold(held, problems, Code::SafetyPath, "safety.clear_hold", &[clear, recovery, least]);
}

/// GD-12: loading refuses content that is declared controllable and is not.
fn hazard_ttc(profile: &Profile, problems: &mut Vec<Problem>) {
    let (ttc, least) = (profile.safety.heater_ttc, profile.safety.controllable_ttc_min);
    hold(ttc > least, problems, Code::HazardTtc, "safety.heater_ttc", &[ttc, least]);
}

/// GD-20, GD-21, RC-TSK-03.
fn dwell(profile: &Profile, problems: &mut Vec<Problem>) {
    let (clock, interaction, task) = (&profile.clock, &profile.interaction, &profile.task);
    let dwells = clock.pending_max + clock.preparing_max;
    hold(
        dwells <= clock.proposal_ttl,
        problems,
        Code::Dwell,
        "clock.proposal_ttl",
        &[dwells, clock.proposal_ttl],
    );
    let approach = interaction.walk_wcet + interaction.approach_turn + interaction.approach_reserve;
    let fits = approach == clock.preparing_max;
    hold(fits, problems, Code::Dwell, "clock.preparing_max", &[approach, clock.preparing_max]);
    let stable = interaction.walk_wcet + interaction.pickup_putdown_wcet + task.stable_margin;
    hold(
        stable == task.stable_window,
        problems,
        Code::Dwell,
        "task.stable_window",
        &[stable, task.stable_window],
    );
    let (day, night) = (clock.day_begin, clock.night_begin);
    hold(day < night, problems, Code::Dwell, "clock.day_begin", &[day, night]);
}

/// GD-22, GD-33: windows lie in the run, end within the bound, and nothing holds the body longer than it may.
fn interactions(profile: &Profile, problems: &mut Vec<Problem>) {
    let clock = &profile.clock;
    for kind in Kind::ALL.iter().copied() {
        let row = profile.interaction.of(kind);
        let windows = row.windows().all(|(commit, span)| {
            commit + span - 1 <= row.wcet
                && span <= clock.commit_finish_max
                && row.safe_point(commit + span - 1)
        });
        let ascending = row.windows().zip(row.windows().skip(1)).all(|(one, next)| one.0 + one.1 <= next.0);
        let bounds = row.cleanup <= clock.cleaning_max
            && row.nonpreempt <= clock.nonpreempt_max
            && row.minimum <= row.maximum;
        hold(
            windows && ascending && bounds,
            problems,
            Code::Interaction,
            kind.name(),
            &[row.wcet, row.cleanup],
        );
    }
    let (regulation, interaction) = (&profile.regulation, &profile.interaction);
    for (key, path, own) in [
        ("regulation.hydration_path", regulation.hydration_path, interaction.drink_wcet),
        ("regulation.calories_path", regulation.calories_path, interaction.eat_wcet),
        ("regulation.energy_path", regulation.energy_path, interaction.sleep_check),
    ] {
        let sum = interaction.walk_wcet + own;
        hold(path == sum, problems, Code::Interaction, key, &[path, sum]);
    }
}

/// RC-REG-02 to RC-REG-04, RC-SAF-06, RC-RES-09.
fn hysteresis(profile: &Profile, problems: &mut Vec<Problem>) {
    let (regulation, safety) = (&profile.regulation, &profile.safety);
    let levels = [
        regulation.failure_boundary,
        regulation.danger_enter,
        regulation.danger_exit,
        regulation.warning_enter,
        regulation.warning_exit,
        regulation.comfort,
    ];
    let rising = levels.windows(2).all(|pair| pair[0] < pair[1]);
    hold(rising, problems, Code::Hysteresis, "regulation.comfort", &levels);
    let (below, enter) = (safety.recovery_below, safety.alert_enter);
    hold(below < enter, problems, Code::Hysteresis, "safety.alert_enter", &[below, enter]);
    let base = safety.heater_risk_base;
    hold(base >= enter, problems, Code::Hysteresis, "safety.heater_risk_base", &[base, enter]);
}

/// GD-11, GD-27, GD-41, GD-12, AR-23.
fn sums(profile: &Profile, problems: &mut Vec<Problem>) {
    let (safety, regulation) = (&profile.safety, &profile.regulation);
    let (selection, learning) = (&profile.selection, &profile.learning);
    let water = regulation.water_portions_primary + regulation.water_portions_backup;
    let food = regulation.food_portions_primary + regulation.food_portions_backup;
    let meal = regulation.eat_part_effect * regulation.eat_portion_parts;
    let caps = selection.cost_time_cap
        + selection.cost_distance_cap
        + selection.cost_risk_cap
        + selection.cost_resource_cap;
    let flame = safety.heater_risk_base + safety.heater_risk_span;
    for (key, whole, parts) in [
        ("regulation.water_portions", regulation.water_portions, water),
        ("regulation.food_portions", regulation.food_portions, food),
        ("regulation.eat_effect", regulation.eat_effect, meal),
        ("selection.cost", selection.cost, caps),
        ("safety.flame_risk", safety.flame_risk, flame),
    ] {
        hold(whole == parts, problems, Code::Sum, key, &[whole, parts]);
    }
    let (window, weight) = (selection.window, selection.weight);
    hold(window < weight, problems, Code::Sum, "selection.weight", &[window, weight]);
    let learned = selection.gain * learning.step_max / ONE;
    for (key, most) in
        [("learning.episode_cap", learning.episode_cap), ("learning.lineage_cap", learning.lineage_cap)]
    {
        hold(learned <= most, problems, Code::Sum, key, &[learned, most]);
    }
}

/// GD-52.
fn retries(profile: &Profile, problems: &mut Vec<Problem>) {
    let task = &profile.task;
    let most = task.class_budget + task.grants_max * task.grant;
    hold(most <= task.lifetime_cap, problems, Code::Retry, "task.lifetime_cap", &[most, task.lifetime_cap]);
    let (local, class) = (task.local_attempts, task.class_budget);
    hold(local <= class, problems, Code::Retry, "task.local_attempts", &[local, class]);
}

/// RC-FIX-01, RC-FIX-03, GD-46, RC-SEE-02.
fn fixtures(profile: &Profile, problems: &mut Vec<Problem>) {
    let (fixture, selection) = (&profile.fixture, &profile.selection);
    let seeds = [fixture.seed_calibration[1], fixture.seed_holdout[0], fixture.seed_holdout[1]];
    hold(
        seeds[0] < seeds[1] && seeds[1] <= seeds[2],
        problems,
        Code::Fixture,
        "fixture.seed_holdout",
        &seeds,
    );
    let base = fixture.v08_lists[0].len() as i64;
    let coprime = fixture.v08_stride % base != 0;
    hold(coprime, problems, Code::Fixture, "fixture.v08_stride", &[fixture.v08_stride, base]);
    let lists = fixture.v08_lists.len() as i64;
    let worst = 2 * lists * fixture.v08_epsilon;
    let margin = profile.clock.switch_margin;
    hold(worst < margin, problems, Code::Fixture, "fixture.v08_epsilon", &[worst, margin]);
    for (list, (min, max)) in fixture.v08_lists.iter().zip([
        (0, selection.gain),
        (0, selection.role),
        (0, selection.information),
        (-selection.correction, selection.correction),
        (-selection.cost, 0),
        (-selection.repetition, 0),
    ]) {
        let inside = list.iter().all(|value| (min..=max).contains(value));
        hold(inside, problems, Code::Fixture, "fixture.v08_lists", list);
    }
    let ttc = fixture.v03_ttc[0];
    let least = profile.safety.controllable_ttc_min;
    hold(ttc == least + 1, problems, Code::Fixture, "fixture.v03_ttc", &[ttc, least]);
}

/// GD-08, GD-13: the layout is one, WalkTo reaches everything, and every danger cell is near safety.
fn world(profile: &Profile, problems: &mut Vec<Problem>) {
    let world = &profile.world;
    let Some(grid) = Grid::of(world) else {
        problems.push(Problem::new(Code::World, "world.rows", ""));
        return;
    };
    let paths = Paths::new(&grid, &CellSet::default());
    let longest = paths.diameter(&grid).map_or(i64::MAX, i64::from);
    let reach = profile.interaction.walk_wcet;
    hold(longest <= reach, problems, Code::World, "world.rows", &[longest, reach]);
    let named = [
        ("world.spawn", world.spawn),
        ("world.anchor_breaker", world.anchor_breaker),
        ("world.anchor_window", world.anchor_window),
        ("world.anchor_notice_board", world.anchor_notice_board),
        ("world.anchor_picture", world.anchor_picture),
        ("world.anchor_clock", world.anchor_clock),
        ("world.anchor_door", world.anchor_door),
    ];
    for (key, place) in named.into_iter().chain(world.zones.map(|centre| ("world.zones", centre))) {
        let stands = Cell::at(place[0], place[1]).is_some_and(|cell| grid.walkable().has(cell));
        hold(stands, problems, Code::World, key, &place);
    }
    let [x, y] = profile.fixture.v03_source;
    for source in grid.lettered(b'H').iter().chain(Cell::at(x, y)) {
        let danger = grid.danger_set(source, profile.safety.danger_radius);
        let steps = paths.steps_to_safety(&grid, &danger).map_or(i64::MAX, i64::from);
        let most = profile.safety.evac_steps_max;
        hold(steps <= most, problems, Code::World, "safety.danger_radius", &[steps, most]);
    }
}
