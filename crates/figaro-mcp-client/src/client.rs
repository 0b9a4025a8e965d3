//! A session with an MCP server, and calls of its tools. A [`Connection`] lives as long as its server.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    ListToolsResult, PaginatedRequestParams, PingRequest,
};
use rmcp::service::{ClientInitializeError, NotificationContext, RequestContext, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ClientHandler, ErrorData, ServiceError, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use figaro_base::secret::{ExposeSecret, SecretString};
use figaro_base::system::plain;

/// Timeout for closing the session.
const GOODBYE: Duration = Duration::from_millis(500);
/// Timeout of the handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Open session with a server.
#[derive(Debug)]
pub struct Connection {
    service: RunningService<RoleClient, Hearing>,
    /// Version that the server reported in the handshake. The Telegram MCP server puts its build id in it.
    pub(crate) server_version: String,
}

/// Handler of messages that a server sends unasked. Requests of the server, such as sampling, are declined.
#[derive(Debug, Clone, Default)]
pub(super) struct Hearing {
    /// Signalled when the server's list of tools has changed.
    pub(super) tools_changed: Arc<Notify>,
}

impl ClientHandler for Hearing {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("figaro", env!("CARGO_PKG_VERSION")),
        )
    }

    // The library would answer with an empty list, and a server would read that as a client with no open folder.
    #[expect(deprecated, reason = "servers of today's versions ask all the same")]
    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<rmcp::model::ListRootsRequestMethod>())
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

/// Reason why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The server is down and being restarted. The same call may work in a moment.
    #[error("the Telegram MCP server is not available ({0})")]
    Unavailable(String),
    /// The connection broke during the call. The call may or may not have acted.
    #[error("the Telegram MCP server was lost during the call ({0})")]
    Lost(String),
    /// The server refuses the call as it stands.
    #[error("the Telegram MCP server refused the call: {0}")]
    Refused(String),
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallOutput {
    /// Structured content that the tool returned.
    pub content: Value,
    /// `true` if the tool itself reports a failure.
    pub is_error: bool,
}

impl Connection {
    /// Opens a session with the Telegram MCP server.
    ///
    /// # Errors
    /// [`McpError::Unavailable`] if the server does not answer as an MCP server should.
    pub async fn open(url: &str, key: &SecretString) -> Result<Self, McpError> {
        let http = http().map_err(|error| McpError::Unavailable(error.to_string()))?;
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(key.expose_secret());
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let opening = Self::over(transport, Hearing::default());
        match tokio::time::timeout(HANDSHAKE, opening).await {
            Ok(opened) => opened.map_err(McpError::Unavailable),
            Err(_) => Err(McpError::Unavailable(format!("no answer within {} s", HANDSHAKE.as_secs()))),
        }
    }

    /// Opens a session over any transport.
    ///
    /// # Errors
    /// The reason, if the server does not answer as an MCP server should.
    pub(super) async fn over<T, E, A>(transport: T, hearing: Hearing) -> Result<Self, String>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let service = hearing.serve(transport).await.map_err(|error| match error {
            ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
            ClientInitializeError::TransportError { error, .. } => innermost(&*error.error),
            ClientInitializeError::JsonRpcError(refusal) => refusal.message.into_owned(),
            // The library's messages for these print Rust types and everything that the server said.
            ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
                "it answers the first request with something else".to_owned()
            }
            other => other.to_string(),
        })?;
        let server_version = service
            .peer_info()
            .and_then(|info| Some(info.server_info.as_ref()?.version.clone()))
            .unwrap_or_default();
        Ok(Self { service, server_version })
    }

    /// Ends the session, so that the server can forget it.
    pub(crate) async fn close(self) {
        drop(tokio::time::timeout(GOODBYE, self.service.cancel()).await);
    }

    /// Makes the connection close soon, even if others still hold it.
    pub(super) fn stop(&self) {
        self.service.cancellation_token().cancel();
    }

    /// Returns `true` if the connection is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Calls a tool of the Telegram MCP server for the bot with this key; `None` for the bot of its environment.
    ///
    /// # Errors
    /// See [`McpError`]. A tool that reports a failure is a [`ToolCallOutput`], not an error.
    pub async fn call(
        &self,
        bot: Option<&str>,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolCallOutput, McpError> {
        let mut params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let meta = |bot| Map::from_iter([(figaro_mcp::BOT_META.to_owned(), Value::from(bot))]);
        params.meta = bot.map(|bot| meta(bot).into());
        let result = self.service.call_tool(params).await.map_err(|error| match error {
            ServiceError::McpError(refusal) => McpError::Refused(refusal.message.into_owned()),
            other => McpError::Lost(other.to_string()),
        })?;
        let text = || {
            let parts = result.content.iter().filter_map(|part| Some(part.as_text()?.text.clone()));
            Value::String(parts.collect::<Vec<_>>().join("\n"))
        };
        let content = result.structured_content.clone().unwrap_or_else(text);
        Ok(ToolCallOutput { content, is_error: result.is_error == Some(true) })
    }

    /// Calls a tool and returns its full result.
    pub(super) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, ServiceError> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        self.service.call_tool(params).await
    }

    /// Returns a page of the tools; the first one if `cursor` is `None`.
    pub(super) async fn tools(&self, cursor: Option<String>) -> Result<ListToolsResult, ServiceError> {
        self.service.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await
    }

    /// Returns `true` if the server declares tools among its capabilities, or has declared nothing yet.
    pub(super) fn has_tools(&self) -> bool {
        self.service.peer_info().is_none_or(|info| info.capabilities.tools.is_some())
    }

    pub(super) async fn ping(&self) -> Result<(), ServiceError> {
        self.service.send_request(ClientRequest::PingRequest(PingRequest::default())).await.map(drop)
    }
}

/// Returns the text of the innermost error. Outer errors may name an address that contains a key.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.last().map(plain).unwrap_or_default()
}

/// Describes in words why a call or a list failed.
pub(super) fn words_of(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(refusal) => refusal.message.clone().into_owned(),
        ServiceError::TransportSend(error) => innermost(&*error.error),
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        other => other.to_string(),
    }
}

/// Builds a client for servers on this machine. A proxy or a redirect would receive the key, so both are off. No
/// certificates are loaded; they take memory.
fn http() -> reqwest::Result<reqwest::Client> {
    let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).tls_certs_only([]);
    client.connect_timeout(HANDSHAKE).http1_only().no_gzip().build()
}
