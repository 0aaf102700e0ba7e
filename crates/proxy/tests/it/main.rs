//! The proxy between clients and upstreams that are scripted byte by byte, all on the loopback address.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod counting;
mod faults;
mod hangups;
mod http2;
mod identity;
mod machine_limits;
mod refusals;
mod secrets;
mod streaming;
mod support;
mod tls;
mod websocket;
