//! Where a run writes. Everything that can be refused is refused before anything is made, so that a refused run leaves
//! nothing that would stand in the way of the next.

use super::{RunArgs, Signed};
use cluster::Done;
use cluster::chain::{Chain, public_path};
use desk::keydir;
use ledger::identity::Identity;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The open files of a run.
pub(super) struct Places {
    sink: BufWriter<Box<dyn Write>>,
    chain: Option<Chain>,
    /// Files that this run made.
    made: Vec<PathBuf>,
    taken: u64,
}

impl Places {
    /// Looks at keys and names first, then makes the files.
    pub(super) fn open(args: &RunArgs) -> Result<Places, String> {
        let signing = args.sign.as_deref().zip(args.chain.as_deref());
        let signing =
            signing.map(|(keys, path)| Ok::<_, String>((identity(keys, path)?, path))).transpose()?;
        let mut wanted: Vec<PathBuf> = args.out.iter().cloned().collect();
        if let Some((_, path)) = &signing {
            wanted.extend([path.to_path_buf(), public_path(path)]);
        }
        wanted.iter().try_for_each(|path| free(path))?;
        let mut made = Vec::new();
        let chain = match signing {
            Some((identity, path)) => {
                let chain = Chain::create(path, identity);
                let chain = chain.map_err(|error| foreign(path, &error.to_string()))?;
                made.extend([path.to_path_buf(), public_path(path)]);
                Some(chain)
            }
            None => None,
        };
        let sink = sink(args.out.as_deref()).inspect_err(|_| remove(&made))?;
        made.extend(args.out.clone());
        Ok(Places { sink: BufWriter::new(sink), chain, made, taken: 0 })
    }

    /// Writes one receipt, and signs it.
    pub(super) fn take(&mut self, done: Done) -> io::Result<()> {
        self.taken += 1;
        self.sink.write_all(&done.line)?;
        match &mut self.chain {
            Some(chain) => chain.append(done.value).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// Ends the files; head and number of entries of the chain.
    pub(super) fn end(&mut self) -> io::Result<Option<Signed>> {
        self.sink.flush()?;
        let Some(chain) = &mut self.chain else { return Ok(None) };
        let head = chain.end().map_err(io::Error::other)?;
        Ok(Some((head, chain.len())))
    }

    /// The run failed. What holds receipts stays, empty files do not.
    pub(super) fn give_up(&self) {
        if self.taken == 0 {
            remove(&self.made);
        }
    }
}

/// A line about a file whose name somebody else chose.
pub(super) fn foreign(path: &Path, why: &str) -> String {
    format!("{}: {}", canon::shown(path.as_os_str().as_encoded_bytes()), canon::shown(why.as_bytes()))
}

fn identity(keys: &Path, chain: &Path) -> Result<Identity, String> {
    if chain.extension().is_none_or(|extension| extension != "ndjson") {
        return Err(foreign(chain, "a chain is called NAME.ndjson"));
    }
    keydir::load(keys, None).map_err(|error| foreign(keys, &error.to_string()))
}

/// The name is free and its folder is there.
fn free(path: &Path) -> Result<(), String> {
    if path.symlink_metadata().is_ok() {
        return Err(foreign(path, "there is a file of this name, and none is overwritten"));
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if folder.is_dir() { Ok(()) } else { Err(foreign(folder, "is no folder")) }
}

fn sink(out: Option<&Path>) -> Result<Box<dyn Write>, String> {
    let Some(path) = out else { return Ok(Box::new(io::stdout())) };
    match File::create_new(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(foreign(path, &error.to_string())),
    }
}

/// Only what this run made and nobody can need: a file that cannot be removed is not worth another error.
fn remove(made: &[PathBuf]) {
    for path in made {
        let _ = std::fs::remove_file(path);
    }
}
