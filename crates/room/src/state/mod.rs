//! Everything a room is at the end of a tick. What is not here is not remembered.

mod body;
mod control;
mod facts;
mod inputs;
mod mind;
mod queue;
mod regulation;
mod sound;
mod world;

pub use body::{Body, Channel, Levels, Pose};
pub use control::{Control, ControlMode, Safety, SafetyMode};
pub use facts::{Belief, Beliefs, Fact, FactKind, Facts};
pub use inputs::{Audit, Recent, Reduced, Seen};
pub use mind::{Cue, Inspected, Intent, Mind, Recovery, RecoveryCause, RecoveryMode, Visits};
pub use queue::{Pending, Pendings, Queue};
pub use regulation::{Band, Controllable, Regulation, Uncontrolled};
pub use world::{HUMANS, Hidden, Human, World};

use crate::episode::Episodes;
use crate::learn::Expectations;
use crate::retry::Ledger;
use crate::section::Section;
use crate::shape::{Fold, Misread, Shape, member, object_of};
use canon::{Digest, Hasher, Value};

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident: $t:ty),+ $(,)?) => {
        /// A room at the end of a tick.
        #[derive(Clone, Debug, PartialEq)]
        pub struct State {
            /// The tick that comes next.
            pub now: u64,
            $($(#[$doc])* pub $name: Section<$t>),+
        }

        /// Names of the sections, in their order.
        pub const SECTIONS: &[&str] = &[$(stringify!($name)),+];

        impl State {
            /// The 64-bit fold of everything; sections that did not change are not folded again.
            #[inline]
            pub fn folded(&mut self) -> u64 {
                let mut fold = Fold::new();
                fold.add(self.now);
                $(fold.add(self.$name.folded());)+
                fold.finish()
            }

            /// The same, with every section folded again.
            #[must_use]
            pub fn fold_afresh(&self) -> u64 {
                let mut fold = Fold::new();
                fold.add(self.now);
                $(fold.add(self.$name.fold_afresh());)+
                fold.finish()
            }

            /// The fold of each section, computed afresh, with its name.
            #[must_use]
            pub fn folds(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.fold_afresh())),+]
            }

            /// What is kept of a section and is not true any more, as `fold.levels`; nothing in a sound room.
            #[must_use]
            pub fn stale(&self) -> Option<String> {
                $(if let Some(what) = self.$name.stale() {
                    return Some(format!("{what}.{}", stringify!($name)));
                })+
                None
            }

            /// The state hash of a record: SHA-256 over lines `section NUL hex LF` of the digests of the canonical forms.
            pub fn digest(&mut self) -> Digest {
                let mut hasher = Hasher::new();
                hasher.update(crate::shape::count_text(self.now).as_bytes());
                hasher.update(b"\n");
                $(
                    hasher.update(stringify!($name).as_bytes());
                    hasher.update(b"\0");
                    hasher.update(self.$name.digest().to_hex().as_bytes());
                    hasher.update(b"\n");
                )+
                hasher.finish()
            }

            /// A new tick begins: nobody has written yet.
            #[inline]
            pub fn forget_writers(&mut self) {
                $(self.$name.forget_writers();)+
            }
        }

        impl Shape for State {
            fn fold(&self, fold: &mut Fold) {
                fold.add(self.fold_afresh());
            }
            fn show(&self) -> Value {
                let object = canon::Object::new().with("now", self.now.show());
                $(let object = object.with(stringify!($name), self.$name.show());)+
                Value::Object(object)
            }
            fn read(value: &Value) -> Result<State, Misread> {
                let object = object_of(value, &["now", $(stringify!($name)),+])?;
                Ok(State {
                    now: member(object, "now")?,
                    $($name: Section::new(member(object, stringify!($name))?)),+
                })
            }
        }
    };
}

sections! {
    /// Reserves.
    levels: Levels,
    /// The body.
    body: Body,
    /// The visible world.
    world: World,
    /// What only the authority knows.
    hidden: Hidden,
    /// Product Safety.
    safety: Safety,
    /// Body control.
    control: Control,
    /// Interactions.
    queue: Queue,
    /// Pending effects.
    pending: Pendings,
    /// Regulation beside the levels.
    regulation: Regulation,
    /// The mind.
    mind: Mind,
    /// Switches, repetition, families.
    habits: crate::choose::Memory,
    /// Visits of cells.
    visits: Visits,
    /// Expectations.
    expectations: Expectations,
    /// Retry ledger.
    retries: Ledger,
    /// FAILURE_RECOVERY.
    recovery: Recovery,
    /// Causal episodes.
    episodes: Episodes,
    /// Beliefs.
    beliefs: Beliefs,
    /// Facts.
    facts: Facts,
    /// Inputs.
    seen: Seen,
    /// Conservation and draws.
    audit: Audit,
}
