//! Answers to inline and guest queries, and edits of the messages that came of them.

use serde_json::{Map, Value, json};

use super::super::error::BotApiError;
use super::super::state::TelegramState;
use super::request::{CheckedRequest, MethodOutcome};
use super::{content, keyboard};

/// Maximum number of results of one answer.
const MAX_RESULTS: usize = 50;
/// Maximum length of the id of a result, in bytes.
const MAX_ID_BYTES: usize = 64;

pub(super) fn answer_query(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let results = request.list("results");
    if results.len() > MAX_RESULTS {
        return Err(BotApiError::bad("RESULTS_TOO_MUCH"));
    }
    results.iter().try_for_each(check_result)?;
    let ids: std::collections::BTreeSet<_> =
        results.iter().filter_map(|result| result["id"].as_str()).collect();
    if ids.len() < results.len() {
        return Err(BotApiError::bad("RESULT_ID_DUPLICATE"));
    }
    let query = state.inline.open_query(request.text("inline_query_id").unwrap_or_default())?;
    query.answer = Some(request.args.fields.clone());
    Ok(json!(true))
}

pub(super) fn answer_guest(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let result = request.value("result").cloned().unwrap_or_default();
    check_result(&result)?;
    let query = state.inline.open_query(request.text("guest_query_id").unwrap_or_default())?;
    query.answer = Some(request.args.fields.clone());
    let id = state.fresh("inline-");
    state.inline.send(id.clone(), &result);
    Ok(json!({"inline_message_id": id}))
}

/// Edits a message by its `inline_message_id`. `content` is what the edit replaces the text by; `None` changes the keyboard
/// alone.
pub(super) fn edit(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    content: Option<Map<String, Value>>,
) -> MethodOutcome {
    let versions = state.inline.messages.get_mut(request.text("inline_message_id").unwrap_or_default());
    let Some((versions, old)) =
        versions.and_then(|versions| versions.last().cloned().map(|old| (versions, old)))
    else {
        return Err(BotApiError::bad("MESSAGE_ID_INVALID"));
    };
    let mut new = match content {
        Some(content) => content,
        None => content::object(old.clone()),
    };
    new.remove("reply_markup");
    let keyboard = keyboard::inline(request.value("reply_markup"), false)?;
    new.extend(keyboard.map(|rows| ("reply_markup".to_owned(), rows)));
    if content::object(old) == new {
        return Err(BotApiError::bad("MESSAGE_NOT_MODIFIED: message is not modified"));
    }
    let new = Value::Object(new);
    versions.push(new.clone());
    state.tell("inline", new);
    Ok(json!(true))
}

/// Checks a result: its id, a title for an article, and the text it sends.
fn check_result(result: &Value) -> Result<(), BotApiError> {
    let id = result["id"].as_str().unwrap_or_default();
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        return Err(BotApiError::bad("RESULT_ID_INVALID"));
    }
    if result["type"] == "article" {
        if result["title"].as_str().is_none_or(str::is_empty) {
            return Err(BotApiError::bad("ARTICLE_TITLE_EMPTY"));
        }
        let sent = &result["input_message_content"];
        let text = sent["message_text"].as_str().unwrap_or_default();
        if text.is_empty() && sent.get("rich_message").is_none() {
            return Err(BotApiError::bad("MESSAGE_EMPTY"));
        }
        if text.encode_utf16().count() > 4096 {
            return Err(BotApiError::bad("MESSAGE_TOO_LONG"));
        }
    }
    keyboard::check(result.get("reply_markup"))?;
    keyboard::check_place(result.get("reply_markup"), false)
}
