//! Content of a message other than text: files, sounds, places, polls, events.

use serde::{Deserialize, Serialize};

/// Something in a message that is not text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Kind of the attachment.
    pub kind: AttachmentKind,
    /// Telegram's handle for the content; `None` if it has none.
    pub file_id: Option<String>,
    /// Distinguishing text, such as a file's name, a sticker's emoji or a poll's question. For kinds without content,
    /// everything they say.
    pub label: Option<String>,
    /// Telegram's id of the content, which is the same in every message; `None` if it has none, or in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_id: Option<String>,
    /// MIME type reported by the sender's client, such as `image/png`.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// Telegram's handle for a still picture of it: a sticker that does not move, or the first frame of one that does and of a
    /// GIF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still: Option<String>,
    /// Length of a sound or a video in seconds, as the sender's client states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Result of hearing a sound; `None` if nobody listened. Its words are the text of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<HearingResult>,
    /// Name of the kind, if [`AttachmentKind`] has no variant for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
}

impl Attachment {
    /// Creates an attachment with only its kind.
    #[must_use]
    pub const fn new(kind: AttachmentKind) -> Self {
        Self {
            kind,
            file_id: None,
            unique_id: None,
            label: None,
            mime_type: None,
            still: None,
            seconds: None,
            heard: None,
            named: None,
        }
    }

    /// Returns the word for its kind in a prompt.
    #[must_use]
    pub fn word(&self) -> &str {
        self.named.as_deref().unwrap_or(self.kind.word())
    }

    /// Returns `true` if vision models can read it: a photo, or a file of a supported image type.
    #[must_use]
    pub fn is_picture(&self) -> bool {
        const KINDS: [&str; 4] = ["image/jpeg", "image/png", "image/webp", "image/gif"];
        let is_known = || self.mime_type.as_deref().is_some_and(|kind| KINDS.contains(&kind));
        match self.kind {
            AttachmentKind::Photo => true,
            AttachmentKind::Document => is_known(),
            _ => false,
        }
    }

    /// Returns the handle of the picture that vision models can see; `None` if there is none.
    #[must_use]
    pub fn picture(&self) -> Option<&str> {
        let own = self.file_id.as_deref().filter(|_| self.is_picture());
        own.or(self.still.as_deref())
    }

    /// Returns `true` for anything with a sound that may have words.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        use AttachmentKind::{Audio, Document, Video, VideoNote, Voice};
        let begins = |kind: &str| self.mime_type.as_deref().is_some_and(|mime| mime.starts_with(kind));
        match self.kind {
            Voice | Audio | Video | VideoNote => true,
            Document => begins("audio/") || begins("video/"),
            _ => false,
        }
    }

    /// Returns `true` for a sound that nobody has turned into words, or tried to.
    #[must_use]
    pub fn is_unheard_sound(&self) -> bool {
        self.is_sound() && self.heard.is_none() && self.file_id.is_some()
    }

    /// Returns `true` for a file that may have text to read: any but pictures, sounds and films.
    #[must_use]
    pub fn is_document(&self) -> bool {
        let begins = |kind: &str| self.mime_type.as_deref().is_some_and(|mime| mime.starts_with(kind));
        self.kind == AttachmentKind::Document && !["image/", "audio/", "video/"].into_iter().any(begins)
    }
}

/// Result of hearing a sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HearingResult {
    /// Its words are part of the text.
    Words,
    /// There are no words in it.
    Nothing,
    /// It is too long or too large, or there are too many.
    TooLong,
    /// It is damaged, or in a format that is not known.
    Unreadable,
    /// The caps leave no room for it.
    OverBudget,
    /// Money is the only cap, and the price of the model is not known.
    Unpriced,
    /// It could not be fetched, or the service did not answer.
    Failed,
}

impl HearingResult {
    /// Returns the reason for the model why there are no words; `None` if there are.
    #[must_use]
    pub const fn missing(self) -> Option<&'static str> {
        match self {
            Self::Words => None,
            Self::Nothing => Some("nobody speaks in it"),
            Self::TooLong => Some("it is too long to be heard"),
            Self::Unreadable => Some("it is damaged, or in a format that cannot be heard"),
            Self::OverBudget => Some("the budget leaves no room to hear it"),
            Self::Unpriced => Some("the price of hearing it is not known: the owner has to set it"),
            Self::Failed => Some("it could not be heard: the person may send it again"),
        }
    }
}

/// Kinds of content that a message can have beside text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A photo, compressed by Telegram.
    Photo,
    /// A file of any other type.
    Document,
    /// A sound recorded in the chat.
    Voice,
    /// A music file.
    Audio,
    /// A video.
    Video,
    /// A round video message.
    VideoNote,
    /// A sticker, static or animated.
    Sticker,
    /// A silent looping video.
    Animation,
    /// A location on the map.
    Location,
    /// A contact: a name and a phone number.
    Contact,
    /// A poll or a quiz.
    Poll,
    /// An event that is no message, such as pinning a message.
    Event,
    /// A kind without a variant of its own.
    Other,
}

impl AttachmentKind {
    /// Returns the word for the kind, used if nothing else names it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::Document => "file",
            Self::Voice => "voice message",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::VideoNote => "video message",
            Self::Sticker => "sticker",
            Self::Animation => "animation",
            Self::Location => "location",
            Self::Contact => "contact",
            Self::Poll => "poll",
            Self::Event => "event",
            Self::Other => "attachment",
        }
    }
}
