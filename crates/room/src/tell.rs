//! The one inlet of the slow fields of stage 0 (RC-RED-01, RC-RED-03): the Reducer tells here what a real cause came to, and
//! the book of clusters says whether it was told before. One cause writes each of its fields once, however many events it
//! is told in.

use crate::episode::{
    CONTROL_EXPECTATION, Component, Episodes, Evidence, Override, block_field, expectation_field,
};
use crate::fixed::div;
use crate::grid::Cell;
use crate::learn::{Attribution, Expectations, Observed};
use crate::profile::Profile;

/// What a cause came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// An Outcome of the Agent's own Interaction on an object: a target failure, or a recovery of the body.
    Outcome(Observed),
    /// A way was found closed at this cell (RC-ROU-01c).
    Blocked(Cell),
    /// The body was taken over (RC-RED-06f).
    Override(Override),
}

/// The slow fields and the book.
#[derive(Debug)]
pub struct Slow<'a> {
    /// Numbers.
    pub profile: &'a Profile,
    /// The book of clusters, and what overrides have left.
    pub episodes: &'a mut Episodes,
    /// What is expected of Interactions and ways.
    pub expectations: &'a mut Expectations,
}

impl Slow<'_> {
    /// Takes an event of a cluster of an episode. Anything but [`Evidence::New`] changed no slow field.
    pub fn tell(&mut self, episode: u32, cluster: u32, told: &Told, now: u64) -> Evidence {
        match told {
            Told::Outcome(observed) if observed.attribution == Attribution::Unknown => Evidence::Duplicate,
            Told::Outcome(observed) => {
                let field = expectation_field(observed.kind, observed.object, observed.context);
                self.once(episode, cluster, field, |slow| slow.expectations.observe(slow.profile, observed))
            }
            Told::Blocked(cell) => self.once(episode, cluster, block_field(*cell), |slow| {
                slow.expectations.blocked(slow.profile, *cell, now);
            }),
            Told::Override(record) => {
                let record = Override { episode, ..record.clone() };
                self.episodes.overridden(self.profile, record, cluster).evidence
            }
        }
    }

    fn once(&mut self, episode: u32, cluster: u32, field: u32, write: impl FnOnce(&mut Self)) -> Evidence {
        let new = self.episodes.learns(self.profile, episode, cluster, field);
        if new {
            write(self);
        }
        if new { Evidence::New } else { Evidence::Duplicate }
    }
}

/// One line of the trace of V22a.3: a field that a cluster reached, and by which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The cause.
    pub episode: u32,
    /// Its cluster.
    pub cluster: u32,
    /// The field.
    pub field: u32,
    /// Row of the causal DAG (RC-RED-06, GD-77): evidence, field, inlet.
    pub path: &'static str,
    /// What the whole episode has moved of its budget, µ of the ranges (RC-RED-03).
    pub total: i64,
}

/// The trace of everything in the book, in the order of its episodes and clusters.
#[must_use]
pub fn trace(episodes: &Episodes) -> Vec<Traced> {
    let mut lines = Vec::new();
    for episode in &episodes.list {
        let total = episode.committed.iter().map(|part| div(part.value.abs(), part.range)).sum();
        for cluster in &episode.clusters {
            let line = |part: &Component| Traced {
                episode: episode.id,
                cluster: cluster.id,
                field: part.field,
                path: path(part.field),
                total,
            };
            lines.extend(cluster.raw.iter().map(line));
        }
    }
    lines
}

fn path(field: u32) -> &'static str {
    match field.to_be_bytes() {
        [1, ..] => "outcome > expectation > gain",
        [2, ..] => "block > believed cost > cost",
        _ if field == CONTROL_EXPECTATION => "override > control_expectation > recovery",
        _ => "vector > slow field > none at stage 0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::episode::Overrider;

    /// RC-RED-02: a closed way costs once, however often it is told, and again for another cause.
    #[test]
    fn v22a_a_block_costs_once_for_each_cause() {
        let profile = Profile::reference();
        let told = |events: &[(u32, u32)]| {
            let (mut episodes, mut expectations) = (Episodes::new(&profile), Expectations::new());
            for (episode, cluster) in events {
                let (episodes, expectations) = (&mut episodes, &mut expectations);
                let mut slow = Slow { profile: &profile, episodes, expectations };
                slow.tell(*episode, *cluster, &Told::Blocked(Cell(100)), 7);
            }
            expectations.route_cost(&profile, [Cell(100)].into_iter(), 7)
        };
        assert_eq!([told(&[(1, 1)]), told(&[(1, 1); 20]), told(&[(1, 1), (1, 2)])], [5; 3]);
        assert_eq!(told(&[(1, 1), (2, 2), (3, 3)]), 15);
    }

    /// GD-76: an override is one episode and costs 0.02, also where several clusters tell it.
    #[test]
    fn v22a_an_override_counts_once_for_its_episode() {
        let profile = Profile::reference();
        let (mut episodes, mut expectations) = (Episodes::new(&profile), Expectations::new());
        let mut slow = Slow { profile: &profile, episodes: &mut episodes, expectations: &mut expectations };
        let record =
            Override { episode: 0, by: Overrider::Operator, perceivable: true, from: 3, until: None };
        for cluster in 4..9 {
            slow.tell(4, cluster, &Told::Override(record.clone()), 3);
        }
        assert_eq!(episodes.control_expectation(&profile, 3), 480_000);
        let lines = trace(&episodes);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!((lines[0].path, lines[0].total), ("override > control_expectation > recovery", 20_000));
    }
}
