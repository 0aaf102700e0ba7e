//! Keys of time, danger, Interactions and the body.

use super::group;
use crate::profile::kinds::KindRow;

group! {
    /// Clock, dwell times, queue, control (sections 2.1, 16.5).
    Clock "clock" {
        /// Simulated time of a tick (RC-CLK-01), s.
        tick_seconds: i64,
        /// Window of one decision transaction (RC-CLK-02), ticks.
        decision_window: i64,
        /// A proposal that is not RUNNING by then is EXPIRED (RC-CLK-03), ticks.
        proposal_ttl: i64,
        /// Dwell of PENDING (RC-CLK-04), ticks.
        pending_max: i64,
        /// Dwell of PREPARING (RC-CLK-04), ticks.
        preparing_max: i64,
        /// Dwell of CLEANING (RC-CLK-04), ticks.
        cleaning_max: i64,
        /// Dwell of BLOCKED, counted from the release of its resources (RC-CLK-04), ticks.
        blocked_max: i64,
        /// A suspended item must be RUNNING again by then (RC-CLK-05), ticks.
        resume_deadline: i64,
        /// Distance of safe interruption points (RC-CLK-06), ticks.
        safe_point_period: i64,
        /// Longest stretch without one (RC-CLK-06), ticks.
        nonpreempt_max: i64,
        /// Longest commit window (RC-LIF-11), ticks.
        commit_finish_max: i64,
        /// Soft reservations are released within (RC-QCX-01), ticks.
        soft_release_max: i64,
        /// A terminal state is CLOSED within (RC-QCX-01), ticks.
        terminal_to_closed_max: i64,
        /// An intent of Tier 3 stays at least so long (RC-CLK-12), ticks.
        intent_min_dwell: i64,
        /// What a challenger must be better by (RC-CLK-12), µ.
        switch_margin: i64,
        /// Longest stay in NEGOTIATING (GD-26), ticks.
        negotiating_max: i64,
        /// NEGOTIATING before a lease in Lab (GD-26), ticks.
        lab_handshake: i64,
        /// Items that are not CLOSED (RC-SCO-06), count.
        queue_items_max: i64,
        /// Fewest and most steps of a Task graph (RC-SCO-07), count.
        task_graph_steps: [i64; 2],
        /// The body is the Agent's again within, after the last intervention (RC-CTL-05), ticks.
        control_return_max: i64,
        /// Length of a lease (RC-CLK-11), ticks.
        lab_lease: i64,
        /// Length of the emergency assist window (RC-CLK-11), ticks.
        assist_window: i64,
        /// A lease without a command ends after (GD-26), ticks.
        lease_idle_end: i64,
        /// Commands of a lease that run (GD-26), count.
        lease_executing_max: i64,
        /// Commands of a lease that wait (GD-26), count.
        lease_waiting_max: i64,
        /// Identical commands merge within (GD-17), ticks.
        input_merge_window: i64,
        /// Commands of one channel in one tick (GD-17), count.
        input_per_channel_max: i64,
        /// An act against a running commit waits at most (GD-28), ticks.
        edit_deferral_max: i64,
        /// Length of a day (GD-19), ticks.
        day_ticks: i64,
        /// Second of the day at tick 0: 08:00 (GD-19), ticks.
        clock_origin: i64,
        /// Second at which the context becomes day: 06:00 (GD-19), ticks.
        day_begin: i64,
        /// Second at which the context becomes night: 22:00 (GD-19), ticks.
        night_begin: i64,
        /// State hashes are recorded at multiples of (GD-05), ticks.
        state_hash_period: i64,
    }
}

group! {
    /// Safety and the hazard device (sections 3, 16.4, 16.5).
    Safety "safety" {
        /// Detection of a danger (RC-CLK-07), ticks.
        detect_budget: i64,
        /// Worst interruption of what the body does (RC-CLK-07), ticks.
        interrupt_max: i64,
        /// Worst completion of Evacuate and Protect (RC-CLK-07), ticks.
        evacuate_max: i64,
        /// Time to harm of controllable content is above this (RC-CLK-08), ticks.
        controllable_ttc_min: i64,
        /// Risk from which ALERT is entered (RC-SAF-06), µ.
        alert_enter: i64,
        /// Risk below which a tick counts as clear (RC-SAF-06), µ.
        recovery_below: i64,
        /// Shortest complete body action: no hold may be below it (RC-SAF-07), ticks.
        shortest_action: i64,
        /// Clear ticks before RECOVERY (GD-23), ticks.
        clear_hold: i64,
        /// Clear ticks before CLEAR (GD-23), ticks.
        recovery_hold: i64,
        /// Time left to harm at which ALERT becomes EVACUATING (GD-23), ticks.
        evac_at_remaining_ttc: i64,
        /// Calls for help in one danger episode (GD-23), count.
        distress_calls_max: i64,
        /// Alarms on entering UNCONTROLLABLE (RC-SAF-05), count.
        alarms_max: i64,
        /// Time left to harm at which Safety takes an assisted body back (GD-26), ticks.
        assist_takeback_ttc: i64,
        /// Manhattan radius of the danger set (GD-13), cells.
        danger_radius: i64,
        /// Steps to safety from any danger cell (GD-13), cells.
        evac_steps_max: i64,
        /// Running tick of Protect at which a source is shut off (GD-13), ticks.
        protect_commit: i64,
        /// Time from onset to harm of the heater (GD-12), ticks.
        heater_ttc: i64,
        /// A faulty heater overheats so long after it was switched on (GD-12), ticks.
        heater_fault_delay: i64,
        /// Risk at onset (GD-12), µ.
        heater_risk_base: i64,
        /// What the risk rises by until harm (GD-12), µ.
        heater_risk_span: i64,
        /// Risk of FLAME (GD-12), µ.
        flame_risk: i64,
        /// What the risk falls by while COOLING (GD-12), µ/tick.
        cooling_rate: i64,
        /// Pain intensity that harm adds, once an episode (GD-12), µ.
        harm_pain: i64,
    }
}

group! {
    /// Times of the Interactions (sections 2.2, 16.5).
    Interactions "interaction" {
        /// TurnTo, LookAt (RC-INT-01), ticks.
        turn_lookat_wcet: i64,
        /// One Scan (RC-INT-02), ticks.
        scan_wcet: i64,
        /// Scans of one search (RC-INT-02), count.
        scan_max: i64,
        /// A search stops below this expected information gain (GD-27), µ.
        scan_gain_min: i64,
        /// WalkTo, and the way of an approach (RC-INT-03), ticks.
        walk_wcet: i64,
        /// Turning at the end of an approach (GD-21), ticks.
        approach_turn: i64,
        /// Reserving at the end of an approach (GD-21), ticks.
        approach_reserve: i64,
        /// PickUp, PutDown (RC-INT-04), ticks.
        pickup_putdown_wcet: i64,
        /// Tick of the transfer (RC-INT-04), ticks.
        pickup_putdown_commit: i64,
        /// Ticks of its window (GD-22), ticks.
        pickup_putdown_commit_span: i64,
        /// CLEANING of PickUp and PutDown (RC-INT-04), ticks.
        pickup_putdown_cleanup: i64,
        /// Open, Close (RC-INT-05), ticks.
        open_close_wcet: i64,
        /// Tick of the change (RC-INT-05), ticks.
        open_close_commit: i64,
        /// Ticks of its window (GD-22), ticks.
        open_close_commit_span: i64,
        /// CLEANING of Open and Close (RC-INT-05), ticks.
        open_close_cleanup: i64,
        /// Give, Receive (RC-INT-06), ticks.
        give_receive_wcet: i64,
        /// Tick of the handover (RC-INT-06), ticks.
        give_receive_commit: i64,
        /// Ticks of its window (GD-22), ticks.
        give_receive_commit_span: i64,
        /// CLEANING of Give and Receive (GD-22), ticks.
        give_receive_cleanup: i64,
        /// Drink, without the way (RC-INT-07), ticks.
        drink_wcet: i64,
        /// Tick at which a portion is consumed (RC-INT-07), ticks.
        drink_commit: i64,
        /// Ticks of its window (GD-22), ticks.
        drink_commit_span: i64,
        /// CLEANING of Drink (RC-INT-07), ticks.
        drink_cleanup: i64,
        /// Eat, without the way (RC-INT-08), ticks.
        eat_wcet: i64,
        /// Ticks at which a third of a portion is consumed (GD-27), ticks.
        eat_parts: [i64; 3],
        /// Ticks of their windows (GD-22), ticks.
        eat_part_spans: [i64; 3],
        /// CLEANING of Eat (RC-INT-08), ticks.
        eat_cleanup: i64,
        /// Shortest Rest, and what admission reserves for it (RC-INT-09), ticks.
        rest_min: i64,
        /// Longest Rest (RC-INT-09), ticks.
        rest_max: i64,
        /// Energy at which Rest may end (RC-INT-09), µ.
        rest_exit: i64,
        /// Sleep before its first ordinary exit, and what admission reserves for it (RC-INT-10), ticks.
        sleep_min: i64,
        /// Longest Sleep (RC-INT-10), ticks.
        sleep_max: i64,
        /// Energy at which Sleep may end (RC-INT-10), µ.
        sleep_exit: i64,
        /// Period of the ordinary checks of Sleep (RC-INT-10), ticks.
        sleep_check: i64,
        /// What must lie between the shortest Sleep and the next cue (GD-25), ticks.
        sleep_cue_slack: i64,
        /// No Sleep again so long after a cue has ended one (GD-25), ticks.
        sleep_reentry_hold: i64,
        /// CLEANING of Sleep and Rest (GD-25), ticks.
        sleep_rest_cleanup: i64,
        /// One stage of Repair or Create (RC-INT-11), ticks.
        repair_wcet: i64,
        /// Period of its parts (RC-INT-11), ticks.
        repair_part: i64,
        /// Ticks of its parts (GD-22), ticks.
        repair_parts: [i64; 4],
        /// Ticks of their windows (GD-22), ticks.
        repair_part_spans: [i64; 4],
        /// CLEANING of Repair and Create (RC-INT-11), ticks.
        repair_cleanup: i64,
        /// Speak, Ask, Negotiate (RC-INT-12), ticks.
        speak_wcet: i64,
        /// Evacuate, Protect (RC-INT-13), ticks.
        evacuate_wcet: i64,
        /// Idle and Wait are looked at again after (RC-INT-14), ticks.
        idle_reevaluate: i64,
        /// What admission reserves for Idle and Wait (GD-33), ticks.
        idle_admission: i64,
        /// CLEANING of everything else (GD-22), ticks.
        other_cleanup: i64,
        /// Longest stretch without a safe point of what does not handle an object (RC-INT-01), ticks.
        nonpreempt_moving: i64,
        /// The same of what handles one (RC-INT-04), ticks.
        nonpreempt_handling: i64,
        /// A quarter of a turn (GD-10), ticks.
        turn_quarter: i64,
    }
    derived rows: [KindRow; 23]
}

group! {
    /// Channels of the body, their rates and thresholds (sections 2.3, 4, 16.6).
    Regulation "regulation" {
        /// Energy, Hydration, Calories, Thermal, Posture at the start (RC-RES-01), µ.
        initial_reserves: i64,
        /// PainComfort at the start (RC-RES-01), µ.
        initial_pain_comfort: i64,
        /// Engagement at the start (GD-30), µ.
        initial_engagement: i64,
        /// Energy, awake (RC-RES-02), µ/tick.
        energy_awake: i64,
        /// Energy in Sleep (RC-RES-02), µ/tick.
        energy_sleep_net: i64,
        /// Energy in Rest (RC-RES-02), µ/tick.
        energy_rest_net: i64,
        /// Hydration, always (RC-RES-03), µ/tick.
        hydration_rate: i64,
        /// Hydration of one portion (RC-RES-03), µ.
        drink_effect: i64,
        /// Portions of water in the room (RC-RES-03), count.
        water_portions: i64,
        /// Of them in the dispenser (GD-11), count.
        water_portions_primary: i64,
        /// Of them in the jug (GD-11), count.
        water_portions_backup: i64,
        /// Calories, always (RC-RES-04), µ/tick.
        calories_rate: i64,
        /// Calories of one portion (RC-RES-04), µ.
        eat_effect: i64,
        /// Calories of a third of it (RC-RES-04), µ.
        eat_part_effect: i64,
        /// Parts of a portion (GD-27), count.
        eat_portion_parts: i64,
        /// Portions of food in the room (RC-RES-04), count.
        food_portions: i64,
        /// Of them in the pantry (GD-11), count.
        food_portions_primary: i64,
        /// Of them in the tin (GD-11), count.
        food_portions_backup: i64,
        /// ThermalComfort of a stable room (RC-RES-05), µ.
        thermal_setpoint: i64,
        /// ThermalComfort toward the setpoint (GD-32), µ/tick.
        thermal_recover: i64,
        /// Taken off ThermalComfort in the heat zone (GD-32), µ/tick.
        thermal_hot: i64,
        /// Taken off ThermalComfort in the cold zone (GD-32), µ/tick.
        thermal_cold: i64,
        /// Manhattan radius of the heat zone (GD-32), cells.
        thermal_hot_radius: i64,
        /// Manhattan radius of the cold zone (GD-32), cells.
        thermal_cold_radius: i64,
        /// Taken off pain_intensity, always (GD-32), µ/tick.
        pain_decay: i64,
        /// Taken off in addition in Rest and Sleep (GD-32), µ/tick.
        pain_rest: i64,
        /// Taken off once by evidenced help (GD-32), µ.
        pain_help: i64,
        /// Posture in Repair and Create (GD-32), µ/tick.
        posture_repair: i64,
        /// Posture while standing (GD-32), µ/tick.
        posture_stand: i64,
        /// Posture while walking (GD-32), µ/tick.
        posture_walk: i64,
        /// Posture in Rest (GD-32), µ/tick.
        posture_rest: i64,
        /// Posture in Sleep (GD-32), µ/tick.
        posture_sleep: i64,
        /// Walking raises Posture below this level (GD-32), µ.
        posture_walk_below: i64,
        /// Rest and Sleep raise Posture below this level (GD-32), µ.
        posture_rest_below: i64,
        /// Engagement of a period without work or novelty (RC-RES-08), µ.
        engagement_drift: i64,
        /// That period (RC-RES-08), ticks.
        engagement_period: i64,
        /// Half width of the comfort band of Engagement (V01b.4), µ.
        engagement_band: i64,
        /// Engagement of a part of Repair or Create, toward 0 (GD-31), µ.
        engagement_part: i64,
        /// Engagement of a true novelty, toward 0 (GD-31), µ.
        engagement_novelty: i64,
        /// Engagement of familiar behaviour, toward 0 (GD-31), µ.
        engagement_familiar: i64,
        /// Familiar behaviour counts once in (GD-31), ticks.
        engagement_familiar_period: i64,
        /// Engagement of a period of overload (GD-31), µ.
        engagement_overload: i64,
        /// Engagement of an idle period, toward 0 (GD-31), µ.
        engagement_idle: i64,
        /// COMFORT from this level on (RC-REG-02), µ.
        comfort: i64,
        /// WARNING below (RC-REG-03), µ.
        warning_enter: i64,
        /// and left above (RC-REG-03), µ.
        warning_exit: i64,
        /// DANGER below (RC-REG-04), µ.
        danger_enter: i64,
        /// and left above (RC-REG-04), µ.
        danger_exit: i64,
        /// A channel at this level has failed (RC-REG-05), µ.
        failure_boundary: i64,
        /// Margin on paths of Tier 1 (RC-RES-10), µ.
        tier1_margin: i64,
        /// Until a failed primary path is known (GD-33), ticks.
        failure_discovery: i64,
        /// Longest way and Drink (GD-33), ticks.
        hydration_path: i64,
        /// Longest way and Eat (GD-33), ticks.
        calories_path: i64,
        /// Longest way and the first check of Sleep (GD-33), ticks.
        energy_path: i64,
        /// A record of an uncontrollable channel is opened within (RC-RES-13), ticks.
        uncontrollable_max_delay: i64,
        /// Waits between calls for help (RC-RES-13), ticks.
        help_backoff: [i64; 3],
        /// Longest service intervals: Energy, Hydration, Calories, Thermal in heat and in cold, Posture (GD-30),
        /// ticks.
        max_service_interval: [i64; 6],
    }
}
