//! Words of a text, as the router sees them.

/// Words that say nothing about what is wanted. Sorted.
const STOP: [&str; 84] = [
    "a", "about", "above", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "but", "by", "can", "could", "did", "do", "does", "each", "every", "for", "from", "get",
    "give", "given", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "let", "make",
    "may", "me", "must", "my", "no", "not", "of", "on", "one", "only", "or", "our", "out", "over", "please",
    "shall", "should", "so", "some", "such", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "to", "up", "us", "want", "was", "we", "what", "when", "which", "will", "with", "would",
    "you",
];

/// Calls `take` with each word, lower case and without its ending. Letters and digits of ASCII make words; everything
/// else separates them. `buffer` is used again.
pub(super) fn each_word(text: &str, buffer: &mut String, take: &mut dyn FnMut(&str)) {
    for word in text.split(|ch: char| !ch.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        buffer.clear();
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
        if STOP.binary_search(&buffer.as_str()).is_err() {
            take(stem(buffer));
        }
    }
}

/// The word without the endings of English that do not change what is wanted. Rough on purpose: the same for
/// descriptions and tasks is all that counts.
fn stem(word: &mut String) -> &str {
    let cut = |word: &mut String, ending: &str, least: usize| {
        let found = word.ends_with(ending) && word.len() >= ending.len() + least;
        if found {
            word.truncate(word.len() - ending.len());
        }
        found
    };
    if cut(word, "ies", 2) {
        word.push('y');
    } else if !word.ends_with("ss") && !word.ends_with("us") {
        cut(word, "s", 3);
    }
    if cut(word, "ing", 3) || cut(word, "ed", 3) {
        let bytes = word.as_bytes();
        if bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
            word.pop();
        }
    }
    cut(word, "e", 3);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_stems() {
        assert!(STOP.is_sorted());
        let mut words = Vec::new();
        let text = "Sorting the entries, encoded and encodes: split_lines base64 classes";
        each_word(text, &mut String::new(), &mut |word| words.push(word.to_owned()));
        assert_eq!(words, ["sort", "entry", "encod", "encod", "split", "lin", "base64", "class"]);
    }
}
