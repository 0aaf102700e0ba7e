//! Room tick v0 without any framework: one struct, one loop.

/// The whole state.
pub(crate) struct Room {
    pub(crate) ticks: u64,
    pub(crate) needs: [u32; 8],
    /// 12: idle.
    pub(crate) current: u32,
    pub(crate) left: u32,
    pub(crate) generator: u64,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { ticks: 0, needs: [500; 8], current: 12, left: 0, generator: 1 }
    }

    pub(crate) fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            if self.left > 0 {
                self.left -= 1;
                if self.left == 0 {
                    let need = &mut self.needs[self.current as usize % 8];
                    *need = (*need + 100 + 17 * self.current).min(1000);
                    self.current = 12;
                }
            }
            let need = &mut self.needs[self.ticks as usize % 8];
            *need = need.saturating_sub(1);
            if self.current == 12 {
                let mut best = 0;
                for k in 0..12 {
                    let gap = 1000 - self.needs[k as usize % 8];
                    self.generator ^= self.generator << 13;
                    self.generator ^= self.generator >> 7;
                    self.generator ^= self.generator << 17;
                    let bits = self.generator as u32 & 3;
                    let score = gap * gap / 1000 * (100 + 17 * k) / (5 + 3 * k) + bits;
                    if self.current == 12 || score > best {
                        (best, self.current) = (score, k);
                    }
                }
                self.left = 5 + 3 * self.current;
            }
            self.ticks += 1;
        }
    }
}
