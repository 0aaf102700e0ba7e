//! Connections to upstreams.

use crate::stream::{Buffer, Stream};
use crate::target::Target;
use crate::{Config, StartError};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
use wire::{CallError, Wire};

/// A connection to an upstream, with what was read from it.
pub(crate) struct Upstream {
    pub(crate) wire: Wire,
    pub(crate) stream: Stream,
    pub(crate) buffer: Buffer,
}

/// What is trusted: the public authorities and those of the configuration.
pub(crate) fn tls(config: &Config) -> Result<TlsConnector, StartError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for der in &config.roots {
        roots.add(CertificateDer::from(der.as_slice())).map_err(|_| StartError::Roots)?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|_| StartError::Roots)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Opens a connection. What the system says of a failure is not kept: the code says which step it was.
pub(crate) async fn connect(wire: Wire, target: &Target, tls: &TlsConnector) -> Result<Upstream, CallError> {
    let addresses = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
    let addresses: Vec<_> = addresses.map_err(|_| CallError::UpstreamName)?.collect();
    if addresses.is_empty() {
        return Err(CallError::UpstreamName);
    }
    let stream = TcpStream::connect(&addresses[..]).await.map_err(|_| CallError::UpstreamConnect)?;
    // Pieces go on as they come; where this fails they only wait longer.
    let _ = stream.set_nodelay(true);
    let stream = if target.secure {
        let name = ServerName::try_from(target.host.clone()).map_err(|_| CallError::UpstreamTls)?;
        let stream = tls.connect(name, stream).await.map_err(|_| CallError::UpstreamTls)?;
        Stream::Tls(Box::new(stream))
    } else {
        Stream::Tcp(stream)
    };
    Ok(Upstream { wire, stream, buffer: Buffer::default() })
}
