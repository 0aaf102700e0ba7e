//! What happens in a run, as it happens (desk specification 29, lifecycle events). Facts only: no path of the delivery, no
//! text of a check or of the agent. Nothing of this is signed; what counts stands on the chain.

use super::attempt::Attempt;
use super::channel::semantics;
use super::payload::{Ending, Facts};
use super::record::Report;
use canon::{Digest, Object};

/// Member `schema` of every line.
pub const EVENTS_SCHEMA: &str = "touchstone.lifecycle/1";

/// What a run is busy with, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading suite and workspace, measuring the sandbox.
    Preparing,
    /// The agent runs.
    Agent,
    /// The workspace is copied and hashed.
    Freezing,
    /// The checks run.
    Checking,
    /// It is over.
    Ended,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Another phase; no line of its own.
    Phase(Phase),
    /// The run was opened.
    RunStarted {
        /// The task.
        task_id: String,
        /// `RUN-ON` or `RUN-OFF`.
        arm: &'static str,
        /// Mode of retry.
        retry: &'static str,
        /// Attempts allowed.
        max_attempts: u32,
        /// Way of the feedback.
        feedback_into: &'static str,
        /// Hash of the workspace, where the peer can represent it.
        ws_start_sha256: Option<Digest>,
    },
    /// An agent is about to be started.
    AttemptStarted {
        /// From 1.
        attempt: u32,
        /// Attempts allowed.
        max_attempts: u32,
        /// Whether the workspace was put back; nothing where the mode does not.
        reset: Option<bool>,
        /// Way of the feedback.
        feedback_delivery: &'static str,
        /// Bytes of feedback in the command.
        feedback_in_prompt_bytes: u64,
    },
    /// A call of the agent ended, and its line is on disk.
    ModelCall {
        /// From 1.
        attempt: u32,
        /// Whose upstream.
        wire: &'static str,
        /// It asked a model.
        model: bool,
        /// It was answered as ruling 15 wants it.
        succeeded: bool,
        /// It was answered on this machine.
        blocked: bool,
        /// Its whole time, in microseconds.
        elapsed_us: u64,
        /// Tokens in and out, as far as the answer states them.
        tokens: u64,
    },
    /// The agent and everything that it started are gone.
    AgentExited {
        /// From 1.
        attempt: u32,
        /// Exit code, or minus the signal.
        agent_rc: Option<i64>,
        /// It was ended at its limit.
        timed_out: bool,
        /// How long it ran.
        agent_wall_ms: u64,
        /// Something that it left running was ended.
        orphans_killed: Option<bool>,
        /// Calls of this attempt; nothing when they are not recorded.
        requests_seen: Option<u64>,
        /// No call was open any more.
        wire_quiesced: Option<bool>,
    },
    /// The checks ran.
    GateRan {
        /// From 1.
        attempt: u32,
        /// All passed.
        passed: bool,
        /// Cases passed, where they were measured.
        n_passed: Option<u64>,
        /// Cases counted.
        n_tests: Option<u64>,
        /// Digest of the result.
        verdict_sha256: Option<Digest>,
    },
    /// What the next attempt is told.
    FeedbackReady {
        /// The attempt that it is about.
        attempt: u32,
        /// Way of the feedback.
        feedback_delivery: &'static str,
        /// Length of the text.
        feedback_bytes: u64,
        /// Its digest.
        feedback_sha256: Digest,
    },
    /// It is over, and what ends the chain is on disk.
    RunEnded {
        /// The closed reason.
        stop_reason: &'static str,
        /// Accepted, refused, or not judged.
        accepted: Option<bool>,
        /// Void for infrastructure reasons.
        void: bool,
        /// Attempts made.
        attempts_used: i64,
        /// Hash of the last tree that was frozen.
        ws_end_sha256: Option<Digest>,
        /// Digest of the last result.
        verdict_sha256: Option<Digest>,
        /// Head of the chain; nothing in the arm that has none.
        verdict_hash: Option<Digest>,
        /// Calls of the run; nothing when they were not recorded.
        requests_seen: Option<u64>,
        /// Whether their number is exact.
        count_semantics: Option<&'static str>,
        /// Exit code of the command.
        exit_code: u8,
    },
}

impl Event {
    pub(super) fn run_started(facts: &Facts) -> Event {
        Event::RunStarted {
            task_id: facts.task_id.clone(),
            arm: facts.arm,
            retry: facts.plan.retry.word(),
            max_attempts: facts.plan.max_attempts,
            feedback_into: facts.plan.into.word(),
            ws_start_sha256: facts.start.peer,
        }
    }

    pub(super) fn attempt_started(facts: &Facts, attempt: &Attempt) -> Event {
        let resets = facts.plan.retry == super::Retry::Resample && attempt.number > 1;
        Event::AttemptStarted {
            attempt: attempt.number,
            max_attempts: facts.plan.max_attempts,
            reset: resets.then_some(true),
            feedback_delivery: facts.plan.into.word(),
            feedback_in_prompt_bytes: attempt.feedback_in_prompt_bytes,
        }
    }

    pub(super) fn model_call(attempt: u32, call: &super::channel::Call) -> Event {
        let (wire, model, succeeded) = (call.wire, call.model, call.succeeded);
        let (blocked, elapsed_us, tokens) = (call.blocked, call.elapsed_us, call.tokens);
        Event::ModelCall { attempt, wire, model, succeeded, blocked, elapsed_us, tokens }
    }

    /// Nothing when the agent never started.
    pub(super) fn agent_exited(attempt: &Attempt) -> Option<Event> {
        let agent = attempt.agent.as_ref()?;
        Some(Event::AgentExited {
            attempt: attempt.number,
            agent_rc: agent.rc,
            timed_out: agent.timed_out,
            agent_wall_ms: agent.wall_ms,
            orphans_killed: agent.orphans_killed,
            requests_seen: attempt.traffic.map(|traffic| traffic.requests_seen),
            wire_quiesced: attempt.traffic.map(|traffic| traffic.quiesced),
        })
    }

    /// Nothing when no check ran.
    pub(super) fn gate_ran(attempt: &Attempt) -> Option<Event> {
        let judgement = attempt.judgement.as_ref()?;
        Some(Event::GateRan {
            attempt: attempt.number,
            passed: attempt.stop.accepted() == Some(true),
            n_passed: judgement.passed,
            n_tests: judgement.total,
            verdict_sha256: judgement.result_sha256,
        })
    }

    pub(super) fn run_ended(facts: &Facts, ending: &Ending, report: &Report) -> Event {
        Event::RunEnded {
            stop_reason: ending.stop.code(),
            accepted: ending.stop.accepted(),
            void: ending.stop.is_void(),
            attempts_used: report.attempts_used,
            ws_end_sha256: facts.end().and_then(|end| end.peer),
            verdict_sha256: facts.result_sha256(ending),
            verdict_hash: report.head,
            requests_seen: facts.requests_seen(),
            count_semantics: facts.recorded.as_ref().map(|recorded| semantics(recorded.exact)),
            exit_code: report.exit_code,
        }
    }

    /// Members of the line, from `type` on; nothing for what has none. Names are the peer's where it has them. Null is
    /// "not measured".
    pub fn members(&self) -> Option<Object> {
        let of = |kind: &str| Object::new().with("type", kind);
        Some(match self {
            Event::Phase(_) => return None,
            Event::RunStarted { task_id, arm, retry, max_attempts, feedback_into, ws_start_sha256 } => {
                of("run_started")
                    .with("task_id", task_id.as_str())
                    .with("arm", *arm)
                    .with("vacant", i64::from(*arm == "RUN-ON"))
                    .with("retry", *retry)
                    .with("max_attempts", i64::from(*max_attempts))
                    .with("feedback_into", *feedback_into)
                    .with("ws_start_sha256", *ws_start_sha256)
            }
            Event::AttemptStarted {
                attempt,
                max_attempts,
                reset,
                feedback_delivery,
                feedback_in_prompt_bytes,
            } => of("attempt_started")
                .with("attempt", i64::from(*attempt))
                .with("max_attempts", i64::from(*max_attempts))
                .with("reset", *reset)
                .with("feedback_delivery", *feedback_delivery)
                .with("feedback_in_prompt_bytes", *feedback_in_prompt_bytes),
            Event::ModelCall { attempt, wire, model, succeeded, blocked, elapsed_us, tokens } => {
                of("model_call")
                    .with("attempt", i64::from(*attempt))
                    .with("wire", *wire)
                    .with("model", *model)
                    .with("succeeded", *succeeded)
                    .with("blocked", *blocked)
                    .with("elapsed_us", *elapsed_us)
                    .with("tokens", *tokens)
            }
            Event::AgentExited {
                attempt,
                agent_rc,
                timed_out,
                agent_wall_ms,
                orphans_killed,
                requests_seen,
                wire_quiesced,
            } => of("agent_exited")
                .with("attempt", i64::from(*attempt))
                .with("agent_rc", *agent_rc)
                .with("timed_out", *timed_out)
                .with("agent_wall_ms", *agent_wall_ms)
                .with("orphans_killed", *orphans_killed)
                .with("requests_seen", *requests_seen)
                .with("wire_quiesced", *wire_quiesced),
            Event::GateRan { attempt, passed, n_passed, n_tests, verdict_sha256 } => of("gate_ran")
                .with("attempt", i64::from(*attempt))
                .with("passed", *passed)
                .with("n_passed", *n_passed)
                .with("n_tests", *n_tests)
                .with("verdict_sha256", *verdict_sha256),
            Event::FeedbackReady { attempt, feedback_delivery, feedback_bytes, feedback_sha256 } => {
                of("feedback_ready")
                    .with("attempt", i64::from(*attempt))
                    .with("feedback_delivery", *feedback_delivery)
                    .with("feedback_bytes", *feedback_bytes)
                    .with("feedback_sha256", *feedback_sha256)
            }
            Event::RunEnded { .. } => self.ended_members(of("run_ended")),
        })
    }

    fn ended_members(&self, object: Object) -> Object {
        let Event::RunEnded {
            stop_reason,
            accepted,
            void,
            attempts_used,
            ws_end_sha256,
            verdict_sha256,
            verdict_hash,
            requests_seen,
            count_semantics,
            exit_code,
        } = self
        else {
            return object;
        };
        object
            .with("stop_reason", *stop_reason)
            .with("accepted", *accepted)
            .with("refused", if *void { None } else { Some(*accepted == Some(false)) })
            .with("infra_void", void.then_some(*stop_reason))
            .with("attempts_used", *attempts_used)
            .with("requests_seen", *requests_seen)
            .with("count_semantics", *count_semantics)
            .with("ws_end_sha256", *ws_end_sha256)
            .with("verdict_sha256", *verdict_sha256)
            .with("has_receipt", verdict_hash.is_some())
            .with("verdict_hash", *verdict_hash)
            .with("exit_code", i64::from(*exit_code))
    }
}
