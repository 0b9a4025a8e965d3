//! Methods that put a new message into a chat.

use figaro_mcp::table::{ApiTable, ApiType, TypeDef};
use serde_json::{Map, Value, json};

use super::super::error::BotApiError;
use super::super::sample;
use super::super::state::TelegramState;
use super::content::{caption, object, rich_content, text_content};
use super::request::{CheckedRequest, MethodOutcome};
use super::{business, keyboard, media};

/// Fields of a single message that are not copied or forwarded with its content.
const ENVELOPE: [&str; 14] = [
    "message_id",
    "message_thread_id",
    "is_topic_message",
    "from",
    "sender_chat",
    "date",
    "edit_date",
    "chat",
    "forward_origin",
    "reply_to_message",
    "quote",
    "reply_markup",
    "media_group_id",
    "via_bot",
];

pub(super) fn send_message(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let (text, entities) = request.formatted("text", "entities");
    let content = text_content("text", text, entities)?;
    match request.text("business_connection_id") {
        Some(connection) => {
            keyboard::check_place(request.value("reply_markup"), false)?;
            business::send(state, request, connection, content)
        }
        None => post(state, request, content),
    }
}

pub(super) fn send_rich(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let content = rich_content(request)?;
    post(state, request, content)
}

pub(super) fn send_poll(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let options: Vec<Value> = request
        .list("options")
        .iter()
        .enumerate()
        .map(
            |(at, option)| json!({"persistent_id": at.to_string(), "text": option["text"], "voter_count": 0}),
        )
        .collect();
    let kind = request.text("type").unwrap_or("regular");
    if kind == "quiz" && request.list("correct_option_ids").is_empty() {
        return Err(BotApiError::bad("quiz must have correct_option_ids"));
    }
    let mut poll = json!({
        "id": state.fresh("poll-"),
        "question": request.text("question"),
        "options": options,
        "total_voter_count": 0,
        "is_closed": request.flag("is_closed"),
        "is_anonymous": request.value("is_anonymous").and_then(Value::as_bool).unwrap_or(true),
        "type": kind,
        "allows_multiple_answers": request.flag("allows_multiple_answers"),
        // Votes in a quiz are final by default.
        "allows_revoting": request.value("allows_revoting").and_then(Value::as_bool).unwrap_or(kind != "quiz"),
        "members_only": request.flag("members_only"),
    });
    for field in ["correct_option_ids", "explanation", "open_period", "close_date", "question_entities"] {
        if let Some(value) = request.value(field) {
            poll[field] = value.clone();
        }
    }
    post(state, request, object(json!({"poll": poll})))
}

/// Sends a dice emoji with a random value in Telegram's range.
pub(super) fn send_dice(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let emoji = request.text("emoji").unwrap_or("🎲");
    let sides = match emoji {
        "🎲" | "🎯" | "🎳" => 6,
        "🏀" | "⚽" => 5,
        "🎰" => 64,
        _ => return Err(BotApiError::bad("wrong dice emoji specified")),
    };
    // Without random numbers from the system, the value is 1.
    let chance = getrandom::u32().unwrap_or_default();
    post(state, request, object(json!({"dice": {"emoji": emoji, "value": 1 + chance % sides}})))
}

/// Sends a message whose content field is named like the method. Used for methods without their own behaviour.
pub(super) fn send_other(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let field = snake_case(request.method.name.trim_start_matches("send"));
    let Some(ty) = message_field(&field) else {
        return Ok(sample::of_type(&request.method.returns));
    };
    let value = match request.text(&field) {
        Some(source) => media::attached(state, request, &field, ty, source)?,
        None => overlaid(sample::of_type(ty), request),
    };
    let mut content = object(json!({field: value}));
    content.extend(caption(request)?);
    post(state, request, content)
}

pub(super) fn send_media_group(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let group = state.fresh("album-");
    let mut sent = Vec::new();
    for item in request.list("media") {
        let field = item["type"].as_str().unwrap_or_default();
        let Some(ty) = message_field(field) else { continue };
        let source = item["media"].as_str().unwrap_or_default();
        let value = media::attached(state, request, field, ty, source)?;
        let mut content = object(json!({field: value, "media_group_id": group}));
        if let Some(text) = item["caption"].as_str() {
            let entities = item["caption_entities"].as_array().cloned().unwrap_or_default();
            content.extend(text_content("caption", text.to_owned(), entities)?);
        }
        sent.push(post(state, request, content)?);
    }
    Ok(Value::Array(sent))
}

pub(super) fn forward(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let id = request.number("message_id").unwrap_or_default();
    let original =
        original(state, request, id).ok_or_else(|| BotApiError::bad("message to forward not found"))?;
    post(state, request, forwarded(&original))
}

pub(super) fn forward_many(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    many(state, request, |original| forwarded(&original))
}

pub(super) fn copy(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let id = request.number("message_id").unwrap_or_default();
    let original =
        original(state, request, id).ok_or_else(|| BotApiError::bad("message to copy not found"))?;
    let mut content = bare(&original);
    content.extend(caption(request)?);
    let sent = post(state, request, content)?;
    Ok(json!({"message_id": sent["message_id"]}))
}

pub(super) fn copy_many(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    many(state, request, |original| bare(&original))
}

/// Stores a message of the bot in the chat of the call, and removes the drafts there.
pub(super) fn post(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    content: Map<String, Value>,
) -> MethodOutcome {
    let chat_id = request.chat(state)?;
    let keyboard = keyboard::inline(request.value("reply_markup"), state.world.is_private(chat_id))?;
    let (reply, replied_thread) = reply(state, request, chat_id)?;
    let asked = request.thread(state, chat_id)?;
    #[cfg(feature = "testing")]
    request.count_message(state, chat_id)?;
    let placed = state.world.placed(chat_id, asked.or(replied_thread));
    let bot = state.world.bot.json();
    let Some(chat) = state.world.chats.get_mut(&chat_id) else {
        return Err(BotApiError::bad("chat not found"));
    };
    let mut message = object(json!({
        "message_id": chat.next_message_id(), "from": bot, "chat": chat.json(), "date": request.now,
    }));
    message.extend(placed);
    message.extend(reply);
    message.extend(content);
    if let Some(keyboard) = keyboard {
        message.insert("reply_markup".to_owned(), keyboard);
    }
    let message = Value::Object(message);
    state.store(chat_id, &message);
    if let Some(asked) = keyboard::reply_asked(request.value("reply_markup"), &message, &state.world) {
        state.tell("reply_asked", asked);
    }
    state.end_drafts(chat_id, |_| true);
    Ok(message)
}

/// Returns the fields of a reply, and the topic of the replied message.
fn reply(
    state: &TelegramState,
    request: &CheckedRequest<'_>,
    chat: i64,
) -> Result<(Map<String, Value>, Option<i64>), BotApiError> {
    let Some(parameters) = request.value("reply_parameters") else {
        return Ok((Map::new(), None));
    };
    let elsewhere = match &parameters["chat_id"] {
        Value::Null => None,
        id => Some(state.world.find(id).ok_or_else(|| BotApiError::bad("chat not found"))?)
            .filter(|c| *c != chat),
    };
    let id = parameters["message_id"].as_i64().unwrap_or_default();
    let replied = state.world.chats.get(&elsewhere.unwrap_or(chat)).and_then(|c| c.as_replied_to(id));
    let Some(replied) = replied else {
        return match parameters["allow_sending_without_reply"].as_bool() {
            Some(true) => Ok((Map::new(), None)),
            _ => Err(BotApiError::bad("message to be replied not found")),
        };
    };
    if elsewhere.is_some() {
        return Ok((Map::new(), None));
    }
    let mut fields = Map::new();
    if let Some(quote) = parameters["quote"].as_str() {
        let text = replied["text"].as_str().or(replied["caption"].as_str()).unwrap_or_default();
        let at = text.find(quote).ok_or_else(|| BotApiError::bad("QUOTE_TEXT_INVALID"))?;
        let position = text[..at].encode_utf16().count();
        fields.insert("quote".to_owned(), json!({"text": quote, "position": position, "is_manual": true}));
    }
    let in_topic = replied["is_topic_message"].as_bool().unwrap_or(false);
    let topic = replied["message_thread_id"].as_i64().filter(|_| in_topic);
    fields.insert("reply_to_message".to_owned(), replied);
    Ok((fields, topic))
}

fn original(state: &TelegramState, request: &CheckedRequest<'_>, id: i64) -> Option<Value> {
    let chat = request.chat_named(state, "from_chat_id").ok()?;
    state.world.chats.get(&chat)?.messages.get(&id).cloned()
}

/// Copies or forwards several messages. Skips unknown ids, as Telegram does.
fn many(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    content: fn(Value) -> Map<String, Value>,
) -> MethodOutcome {
    let ids: Vec<i64> = request.list("message_ids").iter().filter_map(Value::as_i64).collect();
    let mut sent = Vec::new();
    for id in ids {
        let Some(original) = original(state, request, id) else {
            continue;
        };
        let message = post(state, request, content(original))?;
        sent.push(json!({"message_id": message["message_id"]}));
    }
    Ok(Value::Array(sent))
}

fn bare(original: &Value) -> Map<String, Value> {
    let mut content = original.as_object().cloned().unwrap_or_default();
    content.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
    content
}

fn forwarded(original: &Value) -> Map<String, Value> {
    let mut content = bare(original);
    let origin = match &original["forward_origin"] {
        Value::Null => json!({"type": "user", "date": original["date"], "sender_user": original["from"]}),
        origin => origin.clone(),
    };
    content.insert("forward_origin".to_owned(), origin);
    content
}

/// Replaces the fields of a sample for which the call has arguments.
fn overlaid(mut value: Value, request: &CheckedRequest<'_>) -> Value {
    if let Some(fields) = value.as_object_mut() {
        for (name, field) in fields.iter_mut() {
            if let Some(given) = request.value(name) {
                *field = given.clone();
            }
        }
    }
    value
}

fn message_field(name: &str) -> Option<&'static ApiType> {
    let Some(TypeDef::Fields(fields)) = ApiTable::get().type_def("Message") else {
        return None;
    };
    fields.iter().find(|f| f.name == name).map(|f| &f.ty)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
