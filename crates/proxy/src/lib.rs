//! The recording proxy: passes model calls on byte for byte and writes down what passed (desk specification 14).
//!
//! Shell ring. What bytes mean is decided by `wire`; here they are moved, hashed and stored as they pass. Each piece of
//! a body is on disk before it goes on, no body is ever held whole, and the line of a call is on disk before the call
//! counts as finished. The runtime of the sockets lives inside [`Proxy`]; the rest of the program stays synchronous.

mod body;
mod call;
mod config;
mod connection;
mod doors;
mod download;
mod exchange;
mod head;
mod http2;
mod local;
mod secret;
mod shared;
mod store;
mod stream;
mod target;
mod upload;
mod upstream;
mod websocket;

pub use config::{
    Config, Event, Fault, FaultKind, Keys, Knock, Limits, PathPolicy, StartError, Upgrades, Upstream,
    Upstreams, Watch,
};
pub use secret::Secret;

use canon::Digest;
use shared::{Phase, Shared};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use wire::{Counts, Row};

/// Lines that may wait for the disk; then calls wait.
const ROWS_WAITING: usize = 1024;
/// How long a cut call may take to be written down.
const CUT_MAX: Duration = Duration::from_secs(10);

/// A proxy that runs.
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    runtime: Runtime,
    rows: mpsc::Sender<Row>,
    index: JoinHandle<(u64, Digest)>,
    socket: Option<doors::SocketFile>,
}

/// What a proxy leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Calls by class and outcome.
    pub counts: Counts,
    /// Digest of the index: pairs of request and answer in the order of its lines.
    pub digest: Digest,
    /// Length and digest of the index file as it was written, whatever lies there now; nothing when that is not known.
    pub index: Option<(u64, Digest)>,
    /// Lines of the index.
    pub rows_n: u64,
    /// Files of requests; another number than `rows_n` says that the record is not whole.
    pub blobs_n: u64,
    /// Calls that began and have no line. Their number makes the counts a lower bound.
    pub unindexed_n: u64,
    /// What could not be written down.
    pub faults: Vec<Fault>,
}

impl Proxy {
    /// Makes the folder, opens the doors and takes calls.
    pub fn start(config: Config) -> Result<Proxy, StartError> {
        let targets = config.targets()?;
        let tls = upstream::tls(&config)?;
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 8));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("proxy")
            .enable_io()
            .enable_time()
            .build()
            .map_err(StartError::Threads)?;
        let doors = runtime.block_on(doors::Doors::open(&config))?;
        // Bodies are the business of this user only.
        std::fs::DirBuilder::new().mode(0o700).create(&config.folder).map_err(StartError::Folder)?;
        let index = store::Index::create(&config.folder).map_err(StartError::Folder)?;
        let (rows, lines) = mpsc::channel(ROWS_WAITING);
        let shared = Arc::new(Shared::new(config, targets, tls));
        let address = doors.address;
        let keeper = Arc::clone(&shared);
        let index = std::thread::Builder::new()
            .name("proxy index".to_owned())
            .spawn(move || store::keep_index(&keeper, index, lines))
            .map_err(StartError::Threads)?;
        let socket = doors.serve(&runtime, &shared, &rows);
        Ok(Proxy { shared, address, runtime, rows, index, socket })
    }

    /// Where it listens: a port of the loopback address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts over the calls whose lines are on disk.
    pub fn counts(&self) -> Counts {
        self.shared.book().counts.clone()
    }

    /// Digest of the index so far.
    pub fn digest(&self) -> Digest {
        wire::digest(&self.shared.book().pairs)
    }

    /// The agent has ended: new calls are refused and recorded, calls that nobody waits for are cut, the others have
    /// `grace` to end. True when no call is open any more.
    pub fn quiesce(&self, grace: Duration) -> bool {
        self.shared.phase.send_replace(Phase::Quiet);
        self.drained(grace)
    }

    /// Takes calls again, for the next attempt.
    pub fn resume(&self) {
        self.shared.phase.send_replace(Phase::Open);
    }

    fn drained(&self, grace: Duration) -> bool {
        let until = Instant::now() + grace;
        let mut book = self.shared.book();
        while book.open > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.closed.wait_timeout(book, left);
            book = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        true
    }

    /// Cuts what still runs, closes the doors, and gives what is on disk.
    pub fn stop(self) -> Ended {
        self.shared.phase.send_replace(Phase::Stopped);
        self.drained(CUT_MAX);
        let Proxy { shared, runtime, rows, index, socket, .. } = self;
        runtime.shutdown_timeout(CUT_MAX);
        drop(rows);
        // A thread that panicked left its calls open: they are counted as without a line.
        let index = index.join().ok();
        drop(socket);
        let blobs_n = std::fs::read_dir(&shared.config.folder).map_or(0, |entries| {
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            names.filter(|name| name.ends_with(".req.bin")).count() as u64
        });
        let book = shared.book();
        Ended {
            counts: book.counts.clone(),
            digest: wire::digest(&book.pairs),
            index,
            rows_n: book.pairs.len() as u64,
            blobs_n,
            unindexed_n: book.open + book.lost,
            faults: book.faults.clone(),
        }
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proxy {{ address: {} }}", self.address)
    }
}
