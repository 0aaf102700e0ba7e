//! Drafts: what was written and by whom, as two types that cannot be exchanged (31.6).

use canon::Digest;

/// The text of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code(pub String);

impl Code {
    /// SHA-256 of its UTF-8.
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

/// Who wrote a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author(pub String);

/// A draft of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What was written.
    pub code: Code,
    /// By whom.
    pub author: Author,
}

/// The pairs look as if they were exchanged: swapped drafts would all be refused, which looks like a gate that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftOrderError;

/// Drafts of pairs (code, author) from a border without types. This guesses: no first text looks like code and every
/// second one does. It overlooks pairs of which both, or neither, look like code; where types exist, use [`Draft`].
pub fn drafts_of_pairs(pairs: &[(String, String)]) -> Result<Vec<Draft>, DraftOrderError> {
    let exchanged = pairs.iter().all(|(code, author)| !looks_like_code(code) && looks_like_code(author));
    if exchanged && !pairs.is_empty() {
        return Err(DraftOrderError);
    }
    Ok(pairs
        .iter()
        .map(|(code, author)| Draft { code: Code(code.clone()), author: Author(author.clone()) })
        .collect())
}

fn looks_like_code(text: &str) -> bool {
    ["\n", "def ", "class ", "import ", "lambda", "return "].iter().any(|sign| text.contains(sign))
}
