//! Requests for a summary of a part of a conversation: recognised by their instructions, and answered by rule unless the
//! brain answers.

use serde_json::json;

use super::reply::ModelReply;
use super::request::{ModelRequest, last_element};

/// First words of the instructions of such a request.
const BEGINS: &str = "You summarise conversations.";
/// Maximum length of the quoted last message, in characters.
const CHARS: usize = 60;

/// Returns `true` if a request asks for a summary.
pub(super) fn is_asked(request: &ModelRequest) -> bool {
    request.instructions().starts_with(BEGINS)
}

/// Returns a summary with the number of messages and the beginning of the last one.
pub(super) fn reply(request: &ModelRequest) -> ModelReply {
    let text = request.user_text();
    let count = text.lines().filter(|line| line.starts_with("<said ")).count();
    let last = last_element(&text, "said").map(|said| said.text.chars().take(CHARS).collect::<String>());
    let summary = format!("They exchanged {count} messages. The last: {}", last.unwrap_or_default());
    ModelReply::text(&json!({"summary": summary, "importance": 5}).to_string())
}
