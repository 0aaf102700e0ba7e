//! A proxy in a folder, an upstream that follows a script, a client that says what it read.

use canon::Reader;
use proxy::{Config, Ended, FaultKind, Keys, Limits, PathPolicy, Proxy, Upgrades, Upstream, Upstreams};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wire::{Mode, Row};

/// Long enough for any machine; a test that waits so long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An upstream: each connection is handed to the script in a thread of its own.
pub struct Server {
    pub address: SocketAddr,
}

impl Server {
    pub fn new(script: impl Fn(TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(script);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                patient(&stream);
                let script = Arc::clone(&script);
                std::thread::spawn(move || script(stream));
            }
        });
        Server { address }
    }

    /// One that answers every request with the same bytes.
    pub fn answering(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::new(move |mut stream| {
            while read_request(&mut stream).is_some() {
                if stream.write_all(&answer).is_err() {
                    return;
                }
            }
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

pub fn patient(stream: &TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
}

/// An address where nobody listens.
pub fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A name that has no address: too long for one, so that nobody is asked.
pub fn no_name() -> String {
    format!("http://{}", "a".repeat(70))
}

/// An upstream that knows no TLS.
pub fn no_tls() -> String {
    let server = Server::new(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    format!("https://{}", server.address)
}

/// Bytes of one request, read by its framing.
pub fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = read_head(stream)?;
    let head = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    if let Some(at) = head.find("\r\ncontent-length:") {
        let digits: String = head[at + 17..].trim_start().chars().take_while(char::is_ascii_digit).collect();
        let from = bytes.len();
        bytes.resize(from + digits.parse::<usize>().ok()?, 0);
        stream.read_exact(&mut bytes[from..]).ok()?;
    } else if head.contains("\r\ntransfer-encoding:") {
        while !bytes.ends_with(b"0\r\n\r\n") {
            bytes.push(read_byte(stream)?);
        }
    }
    Some(bytes)
}

pub fn read_head(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(read_byte(stream)?);
    }
    Some(bytes)
}

fn read_byte(stream: &mut impl Read) -> Option<u8> {
    let mut byte = [0];
    stream.read_exact(&mut byte).ok().map(|()| byte[0])
}

/// A proxy in a fresh folder.
pub struct Desk {
    folder: tempfile::TempDir,
    proxy: Option<Proxy>,
    pub address: SocketAddr,
}

/// Everything to one upstream, nothing limited.
pub fn config(folder: &Path, url: &str) -> Config {
    let to = || Upstream::Named { url: url.to_owned() };
    Config {
        folder: folder.join("wire_RUN-ON"),
        mode: Mode::Act,
        port: 0,
        socket: None,
        knock: None,
        upstreams: Upstreams {
            openai: to(),
            anthropic: to(),
            ollama: to(),
            gemini: to(),
            allow_public: false,
        },
        keys: Keys::default(),
        sentinel: String::new(),
        policy: PathPolicy::Any,
        upgrades: Upgrades::Relay,
        limits: Limits::default(),
        roots: Vec::new(),
        watch: None,
    }
}

impl Desk {
    pub fn before(server: &Server) -> Desk {
        Desk::with(&server.url(), |_| ())
    }

    pub fn with(url: &str, change: impl FnOnce(&mut Config)) -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path(), url);
        change(&mut config);
        let proxy = Proxy::start(config).unwrap();
        Desk { folder, address: proxy.address(), proxy: Some(proxy) }
    }

    pub fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().unwrap()
    }

    pub fn wire(&self) -> PathBuf {
        self.folder.path().join("wire_RUN-ON")
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Sends bytes on a connection of their own and reads up to the end.
    pub fn call(&self, request: impl AsRef<[u8]>) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(request.as_ref()).unwrap();
        read_all(&mut stream)
    }

    /// Stops it, and checks what holds for every record.
    pub fn stop(&mut self) -> (Ended, Vec<Row>) {
        let ended = self.proxy.take().unwrap().stop();
        let rows = rows(&self.wire());
        assert_eq!(ended.rows_n, rows.len() as u64);
        let index_failed = ended.faults.iter().any(|fault| fault.kind == FaultKind::Index);
        assert_eq!(ended.unindexed_n > 0, index_failed, "every call has a line");
        assert_eq!(ended.rows_n + ended.unindexed_n, ended.blobs_n, "every call has the file of its request");
        let pairs: Vec<_> = rows.iter().map(|row| (row.request_sha256, row.response_sha256)).collect();
        assert_eq!(ended.digest, wire::digest(&pairs));
        for row in &rows {
            let request = self.body(row, "req.bin").expect("each call has the file of its request");
            assert_eq!(
                (canon::Digest::of(&request), request.len() as u64),
                (row.request_sha256, row.request_bytes)
            );
            let response = self.body(row, "resp.bin");
            assert_eq!(response.as_deref().map(canon::Digest::of), row.response_sha256);
            assert_eq!(response.map_or(0, |body| body.len() as u64), row.response_bytes);
        }
        (ended, rows)
    }

    /// Stops it after one call.
    pub fn only_row(&mut self) -> Row {
        let (_, mut rows) = self.stop();
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.remove(0)
    }

    pub fn body(&self, row: &Row, side: &str) -> Option<Vec<u8>> {
        std::fs::read(self.wire().join(format!("{}.{side}", row.call_id))).ok()
    }
}

pub fn rows(wire: &Path) -> Vec<Row> {
    let index = std::fs::read(wire.join("index.jsonl")).unwrap();
    let row = |line: &[u8]| Row::read(&Reader::strict().read(line).unwrap()).unwrap();
    index.split_inclusive(|byte| *byte == b'\n').map(|line| row(&line[..line.len() - 1])).collect()
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    patient(&stream);
    stream
}

/// Up to the end; what came before a reset counts.
pub fn read_all(stream: &mut impl Read) -> Vec<u8> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 << 10]);
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..length]);
    }
    bytes
}

/// A request after which the connection is closed.
pub fn post(path: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// An answer with a length.
pub fn answer(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A body in chunks.
pub fn chunked<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces {
        out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

/// A stream of events in chunks.
pub fn events(body: &str) -> Vec<u8> {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    [&head[..], &chunked([body.as_bytes()])].concat()
}

/// SplitMix64: the same exchanges on every machine.
pub struct Seed(pub u64);

impl Seed {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.draw() % end as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
