//! How a call ended, by ruling 15: a closed list, and one function that decides.

use crate::answer::{Kind, Reading};
use crate::protocol::Class;

canon::codes! {
    /// How a call ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Outcome {
        /// Status 2xx, the body complete by its own framing, without an error in it, and a stream ended by its protocol's
        /// end. Only this, of class model, saves a run from VOID.
        Succeeded = "wire_succeeded",
        /// The upstream answered with another status.
        Refused = "wire_refused_by_upstream",
        /// Status 2xx with a document that carries an error (PC-25).
        ErrorInBody = "wire_error_in_body",
        /// Status 2xx and an error among the events (PC-25).
        ErrorInStream = "wire_error_in_stream",
        /// The stream was complete by its framing and lacks its protocol's end.
        StreamNotEnded = "wire_stream_not_ended",
        /// Whether the answer is complete cannot be known: it ended with the connection, its coding is not readable, or
        /// the connection was given to another protocol.
        Unknown = "wire_completeness_unknown",
        /// The agent hung up (PC-28).
        EndedByAgent = "wire_ended_by_agent",
        /// The upstream broke off in the middle of its answer.
        CutByUpstream = "wire_cut_by_upstream",
        /// No answer came.
        NoAnswer = "wire_no_answer",
        /// Answered here; nothing was sent.
        Blocked = "wire_blocked",
        /// Still open when the proxy was stopped (PC-26).
        OpenAtEnd = "wire_open_at_end",
        /// It could not be written down, and was ended for that.
        NotRecorded = "wire_not_recorded",
    }
}

canon::codes! {
    /// Member `error` of the index: what went wrong, more closely.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CallError {
        /// Nobody named an upstream for this wire (14.3).
        Sink = "unspecified_upstream_sink",
        /// The path policy `model` refuses the path (14.2).
        NonModelPath = "non_model_path",
        /// The request is no HTTP/1.1.
        HeadMalformed = "wire_head_malformed",
        /// Its head is too long.
        HeadTooLarge = "wire_head_too_large",
        /// Where its body ends can be read in two ways (PC-35).
        FramingAmbiguous = "wire_framing_ambiguous",
        /// A method that is not passed on.
        Method = "wire_method_refused",
        /// A version that is not 1.1.
        Version = "wire_version_refused",
        /// A target that is no path.
        Target = "wire_target_refused",
        /// More calls than allowed.
        CallLimit = "wire_call_limit",
        /// More bytes than allowed.
        ByteLimit = "wire_byte_limit",
        /// No WebSocket here.
        Upgrade = "wire_upgrade_refused",
        /// The proxy is being stopped.
        Stopped = "wire_stopped",
        /// The body of the request breaks the chunked coding.
        RequestMalformed = "wire_request_malformed",
        /// The agent hung up before its request was complete.
        RequestCut = "wire_request_cut",
        /// The name of the upstream has no address.
        UpstreamName = "wire_upstream_name",
        /// No connection to the upstream.
        UpstreamConnect = "wire_upstream_connect",
        /// No TLS with the upstream.
        UpstreamTls = "wire_upstream_tls",
        /// The upstream closed before it answered.
        UpstreamClosed = "wire_upstream_closed",
        /// The upstream's answer is no HTTP, or its framing can be read in two ways.
        UpstreamMalformed = "wire_upstream_malformed",
        /// The upstream broke off.
        UpstreamCut = "wire_upstream_cut",
        /// A body could not be stored.
        NotStored = "wire_not_stored",
        /// The upstream repeated the real key: the answer was ended before it.
        KeyInAnswer = "wire_key_in_answer",
    }
}

/// How the body of an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By its own framing.
    Complete,
    /// With the connection, which says nothing.
    Closed,
    /// The other side broke off, or never answered.
    Upstream,
    /// The agent hung up.
    Agent,
    /// The proxy was stopped.
    Stop,
    /// It could not be stored.
    Store,
}

/// What is known of a call at its end.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Its class.
    pub class: Class,
    /// Answered here.
    pub blocked: bool,
    /// Status of the upstream's answer; 0 without one.
    pub status: u16,
    /// How the answer ended.
    pub end: End,
    /// What it says.
    pub reading: &'a Reading,
}

impl Facts<'_> {
    /// The outcome (ruling 15).
    pub fn outcome(&self) -> Outcome {
        let ok = (200..300).contains(&self.status);
        match self.end {
            End::Store => Outcome::NotRecorded,
            _ if self.blocked => Outcome::Blocked,
            End::Stop => Outcome::OpenAtEnd,
            End::Agent => Outcome::EndedByAgent,
            End::Upstream if self.status == 0 => Outcome::NoAnswer,
            End::Upstream => Outcome::CutByUpstream,
            End::Complete | End::Closed if self.status == 101 => Outcome::Unknown,
            End::Complete | End::Closed if !ok => Outcome::Refused,
            End::Complete | End::Closed => self.read(),
        }
    }

    /// The outcome of an answer with status 2xx that was not cut.
    fn read(&self) -> Outcome {
        let stream = self.reading.kind == Kind::Stream;
        match self.reading {
            reading if reading.error => {
                if stream {
                    Outcome::ErrorInStream
                } else {
                    Outcome::ErrorInBody
                }
            }
            _ if self.end == End::Closed => Outcome::Unknown,
            reading if stream && self.class == Class::Model && !reading.ended => {
                if reading.readable {
                    Outcome::StreamNotEnded
                } else {
                    Outcome::Unknown
                }
            }
            _ => Outcome::Succeeded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Usage;

    fn outcome(class: Class, status: u16, end: End, change: impl FnOnce(&mut Reading)) -> Outcome {
        let mut reading = Reading {
            kind: Kind::Document,
            readable: true,
            ended: false,
            error: false,
            model: None,
            usage: Usage::default(),
        };
        change(&mut reading);
        Facts { class, blocked: false, status, end, reading: &reading }.outcome()
    }

    #[test]
    fn ruling_15_line_by_line() {
        let model = |status, end, change: fn(&mut Reading)| outcome(Class::Model, status, end, change);
        let ended = |reading: &mut Reading| (reading.kind, reading.ended) = (Kind::Stream, true);
        let open = |reading: &mut Reading| reading.kind = Kind::Stream;
        assert_eq!(model(200, End::Complete, |_| ()), Outcome::Succeeded);
        assert_eq!(model(200, End::Complete, ended), Outcome::Succeeded);
        assert_eq!(model(200, End::Complete, open), Outcome::StreamNotEnded);
        assert_eq!(
            model(200, End::Complete, |r| (r.kind, r.readable) = (Kind::Stream, false)),
            Outcome::Unknown
        );
        assert_eq!(model(200, End::Complete, |r| r.error = true), Outcome::ErrorInBody);
        let error =
            |reading: &mut Reading| (reading.kind, reading.ended, reading.error) = (Kind::Stream, true, true);
        assert_eq!(model(200, End::Complete, error), Outcome::ErrorInStream);
        assert_eq!(model(200, End::Closed, ended), Outcome::Unknown);
        assert_eq!(model(200, End::Closed, |r| r.error = true), Outcome::ErrorInBody);
        assert_eq!(model(101, End::Complete, ended), Outcome::Unknown);
        assert_eq!(model(429, End::Complete, |_| ()), Outcome::Refused);
        assert_eq!(model(302, End::Closed, |_| ()), Outcome::Refused);
        assert_eq!(model(200, End::Upstream, ended), Outcome::CutByUpstream);
        assert_eq!(model(0, End::Upstream, |_| ()), Outcome::NoAnswer);
        assert_eq!(model(200, End::Agent, ended), Outcome::EndedByAgent);
        assert_eq!(model(200, End::Stop, ended), Outcome::OpenAtEnd);
        assert_eq!(model(200, End::Store, ended), Outcome::NotRecorded);
        assert_eq!(outcome(Class::Other, 200, End::Complete, open), Outcome::Succeeded);
    }
}
