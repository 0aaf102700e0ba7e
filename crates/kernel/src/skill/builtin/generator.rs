//! SplitMix64 as a counter: draw number `i` is a function of the seed and `i`.

/// The generator of Steele, Lea and Flood (2014). Not for secrets.
pub(super) struct Generator {
    seed: u64,
    drawn: u64,
}

/// 2^64 divided by the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Generator {
    /// The generator of a seed, before its first draw.
    pub(super) fn new(seed: u64) -> Generator {
        Generator { seed, drawn: 0 }
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.drawn += 1;
        let mut bits = self.seed.wrapping_add(self.drawn.wrapping_mul(STEP));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`, which is not 0, each equally likely.
    ///
    /// Draws from the incomplete last stretch are thrown away. At most half of all draws are there, so that the loop
    /// ends; it has no bound that a seed could not pass, and needs two draws at most on average.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let rest = (u64::MAX % bound + 1) % bound;
        loop {
            let draw = self.next();
            if draw <= u64::MAX - rest {
                return draw % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567 that implementations of SplitMix64 are compared by.
    #[test]
    fn it_is_splitmix64() {
        let mut generator = Generator::new(1_234_567);
        let draws: Vec<u64> = (0..5).map(|_| generator.next()).collect();
        assert_eq!(
            draws,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn every_number_below_the_bound_is_as_likely() {
        let mut generator = Generator::new(7);
        let mut counts = [0_u32; 6];
        (0..60_000).for_each(|_| counts[generator.below(6) as usize] += 1);
        // Five standard deviations of a fair die: sqrt(60000 * 5 / 36) is about 91.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 456), "{counts:?}");
        assert!((0..100).all(|_| generator.below(1) == 0));
    }
}
