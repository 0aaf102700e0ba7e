//! Room tick v0 in the idiom of the crate `room`: integers in µ, one struct, each phase a function, in the order of its
//! pipeline; overflow checks and debug assertions stay on. With `FOLD`, 64 bits of the state are folded each tick.
#![deny(clippy::float_arithmetic)]

mod yard;

use room::draw::mix;
use room::fixed::{self, ONE};
pub use yard::Yard;

/// One point of the yardstick, in µ.
pub const POINT: i64 = ONE / 1000;

/// What can be done: the need that it serves, how much, and how long it takes.
#[derive(Clone, Copy, Debug)]
struct Interaction {
    need: usize,
    gain: i64,
    duration: i64,
}

const INTERACTIONS: [Interaction; 12] = {
    let mut all = [Interaction { need: 0, gain: 0, duration: 0 }; 12];
    let mut k = 0;
    while k < all.len() {
        let number = k as i64;
        all[k] = Interaction { need: k % 8, gain: (100 + 17 * number) * POINT, duration: 5 + 3 * number };
        k += 1;
    }
    all
};

/// What the body is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing {
    /// Number of the interaction.
    pub interaction: usize,
    /// Ticks until it ends.
    pub left: i64,
}

/// The whole state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room<const FOLD: bool> {
    /// Ticks done.
    pub tick: u64,
    /// In µ.
    pub needs: [i64; 8],
    /// Nothing before the first choice.
    pub doing: Option<Doing>,
    /// State of the generator.
    pub generator: u64,
    /// Fold of the states after each tick; 0 without `FOLD`.
    pub fold: u64,
}

impl<const FOLD: bool> Default for Room<FOLD> {
    fn default() -> Self {
        Room { tick: 0, needs: [500 * POINT; 8], doing: None, generator: 1, fold: 0 }
    }
}

/// One tick.
pub fn step<const FOLD: bool>(room: &mut Room<FOLD>) {
    advance(room);
    decay(room);
    choose(room);
    room.tick += 1;
    debug_assert!(room.needs.iter().all(|need| (0..=ONE).contains(need)), "a need left its range");
    if FOLD {
        room.fold = room.words().into_iter().fold(room.fold, |fold, word| mix(fold ^ word));
    }
}

/// The interaction goes on by one tick; at its end its gain arrives.
fn advance<const FOLD: bool>(room: &mut Room<FOLD>) {
    let Some(doing) = &mut room.doing else { return };
    doing.left -= 1;
    if doing.left == 0 {
        let done = INTERACTIONS[doing.interaction];
        room.needs[done.need] = (room.needs[done.need] + done.gain).min(ONE);
        room.doing = None;
    }
}

/// The need whose turn it is falls.
fn decay<const FOLD: bool>(room: &mut Room<FOLD>) {
    let need = &mut room.needs[(room.tick % 8) as usize];
    *need = (*need - POINT).max(0);
}

/// The best interaction for an idle body.
fn choose<const FOLD: bool>(room: &mut Room<FOLD>) {
    if room.doing.is_some() {
        return;
    }
    let (mut best, mut highest) = (0, i64::MIN);
    for (k, offered) in INTERACTIONS.iter().enumerate() {
        let score = score(room.needs[offered.need], offered) + two_bits(&mut room.generator);
        if score > highest {
            (best, highest) = (k, score);
        }
    }
    room.doing = Some(Doing { interaction: best, left: INTERACTIONS[best].duration });
}

/// In points, each division truncated.
fn score(need: i64, offered: &Interaction) -> i64 {
    let gap = ONE - need;
    let urgency = fixed::mul(gap, gap) / POINT;
    urgency * (offered.gain / POINT) / offered.duration
}

/// The next two bits of the yardstick's generator.
fn two_bits(generator: &mut u64) -> i64 {
    *generator ^= *generator << 13;
    *generator ^= *generator >> 7;
    *generator ^= *generator << 17;
    (*generator & 3) as i64
}

impl<const FOLD: bool> Room<FOLD> {
    /// The state as words: all that there is but the fold.
    #[must_use]
    pub fn words(&self) -> [u64; 12] {
        let [a, b, c, d, e, f, g, h] = self.needs.map(i64::cast_unsigned);
        let doing =
            self.doing.map_or((0, 0), |doing| (doing.interaction as u64 + 1, doing.left.cast_unsigned()));
        [self.tick, a, b, c, d, e, f, g, h, doing.0, doing.1, self.generator]
    }

    /// The words and the fold as little-endian bytes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        self.words().into_iter().chain([self.fold]).flat_map(u64::to_le_bytes).collect()
    }

    /// What [`Room::save`] wrote; nothing for bytes that it cannot have written.
    #[must_use]
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks();
        let words: [u64; 13] =
            words.iter().copied().map(u64::from_le_bytes).collect::<Vec<u64>>().try_into().ok()?;
        let [tick, a, b, c, d, e, f, g, h, current, left, generator, fold] = words;
        let needs = [a, b, c, d, e, f, g, h].map(u64::cast_signed);
        let doing = match current {
            0 => (left == 0).then_some(None)?,
            current => {
                let interaction = usize::try_from(current - 1).ok()?;
                let left = i64::try_from(left).ok()?;
                let known = INTERACTIONS.get(interaction)?;
                (1..=known.duration).contains(&left).then_some(Some(Doing { interaction, left }))?
            }
        };
        let fine = rest.is_empty() && needs.iter().all(|need| (0..=ONE).contains(need));
        fine.then_some(Room { tick, needs, doing, generator, fold })
    }
}
