//! V20 on calibration indices: reported, never failed.

use crate::rig::{green, some};
use matrix::gate::Measure;

#[test]
fn v20_is_reported() {
    let judgement = green(&some("V20", |unit| unit.index().unwrap() < 8));
    assert_eq!(judgement.measures.len(), 6);
    for measure in &judgement.measures {
        let Measure::Share { name, share } = measure else { panic!("{measure:?}") };
        println!("{name}: {} of {}", share.k, share.n);
    }
    assert!(judgement.checks["V20.1"].failed == 0 && judgement.checks["V20.1"].made == 16);
}
