//! Messages of servers, read leniently: rmcp refuses a whole message for one odd field, and whoever waits for it waits in vain.
//! Each is brought into the form of the protocol before rmcp reads it. Called by the transports, [`super::stdio`] and
//! [`super::http`].

mod content;
mod json;
mod results;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value, json};

pub(super) use self::content::unknown_kind;

/// Reads the messages of one server. Clones share what was asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    /// The requests that have no answer yet.
    pending: Arc<Mutex<HashMap<RequestId, Asked>>>,
}

/// A kind of request, which decides the form of its result.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Initialize,
    Tools,
    Call,
    Other,
}

impl Reader {
    /// Notes a message that goes to the server.
    pub(super) fn sent(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let asked = match request.request {
                    ClientRequest::InitializeRequest(_) => Asked::Initialize,
                    ClientRequest::ListToolsRequest(_) => Asked::Tools,
                    ClientRequest::CallToolRequest(_) => Asked::Call,
                    _ => Asked::Other,
                };
                self.pending.lock().insert(request.id.clone(), asked);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    let id = cancelled.params.request_id.as_ref();
                    id.and_then(|id| self.pending.lock().remove(id));
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
    }

    /// The messages in a text: one, several of a batch, or none. `of` is the one request that the text can answer, where the
    /// transport knows it.
    pub(super) fn read(&self, text: &[u8], of: Option<&RequestId>) -> Vec<Value> {
        let messages = match json::parse(text) {
            Some(Value::Array(batch)) => batch,
            Some(message) => vec![message],
            None => Vec::new(),
        };
        messages.into_iter().filter_map(|message| self.message(message, of)).collect()
    }

    fn message(&self, message: Value, of: Option<&RequestId>) -> Option<Value> {
        let Value::Object(mut fields) = message else { return None };
        // A null says as much as a field that is not there, and is no id.
        fields.retain(|_, value| !value.is_null() && *value != false);
        let is_answer = fields.contains_key("result") || fields.contains_key("error");
        if is_answer || !fields.contains_key("method") {
            return self.answer(&mut fields, of);
        }
        fields.insert("jsonrpc".to_owned(), json!("2.0"));
        Some(Value::Object(fields))
    }

    /// An answer to a request that waits for one; others are nobody's.
    fn answer(&self, fields: &mut Map<String, Value>, of: Option<&RequestId>) -> Option<Value> {
        let (result, error) = (fields.remove("result"), fields.remove("error"));
        // What has neither a result nor an error is an answer by its id alone.
        let of = of.filter(|_| result.is_some() || error.is_some());
        let Some((id, asked)) = self.answered(fields.get("id").and_then(request_id), of) else {
            tracing::debug!(has_error = error.is_some(), "an MCP server answers what nobody waits for");
            return None;
        };
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        match error {
            Some(error) => answer["error"] = results::error(&error),
            None => answer["result"] = asked.result(result.unwrap_or_default()),
        }
        Some(answer)
    }

    /// The request with the id of an answer, or else the one that it can only be of. It waits no more.
    fn answered(&self, id: Option<RequestId>, of: Option<&RequestId>) -> Option<(RequestId, Asked)> {
        let mut pending = self.pending.lock();
        id.and_then(|id| pending.remove_entry(&id)).or_else(|| pending.remove_entry(of?))
    }
}

impl Asked {
    fn result(self, result: Value) -> Value {
        match self {
            Self::Initialize => results::initialize(&result),
            Self::Tools => results::tools(&result),
            Self::Call => content::result(result),
            Self::Other if result.is_object() => result,
            Self::Other => json!({}),
        }
    }
}

/// A message that was read, as rmcp has it.
pub(super) fn typed(message: Value) -> Option<ServerJsonRpcMessage> {
    let odd = |error| tracing::debug!(%error, "a message of an MCP server is none");
    serde_json::from_value(message).map_err(odd).ok()
}

/// The id of a request, which is always a number, though some send it back as a text or a fraction.
fn request_id(id: &Value) -> Option<RequestId> {
    let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    text.trim().trim_end_matches(".0").parse().ok().map(RequestId::Number)
}
