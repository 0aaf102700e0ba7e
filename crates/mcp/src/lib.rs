//! The desk as tools of the Model Context Protocol (receiving-desk.md 24), with the official SDK, over standard input and
//! output and over HTTP on loopback.
//!
//! **Advisory.** An agent that holds these tools asks when it likes and may ignore the answer (section 30, boundary 2);
//! whoever needs enforcement starts the agent through `touchstone run` or `touchstone gate-then-run`. Every tool says so.
//!
//! A tool is a command of this binary with `--json`: the server puts arguments together, starts the command, and hands on what
//! it printed. So there is one implementation of each answer, what crashes is a process of its own, and no tool raises:
//! wrong arguments, refusals and troubles are results with a closed code ([`Wrong`]).

mod arguments;
mod calls;
mod http;
mod job;
mod place;
mod server;
mod stdio;
mod tool;
mod wrong;

pub use http::{Door, serve_http};
pub use server::Desk;
pub use stdio::serve_stdio;
pub use wrong::Wrong;
