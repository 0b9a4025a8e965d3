//! Reads messages of servers leniently. rmcp refuses a whole message for one odd field, and its caller then waits in
//! vain. So each message is brought into the form of the protocol before rmcp reads it. Called by the transports,
//! [`super::stdio`] and [`super::http`].

mod content;
mod json;
mod results;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value, json};

pub(super) use self::content::unknown_kind;

/// Reads the messages of one server. Clones share the pending requests.
#[derive(Debug, Clone, Default)]
pub(super) struct LenientReader {
    /// Requests without an answer yet.
    pending: Arc<Mutex<HashMap<RequestId, RequestKind>>>,
}

/// Kind of a request. It decides the form of the result.
#[derive(Debug, Clone, Copy)]
enum RequestKind {
    Initialize,
    Tools,
    Call,
    Other,
}

impl LenientReader {
    /// Records a message that is sent to the server.
    pub(super) fn sent(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let asked = match request.request {
                    ClientRequest::InitializeRequest(_) => RequestKind::Initialize,
                    ClientRequest::ListToolsRequest(_) => RequestKind::Tools,
                    ClientRequest::CallToolRequest(_) => RequestKind::Call,
                    _ => RequestKind::Other,
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

    /// Returns the messages in a text: one, those of a batch, or none. `of` is the only request that the text can
    /// answer, if the transport knows it.
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
        // A null means the same as a missing field, and is no id.
        fields.retain(|_, value| !value.is_null() && *value != false);
        let is_answer = fields.contains_key("result") || fields.contains_key("error");
        if is_answer || !fields.contains_key("method") {
            return self.answer(&mut fields, of);
        }
        fields.insert("jsonrpc".to_owned(), json!("2.0"));
        Some(Value::Object(fields))
    }

    /// Converts an answer to a pending request. Other answers are dropped.
    fn answer(&self, fields: &mut Map<String, Value>, of: Option<&RequestId>) -> Option<Value> {
        let (result, error) = (fields.remove("result"), fields.remove("error"));
        // A message without a result or an error counts as an answer only by its id.
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

    /// Takes the pending request with the id of the answer, or else the only one that it can belong to.
    fn answered(&self, id: Option<RequestId>, of: Option<&RequestId>) -> Option<(RequestId, RequestKind)> {
        let mut pending = self.pending.lock();
        id.and_then(|id| pending.remove_entry(&id)).or_else(|| pending.remove_entry(of?))
    }
}

impl RequestKind {
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

/// Converts a message to rmcp's type.
pub(super) fn typed(message: Value) -> Option<ServerJsonRpcMessage> {
    let odd = |error| tracing::debug!(%error, "a message of an MCP server is none");
    serde_json::from_value(message).map_err(odd).ok()
}

/// Reads the id of a request. Ours are always numbers, but some servers send them back as text or a fraction.
fn request_id(id: &Value) -> Option<RequestId> {
    let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    text.trim().trim_end_matches(".0").parse().ok().map(RequestId::Number)
}
