//! A turn in progress, as it is stored so that a restart can go on with it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tail::SessionTail;
use crate::conversation::{Conversation, Message, Role};
use crate::message::Inbound;
use crate::model::ModelName;
use crate::origin::Origin;
use crate::record::Rules;
use crate::task::Task;
use figaro_base::ids::{RunId, SessionId, TaskId};

/// A turn that has begun and not ended. There is at most one in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveTurn {
    /// Its id, the turn id of the log.
    pub id: RunId,
    /// The chat and topic it runs in.
    pub conversation: Conversation,
    /// The session that its messages are stored in.
    pub session: SessionId,
    /// The origins of the messages that it answers. Their updates, where they have any, are settled when it ends.
    pub origins: Vec<Origin>,
    /// Index in the session of the question's first message; what stands at or after it belongs to this turn.
    pub first_index: u32,
    /// When it began, UTC.
    pub started_at: DateTime<Utc>,
    /// Whether it asks an earlier question again.
    #[serde(default)]
    pub again: bool,
    /// The model that was asked for, for this turn alone.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// The task whose prompt it runs.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// How far it has come; none before its first step is whole, and in records of older versions.
    #[serde(default)]
    pub checkpoint: Option<Checkpoint>,
    /// The answer of a person that it waited for and now goes on with.
    #[serde(default)]
    pub resumed_by: Option<Box<Inbound>>,
}

/// What a restart goes on with, beside the stored messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The state of the turn's machine, as that wrote it; nobody else reads it.
    pub state: Value,
    /// Index in the session of the first message of the pass whose calls are being made: its words, if it said something,
    /// then the results.
    pub from: u32,
}

impl ActiveTurn {
    /// A turn that answers no message yet, whose question is appended at the end of a session.
    #[must_use]
    pub(crate) fn new(conversation: Conversation, tail: &SessionTail, now: DateTime<Utc>) -> Self {
        Self {
            id: RunId::new(),
            conversation,
            session: tail.session,
            origins: Vec::new(),
            first_index: tail.next_index,
            started_at: now,
            again: false,
            model: None,
            task: None,
            checkpoint: None,
            resumed_by: None,
        }
    }

    /// Whether a message of its session is a part of its question.
    #[must_use]
    pub fn is_asked_by(&self, message: &Message) -> bool {
        message.index >= self.first_index && message.role == Role::User
    }
}

/// A turn on record, with what decides how it gives way to another.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftTurn {
    /// The record of the turn that gave way.
    pub turn: ActiveTurn,
    /// The stored messages of its question, oldest first.
    pub question: Vec<Message>,
    /// It has started a tool call, so it may have changed something in the world.
    pub acted: bool,
    /// The task that it carries out, unless that is gone.
    pub task: Option<Task>,
}

/// What is stored of a conversation in which a turn is to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The chat and topic.
    pub conversation: Conversation,
    /// The turn on record, if one has not ended.
    pub left: Option<LeftTurn>,
    /// The end of the current session; `None` before the first one.
    pub current: Option<SessionTail>,
    /// By what rules of its context packs messages matter there, beside those of every chat.
    pub rules: Rules,
}
