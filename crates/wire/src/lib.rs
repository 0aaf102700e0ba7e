//! What a model call says: which protocol it speaks, where a message of HTTP/1.1 ends, how an answer ended, and the row of
//! the index that keeps it (desk specification 14, 31.10, 31.11).
//!
//! Pure ring. The proxy forwards bytes and hands copies of them to the readers of this crate; nothing here ever alters
//! what is forwarded, and every reader holds a bounded amount however long its input is.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

mod answer;
pub mod chunked;
mod counts;
mod decode;
mod events;
pub mod frames;
mod framing;
pub mod headers;
mod outcome;
mod protocol;
mod row;
mod scan;

pub use answer::{Answer, Kind, Reading, RequestReader, Usage};
pub use counts::{Counts, Tally};
pub use framing::{Framing, Refused, answer_framing, request_framing};
pub use outcome::{CallError, End, Facts, Outcome};
pub use protocol::{Class, Protocol, Route, Wire, policy_allows, route, upstream_path};
pub use row::{Mode, Row, RowFault, digest};
