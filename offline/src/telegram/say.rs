//! Builder for the messages of a person, with every feature the bot must understand.

use serde_json::{Map, Value};

/// Message of a person, for [`super::OfflineTelegram::send`].
#[derive(Debug, Clone, Default)]
pub struct Say {
    pub(super) from: i64,
    pub(super) chat: i64,
    pub(super) text: String,
    pub(super) topic: Option<i64>,
    pub(super) reply_to: Option<i64>,
    pub(super) quote: Option<String>,
    pub(super) photo: Vec<PhotoFile>,
    pub(super) document: Option<(String, Vec<u8>)>,
    pub(super) sound: Option<SoundFile>,
    pub(super) forward_from: Option<i64>,
    pub(super) sender_chat: Option<i64>,
    pub(super) entities: Vec<Value>,
    pub(super) fields: Map<String, Value>,
}

impl Say {
    /// Creates a text message of a person to a chat.
    #[must_use]
    pub fn new(from: i64, chat: i64, text: &str) -> Self {
        Self { from, chat, text: text.to_owned(), ..Self::default() }
    }

    /// Sends the message to the topic with this thread id.
    #[must_use]
    pub fn topic(self, message_thread_id: i64) -> Self {
        Self { topic: Some(message_thread_id), ..self }
    }

    /// Makes the message a reply to this message of the same chat.
    #[must_use]
    pub fn reply_to(self, message_id: i64) -> Self {
        Self { reply_to: Some(message_id), ..self }
    }

    /// Quotes this part of the replied message. Sending fails if the message does not contain it.
    #[must_use]
    pub fn quote(self, part: &str) -> Self {
        Self { quote: Some(part.to_owned()), ..self }
    }

    /// Attaches a photo in one size. The text becomes its caption.
    #[must_use]
    pub fn photo(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.photo_sizes(vec![PhotoFile { width: 640, height: 480, bytes: bytes.into() }])
    }

    /// Attaches a photo in these sizes, the smallest first. The text becomes its caption.
    #[must_use]
    pub(crate) fn photo_sizes(self, photo: Vec<PhotoFile>) -> Self {
        Self { photo, ..self }
    }

    /// Attaches a document. The text becomes its caption.
    #[must_use]
    pub fn document(self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { document: Some((name.to_owned(), bytes.into())), ..self }
    }

    /// Attaches a sound of this length: `kind` is `voice`, `audio` or `video_note`. The text becomes its caption.
    #[must_use]
    pub fn sound(self, kind: &str, seconds: u32, bytes: impl Into<Vec<u8>>) -> Self {
        let sound = SoundFile { kind: kind.to_owned(), seconds, bytes: bytes.into() };
        Self { sound: Some(sound), ..self }
    }

    /// Makes the message a forward of a message by this user.
    #[must_use]
    pub fn forward_from(self, user: i64) -> Self {
        Self { forward_from: Some(user), ..self }
    }

    /// Sends in the name of a chat, as an anonymous administrator or a channel.
    #[must_use]
    pub fn sender_chat(self, chat: i64) -> Self {
        Self { sender_chat: Some(chat), ..self }
    }

    /// Adds formatting. Mentions, commands and links are detected without it.
    #[must_use]
    pub fn entities(self, entities: Vec<Value>) -> Self {
        Self { entities, ..self }
    }

    /// Makes the message part of the album with this `media_group_id`.
    #[must_use]
    pub fn media_group_id(self, id: &str) -> Self {
        self.field("media_group_id", Value::from(id))
    }

    /// Sets any other field of the Bot API's `Message`.
    #[must_use]
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }
}

/// A voice message, an audio file or a video note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SoundFile {
    pub(crate) kind: String,
    pub(crate) seconds: u32,
    pub(crate) bytes: Vec<u8>,
}

/// One size of a photo. Clients create several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhotoFile {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Ids of a message that a person sent or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentByPerson {
    /// `message_id` of the message, unique within its chat.
    pub message_id: i64,
    /// Id of the update for the bot; `None` if the bot cannot see the message.
    pub update_id: Option<i64>,
}
