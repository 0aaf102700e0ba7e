//! The check program that the peer renders from a suite, as a digest (desk specification 16.4).
//!
//! The program is a constant beginning and a body. The beginning is the peer's text and is not here; the state of SHA-256
//! behind it is published, which is enough for `render_sha256`. That digest states which program a machine *ran*: it
//! is computed to check what peers signed. What we run has an identity of its own, [`crate::native::Program`].

use crate::literal::{Value, emit};
use crate::spec::{Cmp, Dialect, Spec};
use canon::Digest;

/// What is known of the beginning of a program.
struct Prefix {
    /// SHA-256 after `absorbed` bytes.
    state: [u32; 8],
    /// A multiple of 64.
    absorbed: u64,
    /// What is left of the beginning.
    tail: &'static [u8],
}

/// Dialect `mbpp`, set_equivalent false and regex_predicate false.
const MBPP: Prefix = Prefix {
    state: [
        0xfca3_b627,
        0x9c52_23f8,
        0xede0_375b,
        0x9113_cc89,
        0xcb88_6ee9,
        0x401c_9361,
        0xafa5_973a,
        0x84ee_ca63,
    ],
    absorbed: 832,
    tail: b" x, y in zip(a, b))\n    return a == b\n\n",
};
/// Dialect `mbpp`, set_equivalent false and regex_predicate true.
const MBPP_REGEX: Prefix = Prefix {
    state: [
        0x3d72_2f12,
        0xc917_86fd,
        0x094b_bba8,
        0x9085_5af2,
        0x6dce_028e,
        0xa8cf_cfb2,
        0x28f4_12fd,
        0xf2a8_a74d,
    ],
    absorbed: 832,
    tail: b"x, y in zip(a, b))\n    return a == b\n\n",
};
/// Dialect `mbpp`, set_equivalent true and regex_predicate false.
const MBPP_SET: Prefix = Prefix {
    state: [
        0xfbe8_ff32,
        0xbdf2_2bdd,
        0xfabf_8338,
        0x3543_ec08,
        0x2a25_f7f0,
        0x78c0_00da,
        0x48ed_4353,
        0x9850_4dd4,
    ],
    absorbed: 832,
    tail: b"x, y in zip(a, b))\n    return a == b\n\n",
};
/// Dialect `mbpp`, set_equivalent true and regex_predicate true.
const MBPP_SET_REGEX: Prefix = Prefix {
    state: [
        0xb947_4dbc,
        0x87cb_d926,
        0x8466_9aac,
        0xcc9b_d5d1,
        0x2ad9_764c,
        0xcd13_b1d6,
        0x0083_c5fe,
        0x5784_35be,
    ],
    absorbed: 832,
    tail: b", y in zip(a, b))\n    return a == b\n\n",
};
/// Dialect `lcb`.
const LCB: Prefix = Prefix {
    state: [
        0x85de_40b8,
        0x2b7d_a0ab,
        0xc990_59c6,
        0x8f2c_295e,
        0xb57e_feaa,
        0xa740_f85d,
        0xa8ac_c6e4,
        0x56ac_8249,
    ],
    absorbed: 448,
    tail: b"a == b\n\n",
};

/// The loop behind the tests of the dialect `lcb`.
const LCB_LOOP: &str = "for __t in __tests:
    __got = __entry(*__t['args'])
    assert __aeq(__got, __t['expected']), (
        f\"args={__t['args']!r} got={__got!r} want={__t['expected']!r}\")";

/// What the suite adds to the constant beginning of the program.
pub fn body(spec: &Spec) -> String {
    let mut lines = vec![format!("__entry = __vacant_ns[{}]", emit(&Value::from(spec.entry_point())))];
    match spec.dialect() {
        Dialect::Mbpp => {
            let atol = spec.cmp().atol.map_or("None".to_owned(), |atol| atol.to_string());
            lines.extend(spec.tests().iter().map(|test| {
                format!("assert __aeq(__entry(*{}), {}, {atol})", test.args.text, test.expected.text)
            }));
        }
        Dialect::Lcb => {
            let tests: Vec<String> = spec
                .tests()
                .iter()
                .map(|test| format!("{{'args': {}, 'expected': {}}}", test.args.text, test.expected.text))
                .collect();
            lines.push(format!("__tests = [{}]", tests.join(", ")));
            lines.push(LCB_LOOP.to_owned());
        }
    }
    lines.join("\n")
}

/// `render_sha256` of the peer's program for this suite.
pub fn peer_digest(spec: &Spec) -> Digest {
    let prefix = match (spec.dialect(), spec.cmp()) {
        (Dialect::Lcb, _) => &LCB,
        (Dialect::Mbpp, Cmp { set_equivalent: false, regex_predicate: false, .. }) => &MBPP,
        (Dialect::Mbpp, Cmp { set_equivalent: false, regex_predicate: true, .. }) => &MBPP_REGEX,
        (Dialect::Mbpp, Cmp { set_equivalent: true, regex_predicate: false, .. }) => &MBPP_SET,
        (Dialect::Mbpp, Cmp { set_equivalent: true, regex_predicate: true, .. }) => &MBPP_SET_REGEX,
    };
    let rest = [prefix.tail, body(spec).as_bytes()].concat();
    // The five beginnings end at whole blocks, and no suite is near 2^61 bytes.
    canon::resumed(prefix.state, prefix.absorbed, &rest).unwrap_or(Digest::ZERO)
}
