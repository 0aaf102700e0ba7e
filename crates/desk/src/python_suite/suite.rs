//! Reading a suite before anything runs (desk specification 8.1, ruling 20): files and digest.

use canon::{Digest, Value, compact_ascii};
use std::io;
use std::path::Path;

/// One `*.py` file of a suite, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteFile {
    /// File name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl SuiteFile {
    /// True for files that hold cases.
    pub fn is_test(&self) -> bool {
        self.name.starts_with("test_")
    }

    /// The text, when it is UTF-8. Others are never run: what a parser of another encoding saw would not be
    /// what the reader of a receipt sees.
    pub fn text(&self) -> Option<&str> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        std::str::from_utf8(bytes).ok()
    }
}

/// The files of a suite in memory. Later changes on disk do not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    files: Vec<SuiteFile>,
}

impl Suite {
    /// Reads the regular `*.py` files directly inside `folder`. Links are not followed: what they lead to may
    /// change between hashing and running. Names that are not UTF-8 are an error.
    pub fn read(folder: &Path) -> io::Result<Suite> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "py") || !entry.file_type()?.is_file() {
                continue;
            }
            let name = entry.file_name().into_string().map_err(|name| {
                io::Error::new(io::ErrorKind::InvalidData, format!("suite file name is not UTF-8: {name:?}"))
            })?;
            files.push(SuiteFile { name, bytes: std::fs::read(&path)? });
        }
        Ok(Suite::from_files(files))
    }

    /// A suite from files in memory.
    pub fn from_files(mut files: Vec<SuiteFile>) -> Suite {
        files.sort_by(|left, right| left.name.cmp(&right.name));
        Suite { files }
    }

    /// All files, sorted by name.
    pub fn files(&self) -> &[SuiteFile] {
        &self.files
    }

    /// The files that hold cases, sorted by name.
    pub fn tests(&self) -> impl Iterator<Item = &SuiteFile> {
        self.files.iter().filter(|file| file.is_test())
    }

    /// `suite_sha256` of a test directory (2.2): compact ASCII JSON of `[[name, sha256], ...]`.
    pub fn sha256(&self) -> Digest {
        let pair =
            |file: &SuiteFile| Value::Array(vec![file.name.as_str().into(), Digest::of(&file.bytes).into()]);
        Digest::of(&compact_ascii(&Value::Array(self.files.iter().map(pair).collect())))
    }
}
