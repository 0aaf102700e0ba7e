//! `delivery`: what it signs is what its own run of the check came to. The whole way is in `parties_document`.

use super::stage::{has, touchstone};
use canon::{Reader, Value};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A deliverer, a reviewer, and an answer on a chain.
struct Stand {
    root: TempDir,
}

impl Stand {
    fn new(tests: &str, answer: &str) -> Stand {
        let stand = Stand { root: tempfile::tempdir().unwrap() };
        for (name, text) in [("tests", tests), ("answer", answer), ("task", "Write add.")] {
            fs::write(stand.path(name), text).unwrap();
        }
        for keys in ["deliverer", "reviewer"] {
            assert_eq!(stand.ask(&["key", "new", keys], None), Some(0));
        }
        let make = "delivery make --keys deliverer --task-id t-1 --answer answer --chain chain";
        assert_eq!(stand.say(make), Some(0));
        assert_eq!(stand.say(make), Some(64), "a chain that exists is never continued");
        stand
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn ask(&self, words: &[&str], path: Option<&str>) -> Option<i32> {
        let mut command = touchstone();
        command.args(words).current_dir(self.root.path());
        if let Some(path) = path {
            command.env("PATH", path);
        }
        command.output().unwrap().status.code()
    }

    fn say(&self, words: &str) -> Option<i32> {
        self.ask(&words.split(' ').collect::<Vec<_>>(), None)
    }

    fn key(&self, name: &str) -> String {
        fs::read_to_string(self.path(name).join("identity.pub")).unwrap().trim().to_owned()
    }

    fn review(&self, keys: &str) -> String {
        let deliverer = self.key("deliverer");
        format!(
            "delivery review --keys {keys} --deliverer {deliverer} --chain chain --answer answer --tests tests --substrate s --out review"
        )
    }

    fn json(&self, name: &str) -> Value {
        Reader::strict().read(fs::read(self.path(name)).unwrap().trim_ascii_end()).unwrap()
    }
}

const SIGN: &str = "delivery sign --keys deliverer --chain chain --answer answer --tests tests --substrate s --request-id r-1 \
    --task task --review review --card card --receipt receipt";
const EQUALS: &str = r#"{"type":"equals","value":"42"}"#;

#[test]
fn a_wrong_answer_gets_no_good_word() {
    let stand = Stand::new(EQUALS, "43");
    assert_eq!(stand.say(&stand.review("reviewer")), Some(20));
    assert_eq!(stand.say(SIGN), Some(20));
    let (card, receipt) = (stand.json("card"), stand.json("receipt"));
    assert_eq!(vectors::text(&vectors::list(&card, "reviews")[0], "verdict"), "FAIL");
    assert_eq!(receipt.get("verified"), Some(&Value::Bool(false)));
    assert_eq!(receipt.get("audit").unwrap().get("performed"), Some(&Value::Bool(false)));
}

#[test]
fn what_is_not_a_delivery_is_not_signed() {
    let stand = Stand::new(EQUALS, "42");
    assert_eq!(stand.say(&stand.review("deliverer")), Some(64), "nobody reviews a delivery of their own");
    assert_eq!(
        stand.say(&stand.review("reviewer").replace(&stand.key("deliverer"), &stand.key("reviewer"))),
        Some(64)
    );
    fs::write(stand.path("answer"), " 42").unwrap();
    assert_eq!(stand.say(&stand.review("reviewer")), Some(64), "another answer than the one on the chain");
    fs::write(stand.path("answer"), "42").unwrap();
    fs::write(stand.path("tests"), r#"{"type":"contains","value":"42"}"#).unwrap();
    assert_eq!(stand.say(&stand.review("reviewer")), Some(64));
    assert!(!stand.path("review").exists());
    fs::write(stand.path("tests"), EQUALS).unwrap();
    assert_eq!(stand.say(&stand.review("reviewer")), Some(0));
    let honest = fs::read_to_string(stand.path("review")).unwrap();
    fs::write(stand.path("review"), honest.replace("\"s\"", "\"x\"")).unwrap();
    assert_eq!(stand.say(SIGN), Some(64), "a review that was changed");
    assert!(!stand.path("receipt").exists());
}

/// Without an interpreter nothing is known of the answer, so nothing is signed.
#[test]
fn what_was_not_measured_is_not_signed() {
    if !has("what_was_not_measured_is_not_signed", "python3") {
        return;
    }
    let stand = Stand::new(r#"{"type":"run_python","code":"assert f() == 1"}"#, "def f():\n    return 1\n");
    fs::create_dir(stand.path("empty")).unwrap();
    let empty = stand.path("empty");
    let words = stand.review("reviewer");
    let words: Vec<&str> = words.split(' ').collect();
    assert_eq!(stand.ask(&words, empty.to_str()), Some(22));
    assert!(!stand.path("review").exists());
    assert_eq!(stand.ask(&words, None), Some(0));
}
