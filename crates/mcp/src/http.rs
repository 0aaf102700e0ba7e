//! Over streamable HTTP on loopback. Other programs of this machine, and pages in its browsers, can reach a loopback
//! port: so a token is asked for, the host must be loopback, and a request that a page made is refused.

use crate::server::Desk;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Most bytes of a request.
const REQUEST_BYTES_MAX: usize = 16 << 20;
/// How long clients may take to end once the server is told to.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);
/// Where the tools are.
const PATH: &str = "/mcp";

/// Where and for whom the server listens.
pub struct Door {
    /// A port, or 0 for any that is free.
    pub port: u16,
    /// What a client must send as `Authorization: Bearer TOKEN`.
    pub token: String,
}

pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// Serves until the process is told to end; `told` is given the address once the port is open.
///
/// # Errors
/// The port is taken, or the threads could not be started.
pub fn serve_http(desk: Desk, door: Door, told: impl FnOnce(SocketAddr)) -> std::io::Result<()> {
    runtime()?.block_on(async {
        // Before anybody is told: who is told may end us at once.
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, door.port)).await?;
        told(listener.local_addr()?);
        let config = StreamableHttpServerConfig::default()
            .enforce_origin_validation()
            .with_max_request_body_bytes(REQUEST_BYTES_MAX);
        let ended = config.cancellation_token.clone();
        let service = StreamableHttpService::new(
            move || Ok(desk.clone()),
            Arc::<LocalSessionManager>::default(),
            config,
        );
        let token: Arc<str> = door.token.into();
        let router =
            axum::Router::new().nest_service(PATH, service).layer(from_fn_with_state(token, with_token));
        let asked = Arc::new(tokio::sync::Notify::new());
        let told = Arc::clone(&asked);
        let end = async move {
            tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
            ended.cancel();
            told.notify_one();
        };
        let served = axum::serve(listener, router).with_graceful_shutdown(end);
        // A client that never ends its request does not keep the server.
        let late = async {
            asked.notified().await;
            tokio::time::sleep(GRACE).await;
            Ok(())
        };
        tokio::select! { ended = served => ended, ended = late => ended }
    })
}

async fn with_token(State(token): State<Arc<str>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    if given
        .and_then(|value| value.strip_prefix(b"Bearer "))
        .is_some_and(|given| same(given, token.as_bytes()))
    {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "a token is needed\n").into_response()
}

/// Equality whose time does not tell how much of a guess was right.
fn same(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len() && given.iter().zip(token).fold(0, |found, (a, b)| found | (a ^ b)) == 0
}
