//! Calls of tools of other servers: within a time, few at once, and never waiting for a server that is gone.

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
use super::server::{Phase, Server, Status};
use super::tools::ServerTool;
use crate::client::words_of;

/// How long a call waits for a server that is being started.
const STARTING: Duration = Duration::from_secs(10);
/// How long it waits for others to end.
const BUSY: Duration = Duration::from_secs(30);

/// How types of documents end that are made of words, beside all of `text/`.
const TEXTUAL: [&str; 4] = ["json", "xml", "yaml", "javascript"];

/// What is said of a server that ends while it is called.
const ENDED: &str = "it ended during the call";

/// What a tool returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The parts of it, in their order.
    pub parts: Vec<Part>,
    /// The same as one JSON value, where the tool gives one.
    pub structured: Option<Value>,
    /// The tool's own word that it failed.
    pub is_error: bool,
}

/// A part of what a tool returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text of the server, as it sent it.
    Text(String),
    /// A picture.
    Image {
        /// Its media type, such as `image/png`.
        media_type: String,
        /// Its bytes as base64.
        base64: String,
    },
    /// Sound.
    Audio {
        /// Its media type.
        media_type: String,
        /// How many characters its base64 has.
        length: usize,
    },
    /// A document that came with the answer.
    Resource {
        /// What the server calls it by.
        uri: String,
        /// Its media type, where that is known.
        media_type: Option<String>,
        /// Its words; `None` for what has none.
        text: Option<String>,
    },
    /// A document that the server has.
    Link {
        /// What the server calls it by.
        uri: String,
        /// Its name for people.
        name: String,
        /// What is in it.
        description: Option<String>,
    },
    /// Something that cannot be read, of this type by the server's word.
    Unknown(String),
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server is not there, or busy; nothing was called. No word is the server's own.
    #[error("it is not available: {0}")]
    Unavailable(String),
    /// The server does not take the call as it is. The words are the server's own.
    #[error("it refused the call: {0}")]
    Refused(String),
    /// The connection broke, the answer cannot be used or did not come: whether the call acted is not known. No word is the
    /// server's own.
    #[error("{0}")]
    Lost(String),
}

impl Server {
    /// How long a call takes at most, with the time that it waits before it is made.
    #[must_use]
    pub fn longest_call(&self) -> Duration {
        STARTING + BUSY + self.config.timeout
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// See [`CallError`]. A tool that fails is a [`Reply`].
    pub async fn call(&self, tool: &ServerTool, arguments: Map<String, Value>) -> Result<Reply, CallError> {
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
        let is_gone = |now: &Status| now.connection.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &connection));
        tokio::select! {
            answer = timeout(self.config.timeout, connection.call_tool(&tool.remote, arguments)) => match answer {
                Ok(answer) => answer.map(Reply::from).map_err(|error| self.failed(error)),
                Err(_) => {
                    self.suspected.notify_one();
                    Err(CallError::Lost(format!("it gave no answer within {} s", self.config.timeout.as_secs())))
                }
            },
            () = grown(&mut too_long) => Err(CallError::Lost(recipe::too_long())),
            // The client would wait for an answer that cannot come any more.
            _ = status.wait_for(is_gone) => Err(CallError::Lost(ENDED.to_owned())),
        }
    }

    /// Why it is not there.
    fn why(&self) -> String {
        match self.status().phase {
            Phase::Off => "mcp.json has it off, or has it no more".to_owned(),
            Phase::Starting | Phase::Ready => "it is being started; try again later".to_owned(),
            // Why it failed is in words of its own, which are for people: a model might obey them.
            Phase::Failed(_) => "it failed and is tried again; /mcp tells an owner why".to_owned(),
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

impl From<CallToolResult> for Reply {
    fn from(result: CallToolResult) -> Self {
        Self {
            parts: result.content.into_iter().map(Part::from).collect(),
            structured: result.structured_content,
            is_error: result.is_error == Some(true),
        }
    }
}

impl From<ContentBlock> for Part {
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

/// The words in the bytes of a document, if it is one of words by its type or by what is in it.
fn words(media_type: Option<&str>, blob: &str) -> Option<String> {
    let kind = media_type.and_then(|kind| kind.split(';').next()).unwrap_or("text/").trim();
    let is_text = kind.starts_with("text/") || TEXTUAL.iter().any(|end| kind.ends_with(end));
    let bytes = is_text.then(|| STANDARD.decode(blob.trim()).ok()).flatten()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
