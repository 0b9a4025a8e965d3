//! Error responses of the Bot API, and Telegram's words for faults found by the table. Returned by the methods, sent by
//! `http`.

use figaro_mcp::check::ArgumentFault;
use figaro_mcp::table::Method;
use serde_json::{Map, Value, json};

/// Error response of the Bot API.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{description}")]
pub(crate) struct BotApiError {
    /// `error_code`, also used as HTTP status.
    pub(crate) status: u16,
    /// `description`, in Telegram's words, such as `Bad Request: chat not found`.
    pub(crate) description: String,
    /// `parameters` object, such as `{"retry_after": 5}`.
    pub(crate) parameters: Option<Value>,
}

impl BotApiError {
    pub(super) fn new(status: u16, description: impl Into<String>) -> Self {
        Self { status, description: description.into(), parameters: None }
    }

    pub(super) fn bad(reason: impl AsRef<str>) -> Self {
        Self::new(400, format!("Bad Request: {}", reason.as_ref()))
    }

    pub(super) fn forbidden(reason: &str) -> Self {
        Self::new(403, format!("Forbidden: {reason}"))
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized")
    }

    pub(super) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    pub(super) fn conflict() -> Self {
        Self::new(
            409,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        )
    }

    #[cfg(feature = "testing")]
    pub(super) fn retry_after(seconds: u64) -> Self {
        let parameters = Some(json!({"retry_after": seconds}));
        Self { parameters, ..Self::new(429, format!("Too Many Requests: retry after {seconds}")) }
    }

    pub(super) fn migrated(to: i64) -> Self {
        let parameters = Some(json!({"migrate_to_chat_id": to}));
        Self { parameters, ..Self::bad("group chat was upgraded to a supergroup chat") }
    }

    /// Returns the JSON body of the response.
    #[must_use]
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"ok": false, "error_code": self.status, "description": self.description});
        if let Some(parameters) = &self.parameters {
            body["parameters"] = parameters.clone();
        }
        body
    }
}

/// Converts a fault into an error, in Telegram's words where these are known.
pub(super) fn from_fault(method: &Method, args: &Map<String, Value>, fault: &ArgumentFault) -> BotApiError {
    let words = match fault {
        ArgumentFault::Missing { path } => missing(method, path),
        ArgumentFault::OutOfBounds { path, .. } => out_of_bounds(method, args, path),
        ArgumentFault::Unknown { .. } | ArgumentFault::Mistyped { .. } | ArgumentFault::TooDeep { .. } => {
            None
        }
    };
    BotApiError::bad(words.unwrap_or_else(|| fault.to_string()))
}

fn missing(method: &Method, path: &str) -> Option<String> {
    let takes_file =
        method.params.iter().any(|p| p.name == path && p.ty.to_string().starts_with("InputFile"));
    match path {
        "text" => Some("message text is empty".to_owned()),
        "chat_id" => Some("chat_id is empty".to_owned()),
        "message_id" => Some("message identifier is not specified".to_owned()),
        "user_id" => Some("invalid user_id specified".to_owned()),
        _ if takes_file => Some(format!("there is no {path} in the request")),
        _ => None,
    }
}

fn out_of_bounds(method: &Method, args: &Map<String, Value>, path: &str) -> Option<String> {
    let words = match path {
        "text" if method.name == "answerCallbackQuery" => "MESSAGE_TOO_LONG",
        "text" if args.get("text").and_then(Value::as_str) == Some("") => "message text is empty",
        "text" => "message is too long",
        "caption" => "message caption is too long",
        _ => return None,
    };
    Some(words.to_owned())
}
