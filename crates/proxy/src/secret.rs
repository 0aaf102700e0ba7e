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
