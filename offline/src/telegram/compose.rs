//! Builds the Bot API's `Message` for a message of a person.

use figaro_mcp::table::ApiType;
use serde_json::{Map, Value, json};

use super::entities;
use super::files::{photo_size, shown};
use super::possible::{Possible, chat_mut, known, no};
use super::say::{Say, SoundFile};
use super::state::TelegramState;
use super::world::ChatType;

/// Fields that turn the text of a message into a caption.
const CAPTIONED: [&str; 7] = ["photo", "document", "video", "audio", "voice", "animation", "live_photo"];

/// Builds the message, with the next id of its chat. Does not store it.
pub(super) fn compose(state: &mut TelegramState, say: Say, now: i64) -> Possible<Value> {
    let person = known(state, say.from)?;
    let (user, name) = (person.json(), person.first_name.clone());
    let chat = chat_mut(state, say.chat)?;
    if !chat.standing(say.from).is_in() {
        return no(format!("{} is not in chat {}", say.from, say.chat));
    }
    match chat.muted.get(&say.from).copied() {
        Some(0) => return no(format!("{name} may not write here")),
        Some(until) if until > now => {
            let minutes = (until - now + 59) / 60;
            return no(format!("{name} may not write here for {minutes} more min"));
        }
        Some(_) | None => {}
    }
    if say.topic.is_some_and(|t| !chat.topics.contains_key(&t)) {
        return no(format!("chat {} has no such topic", say.chat));
    }
    let replied = match say.reply_to.map(|id| chat.as_replied_to(id).ok_or(id)) {
        Some(Err(_)) => return no("the message you reply to is not there any more"),
        Some(Ok(message)) => Some(message),
        None => None,
    };
    let supergroup = chat.kind == ChatType::Supergroup && !chat.is_forum;
    let mut message = Map::new();
    message.insert("message_id".to_owned(), json!(chat.next_message_id()));
    message.insert("from".to_owned(), user);
    message.insert("chat".to_owned(), chat.json());
    message.insert("date".to_owned(), json!(now));
    // A reply in a supergroup without topics carries a thread id too, but is no topic message.
    let thread = replied.as_ref().filter(|_| supergroup).map(thread_root);
    message.extend(state.world.placed(say.chat, say.topic.or(thread)));
    if let Some(origin) = origin(state, &say, now)? {
        message.insert("forward_origin".to_owned(), origin);
    }
    if let Some(id) = say.sender_chat {
        message.insert("from".to_owned(), stand_in(id == say.chat));
        message.insert("sender_chat".to_owned(), chat_mut(state, id)?.json());
    }
    if let Some(replied) = replied {
        add_reply(&mut message, replied, say.quote.as_deref())?;
    }
    add_content(state, &mut message, say);
    Ok(Value::Object(message))
}

/// Returns the user that Telegram gives as sender of a message in the name of the group or of a channel.
fn stand_in(anonymous_admin: bool) -> Value {
    if anonymous_admin {
        return json!({"id": 1_087_968_824, "is_bot": true, "first_name": "Group", "username": "GroupAnonymousBot"});
    }
    json!({"id": 136_817_688, "is_bot": true, "first_name": "Channel", "username": "Channel_Bot"})
}

fn thread_root(replied: &Value) -> i64 {
    replied["message_thread_id"].as_i64().or(replied["message_id"].as_i64()).unwrap_or_default()
}

fn origin(state: &TelegramState, say: &Say, now: i64) -> Possible<Option<Value>> {
    let Some(user) = say.forward_from else {
        return Ok(None);
    };
    Ok(Some(json!({"type": "user", "date": now, "sender_user": known(state, user)?.json()})))
}

fn add_reply(message: &mut Map<String, Value>, replied: Value, quote: Option<&str>) -> Possible<()> {
    if let Some(quote) = quote {
        let text = replied["text"].as_str().or(replied["caption"].as_str()).unwrap_or_default();
        let Some(at) = text.find(quote) else {
            return no("the quote is not in the message");
        };
        let position = text[..at].encode_utf16().count();
        message.insert("quote".to_owned(), json!({"text": quote, "position": position, "is_manual": true}));
    }
    message.insert("reply_to_message".to_owned(), replied);
    Ok(())
}

/// Writes the text and the files of a message.
pub(super) fn add_content(state: &mut TelegramState, message: &mut Map<String, Value>, say: Say) {
    let media = say.fields.keys().any(|field| CAPTIONED.contains(&field.as_str()));
    let caption = media || !say.photo.is_empty() || say.document.is_some() || say.sound.is_some();
    if !say.photo.is_empty() {
        let sizes = say.photo.into_iter().map(|photo| photo_size(state, photo)).collect();
        message.insert("photo".to_owned(), Value::Array(sizes));
    }
    if let Some((name, bytes)) = say.document {
        let id = state.keep_file(&safe_name(&name), bytes);
        let mut document = shown(state, &ApiType::parse("Document"), &id);
        document["file_name"] = json!(name);
        message.insert("document".to_owned(), document);
    }
    if let Some(SoundFile { kind, seconds, bytes }) = say.sound {
        let (name, ty, mime) = match kind.as_str() {
            "video_note" => ("note.mp4", "VideoNote", None),
            "audio" => ("song.mp3", "Audio", Some("audio/mpeg")),
            _ => ("voice.oga", "Voice", Some("audio/ogg")),
        };
        let id = state.keep_file(name, bytes);
        let mut sound = shown(state, &ApiType::parse(ty), &id);
        sound["duration"] = json!(seconds);
        if let Some(mime) = mime {
            sound["mime_type"] = json!(mime);
        }
        message.insert(kind, sound);
    }
    write_text(message, caption, &say.text, &say.entities);
    message.extend(say.fields);
}

/// Converts a name into one that is safe in a path, as in paths of the Bot API.
fn safe_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().map(safe).collect()
}

/// Writes a text with its entities into the text or caption fields of a message. Adds the entities that Telegram detects.
pub(super) fn write_text(message: &mut Map<String, Value>, caption: bool, text: &str, entities: &[Value]) {
    let (field, list) = if caption { ("caption", "caption_entities") } else { ("text", "entities") };
    let (text, entities) = entities::finish(text, entities);
    if !text.is_empty() {
        message.insert(field.to_owned(), Value::String(text));
    }
    if !entities.is_empty() {
        message.insert(list.to_owned(), Value::Array(entities));
    }
}
