//! Evidence classes: what a receipt says about where its numbers come from (determinism specification, section 6).

use canon::replay::Document;

canon::codes! {
    /// What is wrong with the evidence of a receipt or a document.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dishonesty {
        /// `measured` without a source (E-1, H1).
        MeasuredNoSource = "hon_measured_no_source",
        /// `measured` without a time (section 6, H1).
        MeasuredNoTime = "hon_measured_no_time",
        /// No `evidence_class` (E-2, H2).
        NoClass = "hon_no_evidence_class",
        /// A document claims measurements that its folder has no evidence for (E-3, H1).
        ClaimWithoutEvidence = "hon_claim_without_evidence",
        /// `simulated` with a source or a time (E-4, H1).
        SimulatedWithSource = "hon_simulated_with_source",
        /// `third_party` without a source (ruling 26, H1).
        ThirdPartyNoSource = "hon_third_party_no_source",
        /// A class outside the three (ruling 26): red.
        UnknownClass = "hon_unknown_class",
    }
}

impl Dishonesty {
    /// The draft's mark.
    pub fn mark(self) -> &'static str {
        match self {
            Dishonesty::NoClass => "H2",
            Dishonesty::UnknownClass => "red",
            _ => "H1",
        }
    }

    /// Whether it makes a report red and not only yellow.
    pub fn is_red(self) -> bool {
        self == Dishonesty::UnknownClass
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceClass {
    /// Simulation or constructed data.
    Simulated,
    /// Measured on this machine; never that the conclusion is true.
    Measured,
    /// From outside, with an origin that can be checked.
    ThirdParty,
}

impl EvidenceClass {
    /// The class of a word.
    pub fn of(word: &str) -> Option<EvidenceClass> {
        [EvidenceClass::Simulated, EvidenceClass::Measured, EvidenceClass::ThirdParty]
            .into_iter()
            .find(|class| class.word() == word)
    }

    /// The word of the receipt.
    pub fn word(self) -> &'static str {
        match self {
            EvidenceClass::Simulated => "simulated",
            EvidenceClass::Measured => "measured",
            EvidenceClass::ThirdParty => "third_party",
        }
    }
}

/// The class of a receipt and everything that is out of order about it (E-1, E-2, E-4).
pub fn examine(receipt: &Document<'_>) -> (Option<EvidenceClass>, Vec<Dishonesty>) {
    // A source that says nothing is none.
    let source = match receipt.text("measure_source") {
        Some(Some(text)) => !text.trim().is_empty(),
        _ => receipt.has("measure_source"),
    };
    let time = receipt.has("measure_ts");
    let word = match receipt.text("evidence_class") {
        None => return (None, vec![Dishonesty::NoClass]),
        Some(None) if !receipt.has("evidence_class") => return (None, vec![Dishonesty::NoClass]),
        Some(word) => word.unwrap_or_default(),
    };
    let Some(class) = EvidenceClass::of(word) else { return (None, vec![Dishonesty::UnknownClass]) };
    let found = match class {
        EvidenceClass::Simulated if source || time => vec![Dishonesty::SimulatedWithSource],
        EvidenceClass::Simulated => Vec::new(),
        EvidenceClass::Measured => {
            let no_source = (!source).then_some(Dishonesty::MeasuredNoSource);
            no_source.into_iter().chain((!time).then_some(Dishonesty::MeasuredNoTime)).collect()
        }
        EvidenceClass::ThirdParty => {
            (!source).then_some(Dishonesty::ThirdPartyNoSource).into_iter().collect()
        }
    };
    (Some(class), found)
}

/// The lines of a document on which one of the phrases stands (E-3), from 1. Letters of any case; what is marked as code,
/// fenced or in backticks, is no claim.
pub fn claims<'p>(text: &str, phrases: &'p [String]) -> Vec<(usize, &'p str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let line = without_code(line).to_lowercase();
            let here = |phrase: &&String| contains_phrase(&line, &phrase.to_lowercase());
            found.extend(phrases.iter().filter(here).map(|phrase| (number, phrase.as_str())));
        }
    }
    found
}

/// The line without what stands between two backticks.
fn without_code(line: &str) -> String {
    let mut pieces = line.split('`').peekable();
    let mut kept = String::new();
    let mut code = false;
    while let Some(piece) = pieces.next() {
        // A backtick without a second one marks nothing.
        if !code || pieces.peek().is_none() {
            kept.push_str(piece);
        }
        kept.push(' ');
        code = !code;
    }
    kept
}

/// A phrase in Latin letters stands between words, not inside one; Chinese has no such border.
fn contains_phrase(line: &str, phrase: &str) -> bool {
    let word = |ch: Option<char>| ch.is_some_and(|ch| ch.is_ascii_alphanumeric());
    line.match_indices(phrase).any(|(at, _)| {
        let inside = |edge: Option<char>, beyond: Option<char>| word(edge) && word(beyond);
        !phrase.is_empty()
            && !inside(phrase.chars().next(), line[..at].chars().next_back())
            && !inside(phrase.chars().next_back(), line[at + phrase.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use canon::Limits;

    fn found(receipt: &str) -> Vec<&'static str> {
        let document = Document::json(receipt.as_bytes(), Limits::default()).unwrap();
        examine(&document).1.into_iter().map(Dishonesty::code).collect()
    }

    #[test]
    fn classes_and_what_they_must_carry() {
        for (receipt, expected) in [
            (r#"{"evidence_class":"simulated"}"#, &[][..]),
            (r#"{"evidence_class":"simulated","measure_source":null,"measure_ts":null}"#, &[]),
            (r#"{"evidence_class":"simulated","measure_source":"bench"}"#, &["hon_simulated_with_source"]),
            (r#"{"evidence_class":"simulated","measure_ts":1}"#, &["hon_simulated_with_source"]),
            (r#"{"evidence_class":"measured","measure_source":"bench","measure_ts":1}"#, &[]),
            (r#"{"evidence_class":"measured","measure_ts":1}"#, &["hon_measured_no_source"]),
            (
                r#"{"evidence_class":"measured","measure_source":" ","measure_ts":1}"#,
                &["hon_measured_no_source"],
            ),
            (r#"{"evidence_class":"measured","measure_source":"bench"}"#, &["hon_measured_no_time"]),
            (r#"{"evidence_class":"measured"}"#, &["hon_measured_no_source", "hon_measured_no_time"]),
            (r#"{"evidence_class":"third_party","measure_source":"doi:1"}"#, &[]),
            (r#"{"evidence_class":"third_party"}"#, &["hon_third_party_no_source"]),
            (r#"{"evidence_class":"real"}"#, &["hon_unknown_class"]),
            (r#"{"evidence_class":7}"#, &["hon_unknown_class"]),
            (r#"{"evidence_class":null}"#, &["hon_no_evidence_class"]),
            ("{}", &["hon_no_evidence_class"]),
        ] {
            assert_eq!(found(receipt), expected, "{receipt}");
        }
    }

    #[test]
    fn phrases_stand_between_words_and_outside_of_code() {
        let phrases = ["measured".to_owned(), "really works".to_owned(), "实测".to_owned()];
        let lines = |text| claims(text, &phrases).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(
            lines("It was Measured.\nunmeasured\n```\nmeasured\n```\n本机实测值\nIt really works!"),
            [1, 6, 7]
        );
    }
}
