//! From words to a skill: exact triggers, then words and their neighbours (K-3).
//!
//! The router knows the skills' names, descriptions and triggers and nothing else, so that no document moves a route.

mod accuracy;
mod fixed;
mod model;
mod words;

pub use accuracy::{Accuracy, Intent, Miss, accuracy, intents};
pub use model::{DIMENSION, DOCUMENTS_MIN, VOCABULARY_MAX};

use crate::skill::Manifest;
use canon::{Digest, Hasher};
use fixed::BITS;
use model::{Model, Scores};

/// Parts of the whole that the lexical and the semantic score have, in thousandths.
const LEXICAL: i64 = 500;
const SEMANTIC: i64 = 500;
/// Below this nothing is guessed, in millionths.
pub const FLOOR: u32 = 250_000;

canon::codes! {
    /// Why no skill was chosen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unrouted {
        /// The best score is below the floor.
        BelowFloor = "route_unrouted",
        /// Several skills are equally good.
        Tie = "route_tie",
    }
}

/// How a skill was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A trigger stands in the task.
    Trigger,
    /// Mostly by words that stand in both.
    Lexical,
    /// Mostly by words that stand near each other.
    Semantic,
    /// By both.
    Hybrid,
}

impl Channel {
    /// The word in a receipt.
    pub fn word(self) -> &'static str {
        match self {
            Channel::Trigger => "trigger",
            Channel::Lexical => "lexical",
            Channel::Semantic => "semantic",
            Channel::Hybrid => "hybrid",
        }
    }
}

/// A skill that was chosen, or the best one that was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Index of the skill.
    pub skill: usize,
    /// How it was found.
    pub channel: Channel,
    /// 0 to 1 000 000.
    pub score: u32,
}

/// The answer of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// This skill.
    Found(Candidate),
    /// No skill, and why.
    None(Unrouted),
}

/// Room that one worker uses again.
#[derive(Debug, Default)]
pub struct Scratch {
    scores: Scores,
    words: String,
}

/// The router of a kernel.
#[derive(Clone, Debug)]
pub struct Router {
    model: Model,
    /// Triggers as words between blanks, with their skill; the longest first.
    triggers: Vec<(String, usize)>,
    finder: Option<aho_corasick::AhoCorasick>,
}

impl Router {
    /// Fits a router to the manifests, in their order.
    ///
    /// # Errors
    /// The triggers are too many for one automaton.
    pub fn fit(manifests: &[&Manifest]) -> Result<Router, String> {
        let mut triggers = Vec::new();
        for (skill, manifest) in manifests.iter().enumerate() {
            for trigger in &manifest.triggers {
                let mut text = String::new();
                spaced(trigger, &mut text);
                if text.len() > 1 {
                    triggers.push((text, skill));
                }
            }
        }
        let finder = (!triggers.is_empty())
            .then(|| aho_corasick::AhoCorasick::new(triggers.iter().map(|(text, _)| text)))
            .transpose()
            .map_err(|error| error.to_string())?;
        Ok(Router { model: Model::fit(manifests.iter().copied()), triggers, finder })
    }

    /// The skill that `task` asks for.
    pub fn route(&self, task: &str, scratch: &mut Scratch) -> Route {
        spaced(task, &mut scratch.words);
        match self.triggered(&scratch.words) {
            Some(route) => route,
            None => self.scored(task, scratch),
        }
    }

    /// The longest trigger that stands in the task wins.
    fn triggered(&self, words: &str) -> Option<Route> {
        let mut best: Option<(usize, usize)> = None;
        let mut tied = false;
        for found in self.finder.as_ref()?.find_overlapping_iter(words) {
            let (text, skill) = &self.triggers[found.pattern().as_usize()];
            match best {
                Some((length, _)) if text.len() < length => {}
                Some((length, known)) if text.len() == length => tied |= known != *skill,
                _ => {
                    best = Some((text.len(), *skill));
                    tied = false;
                }
            }
        }
        let (_, skill) = best?;
        if tied {
            return Some(Route::None(Unrouted::Tie));
        }
        Some(Route::Found(Candidate { skill, channel: Channel::Trigger, score: 1_000_000 }))
    }

    fn scored(&self, task: &str, scratch: &mut Scratch) -> Route {
        self.model.score(task, &mut scratch.scores);
        let mut best: Option<Candidate> = None;
        let mut tied = false;
        for candidate in candidates(&scratch.scores) {
            match best {
                Some(known) if candidate.score < known.score => {}
                Some(known) if candidate.score == known.score => tied = true,
                _ => {
                    best = Some(candidate);
                    tied = false;
                }
            }
        }
        match best {
            Some(best) if best.score < FLOOR => Route::None(Unrouted::BelowFloor),
            None => Route::None(Unrouted::BelowFloor),
            Some(_) if tied => Route::None(Unrouted::Tie),
            Some(best) => Route::Found(best),
        }
    }

    /// The best candidates of a task without triggers and floor, the best first: for people who look into a route.
    pub fn ranked(&self, task: &str, count: usize) -> Vec<Candidate> {
        let mut scores = Scores::default();
        self.model.score(task, &mut scores);
        let mut ranked: Vec<Candidate> = candidates(&scores).collect();
        ranked.sort_by_key(|candidate| (std::cmp::Reverse(candidate.score), candidate.skill));
        ranked.truncate(count);
        ranked
    }

    /// Number of words in the vocabulary.
    pub fn vocabulary_len(&self) -> usize {
        self.model.vocabulary_len()
    }

    /// Digest of every number of the fitted model.
    pub fn model_digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        self.model.hash(&mut hasher);
        hasher.finish()
    }
}

fn candidates(scores: &Scores) -> impl Iterator<Item = Candidate> {
    let both = scores.lexical.iter().zip(&scores.semantic).enumerate();
    both.map(|(skill, (lexical, semantic))| {
        let (lexical, semantic) = (lexical * LEXICAL, semantic * SEMANTIC);
        let whole = lexical + semantic;
        let channel = if lexical < whole / 4 {
            Channel::Semantic
        } else if semantic < whole / 4 {
            Channel::Lexical
        } else {
            Channel::Hybrid
        };
        let millionths = (whole * 1_000) >> BITS;
        Candidate { skill, channel, score: u32::try_from(millionths).unwrap_or(0).min(1_000_000) }
    })
}

/// The words of `text`, lower case, one blank before, between and behind them: a trigger is matched whole.
fn spaced(text: &str, out: &mut String) {
    out.clear();
    out.push(' ');
    for word in text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let from = out.len();
        out.push_str(word);
        if let Some(tail) = out.get_mut(from..) {
            tail.make_ascii_lowercase();
        }
        out.push(' ');
    }
}
