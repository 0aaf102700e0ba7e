//! A real key: wiped when dropped, and never shown.

use zeroize::Zeroizing;

/// A real key of a provider. Its text goes into one header on its way out and nowhere else.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the text of a key.
    pub fn new(text: impl Into<Vec<u8>>) -> Secret {
        Secret(Zeroizing::new(text.into()))
    }

    /// The text, for the header.
    pub(crate) fn reveal(&self) -> &[u8] {
        &self.0
    }

    /// Whether it can stand in a header: not empty, visible characters only.
    pub(crate) fn fits_a_header(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|byte| byte.is_ascii_graphic())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// Looks for a real key in what an upstream sends: an error that repeats it would take it to the agent and to the disk.
/// Packed bodies are not unpacked for this.
pub(crate) struct Echo {
    key: Secret,
    /// The last bytes, one less than the key has.
    tail: Zeroizing<Vec<u8>>,
}

impl Echo {
    pub(crate) fn of(key: &Secret) -> Echo {
        Echo { key: key.clone(), tail: Zeroizing::new(Vec::with_capacity(2 * key.0.len())) }
    }

    /// Whether the key is complete with this piece.
    pub(crate) fn in_piece(&mut self, piece: &[u8]) -> bool {
        let keep = self.key.0.len() - 1;
        self.tail.extend_from_slice(&piece[..piece.len().min(keep)]);
        if memchr::memmem::find(&self.tail, &self.key.0).is_some() || self.in_text(piece) {
            return true;
        }
        if piece.len() >= keep {
            self.tail.clear();
            self.tail.extend_from_slice(&piece[piece.len() - keep..]);
        } else {
            let from = self.tail.len().saturating_sub(keep);
            self.tail.drain(..from);
        }
        false
    }

    /// Whether the key stands in a text of its own.
    pub(crate) fn in_text(&self, text: &[u8]) -> bool {
        memchr::memmem::find(text, &self.key.0).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_pieces_of_any_size() {
        let text = b"{\"error\":\"bad key ababac in use\"}";
        for size in 1..=text.len() {
            let mut echo = Echo::of(&Secret::new("ababac"));
            assert!(text.chunks(size).any(|piece| echo.in_piece(piece)), "pieces of {size}");
            let mut other = Echo::of(&Secret::new("ababad"));
            assert!(!text.chunks(size).any(|piece| other.in_piece(piece)), "pieces of {size}");
        }
    }
}
