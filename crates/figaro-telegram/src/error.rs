//! Errors of Bot API calls. Used by `api` and `batch`; pure.

use std::time::Duration;

use serde::Deserialize;

use figaro_base::ids::ChatId;

/// Error of a call, by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The token is invalid; only the owner can fix that.
    #[error("Telegram refused the bot's token")]
    Unauthorized,
    /// Another process polls with the same token.
    #[error("another process is getting this bot's updates")]
    Conflict,
    /// Rate limit: wait this long, then try again.
    #[error("Telegram asks to wait {} s", .0.as_secs())]
    RetryAfter(Duration),
    /// The group became a supergroup with this id.
    #[error("the group has become the supergroup {0}")]
    Migrated(ChatId),
    /// Telegram refuses the call; holds its description.
    #[error("{0}")]
    Refused(String),
    /// Telegram was not reached and did nothing, so a retry is safe.
    #[error("Telegram cannot be reached ({0})")]
    Unreachable(String),
    /// The outcome is unknown: the call may or may not have taken effect.
    #[error("Telegram did not answer ({0})")]
    Unclear(String),
}

/// Body of an answer that is not a success.
#[derive(Deserialize)]
struct ErrorBody {
    error_code: u16,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: ErrorParameters,
}

#[derive(Default, Deserialize)]
struct ErrorParameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

impl ApiError {
    /// Converts an answer with this HTTP status that is not `"ok": true`.
    ///
    /// The outcome of a server error (5xx) is unknown. Telegram answers an unknown token with 401, and a malformed
    /// token with a bare 404.
    #[must_use]
    pub(crate) fn of_answer(status: u16, body: &str) -> Self {
        let Ok(ErrorBody { error_code, description, parameters }) = serde_json::from_str(body) else {
            return Self::Unclear(match status {
                200..300 => "the answer is none of Telegram's".to_owned(),
                _ => format!("status {status}"),
            });
        };
        if let Some(seconds) = parameters.retry_after {
            return Self::RetryAfter(Duration::from_secs(seconds));
        }
        if let Some(chat) = parameters.migrate_to_chat_id {
            return Self::Migrated(ChatId(chat));
        }
        match error_code {
            401 => Self::Unauthorized,
            404 if description == "Not Found" => Self::Unauthorized,
            409 => Self::Conflict,
            500.. => Self::Unclear(description),
            _ => Self::Refused(description),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        let unclear = |words: &str| ApiError::Unclear(words.to_owned());
        let refused = |words: &str| ApiError::Refused(words.to_owned());
        let cases = [
            (200, "{}", unclear("the answer is none of Telegram's")),
            (200, "", unclear("the answer is none of Telegram's")),
            (502, "<html>Bad Gateway</html>", unclear("status 502")),
            (413, "<html>Request Entity Too Large</html>", unclear("status 413")),
            (500, r#"{"ok":false,"error_code":500,"description":"x"}"#, unclear("x")),
            (401, r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#, ApiError::Unauthorized),
            (404, r#"{"ok":false,"error_code":404,"description":"Not Found"}"#, ApiError::Unauthorized),
            (
                404,
                r#"{"ok":false,"error_code":404,"description":"Not Found: method"}"#,
                refused("Not Found: method"),
            ),
            (409, r#"{"ok":false,"error_code":409,"description":"x"}"#, ApiError::Conflict),
            (400, r#"{"ok":false,"error_code":400,"description":"x"}"#, refused("x")),
            (
                400,
                r#"{"ok":false,"error_code":400,"description":"x","parameters":{"migrate_to_chat_id":-1007}}"#,
                ApiError::Migrated(ChatId(-1007)),
            ),
            (
                429,
                r#"{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":7}}"#,
                ApiError::RetryAfter(Duration::from_secs(7)),
            ),
        ];
        for (status, body, wanted) in cases {
            assert_eq!(ApiError::of_answer(status, body), wanted, "{body}");
        }
    }
}
