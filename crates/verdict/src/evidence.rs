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
    let said = |name: &str| receipt.text(name).flatten().is_some_and(says_something);
    let source = said("measure_source");
    let time = said("measure_ts") || receipt.is_number("measure_ts");
    // Whatever stands there contradicts `simulated`, also where it says nothing.
    let anything = receipt.has("measure_source") || receipt.has("measure_ts");
    let word = match receipt.text("evidence_class") {
        None => return (None, vec![Dishonesty::NoClass]),
        Some(None) if !receipt.has("evidence_class") => return (None, vec![Dishonesty::NoClass]),
        Some(word) => word.unwrap_or_default(),
    };
    let Some(class) = EvidenceClass::of(word) else { return (None, vec![Dishonesty::UnknownClass]) };
    let found = match class {
        EvidenceClass::Simulated if anything => vec![Dishonesty::SimulatedWithSource],
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

/// Whether a text says anything: blanks and characters that nobody sees do not.
pub fn says_something(text: &str) -> bool {
    let unseen = |ch: char| {
        ch.is_whitespace()
            || ch.is_control()
            || matches!(ch, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    };
    !text.chars().all(unseen)
}

/// The phrases that stand in a text without markup (E-3). Letters of any case; runs of blanks and line ends are one blank,
/// and characters that nobody sees are not there.
pub fn claims<'p>(text: &str, phrases: &'p [String]) -> Vec<&'p str> {
    let seen: String =
        text.chars().filter(|ch| ch.is_whitespace() || says_something(ch.encode_utf8(&mut [0; 4]))).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    let line = words.join(" ").to_lowercase();
    phrases
        .iter()
        .filter(|phrase| contains_phrase(&line, &phrase.to_lowercase()))
        .map(String::as_str)
        .collect()
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
            (
                r#"{"evidence_class":"measured","measure_source":false,"measure_ts":""}"#,
                &["hon_measured_no_source", "hon_measured_no_time"],
            ),
            (
                r#"{"evidence_class":"measured","measure_source":{},"measure_ts":{}}"#,
                &["hon_measured_no_source", "hon_measured_no_time"],
            ),
            (
                "{\"evidence_class\":\"measured\",\"measure_source\":\"\u{200b} \",\"measure_ts\":\"t\"}",
                &["hon_measured_no_source"],
            ),
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
    fn phrases_stand_between_words() {
        let phrases = ["measured".to_owned(), "really works".to_owned(), "实测".to_owned()];
        for (text, found) in [
            ("It was Measured.", 1),
            ("unmeasured", 0),
            ("本机实测值", 1),
            ("It really\u{a0}\n  works!", 1),
            ("meas\u{200b}ured", 1),
            ("measured, really works", 2),
        ] {
            assert_eq!(claims(text, &phrases).len(), found, "{text}");
        }
    }
}
