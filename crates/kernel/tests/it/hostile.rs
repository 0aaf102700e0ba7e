//! Detection, published in docs/kernel.md: hostile texts in the spellings that people use to get past a filter, and
//! ordinary texts that look like them. `hostile.toml` holds both; the figures are exact.

use super::stage::{envelope, handle_object, kernel};
use kernel::Kernel;
use verdict::Action;

fn texts(list: &str) -> Vec<String> {
    let path = vectors::repository().join("crates/kernel/tests/hostile.toml");
    let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let texts = table[list].as_array().unwrap().iter();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Texts that were not blocked.
fn passed<'a>(kernel: &Kernel, texts: &'a [String]) -> Vec<&'a str> {
    let blocked = |text: &str| {
        let receipt = handle_object(kernel, envelope(text));
        receipt.verdict.action == Action::Block && receipt.verdict.layer == "L3"
    };
    texts.iter().map(String::as_str).filter(|text| !blocked(text)).collect()
}

#[test]
fn hostile_texts_are_blocked() {
    let (kernel, hostile) = (kernel(), texts("hostile"));
    let passed = passed(&kernel, &hostile);
    assert_eq!(passed, texts("hostile_not_found"), "what passes is listed in hostile.toml");
    println!("{} of {} blocked", hostile.len() - passed.len(), hostile.len());
    assert_eq!((hostile.len() - passed.len(), hostile.len()), (88, 96));
}

#[test]
fn ordinary_texts_are_not() {
    let (kernel, ordinary) = (kernel(), texts("ordinary"));
    let passed = passed(&kernel, &ordinary);
    let blocked: Vec<&String> = ordinary.iter().filter(|text| !passed.contains(&text.as_str())).collect();
    assert_eq!(ordinary.len(), 42);
    assert_eq!(blocked, texts("ordinary_blocked").iter().collect::<Vec<_>>(), "what is blocked is listed");
}
