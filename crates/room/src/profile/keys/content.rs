//! Keys of the scenarios and of the room.

use super::group;

group! {
    /// Numbers of the scenarios (sections 2.8, 2.9, 16.15).
    Fixture "fixture" {
        /// Risk of the three parts of the series (RC-FIX-01), µ.
        v03_series: [i64; 3],
        /// What it swings by in the first two (RC-FIX-01), µ.
        v03_noise: i64,
        /// First tick after each part (RC-FIX-01), ticks.
        v03_series_ends: [i64; 3],
        /// Times to harm that are tried; only the first is controllable (RC-FIX-01), ticks.
        v03_ttc: [i64; 3],
        /// Cell of the point source (GD-92), cells.
        v03_source: [i64; 2],
        /// Sleep whose ticks are forked (GD-92), ticks.
        v03_sleep: i64,
        /// Length of a fork (GD-92), ticks.
        v03_fork: i64,
        /// Perturbation of each input (RC-FIX-03), µ.
        v08_epsilon: i64,
        /// Values of the six contributions: gain, role, information, Trait, cost, repetition (RC-FIX-03), µ.
        v08_lists: [[i64; 5]; 6],
        /// Offsets of verify_first on the gain (GD-46), µ.
        v08_offsets: [i64; 5],
        /// Opportunities of a seed and identity (RC-FIX-03), count.
        v08_opportunities: i64,
        /// Stride through the grid (GD-46), count.
        v08_stride: i64,
        /// Length of a perturbed run (GD-46), ticks.
        v08_perturbed: i64,
        /// The adversarial pattern turns round every (GD-46), ticks.
        v08_reversal: i64,
        /// Cycles of damage and repair (RC-FIX-04), count.
        v09_cycles: i64,
        /// Failures of a cycle (GD-48), count.
        v09_failures: i64,
        /// Successes of a cycle (GD-48), count.
        v09_successes: i64,
        /// Interleavings of each kind (V05.1), count.
        v05_n: i64,
        /// Length of a run (GD-91), ticks.
        v01_ticks: i64,
        /// At most one re-entry of Sleep within (GD-91), ticks.
        v01b_reentry_window: i64,
        /// Length of a run (GD-94), ticks.
        v10_ticks: i64,
        /// The target moves when the Agent is this near (GD-94), cells.
        v10_reach: i64,
        /// First and last calibration index (RC-SEE-02), count.
        seed_calibration: [i64; 2],
        /// First and last holdout index (RC-SEE-02), count.
        seed_holdout: [i64; 2],
        /// First and last index of long runs (GD-94), count.
        seed_long_runs: [i64; 2],
    }
}

group! {
    /// The room (section 16.4).
    World "world" {
        /// The layout, row by row from the north (GD-08).
        rows: [String; 12],
        /// Where the Agent starts: x, y (GD-08), cells.
        spawn: [i64; 2],
        /// Centres of alcove_north, alcove_south, workshop_north, workshop_east, south_west, south_east (GD-08),
        /// cells.
        zones: [[i64; 2]; 6],
        /// Where the breaker is used (GD-09), cells.
        anchor_breaker: [i64; 2],
        /// Where the window is used (GD-09), cells.
        anchor_window: [i64; 2],
        /// Where the notice board is looked at (GD-09), cells.
        anchor_notice_board: [i64; 2],
        /// Where the picture is looked at (GD-09), cells.
        anchor_picture: [i64; 2],
        /// Where the clock is looked at (GD-09), cells.
        anchor_clock: [i64; 2],
        /// Where people come in (GD-09), cells.
        anchor_door: [i64; 2],
        /// Where the radio lies (GD-09), cells.
        place_radio: [i64; 2],
        /// Where the jug stands (GD-09), cells.
        place_water_jug: [i64; 2],
        /// Where the tin stands (GD-09), cells.
        place_snack_tin: [i64; 2],
        /// Where the cup stands (GD-09), cells.
        place_cup: [i64; 2],
        /// Where the plant stands (GD-09), cells.
        place_plant: [i64; 2],
        /// Objects on a surface (GD-10), count.
        surface_capacity: i64,
        /// Objects in a container (GD-10), count.
        container_capacity: i64,
        /// Objects in a hand (GD-10), count.
        hand_capacity: i64,
    }
}
