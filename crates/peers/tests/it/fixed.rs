//! The decimals against binary64, and at their borders.

use canon::{Float, Value};
use peers::Fixed;
use proptest::prelude::*;

fn number(text: &str) -> Fixed {
    Fixed::parse(text).unwrap()
}

#[test]
fn texts_both_ways() {
    for (text, back) in [
        ("0.25", "0.25"),
        ("-1", "-1.0"),
        ("1e-05", "0.00001"),
        ("12.5e2", "1250.0"),
        ("0", "0.0"),
        ("1e-30", "0.0"),
    ] {
        assert_eq!(number(text).to_text(), back);
    }
    assert_eq!(number("0.0000000000000000019"), number("0.000000000000000001"));
    for text in ["", "-", ".", "1e", "x", "1e400", "1000000001", "1_0", "1e99999999999"] {
        assert_eq!(Fixed::parse(text), None, "{text}");
    }
    assert_eq!(Fixed::read(&Value::Bool(true)), None);
    assert_eq!(Fixed::read(&Value::Float(Float::new(f64::NAN))), None);
    assert_eq!(number("1.9999").in_thousandths(), 1999);
}

#[test]
fn halves_round_to_even() {
    for (text, places, want) in [
        ("0.6665", 3, "0.666"),
        ("0.6675", 3, "0.668"),
        ("-0.25", 1, "-0.2"),
        ("2.04", 1, "2.0"),
        ("2.5", 0, "2"),
    ] {
        assert_eq!(number(text).rounded(places), number(want), "{text}");
    }
}

#[test]
fn what_has_no_answer_has_none() {
    assert_eq!(Fixed::ONE.over(Fixed::ZERO), None);
    assert_eq!(Fixed::ONE.over(Fixed::whole(-1)), None);
    assert_eq!(Fixed::whole(-4).sqrt(), Fixed::ZERO);
    assert_eq!((Fixed::ln(0), Fixed::ln(1)), (Fixed::ZERO, Fixed::ZERO));
    assert_eq!(Fixed::decay(u64::MAX), Fixed::ZERO);
}

proptest! {
    /// Against binary64, which is exact enough to notice a wrong formula.
    #[test]
    fn arithmetic_agrees_with_binary64(a in -2e4_f64..2e4, b in 1e-3_f64..2e4, n in 0_u64..1_000_000) {
        let near = |got: Fixed, want: f64| {
            let got: f64 = got.to_text().parse().unwrap();
            (got - want).abs() <= 1e-12 * want.abs().max(1.0)
        };
        let of = |x: f64| Fixed::read(&Value::Float(Float::new(x))).unwrap();
        prop_assert!(near(of(a).times(of(b)), a * b));
        prop_assert!(near(of(a).over(of(b)).unwrap(), a / b));
        prop_assert!(near(of(b).sqrt(), b.sqrt()));
        prop_assert!(near(Fixed::ln(n + 1), ((n + 1) as f64).ln()));
        prop_assert!(near(Fixed::decay(n % 20_000), 0.5_f64.powf((n % 20_000) as f64 / 200.0)));
        prop_assert_eq!(Fixed::parse(&of(a).to_text()), Some(of(a)));
    }

    /// Nothing overflows at the borders: the profile checks it.
    #[test]
    fn borders_stop(a in -1_000_000_000_i64..1_000_000_000, b in any::<i64>(), n in any::<u64>()) {
        let (a, b, least) = (Fixed::whole(a), Fixed::whole(b), number("1e-18"));
        let _ = (a.times(b), a.over(b), a.plus(b), a.minus(b), b.sqrt(), b.over(least), a.rounded(0), Fixed::ln(n));
        prop_assert!(b <= Fixed::whole(1_000_000_000) && b >= Fixed::whole(-1_000_000_000));
    }
}
