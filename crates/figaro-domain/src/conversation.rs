//! Conversations, their sessions and the stored messages.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::catch_up::CatchUp;
use super::chat::{ChatKind, Place};
use super::importance::{self, By};
use super::message::{Attachment, Inbound, Quoted, Speaker};
use super::model::ModelName;
use super::observation::Observation;
use super::session::{NamedBy, SessionChange, SessionName};
use super::source::Source;
use super::usage::Usage;
use crate::tool::SideEffects;
use figaro_base::ids::{ChatId, EntryId, MemoryId, MessageId, RequestId, RunId, SessionId, TaskId, TopicId};

/// A chat, or a separate part of it. Each conversation runs one turn at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConversationId {
    /// The chat; its id changes when a group becomes a supergroup.
    pub chat: ChatId,
    /// Part of the chat: a forum topic, or a session of a person outside Telegram. `None` in other chats and in the General
    /// topic.
    pub topic: Option<TopicId>,
}

impl ConversationId {
    /// Returns the conversation of a chat without parts, or of the General topic.
    #[must_use]
    pub const fn whole(chat: ChatId) -> Self {
        Self { chat, topic: None }
    }

    /// Returns [`Self::alone`] for an external question without a session: all of them have one place in the usage records.
    #[must_use]
    pub fn unnamed(question: RequestId) -> Self {
        Self::alone(ChatId::UNNAMED, question)
    }

    /// Returns the conversation of a single question that counts to this chat. No other question shares it.
    #[must_use]
    pub fn alone(chat: ChatId, question: RequestId) -> Self {
        // A topic id is positive and fits into a JSON number.
        let [.., a, b, c, d, e, f] = question.to_bytes();
        let topic = i64::from_be_bytes([0, 0, a, b, c, d, e, f]) + 1;
        Self { chat, topic: Some(TopicId(topic)) }
    }
}

impl Place {
    /// Returns the conversation of this place. Turns of one conversation run one after the other.
    #[must_use]
    pub const fn conversation(&self) -> ConversationId {
        ConversationId { chat: self.chat, topic: self.topic }
    }

    /// Returns the place of a conversation outside Telegram, in which one person talks with the bot.
    #[must_use]
    pub const fn external(conversation: ConversationId) -> Self {
        let ConversationId { chat, topic } = conversation;
        Self { chat, kind: ChatKind::Private, title: None, topic }
    }
}

/// A thread of messages in a conversation; `/new` starts another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Unique id, never reused.
    pub id: SessionId,
    /// Chat and topic that the session belongs to.
    pub conversation: ConversationId,
    /// Start time, UTC.
    pub created_at: DateTime<Utc>,
    /// Time when its last message was stored, UTC.
    pub updated_at: DateTime<Utc>,
    /// Name of the session; `None` until a person, an agent or the model has named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// Number of times the model was asked for a name.
    #[serde(default)]
    pub naming_tries: u8,
    /// Name of the agent that answers in the session; `None` for that of the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Model that answers in the session; `None` for that of the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// Name given by the client of an external conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_name: Option<String>,
    /// Index after the last message erased at the end of the session. The index of an erased message is never reused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_to: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(index: &u32) -> bool {
    *index == 0
}

impl Session {
    /// Creates a session without messages that starts at `now`.
    #[must_use]
    pub fn new(conversation: ConversationId, now: DateTime<Utc>) -> Self {
        Self {
            id: SessionId::new(),
            conversation,
            created_at: now,
            updated_at: now,
            name: None,
            naming_tries: 0,
            agent: None,
            model: None,
            external_name: None,
            erased_to: 0,
        }
    }

    /// Applies a change. Returns `false` if nothing changed. A person's name takes precedence over an agent's, and an
    /// agent's over the bot's.
    pub fn change(&mut self, change: SessionChange) -> bool {
        let before = self.clone();
        let named_by = self.name.as_ref().map(|name| name.by);
        let may_name = |name: &SessionName| match name.by {
            NamedBy::Person => true,
            NamedBy::Agent => named_by != Some(NamedBy::Person),
            NamedBy::Bot => named_by.is_none(),
        };
        self.name = change.name.filter(may_name).or_else(|| self.name.take());
        self.model = change.model.unwrap_or_else(|| self.model.take());
        self.agent = change.agent.unwrap_or_else(|| self.agent.take());
        self.external_name = change.external_name.or_else(|| self.external_name.take());
        *self != before
    }
}

/// Key of a stored message that a prompt shows only in part, as `session-{id}-msg-{index}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntryKey {
    /// The session that holds the message.
    pub session: SessionId,
    /// Its position in the session, from 0.
    pub index: u32,
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session-{}-msg-{}", self.session, self.index)
    }
}

impl FromStr for EntryKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (session, index) = text.strip_prefix("session-")?.split_once("-msg-")?;
            Some(Self { session: session.parse().ok()?, index: index.parse().ok()? })
        };
        read().ok_or_else(|| format!("`{text}` is not of the form session-{{id}}-msg-{{index}}"))
    }
}

/// Author kind of a stored message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// A person who writes in the chat.
    User,
    /// The model: answers, and texts beside its calls.
    Assistant,
    /// The result of a tool call.
    Tool,
    /// Figaro itself: notes about a turn.
    System,
}

/// A stored message. It is kept in full; only prompts shorten it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Unique id, never reused.
    pub id: EntryId,
    /// The session that holds the message.
    pub session: SessionId,
    /// Position in the session, from 0. An erased message leaves a gap.
    pub index: u32,
    /// Author kind: person, model, tool or Figaro.
    pub role: MessageRole,
    /// The person who wrote it; `None` unless the role is [`MessageRole::User`].
    pub speaker: Option<Speaker>,
    /// Full text: words of a person or the model, or the result of a call.
    pub text: String,
    /// Attachments of a person's message, such as pictures. The files stay at Telegram.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Message that a person replied to. Boxed, as `tool`: few messages have one, and caches hold thousands of messages.
    pub quotes: Option<Box<Quoted>>,
    /// Model that wrote the message, as `provider:model`.
    pub model_id: Option<String>,
    /// Tokens used: on an answer those of the whole turn, on a text beside calls those of its own pass, `None` on other
    /// messages. Do not add them up.
    pub token_usage: Option<Usage>,
    /// Cost of these tokens in nano-dollars; `None` if the price is unknown.
    #[serde(default)]
    pub nano_usd: Option<u64>,
    /// Importance, from 0 (small talk) to 10 (vital), by the rules of [`importance`].
    pub importance: f32,
    /// Memories that the answer used.
    #[serde(default)]
    pub referenced_memories: Vec<MemoryId>,
    /// Observation that the model noted about the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Box<Observation>>,
    /// Time of writing, UTC.
    pub created_at: DateTime<Utc>,
    /// Telegram messages that carry it; several for an album or a split answer.
    #[serde(default)]
    pub telegram: Vec<MessageId>,
    /// Source of a forwarded message.
    #[serde(default)]
    pub forwarded_from: Option<String>,
    /// `true` if a forwarded message was written by a person or a channel, not by a bot.
    #[serde(default)]
    pub from_person: bool,
    /// Call that produced this result; `None` unless the role is [`MessageRole::Tool`].
    pub tool: Option<Box<ToolMeta>>,
    /// Parts that only the provider understands. They go back to that provider unchanged, and to no other.
    #[serde(default)]
    pub private: Vec<PrivatePart>,
    /// Pages that the provider searched for the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Turn started by the question; groups the messages of a turn.
    #[serde(default)]
    pub turn: Option<RunId>,
    /// `true` if a later attempt at the same question replaced the message. It is kept, but no prompt shows it.
    #[serde(default)]
    pub replaced: bool,
    /// Task whose prompt this is; no person sent it at that time.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// Kind of program that asked the question, as reported by it; `None` for messages from Telegram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Messages of the chat that a question asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<CatchUp>,
    /// `true` if the question continues somebody else's words. The rights of its writer do not apply to it.
    #[serde(default)]
    pub borrowed: bool,
    /// Request id of a question over HTTP; `None` for any other message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
}

impl Message {
    /// Creates a message with a role and a text. Its index is 0 until it is appended to the session.
    #[must_use]
    pub fn new(session: SessionId, role: MessageRole, text: String, created_at: DateTime<Utc>) -> Self {
        Self {
            id: EntryId::new(),
            session,
            index: 0,
            role,
            speaker: None,
            attachments: Vec::new(),
            quotes: None,
            model_id: None,
            token_usage: None,
            nano_usd: None,
            importance: match role {
                MessageRole::User => importance::of(By::Person, &text),
                MessageRole::Assistant => importance::of(By::Model, &text),
                MessageRole::Tool | MessageRole::System => importance::BASE,
            },
            text,
            referenced_memories: Vec::new(),
            observation: None,
            created_at,
            telegram: Vec::new(),
            forwarded_from: None,
            from_person: false,
            tool: None,
            private: Vec::new(),
            sources: Vec::new(),
            turn: None,
            replaced: false,
            task: None,
            program: None,
            about: None,
            borrowed: false,
            request: None,
        }
    }

    /// Creates the stored form of a person's message. Its index is 0 until it is appended to the session.
    #[must_use]
    pub fn from_inbound(session: SessionId, inbound: &Inbound) -> Self {
        Self {
            speaker: Some(inbound.speaker.clone()),
            attachments: inbound.attachments.clone(),
            quotes: inbound.quotes.clone(),
            telegram: inbound.origin.message().filter(|_| inbound.task.is_none()).into_iter().collect(),
            forwarded_from: inbound.forwarded_from.clone(),
            from_person: inbound.from_person,
            task: inbound.task,
            program: inbound.program.clone(),
            about: inbound.about.clone(),
            borrowed: inbound.borrowed,
            request: inbound.origin.request(),
            ..Self::new(session, MessageRole::User, inbound.text.clone(), inbound.sent_at)
        }
    }

    /// Returns the message with the edited text and attachments.
    #[must_use]
    pub fn edited(self, edited: &Inbound) -> Self {
        let importance = importance::of(By::Person, &edited.text);
        Self { text: edited.text.clone(), attachments: edited.attachments.clone(), importance, ..self }
    }

    /// Returns `true` if it is stored for this message of a person.
    #[must_use]
    pub fn is_written_in(&self, inbound: &Inbound) -> bool {
        let id = inbound.origin.message();
        self.role == MessageRole::User && id.is_some_and(|id| self.telegram.contains(&id))
    }

    /// Returns `true` if it is an answer that stands in the chat.
    pub(crate) fn is_shown_answer(&self) -> bool {
        self.role == MessageRole::Assistant && !self.telegram.is_empty()
    }

    /// Returns `true` if the other message has the same id, text and attachments.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.id == other.id && self.text == other.text && self.attachments == other.attachments
    }

    /// Returns the key of the message: its session and index.
    #[must_use]
    pub const fn key(&self) -> EntryKey {
        EntryKey { session: self.session, index: self.index }
    }

    /// Returns the side effects of a stored pass or call for its turn.
    #[must_use]
    pub fn side_effects(&self) -> SideEffects {
        let by_call = self.tool.as_ref().map(|tool| tool.side_effects.clone()).unwrap_or_default();
        SideEffects { sources: [&self.sources[..], &by_call.sources].concat(), ..by_call }
    }

    /// Returns the words that people wrote: those of the message, and those it replies to.
    pub fn words_of_people(&self) -> impl Iterator<Item = &str> {
        let is_asked = self.role == MessageRole::User && self.task.is_none();
        let is_own = self.forwarded_from.is_none() || self.from_person;
        let own = (is_asked && is_own).then_some(self.text.as_str());
        let quoted = self.quotes.iter().filter(move |_| is_asked).flat_map(|quoted| quoted.words_of_people());
        own.into_iter().chain(quoted)
    }
}

/// Returns `true` if the person's message at this position begins a turn, and is not a further part of a question.
#[must_use]
pub fn begins_exchange(messages: &[Arc<Message>], at: usize) -> bool {
    let Some(message) = messages.get(at).filter(|message| message.role == MessageRole::User) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|before| messages.get(before));
    !before.is_some_and(|before| before.role == MessageRole::User && before.turn == message.turn)
}

/// Call behind a stored tool result. Both go back to the model together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolMeta {
    /// The provider's id of the call.
    pub tool_call_id: String,
    /// Name of the tool, as the model called it.
    pub tool_name: String,
    /// Arguments exactly as the model wrote them.
    pub tool_arguments: String,
    /// The side effects of the call.
    #[serde(flatten)]
    pub side_effects: SideEffects,
}

/// Opaque part of a provider's answer, such as encrypted reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivatePart {
    /// Name of the provider that made it.
    pub provider: String,
    /// Data as the provider sent it. It goes back to that provider unchanged.
    pub data: Value,
}
