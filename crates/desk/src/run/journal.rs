//! The chain of a run. The arm that is not judged has none (10.3f).

use crate::store::{ChainFile, StoreError};
use canon::{Digest, Value};

/// A chain, or the place where none is kept.
#[derive(Debug)]
pub(super) struct Journal(Option<ChainFile>);

impl Journal {
    pub(super) fn signed(chain: ChainFile) -> Journal {
        Journal(Some(chain))
    }

    pub(super) fn unsigned() -> Journal {
        Journal(None)
    }

    pub(super) fn chain(&mut self) -> Option<&mut ChainFile> {
        self.0.as_mut()
    }

    /// Signs an entry; it is on disk when this returns.
    pub(super) fn append(&mut self, kind: &str, payload: Value) -> Result<(), StoreError> {
        match &mut self.0 {
            Some(chain) => chain.append(kind, payload).map(|_| ()),
            None => Ok(()),
        }
    }

    pub(super) fn head(&self) -> Option<Digest> {
        self.0.as_ref().map(ChainFile::head)
    }

    pub(super) fn entries_n(&self) -> u64 {
        self.0.as_ref().map_or(0, ChainFile::len)
    }

    pub(super) fn vacant_id(&self) -> Option<String> {
        self.0.as_ref().map(|chain| chain.public().id().to_string())
    }
}
