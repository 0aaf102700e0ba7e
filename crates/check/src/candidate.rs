//! What is judged.

/// What a candidate is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// The entry point is a name at the top of the module.
    #[default]
    Python,
    /// A CommonJS text for Node.js; the entry point is a name at its top or a member of `module.exports`.
    JavaScript,
    /// One module; the entry point is a public function of up to four arguments.
    Rust,
}

impl Language {
    /// The language of that name.
    pub fn named(name: &str) -> Option<Language> {
        [Language::Python, Language::JavaScript, Language::Rust].into_iter().find(|one| one.name() == name)
    }

    /// Its name in rows and messages.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::Rust => "rust",
        }
    }

    /// The ending of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Python => "py",
            Language::JavaScript => "js",
            Language::Rust => "rs",
        }
    }

    /// The language that a file name's ending stands for.
    pub fn of_extension(extension: &str) -> Option<Language> {
        match extension {
            "py" => Some(Language::Python),
            "js" | "cjs" => Some(Language::JavaScript),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }
}

/// The text of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it is written in.
    pub language: Language,
    /// Its text.
    pub source: String,
}

impl Candidate {
    /// A candidate in Python.
    pub fn python(source: impl Into<String>) -> Candidate {
        Candidate { language: Language::Python, source: source.into() }
    }
}
