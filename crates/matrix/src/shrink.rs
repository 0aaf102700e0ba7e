//! A failing run shrinks itself: the fewest inputs and the shortest prefix that still fail (delta debugging, ddmin).

/// What is left of a failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk<I> {
    /// The inputs, in their order.
    pub inputs: Vec<I>,
    /// The prefix, in ticks.
    pub ticks: u64,
    /// How often it was tried.
    pub tries: u64,
    /// Whether it is known that without any one input, or with one tick less, it does not fail. False when the tries ended.
    pub minimal: bool,
}

/// Shrinks `inputs` and `ticks`, which fail, to what still fails. `fails` must answer the same for the same arguments; it is
/// asked at most `tries_max` times. Nothing when they do not fail in the first place.
pub fn shrink<I: Clone>(
    inputs: &[I],
    ticks: u64,
    tries_max: u64,
    mut fails: impl FnMut(&[I], u64) -> bool,
) -> Option<Shrunk<I>> {
    let mut search = Search { tries: 0, tries_max, fails: &mut fails };
    if search.ask(inputs, ticks) != Some(true) {
        return None;
    }
    let (mut inputs, mut ticks) = (inputs.to_vec(), ticks);
    // Fewer ticks make every later try cheaper, so they come first. Fewer inputs may let the prefix shrink again.
    let minimal = loop {
        let shorter = search.prefix(&inputs, &mut ticks);
        let fewer = shorter.and_then(|_| search.inputs(&mut inputs, ticks));
        match (shorter, fewer) {
            (Some(_), Some(true)) => {}
            // With the same inputs the prefix is the shortest already.
            (Some(_), Some(false)) => break true,
            _ => break false,
        }
    };
    Some(Shrunk { inputs, ticks, tries: search.tries, minimal })
}

struct Search<'f, I> {
    tries: u64,
    tries_max: u64,
    fails: &'f mut dyn FnMut(&[I], u64) -> bool,
}

impl<I: Clone> Search<'_, I> {
    /// Nothing when the tries have ended.
    fn ask(&mut self, inputs: &[I], ticks: u64) -> Option<bool> {
        if self.tries == self.tries_max {
            return None;
        }
        self.tries += 1;
        Some((self.fails)(inputs, ticks))
    }

    /// The shortest prefix that bisection finds; one tick less does not fail. A failure stays once it has happened, so this is
    /// the shortest of all; for others it is still one that fails.
    fn prefix(&mut self, inputs: &[I], ticks: &mut u64) -> Option<()> {
        if *ticks > 0 && self.ask(inputs, 0)? {
            *ticks = 0;
        }
        let mut holds = 0;
        while *ticks > holds + 1 {
            let middle = holds + (*ticks - holds) / 2;
            if self.ask(inputs, middle)? { *ticks = middle } else { holds = middle }
        }
        Some(())
    }

    /// ddmin: takes away parts, then the complements, then halves the parts, until none of single inputs can go. Says whether
    /// any went; what went stays away when the tries end.
    fn inputs(&mut self, inputs: &mut Vec<I>, ticks: u64) -> Option<bool> {
        let before = inputs.len();
        let mut parts = 2_usize;
        if before > 0 && self.ask(&[], ticks)? {
            inputs.clear();
            return Some(true);
        }
        while inputs.len() >= 2 {
            match self.step(inputs, parts, ticks)? {
                Some((fewer, next)) => (*inputs, parts) = (fewer, next),
                None if parts >= inputs.len() => break,
                None => parts = (2 * parts).min(inputs.len()),
            }
        }
        Some(inputs.len() < before)
    }

    /// One round over `parts` parts: the inputs that are left, and the number of parts of the next round.
    fn step(&mut self, inputs: &[I], parts: usize, ticks: u64) -> Option<Option<(Vec<I>, usize)>> {
        let size = inputs.len().div_ceil(parts);
        // With two parts each is the complement of the other.
        if parts > 2 {
            for part in inputs.chunks(size) {
                if self.ask(part, ticks)? {
                    return Some(Some((part.to_vec(), 2)));
                }
            }
        }
        for start in (0..inputs.len()).step_by(size) {
            let end = (start + size).min(inputs.len());
            let rest = [&inputs[..start], &inputs[end..]].concat();
            if self.ask(&rest, ticks)? {
                return Some(Some((rest, (parts - 1).max(2))));
            }
        }
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(n: u32) -> Vec<u32> {
        (0..n).collect()
    }

    #[test]
    fn finds_the_inputs_that_matter() {
        for needed in [vec![], vec![7], vec![3, 90], vec![0, 1, 2, 97, 98, 99], vec![10, 20, 30, 40, 50]] {
            let fails =
                |inputs: &[u32], ticks: u64| ticks >= 1234 && needed.iter().all(|one| inputs.contains(one));
            let shrunk = shrink(&all(100), 259_200, 10_000, fails).unwrap();
            assert_eq!((shrunk.inputs, shrunk.ticks, shrunk.minimal), (needed.clone(), 1234, true));
            assert!(shrunk.tries < 1_000, "{}", shrunk.tries);
        }
    }

    /// The sum only fails together, and many different sets do: what is left must be one from which nothing can go.
    #[test]
    fn nothing_can_be_taken_from_what_is_left() {
        let fails = |inputs: &[u32], ticks: u64| u64::from(inputs.iter().sum::<u32>()) >= 300 && ticks >= 5;
        let shrunk = shrink(&all(50), 100, 10_000, fails).unwrap();
        assert!(
            shrunk.minimal && fails(&shrunk.inputs, shrunk.ticks) && !fails(&shrunk.inputs, shrunk.ticks - 1)
        );
        for without in 0..shrunk.inputs.len() {
            let mut fewer = shrunk.inputs.clone();
            fewer.remove(without);
            assert!(!fails(&fewer, shrunk.ticks));
        }
    }

    /// An input that only matters when the run is long: ticks and inputs depend on each other.
    #[test]
    fn prefix_and_inputs_shrink_together() {
        let fails = |inputs: &[u32], ticks: u64| {
            let late = inputs.contains(&5);
            ticks >= if late { 40 } else { 10 } && inputs.contains(&9)
        };
        let shrunk = shrink(&all(20), 1000, 10_000, fails).unwrap();
        assert_eq!((shrunk.inputs, shrunk.ticks, shrunk.minimal), (vec![9], 10, true));
    }

    #[test]
    fn what_does_not_fail_is_not_shrunk() {
        assert_eq!(shrink(&all(3), 10, 100, |_, _| false), None);
        assert_eq!(shrink(&all(3), 10, 0, |_, _| true), None);
    }

    #[test]
    fn the_tries_end() {
        for tries_max in 1..200 {
            let fails = |inputs: &[u32], ticks: u64| {
                ticks >= 77 && [3, 33, 63].iter().all(|one| inputs.contains(one))
            };
            let mut asked = 0;
            let shrunk = shrink(&all(64), 1000, tries_max, |inputs: &[u32], ticks| {
                asked += 1;
                fails(inputs, ticks)
            })
            .unwrap();
            assert!(asked <= tries_max && shrunk.tries == asked);
            assert!(fails(&shrunk.inputs, shrunk.ticks), "what is left fails, however early it ended");
            assert!(shrunk.minimal || asked == tries_max);
        }
    }

    #[test]
    fn twice_is_the_same() {
        let fails =
            |inputs: &[u32], ticks: u64| ticks > 9 && inputs.iter().filter(|one| *one % 3 == 0).count() > 4;
        assert_eq!(shrink(&all(60), 50, 5_000, fails), shrink(&all(60), 50, 5_000, fails));
    }
}
