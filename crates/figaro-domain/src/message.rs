//! A message as it comes in from a chat, before anything is decided about it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::Place;
use super::origin::Origin;
use figaro_base::ids::{MessageId, TaskId, UserId};

/// Who wrote something. A channel or an anonymous admin speaks under its chat's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// The account, or the chat that speaks.
    pub user: UserId,
    /// First and last name, or the chat's title.
    pub name: String,
    /// The Telegram username, without the `@`.
    pub username: Option<String>,
}

impl Speaker {
    /// Whether it is an account of its own: a channel or a group that speaks cannot be told from others who speak in its name.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.user.telegram_id().is_none_or(|id| id > 0)
    }
}

/// What a person sent, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbound {
    /// The channel that it came through, with its ids there.
    pub origin: Origin,
    /// The chat and topic it was written in.
    pub place: Place,
    /// The person, or the channel, that wrote it.
    pub speaker: Speaker,
    /// The IETF tag of the language to speak to the writer in: that of their Telegram client, unless the chat has set one.
    pub language: Option<String>,
    /// The IETF tag of the language of the writer's Telegram client; none if it does not say, or in records of before.
    #[serde(default)]
    pub client: Option<String>,
    /// When Telegram received it, UTC, in whole seconds.
    pub sent_at: DateTime<Utc>,
    /// Text or caption; empty for a bare attachment.
    pub text: String,
    /// Everything that is not text.
    pub attachments: Vec<Attachment>,
    /// What it replies to or quotes.
    pub quotes: Option<Quoted>,
    /// Whether it names the bot, by `@username` or by a mention.
    pub mentioned: bool,
    /// It replies to a message of the bot.
    pub reply_to_bot: bool,
    /// A sign that more parts of the same question follow within moments.
    pub joins: Option<Join>,
    /// Where a forwarded message came from.
    pub forwarded_from: Option<String>,
    /// Of a forwarded message: a person or a channel wrote it, no bot.
    #[serde(default)]
    pub from_person: bool,
    /// The task whose prompt it is: nobody sent it just now.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// It has the words of somebody else gone on with: no right of its writer counts for it.
    #[serde(default)]
    pub borrowed: bool,
    /// Its writer typed it, so lasting facts about them may be taken from it.
    #[serde(default)]
    pub learns: bool,
    /// The kind of program that it was asked by, in the words of that; of messages of Telegram `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The parts of its text that are marked as a quotation or as code: these are not its writer's own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Span>,
}

/// A part of a text, in UTF-16 units, as Telegram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub length: usize,
}

impl Span {
    /// What is put in the place of words that are left out: it ends a sentence, and nobody types it.
    pub const CUT: char = '\u{1e}';

    /// A text with [`Self::CUT`] in the place of each letter of these parts.
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
    /// Words addressed to the bot at this time, without anything else. A caller that has more puts it in.
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

    /// Whether facts about its writer may be taken from it: they typed it, as themselves, and in their own name.
    #[must_use]
    pub fn may_hold_facts(&self) -> bool {
        let is_own = self.forwarded_from.is_none() && self.task.is_none() && !self.borrowed;
        self.learns && is_own && self.speaker.is_person() && !self.text.trim().is_empty()
    }

    /// The words in it that people wrote: theirs, and what they replied to. The prompt of a task is the model's wording.
    pub fn words_of_people(&self) -> impl Iterator<Item = &str> {
        let is_own = self.forwarded_from.is_none() || self.from_person;
        let own = (is_own && self.task.is_none()).then_some(self.text.as_str());
        own.into_iter().chain(self.quotes.iter().flat_map(Quoted::words_of_people))
    }

    /// Whether somebody did something and wrote nothing.
    #[must_use]
    pub fn is_event(&self) -> bool {
        let all = || self.attachments.iter().all(|one| one.kind == AttachmentKind::Event);
        self.text.is_empty() && !self.attachments.is_empty() && all()
    }

    /// Whether the bot is meant: always in a private chat, else when named or replied to.
    #[must_use]
    pub fn is_addressed(&self) -> bool {
        !self.place.is_group() || self.mentioned || self.reply_to_bot
    }
}

/// The message that another one replies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quoted {
    /// Its id, when it is in the same chat.
    pub message: Option<MessageId>,
    /// The display name of whoever wrote it, if known.
    pub author: Option<String>,
    /// Its text or caption.
    pub text: String,
    /// The part that was marked as a quote.
    pub excerpt: Option<String>,
    /// What came with the message, without its content.
    pub attachments: Vec<Attachment>,
    /// A person or a channel wrote it, no bot.
    #[serde(default)]
    pub from_person: bool,
    /// Whoever wrote it, a bot too, if it is in the same chat; none in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<UserId>,
    /// The task that it shows or asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// A message of the same chat that a question replies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replied {
    /// Its id.
    pub message: MessageId,
    /// Whoever wrote it, if known.
    pub writer: Option<UserId>,
}

impl Quoted {
    /// The message itself, if it is in the same chat.
    #[must_use]
    pub fn replied(&self) -> Option<Replied> {
        Some(Replied { message: self.message?, writer: self.writer.clone() })
    }

    /// Its words, unless a bot wrote them.
    pub(crate) fn words_of_people(&self) -> impl Iterator<Item = &str> {
        let words = std::iter::once(self.text.as_str()).chain(self.excerpt.as_deref());
        words.filter(|_| self.from_person)
    }
}

/// Something in a message that is not text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The kind of attachment.
    pub kind: AttachmentKind,
    /// Telegram's handle for the content, if it has one.
    pub file_id: Option<String>,
    /// A file's name, a sticker's emoji, a poll's question: what tells it apart. Of other kinds, all that they say.
    pub label: Option<String>,
    /// A file's type as its sender's client named it, such as `image/png`.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// What its kind is called, where [`AttachmentKind`] has no variant for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
}

impl Attachment {
    /// One of this kind, with nothing else known.
    #[must_use]
    pub const fn new(kind: AttachmentKind) -> Self {
        Self { kind, file_id: None, label: None, mime_type: None, named: None }
    }

    /// The word for its kind in a prompt.
    #[must_use]
    pub fn word(&self) -> &str {
        self.named.as_deref().unwrap_or(self.kind.word())
    }

    /// Whether models that see may look at it: a photo, or a file of a kind that they know.
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
}

/// The kinds of content a message can carry beside text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A photo.
    Photo,
    /// A file of any other type.
    Document,
    /// A voice message.
    Voice,
    /// A piece of music.
    Audio,
    /// A video.
    Video,
    /// A round video message.
    VideoNote,
    /// A sticker.
    Sticker,
    /// A silent looping video.
    Animation,
    /// A location on the map.
    Location,
    /// A contact: a name and a phone number.
    Contact,
    /// A poll.
    Poll,
    /// What somebody did beside writing, such as to pin a message.
    Event,
    /// Any other kind.
    Other,
}

impl AttachmentKind {
    /// The word for it, where nothing else names it.
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

/// Why a message may be one part of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Join {
    /// One item of an album, with the album's id.
    Album(String),
    /// So long that the client may have split it.
    LongPaste,
    /// A forward, whose sender may add a comment.
    Forward,
}
