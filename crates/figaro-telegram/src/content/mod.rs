//! Contents of a message other than its typed text: rich blocks, checklists, files, polls, service messages. Called
//! by [`super::inbound`]. Pure.
//!
//! Only kinds with files or a text of their own are known here. All others are described by the name of their field
//! and the text that [`told`] finds in it.

mod changed;
mod item;
mod rich;
mod said;
#[cfg(test)]
mod tests;
mod told;

use serde_json::{Map, Value};

pub(crate) use self::changed::checklist as changed_checklist;
pub(crate) use self::rich::RichText;
pub(crate) use self::said::words;
use self::told::told;
use figaro_base::text::one_line;
use figaro_domain::message::{Attachment, AttachmentKind};

/// Fields of a message that [`super::views`] does not name.
pub(crate) type ContentFields = Map<String, Value>;

/// Fields that are about the message and not part of its content. Other such fields hold neither an object nor a
/// list.
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

/// Fields of service messages that do not end with a word of [`DONE`].
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

/// Maximum length of a label, in characters.
const MAX_LABEL: usize = 2_000;
/// Field whose text is not shown, because it contains personal secrets.
const UNTOLD: &str = "passport_data";

/// Returns the attachments of a message: its files and other items, or else the service event. `is_text`: the message
/// has a text, so Telegram sends only fields about the message beside it.
pub(crate) fn attachments(content: &ContentFields, is_text: bool) -> Vec<Attachment> {
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

/// Returns the story that a message replies to, with the name of its owner.
pub(crate) fn story(content: &ContentFields) -> Option<(Option<String>, Attachment)> {
    let story = content.get("reply_to_story").filter(|story| story.is_object())?;
    let attachment = Attachment { named: Some("story".to_owned()), ..Attachment::new(AttachmentKind::Other) };
    Some((story.get("chat").and_then(said::name), attachment))
}

/// Returns the text of the checklist task or poll option that a reply is about.
pub(crate) fn chosen(content: &ContentFields, replied: &ContentFields) -> Option<String> {
    let one = |id: &str, all: &str, known_by: &str| {
        let id = content.get(id)?;
        let all = replied.values().find_map(|value| value.get(all)?.as_array())?;
        all.iter().find(|one| one.get(known_by) == Some(id))?.get("text")?.as_str().map(str::to_owned)
    };
    one("reply_to_checklist_task_id", "tasks", "id")
        .or_else(|| one("reply_to_poll_option_id", "options", "persistent_id"))
}

/// Returns `true` for a field about how a message is shown or sent, not about its content.
fn is_detail(name: &str, value: &Value) -> bool {
    !is_deed(name) && !matches!(value, Value::Object(_) | Value::Array(_))
}

fn is_deed(name: &str) -> bool {
    let is_done = name.rsplit_once('_').is_some_and(|(_, last)| DONE.contains(&last));
    is_done || DEEDS.contains(&name)
}

/// Creates an attachment that is named after its field.
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
