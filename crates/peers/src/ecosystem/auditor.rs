//! Which deliveries are audited: decided by a hash, so that everybody can compute it and nobody can steer it.

use crate::fixed::Fixed;
use canon::Digest;

/// Audits a share of all tasks, and all forced ones.
#[derive(Clone, Debug)]
pub struct Auditor {
    seed: String,
    rate: Fixed,
}

impl Auditor {
    /// One task in five.
    pub const RATE: Fixed = Fixed::thousandths(200);

    /// An auditor; a rate outside 0 to 1 is moved to the nearer border.
    pub fn new(seed: &str, rate: Fixed) -> Auditor {
        Auditor { seed: seed.to_owned(), rate: rate.clamp(Fixed::ZERO, Fixed::ONE) }
    }

    /// Whether the first 8 bytes of SHA-256("seed:task id"), as a fraction of 2^64, are under the rate. Rates 0 and 1 are
    /// exact; the comparison is too, where the peer rounds both sides to binary64.
    pub fn audits(&self, task_id: &str, forced: bool) -> bool {
        let digest = Digest::of(format!("{}:{task_id}", self.seed).as_bytes());
        let number = digest.as_bytes()[..8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        forced || self.rate.exceeds_share(number)
    }
}
