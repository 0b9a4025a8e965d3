//! Reads files, places, contacts and polls as attachments. Called by [`super`] for a message and by [`super::rich`]
//! for a block.

use serde_json::{Map, Value};

use figaro_domain::message::{Attachment, AttachmentKind as Kind};

/// Fields of messages and blocks that hold a file. Telegram sends an animation also as a document, so the first match
/// decides.
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

/// Returns the file, place, contact or poll in these fields; the first of several.
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
        return Some(described(Kind::Poll, self::poll(poll)));
    }
    FILES.into_iter().find_map(|(name, kind)| file(kind, content.get(name)?))
}

fn file(kind: Kind, value: &Value) -> Option<Attachment> {
    if kind == Kind::Location {
        let at = |name: &str| value.get(name).and_then(Value::as_f64);
        let live = if value.get("live_period").is_some() { ", live" } else { "" };
        return Some(described(kind, format!("{}, {}{live}", at("latitude")?, at("longitude")?)));
    }
    // A photo comes in several sizes, the largest last.
    let sizes = if kind == Kind::Photo { value.get("photo").unwrap_or(value) } else { value };
    let file = match sizes {
        Value::Array(sizes) => sizes.last()?,
        one => one,
    };
    let some = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
    file.is_object().then(|| Attachment {
        file_id: some("file_id"),
        unique_id: some("file_unique_id"),
        label: some("file_name").or_else(|| some("title")).or_else(|| some("emoji")),
        mime_type: some("mime_type"),
        seconds: file.get("duration").and_then(Value::as_u64),
        still: still(kind, file),
        ..Attachment::new(kind)
    })
}

/// Returns the handle of a still picture of a sticker or a GIF.
fn still(kind: Kind, file: &Value) -> Option<String> {
    let is = |name: &str| file.get(name) == Some(&Value::Bool(true));
    let picture = match kind {
        Kind::Sticker if !is("is_animated") && !is("is_video") => file,
        Kind::Sticker | Kind::Animation => file.get("thumbnail")?,
        _ => return None,
    };
    picture.get("file_id").and_then(Value::as_str).map(str::to_owned)
}

/// Describes a poll: question, options with votes, and kind.
fn poll(poll: &Value) -> String {
    let count = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let option = |one: &Value| match count(one, "voter_count") {
        0 => text(one, "text").to_owned(),
        votes => format!("{}: {votes}", text(one, "text")),
    };
    let options = poll.get("options").and_then(Value::as_array).into_iter().flatten();
    let options = options.map(option).collect::<Vec<_>>().join(" / ");
    let is = |name: &str| poll.get(name) == Some(&Value::Bool(true));
    let said = [(text(poll, "type") == "quiz", "quiz"), (is("is_closed"), "closed")];
    let said = said.into_iter().filter_map(|(is, word)| is.then_some(word.to_owned()));
    let votes = Some(count(poll, "total_voter_count")).filter(|votes| *votes > 0);
    let said: Vec<String> = said.chain(votes.map(|votes| format!("votes: {votes}"))).collect();
    let parts = [
        text(poll, "question").to_owned(),
        text(poll, "description").to_owned(),
        format!("({options})"),
        said.join(", "),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn described(kind: Kind, label: String) -> Attachment {
    Attachment { label: Some(label), ..Attachment::new(kind) }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
