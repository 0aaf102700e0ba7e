//! A section of the state: read freely, written only through [`Section::edit`], which says in which phase.
//!
//! Two things follow. The fold of an unchanged section need not be computed again, because nothing can have changed it;
//! and the writers of each section in a tick are known, which is what INV-07 asks for.

use crate::shape::{Fold, Misread, Shape};
use canon::{Digest, Value, canonical_digest};
use std::ops::Deref;

crate::names! {
    /// The phases of a tick, in their order (GD-03). P11 (Affect) belongs to a later stage and is absent.
    pub enum Phase {
        /// Clock.
        P1 = "P1",
        /// External inputs.
        P2 = "P2",
        /// World dynamics.
        P3 = "P3",
        /// Safety.
        P4 = "P4",
        /// Body control.
        P5 = "P5",
        /// The active Interaction.
        P6 = "P6",
        /// Event Reducer.
        P7 = "P7",
        /// Regulation.
        P8 = "P8",
        /// Perception: the observation feed.
        P9 = "P9",
        /// Facts and beliefs.
        P10 = "P10",
        /// Decision.
        P12 = "P12",
        /// Queue maintenance.
        P13 = "P13",
        /// Checks.
        P14 = "P14",
        /// Log and hash.
        P15 = "P15",
    }
}

/// One section.
#[derive(Clone, Debug)]
pub struct Section<T> {
    value: T,
    fold: Option<u64>,
    digest: Option<Digest>,
    writers: u16,
    #[cfg(feature = "faults")]
    pub(crate) stuck: crate::faults::Stuck,
}

impl<T: Shape> Section<T> {
    /// A section that nobody has written to yet.
    #[must_use]
    pub fn new(value: T) -> Section<T> {
        Section {
            value,
            fold: None,
            digest: None,
            writers: 0,
            #[cfg(feature = "faults")]
            stuck: crate::faults::Stuck::default(),
        }
    }

    /// The value, to be changed in this phase.
    #[inline]
    pub fn edit(&mut self, phase: Phase) -> &mut T {
        if !stuck!(self, fold) {
            self.fold = None;
        }
        if !stuck!(self, digest) {
            self.digest = None;
        }
        self.writers |= 1 << phase as u16;
        &mut self.value
    }

    /// The fold, computed when something changed.
    #[inline]
    pub fn folded(&mut self) -> u64 {
        match self.fold {
            Some(fold) => fold,
            None => {
                let fold = self.fold_afresh();
                self.fold = Some(fold);
                fold
            }
        }
    }

    /// The fold, computed in any case.
    #[must_use]
    pub fn fold_afresh(&self) -> u64 {
        let mut fold = Fold::new();
        self.value.fold(&mut fold);
        fold.finish()
    }

    /// SHA-256 of the canonical form, computed when something changed.
    pub fn digest(&mut self) -> Digest {
        match self.digest {
            Some(digest) => digest,
            None => {
                let digest = canonical_digest(&self.value.show());
                self.digest = Some(digest);
                digest
            }
        }
    }

    /// What was kept and is not true any more: the fold, or the digest.
    #[must_use]
    pub fn stale(&self) -> Option<&'static str> {
        let digest = |kept: Digest| kept != canonical_digest(&self.value.show());
        match () {
            () if self.fold.is_some_and(|kept| kept != self.fold_afresh()) => Some("fold"),
            () if self.digest.is_some_and(digest) => Some("digest"),
            () => None,
        }
    }

    /// The phases that wrote since [`Section::forget_writers`], one bit a phase.
    #[inline]
    #[must_use]
    pub fn writers(&self) -> u16 {
        self.writers
    }

    /// A new tick begins.
    #[inline]
    pub fn forget_writers(&mut self) {
        self.writers = 0;
    }

    /// The canonical form.
    #[must_use]
    pub fn show(&self) -> Value {
        self.value.show()
    }

    /// Reads the canonical form.
    ///
    /// # Errors
    /// As [`Shape::read`].
    pub fn read(value: &Value) -> Result<Section<T>, Misread> {
        T::read(value).map(Section::new)
    }
}

impl<T> Deref for Section<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Section<T> {
    fn eq(&self, other: &Section<T>) -> bool {
        self.value == other.value
    }
}

/// The bit of a phase in [`Section::writers`].
#[must_use]
pub const fn bit(phase: Phase) -> u16 {
    1 << phase as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_section_is_folded_again_and_names_its_writer() {
        let mut section = Section::new(5_u64);
        let before = section.folded();
        assert_eq!(section.writers(), 0);
        *section.edit(Phase::P7) = 6;
        assert_ne!(section.folded(), before);
        assert_eq!(section.folded(), section.fold_afresh());
        assert_eq!(section.writers(), bit(Phase::P7));
        *section.edit(Phase::P8) = 5;
        assert_eq!(section.folded(), before);
    }
}
