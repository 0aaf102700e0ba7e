//! What the profile says about each Interaction, in one row (RC-INT-01 to RC-INT-15, GD-22).

use super::entry::{Read, Value};
use super::keys::Interactions;
use crate::kind::Kind;

/// Commit windows that an Interaction has at most.
pub const COMMITS_MAX: usize = 4;

/// The times of one Interaction, in running ticks from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindRow {
    /// Longest run; for Sleep and Rest the longest segment.
    pub wcet: i64,
    /// Longest stretch without a safe point: every tick for 1, every even tick for 2.
    pub nonpreempt: i64,
    /// Commit ticks in ascending order; 0 where there is none.
    pub commits: [i64; COMMITS_MAX],
    /// Ticks that the window of each commit spans, from the commit tick on.
    pub commit_spans: [i64; COMMITS_MAX],
    /// Ticks of CLEANING.
    pub cleanup: i64,
    /// What admission reserves for it (GD-33): the shortest segment of what can be left early, else the longest run.
    pub minimum: i64,
    /// Own run limit (GD-20 edge 16).
    pub maximum: i64,
}

impl KindRow {
    /// True in a tick of a commit window (GD-22).
    #[must_use]
    pub fn committed(&self, tick: i64) -> bool {
        self.windows().any(|(commit, span)| (commit..commit + span).contains(&tick))
    }

    /// True when `tick` is a commit tick, with the number of the part from 0.
    #[must_use]
    pub fn part_at(&self, tick: i64) -> Option<usize> {
        self.windows().position(|(commit, _)| commit == tick)
    }

    /// True when `tick` ends in a safe point (GD-22).
    #[must_use]
    pub fn safe_point(&self, tick: i64) -> bool {
        tick % self.nonpreempt == 0
    }

    /// Commit tick and span of each window.
    pub fn windows(&self) -> impl Iterator<Item = (i64, i64)> {
        self.commits.into_iter().zip(self.commit_spans).filter(|(commit, _)| *commit > 0)
    }
}

impl Read for KindRow {
    fn blank() -> KindRow {
        KindRow::default()
    }
    /// Rows are made, never read.
    fn read(_: &Value) -> Option<KindRow> {
        None
    }
}

impl Interactions {
    /// The row of `kind`.
    #[must_use]
    pub fn of(&self, kind: Kind) -> &KindRow {
        &self.rows[kind as usize]
    }

    pub(super) fn fill_rows(&mut self) {
        for kind in Kind::ALL.iter().copied() {
            self.rows[kind as usize] = self.row(kind);
        }
    }

    fn row(&self, kind: Kind) -> KindRow {
        match kind {
            Kind::TurnTo | Kind::LookAt => self.moving(self.turn_lookat_wcet),
            Kind::Scan => self.moving(self.scan_wcet),
            Kind::WalkTo => self.moving(self.walk_wcet),
            Kind::PickUp | Kind::PutDown => self.handling(
                self.pickup_putdown_wcet,
                &[(self.pickup_putdown_commit, self.pickup_putdown_commit_span)],
                self.pickup_putdown_cleanup,
            ),
            Kind::Open | Kind::Close => self.handling(
                self.open_close_wcet,
                &[(self.open_close_commit, self.open_close_commit_span)],
                self.open_close_cleanup,
            ),
            Kind::Give | Kind::Receive => self.handling(
                self.give_receive_wcet,
                &[(self.give_receive_commit, self.give_receive_commit_span)],
                self.give_receive_cleanup,
            ),
            Kind::Drink => self.handling(
                self.drink_wcet,
                &[(self.drink_commit, self.drink_commit_span)],
                self.drink_cleanup,
            ),
            Kind::Eat => {
                self.handling(self.eat_wcet, &pairs(self.eat_parts, self.eat_part_spans), self.eat_cleanup)
            }
            Kind::Repair | Kind::Create => self.handling(
                self.repair_wcet,
                &pairs(self.repair_parts, self.repair_part_spans),
                self.repair_cleanup,
            ),
            Kind::Rest => self.lasting(self.rest_min, self.rest_max),
            Kind::Sleep => self.lasting(self.sleep_min, self.sleep_max),
            Kind::Speak | Kind::Ask | Kind::Negotiate => self.moving(self.speak_wcet),
            Kind::Evacuate | Kind::Protect => self.moving(self.evacuate_wcet),
            Kind::Idle | Kind::Wait => {
                KindRow { minimum: self.idle_admission, ..self.moving(self.idle_reevaluate) }
            }
        }
    }

    /// An Interaction without a commit that can be left after any tick.
    fn moving(&self, wcet: i64) -> KindRow {
        KindRow {
            wcet,
            nonpreempt: self.nonpreempt_moving,
            cleanup: self.other_cleanup,
            minimum: wcet,
            maximum: wcet,
            ..KindRow::default()
        }
    }

    /// One that commits and can be left after even ticks.
    fn handling(&self, wcet: i64, windows: &[(i64, i64)], cleanup: i64) -> KindRow {
        let mut row = KindRow { nonpreempt: self.nonpreempt_handling, cleanup, ..self.moving(wcet) };
        for (place, (commit, span)) in windows.iter().enumerate() {
            row.commits[place] = *commit;
            row.commit_spans[place] = *span;
        }
        row
    }

    /// Sleep and Rest.
    fn lasting(&self, minimum: i64, maximum: i64) -> KindRow {
        KindRow { cleanup: self.sleep_rest_cleanup, minimum, ..self.moving(maximum) }
    }
}

fn pairs<const N: usize>(commits: [i64; N], spans: [i64; N]) -> [(i64, i64); N] {
    std::array::from_fn(|place| (commits[place], spans[place]))
}
