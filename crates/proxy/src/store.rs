//! What lies in `wire_<ARM>` (14.6): bodies as they pass, the index by one thread, each batch of its lines on the disk
//! before the calls in it count as finished.

use crate::config::{Event, Fault, FaultKind};
use crate::shared::Shared;
use canon::{Digest, Hasher};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::Receiver;
use wire::Row;

/// Lines that go to the disk together.
const BATCH: usize = 64;

fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A body that is being written and hashed.
pub(crate) struct Blob {
    file: File,
    hasher: Hasher,
    bytes: u64,
}

impl Blob {
    pub(crate) fn create(folder: &Path, call_id: &str, side: &str) -> io::Result<Blob> {
        let file = create(&folder.join(format!("{call_id}.{side}")))?;
        Ok(Blob { file, hasher: Hasher::new(), bytes: 0 })
    }

    /// Writes on. What is hashed was written: after a failure the digest is that of the file up to a torn end.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Digest and length. A torn end, from a full disk, is cut off again so that file and row agree.
    pub(crate) fn finish(self) -> (Digest, u64) {
        if self.file.metadata().is_ok_and(|meta| meta.len() != self.bytes) {
            // Where even this fails, the row's length still says how much of the file is meant.
            let _ = self.file.set_len(self.bytes);
        }
        (self.hasher.finish(), self.bytes)
    }
}

/// The index.
pub(crate) struct Index {
    file: File,
    /// Length up to the last whole line that is on the disk.
    length: u64,
    hasher: Hasher,
}

impl Index {
    pub(crate) fn create(folder: &Path) -> io::Result<Index> {
        let file = create(&folder.join("index.jsonl"))?;
        File::open(folder)?.sync_all()?;
        Ok(Index { file, length: 0, hasher: Hasher::new() })
    }

    fn append(&mut self, rows: &[Row]) -> io::Result<()> {
        let mut lines = Vec::new();
        for row in rows {
            lines.extend_from_slice(&canon::compact_ascii(&row.value()));
            lines.push(b'\n');
        }
        let written = self.file.write_all(&lines).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length += lines.len() as u64;
                self.hasher.update(&lines);
            }
            // A torn line would make every line before it unreadable for a strict reader.
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

/// The thread of the index. It ends when nobody can send any more, and gives length and digest of what it wrote.
pub(crate) fn keep_index(shared: &Arc<Shared>, mut index: Index, mut rows: Receiver<Row>) -> (u64, Digest) {
    while let Some(first) = rows.blocking_recv() {
        let mut batch = vec![first];
        while let Some(row) = (batch.len() < BATCH).then(|| rows.try_recv().ok()).flatten() {
            batch.push(row);
        }
        let written = if shared.book().broken { Ok(false) } else { index.append(&batch).map(|()| true) };
        match written {
            Ok(true) => batch.iter().for_each(|row| shared.tell(&Event::Ended(row))),
            Ok(false) => {}
            Err(ref error) => {
                shared.book().broken = true;
                for row in &batch {
                    let why = error.to_string();
                    shared.fault(Fault { call_id: row.call_id.clone(), kind: FaultKind::Index, why });
                }
            }
        }
        shared.book().close(&batch, matches!(written, Ok(true)));
        shared.closed.notify_all();
    }
    (index.length, index.hasher.finish())
}
