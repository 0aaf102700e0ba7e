//! What a client meets: the tools, and calls of them.

use crate::arguments::Arguments;
use crate::place::Root;
use crate::tool::{TOOLS, Tool};
use crate::wrong::{Refusal, Wrong};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Calls that may wait while others run; more are refused at once.
const WAITING_MAX: usize = 64;

/// The desk that is served: which program answers, in which folder, and where receipts go.
#[derive(Clone, Debug)]
pub struct Desk(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) program: PathBuf,
    pub(crate) root: Root,
    pub(crate) runs: Root,
    admitted: Semaphore,
    running: Semaphore,
}

impl Desk {
    /// A desk whose tools are commands of `program`, that serves what lies in `root`, and puts run directories into `runs`.
    ///
    /// # Errors
    /// One of the folders is none.
    pub fn new(program: PathBuf, root: &Path, runs: &Path) -> std::io::Result<Desk> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Desk(Arc::new(Inner {
            program,
            root: Root::new(root)?,
            runs: Root::new(runs)?,
            admitted: Semaphore::new(cores + WAITING_MAX),
            running: Semaphore::new(cores),
        })))
    }

    /// The folder that is served, with every link resolved.
    pub fn root(&self) -> &Path {
        self.0.root.path()
    }

    async fn answer(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<serde_json::Value, Refusal> {
        let tool = Tool::named(&request.name)
            .ok_or_else(|| Refusal::new(Wrong::ToolUnknown, canon::shown(request.name.as_bytes())))?;
        let busy = || Refusal::new(Wrong::Busy, "ask again later");
        let _admitted = self.0.admitted.try_acquire().map_err(|_| busy())?;
        let _running = self.0.running.acquire().await.map_err(|_| busy())?;
        let mut arguments = Arguments::new(request.arguments);
        let job = (tool.job)(&mut arguments, &self.0)?;
        arguments.end()?;
        let ended = job.run(&self.0.program, self.0.root.path(), context.ct.cancelled()).await?;
        let (means, exit_code) = (tool.means)(&ended);
        Ok(json!({ "tool": tool.name, "exit_code": exit_code, "means": means, "answer": ended.answer }))
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::default();
        info.capabilities = ServerCapabilities::builder().enable_tools().build();
        info.server_info = Implementation::new("touchstone", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(crate::tool::INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(Tool::described).collect()))
    }

    /// An answer of the desk, also a refusal of a delivery, is a result. What is wrong with the call or the machine is a result
    /// too, marked as an error, with a closed code.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.answer(request, &context).await {
            Ok(answer) => CallToolResult::structured(answer),
            Err(refusal) => {
                let error = json!({ "code": refusal.wrong.code(), "detail": refusal.detail });
                CallToolResult::structured_error(json!({ "error": error }))
            }
        };
        Ok(result.into())
    }
}
