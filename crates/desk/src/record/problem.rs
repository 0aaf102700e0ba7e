//! The closed list of what can be wrong with an evidence pack. Codes are stable; sentences are made in the binary.

canon::codes! {
    /// What is wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Cause {
        /// A required file is not there.
        FileMissing = "record_file_missing",
        /// `manifest.json` is no JSON object; the detail is the reader's code.
        ManifestUnreadable = "record_manifest_unreadable",
        /// The manifest lacks a field.
        ManifestFieldMissing = "record_manifest_field_missing",
        /// A file that may only be absent with a reason is absent without one.
        AbsenceUnexcused = "record_absence_unexcused",
        /// There are cards and no `card_verify.txt`.
        CardVerifyMissing = "record_card_verify_missing",
        /// There are cards and this build has no way to verify one.
        CardNotVerified = "record_card_not_verified",
        /// A verify file says FAIL.
        VerifyFailed = "record_verify_failed",
        /// A verify file has no PASS line: nothing was verified, which is not the same as holding.
        VerifyNothing = "record_verify_nothing",
        /// A chain of the pack has no line in `chain_verify.txt`.
        ChainNotListed = "record_chain_not_listed",
        /// `chain_verify.txt` says PASS about a chain that is not in the pack.
        ChainMissing = "record_chain_missing",
        /// `chain_verify.txt` says PASS and the chain does not hold; the detail is its first failure.
        ChainBroken = "record_chain_broken",
        /// A private key lies in the pack and the manifest does not declare it.
        KeyUndeclared = "record_key_undeclared",
        /// `SHA256SUMS` lists a private key.
        KeyListed = "record_key_listed",
        /// No line of `SHA256SUMS` could be checked.
        SumsNothingChecked = "record_sums_nothing_checked",
        /// A line ends with CR LF.
        SumsCrLf = "record_sums_cr_lf",
        /// A line has blanks at its end.
        SumsTrailingBlank = "record_sums_trailing_blank",
        /// Digest and path are not separated by exactly two blanks.
        SumsSeparator = "record_sums_separator",
        /// The digest is not 64 lowercase hex digits.
        SumsDigest = "record_sums_digest",
        /// The path is absolute.
        SumsPathAbsolute = "record_sums_path_absolute",
        /// The path has a `..` and could leave the pack.
        SumsPathLeaves = "record_sums_path_leaves",
        /// The path is not in the one spelling that a listing has: empty, `./`, `//`, not UTF-8, a control character.
        SumsPathSpelling = "record_sums_path_spelling",
        /// A line is empty.
        SumsBlankLine = "record_sums_blank_line",
        /// The last line has no line feed: it may be cut.
        SumsTorn = "record_sums_torn",
        /// A path is listed twice.
        SumsDuplicate = "record_sums_duplicate",
        /// `SHA256SUMS` lists itself.
        SumsListsItself = "record_sums_lists_itself",
        /// A listed file is not there.
        ListedMissing = "record_listed_missing",
        /// A listed file has another digest.
        ListedDiffers = "record_listed_differs",
        /// A file that no line lists.
        Unlisted = "record_unlisted",
        /// A link. It is not followed: what it points to is not in the pack.
        Link = "record_link",
        /// A FIFO, socket or device.
        SpecialFile = "record_special_file",
        /// A file or folder that cannot be read; the detail is the system's word.
        Unreadable = "record_unreadable",
        /// A name that is not UTF-8.
        NameNotUtf8 = "record_name_not_utf8",
        /// A name that a line of `SHA256SUMS` cannot carry: a control character, or a blank at its end.
        NameUnfit = "record_name_unfit",
    }
}

/// One problem and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// What is wrong.
    pub cause: Cause,
    /// The file it is about, relative to the pack, as bytes.
    pub path: Vec<u8>,
    /// Line of `path`, from 1.
    pub line: Option<usize>,
    /// What a reader needs besides: a field, a code, the listed path; foreign bytes in it are escaped.
    pub detail: Option<String>,
}

impl Problem {
    pub(super) fn new(cause: Cause, path: impl AsRef<[u8]>) -> Problem {
        Problem { cause, path: path.as_ref().to_vec(), line: None, detail: None }
    }

    pub(super) fn at(mut self, line: usize) -> Problem {
        self.line = Some(line);
        self
    }

    pub(super) fn with(mut self, detail: impl Into<String>) -> Problem {
        self.detail = Some(detail.into());
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.cause.code()
    }
}
