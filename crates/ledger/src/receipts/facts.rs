//! What the receipt families say in their payloads (desk specification 12.2), reduced to what is compared.

use canon::{Digest, Value};

/// Members that a row and a signed verdict both carry and that must agree (31.10).
pub(super) const COMPARED: [&str; 10] = [
    "accepted",
    "agent_rc",
    "attempts_used",
    "feedback_into",
    "max_attempts",
    "requests_seen",
    "retry",
    "stop_reason",
    "ws_end_sha256",
    "ws_start_sha256",
];

/// What an entry is for the reconciliation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The run was opened (ours).
    Start,
    /// One attempt.
    Attempt,
    /// The verdict of a task.
    Verdict,
    /// The run is void for infrastructure reasons (ours).
    Void,
}

impl Role {
    fn of(kind: &str) -> Option<Role> {
        match kind {
            "run_start" => Some(Role::Start),
            "run_void" => Some(Role::Void),
            "ws_attempt" | "harness_attempt" | "conform_attempt" | "openwork_attempt" => Some(Role::Attempt),
            "ws_verdict" | "harness_verdict" | "conform_verdict" | "openwork_verdict" => Some(Role::Verdict),
            _ => None,
        }
    }
}

/// The facts of one receipt entry.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What it is.
    pub role: Role,
    /// `task_id`.
    pub task_id: Box<str>,
    /// The task is named by a text.
    pub named: bool,
    /// An entry of our launcher, whose runs have a closed shape.
    pub ours: bool,
    /// `tier` as written.
    pub tier: Option<Box<str>>,
    /// Whether the member `enclosure` is a measurement that gives tier B (31.20); nothing where there is none.
    pub inside: Option<bool>,
    /// What ends a task says; nothing for starts and attempts, so that a long chain stays small in memory.
    pub end: Option<Box<End>>,
}

/// What a verdict or void entry says.
#[derive(Clone, Debug)]
pub struct End {
    /// Signed values of [`COMPARED`], in its order; nothing where the member is absent.
    pub(super) compared: [Option<Value>; COMPARED.len()],
    /// Accepted, refused, or not judged.
    pub accepted: Option<bool>,
    /// `stop_reason`.
    pub stop_reason: Box<str>,
    /// Explicitly nobody measured anything.
    pub ungated: bool,
    /// `requests_seen`, when it is an integer; a boolean is no count.
    pub requests_seen: Option<i64>,
    /// `tier` as written.
    pub tier: Option<Box<str>>,
    /// Digest of the summary file.
    pub summary_sha256: Option<Digest>,
    /// Digest of the row (31.10).
    pub row_sha256: Option<Digest>,
    /// Digest of the wire index, when the conversation digest is of that kind.
    pub wire_sha256: Option<Digest>,
}

impl Facts {
    /// The facts of a payload; nothing for entries of other families.
    pub fn of(kind: &str, payload: &Value) -> Option<Facts> {
        let role = Role::of(kind)?;
        let task_id = payload.get("task_id").and_then(Value::as_str);
        let ends = matches!(role, Role::Verdict | Role::Void);
        Some(Facts {
            role,
            named: task_id.is_some(),
            task_id: task_id.unwrap_or_default().into(),
            ours: payload.get("run").and_then(Value::as_str) == Some("touchstone-run"),
            tier: payload.get("tier").and_then(Value::as_str).map(Into::into),
            inside: payload
                .get("enclosure")
                .filter(|enclosure| **enclosure != Value::Null)
                .map(|enclosure| super::tier::lacks(enclosure).is_none()),
            end: ends.then(|| Box::new(End::of(role, payload))),
        })
    }
}

impl End {
    fn of(role: Role, payload: &Value) -> End {
        let text = |member: &str| payload.get(member).and_then(Value::as_str);
        let digest = |member: &str| Digest::parse(text(member)?).ok();
        let stop_reason = text("stop_reason").unwrap_or_default();
        let is_null = payload.get("accepted_is_null").and_then(Value::as_bool) == Some(true);
        let accepted = payload.get("accepted").and_then(Value::as_bool);
        let accepted = if is_null || role == Role::Void { None } else { accepted };
        let mut compared = COMPARED.map(|member| payload.get(member).cloned());
        if payload.get("accepted").is_some() {
            compared[0] = Some(accepted.into());
        }
        let of_wire = text("conversation_digest_kind") == Some("wire_bytes");
        End {
            compared,
            accepted,
            ungated: is_null || matches!(stop_reason, "no_suite" | "ungated"),
            stop_reason: stop_reason.into(),
            requests_seen: payload.get("requests_seen").and_then(Value::as_i64),
            tier: text("tier").map(Into::into),
            summary_sha256: digest("summary_sha256"),
            row_sha256: digest("row_sha256"),
            wire_sha256: if of_wire { digest("conversation_sha256") } else { None },
        }
    }

    /// `attempts_used`, when it is an integer.
    pub(super) fn attempts_used(&self) -> Option<i64> {
        let place = COMPARED.iter().position(|member| *member == "attempts_used")?;
        self.compared[place].as_ref().and_then(Value::as_i64)
    }

    /// Whether `accepted` is what the reason means; nothing where the reason is none that we know.
    pub(super) fn agrees(&self) -> Option<bool> {
        let meant = match self.stop_reason.as_ref() {
            "visible_pass" => Some(true),
            "ungated" => None,
            "visible_fail" | "no_suite" | "attempts_exhausted" | "delivery_unfit" | "visible_unstable" => {
                Some(false)
            }
            _ => return None,
        };
        Some(meant == self.accepted)
    }
}
