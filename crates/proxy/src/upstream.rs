//! Connections to upstreams.

use crate::stream::{Buffer, Stream};
use crate::target::Target;
use crate::{Config, StartError, http2};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
use wire::{CallError, Wire};

/// A connection to an upstream, with what was read from it.
pub(crate) struct Upstream {
    pub(crate) wire: Wire,
    pub(crate) stream: Stream,
    pub(crate) buffer: Buffer,
}

/// TLS that offers HTTP/1.1, and TLS that offers HTTP/2.
pub(crate) struct Tls {
    http1: TlsConnector,
    http2: TlsConnector,
}

/// What is trusted: the public authorities and those of the configuration.
pub(crate) fn tls(config: &Config) -> Result<Tls, StartError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for der in &config.roots {
        roots.add(CertificateDer::from(der.as_slice())).map_err(|_| StartError::Roots)?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|_| StartError::Roots)?;
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let offering = |protocol: &[u8]| {
        let mut config = config.clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        TlsConnector::from(Arc::new(config))
    };
    Ok(Tls { http1: offering(b"http/1.1"), http2: offering(b"h2") })
}

/// Opens a connection. What the system says of a failure is not kept: the code says which step it was.
pub(crate) async fn connect(wire: Wire, target: &Target, tls: &Tls) -> Result<Upstream, CallError> {
    let stream = if target.secure { secure(target, tls).await? } else { Stream::Tcp(tcp(target).await?) };
    Ok(Upstream { wire, stream, buffer: Buffer::default() })
}

async fn tcp(target: &Target) -> Result<TcpStream, CallError> {
    let addresses = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
    let addresses: Vec<_> = addresses.map_err(|_| CallError::UpstreamName)?.collect();
    if addresses.is_empty() {
        return Err(CallError::UpstreamName);
    }
    let stream = TcpStream::connect(&addresses[..]).await.map_err(|_| CallError::UpstreamConnect)?;
    // Pieces go on as they come; where this fails they only wait longer.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

async fn secure(target: &Target, tls: &Tls) -> Result<Stream, CallError> {
    let name = ServerName::try_from(target.host.clone()).map_err(|_| CallError::UpstreamTls)?;
    match tls.http1.connect(name.clone(), tcp(target).await?).await {
        Ok(stream) => return Ok(Stream::Tls(Box::new(stream))),
        Err(error) if !wants_another_protocol(&error) => return Err(CallError::UpstreamTls),
        Err(_) => {}
    }
    let stream = tls.http2.connect(name, tcp(target).await?).await.map_err(|_| CallError::UpstreamTls)?;
    Ok(Stream::Http2(http2::translated(stream, target.authority.clone())))
}

/// The upstream speaks no HTTP/1.1 and says so.
fn wants_another_protocol(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol)))
}
