//! Documents that claim measurements (E-3): a claim needs evidence in its own folder.

use crate::{Problem, limits, load};
use canon::replay::Document;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use verdict::evidence::{self, Dishonesty, EvidenceClass};
use verdict::report::{Check, Finding, Report};

/// Phrases that claim a measurement, where no configuration says otherwise: the draft's two and their English.
pub const PHRASES: [&str; 4] = ["实测", "真实生效", "measured", "really works"];

/// Folders that hold no documents of the project.
const SKIPPED: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// The phrases that `touchstone.toml` in `folder` lists under `docs.phrases`, else [`PHRASES`].
///
/// # Errors
/// [`Problem::Documents`] for a file that cannot be read, is no TOML, or lists something else than phrases.
pub fn phrases(folder: &Path) -> Result<Vec<String>, Problem> {
    let path = folder.join("touchstone.toml");
    let problem = |why: &str| Problem::Documents(path.clone(), why.to_owned());
    let default = PHRASES.map(str::to_owned).to_vec();
    let bytes = match load::regular(&path, load::TEXT_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(default),
        read => read.map_err(|error| problem(&error.to_string()))?,
    };
    let text = String::from_utf8(bytes).map_err(|_| problem("it is not UTF-8"))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| problem(error.message()))?;
    let Some(list) = table.get("docs").and_then(|docs| docs.get("phrases")) else { return Ok(default) };
    let phrase =
        |text: &toml::Value| text.as_str().filter(|text| evidence::says_something(text)).map(str::to_owned);
    let phrases = list.as_array().map(|list| list.iter().map(phrase).collect::<Option<Vec<_>>>());
    match phrases {
        Some(Some(phrases)) if !phrases.is_empty() => Ok(phrases),
        _ => Err(problem("docs.phrases must be a list of phrases, at least one, none of them empty")),
    }
}

/// One folder: its documents, and whether it holds evidence that is in order and not simulated.
#[derive(Default)]
struct Folder {
    documents: Vec<(String, String)>,
    evidence: usize,
}

/// Every Markdown document under `root` against the receipts beside it.
///
/// # Errors
/// [`Problem::Documents`] for a folder or document that cannot be read.
pub fn check(root: &Path, phrases: &[String]) -> Result<Report, Problem> {
    let mut folders: BTreeMap<PathBuf, Folder> = BTreeMap::new();
    walk(root, Path::new(""), &mut folders)?;
    let documents = folders.values().map(|folder| folder.documents.len() as u64).sum();
    let mut findings = Vec::new();
    for folder in folders.values().filter(|folder| folder.evidence == 0) {
        for (name, text) in &folder.documents {
            let claims = claims(text, phrases);
            if let Some((line, phrase)) = claims.first() {
                let count = claims.len();
                findings.push(Finding {
                    reason: Dishonesty::ClaimWithoutEvidence.code(),
                    place: name.clone(),
                    detail: format!("H1: line {line} says \"{phrase}\" ({count} such in all), and no receipt beside it is measured or third_party"),
                    fails: false,
                });
            }
        }
    }
    let check = Check::new("E-3", "claims of measurement have evidence beside them", documents, "documents")
        .with(findings);
    Ok(Report {
        subject: "documents".into(),
        layer: "judge",
        grade: None,
        evidence: Vec::new(),
        checks: vec![check],
    })
}

/// Claims in the text of a document, with the lines on which their paragraphs begin. What is marked as code is no text.
fn claims<'p>(markdown: &str, phrases: &'p [String]) -> Vec<(usize, &'p str)> {
    let mut found = Vec::new();
    let mut paragraph = (0, String::new());
    let mut code = false;
    let mut end = |paragraph: &mut (usize, String)| {
        let line = markdown[..paragraph.0].matches('\n').count() + 1;
        found.extend(evidence::claims(&paragraph.1, phrases).into_iter().map(|phrase| (line, phrase)));
        paragraph.1.clear();
    };
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) if !code => {
                if paragraph.1.is_empty() {
                    paragraph.0 = range.start;
                }
                paragraph.1.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak | Event::Code(_) => paragraph.1.push(' '),
            // Emphasis and links stand inside of words; everything else ends them.
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link) => {}
            _ => end(&mut paragraph),
        }
    }
    end(&mut paragraph);
    found
}

fn walk(root: &Path, inside: &Path, folders: &mut BTreeMap<PathBuf, Folder>) -> Result<(), Problem> {
    let path = root.join(inside);
    let problem = |path: &Path, error: &io::Error| Problem::Documents(path.to_path_buf(), error.to_string());
    let mut folder = Folder::default();
    for entry in std::fs::read_dir(&path).map_err(|error| problem(&path, &error))? {
        let entry = entry.map_err(|error| problem(&path, &error))?;
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        let kind = entry.file_type().map_err(|error| problem(&entry.path(), &error))?;
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            walk(root, &inside.join(entry.file_name()), folders)?;
        } else if !kind.is_dir() && ends(&[".md", ".markdown", ".mdx"]) {
            // Also through a link: whoever reads the folder reads it.
            let bytes = load::regular(&entry.path(), load::TEXT_BYTES_MAX)
                .map_err(|error| problem(&entry.path(), &error))?;
            let not_text = |_| problem(&entry.path(), &io::Error::other("it is not UTF-8"));
            let shown = inside.join(entry.file_name()).to_string_lossy().into_owned();
            folder.documents.push((shown, String::from_utf8(bytes).map_err(not_text)?));
        } else if kind.is_file() && ends(&[".json", ".jsonl"]) {
            folder.evidence += usize::from(is_evidence(&entry.path(), ends(&[".jsonl"])));
        }
    }
    folder.documents.sort();
    folders.insert(inside.to_path_buf(), folder);
    Ok(())
}

/// Whether a file holds receipts that are all in order, and one at least that is not simulated. Another file is no evidence.
fn is_evidence(path: &Path, lines: bool) -> bool {
    let Ok(bytes) = load::regular(path, limits().bytes_max as u64) else { return false };
    let document = if lines { Document::lines(&bytes, limits()) } else { Document::json(&bytes, limits()) };
    let Ok(document) = document else { return false };
    let receipts: Vec<_> = document.receipts().iter().map(evidence::examine).collect();
    let in_order = receipts.iter().all(|(_, wrong)| wrong.is_empty());
    let counts = |class: &Option<EvidenceClass>| class.is_some_and(|class| class != EvidenceClass::Simulated);
    in_order && receipts.iter().any(|(class, _)| counts(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(markdown: &str) -> Vec<usize> {
        claims(markdown, &PHRASES.map(str::to_owned)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn code_is_no_claim_and_nothing_else_hides_one() {
        for code in [
            "```\nmeasured\n```\n",
            "~~~\nmeasured\n```\n~~~\n",
            "    measured\n",
            "The class is `measured`.\n",
            "````\n```\nmeasured\n````\n",
        ] {
            assert!(lines(code).is_empty(), "{code}");
        }
        for claim in [
            "````\n```\n````\nIt was measured.\n",
            "```x``` is code.\nIt was measured.\n",
            "    ```\n\nIt was measured.\n",
            "~~~\n```\n~~~\nIt was measured.\n",
            "```\na\n``` b\n```\nIt was measured.\n",
            "<!--\n```\n-->\nIt was measured.\n",
            "It was meas\u{200b}ured.\n",
            "It was **mea**sured.\n",
            "It was m&#101;asured.\n",
            "It really\nworks.\n",
            "| a | b |\n|---|---|\n| it was | measured |\n",
            "# Measured\n",
            "* measured\n",
            "<p>measured</p>\n",
        ] {
            assert_eq!(lines(claim).len(), 1, "{claim}");
        }
        assert_eq!(lines("a\n\nb measured\n\nc measured\n"), [3, 5]);
    }
}
