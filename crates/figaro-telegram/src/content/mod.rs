//! What a message holds beside the text that was typed for it: rich blocks, checklists, files, polls, what somebody did.
//! Called by [`super::inbound`]. Pure.
//!
//! Nothing here knows every kind of message. What has files or words of its own is read as such; of all the rest the name
//! of its field says what it is, and [`told`] finds the words in it.

mod changed;
mod item;
mod rich;
mod said;
#[cfg(test)]
mod tests;
mod told;

use serde_json::{Map, Value};

pub(crate) use self::changed::checklist as changed_checklist;
pub(crate) use self::rich::Words;
pub(crate) use self::said::words;
use self::told::told;
use figaro_base::text::one_line;
use figaro_domain::message::{Attachment, AttachmentKind};

/// The fields of a message that [`super::views`] does not name.
pub(crate) type Content = Map<String, Value>;

/// Fields that tell about a message and are no part of it. Others that do hold no object and no list.
const ABOUT: [&str; 11] = [
    "chat",
    "direct_messages_topic",
    "sender_business_bot",
    "receiver_user",
    "guest_bot_caller_user",
    "guest_bot_caller_chat",
    "link_preview_options",
    "suggested_post_info",
    "reply_to_story",
    "forward_from",
    "forward_from_chat",
];

/// What somebody did to something ends with one of [`DONE`], but for these.
const DEEDS: [&str; 13] = [
    "new_chat_members",
    "left_chat_member",
    "new_chat_title",
    "new_chat_photo",
    "delete_chat_photo",
    "pinned_message",
    "successful_payment",
    "refunded_payment",
    "gift",
    "unique_gift",
    "connected_website",
    "passport_data",
    "web_app_data",
];
const DONE: [&str; 28] = [
    "added",
    "allowed",
    "approved",
    "changed",
    "closed",
    "completed",
    "created",
    "declined",
    "deleted",
    "done",
    "edited",
    "ended",
    "failed",
    "hidden",
    "invited",
    "joined",
    "left",
    "paid",
    "refunded",
    "removed",
    "reopened",
    "scheduled",
    "sent",
    "set",
    "shared",
    "started",
    "triggered",
    "unhidden",
];

/// What is told of a kind has at most so many characters.
const MAX_LABEL: usize = 2_000;
/// Its words are secrets or what people typed elsewhere.
const UNTOLD: &str = "passport_data";

/// What comes with the words of a message: files and things, or else what its writer did. `is_text`: its words are a text,
/// beside which Telegram sends only what tells about it.
pub(crate) fn attachments(content: &Content, is_text: bool) -> Vec<Attachment> {
    if let Some(words) = words(content) {
        return words.attachments;
    }
    if let Some(item) = item::of(content) {
        return vec![item];
    }
    let parts =
        content.iter().filter(|(name, value)| !ABOUT.contains(&name.as_str()) && !is_detail(name, value));
    parts.filter(|_| !is_text).map(|(name, value)| named(name, value)).collect()
}

/// The story that a message replies to, and whose it is.
pub(crate) fn story(content: &Content) -> Option<(Option<String>, Attachment)> {
    let story = content.get("reply_to_story").filter(|story| story.is_object())?;
    let attachment = Attachment { named: Some("story".to_owned()), ..Attachment::new(AttachmentKind::Other) };
    Some((story.get("chat").and_then(said::name), attachment))
}

/// The task of a checklist or the option of a poll that a reply is about.
pub(crate) fn chosen(content: &Content, replied: &Content) -> Option<String> {
    let one = |id: &str, all: &str, known_by: &str| {
        let id = content.get(id)?;
        let all = replied.values().find_map(|value| value.get(all)?.as_array())?;
        all.iter().find(|one| one.get(known_by) == Some(id))?.get("text")?.as_str().map(str::to_owned)
    };
    one("reply_to_checklist_task_id", "tasks", "id")
        .or_else(|| one("reply_to_poll_option_id", "options", "persistent_id"))
}

/// A field that says how a message is shown or sent, as opposed to what it holds.
fn is_detail(name: &str, value: &Value) -> bool {
    !is_deed(name) && !matches!(value, Value::Object(_) | Value::Array(_))
}

fn is_deed(name: &str) -> bool {
    let is_done = name.rsplit_once('_').is_some_and(|(_, last)| DONE.contains(&last));
    is_done || DEEDS.contains(&name)
}

/// What has no kind of its own goes by the name of its field.
fn named(name: &str, value: &Value) -> Attachment {
    let kind = if is_deed(name) { AttachmentKind::Event } else { AttachmentKind::Other };
    let words = match name {
        UNTOLD => String::new(),
        "checklist_tasks_done" => changed::marked(value),
        _ => one_line(&told(value), MAX_LABEL),
    };
    Attachment {
        named: Some(name.replace('_', " ")),
        label: Some(words).filter(|words| !words.is_empty()),
        ..Attachment::new(kind)
    }
}
