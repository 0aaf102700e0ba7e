//! Seeds and counter-based draws (GD-02): a draw depends on its coordinates alone, so no part of the room shifts
//! another's random numbers, and looking draws nothing.

use crate::fixed::ONE;
use canon::Digest;

/// Prefix of every seed string (RC-SEE-01).
pub const LINEAGE: &str = "single-room-v0.4";

/// The independent streams of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stream {
    /// The choice inside the high-score window (GD-42).
    Pool = 1,
    /// The tie among equivalent Tier 1 options (GD-40).
    Tier1Tie = 2,
    /// Exploration of Tier 4 (GD-44).
    Explore = 3,
    /// Interleavings that a fixture makes.
    Interleaving = 7,
    /// Content that a fixture makes.
    Content = 8,
}

/// The seed of one index of a suite: `low64(SHA256("single-room-v0.4|<suite>|<index>"))`, the last eight bytes of the
/// digest as big-endian (RC-SEE-01).
#[must_use]
pub fn seed(suite: &str, index: u64) -> u64 {
    let digest = Digest::of(format!("{LINEAGE}|{suite}|{index}").as_bytes());
    digest.as_bytes().last_chunk().map_or(0, |low| u64::from_be_bytes(*low))
}

/// One step of splitmix64.
#[inline]
#[must_use]
pub fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The `k`-th draw of a stream within a tick.
#[must_use]
pub fn draw(seed: u64, stream: u64, tick: u64, k: u64) -> u64 {
    Draws::of(seed, stream, tick).get(k)
}

/// The draws of a stream within a tick: what does not depend on `k`, for callers that draw often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws(u64);

impl Draws {
    /// All draws of this stream and tick.
    #[must_use]
    pub fn of(seed: u64, stream: u64, tick: u64) -> Draws {
        Draws(mix(mix(mix(seed) ^ stream) ^ tick))
    }

    /// The `k`-th of them.
    #[inline]
    #[must_use]
    pub fn get(self, k: u64) -> u64 {
        mix(self.0 ^ k)
    }
}

/// A draw brought to `0..n`. 0 when `n` is 0.
#[inline]
#[must_use]
pub fn uniform(draw: u64, n: u64) -> u64 {
    ((u128::from(draw) * u128::from(n)) >> 64) as u64
}

/// Whether an event of probability `p` µ happens.
#[must_use]
pub fn happens(draw: u64, p: i64) -> bool {
    uniform(draw, ONE.unsigned_abs()).cast_signed() < p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_those_of_gd_02() {
        assert_eq!(seed("V01", 0), 0x2c54_ef19_1367_46d5);
        assert_eq!(seed("V01", 50), 0x27f1_fc98_bbf8_eb2b);
        assert_eq!(seed("V08", 50), 0x3bd0_3ca3_a55e_c2ce);
        assert_eq!(seed("V08", 149), 0x582f_b9fb_92fe_289d);
    }

    #[test]
    fn draws_are_those_of_gd_02() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1), 0x910a_2dec_8902_5cc1);
        let seed = 0x27f1_fc98_bbf8_eb2b;
        for (stream, tick, k, expected) in [
            (1, 0, 0, 0xd603_277c_0a47_9929_u64),
            (1, 0, 1, 0xc4fe_36ff_071e_5945),
            (2, 0, 0, 0x123e_0790_f955_84d0),
            (1, 1, 0, 0x1534_c3e8_1870_9e3e),
            (3, 259_199, 7, 0x7994_5228_8675_b0d7),
        ] {
            assert_eq!(draw(seed, stream, tick, k), expected, "{stream} {tick} {k}");
        }
    }

    #[test]
    fn a_uniform_draw_stays_below_its_bound() {
        assert_eq!(uniform(u64::MAX, 5), 4);
        assert_eq!(uniform(0, 5), 0);
        assert_eq!(uniform(7, 0), 0);
        assert!(happens(0, 1) && !happens(0, 0) && happens(u64::MAX, 1_000_000));
    }
}
