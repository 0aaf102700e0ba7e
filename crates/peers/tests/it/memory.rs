//! Rule A4: literals of hidden tests in a lesson.

use peers::memory::leaks;
use proptest::prelude::*;

const HIDDEN: &str = r#"
# it's a comment with a quote
def check():
    assert slug("Grüße aus Köln") == 'gruesse-aus-koeln'
    assert slug("tab\there") == "abc"
    assert doc() == """two
lines"""
    assert name() == "visible-name"
"#;
const VISIBLE: &str = "assert name() == 'visible-name'\n";

fn found(lesson: &str) -> Vec<&str> {
    leaks(lesson, HIDDEN, VISIBLE).into_iter().map(|leak| &lesson[leak.at..leak.at + leak.bytes_n]).collect()
}

#[test]
fn literals_of_four_characters_are_found() {
    assert_eq!(found("expected gruesse-aus-koeln, got none"), ["gruesse-aus-koeln"]);
    assert_eq!(found("input was Grüße aus Köln!"), ["Grüße aus Köln"]);
    assert_eq!(found("it breaks at two\nlines"), ["two\nlines"]);
    // As written and as it reads.
    assert_eq!(found("input tab\there"), ["tab\there"]);
    assert_eq!(found(r"input tab\there"), [r"tab\there"]);
    assert_eq!(found("gruesse-aus-koeln and gruesse-aus-koeln").len(), 2);
}

#[test]
fn the_shape_of_a_failure_is_allowed() {
    assert!(found("slug returned a text without hyphens where umlauts were expected").is_empty());
    assert!(found("three letters: abc").is_empty(), "short literals are everywhere");
    assert!(found("visible-name was expected").is_empty(), "what is visible anyway is no leak");
    assert!(leaks("", HIDDEN, VISIBLE).is_empty() && leaks("anything", "", "").is_empty());
}

proptest! {
    /// A literal is found wherever it stands, whatever else the tests hold.
    #[test]
    fn found_wherever_it_stands(before in "[a-z #\n]{0,20}", after in "[a-z ]{0,20}", secret in "[A-Z]{4,12}") {
        let hidden = format!("x = 1 # don't\nassert f() == '{secret}'\n");
        let lesson = format!("{before}{secret}{after}");
        prop_assert!(!leaks(&lesson, &hidden, "").is_empty());
    }

    /// Any text is read.
    #[test]
    fn any_tests_are_read(hidden in "[a-z'\"\\\\#\nxuUé]{0,40}", lesson in "[a-z'\"\\\\ é]{0,40}") {
        for leak in leaks(&lesson, &hidden, "") {
            prop_assert!(lesson.get(leak.at..leak.at + leak.bytes_n).is_some());
        }
    }
}
