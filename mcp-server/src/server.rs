//! MCP server: lists the tools, passes calls to Telegram, reads files. Served by `http` and `stdio`.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString, ContentBlock, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestMethod, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourcesCapability, ServerCapabilities, ServerConfig,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestMethod,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::task::TaskTracker;

use crate::bots::Bots;
use crate::catalog::{Catalog, FIND};
use crate::download::{self, Downloads};
use crate::everyday::{self, CALL};
use crate::files::UploadLimits;
use crate::lookup::{self, Lookup};
use crate::settings::Settings;
use crate::table::{ApiTable, Method};
use crate::telegram::{TelegramFailure, TelegramRequest};
use crate::updates::{self, Updates};
use crate::{VERSION, check, files};

/// Time for running calls at shutdown. With the answers and connections after them, two seconds in total.
const CALLS_TIMEOUT: Duration = Duration::from_millis(1500);
/// Pause between the last call and the end of the streams, in which its answer is sent.
const ANSWER_TIME: Duration = Duration::from_millis(50);

/// Serves the Bot API. Clones are cheap and share the connection and the pace.
#[derive(Debug, Clone)]
pub(crate) struct BotApi {
    catalog: Arc<Catalog>,
    bots: Bots,
    limits: UploadLimits,
    /// `true` if pictures are shown with their files.
    pictures: bool,
    calls: TaskTracker,
    /// `true` to list every method instead of the everyday ones.
    lists_all: bool,
    /// Updates of the bot; `None` without `--with-updates`.
    updates: Option<Arc<Updates>>,
    /// Number of the session.
    session: u64,
}

/// Result of a call: a value for programs, and blocks for people and models that see.
struct CallOutput {
    value: Value,
    blocks: Vec<ContentBlock>,
}

impl BotApi {
    pub(crate) fn new(settings: &Settings) -> reqwest::Result<Self> {
        let bots = Bots::new(settings)?;
        let updates = bots.own().filter(|_| settings.with_updates);
        Ok(Self {
            catalog: Arc::new(Catalog::new(&settings.choice)),
            updates: updates.map(|telegram| Arc::new(Updates::new(telegram))),
            bots,
            limits: settings.file_limits(),
            // A parent needs no pictures: it requests what its models are to see.
            pictures: !settings.supervised,
            calls: TaskTracker::new(),
            lists_all: settings.lists_all,
            session: 0,
        })
    }

    /// Returns the same server for a new session.
    pub(crate) fn new_session(&self) -> Self {
        let session = self.updates.as_ref().map_or(0, |updates| updates.new_session());
        Self { session, ..self.clone() }
    }

    /// Reads the bot's updates while it is polled; does nothing without `--with-updates`.
    pub(crate) async fn poll_updates(&self) -> Infallible {
        match &self.updates {
            Some(updates) => updates.poll().await,
            None => pending().await,
        }
    }

    /// Waits a limited time for running calls and their answers.
    pub(crate) async fn settle(&self) {
        self.calls.close();
        if tokio::time::timeout(CALLS_TIMEOUT, self.calls.wait()).await.is_ok() {
            tokio::time::sleep(ANSWER_TIME).await;
        } else {
            tracing::warn!("a call was still under way at the end");
        }
    }

    /// Returns what fetches files for the bot that a request is for.
    async fn downloads(&self, context: &RequestContext<RoleServer>) -> Result<Downloads, TelegramFailure> {
        let telegram = self.bots.of(&context.meta).await?;
        Ok(Downloads { telegram, limits: self.limits, pictures: self.pictures })
    }

    async fn call(
        &self,
        method: &Method,
        mut args: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallOutput, TelegramFailure> {
        // A null for an optional parameter means that it is left out.
        args.retain(|_, value| !value.is_null());
        let places = check::check(method, &args)
            .map_err(|fault| bad_request(&lookup::described(method, &args, &fault)))?;
        let uploads = files::take(&mut args, places, self.limits).map_err(|bad| bad_request(&bad))?;
        let downloads = self.downloads(context).await?;
        let result =
            downloads.telegram.call(TelegramRequest { method, args: &args, uploads: &uploads }).await?;
        let (result, blocks) =
            if download::gives_file(method) { downloads.present(result).await } else { (result, Vec::new()) };
        Ok(CallOutput { value: json!({"ok": true, "result": result}), blocks })
    }

    /// Makes a call and logs its outcome, without its content.
    async fn logged(
        &self,
        method: &Method,
        args: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallOutput, TelegramFailure> {
        let _running = self.calls.token();
        let start = Instant::now();
        let outcome = tokio::select! {
            outcome = self.call(method, args, context) => outcome,
            () = context.ct.cancelled() => {
                Err(TelegramFailure::new(499, "the call was cancelled; it may have been carried out"))
            }
        };
        let error_code = outcome.as_ref().err().map(|failure| failure.error_code);
        let elapsed_ms = start.elapsed().as_millis();
        tracing::info!(method = method.name, error_code, elapsed_ms, "call ended");
        outcome
    }

    /// Makes a call and returns its result for the client.
    async fn outcome(
        &self,
        method: &Method,
        args: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        match self.logged(method, args, context).await {
            Ok(CallOutput { value, blocks }) => {
                let mut result = CallToolResult::structured(value);
                let knows_links = download::knows_links(context);
                let is_known =
                    |block: &ContentBlock| knows_links || !matches!(block, ContentBlock::ResourceLink(_));
                result.content.extend(blocks.into_iter().filter(is_known));
                result
            }
            Err(failure) => failed(&failure),
        }
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { catalog: &self.catalog, reads_updates: self.updates.is_some(), lists_all: self.lists_all }
    }

    /// Returns `true` if files can be read by handle, which needs `getFile`.
    fn reads_files(&self) -> bool {
        self.catalog.method("getFile").is_some()
    }

    /// Returns the updates if they are served at this URI.
    fn updates_at<M: ConstString>(&self, uri: &str) -> Result<&Updates, ErrorData> {
        let updates = self.updates.as_deref().ok_or_else(ErrorData::method_not_found::<M>)?;
        if uri == updates::URI {
            Ok(updates)
        } else {
            Err(ErrorData::resource_not_found(
                format!("{uri:?} never changes: only {} does", updates::URI),
                None,
            ))
        }
    }
}

impl ServerHandler for BotApi {
    fn get_info(&self) -> ServerConfig {
        let title = format!("Telegram Bot API {}", ApiTable::get().version);
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if self.reads_files() || self.updates.is_some() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = self.updates.is_some().then_some(true);
            capabilities.resources = Some(resources);
        }
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("figaro-mcp", VERSION).with_title(title))
            .with_instructions(format!(
                "The tools are methods of the Telegram Bot API and act as the bot. find_telegram_methods finds the \
                 method for a purpose, also one that is not listed. A failed call says why in `error`: with \
                 `retry_after`, wait that many seconds; with `migrate_to_chat_id`, use that chat from now on. A file \
                 is a file_id, an http(s) URL, {{\"name\", \"base64\"}} or {{\"name\", \"text\"}}; paths of this \
                 machine are not read. {}",
                self.lookup().incoming()
            ))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let (mut tools, next) = match cursor {
            None if !self.lists_all => (everyday::tools(&self.catalog), None),
            _ => self
                .catalog
                .page(cursor.as_deref())
                .map_err(|bad| ErrorData::invalid_params(bad.to_string(), None))?,
        };
        if cursor.is_none() && self.updates.is_some() {
            // After the search.
            tools.insert(1, Updates::tool());
        }
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = next;
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = request.arguments.unwrap_or_default();
        if request.name == FIND {
            let found = self.lookup().search(args);
            return Ok(found
                .map_or_else(|why| failed(&bad_request(&why)), CallToolResult::structured)
                .into());
        }
        if request.name == CALL && !self.lists_all {
            return Ok(match self.lookup().method_call(args) {
                Ok((method, args)) => self.outcome(method, args, &context).await,
                Err(why) => failed(&bad_request(&why)),
            }
            .into());
        }
        if let Some(updates) = self.updates.as_deref().filter(|_| request.name == updates::READ) {
            return Ok(updates.read(args).await.unwrap_or_else(|why| failed(&bad_request(&why))).into());
        }
        let Some(method) = self.catalog.method(&request.name) else {
            // MCP 2025-11-25, Tools, Error Handling: an unknown tool is a protocol error, a failed call a result with
            // `isError`.
            return Err(ErrorData::invalid_params(self.lookup().unknown_tool(&request.name), None));
        };
        Ok(self.outcome(method, args, &context).await.into())
    }

    /// Rejects requests with bad parameters, which the library takes for unknown methods, and unknown methods.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_known = match request.method.as_str() {
            "initialize"
            | "server/discover"
            | "ping"
            | "tools/list"
            | "tools/call"
            | "resources/list"
            | "resources/templates/list" => true,
            "resources/read" => self.reads_files() || self.updates.is_some(),
            "resources/subscribe" | "resources/unsubscribe" => self.updates.is_some(),
            _ => false,
        };
        if is_known {
            let message =
                format!("the parameters of {} do not fit: see the MCP specification", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    /// Rejects the request, since no prompts are declared.
    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    /// Rejects the request, since no completions are declared.
    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.updates.iter().map(|_| Updates::resource()).collect();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let updates = self.updates_at::<SubscribeRequestMethod>(&request.uri)?;
        updates.subscribe(self.session, context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.updates_at::<UnsubscribeRequestMethod>(&request.uri)?.unsubscribe(self.session);
        Ok(())
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = self.updates.as_ref().map(|_| vec![updates::URI.to_owned()]);
        self.updates.is_some().then_some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        if let Some(updates) = &self.updates {
            updates.listen(&context).await;
        }
        Ok(())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = if self.reads_files() { vec![download::template()] } else { Vec::new() };
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri == updates::URI {
            let updates = self.updates.as_deref().ok_or_else(updates::unserved)?;
            return Ok(ReadResourceResult::new(vec![updates.contents().await]).into());
        }
        if !self.reads_files() {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let _running = self.calls.token();
        let downloads = self.downloads(&context).await;
        let downloads = downloads.map_err(|failure| ErrorData::internal_error(failure.description, None))?;
        let contents = tokio::select! {
            contents = downloads.read(&request.uri) => contents?,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn failed(failure: &TelegramFailure) -> CallToolResult {
    CallToolResult::structured_error(json!({"ok": false, "error": failure}))
}

fn bad_request(fault: &dyn Display) -> TelegramFailure {
    TelegramFailure::new(400, format!("Bad Request: {fault}"))
}
