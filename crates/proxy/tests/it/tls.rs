//! Upstreams over TLS.

use crate::support::{Desk, PATIENCE, answer, patient, post, read_request};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::ring};
use wire::{CallError, Outcome};

/// An upstream with a certificate for this name. Without `polite` it ends its connections without saying so.
fn secure(name: &str, answer: Vec<u8>, polite: bool) -> (SocketAddr, Vec<u8>) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let der = cert.der().to_vec();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            patient(&stream);
            let mut tls = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            while read_request(&mut tls).is_some() {
                if tls.write_all(&answer).is_err() || tls.flush().is_err() || !polite {
                    break;
                }
            }
            if polite {
                tls.conn.send_close_notify();
                let _ = tls.flush();
            }
        }
    });
    (address, der)
}

#[test]
fn a_certificate_that_is_trusted() {
    let whole = answer("200 OK", "application/json", "x".repeat(100_000));
    let (address, der) = secure("localhost", whole.clone(), true);
    let mut desk =
        Desk::with(&format!("https://localhost:{}", address.port()), |config| config.roots = vec![der]);
    let body = "y".repeat(500_000);
    for _ in 0..2 {
        assert_eq!(desk.call(post("/v1/messages", &body)), whole);
    }
    let mut stream = desk.connect();
    for _ in 0..2 {
        stream.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        let mut got = vec![0; whole.len()];
        std::io::Read::read_exact(&mut stream, &mut got).unwrap();
        assert_eq!(got, whole);
    }
    drop(stream);
    assert!(desk.proxy().quiesce(PATIENCE));
    let (ended, rows) = desk.stop();
    assert_eq!(ended.counts.model_succeeded(), 4);
    assert!(rows[0].upstream.as_deref().unwrap().starts_with("https://localhost:"));
}

#[test]
fn certificates_that_are_not() {
    let (address, der) = secure("elsewhere.example", answer("200 OK", "text/plain", "x"), true);
    for roots in [vec![], vec![der]] {
        let url = format!("https://localhost:{}", address.port());
        let mut desk = Desk::with(&url, |config| config.roots = roots);
        assert!(desk.call(post("/v1/messages", "{}")).starts_with(b"HTTP/1.1 502 "));
        let row = desk.only_row();
        assert_eq!((row.error, row.outcome), (Some(CallError::UpstreamTls), Outcome::NoAnswer));
    }
}

#[test]
fn an_end_that_nobody_signed_is_no_end() {
    let by_close = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}".to_vec();
    let (address, der) = secure("localhost", by_close, false);
    let url = format!("https://localhost:{}", address.port());
    let mut desk = Desk::with(&url, |config| config.roots = vec![der]);
    desk.call(post("/v1/messages", "{}"));
    assert_eq!(desk.only_row().outcome, Outcome::CutByUpstream, "anybody on the way could have cut it");
}
