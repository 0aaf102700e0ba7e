//! The layers that need no patterns: L2 and L4 to L8.

use super::normalise::{BIDI, INVISIBLE, LOST, Normal, Reading};
use super::{Finding, Reason, Report};
use crate::audit::AuditContext;
use crate::envelope::{Envelope, Mode};
use canon::{Digest, Object, Value};

const NAME_BYTES_MAX: usize = 128;
const TASK_BYTES_MAX: usize = 16 << 10;
const PAYLOAD_BYTES_MAX: usize = 1 << 20;
const PAYLOAD_BYTES_MANY: usize = 256 << 10;
const DEPTH_MAX: usize = 32;

/// Names that have power over others, or are the kernel's own.
const RESERVED: [&str; 12] = [
    "admin",
    "administrator",
    "guard",
    "kernel",
    "operator",
    "owner",
    "root",
    "superuser",
    "supervisor",
    "sysadmin",
    "system",
    "touchstone",
];

fn is_reserved(name: &str) -> bool {
    // Most names are plain: nothing to fold but their case.
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        return RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name));
    }
    let mut normal = Normal::default();
    normal.push(name, Reading::Joined);
    let text = normal.bytes.strip_suffix(b"\0").unwrap_or(&normal.bytes);
    RESERVED.iter().any(|reserved| reserved.as_bytes() == text.trim_ascii())
}

// ------------------------------------------------------------------------------------------------- texts

/// One text of the payload, or a list of texts that is read as an argument list.
pub(super) enum Text<'a> {
    One(&'a str),
    Words(&'a [Value]),
}

/// Every text of the payload, keys too, always in the same order. Bounded by the reader's depth limit.
pub(super) fn each_text<'a>(object: &'a Object, take: &mut dyn FnMut(Text<'a>)) {
    for (key, value) in object.iter() {
        take(Text::One(key));
        each_text_of(value, take);
    }
}

fn each_text_of<'a>(value: &'a Value, take: &mut dyn FnMut(Text<'a>)) {
    match value {
        Value::Str(text) => take(Text::One(text)),
        Value::Array(items) if items.len() > 1 && items.iter().all(|item| item.as_str().is_some()) => {
            take(Text::Words(items));
        }
        Value::Array(items) => items.iter().for_each(|item| each_text_of(item, take)),
        Value::Object(object) => each_text(object, take),
        _ => {}
    }
}

/// The path of the text with this number; 0 is the task.
pub(super) fn text_name(envelope: &Envelope, number: usize) -> String {
    let mut left = number;
    if left == 0 {
        return "task".to_owned();
    }
    left -= 1;
    name_in(&envelope.payload, "payload", &mut left).unwrap_or_else(|| "payload".to_owned())
}

fn name_in(object: &Object, path: &str, left: &mut usize) -> Option<String> {
    for (key, value) in object.iter() {
        let path = format!("{path}.{}", canon::shown(key.as_bytes()));
        if *left == 0 {
            return Some(path);
        }
        *left -= 1;
        if let Some(found) = name_of(value, &path, left) {
            return Some(found);
        }
    }
    None
}

fn name_of(value: &Value, path: &str, left: &mut usize) -> Option<String> {
    let mut leaf = || {
        let found = *left == 0;
        *left = left.saturating_sub(1);
        found.then(|| path.to_owned())
    };
    match value {
        Value::Str(_) => leaf(),
        Value::Array(items) if items.len() > 1 && items.iter().all(|item| item.as_str().is_some()) => leaf(),
        Value::Array(items) => items.iter().find_map(|item| name_of(item, path, left)),
        Value::Object(object) => name_in(object, path, left),
        _ => None,
    }
}

// ------------------------------------------------------------------------------------------------ layers

/// L2.
pub(super) fn size(envelope: &Envelope, report: &mut Report) {
    for (name, text) in
        [("id", &envelope.id), ("sender", &envelope.sender), ("recipient", &envelope.recipient)]
    {
        if text.len() > NAME_BYTES_MAX {
            return report.add(Finding::new(Reason::NameOver128, name));
        }
    }
    if envelope.task.len() > TASK_BYTES_MAX {
        return report.add(Finding::new(Reason::TaskOver16Kib, "task"));
    }
    if depth(&envelope.payload) > DEPTH_MAX {
        return report.add(Finding::new(Reason::PayloadOverDepth32, "payload"));
    }
    // Canonical text is at most eight times as long as its source (`1e15`): a short line needs no second look.
    if envelope.line_bytes > PAYLOAD_BYTES_MANY / 8 {
        let bytes = payload_bytes(envelope).len();
        if bytes > PAYLOAD_BYTES_MAX {
            report.add(Finding::new(Reason::PayloadOver1Mib, "payload"));
        } else if bytes > PAYLOAD_BYTES_MANY {
            report.add(Finding::new(Reason::PayloadOver256Kib, "payload"));
        }
    }
}

fn payload_bytes(envelope: &Envelope) -> Vec<u8> {
    canon::canonical_part(&envelope.payload, |_| true)
}

/// An empty object has depth 1.
fn depth(object: &Object) -> usize {
    1 + object.iter().map(|(_, value)| depth_of(value)).max().unwrap_or(0)
}

fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(object) => depth(object),
        _ => 0,
    }
}

/// L4.
pub(super) fn permission(envelope: &Envelope, needs: u8, report: &mut Report) {
    if let Some(reason) = Reason::short(needs, envelope.permission) {
        report.add(Finding::new(reason, "permission").with_pattern(format!("needs {needs}")));
    }
}

/// L5.
pub(super) fn identity(envelope: &Envelope, normal: &Normal, report: &mut Report) {
    let claims = &envelope.claims;
    if is_reserved(&envelope.sender) {
        return report.add(Finding::new(Reason::SenderReserved, "sender").with_pattern("a reserved name"));
    }
    if let Some(identity) = &claims.identity {
        if is_reserved(identity) {
            let found = Finding::new(Reason::ClaimAdmin, "claims.identity");
            return report.add(found.with_pattern("a reserved name"));
        }
        if *identity != envelope.sender {
            let found = Finding::new(Reason::ClaimOther, "claims.identity");
            return report.add(found.with_pattern("the sender"));
        }
    }
    if let Some(level) = claims.level.filter(|level| *level > envelope.permission) {
        let found = Finding::new(Reason::ClaimLevel, "claims.level");
        return report.add(found.with_pattern(format!("{level} above {}", envelope.permission)));
    }
    if imitates(&envelope.sender) {
        return report.add(Finding::new(Reason::SenderLookalike, "sender"));
    }
    if let Some(claimed) = claims.payload_sha256
        && claimed != Digest::of(&payload_bytes(envelope))
    {
        return report.add(Finding::new(Reason::PayloadDigest, "claims.payload_sha256"));
    }
    distortion(envelope, normal, report);
}

/// A name that becomes ASCII when it is folded was written to be taken for another.
fn imitates(name: &str) -> bool {
    if name.is_ascii() {
        return false;
    }
    let mut normal = Normal::default();
    normal.push(name, Reading::Joined);
    normal.bytes.is_ascii()
}

fn distortion(envelope: &Envelope, normal: &Normal, report: &mut Report) {
    let kinds = [
        (BIDI, Reason::BidiControl, "a bidirectional control"),
        (INVISIBLE, Reason::InvisibleText, "an invisible character"),
        (LOST, Reason::LostText, "U+FFFD"),
    ];
    for (kind, reason, what) in kinds {
        if let Some(text) = normal.distorted[kind] {
            report.add(Finding::new(reason, text_name(envelope, text)).with_pattern(what));
            if report.blocked() {
                return;
            }
        }
    }
}

/// L6.
pub(super) fn metadata(envelope: &Envelope, report: &mut Report) {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-');
    match envelope.trace.as_deref() {
        None | Some("") => return report.add(Finding::new(Reason::NoTrace, "trace")),
        Some(trace) if trace.len() > NAME_BYTES_MAX || !trace.bytes().all(fits) => {
            return report.add(Finding::new(Reason::TraceMalformed, "trace"));
        }
        Some(_) => {}
    }
    match envelope.mode.as_deref() {
        None => report.add(Finding::new(Reason::NoMode, "mode")),
        Some(mode) if Mode::of(mode).is_none() => report.add(Finding::new(Reason::ModeUnknown, "mode")),
        Some(_) => {}
    }
}

/// L7.
pub(super) fn audit(envelope: &Envelope, context: &AuditContext, report: &mut Report) {
    let (seq, next) = (envelope.seq, context.next_seq);
    if seq > next {
        report.add(Finding::new(Reason::Gap, "seq").with_pattern(format!("expected {next}, is {seq}")));
    } else if seq < next {
        let found = Finding::new(Reason::SeqRepeated, "seq");
        report.add(found.with_pattern(format!("expected {next}, is {seq}")));
    } else if envelope.prev != context.prev {
        let reason = match (envelope.prev, context.prev) {
            (None, _) => Reason::PrevMissing,
            (_, None) => Reason::PrevUnexpected,
            _ => Reason::PrevOther,
        };
        report.add(Finding::new(reason, "prev"));
    }
}

/// L8.
pub(super) fn consistency(envelope: &Envelope, context: &AuditContext, report: &mut Report) {
    if context.id_repeated {
        return report.add(Finding::new(Reason::IdRepeated, "id"));
    }
    if envelope.sender == envelope.recipient {
        return report.add(Finding::new(Reason::SentToItself, "recipient"));
    }
    let claims = &envelope.claims;
    // A source or time that says nothing is none, as for the judge.
    let says = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    let (source, ts) = (says(&claims.measure_source), says(&claims.measure_ts));
    let member = "claims.evidence_class";
    match claims.evidence_class.as_deref() {
        Some("measured") if !source => report.add(Finding::new(Reason::MeasuredNoSource, member)),
        Some("measured") if !ts => report.add(Finding::new(Reason::MeasuredNoTs, member)),
        Some("measured") => {}
        Some("third_party") if !source => report.add(Finding::new(Reason::ThirdPartyNoSource, member)),
        Some("third_party") => {}
        None | Some("simulated") if source || ts => {
            report.add(Finding::new(Reason::SimulatedWithSource, member));
        }
        None | Some("simulated") => {}
        Some(_) => return report.add(Finding::new(Reason::UnknownClass, member)),
    }
    if claims.level.is_some_and(|level| level < envelope.permission) {
        report.add(Finding::new(Reason::LevelBelow, "claims.level"));
    }
}
