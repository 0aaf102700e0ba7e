//! The proxy between clients and upstreams that are scripted byte by byte, all on the loopback address.
#![allow(missing_docs, unreachable_pub)]

mod identity;
mod support;
