//! Incoming messages of a chat, before any decision about them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::Place;
use super::origin::Origin;
use figaro_base::ids::{MessageId, TaskId, UserId};

/// Writer of a message. A channel or an anonymous admin appears under the chat's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// The account, or the chat that speaks.
    pub user: UserId,
    /// First and last name, or the chat's title.
    pub name: String,
    /// Telegram username, without the `@`.
    pub username: Option<String>,
}

impl Speaker {
    /// Returns `true` for an account of its own. A channel or group as writer may stand for several people.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.user.telegram_id().is_none_or(|id| id > 0)
    }
}

/// A person's message, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbound {
    /// Channel that the message arrived through, with its ids there.
    pub origin: Origin,
    /// Chat and topic of the message.
    pub place: Place,
    /// Person or channel that wrote it.
    pub speaker: Speaker,
    /// IETF tag of the language for replies to the writer: that of their Telegram client, unless the chat has set one.
    pub language: Option<String>,
    /// IETF tag of the language of the writer's Telegram client; `None` if unknown, or in older records.
    #[serde(default)]
    pub client: Option<String>,
    /// Time when Telegram received it, UTC, in whole seconds.
    pub sent_at: DateTime<Utc>,
    /// Text or caption; empty for an attachment without caption.
    pub text: String,
    /// Attachments: all parts that are not text.
    pub attachments: Vec<Attachment>,
    /// Message that it replies to or quotes.
    pub quotes: Option<Quoted>,
    /// `true` if the bot is named by `@username` or a mention.
    pub mentioned: bool,
    /// `true` if it replies to a message of the bot.
    pub reply_to_bot: bool,
    /// Sign that more parts of the same question follow within moments.
    pub joins: Option<Join>,
    /// Source of a forwarded message.
    pub forwarded_from: Option<String>,
    /// `true` if a forwarded message was written by a person or a channel, not by a bot.
    #[serde(default)]
    pub from_person: bool,
    /// Task whose prompt this is; no person sent it at this time.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// `true` if the message continues somebody else's words. The rights of its writer do not apply to it.
    #[serde(default)]
    pub borrowed: bool,
    /// `true` if the writer typed the text, so that lasting facts about them may be taken from it.
    #[serde(default)]
    pub learns: bool,
    /// Kind of program that asked the question, as reported by it; `None` for messages from Telegram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Parts of the text marked as a quotation or code, which are not the writer's own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Span>,
}

/// Part of a text, in UTF-16 code units, as Telegram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Start of the part.
    pub offset: usize,
    /// Length of the part.
    pub length: usize,
}

impl Span {
    /// Character that replaces words left out. It ends a sentence, and nobody types it.
    pub const CUT: char = '\u{1e}';

    /// Returns the text with [`Self::CUT`] in place of each character of these parts.
    #[must_use]
    pub fn cut_out(text: &str, parts: &[Self]) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut unit = 0;
        for c in text.chars() {
            let is_part = parts.iter().any(|part| unit >= part.offset && unit < part.offset + part.length);
            kept.push(if is_part { Self::CUT } else { c });
            unit += c.len_utf16();
        }
        kept
    }
}

impl Inbound {
    /// Creates a message addressed to the bot with only a text. The caller sets the other fields.
    #[must_use]
    pub const fn addressed(
        origin: Origin,
        place: Place,
        speaker: Speaker,
        text: String,
        sent_at: DateTime<Utc>,
    ) -> Self {
        Self {
            origin,
            place,
            speaker,
            language: None,
            client: None,
            sent_at,
            text,
            attachments: Vec::new(),
            quotes: None,
            mentioned: true,
            reply_to_bot: false,
            joins: None,
            forwarded_from: None,
            from_person: false,
            task: None,
            program: None,
            borrowed: false,
            learns: false,
            foreign: Vec::new(),
        }
    }

    /// Returns `true` if facts about the writer may be taken from the message: they typed it themselves and in their own
    /// name.
    #[must_use]
    pub fn may_hold_facts(&self) -> bool {
        let is_own = self.forwarded_from.is_none() && self.task.is_none() && !self.borrowed;
        self.learns && is_own && self.speaker.is_person() && !self.text.trim().is_empty()
    }

    /// Returns the words that people wrote: those of the message and those it replies to. A task's prompt is the model's
    /// wording and not included.
    pub fn words_of_people(&self) -> impl Iterator<Item = &str> {
        let is_own = self.forwarded_from.is_none() || self.from_person;
        let own = (is_own && self.task.is_none()).then_some(self.text.as_str());
        own.into_iter().chain(self.quotes.iter().flat_map(Quoted::words_of_people))
    }

    /// Returns `true` if the message is only an event, without text.
    #[must_use]
    pub fn is_event(&self) -> bool {
        let all = || self.attachments.iter().all(|one| one.kind == AttachmentKind::Event);
        self.text.is_empty() && !self.attachments.is_empty() && all()
    }

    /// Returns `true` if the message is addressed to the bot: always in a private chat, elsewhere if the bot is mentioned or
    /// replied to.
    #[must_use]
    pub fn is_addressed(&self) -> bool {
        !self.place.is_group() || self.mentioned || self.reply_to_bot
    }
}

/// Message that another one replies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quoted {
    /// Id of the message, if it is in the same chat.
    pub message: Option<MessageId>,
    /// Display name of its writer, if known.
    pub author: Option<String>,
    /// Text or caption of the message.
    pub text: String,
    /// Part that was marked as a quote.
    pub excerpt: Option<String>,
    /// Attachments of the message, without their content.
    pub attachments: Vec<Attachment>,
    /// `true` if a person or a channel wrote it, not a bot.
    #[serde(default)]
    pub from_person: bool,
    /// Writer of the message, also a bot, if it is in the same chat; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<UserId>,
    /// Task that the message shows or asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// Message of the same chat that a question replies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replied {
    /// Id of the message.
    pub message: MessageId,
    /// Writer of the message, if known.
    pub writer: Option<UserId>,
}

impl Quoted {
    /// Returns the message, if it is in the same chat.
    #[must_use]
    pub fn replied(&self) -> Option<Replied> {
        Some(Replied { message: self.message?, writer: self.writer.clone() })
    }

    /// Returns its words, unless a bot wrote them.
    pub(crate) fn words_of_people(&self) -> impl Iterator<Item = &str> {
        let words = std::iter::once(self.text.as_str()).chain(self.excerpt.as_deref());
        words.filter(|_| self.from_person)
    }
}

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
            Self::OverBudget => Some("today's budget leaves no room to hear it"),
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
    /// A voice message.
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

/// Reason why a message may be one of several parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Join {
    /// Item of an album, with the album's id.
    Album(String),
    /// Text so long that the client may have split it.
    LongPaste,
    /// Forwarded message, whose sender may add a comment.
    Forward,
}
