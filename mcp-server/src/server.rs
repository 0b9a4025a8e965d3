//! The MCP side: lists the tools, carries calls to Telegram, reads files. `http` makes one handler per session, `stdio`
//! the only one.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::task::TaskTracker;

use crate::catalog::{Catalog, FIND, Found, MAX_QUERY};
use crate::download::{self, Downloads};
use crate::settings::Settings;
use crate::shown::Shown;
use crate::table::{Method, Table};
use crate::telegram::{Call, Failure, Telegram};
use crate::{VERSION, check, files};

/// Serves the Bot API. Cheap to clone; all clones share one connection and one pace.
#[derive(Debug, Clone)]
pub(crate) struct BotApi {
    catalog: Arc<Catalog>,
    downloads: Downloads,
    calls: TaskTracker,
    shown: Shown,
}

/// What a call gave: for programs, and what only people and models that see can use.
struct Outcome {
    value: Value,
    blocks: Vec<ContentBlock>,
}

impl BotApi {
    pub(crate) fn new(settings: &Settings) -> reqwest::Result<Self> {
        let telegram = Arc::new(Telegram::new(settings)?);
        Ok(Self {
            catalog: Arc::new(Catalog::new(&settings.choice)),
            downloads: Downloads { telegram, limits: settings.file_limits() },
            calls: TaskTracker::new(),
            shown: Shown::new(settings.discover),
        })
    }

    /// The same for a client of its own, which has found nothing yet.
    pub(crate) fn session(&self) -> Self {
        Self { shown: self.shown.fresh(), ..self.clone() }
    }

    /// Waits until no call is under way.
    pub(crate) async fn idle(&self) {
        self.calls.close();
        self.calls.wait().await;
    }

    async fn call(&self, method: &Method, mut args: Map<String, Value>) -> Result<Outcome, Failure> {
        // An optional parameter set to null is one left out.
        args.retain(|_, value| !value.is_null());
        let uploads =
            files::take(method, &mut args, self.downloads.limits).map_err(|bad| bad_request(&bad))?;
        check::check(method, &args).map_err(|fault| bad_request(&fault))?;
        let result = self.downloads.telegram.call(Call { method, args: &args, uploads: &uploads }).await?;
        let (result, blocks) = if download::gives_file(method) {
            self.downloads.present(result).await
        } else {
            (result, Vec::new())
        };
        Ok(Outcome { value: json!({"ok": true, "result": result}), blocks })
    }

    /// Calls and says so in the log, without what was said.
    async fn logged(
        &self,
        method: &Method,
        args: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Outcome, Failure> {
        let _running = self.calls.token();
        let start = Instant::now();
        let outcome = tokio::select! {
            outcome = self.call(method, args) => outcome,
            () = context.ct.cancelled() => {
                Err(Failure::new(499, "the call was cancelled; it may have been carried out"))
            }
        };
        let error_code = outcome.as_ref().err().map(|failure| failure.error_code);
        let elapsed_ms = start.elapsed().as_millis();
        tracing::info!(method = method.name, error_code, elapsed_ms, "call ended");
        outcome
    }

    async fn search(
        &self,
        args: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, String> {
        let Search { query } = serde_json::from_value(Value::Object(args))
            .map_err(|error| format!("the arguments do not fit: {error}"))?;
        if query.trim().is_empty() || query.chars().count() > MAX_QUERY {
            return Err(format!("query must have 1 to {MAX_QUERY} characters"));
        }
        let Found { methods, types } = self.catalog.find(&query);
        if methods.is_empty() && types.is_empty() {
            return Err("nothing fits: say it in other English words, like \"pin a message\"".to_owned());
        }
        if self.shown.add(&methods)
            && let Err(error) = context.peer.notify_tool_list_changed().await
        {
            tracing::debug!(%error, "a client does not hear of its new tools");
        }
        let methods: Vec<Value> = methods.iter().map(|method| self.found(method)).collect();
        Ok(if types.is_empty() {
            json!({"methods": methods})
        } else {
            json!({"methods": methods, "types": types})
        })
    }

    fn found(&self, method: &Method) -> Value {
        json!({
            "name": method.name,
            "description": self.catalog.description(method),
            "class": method.class,
            "inputSchema": self.catalog.short_schema(method),
        })
    }
}

/// The arguments of a search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

impl ServerHandler for BotApi {
    fn get_info(&self) -> ServerConfig {
        let title = format!("Telegram Bot API {}", Table::get().version);
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities = if self.shown.grows() {
            capabilities.enable_tool_list_changed().build()
        } else {
            capabilities.build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("figaro-mcp", VERSION).with_title(title))
            .with_instructions(
                "Each tool is a method of the Telegram Bot API and acts as the bot; find_telegram_methods finds the one \
                 for a purpose. A failed call says why in `error`: with `retry_after`, wait that many seconds; with \
                 `migrate_to_chat_id`, use that chat from now on. A file is given as file_id, https URL, or \
                 {\"name\", \"base64\"}.",
            )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        if let Some(names) = self.shown.names() {
            let names = [FIND.to_owned()].into_iter().chain(names);
            return Ok(ListToolsResult::with_all_items(
                names.filter_map(|name| self.catalog.tool(&name)).collect(),
            ));
        }
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
        let args = request.arguments.unwrap_or_default();
        if request.name == FIND {
            let found = self.search(args, &context).await;
            return Ok(found
                .map_or_else(|why| failed(&bad_request(&why)), CallToolResult::structured)
                .into());
        }
        let Some(method) = self.catalog.method(&request.name) else {
            let message = format!("unknown tool {:?}: tools/list names those there are", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        Ok(match self.logged(method, args, &context).await {
            Ok(Outcome { value, blocks }) => {
                let mut result = CallToolResult::structured(value);
                result.content.extend(blocks);
                result
            }
            Err(failure) => failed(&failure),
        }
        .into())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![download::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let _running = self.calls.token();
        let contents = self.downloads.read(&request.uri).await?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn failed(failure: &Failure) -> CallToolResult {
    CallToolResult::structured_error(json!({"ok": false, "error": failure}))
}

fn bad_request(fault: &dyn Display) -> Failure {
    Failure::new(400, format!("Bad Request: {fault}"))
}
