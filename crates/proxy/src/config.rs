//! What a proxy is started with, and why it may not start.

use crate::Secret;
use crate::target::Target;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use wire::{Row, Wire};

/// Everything that a proxy needs.
pub struct Config {
    /// `wire_<ARM>`: made fresh, an existing one is refused.
    pub folder: PathBuf,
    /// Arm of the run.
    pub mode: wire::Mode,
    /// Port on the loopback address; 0 for any free one.
    pub port: u16,
    /// A second door for an enclosure without network: a path socket, mode 0600.
    pub socket: Option<PathBuf>,
    /// Who is asked about a token that is shown at the second door, `KNOCK <token>`: the desk's probe inside an
    /// enclosure. A token that it knows is answered and is no call.
    pub knock: Option<Knock>,
    /// Where the wires go.
    pub upstreams: Upstreams,
    /// Their real keys.
    pub keys: Keys,
    /// What the agent was given in place of every key.
    pub sentinel: String,
    /// Which paths are passed on.
    pub policy: PathPolicy,
    /// What is done with a request for a WebSocket.
    pub upgrades: Upgrades,
    /// Bounds of the run.
    pub limits: Limits,
    /// Certificates (DER) of authorities that are trusted beside the public ones.
    pub roots: Vec<Vec<u8>>,
    /// Called for each event, from threads of the proxy. It must not block.
    pub watch: Option<Watch>,
}

/// See [`Config::watch`].
pub type Watch = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// See [`Config::knock`]: whether the token is one of ours. It must not block.
pub type Knock = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A call began.
    Begun {
        /// Its id.
        call_id: &'a str,
        /// Whose upstream.
        wire: Wire,
        /// Its target, without real keys.
        path: &'a str,
    },
    /// A call ended, and its line is on disk.
    Ended(&'a Row),
    /// Something could not be written down.
    Fault(&'a Fault),
}

/// Where each wire goes.
#[derive(Clone, Debug, Default)]
pub struct Upstreams {
    /// OpenAI and everything that speaks like it.
    pub openai: Upstream,
    /// Anthropic.
    pub anthropic: Upstream,
    /// Ollama.
    pub ollama: Upstream,
    /// Gemini.
    pub gemini: Upstream,
    /// `--allow-public-upstream`: a wire that nobody named goes to the provider's public address. Ollama has none.
    pub allow_public: bool,
}

/// Where one wire goes.
#[derive(Clone, Debug, Default)]
pub enum Upstream {
    /// To a base URL, `http` or `https`, with or without a path, without user, query or fragment.
    Named {
        /// The URL.
        url: String,
    },
    /// Nobody named it: calls are answered here, without a connection and without a name being looked up (14.3).
    #[default]
    Sink,
}

impl Upstreams {
    pub(crate) fn of(&self, wire: Wire) -> Option<&str> {
        let (upstream, public) = match wire {
            Wire::Openai => (&self.openai, Some("https://api.openai.com")),
            Wire::Anthropic => (&self.anthropic, Some("https://api.anthropic.com")),
            Wire::Ollama => (&self.ollama, None),
            Wire::Gemini => (&self.gemini, Some("https://generativelanguage.googleapis.com")),
        };
        match upstream {
            Upstream::Named { url } => Some(url),
            Upstream::Sink => public.filter(|_| self.allow_public),
        }
    }
}

/// The real key of each wire, where there is one.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// `Authorization: Bearer`
    pub openai: Option<Secret>,
    /// `x-api-key`
    pub anthropic: Option<Secret>,
    /// `Authorization: Bearer`
    pub ollama: Option<Secret>,
    /// `x-goog-api-key`
    pub gemini: Option<Secret>,
}

impl Keys {
    pub(crate) fn of(&self, wire: Wire) -> Option<&Secret> {
        match wire {
            Wire::Openai => self.openai.as_ref(),
            Wire::Anthropic => self.anthropic.as_ref(),
            Wire::Ollama => self.ollama.as_ref(),
            Wire::Gemini => self.gemini.as_ref(),
        }
    }
}

/// Which paths are passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathPolicy {
    /// All.
    #[default]
    Any,
    /// Those of models; others are answered with 403 (14.2).
    Model,
}

/// What is done with a request for a WebSocket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upgrades {
    /// It is relayed with a log of frames; answered with 426 when the upstream has none. Frames say nothing that
    /// ruling 15 could count: such a call is never a success.
    Relay,
    /// It is answered with 426 at once: clients that can do without fall back to calls that count.
    #[default]
    Refuse,
}

/// Bounds of a run; calls beyond them are answered with 429. A call that has begun is never cut for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most calls.
    pub calls: Option<u64>,
    /// Most bytes of all bodies.
    pub bytes: Option<u64>,
}

canon::codes! {
    /// What could not be written down. The run is told: its record is not whole.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FaultKind {
        /// A body, or a part of one.
        Body = "wire_body_not_stored",
        /// A line of the index. Nothing is passed on after that.
        Index = "wire_index_not_written",
    }
}

/// Something that could not be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which call.
    pub call_id: String,
    /// What of it.
    pub kind: FaultKind,
    /// What the system said.
    pub why: String,
}

/// Why a proxy did not start.
#[derive(Debug)]
pub enum StartError {
    /// The folder exists or cannot be made.
    Folder(std::io::Error),
    /// The port is taken or may not be used.
    Port(std::io::Error),
    /// The socket cannot be made, or something that is no socket lies there.
    Socket(std::io::Error),
    /// An upstream is no URL that can be used.
    Upstream(Wire),
    /// A key cannot stand in a header.
    Key(Wire),
    /// A certificate cannot be read.
    Roots,
    /// No threads.
    Threads(std::io::Error),
}

canon::codes! {
    impl StartError: &self {
        StartError::Folder(_) => "wire_folder_unusable",
        StartError::Port(_) => "wire_port_unusable",
        StartError::Socket(_) => "wire_socket_unusable",
        StartError::Upstream(_) => "wire_upstream_unusable",
        StartError::Key(_) => "wire_key_unusable",
        StartError::Roots => "wire_roots_unusable",
        StartError::Threads(_) => "wire_threads_unusable",
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Folder(error)
            | StartError::Port(error)
            | StartError::Socket(error)
            | StartError::Threads(error) => write!(f, "{}: {error}", self.code()),
            StartError::Upstream(wire) | StartError::Key(wire) => {
                write!(f, "{}: {}", self.code(), wire.code())
            }
            StartError::Roots => f.write_str(self.code()),
        }
    }
}

impl std::error::Error for StartError {}

/// Upstreams as they are used.
pub(crate) struct Targets(Vec<(Wire, Option<Target>)>);

impl Targets {
    pub(crate) fn of(&self, wire: Wire) -> Option<&Target> {
        self.0.iter().find(|(of, _)| *of == wire).and_then(|(_, target)| target.as_ref())
    }
}

impl Config {
    /// Reads the URLs and looks at the keys.
    pub(crate) fn targets(&self) -> Result<Targets, StartError> {
        let mut targets = Vec::new();
        for wire in Wire::ALL.iter().copied() {
            let target = match self.upstreams.of(wire) {
                Some(url) => Some(Target::parse(url).ok_or(StartError::Upstream(wire))?),
                None => None,
            };
            if self.keys.of(wire).is_some_and(|key| !key.fits_a_header()) {
                return Err(StartError::Key(wire));
            }
            targets.push((wire, target));
        }
        Ok(Targets(targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_only_where_they_are_allowed() {
        let mut upstreams = Upstreams::default();
        assert!(Wire::ALL.iter().all(|wire| upstreams.of(*wire).is_none()), "nobody named one");
        upstreams.allow_public = true;
        upstreams.openai = Upstream::Named { url: "http://own".to_owned() };
        let of: Vec<_> = Wire::ALL.iter().map(|wire| upstreams.of(*wire)).collect();
        let google = Some("https://generativelanguage.googleapis.com");
        assert_eq!(of, [Some("http://own"), Some("https://api.anthropic.com"), None, google]);
    }
}
