//! K-2: whatever is done to the spelling of a danger pattern, it is found.

use kernel::guard::danger::{Danger, Seen};
use kernel::guard::normalise::{Ambiguous, Normal, Reading};
use proptest::prelude::*;
use std::sync::LazyLock;

static DANGER: LazyLock<Danger> = LazyLock::new(|| Danger::builtin().unwrap());

/// Whether the pattern is found, as the guard looks for it.
fn finds(pattern: usize, text: &str) -> bool {
    let (mut normal, mut hits) = (Normal::default(), Vec::new());
    let mut ambiguous = Ambiguous::default();
    for reading in Reading::ALL {
        if reading.adds(ambiguous) {
            normal.clear();
            normal.push(text, reading);
            DANGER.find(&normal, &mut Seen::default(), &mut hits);
            ambiguous = ambiguous.or(normal.ambiguous);
        }
    }
    hits.iter().any(|hit| hit.pattern == pattern)
}

/// Every spelling with the number of its pattern; what ` ... ` stands for is filled in.
fn spellings() -> Vec<(usize, String)> {
    let of = |(index, pattern): (usize, &kernel::guard::danger::Pattern)| {
        pattern.spell.iter().map(|text| (index, text.replace(" ... ", " x y "))).collect::<Vec<_>>()
    };
    DANGER.patterns().iter().enumerate().flat_map(of).collect()
}

#[test]
fn every_spelling_is_found_and_each_pattern_has_its_own_code() {
    assert!(DANGER.patterns().len() >= 30);
    for (pattern, text) in spellings() {
        let id = DANGER.patterns()[pattern].id;
        assert!(finds(pattern, &text), "{id}: {text}");
        assert!(finds(pattern, &format!("x = 1; {text}")), "{id}: {text}");
        assert!(finds(pattern, &text.to_uppercase()), "{id}: {text}");
    }
}

/// What can be done at one place of a spelling.
#[derive(Clone, Copy, Debug)]
enum Trick {
    Nothing,
    Upper,
    ZeroWidth,
    Bidi,
    Variation,
    FullWidth,
    Mathematical,
    Cyrillic,
    Percent,
    HexEscape,
    UnicodeEscape,
    BracedEscape,
    Concatenated,
    Adjacent,
    EmptyQuotes,
    Backslash,
    EmptyVariable,
    Blanks,
    FieldSeparator,
}

const TRICKS: [Trick; 19] = [
    Trick::Nothing,
    Trick::Upper,
    Trick::ZeroWidth,
    Trick::Bidi,
    Trick::Variation,
    Trick::FullWidth,
    Trick::Mathematical,
    Trick::Cyrillic,
    Trick::Percent,
    Trick::HexEscape,
    Trick::UnicodeEscape,
    Trick::BracedEscape,
    Trick::Concatenated,
    Trick::Adjacent,
    Trick::EmptyQuotes,
    Trick::Backslash,
    Trick::EmptyVariable,
    Trick::Blanks,
    Trick::FieldSeparator,
];

/// Writes `ch` as the trick has it; as it is where the trick does not apply.
fn spell(before: Option<char>, ch: char, trick: Trick, out: &mut String) {
    // A plus or comma alone between two quotes is read as one between literals (docs/kernel.md).
    let quotes = matches!(trick, Trick::Concatenated | Trick::Adjacent | Trick::EmptyQuotes);
    if quotes && [before, Some(ch)].iter().flatten().any(|ch| "+,".contains(*ch)) {
        return out.push(ch);
    }
    let code = ch as u32;
    let shifted = |base: u32| char::from_u32(base + code).unwrap();
    match trick {
        Trick::Upper => out.push(ch.to_ascii_uppercase()),
        Trick::ZeroWidth => out.extend(['\u{200b}', ch]),
        Trick::Bidi => out.extend(['\u{202e}', ch]),
        Trick::Variation => out.extend([ch, '\u{fe0f}']),
        Trick::FullWidth if ch.is_ascii_graphic() && !"'\"`\\".contains(ch) => out.push(shifted(0xfee0)),
        // Bold small letters.
        Trick::Mathematical if ch.is_ascii_lowercase() => out.push(shifted(0x1d41a - 0x61)),
        Trick::Cyrillic => {
            let from = "aceijopsxy";
            let at = from.find(ch);
            out.push(at.and_then(|at| "асеіјорѕху".chars().nth(at)).unwrap_or(ch));
        }
        Trick::Percent => out.push_str(&format!("%{code:02X}")),
        Trick::HexEscape => out.push_str(&format!("\\x{code:02x}")),
        Trick::UnicodeEscape => out.push_str(&format!("\\u{code:04X}")),
        Trick::BracedEscape => out.push_str(&format!("\\u{{{code:x}}}")),
        Trick::Concatenated => out.push_str(&format!("\" + '{ch}")),
        Trick::Adjacent => out.push_str(&format!("''{ch}")),
        Trick::EmptyQuotes => out.push_str(&format!("\"\"{ch}")),
        // In a shell; before these a backslash begins something else.
        Trick::Backslash if ch.is_ascii_alphabetic() && !"xutnr".contains(ch.to_ascii_lowercase()) => {
            out.extend(['\\', ch]);
        }
        Trick::EmptyVariable => out.push_str(&format!("$@{ch}")),
        Trick::Blanks if ".([])=|;".contains(ch) => out.push_str(&format!(" \t{ch}\n ")),
        Trick::FieldSeparator if ch == ' ' => out.push_str("${IFS}"),
        _ => out.push(ch),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn any_mixture_of_tricks_is_found(
        which in any::<prop::sample::Index>(),
        tricks in proptest::collection::vec(0..TRICKS.len(), 64),
        every in 1_usize..4,
    ) {
        let spellings = spellings();
        let (pattern, text) = &spellings[which.index(spellings.len())];
        let mut out = String::new();
        for (index, ch) in text.chars().enumerate() {
            let trick = if index % every == 0 { TRICKS[tricks[index % 64]] } else { Trick::Nothing };
            let before = index.checked_sub(1).and_then(|before| text.chars().nth(before));
            spell(before, ch, trick, &mut out);
        }
        prop_assert!(finds(*pattern, &out), "{}: {out:?}", DANGER.patterns()[*pattern].id);
    }

    /// One trick at every place: none is covered only by luck.
    #[test]
    fn each_trick_everywhere_is_found(which in any::<prop::sample::Index>(), trick in 0..TRICKS.len()) {
        let spellings = spellings();
        let (pattern, text) = &spellings[which.index(spellings.len())];
        let mut out = String::new();
        let before = [None].into_iter().chain(text.chars().map(Some));
        text.chars().zip(before).for_each(|(ch, before)| spell(before, ch, TRICKS[trick], &mut out));
        prop_assert!(finds(*pattern, &out), "{}: {out:?}", DANGER.patterns()[*pattern].id);
    }
}
