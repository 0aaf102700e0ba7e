//! The model channel of a run: a recording proxy of its own, and what it counted (desk specification 14, 31.10, 31.11).

use super::folder::Folder;
use super::options::Options;
use crate::agents::environment::{self, Door, Variables};
use crate::keydir;
use crate::sandbox::enclosure::{Knocks, SECOND_DOOR};
use canon::{Digest, Object, Value, hex};
use proxy::{Config, Event, Keys, Limits, PathPolicy, Proxy, Secret, Upgrades, Upstream, Upstreams};
use rustix::fs::{Mode as FileMode, OFlags};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use wire::{Class, Counts, Mode, Outcome, Row, Wire};

/// How long calls that are open when the agent has ended may take (10.3d).
const QUIESCE: Duration = Duration::from_secs(10);

/// A proxy that runs.
pub(super) struct Channel {
    proxy: Proxy,
    pub(super) door: Door,
    /// Holds the socket that is the way out of an enclosure.
    second: Option<tempfile::TempDir>,
    pub(super) knocks: Knocks,
    folder: PathBuf,
    upstreams: Value,
    calls: Receiver<Call>,
    seen: u64,
    quiesced: bool,
}

/// A call that ended, as events tell it.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) wire: &'static str,
    pub(super) model: bool,
    pub(super) succeeded: bool,
    pub(super) blocked: bool,
    pub(super) elapsed_us: u64,
    /// Tokens in and out, as far as the answer states them.
    pub(super) tokens: u64,
}

/// What passed in one attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    /// Calls of this attempt.
    pub(super) requests_seen: u64,
    /// Digest of the index so far, all attempts.
    pub(super) digest: Digest,
    /// No call was open when the workspace was frozen.
    pub(super) quiesced: bool,
}

/// What a proxy left.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) counts: Counts,
    pub(super) digest: Digest,
    /// Every call has its line and its bodies, and none was open at the end.
    pub(super) exact: bool,
    pub(super) quiesced: bool,
    /// For the summary.
    pub(super) told: Value,
    /// The index as it lies on disk; nothing when somebody else wrote there.
    pub(super) index: Option<Vec<u8>>,
}

impl Channel {
    /// Starts the proxy of a run. An error is why the run cannot be recorded.
    pub(super) fn start(options: &Options, folder: &mut Folder) -> Result<Channel, String> {
        let given: Variables = std::env::vars_os().collect();
        let random = keydir::random::<16>().map_err(|error| error.to_string())?;
        let sentinel = format!("vacant-run-{}", hex(&*random));
        let name = wire_name(folder.arm);
        folder.knows(name.clone());
        let allow_public = options.allow_public_upstream || environment::allows_public(&given);
        let (upstreams, told) = upstreams(&given, allow_public);
        let (sender, calls) = channel();
        let knocks = Knocks::default();
        let second = match options.enclose {
            true => Some(private_folder().map_err(|error| format!("folder of the second door: {error}"))?),
            false => None,
        };
        let config = Config {
            folder: folder.file(&name),
            mode: if options.gated { Mode::Act } else { Mode::Tee },
            port: options.port,
            socket: second.as_ref().map(|folder| folder.path().join(SECOND_DOOR)),
            knock: second.as_ref().map(|_| {
                let knocks = knocks.clone();
                Arc::new(move |token: &[u8]| knocks.shown(token)) as proxy::Knock
            }),
            upstreams,
            keys: keys(&given),
            sentinel: sentinel.clone(),
            // 14.2: behind an enclosure only what models are used through.
            policy: if options.enclose { PathPolicy::Model } else { PathPolicy::Any },
            upgrades: Upgrades::Refuse,
            limits: Limits { calls: options.max_calls, bytes: options.max_bytes },
            roots: Vec::new(),
            watch: Some(Arc::new(move |event| {
                if let Event::Ended(row) = event {
                    // Nobody listens any more at the end of the run.
                    let _ = sender.send(Call::of(row));
                }
            })),
        };
        let path = config.folder.clone();
        let proxy = Proxy::start(config).map_err(|error| error.to_string())?;
        let door = Door { base: format!("http://{}", proxy.address()), sentinel };
        let upstreams = told;
        Ok(Channel { proxy, door, second, knocks, folder: path, upstreams, calls, seen: 0, quiesced: true })
    }

    /// The folder of the socket for an enclosure, and the port of the first door.
    pub(super) fn second_door(&self) -> Option<(&Path, u16)> {
        Some((self.second.as_ref()?.path(), self.proxy.address().port()))
    }

    /// Takes calls for another attempt.
    pub(super) fn resume(&self) {
        self.proxy.resume();
    }

    /// Calls that ended since somebody asked.
    pub(super) fn ended(&self) -> impl Iterator<Item = Call> + '_ {
        self.calls.try_iter()
    }

    /// The agent is gone: waits for what is still open.
    pub(super) fn quiesce(&mut self) -> Traffic {
        self.quiesced = self.proxy.quiesce(QUIESCE);
        let all = self.proxy.counts().requests_seen();
        let requests_seen = all - self.seen;
        self.seen = all;
        Traffic { requests_seen, digest: self.proxy.digest(), quiesced: self.quiesced }
    }

    /// Ends the proxy and reads what it left.
    pub(super) fn stop(self) -> Recorded {
        let Channel { proxy, folder, upstreams, quiesced, .. } = self;
        let ended = proxy.stop();
        let whole = ended.faults.is_empty() && ended.unindexed_n == 0 && ended.rows_n == ended.blobs_n;
        let exact = quiesced && whole;
        let faults = ended.faults.iter().map(|fault| Value::from(fault.kind.code()));
        let told = Object::new()
            .with("upstreams", upstreams)
            .with("counts", ended.counts.value())
            .with("requests_indexed", ended.rows_n)
            .with("request_blobs_persisted", ended.blobs_n)
            .with("unindexed_requests", ended.unindexed_n)
            .with("wire_quiesced", quiesced)
            .with("count_semantics", semantics(exact))
            .with("faults", Value::Array(faults.collect()))
            .into();
        // It lies where the agent could have written: what is signed is what the proxy wrote, or nothing.
        let path = folder.join("index.jsonl");
        let index = ended.index.and_then(|written| as_written(&path, written));
        if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
            // A verifier reads regular files only; what is no index is kept beside it.
            let _ = std::fs::rename(&path, folder.join("index.jsonl.replaced"));
        }
        Recorded { counts: ended.counts, digest: ended.digest, exact, quiesced, told, index }
    }
}

/// 12.1.
pub(super) fn semantics(exact: bool) -> &'static str {
    if exact { "exact" } else { "lower_bound" }
}

/// A folder that only this user can look into.
fn private_folder() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("touchstone-door-").tempdir()
}

/// The folder of the record.
pub(super) fn wire_name(arm: &str) -> String {
    format!("wire_{arm}")
}

/// The bytes of a file that is still what was written. No link is followed, nothing but a regular file of that length is
/// read: a pipe would wait for ever, a device would never end.
fn as_written(path: &Path, (bytes_n, digest): (u64, Digest)) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, FileMode::empty()).ok()?);
    let is = file.metadata().ok()?;
    if !is.is_file() || is.len() != bytes_n {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(bytes_n.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (Digest::of(&bytes) == digest).then_some(bytes)
}

impl Call {
    fn of(row: &Row) -> Call {
        Call {
            wire: row.wire.code(),
            model: row.class == Class::Model,
            succeeded: row.outcome == Outcome::Succeeded,
            blocked: row.blocked,
            elapsed_us: row.elapsed_us,
            tokens: row.usage.input.unwrap_or(0).saturating_add(row.usage.output.unwrap_or(0)),
        }
    }
}

/// Where each wire goes, and the same for the summary: the address, and the variable that named it.
fn upstreams(given: &Variables, allow_public: bool) -> (Upstreams, Value) {
    let mut told = Object::new();
    let mut of = |wire: Wire| {
        let found = environment::upstream(given, wire);
        let url = found.as_ref().map(|found| found.value.to_string_lossy().into_owned());
        let source = found.as_ref().map(|found| found.source);
        let entry = Object::new().with("url", url.as_deref()).with("source", source);
        told.set(wire.code(), entry.with("sink", url.is_none() && !allow_public));
        url.map_or(Upstream::Sink, |url| Upstream::Named { url })
    };
    let [openai, anthropic, ollama, gemini] =
        [Wire::Openai, Wire::Anthropic, Wire::Ollama, Wire::Gemini].map(&mut of);
    (Upstreams { openai, anthropic, ollama, gemini, allow_public }, told.into())
}

fn keys(given: &Variables) -> Keys {
    let of = |wire| environment::key(given, wire).map(|found| Secret::new(found.value.as_bytes()));
    Keys {
        openai: of(Wire::Openai),
        anthropic: of(Wire::Anthropic),
        ollama: of(Wire::Ollama),
        gemini: of(Wire::Gemini),
    }
}

/// Whether the user named an upstream of any wire.
pub fn upstream_is_named() -> bool {
    let given: Variables = std::env::vars_os().collect();
    Wire::ALL.iter().any(|wire| environment::upstream(&given, *wire).is_some())
}

/// The index below a run directory.
pub(super) fn index_name(arm: &str) -> String {
    let name = wire_name(arm);
    Path::new(&name).join("index.jsonl").to_string_lossy().into_owned()
}
