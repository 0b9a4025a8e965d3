//! Incoming messages of a chat, before any decision about them.

mod attachment;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub use self::attachment::{Attachment, AttachmentKind, HearingResult};
use super::catch_up::CatchUp;
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
    pub quotes: Option<Box<Quoted>>,
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
    /// Messages of the chat that it asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<CatchUp>,
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
            about: None,
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
        own.into_iter().chain(self.quotes.iter().flat_map(|quoted| quoted.words_of_people()))
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
