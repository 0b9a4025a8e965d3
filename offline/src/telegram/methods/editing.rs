//! Methods that change or delete messages.

use figaro_mcp::table::ApiType;
use serde_json::{Map, Value, json};

use super::super::error::BotApiError;
use super::super::sample;
use super::super::state::TelegramState;
use super::super::world::ChatType;
use super::request::{CheckedRequest, MethodOutcome};
use super::{content, inline, keyboard, media as files};

const HOURS_48: i64 = 48 * 3600;
/// Fields replaced by an edit of the content.
const CONTENT: [&str; 10] = [
    "text",
    "entities",
    "rich_message",
    "caption",
    "caption_entities",
    "photo",
    "document",
    "video",
    "audio",
    "animation",
];

pub(super) fn text(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let content = if request.value("rich_message").is_some() {
        content::rich_content(request)?
    } else {
        let (text, entities) = request.formatted("text", "entities");
        content::text_content("text", text, entities)?
    };
    if request.value("inline_message_id").is_some() {
        return inline::edit(state, request, Some(content));
    }
    edit(state, request, |message| {
        if message.contains_key("text") || message.contains_key("rich_message") {
            replace(message, &["text", "entities", "rich_message"], content);
            return Ok(());
        }
        Err(BotApiError::bad("there is no text in the message to edit"))
    })
}

pub(super) fn caption(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let content = content::caption(request)?;
    edit(state, request, |message| {
        if message.contains_key("text") || message.contains_key("poll") {
            return Err(BotApiError::bad("there is no caption in the message to edit"));
        }
        replace(message, &["caption", "caption_entities", "show_caption_above_media"], content);
        Ok(())
    })
}

pub(super) fn markup(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    match request.value("inline_message_id") {
        Some(_) => inline::edit(state, request, None),
        None => edit(state, request, |_| Ok(())),
    }
}

pub(super) fn media(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let item = request.value("media").cloned().unwrap_or_default();
    let kind = item["type"].as_str().unwrap_or_default().to_owned();
    let ty =
        if kind == "photo" { ApiType::parse("Array<PhotoSize>") } else { ApiType::Named(capitalised(&kind)) };
    let source = item["media"].as_str().unwrap_or_default();
    let value = files::attached(state, request, &kind, &ty, source)?;
    let mut content = Map::from_iter([(kind, value)]);
    for field in ["caption", "caption_entities"] {
        content.extend(item.get(field).map(|v| (field.to_owned(), v.clone())));
    }
    edit(state, request, |message| {
        replace(message, &CONTENT, content);
        Ok(())
    })
}

pub(super) fn stop_poll(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let edited = edit(state, request, |message| match message.get_mut("poll") {
        Some(poll) if poll["is_closed"] == json!(false) => {
            poll["is_closed"] = json!(true);
            Ok(())
        }
        Some(_) => Err(BotApiError::bad("poll has already been closed")),
        None => Err(BotApiError::bad("message with poll to stop not found")),
    })?;
    Ok(edited["poll"].clone())
}

pub(super) fn delete(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = request.chat(state)?;
    let id = request.number("message_id").unwrap_or_default();
    deletable(state, request, chat, id)?;
    state.remove(chat, id);
    Ok(json!(true))
}

/// Deletes messages. As at Telegram, unknown ids are skipped, and nothing is deleted if the bot has no right to delete one
/// of them.
pub(super) fn delete_many(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let chat = request.chat(state)?;
    let known = |id: &i64| state.world.chats.get(&chat).is_some_and(|c| c.messages.contains_key(id));
    let ids: Vec<i64> = request.list("message_ids").iter().filter_map(Value::as_i64).filter(known).collect();
    for id in &ids {
        deletable(state, request, chat, *id)?;
    }
    ids.into_iter().for_each(|id| state.remove(chat, id));
    Ok(json!(true))
}

/// Edits a message of the bot. Errors if the edit changes nothing, or the message is not the bot's.
fn edit(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), BotApiError>,
) -> MethodOutcome {
    if request.value("inline_message_id").is_some() {
        return Ok(sample::of_type(&ApiType::True));
    }
    let chat = request.chat(state)?;
    let id = request
        .number("message_id")
        .ok_or_else(|| BotApiError::bad("message identifier is not specified"))?;
    let bot = state.world.bot.id;
    let Some(Value::Object(old)) = state.world.chats.get(&chat).and_then(|c| c.messages.get(&id)).cloned()
    else {
        return Err(BotApiError::bad("message to edit not found"));
    };
    if old.get("from").and_then(|f| f["id"].as_i64()) != Some(bot) || old.contains_key("forward_origin") {
        return Err(BotApiError::bad("message can't be edited"));
    }
    let is_private = state.world.is_private(chat);
    let keyboard = keyboard::inline(request.value("reply_markup"), is_private)?;
    let mut new = old.clone();
    change(&mut new)?;
    // An edit without a keyboard removes the keyboard.
    replace(
        &mut new,
        &["reply_markup"],
        keyboard.map(|k| ("reply_markup".to_owned(), k)).into_iter().collect(),
    );
    if new == old {
        return Err(BotApiError::bad(
            "message is not modified: specified new message content and reply markup are exactly the same as a \
             current content and reply markup of the message",
        ));
    }
    #[cfg(feature = "testing")]
    request.count_message(state, chat)?;
    new.insert("edit_date".to_owned(), json!(request.now));
    let new = Value::Object(new);
    state.store(chat, &new);
    Ok(new)
}

fn replace(message: &mut Map<String, Value>, names: &[&str], content: Map<String, Value>) {
    message.retain(|name, _| !names.contains(&name.as_str()));
    message.extend(content);
}

fn deletable(
    state: &TelegramState,
    request: &CheckedRequest<'_>,
    chat: i64,
    id: i64,
) -> Result<(), BotApiError> {
    let Some(chat) = state.world.chats.get(&chat) else {
        return Err(BotApiError::bad("chat not found"));
    };
    let Some(message) = chat.messages.get(&id) else {
        return Err(BotApiError::bad("message to delete not found"));
    };
    let own = message["from"]["id"].as_i64() == Some(state.world.bot.id);
    let admin = chat.standing(state.world.bot.id).is_admin();
    if !own && !admin && chat.kind != ChatType::Private {
        return Err(BotApiError::bad("message can't be deleted"));
    }
    if request.now - message["date"].as_i64().unwrap_or(request.now) > HOURS_48 && !admin {
        return Err(BotApiError::bad("message can't be deleted for everyone"));
    }
    Ok(())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
