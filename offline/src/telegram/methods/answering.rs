//! Methods without a resulting message: drafts, chat actions, reactions, answers to button presses.

use figaro_mcp::table::ApiField;
use serde_json::json;
use tokio::time::Instant;

use super::super::amend;
use super::super::error::BotApiError;
use super::super::state::TelegramState;
use super::super::world::{ChatType, MessageDraft};
use super::content::rich_content;
use super::request::{CheckedRequest, MethodOutcome};

pub(super) fn draft(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = request.chat(state)?;
    if state.world.chats.get(&chat).is_none_or(|c| c.kind != ChatType::Private) {
        return Err(BotApiError::bad("TEXTDRAFT_PEER_INVALID"));
    }
    let id = request.number("draft_id").unwrap_or_default();
    if id == 0 {
        return Err(BotApiError::bad("draft identifier must be non-zero"));
    }
    let thread = request.thread(state, chat)?;
    let rich = match request.value("rich_message") {
        Some(_) => rich_content(request)?.remove("rich_message"),
        None => None,
    };
    let draft = MessageDraft {
        id,
        thread,
        text: request.text("text").unwrap_or_default().to_owned(),
        entities: request.list("entities").to_vec(),
        rich,
        can_stop: request.flag("can_stop"),
        keep_on_stop: request.flag("keep_on_stop"),
        expires: Instant::now(),
    };
    state.draft(chat, draft);
    Ok(json!(true))
}

pub(super) fn chat_action(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = request.chat(state)?;
    let thread = request.thread(state, chat)?;
    let action = request.text("action").unwrap_or_default();
    let known = request.method.params.iter().find(|p| p.name == "action");
    if !named(known, action) {
        return Err(BotApiError::bad("wrong parameter action in request"));
    }
    let mut data = json!({"chat_id": chat, "action": action});
    if let Some(thread) = thread {
        data["message_thread_id"] = json!(thread);
    }
    state.tell("chat_action", data);
    Ok(json!(true))
}

pub(super) fn react(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat_id = request.chat(state)?;
    let id = request.number("message_id").unwrap_or_default();
    let reactions = request.list("reaction");
    let Some(chat) = state.world.chats.get_mut(&chat_id).filter(|c| c.messages.contains_key(&id)) else {
        return Err(BotApiError::bad("message to react not found"));
    };
    if reactions.len() > 1 {
        return Err(BotApiError::bad("REACTIONS_TOO_MANY"));
    }
    if !reactions.iter().all(|r| amend::reactions().any(|known| r["emoji"] == known)) {
        return Err(BotApiError::bad("REACTION_INVALID"));
    }
    chat.reactions.insert(id, reactions.to_vec());
    state.tell_reactions(chat_id, id);
    Ok(json!(true))
}

pub(super) fn answer_press(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let id = request.text("callback_query_id").unwrap_or_default();
    let Some(press) = state.presses.get_mut(id).filter(|p| p.answer.is_none()) else {
        return Err(BotApiError::bad("query is too old and response timeout expired or query ID is invalid"));
    };
    let mut answer = json!({"callback_query_id": id, "show_alert": request.flag("show_alert")});
    if let Some(text) = request.text("text").filter(|t| !t.is_empty()) {
        answer["text"] = json!(text);
    }
    press.answer = Some(answer.clone());
    state.tell("callback_answer", answer);
    Ok(json!(true))
}

/// Returns `true` if the table lists the value for the field.
fn named(field: Option<&ApiField>, value: &str) -> bool {
    field.is_some_and(|f| f.one_of.iter().any(|known| known == value))
}
