//! Text of a message other than its text or caption: a rich message, a checklist, the emoji of a sticker. Called by
//! [`super`] and by [`super::told`].

use serde_json::{Map, Value};

use super::item;
use super::rich::{self, RichText};

/// Returns the text, if the message has any of these.
pub(crate) fn words(content: &Map<String, Value>) -> Option<RichText> {
    let blocks = content.get("rich_message").and_then(|message| message.get("blocks"));
    if let Some(blocks) = blocks {
        return Some(rich::read(blocks));
    }
    if let Some(list) = content.get("checklist").filter(|list| list.is_object()) {
        return Some(checklist(list));
    }
    // A sticker stands for its emoji; models that see get its picture, too.
    let emoji = content.get("sticker").and_then(|sticker| sticker.get("emoji")).and_then(Value::as_str);
    emoji.map(|emoji| RichText {
        attachments: item::of(content).into_iter().collect(),
        ..RichText::of(emoji.to_owned())
    })
}

/// Formats a checklist: its title, and each task with a box and the name of who has done it.
fn checklist(list: &Value) -> RichText {
    let mut words = RichText::of("Checklist: ".to_owned());
    words.add(list, "title", "title_entities");
    for task in list.get("tasks").and_then(Value::as_array).into_iter().flatten() {
        let who = task.get("completed_by_user").or_else(|| task.get("completed_by_chat"));
        let is_done =
            who.is_some() || task.get("completion_date").and_then(Value::as_i64).unwrap_or_default() > 0;
        words.text.push_str(if is_done { "\n[x] " } else { "\n[ ] " });
        words.add(task, "text", "text_entities");
        if let Some(name) = who.and_then(name) {
            words.text.push_str(&format!(" (done by {name})"));
        }
    }
    words
}

/// Returns the name of an account or a chat.
pub(super) fn name(value: &Value) -> Option<String> {
    let part = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let full = part("first_name").map(|first| match part("last_name") {
        Some(last) => format!("{first} {last}"),
        None => first.to_owned(),
    });
    full.or_else(|| part("title").or_else(|| part("username")).map(str::to_owned))
}
