//! Reading what the arguments name, and nothing else: no link is followed inside a run directory, nothing that is
//! not a regular file is read.

use ledger::receipts::Files;
use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Longest chain file, in bytes.
const CHAIN_BYTES_MAX: u64 = 2 << 30;
/// Longest of the other files, and of all of them in one directory together, in bytes.
const OTHER_BYTES_MAX: u64 = 256 << 20;

/// One run directory or chain file with its bytes.
pub(super) struct Target {
    /// As the user wrote it, or as the pattern gave it.
    pub(super) shown: PathBuf,
    /// What was read.
    pub(super) files: Files,
    /// Only this arm was asked for.
    pub(super) arm: Option<String>,
    /// Files that could not be read, and why.
    pub(super) problems: Vec<(Vec<u8>, String)>,
    /// What the files beside the chains may still take.
    left_bytes: u64,
}

/// The paths that the arguments name. One that names nothing is kept: it answers UNVERIFIABLE, never OK (PC-60).
pub(super) fn paths(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let expanded: Result<Vec<_>, _> = arguments.iter().map(|argument| expand(argument)).collect();
    Ok(expanded?.concat())
}

fn expand(argument: &Path) -> Result<Vec<PathBuf>, String> {
    let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[']));
    let Some(pattern) = pattern.filter(|_| std::fs::symlink_metadata(argument).is_err()) else {
        return Ok(vec![argument.to_path_buf()]);
    };
    let found = glob::glob(pattern).map_err(|error| format!("{pattern}: {}", error.msg))?;
    // A run directory has a folder name; loose files beside it are not run directories.
    let paths: Vec<PathBuf> = found
        .filter_map(Result::ok)
        .filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "ndjson"))
        .collect();
    Ok(if paths.is_empty() { vec![argument.to_path_buf()] } else { paths })
}

/// Reads what lies at one path.
pub(super) fn read(path: &Path) -> Target {
    let mut target = Target {
        shown: path.to_path_buf(),
        files: Files::new(),
        arm: None,
        problems: Vec::new(),
        left_bytes: OTHER_BYTES_MAX,
    };
    match std::fs::metadata(path) {
        Err(error) => target.problem(path, error.to_string()),
        Ok(meta) if meta.is_dir() => target.directory(path),
        Ok(_) => target.chain_file(path),
    }
    target
}

impl Target {
    fn problem(&mut self, path: &Path, why: String) {
        self.problems.push((path.as_os_str().as_encoded_bytes().to_vec(), why));
    }

    fn directory(&mut self, root: &Path) {
        let entries = match std::fs::read_dir(root) {
            Ok(entries) => entries,
            Err(error) => return self.problem(root, error.to_string()),
        };
        for entry in entries {
            match entry {
                Ok(entry) => {
                    // Names that are not UTF-8 are none of ours.
                    if let Some(name) = entry.file_name().to_str() {
                        self.take(root, name);
                    }
                }
                Err(error) => self.problem(root, error.to_string()),
            }
        }
    }

    /// Takes the file `name` if the verifier has a use for it.
    fn take(&mut self, root: &Path, name: &str) {
        if name.starts_with("wire_") && !name.contains('.') {
            let index = format!("{name}/index.jsonl");
            // The index is optional; a folder without one is an arm whose calls were not stored.
            if std::fs::symlink_metadata(root.join(name)).is_ok_and(|meta| meta.is_dir())
                && std::fs::symlink_metadata(root.join(&index)).is_ok()
            {
                self.load(root, &index, OTHER_BYTES_MAX);
            }
            return;
        }
        let chain = name.starts_with("receipts_") && name.ends_with(".ndjson");
        let other = name == "rows.jsonl"
            || (name.starts_with("receipts_") && name.ends_with(".pub.json"))
            || ((name.starts_with("run_") || name.starts_with("visible_")) && name.ends_with(".json"));
        if chain {
            self.load(root, name, CHAIN_BYTES_MAX);
        } else if other {
            self.load(root, name, OTHER_BYTES_MAX);
        }
    }

    fn load(&mut self, root: &Path, name: &str, bytes_max: u64) {
        let beside = bytes_max == OTHER_BYTES_MAX;
        match read_regular(&root.join(name), if beside { self.left_bytes } else { bytes_max }) {
            Ok(bytes) => {
                if beside {
                    self.left_bytes -= bytes.len() as u64;
                }
                self.files.insert(name.to_owned(), bytes);
            }
            Err(why) => self.problem(&root.join(name), why),
        }
    }

    /// A chain file: inside a run directory the directory is read and only that arm answered; elsewhere the key is
    /// the file beside it.
    fn chain_file(&mut self, path: &Path) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        if let Some(arm) = name.strip_prefix("receipts_").and_then(|name| name.strip_suffix(".ndjson")) {
            self.arm = Some(arm.to_owned());
            return self.directory(parent);
        }
        let Some(stem) = name.strip_suffix(".ndjson") else {
            return self.problem(path, "neither a run directory nor a chain file (*.ndjson)".to_owned());
        };
        let arm = stem.replace('.', "_");
        self.load(parent, name, CHAIN_BYTES_MAX);
        let key = format!("{stem}.pub.json");
        if std::fs::symlink_metadata(parent.join(&key)).is_ok() {
            self.load(parent, &key, OTHER_BYTES_MAX);
        }
        for (from, to) in
            [(name.to_owned(), format!("receipts_{arm}.ndjson")), (key, format!("receipts_{arm}.pub.json"))]
        {
            if let Some(bytes) = self.files.remove(&from) {
                self.files.insert(to, bytes);
            }
        }
    }
}

pub(crate) fn read_regular(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    // A FIFO with the name of a chain must not block us, a link must not lead outside.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        rustix::io::Errno::LOOP => "a link inside a run directory is not followed".to_owned(),
        errno => errno.to_string(),
    })?;
    let stat = rustix::fs::fstat(&fd).map_err(|errno| errno.to_string())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err("not a regular file".to_owned());
    }
    // The length is a hint; a file that lies about it (or grows) is still read to its end or its limit.
    let hint = u64::try_from(stat.st_size).unwrap_or(0).min(bytes_max);
    let mut bytes = Vec::with_capacity(usize::try_from(hint).unwrap_or(0) + 1);
    let read = File::from(fd).take(bytes_max + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > bytes_max => Err(format!("longer than {bytes_max} bytes")),
        Ok(_) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}
