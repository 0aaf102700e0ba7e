//! Another attempt, and what the agent is told before it (desk specification 11). Nothing here touches a file.

use super::usage::UsageError;
use canon::{Digest, Object, Value};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// What happens after an attempt whose checks failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// The run ends.
    #[default]
    None,
    /// The workspace is put back to what it was at the start; the agent is told nothing.
    Resample,
    /// The workspace stays; the agent is given the failure text of the checks.
    Revise,
}

impl Retry {
    /// Every member.
    pub const ALL: [Retry; 3] = [Retry::None, Retry::Resample, Retry::Revise];

    /// The word in arguments and receipts.
    pub fn word(self) -> &'static str {
        match self {
            Retry::None => "none",
            Retry::Resample => "resample",
            Retry::Revise => "revise",
        }
    }
}

/// How the agent is given the feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedbackInto {
    /// A file in the workspace, which then counts in its hash.
    #[default]
    File,
    /// In place of the placeholder in the command.
    Prompt,
    /// Both.
    Both,
}

impl FeedbackInto {
    /// Every member.
    pub const ALL: [FeedbackInto; 3] = [FeedbackInto::File, FeedbackInto::Prompt, FeedbackInto::Both];

    /// The word in arguments and receipts.
    pub fn word(self) -> &'static str {
        match self {
            FeedbackInto::File => "file",
            FeedbackInto::Prompt => "prompt",
            FeedbackInto::Both => "both",
        }
    }

    pub(super) fn file(self) -> bool {
        self != FeedbackInto::Prompt
    }

    fn prompt(self) -> bool {
        self != FeedbackInto::File
    }
}

/// What stands in the command where the feedback goes; the peer's name, so that commands work with both.
pub const PLACEHOLDER: &str = "{VACANT_FEEDBACK}";
/// The file in the workspace.
pub const FEEDBACK_FILE: &str = "VACANT_FEEDBACK.md";
/// Attempts where the user names no number.
const ATTEMPTS_DEFAULT: u32 = 3;

/// The text around the failures. Its digest is in every summary: a change of words is a change of the treatment.
const TEMPLATE: &str = "\
# What the checks found

This was attempt {attempt} of at most {max}. Its files are still here as you left them. The checks ran on a copy of
them, and not all passed:

{failures}

Change the files in this folder so that these checks pass, then end. The checks themselves are not in this folder.
";

/// KS-1: words of responsibility and punishment that no text of ours may hold.
const RHETORIC: [&str; 11] = [
    "you are responsible",
    "your responsibility",
    "you will be held accountable",
    "you will be punished",
    "you will be penalized",
    "you will be penalised",
    "you will be shut down",
    "你要负责",
    "你必须负责",
    "你会受到惩罚",
    "后果自负",
];

/// What replaces failure text that the delivery has filled with such words (ruling 16: it cannot make the run void).
const WITHHELD: &str =
    "(What the checks printed is withheld: the delivery put words into it that are not passed on.)";

/// The settings of a run that were found to fit together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) retry: Retry,
    pub(super) max_attempts: u32,
    pub(super) into: FeedbackInto,
    /// Index of the word that ends with the placeholder.
    slot: Option<usize>,
}

impl Plan {
    /// The refusals of section 11.
    pub(super) fn of(
        (retry, max_attempts, into): (Retry, Option<u32>, FeedbackInto),
        gated: bool,
        command: &[OsString],
    ) -> Result<Plan, UsageError> {
        let refuse = |why: &'static str| Err(UsageError::Retry(why));
        let max = max_attempts.unwrap_or(if retry == Retry::None { 1 } else { ATTEMPTS_DEFAULT });
        if max == 0 {
            return refuse("--max-attempts must be at least 1");
        }
        if retry == Retry::None && max > 1 {
            return refuse("--max-attempts is more than 1 and --retry is none: say resample or revise");
        }
        if retry == Retry::None && into.prompt() {
            return refuse("--feedback-into prompt needs a retry: say --retry revise");
        }
        if retry != Retry::None && !gated {
            return refuse("--retry needs checks, and --vacant 0 runs none");
        }
        let slot = slot(command)?;
        if slot.is_some() && !into.prompt() {
            return refuse("the command holds {VACANT_FEEDBACK}: say --feedback-into prompt or both");
        }
        if slot.is_none() && into.prompt() {
            return refuse("--feedback-into prompt needs {VACANT_FEEDBACK} at the end of one argument");
        }
        Ok(Plan { retry, max_attempts: max, into, slot })
    }

    /// The command of an attempt, and how many bytes of feedback are in it. Without feedback it is the command as
    /// if there were no desk.
    pub(super) fn command(&self, command: &[OsString], feedback: Option<&str>) -> (Vec<OsString>, u64) {
        let mut words = command.to_vec();
        let Some(word) = self.slot.and_then(|slot| words.get_mut(slot)) else { return (words, 0) };
        let mut bytes = std::mem::take(word).into_vec();
        bytes.truncate(bytes.len() - PLACEHOLDER.len());
        let added = feedback.map(|text| format!("\n\n{text}")).unwrap_or_default();
        bytes.extend_from_slice(added.as_bytes());
        *word = OsString::from_vec(bytes);
        (words, added.len() as u64)
    }

    /// `retry_constants` of the summary.
    pub(super) fn constants(&self) -> Value {
        Object::new()
            .with("retry_arms", Retry::ALL.map(Retry::word).to_vec())
            .with("default_max_attempts", i64::from(ATTEMPTS_DEFAULT))
            .with("feedback_filename", FEEDBACK_FILE)
            .with("feedback_template_sha256", Digest::of(TEMPLATE.as_bytes()))
            .with("feedback_placeholder", PLACEHOLDER)
            .with("delivery_modes", FeedbackInto::ALL.map(FeedbackInto::word).to_vec())
            .into()
    }
}

/// The placeholder is the end of one word of the command and stands there once; anywhere else it is refused.
fn slot(command: &[OsString]) -> Result<Option<usize>, UsageError> {
    let count = |word: &OsStr| {
        word.as_bytes().windows(PLACEHOLDER.len()).filter(|part| *part == PLACEHOLDER.as_bytes()).count()
    };
    let counts: Vec<usize> = command.iter().map(|word| count(word)).collect();
    match (counts.iter().sum::<usize>(), counts.iter().position(|count| *count > 0)) {
        (0, _) => Ok(None),
        (1, Some(0)) => Err(UsageError::Retry("{VACANT_FEEDBACK} cannot stand in the program's name")),
        (1, Some(at)) if command[at].as_bytes().ends_with(PLACEHOLDER.as_bytes()) => Ok(Some(at)),
        (1, _) => Err(UsageError::Retry("{VACANT_FEEDBACK} must be the end of its argument")),
        _ => Err(UsageError::Retry("{VACANT_FEEDBACK} may stand in the command once")),
    }
}

/// What the scan of a feedback text found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// To be given.
    Text(String),
    /// The customer's suite, or the template, holds rhetoric (KS-1): the run is void.
    Rhetoric(&'static str),
}

/// The feedback after attempt `attempt` of `max`. `in_suite` says whether the suite itself holds a text: what only the
/// delivery can have put there is withheld instead.
pub(super) fn feedback(attempt: u32, max: u32, failures: &str, in_suite: &dyn Fn(&str) -> bool) -> Feedback {
    let fill = |failures: &str| {
        let head = TEMPLATE.replace("{attempt}", &attempt.to_string()).replace("{max}", &max.to_string());
        head.replace("{failures}", failures)
    };
    let text = fill(&plain(failures));
    let Some(phrase) = rhetoric(&text) else { return Feedback::Text(text) };
    if rhetoric(&fill("")).is_some() || in_suite(phrase) {
        return Feedback::Rhetoric(phrase);
    }
    Feedback::Text(fill(WITHHELD))
}

/// Control characters as they are written in a program: a zero byte in an argument would keep the next attempt from starting.
fn plain(failures: &str) -> String {
    let shown = |c: char| {
        if c.is_control() && c != '\n' && c != '\t' { c.escape_default().to_string() } else { c.to_string() }
    };
    failures.chars().map(shown).collect()
}

/// The first phrase of rhetoric in a text, whatever its case and line breaks (KS-1).
pub(super) fn rhetoric(text: &str) -> Option<&'static str> {
    let plain = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    RHETORIC.into_iter().find(|phrase| plain.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn refused(retry: Retry, max: Option<u32>, into: FeedbackInto, gated: bool, command: &[&str]) -> String {
        Plan::of((retry, max, into), gated, &words(command)).unwrap_err().to_string()
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        use FeedbackInto::{Both, File, Prompt};
        let holds = ["agent", "do it{VACANT_FEEDBACK}"];
        assert!(refused(Retry::None, Some(2), File, true, &["agent"]).contains("resample or revise"));
        assert!(refused(Retry::Revise, Some(0), File, true, &["agent"]).contains("at least 1"));
        assert!(
            refused(Retry::Revise, None, Prompt, true, &["agent"]).contains("at the end of one argument")
        );
        assert!(refused(Retry::Revise, None, Both, true, &["agent"]).contains("at the end of one argument"));
        assert!(refused(Retry::Revise, None, File, true, &holds).contains("prompt or both"));
        assert!(refused(Retry::None, None, File, true, &holds).contains("prompt or both"));
        assert!(refused(Retry::None, None, Prompt, true, &holds).contains("--retry revise"));
        assert!(refused(Retry::Revise, None, File, false, &["agent"]).contains("--vacant 0"));
        assert!(refused(Retry::Resample, None, File, false, &["agent"]).contains("--vacant 0"));
        let middle = ["agent", "{VACANT_FEEDBACK} do it"];
        assert!(refused(Retry::Revise, None, Prompt, true, &middle).contains("end of its argument"));
        let twice = ["agent", "a{VACANT_FEEDBACK}", "b{VACANT_FEEDBACK}"];
        assert!(refused(Retry::Revise, None, Prompt, true, &twice).contains("once"));
        let inside = ["agent", "{VACANT_FEEDBACK}{VACANT_FEEDBACK}"];
        assert!(refused(Retry::Revise, None, Prompt, true, &inside).contains("once"));
        assert!(refused(Retry::Revise, None, Prompt, true, &["agent{VACANT_FEEDBACK}"]).contains("program"));
    }

    #[test]
    fn defaults_are_one_attempt_and_three() {
        let max =
            |retry| Plan::of((retry, None, FeedbackInto::File), true, &words(&["a"])).unwrap().max_attempts;
        assert_eq!((max(Retry::None), max(Retry::Resample), max(Retry::Revise)), (1, 3, 3));
    }

    #[test]
    fn the_first_command_is_the_one_without_the_desk() {
        let command = words(&["agent", "do it{VACANT_FEEDBACK}", "-x"]);
        let plan = Plan::of((Retry::Revise, None, FeedbackInto::Prompt), true, &command).unwrap();
        assert_eq!(plan.command(&command, None), (words(&["agent", "do it", "-x"]), 0));
        let (second, bytes) = plan.command(&command, Some("text"));
        assert_eq!((second, bytes), (words(&["agent", "do it\n\ntext", "-x"]), 6));
    }

    #[test]
    fn our_own_words_hold_no_rhetoric() {
        let nowhere = |_: &str| false;
        let Feedback::Text(text) = feedback(1, 3, "test_a.py::check_a: 5 is not 6", &nowhere) else {
            panic!()
        };
        assert!(text.contains("attempt 1 of at most 3") && text.contains("5 is not 6"), "{text}");
        assert!(!text.contains('{'), "{text}");
        for phrase in RHETORIC {
            assert_eq!(rhetoric(&format!("x {} y", phrase.to_uppercase())), Some(phrase));
        }
        assert_eq!(rhetoric("You  will\nbe punished"), Some("you will be punished"));
    }

    #[test]
    fn the_suite_makes_it_void_and_the_delivery_does_not() {
        let failures = "check_a: You will be punished";
        assert_eq!(feedback(1, 2, failures, &|_| true), Feedback::Rhetoric("you will be punished"));
        let Feedback::Text(text) = feedback(1, 2, failures, &|_| false) else { panic!() };
        assert!(text.contains("withheld") && rhetoric(&text).is_none(), "{text}");
    }

    #[test]
    fn failure_text_is_filled_in_last() {
        let Feedback::Text(text) = feedback(1, 2, "{max} {attempt}", &|_| false) else { panic!() };
        assert!(text.contains("{max} {attempt}"), "{text}");
    }
}
