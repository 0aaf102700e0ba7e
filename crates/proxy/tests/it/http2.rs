//! An upstream that speaks HTTP/2 only, by its handshake.

use crate::support::{Desk, PATIENCE, post, read_all, read_head};
use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, Request, Response};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto::ring};
use wire::{CallError, Outcome};

/// What the upstream read: head and body.
type Seen = Arc<Mutex<Vec<(Request<()>, Vec<u8>)>>>;

struct Upstream {
    address: SocketAddr,
    der: Vec<u8>,
    seen: Seen,
    /// Lets the next event go.
    go: tokio::sync::mpsc::UnboundedSender<()>,
    _runtime: tokio::runtime::Runtime,
}

fn upstream() -> Upstream {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (go, steps) = tokio::sync::mpsc::unbounded_channel();
    let steps = Arc::new(tokio::sync::Mutex::new(steps));
    let seen = Seen::default();
    let see = Arc::clone(&seen);
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (see, steps) = (Arc::clone(&see), Arc::clone(&steps));
            // A client that offers another protocol is refused in the handshake.
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((request, respond))) = connection.accept().await {
                    let (see, steps) = (Arc::clone(&see), Arc::clone(&steps));
                    tokio::spawn(
                        async move { answer(request, respond, see, &mut *steps.lock().await).await },
                    );
                }
            });
        }
    });
    Upstream { address, der: cert.der().to_vec(), seen, go, _runtime: runtime }
}

async fn answer(
    request: Request<h2::RecvStream>,
    mut respond: SendResponse<Bytes>,
    seen: Seen,
    steps: &mut tokio::sync::mpsc::UnboundedReceiver<()>,
) {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(data)) = stream.data().await {
        body.extend_from_slice(&data);
        let _ = stream.flow_control().release_capacity(data.len());
    }
    let path = head.uri.path().to_owned();
    seen.lock().unwrap().push((Request::from_parts(head, ()), body));
    let streams = path.ends_with("/completions");
    let head = Response::builder().status(200).header("content-type", "text/event-stream").header("x-a", "1");
    let head = if streams { head } else { head.header("content-length", "20") };
    let mut sender = respond.send_response(head.body(()).unwrap(), false).unwrap();
    if !streams {
        sender.send_data(Bytes::from_static(b"half"), false).unwrap();
        steps.recv().await;
        return sender.send_reset(h2::Reason::INTERNAL_ERROR);
    }
    for event in ["data: {\"model\":\"m\"}\n\n", "data: {}\n\n", "data: [DONE]\n\n"] {
        steps.recv().await;
        sender.send_data(Bytes::from_static(event.as_bytes()), false).unwrap();
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", "7".parse().unwrap());
    sender.send_trailers(trailers).unwrap();
}

fn desk(upstream: &Upstream) -> Desk {
    let url = format!("https://localhost:{}", upstream.address.port());
    Desk::with(&url, |config| config.roots = vec![upstream.der.clone()])
}

#[test]
fn events_and_trailers_arrive_as_they_come() {
    let upstream = upstream();
    let mut desk = desk(&upstream);
    let mut stream = desk.connect();
    let body = "x".repeat(300_000);
    let request = post("/v1/chat/completions?a=b", &body);
    stream
        .write_all(
            &String::from_utf8(request)
                .unwrap()
                .replace("Host: x", "Host: x\r\nX-A: 1\r\nx-a: 2")
                .into_bytes(),
        )
        .unwrap();
    let head = String::from_utf8(read_head(&mut stream).unwrap()).unwrap();
    assert_eq!(
        head,
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\nx-a: 1\r\n\r\n"
    );
    for chunk in
        ["15\r\ndata: {\"model\":\"m\"}\n\n\r\n", "a\r\ndata: {}\n\n\r\n", "e\r\ndata: [DONE]\n\n\r\n"]
    {
        upstream.go.send(()).unwrap();
        let mut got = vec![0; chunk.len()];
        stream.read_exact(&mut got).unwrap();
        assert_eq!(String::from_utf8(got).unwrap(), chunk, "it is there before the next is sent");
    }
    assert_eq!(read_all(&mut stream), b"0\r\nx-sum: 7\r\n\r\n");
    let row = desk.only_row();
    assert_eq!(
        (row.outcome, row.model.as_deref(), row.request_bytes),
        (Outcome::Succeeded, Some("m"), 300_000)
    );
    let seen = upstream.seen.lock().unwrap();
    let (head, sent) = &seen[0];
    assert_eq!(head.version(), http::Version::HTTP_2);
    assert_eq!(head.uri().path_and_query().unwrap().as_str(), "/v1/chat/completions?a=b");
    assert_eq!(
        head.headers().get_all("x-a").iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>(),
        ["1", "2"]
    );
    assert_eq!(*sent, body.as_bytes());
}

#[test]
fn call_after_call_over_one_connection() {
    let upstream = upstream();
    let mut desk = desk(&upstream);
    let mut stream = desk.connect();
    for _ in 0..3 {
        for _ in 0..3 {
            upstream.go.send(()).unwrap();
        }
        stream
            .write_all(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
            .unwrap();
        let mut got = Vec::new();
        while !got.ends_with(b"x-sum: 7\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            got.push(byte[0]);
        }
    }
    drop(stream);
    assert!(desk.proxy().quiesce(PATIENCE));
    let (ended, _) = desk.stop();
    assert_eq!((ended.counts.model_succeeded(), upstream.seen.lock().unwrap().len()), (3, 3));
}

#[test]
fn a_stream_that_is_reset() {
    let upstream = upstream();
    let mut desk = desk(&upstream);
    let mut stream = desk.connect();
    stream.write_all(&post("/v1/messages", "{}")).unwrap();
    read_head(&mut stream).unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    upstream.go.send(()).unwrap();
    assert_eq!(read_all(&mut stream), b"");
    let row = desk.only_row();
    assert_eq!((row.outcome, row.error), (Outcome::CutByUpstream, Some(CallError::UpstreamCut)));
    assert_eq!((row.response_bytes, row.partial), (4, true));
}
