//! Documents that claim measurements (E-3): a claim needs evidence in its own folder.

use crate::{Problem, limits};
use canon::replay::Document;
use std::collections::BTreeMap;
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
/// [`Problem::Documents`] for a file that is no TOML, or a list that is empty or holds something else than texts.
pub fn phrases(folder: &Path) -> Result<Vec<String>, Problem> {
    let path = folder.join("touchstone.toml");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Ok(PHRASES.map(str::to_owned).to_vec());
    };
    let problem = |why: &str| Problem::Documents(path.clone(), why.to_owned());
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| problem(error.message()))?;
    let Some(list) = table.get("docs").and_then(|docs| docs.get("phrases")) else {
        return Ok(PHRASES.map(str::to_owned).to_vec());
    };
    let texts = list
        .as_array()
        .map(|list| list.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
    match texts {
        Some(Some(phrases)) if !phrases.is_empty() => Ok(phrases),
        _ => Err(problem("docs.phrases must be a list of texts, at least one")),
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
            let claims = evidence::claims(text, phrases);
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

fn walk(root: &Path, inside: &Path, folders: &mut BTreeMap<PathBuf, Folder>) -> Result<(), Problem> {
    let path = root.join(inside);
    let problem = |error: &std::io::Error| Problem::Documents(path.clone(), error.to_string());
    let mut folder = Folder::default();
    for entry in std::fs::read_dir(&path).map_err(|error| problem(&error))? {
        let entry = entry.map_err(|error| problem(&error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(|error| problem(&error))?;
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            walk(root, &inside.join(entry.file_name()), folders)?;
        } else if kind.is_file() && (name.ends_with(".md") || name.ends_with(".markdown")) {
            let text = std::fs::read(entry.path()).map_err(|error| problem(&error))?;
            let shown = canon::shown(inside.join(entry.file_name()).as_os_str().as_encoded_bytes());
            folder.documents.push((shown, String::from_utf8_lossy(&text).into_owned()));
        } else if kind.is_file() && (name.ends_with(".json") || name.ends_with(".jsonl")) {
            folder.evidence += evidence_in(&entry.path(), name.ends_with(".jsonl"));
        }
    }
    folder.documents.sort();
    folders.insert(inside.to_path_buf(), folder);
    Ok(())
}

/// Receipts in a file whose class is not simulated and in order. A file that is no receipt is no evidence.
fn evidence_in(path: &Path, lines: bool) -> usize {
    let Ok(bytes) = std::fs::read(path) else { return 0 };
    let document = if lines { Document::lines(&bytes, limits()) } else { Document::json(&bytes, limits()) };
    let Ok(document) = document else { return 0 };
    let counts = |receipt: &Document<'_>| {
        let (class, wrong) = evidence::examine(receipt);
        wrong.is_empty() && class.is_some_and(|class| class != EvidenceClass::Simulated)
    };
    document.receipts().iter().filter(|receipt| counts(receipt)).count()
}
