//! The phases of a tick, one file each or two (GD-03).

mod acts;
mod answers;
mod body;
mod choice;
mod control;
mod decide;
mod hazards;
mod inputs;
mod maintain;
mod observe;
mod recover;
mod reduce;
mod regulate;
mod running;
mod safety;
mod start_test;
mod supply;

pub(crate) use acts::touched;
#[cfg(feature = "faults")]
pub(crate) use regulate::fresh_band;
pub(crate) use regulate::margins;

use crate::item::{Evidence, Exit};
use crate::kind::Kind;
use crate::world::Obj;

/// What an Interaction brought about: applied by the Reducer, once (INV-05).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Which item.
    pub(crate) item: u32,
    /// 0 is the final result, 1… are parts.
    pub(crate) part: u8,
    /// What it did.
    pub(crate) kind: Kind,
    /// To what.
    pub(crate) target: Option<Obj>,
    /// With whom.
    pub(crate) human: Option<u8>,
    /// The item had entered PREPARING: a failure is an attempt (GD-52).
    pub(crate) prepared: bool,
    /// It worked.
    pub(crate) success: bool,
    /// Evidence when it did not.
    pub(crate) evidence: Evidence,
    /// Why it stopped by itself.
    pub(crate) exit: Exit,
    /// Running ticks of the whole.
    pub(crate) ran: u64,
}
