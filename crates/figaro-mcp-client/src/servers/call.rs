//! Calls of tools of other servers: limited in time and number. A call never waits for a server that is gone.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::ServiceError;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;

use super::keeper::grown;
use super::lenient::unknown_kind;
use super::recipe;
use super::server::{Server, ServerPhase, ServerStatus};
use super::tools::ServerTool;
use crate::client::words_of;

/// Maximum wait of a call for a server that is starting.
const STARTING: Duration = Duration::from_secs(10);
/// Maximum wait of a call for other calls to end.
const BUSY: Duration = Duration::from_secs(30);

/// Suffixes of media types that are text, besides all of `text/`.
const TEXTUAL: [&str; 4] = ["json", "xml", "yaml", "javascript"];

/// Reason given when a server ends during a call.
const ENDED: &str = "it ended during the call";

/// Result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerResult {
    /// Parts of the result, in their order.
    pub parts: Vec<ToolResultPart>,
    /// Structured content as one JSON value; `None` if the tool gives none.
    pub structured: Option<Value>,
    /// `true` if the tool itself reports a failure.
    pub is_error: bool,
}

/// Part of a tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolResultPart {
    /// Text as the server sent it.
    Text(String),
    /// Picture returned by the tool.
    Image {
        /// Media type, such as `image/png`.
        media_type: String,
        /// Content of the picture, encoded as base64.
        base64: String,
    },
    /// Sound returned by the tool. Its content is dropped.
    Audio {
        /// Media type, such as `audio/wav`.
        media_type: String,
        /// Length of the base64 content, in characters.
        length: usize,
    },
    /// Document embedded in the result.
    Resource {
        /// Address of the document at the server.
        uri: String,
        /// Media type; `None` if unknown.
        media_type: Option<String>,
        /// Text of the document; `None` if it is not text.
        text: Option<String>,
    },
    /// Reference to a document that stays at the server.
    Link {
        /// Address of the document at the server.
        uri: String,
        /// Name of the document for people.
        name: String,
        /// Description of the document by the server.
        description: Option<String>,
    },
    /// Part that cannot be read. Holds the type that the server gave.
    Unknown(String),
}

/// Reason why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server is down or busy; nothing was called. The text is ours.
    #[error("it is not available: {0}")]
    Unavailable(String),
    /// The server refuses the call as it stands. The text is the server's own.
    #[error("it refused the call: {0}")]
    Refused(String),
    /// The connection broke, or the answer is unusable or did not come. The call may or may not have acted. The text
    /// is ours.
    #[error("{0}")]
    Lost(String),
}

impl Server {
    /// Returns the maximum duration of a call, including the wait before it.
    #[must_use]
    pub fn longest_call(&self) -> Duration {
        STARTING + BUSY + self.config.timeout
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// See [`CallError`]. A tool that reports a failure is a [`ServerResult`], not an error.
    pub async fn call(
        &self,
        tool: &ServerTool,
        arguments: Map<String, Value>,
    ) -> Result<ServerResult, CallError> {
        let mut status = self.watch();
        let starting = timeout(STARTING, status.wait_for(|status| status.connection.is_some()));
        let connection = match starting.await {
            Ok(Ok(status)) => status.connection.clone(),
            Ok(Err(_)) | Err(_) => None,
        };
        let Some(connection) = connection else { return Err(CallError::Unavailable(self.why())) };
        if !self.status().tools.iter().any(|known| known.remote == tool.remote) {
            return Err(CallError::Unavailable("it has no such tool any more".to_owned()));
        }
        let Ok(Ok(_permit)) = timeout(BUSY, self.calls.acquire()).await else {
            return Err(CallError::Unavailable(
                "too many calls of it are under way; try again later".to_owned(),
            ));
        };
        let mut too_long = self.status().too_long;
        too_long.iter_mut().for_each(watch::Receiver::mark_unchanged);
        let is_gone =
            |now: &ServerStatus| now.connection.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &connection));
        tokio::select! {
            answer = timeout(self.config.timeout, connection.call_tool(&tool.remote, arguments)) => match answer {
                Ok(answer) => answer.map(ServerResult::from).map_err(|error| self.failed(error)),
                Err(_) => {
                    self.suspected.notify_one();
                    Err(CallError::Lost(format!("it gave no answer within {} s", self.config.timeout.as_secs())))
                }
            },
            () = grown(&mut too_long) => Err(CallError::Lost(recipe::too_long())),
            // The client would wait for an answer that can no longer come.
            _ = status.wait_for(is_gone) => Err(CallError::Lost(ENDED.to_owned())),
        }
    }

    /// Explains why the server is unavailable.
    fn why(&self) -> String {
        match self.status().phase {
            ServerPhase::Off => "mcp.json has it off, or has it no more".to_owned(),
            ServerPhase::Starting | ServerPhase::Ready => "it is being started; try again later".to_owned(),
            // The reason of the failure is the server's own text. It is for people only: a model might obey it.
            ServerPhase::Failed(_) => "it failed and is tried again; /mcp tells an owner why".to_owned(),
        }
    }

    fn failed(&self, error: ServiceError) -> CallError {
        match error {
            ServiceError::McpError(refusal) => CallError::Refused(refusal.message.into_owned()),
            ServiceError::TransportClosed => {
                self.suspected.notify_one();
                CallError::Lost(ENDED.to_owned())
            }
            other => {
                self.suspected.notify_one();
                let (server, why) = (&self.config.name, self.told(&words_of(&other)));
                tracing::warn!(server, why, "a call of an MCP server broke");
                CallError::Lost("the call broke; the log says why".to_owned())
            }
        }
    }
}

impl From<CallToolResult> for ServerResult {
    fn from(result: CallToolResult) -> Self {
        Self {
            parts: result.content.into_iter().map(ToolResultPart::from).collect(),
            structured: result.structured_content,
            is_error: result.is_error == Some(true),
        }
    }
}

impl From<ContentBlock> for ToolResultPart {
    fn from(block: ContentBlock) -> Self {
        match block {
            ContentBlock::Text(text) => match unknown_kind(&text) {
                Some(kind) => Self::Unknown(kind.to_owned()),
                None => Self::Text(text.text),
            },
            ContentBlock::Image(image) => Self::Image { media_type: image.mime_type, base64: image.data },
            ContentBlock::Audio(audio) => {
                Self::Audio { media_type: audio.mime_type, length: audio.data.len() }
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                    Self::Resource { uri, media_type: mime_type, text: Some(text) }
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => match mime_type {
                    Some(media_type) if media_type.starts_with("image/") => {
                        Self::Image { media_type, base64: blob }
                    }
                    media_type => {
                        let text = words(media_type.as_deref(), &blob);
                        Self::Resource { uri, media_type, text }
                    }
                },
                _ => Self::Unknown("resource".to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                Self::Link { uri: link.uri, name: link.name, description: link.description }
            }
            _ => Self::Unknown(String::new()),
        }
    }
}

/// Decodes a document, if its type or its bytes show that it is text.
fn words(media_type: Option<&str>, blob: &str) -> Option<String> {
    let kind = media_type.and_then(|kind| kind.split(';').next()).unwrap_or("text/").trim();
    let is_text = kind.starts_with("text/") || TEXTUAL.iter().any(|end| kind.ends_with(end));
    let bytes = is_text.then(|| STANDARD.decode(blob.trim()).ok()).flatten()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
