//! Over standard input and output: one client, which started us.

use crate::server::Desk;
use rmcp::ServiceExt as _;

/// Serves one client until it closes our input. Nothing but the protocol is written to standard output.
///
/// # Errors
/// What the client said is not the protocol, or the threads could not be started.
pub fn serve_stdio(desk: Desk) -> Result<(), String> {
    crate::http::runtime().map_err(|error| error.to_string())?.block_on(async {
        let service = desk.serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
        service.waiting().await.map(drop).map_err(|error| error.to_string())
    })
}
