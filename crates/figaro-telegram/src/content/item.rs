//! Files, places, contacts and polls as attachments. Called by [`super`] for a message and by [`super::rich`] for a block.

use serde_json::{Map, Value};

use figaro_domain::message::{Attachment, AttachmentKind as Kind};

/// The fields that hold a file, as messages and blocks name them. Telegram gives an animation as a document too: the first
/// that is there tells what it is.
const FILES: [(&str, Kind); 11] = [
    ("photo", Kind::Photo),
    ("live_photo", Kind::Photo),
    ("animation", Kind::Animation),
    ("sticker", Kind::Sticker),
    ("voice", Kind::Voice),
    ("voice_note", Kind::Voice),
    ("audio", Kind::Audio),
    ("video", Kind::Video),
    ("video_note", Kind::VideoNote),
    ("document", Kind::Document),
    ("location", Kind::Location),
];

/// The file, the place, the contact or the poll in these fields; the first of several.
pub(super) fn of(content: &Map<String, Value>) -> Option<Attachment> {
    let has = |name: &str| content.get(name).filter(|value| value.is_object());
    if let Some(venue) = has("venue") {
        return Some(described(
            Kind::Location,
            format!("{}, {}", text(venue, "title"), text(venue, "address")),
        ));
    }
    if let Some(card) = has("contact") {
        let parts = ["first_name", "last_name", "phone_number"].map(|name| text(card, name));
        return Some(described(Kind::Contact, parts.join(" ")));
    }
    if let Some(poll) = has("poll") {
        let options = poll.get("options").and_then(Value::as_array).into_iter().flatten();
        let options: Vec<&str> = options.map(|option| text(option, "text")).collect();
        return Some(described(Kind::Poll, format!("{} ({})", text(poll, "question"), options.join(" / "))));
    }
    FILES.into_iter().find_map(|(name, kind)| file(kind, content.get(name)?))
}

fn file(kind: Kind, value: &Value) -> Option<Attachment> {
    if kind == Kind::Location {
        let at = |name: &str| value.get(name).and_then(Value::as_f64);
        return Some(described(kind, format!("{}, {}", at("latitude")?, at("longitude")?)));
    }
    // Of a photo there are several sizes, the largest last.
    let sizes = if kind == Kind::Photo { value.get("photo").unwrap_or(value) } else { value };
    let file = match sizes {
        Value::Array(sizes) => sizes.last()?,
        one => one,
    };
    let some = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
    file.is_object().then(|| Attachment {
        file_id: some("file_id"),
        label: some("file_name").or_else(|| some("title")).or_else(|| some("emoji")),
        mime_type: some("mime_type"),
        ..Attachment::new(kind)
    })
}

fn described(kind: Kind, label: String) -> Attachment {
    Attachment { label: Some(label), ..Attachment::new(kind) }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
