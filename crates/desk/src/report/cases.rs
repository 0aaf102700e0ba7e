//! A report as a value: cases, the groups they lie in, and what was wrong with the report.

use super::{CASES_MAX, ITEMS_MAX, Limit, Meaning, Outcome, Refusal};

/// Index of a [`Group`] in its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupId(pub(super) u32);

/// A suite (JUnit) or subtest (TAP) that holds cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group around this one.
    pub parent: Option<GroupId>,
    /// Its own name, without the names around it.
    pub name: String,
}

/// One result of one case, as the runner wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The case's own name, unescaped, whole. May be empty.
    pub name: String,
    /// The innermost group it lies in.
    pub group: Option<GroupId>,
    /// JUnit `classname`.
    pub class: Option<String>,
    /// What the runner said.
    pub outcome: Outcome,
    /// Message of the failure, or the reason of a skip or todo; clipped.
    pub message: Option<String>,
    /// Results of the same case share this number; the worst of them counts (ruling 14).
    pub identity: u32,
}

/// How many cases there were, each counted once with its worst result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that passed.
    pub passed: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Skipped, todo, expected failure.
    pub listed: u64,
    /// Passed only when run again.
    pub unstable: u64,
}

impl Tally {
    /// Cases that ran and whose result counts; what `min = n` of a suite is compared with. Skipped ones are left
    /// out, because code under test can cause a skip.
    pub const fn counted(self) -> u64 {
        self.passed + self.failed + self.unstable
    }
}

/// What a report says. Cases keep the order in which they were reported; a case reported twice is there twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    cases: Vec<Case>,
    groups: Vec<Group>,
    problems: Vec<Refusal>,
}

impl Report {
    /// All results, in order.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Why the report as a whole is not acceptable, at most [`ITEMS_MAX`] reasons; empty for a sound one.
    pub fn problems(&self) -> &[Refusal] {
        &self.problems
    }

    /// The group with this index.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(id.0 as usize)
    }

    /// The names of the groups around a case and its own, outermost first, joined by ` > `.
    pub fn full_name(&self, case: &Case) -> String {
        let mut parts: Vec<&str> = self.path(case.group).map(|g| g.name.as_str()).collect();
        parts.reverse();
        parts.push(&case.name);
        parts.join(" > ")
    }

    /// Counts every case once, with the worst of its results.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for meaning in self.worst().into_iter().flatten() {
            match meaning {
                Meaning::Passed => tally.passed += 1,
                Meaning::Listed => tally.listed += 1,
                Meaning::Unstable => tally.unstable += 1,
                Meaning::Failed => tally.failed += 1,
            }
        }
        tally
    }

    /// Whether `expected` names this case: its own name, `classname.name`, or its [full name](Self::full_name),
    /// compared whole (ruling 14).
    pub fn is_named(&self, case: &Case, expected: &str) -> bool {
        case.name == expected || self.is_classname(case, expected) || self.is_full_name(case, expected)
    }

    fn is_classname(&self, case: &Case, expected: &str) -> bool {
        case.class.as_deref().is_some_and(|class| {
            expected
                .strip_prefix(class)
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|rest| rest == case.name)
        })
    }

    /// Whether `expected` names a group: its own name or its path.
    pub(crate) fn is_group_named(&self, group: &Group, expected: &str) -> bool {
        group.name == expected || self.is_path(group.parent, &group.name, expected)
    }

    /// The groups that hold a case, at any depth. An empty suite reports nothing.
    pub(crate) fn groups_with_cases(&self) -> Vec<&Group> {
        let mut holds = vec![false; self.groups.len()];
        for case in &self.cases {
            let mut next = case.group;
            // Stops at the first group that is marked, so that every group is walked once.
            while let Some(at) = next.filter(|id| holds.get(id.0 as usize) == Some(&false)) {
                holds[at.0 as usize] = true;
                next = self.group(at).and_then(|group| group.parent);
            }
        }
        self.groups.iter().zip(holds).filter_map(|(group, holds)| holds.then_some(group)).collect()
    }

    fn is_full_name(&self, case: &Case, expected: &str) -> bool {
        self.is_path(case.group, &case.name, expected)
    }

    /// Compared from the end, part by part, so that the path is never built: groups nest, and building all paths
    /// could take far more memory than the report.
    fn is_path(&self, around: Option<GroupId>, name: &str, expected: &str) -> bool {
        let Some(mut rest) = expected.strip_suffix(name) else { return false };
        for group in self.path(around) {
            let shorter = rest.strip_suffix(" > ").and_then(|r| r.strip_suffix(group.name.as_str()));
            match shorter {
                Some(shorter) => rest = shorter,
                None => return false,
            }
        }
        rest.is_empty()
    }

    /// Whether two cases lie in groups of the same names and have the same class, so that one name means both.
    pub(crate) fn same_place(&self, a: &Case, b: &Case) -> bool {
        a.class == b.class && self.path(a.group).map(|g| &g.name).eq(self.path(b.group).map(|g| &g.name))
    }

    /// The groups around, innermost first.
    fn path(&self, innermost: Option<GroupId>) -> impl Iterator<Item = &Group> {
        let first = innermost.and_then(|id| self.group(id));
        std::iter::successors(first, |group| group.parent.and_then(|id| self.group(id)))
    }

    fn worst(&self) -> Vec<Option<Meaning>> {
        let len = self.cases.iter().map(|c| c.identity as usize + 1).max().unwrap_or(0);
        let mut worst: Vec<Option<Meaning>> = vec![None; len];
        for case in &self.cases {
            if let Some(slot) = worst.get_mut(case.identity as usize) {
                *slot = (*slot).max(Some(case.outcome.meaning()));
            }
        }
        worst
    }

    pub(super) fn push_group(&mut self, group: Group) -> GroupId {
        // Groups are bounded by the report's size, which is far below u32.
        let id = GroupId(u32::try_from(self.groups.len()).unwrap_or(u32::MAX));
        self.groups.push(group);
        id
    }

    pub(super) fn name_group(&mut self, id: GroupId, name: &str) {
        if let Some(group) = self.groups.get_mut(id.0 as usize) {
            name.clone_into(&mut group.name);
        }
    }

    pub(super) fn push_case(&mut self, case: Case) -> Result<(), Refusal> {
        if self.cases.len() >= CASES_MAX {
            return Err(Refusal::ReportLimit { what: Limit::Cases, limit: CASES_MAX as u64 });
        }
        self.cases.push(case);
        Ok(())
    }

    pub(super) fn set_last_message(&mut self, message: Option<String>) {
        if let Some(case) = self.cases.last_mut() {
            case.message = message;
        }
    }

    /// Keeps the first [`ITEMS_MAX`]: one is enough to refuse, and hostile reports have one in every line.
    pub(super) fn push_problem(&mut self, problem: Refusal) {
        if self.problems.len() < ITEMS_MAX {
            self.problems.push(problem);
        }
    }

    /// Adds one [`Refusal::DuplicateCase`] for every case of which one result failed and another did not
    /// (ruling 14). Other repetitions are harmless: the worst result counts.
    pub(super) fn note_contradicting_duplicates(&mut self) {
        let worst = self.worst();
        let mut told = vec![false; worst.len()];
        let mut problems = Vec::new();
        for case in &self.cases {
            let at = case.identity as usize;
            if worst[at] == Some(Meaning::Failed) && case.outcome.meaning() != Meaning::Failed && !told[at] {
                told[at] = true;
                problems.push(Refusal::DuplicateCase { name: super::clip(&self.full_name(case)) });
            }
            if problems.len() >= ITEMS_MAX {
                break;
            }
        }
        problems.into_iter().for_each(|problem| self.push_problem(problem));
    }
}
