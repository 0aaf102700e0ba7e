//! Records of a JSON Lines file (PC-49): a line ends at a line feed and nowhere else, and no record is lost.

/// Lines of a file that hold a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<'a> {
    /// The records, without their line feed. A carriage return before it is a blank for the reader, and a byte-order
    /// mark stays: the reader refuses it, so that the record has a receipt that says so.
    pub records: Vec<&'a [u8]>,
    /// Lines with nothing but blanks.
    pub blank: u64,
}

/// Splits a file.
pub fn lines(file: &[u8]) -> Lines<'_> {
    let mut lines = Lines { records: Vec::new(), blank: 0 };
    for piece in file.split_inclusive(|byte| *byte == b'\n') {
        let line = piece.strip_suffix(b"\n").unwrap_or(piece);
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            lines.blank += 1;
        } else {
            lines.records.push(line);
        }
    }
    lines
}
