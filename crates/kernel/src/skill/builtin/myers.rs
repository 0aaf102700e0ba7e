//! The shortest edit script of two lists of lines (Myers 1986), with bounded work.

use crate::skill::payload::Work;
use crate::skill::{Failed, Fault};
use std::collections::BTreeMap;

/// One step from the old lines to the new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The line stands in both.
    Keep,
    /// The line stands in the old text only.
    Remove,
    /// The line stands in the new text only.
    Add,
}

/// Most removed and added lines together: memory and time grow with its square.
const DISTANCE_MAX: usize = 2000;

const WORK_MAX: u64 = 40_000_000;

/// A shortest list of edits. Removals stand before additions wherever both are possible.
pub(super) fn edits(before: &[&str], after: &[&str]) -> Result<Vec<Edit>, Failed> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[head..], &after[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut edits = vec![Edit::Keep; head];
    edits.extend(middle(&numbered(old, new))?);
    edits.extend(std::iter::repeat_n(Edit::Keep, tail));
    Ok(edits)
}

/// Lines as numbers: they are compared very often.
fn numbered<'a>(old: &[&'a str], new: &[&'a str]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: BTreeMap<&'a str, u32> = BTreeMap::new();
    let mut number = |line: &&'a str| {
        let next = numbers.len() as u32;
        *numbers.entry(*line).or_insert(next)
    };
    (old.iter().map(&mut number).collect(), new.iter().map(&mut number).collect())
}

/// How far each diagonal `-d, -d+2, ..., d` is reached with `d` edits, in old lines; nothing where it leaves the texts.
type Reach = Vec<Option<u32>>;

fn middle((old, new): &(Vec<u32>, Vec<u32>)) -> Result<Vec<Edit>, Failed> {
    let mut work = Work::of(WORK_MAX);
    let mut rounds: Vec<Reach> = Vec::new();
    for distance in 0..=DISTANCE_MAX {
        work.spend(distance)?;
        let mut reach = Reach::with_capacity(distance + 1);
        for place in 0..=distance {
            let from = match rounds.last() {
                Some(before) => start(before, place, distance).map(|(x, _)| x as usize),
                None => Some(0),
            };
            // Diagonal k is x - y, and k is 2 * place - distance.
            let y = |x: usize| (x + distance).wrapping_sub(2 * place);
            let Some(from) = from.filter(|x| *x <= old.len() && y(*x) <= new.len()) else {
                reach.push(None);
                continue;
            };
            let mut x = from;
            while x < old.len() && new.get(y(x)) == Some(&old[x]) {
                x += 1;
            }
            work.spend(x - from)?;
            reach.push(Some(x as u32));
            if x == old.len() && y(x) == new.len() {
                rounds.push(reach);
                return Ok(walked(&rounds, place));
            }
        }
        rounds.push(reach);
    }
    Err(Failed::new(Fault::WorkTooLarge, format!("more than {DISTANCE_MAX} lines are added or removed")))
}

/// Where a diagonal begins after one more edit, and whether that edit is an addition.
///
/// An addition comes from the diagonal above (the same place in the round before), a removal from the one below.
fn start(before: &Reach, place: usize, distance: usize) -> Option<(u32, bool)> {
    let added = before.get(place).copied().flatten().filter(|_| place < distance);
    let removed = place.checked_sub(1).and_then(|below| before[below]).map(|x| x + 1);
    match (added, removed) {
        (Some(added), Some(removed)) if removed > added => Some((removed, false)),
        (Some(added), _) => Some((added, true)),
        (None, removed) => removed.map(|removed| (removed, false)),
    }
}

/// The edits on the way back from the end.
fn walked(rounds: &[Reach], mut place: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    for distance in (1..rounds.len()).rev() {
        let Some((from, added)) = start(&rounds[distance - 1], place, distance) else { break };
        let reached = rounds[distance][place].unwrap_or(from);
        edits.extend(std::iter::repeat_n(Edit::Keep, (reached - from) as usize));
        edits.push(if added { Edit::Add } else { Edit::Remove });
        place -= usize::from(!added);
    }
    edits.extend(std::iter::repeat_n(Edit::Keep, rounds[0][0].unwrap_or(0) as usize));
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of the longest common list, by the table that everybody knows.
    fn common(a: &[&str], b: &[&str]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] =
                    if x == y { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn edits_are_shortest_and_lead_from_old_to_new(a in "[abc]{0,24}", b in "[abc]{0,24}") {
            let split = |text: &'static str| text.split("").filter(|ch| !ch.is_empty()).collect::<Vec<_>>();
            let (a, b) = (split(a.leak()), split(b.leak()));
            let edits = edits(&a, &b).unwrap();
            prop_assert_eq!(edits.iter().filter(|edit| **edit == Edit::Keep).count(), common(&a, &b));
            let (mut old, mut made) = (a.iter(), Vec::new());
            let mut new = b.iter();
            for edit in edits {
                if edit != Edit::Add {
                    let line = old.next().unwrap();
                    if edit == Edit::Keep { prop_assert_eq!(Some(line), new.next()); made.push(*line); }
                } else {
                    made.push(new.next().unwrap());
                }
            }
            prop_assert!(old.next().is_none());
            prop_assert_eq!(made, b);
        }
    }

    #[test]
    fn work_is_bounded() {
        let lines: Vec<String> = (0..2002).map(|number| number.to_string()).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(edits(&lines, &[]).unwrap_err().fault, Fault::WorkTooLarge);
        assert_eq!(edits(&lines[..2000], &[]).unwrap().len(), 2000);
    }
}
