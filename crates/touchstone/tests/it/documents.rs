//! `touchstone conform docs`: claims need evidence beside them (E-3).

use super::conform::{Desk, TABLE};
use super::stage::touchstone;

#[test]
fn our_own_documents_have_their_evidence() {
    let output =
        touchstone().current_dir(vectors::repository()).args(["conform", "docs", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn e_3_claims_need_evidence_beside_them() {
    let desk = Desk::new(TABLE);
    let docs = || desk.ask(&["conform", "docs", "docs"]);
    desk.write("docs/plain.md", "Nothing is claimed here.\n");
    assert_eq!(docs().code, 0);
    for claim in ["It was measured on two cores.", "本机实测。", "已真实生效", "It really works."] {
        desk.write("docs/claim.md", claim);
        let answer = docs();
        assert_eq!(
            (answer.code, answer.places("hon_claim_without_evidence")),
            (2, vec!["claim.md"]),
            "{claim}"
        );
    }
    desk.write("docs/receipt.json", r#"{"evidence_class":"simulated"}"#);
    assert_eq!(docs().code, 2, "simulated evidence is none");
    desk.write("docs/receipt.json", r#"{"evidence_class":"measured"}"#);
    assert_eq!(docs().code, 2, "measured without a source is none");
    desk.write(
        "docs/receipt.json",
        r#"{"evidence_class":"measured","measure_source":"bench","measure_ts":1}"#,
    );
    assert_eq!(docs().code, 0);
    desk.write("docs/deep/claim.md", "measured");
    assert_eq!(docs().places("hon_claim_without_evidence"), ["deep/claim.md"], "its own folder counts");
    desk.write("docs/touchstone.toml", "[docs]\nphrases = [\"proven\"]\n");
    assert_eq!(docs().code, 0);
    desk.write("docs/deep/claim.md", "It is proven.");
    assert_eq!(docs().code, 2);
    desk.write("docs/touchstone.toml", "[docs]\nphrases = []\n");
    assert_eq!((docs().code, docs().text("reason")), (1, "conform_documents"));
    desk.write("empty/nothing.txt", "");
    assert_eq!(desk.ask(&["conform", "docs", "empty"]).code, 2, "no document at all is unchecked, not green");
}
