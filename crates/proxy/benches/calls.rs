//! What a call costs through the proxy, beside a direct connection and the Python peer's proxy, all in one run:
//! latency of single calls and of first events, throughput of 200 streams at once, memory of a stream.
//!
//! `sh examples/bench_proxy.sh` prepares the peer and runs this; without `PEER_PYTHON` the peer is left out.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const STREAMS: usize = 200;
const EVENTS: usize = 64;
const ROUNDS: usize = 5;
const CALLS: usize = 2000;
const BLOCK: usize = 100;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|word| word == "serve") {
        return serve(&args[2], &args[3]);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(measure());
}

/// Our proxy as a process of its own, until its standard input ends.
fn serve(url: &str, folder: &str) {
    let to = || proxy::Upstream::Named { url: url.to_owned() };
    let upstreams =
        proxy::Upstreams { openai: to(), anthropic: to(), ollama: to(), gemini: to(), allow_public: false };
    let proxy = proxy::Proxy::start(proxy::Config {
        folder: folder.into(),
        mode: wire::Mode::Act,
        port: 0,
        socket: None,
        knock: None,
        upstreams,
        keys: proxy::Keys::default(),
        sentinel: String::new(),
        policy: proxy::PathPolicy::Any,
        upgrades: proxy::Upgrades::Refuse,
        limits: proxy::Limits::default(),
        roots: Vec::new(),
        watch: None,
    })
    .unwrap();
    println!("{}", proxy.address().port());
    std::io::stdin().lines().for_each(drop);
    let ended = proxy.stop();
    assert!(ended.faults.is_empty() && ended.rows_n == ended.blobs_n, "the record is whole: {ended:?}");
}

const PEER: &str = "
import sys
from vacant_network.vrun.wireproxy import WireProxy
to = {'openai': sys.argv[1], 'anthropic': sys.argv[1]}
proxy = WireProxy(wire_dir=sys.argv[2], upstreams=to, keys={}, sentinel='', mode='act').start()
print(proxy.url.rsplit(':', 1)[1], flush=True)
sys.stdin.read()
proxy.stop()
";

/// A proxy that is measured. No process stands for the direct connection.
struct Way {
    name: &'static str,
    address: SocketAddr,
    process: Option<Child>,
}

impl Way {
    fn start(name: &'static str, mut command: Command) -> Way {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], line.trim().parse().unwrap()));
        Way { name, address, process: Some(child) }
    }

    /// Resident memory in KiB.
    fn resident(&self) -> u64 {
        let Some(child) = &self.process else { return 0 };
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        if let Some(mut child) = self.process.take() {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success(), "{} ends in order", self.name);
        }
    }
}

/// An upstream: a document, a stream of events, or a stream that stays open after its first half.
async fn upstream(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(answer_all(stream));
    }
}

async fn answer_all(mut stream: TcpStream) {
    let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(200));
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    let document = format!("{{\"model\":\"m\",\"text\":\"{}\"}}", "x".repeat(1000));
    let mut buffer = vec![0; 16 << 10];
    let mut filled = 0;
    loop {
        while !buffer[..filled].ends_with(b"{}") {
            match stream.read(&mut buffer[filled..]).await {
                Ok(length @ 1..) => filled += length,
                _ => return,
            }
        }
        let path = String::from_utf8_lossy(&buffer[..filled]).split(' ').nth(1).unwrap().to_owned();
        filled = 0;
        if path.ends_with("/messages") {
            let head = format!("Content-Type: application/json\r\nContent-Length: {}", document.len());
            let whole = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{document}");
            stream.write_all(whole.as_bytes()).await.unwrap();
            continue;
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        for _ in 0..EVENTS {
            if stream.write_all(chunk.as_bytes()).await.is_err() {
                return;
            }
        }
        if path.ends_with("/responses") {
            // The stream stays open: what it costs is looked at meanwhile.
            let _ = stream.read(&mut buffer).await;
            return;
        }
        stream.write_all(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n").await.unwrap();
    }
}

struct Client(TcpStream, Vec<u8>);

impl Client {
    async fn connect(to: SocketAddr) -> Client {
        let stream = TcpStream::connect(to).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Client(stream, vec![0; 32 << 10])
    }

    async fn send(&mut self, path: &str) {
        let request = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}");
        self.0.write_all(request.as_bytes()).await.unwrap();
    }

    /// Reads until the bytes so far end like this, or contain an event when nothing is given.
    async fn read(&mut self, end: &[u8]) {
        let mut tail: Vec<u8> = Vec::new();
        while !tail.ends_with(end) {
            let length = self.0.read(&mut self.1).await.unwrap();
            assert!(length > 0, "the answer breaks off");
            tail.extend_from_slice(&self.1[..length]);
            tail.drain(..tail.len().saturating_sub(64));
        }
    }

    async fn document(&mut self) -> Duration {
        let start = Instant::now();
        self.send("/v1/messages").await;
        self.read(b"xx\"}").await;
        start.elapsed()
    }

    async fn stream(&mut self) {
        self.send("/v1/chat/completions").await;
        self.read(b"\r\n0\r\n\r\n").await;
    }

    async fn open_stream(&mut self) {
        self.send("/v1/responses").await;
        let mut left = EVENTS;
        while left > 0 {
            let length = self.0.read(&mut self.1).await.unwrap();
            left = left.saturating_sub(self.1[..length].windows(6).filter(|part| part == b"data: ").count());
        }
    }

    /// Time to the first event.
    async fn first_event(&mut self) -> Duration {
        let start = Instant::now();
        self.send("/v1/chat/completions").await;
        let mut seen = Vec::new();
        let mut first = None;
        while !seen.ends_with(b"\r\n0\r\n\r\n") {
            let length = self.0.read(&mut self.1).await.unwrap();
            seen.extend_from_slice(&self.1[..length]);
            if first.is_none() && seen.windows(6).any(|part| part == b"data: ") {
                first = Some(start.elapsed());
            }
        }
        first.unwrap()
    }
}

fn at(sorted: &[Duration], percent: usize) -> u128 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)].as_micros()
}

async fn measure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    tokio::spawn(upstream(listener));
    let folder = tempfile::tempdir().unwrap();
    let arguments = |name: &str| [format!("http://{own}"), folder.path().join(name).display().to_string()];
    let mut ours = Command::new(std::env::current_exe().unwrap());
    ours.arg("serve").args(arguments("ours"));
    let mut ways = vec![Way { name: "direct", address: own, process: None }, Way::start("ours", ours)];
    if let Some(python) = std::env::var_os("PEER_PYTHON") {
        let mut peer = Command::new(python);
        peer.args(["-c", PEER]).args(arguments("peer"));
        ways.push(Way::start("peer", peer));
    }
    // First: a process keeps memory that it once had.
    memory(&ways).await;
    latency(&ways).await;
    throughput(&ways).await;
}

async fn latency(ways: &[Way]) {
    let mut times = vec![(Vec::new(), Vec::new()); ways.len()];
    let mut clients = Vec::new();
    for way in ways {
        let mut client = Client::connect(way.address).await;
        for _ in 0..BLOCK {
            client.document().await;
        }
        clients.push(client);
    }
    // The ways alternate in blocks: whatever else the machine does meets all of them.
    for block in 0..CALLS / BLOCK {
        for (client, (documents, events)) in clients.iter_mut().zip(&mut times) {
            for _ in 0..BLOCK {
                documents.push(client.document().await);
            }
            for _ in 0..if block % 2 == 0 { BLOCK / 5 } else { 0 } {
                events.push(client.first_event().await);
            }
        }
    }
    times.iter_mut().for_each(|(documents, events)| {
        documents.sort();
        events.sort();
    });
    let direct = (at(&times[0].0, 50), at(&times[0].0, 99), at(&times[0].1, 50));
    println!("latency of a call, us: way, p50, p99, added p50, added p99; first event p50, added p50");
    for (way, (documents, events)) in ways.iter().zip(&times) {
        let (p50, p99, first) = (at(documents, 50), at(documents, 99), at(events, 50));
        println!(
            "  {:7} {p50:6} {p99:6} {:6} {:6}; {first:6} {:6}",
            way.name,
            p50 as i128 - direct.0 as i128,
            p99 as i128 - direct.1 as i128,
            first as i128 - direct.2 as i128
        );
    }
}

async fn throughput(ways: &[Way]) {
    let mut rates = vec![Vec::new(); ways.len()];
    for _ in 0..3 {
        for (way, rates) in ways.iter().zip(&mut rates) {
            let mut clients = Vec::new();
            for _ in 0..STREAMS {
                let mut client = Client::connect(way.address).await;
                client.stream().await;
                clients.push(client);
            }
            let start = Instant::now();
            let run = async |mut client: Client| {
                for _ in 0..ROUNDS {
                    client.stream().await;
                }
            };
            let tasks: Vec<_> = clients.into_iter().map(|client| tokio::spawn(run(client))).collect();
            for task in tasks {
                task.await.unwrap();
            }
            rates.push((STREAMS * ROUNDS * EVENTS) as u128 * 1_000_000 / start.elapsed().as_micros());
        }
    }
    println!("{STREAMS} streams at once, events of 242 bytes a second: way, median of 3, all");
    for (way, rates) in ways.iter().zip(&mut rates) {
        rates.sort_unstable();
        println!("  {:7} {:8} {rates:?}", way.name, rates[1]);
    }
    if let [_, ours, peer] = &rates[..] {
        println!("  ours to peer: {}.{:02}", ours[1] / peer[1], ours[1] * 100 / peer[1] % 100);
    }
}

async fn memory(ways: &[Way]) {
    println!("resident memory a stream, KiB: way, of {STREAMS} that are open");
    for way in ways.iter().filter(|way| way.process.is_some()) {
        let before = way.resident();
        let mut clients = Vec::new();
        for _ in 0..STREAMS {
            let mut client = Client::connect(way.address).await;
            client.open_stream().await;
            clients.push(client);
        }
        let after = way.resident();
        println!(
            "  {:7} {:6} (process: {before} before, {after} with them)",
            way.name,
            (after - before) / STREAMS as u64
        );
    }
}
