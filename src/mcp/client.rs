//! Calls tools of the MCP server over streamable HTTP. One [`Connection`] lives as long as the child it speaks to.

use std::time::Duration;

use reqwest::redirect::Policy;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Map, Value};

use crate::secret::{ExposeSecret, SecretString};

/// How long the server may take to say goodbye.
const GOODBYE: Duration = Duration::from_millis(500);
/// How long the handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// An open session with the server.
#[derive(Debug)]
pub struct Connection {
    service: RunningService<RoleClient, ()>,
    /// The server's name and version as it introduced itself; the version carries its build id.
    pub server_version: String,
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The server is not there; it is being restarted, so the same call may work in a moment.
    #[error("the Telegram MCP server is not available ({0})")]
    Unavailable(String),
    /// The call was on its way when the connection broke: whether it acted is not known.
    #[error("the Telegram MCP server was lost during the call ({0})")]
    Lost(String),
    /// The server does not take the call as it is.
    #[error("the Telegram MCP server refused the call: {0}")]
    Refused(String),
}

/// What a call gave: its structured content, and whether the tool says it failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the tool returned.
    pub content: Value,
    /// The tool's own word that it failed.
    pub is_error: bool,
}

impl Connection {
    /// Opens a session.
    ///
    /// # Errors
    /// [`McpError::Unavailable`] when the server does not answer as an MCP server should.
    pub async fn open(url: &str, key: &SecretString) -> Result<Self, McpError> {
        let unavailable = |error: String| McpError::Unavailable(error);
        let http = http().map_err(|error| unavailable(error.to_string()))?;
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(key.expose_secret());
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let opening = async {
            let service = ().serve(transport).await.map_err(|e| unavailable(e.to_string()))?;
            let server_version = service
                .peer_info()
                .and_then(|info| Some(info.server_info.as_ref()?.version.clone()))
                .unwrap_or_default();
            Ok(Self { service, server_version })
        };
        match tokio::time::timeout(HANDSHAKE, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(unavailable(format!("no answer within {} s", HANDSHAKE.as_secs()))),
        }
    }

    /// Says goodbye, so that the server can forget the session.
    pub async fn close(self) {
        drop(tokio::time::timeout(GOODBYE, self.service.cancel()).await);
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// See [`McpError`]; a tool that fails is an [`Answer`].
    pub async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Answer, McpError> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let result = self.service.call_tool(params).await.map_err(|error| match error {
            ServiceError::McpError(refusal) => McpError::Refused(refusal.message.into_owned()),
            other => McpError::Lost(other.to_string()),
        })?;
        let text = || {
            let parts = result.content.iter().filter_map(|part| Some(part.as_text()?.text.clone()));
            Value::String(parts.collect::<Vec<_>>().join("\n"))
        };
        let content = result.structured_content.clone().unwrap_or_else(text);
        Ok(Answer { content, is_error: result.is_error == Some(true) })
    }
}

/// A client for servers on this very machine: a proxy or another address would be handed the key. It needs no
/// certificates, which take memory.
fn http() -> reqwest::Result<reqwest::Client> {
    let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).tls_certs_only([]);
    client.connect_timeout(HANDSHAKE).http1_only().no_gzip().build()
}
