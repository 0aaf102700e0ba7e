//! TF-IDF and latent semantic analysis over the skills' own words, fitted in whole numbers (K-3).

use super::fixed::{BITS, ONE, div, eigen, isqrt, log2, mul, narrow, sqrt};
use super::words::each_word;
use crate::skill::Manifest;
use canon::Hasher;
use std::collections::BTreeMap;

/// Dimensions of the semantic channel.
pub const DIMENSION: usize = 32;
/// Most words in the vocabulary.
pub const VOCABULARY_MAX: usize = 2000;
/// Fewest documents that a word must stand in.
pub const DOCUMENTS_MIN: usize = 1;

/// How often the words of a part count.
const NAME_WEIGHT: u64 = 1;
const TRIGGER_WEIGHT: u64 = 1;
const DESCRIPTION_WEIGHT: u64 = 2;

/// An eigenvalue below this is no dimension, only rounding.
const EIGEN_MIN: i64 = ONE >> 12;

/// The fitted model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    documents: usize,
    /// Words in the order of their letters.
    words: Vec<String>,
    /// Inverse document frequency of each word.
    idf: Vec<i64>,
    /// Documents that have a word, with its weight in a document of length one.
    postings: Vec<Vec<(usize, i64)>>,
    /// Projection onto the latent space: row l has what a similarity to document l says about each document.
    projection: Vec<Vec<i64>>,
    /// Eigenvectors divided by the square root of their value: folds a query into the space.
    fold: Vec<Vec<i64>>,
    /// One divided by the length of each document in the latent space; 0 for a document that is not in it.
    inverse: Vec<i64>,
    /// Weight of a word that no skill knows.
    rarest: i64,
}

/// Fraction bits of `fold`: its numbers may be as large as 64, and their products with a similarity stay in 64 bits.
const FOLD_BITS: u32 = 20;

/// Similarities of one text to each document, 0 to [`ONE`].
#[derive(Clone, Debug, Default)]
pub(super) struct Scores {
    pub(super) lexical: Vec<i64>,
    pub(super) semantic: Vec<i64>,
    counts: Vec<(usize, u64)>,
    buffer: String,
}

impl Model {
    /// Fits the model to the words of the manifests.
    pub(super) fn fit<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Model {
        let documents: Vec<BTreeMap<String, u64>> = manifests.map(count_words).collect();
        let vocabulary = vocabulary(&documents);
        let words: Vec<String> = vocabulary.keys().cloned().collect();
        let n = documents.len() as u64;
        let idf = vocabulary.values().map(|df| ONE + log2_ratio(n + 1, df + 1)).collect();
        let mut model = Model {
            documents: documents.len(),
            postings: vec![Vec::new(); words.len()],
            words,
            idf,
            projection: Vec::new(),
            fold: Vec::new(),
            inverse: Vec::new(),
            rarest: ONE + log2_ratio(n + 1, 1),
        };
        let rows: Vec<Vec<(usize, i64)>> = documents.iter().map(|counts| model.row(counts)).collect();
        for (document, row) in rows.iter().enumerate() {
            for (word, weight) in row {
                model.postings[*word].push((document, *weight));
            }
        }
        model.decompose(&rows);
        model
    }

    /// Weights of a document, scaled to length one.
    fn row(&self, counts: &BTreeMap<String, u64>) -> Vec<(usize, i64)> {
        let weights: Vec<(usize, i64)> = counts
            .iter()
            .filter_map(|(word, count)| Some((self.index(word)?, *count)))
            .map(|(word, count)| (word, mul(ONE + log2(count), self.idf[word])))
            .collect();
        let length = length(weights.iter().map(|(_, weight)| *weight));
        weights.into_iter().map(|(word, weight)| (word, div(weight, length))).collect()
    }

    fn index(&self, word: &str) -> Option<usize> {
        self.words.binary_search_by(|known| known.as_str().cmp(word)).ok()
    }

    /// The latent space is spanned by the first eigenvectors of the documents' Gram matrix.
    fn decompose(&mut self, rows: &[Vec<(usize, i64)>]) {
        let gram = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        let (values, vectors) = eigen(gram);
        let kept = values.iter().take(DIMENSION).take_while(|value| **value > EIGEN_MIN).count();
        let n = self.documents;
        let sum = |of: &dyn Fn(usize) -> i64| (0..kept).map(of).sum::<i64>();
        self.projection =
            (0..n).map(|l| (0..n).map(|i| sum(&|k| mul(vectors[l][k], vectors[i][k]))).collect()).collect();
        let fold = |l: usize, k: usize| div(vectors[l][k], sqrt(values[k])) >> (BITS - FOLD_BITS);
        self.fold = (0..n).map(|l| (0..kept).map(|k| fold(l, k)).collect()).collect();
        let length = |i: usize| sqrt(sum(&|k| mul(mul(vectors[i][k], vectors[i][k]), values[k])));
        self.inverse = (0..n).map(|i| div(ONE, length(i))).collect();
    }

    /// Compares a text with each document.
    pub(super) fn score(&self, text: &str, scores: &mut Scores) {
        scores.lexical.clear();
        scores.lexical.resize(self.documents, 0);
        scores.semantic.clear();
        scores.semantic.resize(self.documents, 0);
        let unknown = self.count(text, scores);
        let weight = |(word, count): &(usize, u64)| mul(ONE + log2(*count), self.idf[*word]);
        let known = scores.counts.iter().map(|entry| square(weight(entry))).sum::<u128>();
        if known == 0 {
            return;
        }
        // Words that no skill knows make the text less like any of them.
        let whole = root(known + u128::from(unknown) * square(self.rarest));
        for entry in &scores.counts {
            let weight = div(weight(entry), whole);
            for (document, of) in &self.postings[entry.0] {
                scores.lexical[*document] += mul(weight, *of);
            }
        }
        self.semantic(div(root(known), whole), scores);
    }

    /// Cosine in the latent space, times the part of the text that is known.
    fn semantic(&self, part: i64, scores: &mut Scores) {
        let mut folded = [0_i64; DIMENSION];
        for (document, similar) in scores.lexical.iter().enumerate().filter(|(_, similar)| **similar != 0) {
            // Neither product leaves 64 bits: a similarity and a projection are at most one.
            for (sum, value) in folded.iter_mut().zip(&self.fold[document]) {
                *sum += (similar * value) >> FOLD_BITS;
            }
            for (sum, value) in scores.semantic.iter_mut().zip(&self.projection[document]) {
                *sum += (similar * value) >> BITS;
            }
        }
        let part_of_length = div(part, length(folded.iter().copied()));
        for (score, inverse) in scores.semantic.iter_mut().zip(&self.inverse) {
            *score = mul(mul(*score, *inverse), part_of_length).clamp(0, part);
        }
    }

    /// Fills `counts` and returns how many words are unknown.
    fn count(&self, text: &str, scores: &mut Scores) -> u64 {
        scores.counts.clear();
        let mut unknown = 0;
        let Scores { counts, buffer, .. } = scores;
        each_word(text, buffer, &mut |word| match self.index(word) {
            None => unknown += 1,
            Some(index) => match counts.iter_mut().find(|(known, _)| *known == index) {
                Some((_, count)) => *count += 1,
                None => counts.push((index, 1)),
            },
        });
        counts.sort_unstable();
        unknown
    }

    /// Number of words in the vocabulary.
    pub(super) fn vocabulary_len(&self) -> usize {
        self.words.len()
    }

    /// Feeds every number of the model to `hasher`: two machines agree on it or do not.
    pub(super) fn hash(&self, hasher: &mut Hasher) {
        let mut numbers = |row: &[i64]| row.iter().for_each(|number| hasher.update(&number.to_be_bytes()));
        numbers(&self.idf);
        numbers(&self.inverse);
        numbers(&[self.rarest]);
        self.projection.iter().chain(&self.fold).for_each(|row| numbers(row));
        for row in &self.postings {
            row.iter().for_each(|(document, weight)| numbers(&[*document as i64, *weight]));
        }
        for word in &self.words {
            hasher.update(word.as_bytes());
            hasher.update(b"\n");
        }
    }
}

fn log2_ratio(above: u64, below: u64) -> i64 {
    log2(above) - log2(below)
}

fn square(value: i64) -> u128 {
    u128::from(value.unsigned_abs()).pow(2)
}

/// Square root of a sum of squares.
fn root(squares: u128) -> i64 {
    narrow(i128::try_from(isqrt(squares)).unwrap_or(i128::MAX))
}

fn length(values: impl Iterator<Item = i64>) -> i64 {
    root(values.map(square).sum())
}

/// Both ascend by word.
fn dot(a: &[(usize, i64)], b: &[(usize, i64)]) -> i64 {
    let (mut left, mut right, mut sum) = (0, 0, 0_i128);
    while left < a.len() && right < b.len() {
        match a[left].0.cmp(&b[right].0) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                sum += i128::from(a[left].1) * i128::from(b[right].1);
                left += 1;
                right += 1;
            }
        }
    }
    narrow(sum >> BITS)
}

fn count_words(manifest: &Manifest) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut buffer = String::new();
    let mut add = |text: &str, times: u64| {
        each_word(text, &mut buffer, &mut |word| *counts.entry(word.to_owned()).or_default() += times);
    };
    add(&manifest.name, NAME_WEIGHT);
    add(&manifest.description, DESCRIPTION_WEIGHT);
    manifest.triggers.iter().for_each(|trigger| add(trigger, TRIGGER_WEIGHT));
    counts
}

/// Words with the number of documents that have them: the most frequent ones, the first by letters among equals.
fn vocabulary(documents: &[BTreeMap<String, u64>]) -> BTreeMap<String, u64> {
    let mut frequency: BTreeMap<&str, u64> = BTreeMap::new();
    for word in documents.iter().flat_map(BTreeMap::keys) {
        *frequency.entry(word).or_default() += 1;
    }
    let mut words: Vec<(&str, u64)> =
        frequency.into_iter().filter(|(_, df)| *df >= DOCUMENTS_MIN as u64).collect();
    words.sort_by_key(|(word, df)| (std::cmp::Reverse(*df), *word));
    words.truncate(VOCABULARY_MAX);
    words.into_iter().map(|(word, df)| (word.to_owned(), df)).collect()
}
