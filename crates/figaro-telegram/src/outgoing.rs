//! A message to send: its parts, its arguments for the Bot API, and the reading of the answer. Pure.

use serde_json::{Map, Value, json};

use super::button::{Button, keyboard};
use super::media::Media;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::MessageId;
use figaro_domain::chat::Place;
use figaro_domain::delivery::Author;
use figaro_markup::{CodeFile, Formatted, Piece, RichPart};

/// Parameter that selects the link preview of a message.
pub(super) const PREVIEW: &str = "link_preview_options";

/// Maximum length of a message and of a draft, in UTF-16 units.
pub(crate) const MESSAGE_UNITS: usize = 4096;

/// Parameter with the blocks of a rich message, which has no link previews.
pub(super) const RICH: &str = "rich_message";

/// A message to send: a text, a rich message, a document or a picture, with its buttons.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    /// Text and entities; for a document, the text to send if the document is refused, if any.
    pub(crate) content: Formatted,
    /// Link to show with a preview, if the text contains it. No other link is previewed.
    pub(crate) preview: Option<String>,
    /// Message to reply to, in the same chat. If it is gone, the message is sent without the reply.
    pub(crate) reply_to: Option<MessageId>,
    /// Rows of buttons under the message, from the top.
    pub(crate) buttons: Vec<Vec<Button>>,
    /// Placeholder of the reply field, if the message asks for a reply.
    pub(crate) asks: Option<String>,
    /// Document to send instead of the text.
    pub(crate) file: Option<CodeFile>,
    /// Rich message to send instead of the text.
    pub(crate) rich: Option<RichPart>,
    /// Picture or sound to send instead of a text message; the text is its caption.
    pub(crate) media: Option<Media>,
    pub(crate) urgency: Urgency,
    /// Author of the text, such as the model or Figaro; recorded with the message.
    pub(crate) author: Author,
}

impl Outgoing {
    /// Creates the message of a piece of an answer.
    pub(super) fn of_piece(piece: Piece) -> Self {
        let (content, file, rich) = match piece {
            Piece::Text(content) => (content, None, None),
            Piece::File(file) => (Formatted::default(), Some(file), None),
            Piece::Whole(file, instead) => (instead, Some(file), None),
            Piece::Rich(rich) => (Formatted::default(), None, Some(rich)),
        };
        Self { content, file, rich, ..Self::default() }
    }
}

/// Returns the JSON arguments of `sendMessage` or `sendRichMessage` for a message in this chat and topic.
pub(super) fn body(place: &Place, message: &Outgoing) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("chat_id".to_owned(), json!(place.chat));
    if message.media.is_some() {
        if !message.content.text.is_empty() {
            body.insert("caption".to_owned(), json!(message.content.text));
        }
    } else if let Some(rich) = &message.rich {
        body.insert(RICH.to_owned(), json!(rich.message));
    } else if message.file.is_none() {
        body.insert("text".to_owned(), json!(message.content.text));
        body.insert(PREVIEW.to_owned(), preview(message));
        if !message.content.entities.is_empty() {
            body.insert("entities".to_owned(), json!(message.content.entities));
        }
    }
    if let Some(topic) = place.topic {
        body.insert("message_thread_id".to_owned(), json!(topic));
    }
    if let Some(id) = message.reply_to {
        let reply = json!({"message_id": id, "allow_sending_without_reply": true});
        body.insert("reply_parameters".to_owned(), reply);
    }
    if !message.buttons.is_empty() {
        body.insert("reply_markup".to_owned(), keyboard(&message.buttons));
    } else if let Some(hint) = &message.asks {
        let asks = json!({"force_reply": true, "input_field_placeholder": hint, "selective": true});
        body.insert("reply_markup".to_owned(), asks);
    }
    body
}

/// Returns the link preview options of a text. By default Telegram would load the page of the first link, which a
/// model turned against its owner could use to leak data.
pub(super) fn preview(message: &Outgoing) -> Value {
    let shown = message.preview.as_ref().filter(|address| message.content.shows(address));
    shown.map_or_else(no_preview, |address| json!({"url": address}))
}

pub(super) fn no_preview() -> Value {
    json!({"is_disabled": true})
}

/// Returns the id of the message that a call has sent.
pub(super) fn sent_id(sent: &Value) -> MessageId {
    MessageId(sent.get("message_id").and_then(Value::as_i64).unwrap_or_default())
}

/// Removes the part that Telegram's description complains about and returns its name; `None` if there is nothing to
/// remove.
pub(super) fn simpler(words: &str, body: &mut Map<String, Value>) -> Option<&'static str> {
    let words = words.to_lowercase();
    if words.contains("webpage") && body.get(PREVIEW).is_some_and(|options| *options != no_preview()) {
        body.insert(PREVIEW.to_owned(), no_preview());
        return Some(PREVIEW);
    }
    let part = if words.contains("entit") {
        "entities"
    } else if words.contains("thread not found") {
        "message_thread_id"
    } else if words.contains("reply") || words.contains("replied") {
        "reply_parameters"
    } else {
        return None;
    };
    body.remove(part).map(|_| part)
}

/// Returns `true` if Telegram's description says that an edit would change nothing.
pub(super) fn is_unchanged(words: &str) -> bool {
    words.contains("not modified")
}
