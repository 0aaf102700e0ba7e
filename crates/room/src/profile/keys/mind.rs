//! Keys of retries, choice, learning and what is measured of them.

use super::group;

group! {
    /// Retries, recovery, project (sections 2.4, 16.8).
    Task "task" {
        /// Attempts with nothing changed (RC-TSK-01), count.
        local_attempts: i64,
        /// Attempts of one class of disturbance (RC-TSK-02), count.
        class_budget: i64,
        /// Attempts of any other reason (GD-52), count.
        other_budget: i64,
        /// Stillness that lifts the premise of a moving target (RC-TSK-03), ticks.
        stable_window: i64,
        /// Part of it beside the way and the grasp (RC-TSK-03), ticks.
        stable_margin: i64,
        /// First attempt that needs it (GD-52), count.
        stable_from_attempt: i64,
        /// What a renegotiation adds (RC-TSK-04), count.
        grant: i64,
        /// Renegotiations that count (GD-52), count.
        grants_max: i64,
        /// Attempts in a life (RC-TSK-04), count.
        lifetime_cap: i64,
        /// Longest low-risk recovery task (RC-TSK-06), ticks.
        recovery_task_max: i64,
        /// What it needs beside way and run (GD-29), ticks.
        recovery_overhead: i64,
        /// Longest residence in FAILURE_RECOVERY (RC-CLK-09), ticks.
        recovery_residence: i64,
        /// Observation after the success (RC-CLK-09), ticks.
        recovery_observe: i64,
        /// Rest that counts as a success (GD-29), ticks.
        recovery_rest_partial: i64,
        /// Energy below which Rest comes first (GD-29), µ.
        recovery_rest_first_below: i64,
        /// More ticks without progress than this start FAILURE_RECOVERY (RC-FRC-01), ticks.
        no_progress: i64,
    }
}

group! {
    /// Tiers, contributions, choice, identities (sections 5, 16.7).
    Selection "selection" {
        /// Largest gain (RC-SEL-08), µ.
        gain: i64,
        /// Largest relevance of a role or goal (RC-SEL-09), µ.
        role: i64,
        /// Largest information gain (RC-SEL-10), µ.
        information: i64,
        /// Largest single correction, either way (RC-SEL-11), µ.
        correction: i64,
        /// Largest cost (RC-SEL-12), µ.
        cost: i64,
        /// Largest repetition (RC-SEL-13), µ.
        repetition: i64,
        /// Window below the best score (RC-SEL-17), µ.
        window: i64,
        /// Weight of the best in the window (GD-42), µ.
        weight: i64,
        /// Smallest base that is admitted (GD-44), µ.
        admission: i64,
        /// Levels from comfort down to full urgency (GD-41), µ.
        urgency_span: i64,
        /// Engagement from the band to full urgency (GD-41), µ.
        engagement_span: i64,
        /// Effect that counts in full (GD-41), µ.
        effect_full: i64,
        /// Relevance of a role obligation (GD-41), µ.
        relevance_role: i64,
        /// What an inspection leaves of the information (GD-41), µ.
        information_decay: i64,
        /// Cost of a tick (GD-41), µ/tick.
        cost_time: i64,
        /// Largest cost of time (GD-41), µ.
        cost_time_cap: i64,
        /// Cost of a cell (GD-41), µ/cell.
        cost_distance: i64,
        /// Largest cost of distance (GD-41), µ.
        cost_distance_cap: i64,
        /// Cost of a risk of 1 (GD-41), µ.
        cost_risk: i64,
        /// Largest cost of risk (GD-41), µ.
        cost_risk_cap: i64,
        /// Cost of a portion (GD-41), µ.
        cost_resource: i64,
        /// Largest cost of resources (GD-41), µ.
        cost_resource_cap: i64,
        /// Counter of an Interaction on an object, per execution (GD-41), µ.
        repetition_instance: i64,
        /// Counter of an object (GD-41), µ.
        repetition_object: i64,
        /// Counter of a family of behaviour (GD-41), µ.
        repetition_family: i64,
        /// Counter of a service goal (GD-41), µ.
        repetition_service: i64,
        /// Decay of each counter (GD-41), µ/tick.
        repetition_decay: i64,
        /// Between the starts of two novelty behaviours (GD-43), ticks.
        novelty_pacing: i64,
        /// Switches of a pair are counted over (GD-43), ticks.
        alternation_window: i64,
        /// Switches from which the returning one pays (GD-43), count.
        alternation_penalty_at: i64,
        /// What it pays (GD-43), µ.
        alternation_penalty: i64,
        /// Switches from which it is excluded (GD-43), count.
        alternation_lock: i64,
        /// Executions in a row that nobody asked for (GD-43), count.
        repetition_stop: i64,
        /// The next one is refused for (GD-43), ticks.
        repetition_stop_hold: i64,
        /// Options of Tier 1 that a draw decides between (GD-40), count.
        tier1_tie_max: i64,
        /// Probability of an exploration at a look around (GD-44), µ.
        tier4_explore: i64,
        /// Explorations are at least so far apart (GD-44), ticks.
        tier4_explore_period: i64,
        /// Mira (GD-45), µ.
        trait_mira: [i64; 4],
        /// Niko (GD-45), µ.
        trait_niko: [i64; 4],
        /// Inspects before a stage (GD-45), µ.
        loading_verify_first: [i64; 4],
        /// Begins the stage (GD-45), µ.
        loading_start_now: [i64; 4],
        /// Looks for something new (GD-45), µ.
        loading_explore_novel: [i64; 4],
        /// Asks a person (GD-45), µ.
        loading_ask_human: [i64; 4],
        /// Searches without help (GD-45), µ.
        loading_search_self: [i64; 4],
        /// Goes on after a setback (GD-45), µ.
        loading_continue_after_setback: [i64; 4],
        /// Changes the method (GD-45), µ.
        loading_switch_method: [i64; 4],
    }
}

group! {
    /// Expectations, budgets of evidence; slow states from stage 2 on (sections 2.6, 5.4, 16.7, 16.11).
    Learning "learning" {
        /// Evidence units of the prior (RC-EXP-03), count.
        prior_evidence: i64,
        /// Probability of success before any Outcome (GD-47), µ.
        p0: i64,
        /// Most evidence units (RC-EXP-05), count.
        evidence_cap: i64,
        /// Largest step of a probability or an effect (RC-EXP-06), µ.
        step_max: i64,
        /// Successes after a repair until it competes again (RC-LRN-07), count.
        recover_within: i64,
        /// Evidence units that a damage or a repair leaves (GD-47), count.
        version_discount: i64,
        /// Smallest probability (GD-47), µ.
        p_floor: i64,
        /// Share that the other half of the day learns (RC-TRU-04), µ.
        day_night_transfer: i64,
        /// Share that other objects learn (RC-TRU-04), µ.
        far_transfer: i64,
        /// Believed cost of a blocked cell (GD-47), ticks.
        path_block_cost: i64,
        /// A believed cost loses a tick in (GD-47), ticks.
        believed_cost_decay_period: i64,
        /// Share of its range that a cluster moves a slow field (RC-LRN-05), µ.
        cluster_cap: i64,
        /// L1 budget of a causal episode (RC-LRN-05), µ.
        episode_cap: i64,
        /// What one cluster contributes to a candidate through all inlets (RC-RED-04), µ.
        lineage_cap: i64,
        /// control_expectation at the start (GD-76), µ.
        control_expectation_initial: i64,
        /// What an override moves it by (GD-76), µ.
        control_expectation_step: i64,
        /// What a full day without one brings back (GD-76), µ.
        control_expectation_restore: i64,
        /// And up to where (GD-76), µ.
        control_expectation_ceiling: i64,
    }
}

group! {
    /// Facts at stage 0; memory and beliefs later (sections 8, 16.12, 16.13).
    Memory "memory" {
        /// Facts that are kept (GD-85), count.
        facts_max: i64,
    }
}

group! {
    /// Metrics and the Gates on them (sections 2.7, 13, 16.9).
    Experience "experience" {
        /// Switches between two equivalent behaviours (RC-XPG-10), count.
        ab_switch_max: i64,
        /// The window of that (RC-XPG-10), ticks.
        ab_switch_window: i64,
        /// Canceled share of what entered PREPARING in a storm, below this (RC-QCX-02), µ.
        storm_cancel_rate: i64,
        /// Smallest difference of the target behaviour between the identities (RC-LRN-01), µ.
        identity_difference: i64,
        /// Largest difference of their survival failures (RC-LRN-01), µ.
        survival_difference: i64,
    }
}
