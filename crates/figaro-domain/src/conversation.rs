//! Conversations, their sessions, and the messages stored in them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// So many messages that were not addressed to the bot are kept of a conversation, the newest.
pub const KEPT_BACKGROUND: usize = 100;

/// A chat, or a part of it that is talked in apart. In each conversation one turn runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Conversation {
    /// The chat; it gets another id when a group becomes a supergroup.
    pub chat: ChatId,
    /// The part: a forum topic, or a session of a person outside Telegram. `None` in other chats and in the general topic.
    pub topic: Option<TopicId>,
}

impl Conversation {
    /// All of a chat that has no parts, or what is in none of them.
    #[must_use]
    pub const fn whole(chat: ChatId) -> Self {
        Self { chat, topic: None }
    }

    /// The conversation of one question outside Telegram that belongs to no session: nobody else has it. All of them are of one
    /// chat, so that the books of what was spent have one place for them.
    #[must_use]
    pub fn unnamed(question: RequestId) -> Self {
        // A topic is positive and fits into a JSON number.
        let [.., a, b, c, d, e, f] = question.to_bytes();
        let topic = i64::from_be_bytes([0, 0, a, b, c, d, e, f]) + 1;
        Self { chat: ChatId::UNNAMED, topic: Some(TopicId(topic)) }
    }
}

impl Place {
    /// The conversation of this place: turns of one conversation run one after the other.
    #[must_use]
    pub const fn conversation(&self) -> Conversation {
        Conversation { chat: self.chat, topic: self.topic }
    }

    /// The place of a conversation outside Telegram, where one person talks with the bot.
    #[must_use]
    pub const fn external(conversation: Conversation) -> Self {
        let Conversation { chat, topic } = conversation;
        Self { chat, kind: ChatKind::Private, title: None, topic }
    }
}

/// One thread of talk in a conversation; `/new` starts another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The id, unique for ever.
    pub id: SessionId,
    /// The chat and topic it belongs to.
    pub conversation: Conversation,
    /// When it began, UTC.
    pub created_at: DateTime<Utc>,
    /// When its last message was stored, UTC.
    pub updated_at: DateTime<Utc>,
    /// What it is called; `None` until somebody or the model has named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// How often the model was asked for a name.
    #[serde(default)]
    pub naming_tries: u8,
    /// The agent that answers in it, by its name; `None` for that of the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model that answers in it; `None` for that of the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// The name that the client of a conversation outside Telegram gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_name: Option<String>,
    /// The index behind the last message that was erased at its end: the place of an erased message is never given again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_to: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(index: &u32) -> bool {
    *index == 0
}

impl Session {
    /// A new session without messages that begins at `now`.
    #[must_use]
    pub fn new(conversation: Conversation, now: DateTime<Utc>) -> Self {
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

    /// Makes a change; `false` where it leaves all as it is. A person's name stands over an agent's, and that over the model's.
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

/// Names a stored message where a prompt shows it only in part, as `session-{id}-msg-{index}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// Whose words a stored message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person in the chat.
    User,
    /// The model: answers and the texts beside its calls.
    Assistant,
    /// The result of a tool call.
    Tool,
    /// Figaro itself: notes about a turn.
    System,
}

/// A stored message. Everything is kept whole; shortening happens only when a prompt is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The id, unique for ever.
    pub id: EntryId,
    /// The session that holds the message.
    pub session: SessionId,
    /// Its position in the session, from 0. Where one was erased a gap is left.
    pub index: u32,
    /// Whether a person, the model, a tool or Figaro wrote it.
    pub role: Role,
    /// The person who wrote it; `None` unless the role is [`Role::User`].
    pub speaker: Option<Speaker>,
    /// The whole text: a person's or the model's words, or the result of a call.
    pub text: String,
    /// What a person's message carries beside text, such as pictures; the files stay at Telegram.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// The message that a person replied to.
    pub quotes: Option<Quoted>,
    /// The model that wrote it, as `provider:model`.
    pub model_id: Option<String>,
    /// On an answer the tokens that its whole turn took; on words beside calls those of their own pass; `None` on other
    /// messages. So they are not to be added up.
    pub token_usage: Option<Usage>,
    /// What that cost in nano-dollars; `None` where the price is not known.
    #[serde(default)]
    pub nano_usd: Option<u64>,
    /// How much it matters, from 0 (small talk) to 10 (vital), by the rules of [`importance`].
    pub importance: f32,
    /// The memories that the answer used.
    #[serde(default)]
    pub referenced_memories: Vec<MemoryId>,
    /// What the model has noted about the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Box<Observation>>,
    /// When it was written, UTC.
    pub created_at: DateTime<Utc>,
    /// The Telegram messages that carry it; several for an album or a split answer.
    #[serde(default)]
    pub telegram: Vec<MessageId>,
    /// Where a message that a person passed on came from.
    #[serde(default)]
    pub forwarded_from: Option<String>,
    /// Of a message that was passed on: a person or a channel wrote it, no bot.
    #[serde(default)]
    pub from_person: bool,
    /// The call that this is the result of; `None` unless the role is [`Role::Tool`].
    pub tool: Option<ToolMeta>,
    /// What only the provider understands: sent back to it as it came, and to no other.
    #[serde(default)]
    pub private: Vec<PrivatePart>,
    /// Pages that the provider searched for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The turn that a question began, so that its parts are known as one.
    #[serde(default)]
    pub turn: Option<RunId>,
    /// A later try at the same question took its place: it is kept, and no prompt shows it.
    #[serde(default)]
    pub replaced: bool,
    /// The task whose prompt it is: nobody sent it just then.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// The kind of program that a question was asked by, in the words of that; of messages of Telegram `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// A question that had the words of somebody else gone on with: no right of its writer counts for it.
    #[serde(default)]
    pub borrowed: bool,
    /// The id that whoever asked over HTTP knows the question by; of any other message `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
}

impl Message {
    /// A message of this role with nothing but words. It stands at index 0 until it is appended to the session.
    #[must_use]
    pub fn new(session: SessionId, role: Role, text: String, created_at: DateTime<Utc>) -> Self {
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
                Role::User => importance::of(By::Person, &text),
                Role::Assistant => importance::of(By::Model, &text),
                Role::Tool | Role::System => importance::BASE,
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
            borrowed: false,
            request: None,
        }
    }

    /// A person's message as it is stored. It stands at index 0 until it is appended to the session.
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
            borrowed: inbound.borrowed,
            request: inbound.origin.request(),
            ..Self::new(session, Role::User, inbound.text.clone(), inbound.sent_at)
        }
    }

    /// The same with the words and attachments that its writer has given it since.
    #[must_use]
    pub fn edited(self, edited: &Inbound) -> Self {
        let importance = importance::of(By::Person, &edited.text);
        Self { text: edited.text.clone(), attachments: edited.attachments.clone(), importance, ..self }
    }

    /// Whether another one is the same message and has not been edited since, or before.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.id == other.id && self.text == other.text && self.attachments == other.attachments
    }

    /// The key by which it is looked up: its session and index.
    #[must_use]
    pub const fn key(&self) -> EntryKey {
        EntryKey { session: self.session, index: self.index }
    }

    /// What a stored pass or call left behind for its turn.
    #[must_use]
    pub fn side_effects(&self) -> SideEffects {
        let by_call = self.tool.as_ref().map(|tool| tool.side_effects.clone()).unwrap_or_default();
        SideEffects { sources: [&self.sources[..], &by_call.sources].concat(), ..by_call }
    }

    /// The words in it that people wrote: theirs, and what they replied to.
    pub fn words_of_people(&self) -> impl Iterator<Item = &str> {
        let is_asked = self.role == Role::User && self.task.is_none();
        let is_own = self.forwarded_from.is_none() || self.from_person;
        let own = (is_asked && is_own).then_some(self.text.as_str());
        let quoted = self.quotes.iter().filter(move |_| is_asked).flat_map(Quoted::words_of_people);
        own.into_iter().chain(quoted)
    }
}

/// Whether what a person says at this place of a session's messages begins a turn, and is not a further part of a question.
#[must_use]
pub fn begins_exchange(messages: &[Arc<Message>], at: usize) -> bool {
    let Some(message) = messages.get(at).filter(|message| message.role == Role::User) else { return false };
    let before = at.checked_sub(1).and_then(|before| messages.get(before));
    !before.is_some_and(|before| before.role == Role::User && before.turn == message.turn)
}

/// The call behind a stored tool result, so that both go back to the model together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolMeta {
    /// The provider's id of the call.
    pub tool_call_id: String,
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments exactly as the model wrote them.
    pub tool_arguments: String,
    /// The side effects of the call.
    #[serde(flatten)]
    pub side_effects: SideEffects,
}

/// An opaque piece of a provider's answer, such as encrypted reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivatePart {
    /// The name of the provider that made it.
    pub provider: String,
    /// The data as the provider sent it; it goes back to that provider unchanged.
    pub data: Value,
}
