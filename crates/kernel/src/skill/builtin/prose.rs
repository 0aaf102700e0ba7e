//! Rules about prose, for `review.prose`.

use crate::skill::Failed;
use crate::skill::payload::text;
use canon::{Object, Value};

/// Words of a sentence that a reader still follows.
const SENTENCE_MAX: usize = 40;

/// Most findings that are listed.
const FINDINGS_MAX: usize = 500;

const FILLERS: [&str; 9] =
    ["very", "really", "quite", "basically", "actually", "simply", "just", "obviously", "clearly"];

struct Review {
    findings: Vec<Object>,
    /// Open brackets with their lines.
    open: Vec<(char, usize)>,
    /// Words of the sentence so far, and the line in which it began.
    sentence: (usize, usize),
    before: String,
}

/// The skill.
pub(super) fn prose(payload: &Object) -> Result<Value, Failed> {
    let mut review =
        Review { findings: Vec::new(), open: Vec::new(), sentence: (0, 1), before: String::new() };
    for (index, line) in text(payload, "text")?.lines().enumerate() {
        if line.trim().is_empty() {
            // A paragraph ends its sentence, as a heading has no point.
            review.sentence_ends();
        }
        for piece in line.split_whitespace() {
            review.piece(piece, index + 1);
        }
    }
    review.sentence_ends();
    for (bracket, line) in std::mem::take(&mut review.open) {
        review.find("unbalanced_bracket", line, &bracket.to_string());
    }
    Ok(review.findings.into())
}

impl Review {
    fn find(&mut self, rule: &str, line: usize, detail: &str) {
        if self.findings.len() < FINDINGS_MAX {
            let finding = Object::new().with("rule", rule).with("line", line as u64);
            self.findings.push(finding.with("detail", detail));
        }
    }

    fn piece(&mut self, piece: &str, line: usize) {
        let word = piece.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase();
        if word.is_empty() && piece.starts_with(['.', ',', ';', ':', '!', '?']) && piece.len() == 1 {
            self.find("blank_before_mark", line, piece);
        }
        if !word.is_empty() {
            self.word(&word, line);
        }
        self.brackets(piece, line);
        let closed = piece.trim_end_matches(['"', '\'', ')', ']', '\u{201d}', '\u{2019}']);
        if closed.ends_with(['.', '!', '?']) {
            self.sentence_ends();
        }
        // "that, that" is no repetition of a word by mistake.
        let goes_on = piece.ends_with(char::is_alphanumeric);
        self.before = if goes_on { word } else { String::new() };
    }

    fn word(&mut self, word: &str, line: usize) {
        if self.sentence.0 == 0 {
            self.sentence.1 = line;
        }
        self.sentence.0 += 1;
        // "had had" and "that that" can be right, numbers in a row too.
        let may_repeat = matches!(word, "had" | "that") || !word.chars().all(char::is_alphabetic);
        if self.before == word && !may_repeat {
            self.find("repeated_word", line, word);
        }
        if FILLERS.contains(&word) {
            self.find("filler_word", line, word);
        }
    }

    fn brackets(&mut self, piece: &str, line: usize) {
        for ch in piece.chars() {
            let opening = match ch {
                '(' | '[' => {
                    self.open.push((ch, line));
                    continue;
                }
                ')' => '(',
                ']' => '[',
                _ => continue,
            };
            if self.open.last().is_some_and(|(open, _)| *open == opening) {
                self.open.pop();
            } else {
                self.find("unbalanced_bracket", line, &ch.to_string());
            }
        }
    }

    fn sentence_ends(&mut self) {
        let (words, line) = std::mem::take(&mut self.sentence);
        if words > SENTENCE_MAX {
            self.find("long_sentence", line, &format!("{words} words"));
        }
        self.before.clear();
    }
}
