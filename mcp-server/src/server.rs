//! The MCP side: lists the tools and carries calls to Telegram. `http` makes one handler per session.

use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::task::TaskTracker;

use crate::catalog::Catalog;
use crate::settings::Settings;
use crate::table::{Method, Table};
use crate::telegram::{Failure, Telegram};
use crate::{VERSION, check, files};

/// Serves the Bot API. Cheap to clone; all clones share one connection and one pace.
#[derive(Debug, Clone)]
pub(crate) struct BotApi {
    catalog: Arc<Catalog>,
    telegram: Arc<Telegram>,
    calls: TaskTracker,
}

impl BotApi {
    pub(crate) fn new(settings: &Settings) -> reqwest::Result<Self> {
        Ok(Self {
            catalog: Arc::new(Catalog::embedded(settings.with_lifecycle)),
            telegram: Arc::new(Telegram::new(settings)?),
            calls: TaskTracker::new(),
        })
    }

    /// Waits until no call is under way.
    pub(crate) async fn idle(&self) {
        self.calls.close();
        self.calls.wait().await;
    }

    async fn call(&self, method: &Method, mut args: Map<String, Value>) -> Result<Value, Failure> {
        // An optional parameter set to null is one left out.
        args.retain(|_, value| !value.is_null());
        check::check(method, &args).map_err(|fault| bad_request(&fault))?;
        files::check(method, &args).map_err(|bad| bad_request(&bad))?;
        self.telegram.call(method, &args).await
    }
}

impl ServerHandler for BotApi {
    fn get_info(&self) -> ServerConfig {
        let title = format!("Telegram Bot API {}", Table::get().version);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("figaro-mcp", VERSION).with_title(title))
            .with_instructions(
                "Each tool is a method of the Telegram Bot API and acts as the bot. A failed call says why in `error`: \
                 with `retry_after`, wait that many seconds; with `migrate_to_chat_id`, use that chat from now on.",
            )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let (tools, next) = self
            .catalog
            .page(cursor.as_deref())
            .map_err(|bad| ErrorData::invalid_params(bad.to_string(), None))?;
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = next;
        Ok(page)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog.tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(method) = self.catalog.method(&request.name) else {
            let message = format!("unknown tool {:?}: tools/list names those there are", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let _running = self.calls.token();
        let start = Instant::now();
        let outcome = tokio::select! {
            outcome = self.call(method, request.arguments.unwrap_or_default()) => outcome,
            () = context.ct.cancelled() => {
                Err(Failure::new(499, "the call was cancelled; it may have been carried out"))
            }
        };
        let error_code = outcome.as_ref().err().map(|failure| failure.error_code);
        tracing::info!(
            method = method.name,
            error_code,
            elapsed_ms = start.elapsed().as_millis(),
            "call ended"
        );
        Ok(match outcome {
            Ok(result) => CallToolResult::structured(json!({"ok": true, "result": result})),
            Err(failure) => CallToolResult::structured_error(json!({"ok": false, "error": failure})),
        }
        .into())
    }
}

fn bad_request(fault: &dyn std::fmt::Display) -> Failure {
    Failure::new(400, format!("Bad Request: {fault}"))
}
