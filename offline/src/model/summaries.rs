//! Requests for a summary of a part of a conversation: known by how their instructions begin, and answered by rule where nobody
//! says otherwise.

use serde_json::json;

use super::reply::ModelReply;
use super::request::{ModelRequest, last_element};

/// How the instructions of such a request begin.
const BEGINS: &str = "You summarise conversations.";
/// So much of the last words of a person stands in the summary.
const CHARS: usize = 60;

/// Whether a request asks for a summary.
pub(super) fn is_asked(request: &ModelRequest) -> bool {
    request.instructions().starts_with(BEGINS)
}

/// A summary that says how much there was, and how its last message begins.
pub(super) fn reply(request: &ModelRequest) -> ModelReply {
    let text = request.user_text();
    let count = text.lines().filter(|line| line.starts_with("<said ")).count();
    let last = last_element(&text, "said").map(|said| said.text.chars().take(CHARS).collect::<String>());
    let summary = format!("They exchanged {count} messages. The last: {}", last.unwrap_or_default());
    ModelReply::text(&json!({"summary": summary, "importance": 5}).to_string())
}
