//! A current turn, stored so that a restart can continue it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tail::SessionTail;
use crate::conversation::{ConversationId, Message, MessageRole};
use crate::message::Inbound;
use crate::model::ModelName;
use crate::origin::Origin;
use crate::record::ImportanceRules;
use crate::task::Task;
use figaro_base::ids::{RunId, SessionId, TaskId};

/// A turn that has begun and not ended. A conversation has at most one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveTurn {
    /// Id of the turn; the turn id in the log.
    pub id: RunId,
    /// Chat and topic of the turn.
    pub conversation: ConversationId,
    /// Session that stores its messages.
    pub session: SessionId,
    /// Origins of the answered messages. Their updates, if any, are settled at the end of the turn.
    pub origins: Vec<Origin>,
    /// Index in the session of the question's first message. Messages from this index on belong to the turn.
    pub first_index: u32,
    /// Start time, UTC.
    pub started_at: DateTime<Utc>,
    /// `true` if the turn repeats an earlier question.
    #[serde(default)]
    pub again: bool,
    /// `true` if the turn repeats the question because its writer has edited it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// Model requested for this turn only.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// Task whose prompt the turn runs.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// Progress of the turn; `None` before its first complete step, and in older records.
    #[serde(default)]
    pub checkpoint: Option<Checkpoint>,
    /// Answer of the person that the turn waited for, and with which it continues.
    #[serde(default)]
    pub resumed_by: Option<Box<Inbound>>,
}

/// Data for continuing after a restart, in addition to the stored messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// State of the turn's state machine; only the machine reads it.
    pub state: Value,
    /// Index in the session of the first message of the current pass: its text, if any, followed by the results of its
    /// calls.
    pub from: u32,
}

impl ActiveTurn {
    /// Creates a turn that does not answer any message yet. Its question is appended at the end of a session.
    #[must_use]
    pub(crate) fn new(conversation: ConversationId, tail: &SessionTail, now: DateTime<Utc>) -> Self {
        Self {
            id: RunId::new(),
            conversation,
            session: tail.session,
            origins: Vec::new(),
            first_index: tail.next_index,
            started_at: now,
            again: false,
            edited: false,
            model: None,
            task: None,
            checkpoint: None,
            resumed_by: None,
        }
    }

    /// Returns `true` if a message of its session is part of its question.
    #[must_use]
    pub fn is_asked_by(&self, message: &Message) -> bool {
        message.index >= self.first_index && message.role == MessageRole::User
    }
}

/// A turn on record, with the data that decides how another one replaces it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftTurn {
    /// Record of the replaced turn.
    pub turn: ActiveTurn,
    /// Stored messages of its question, oldest first.
    pub question: Vec<Message>,
    /// `true` if it has started a tool call, so that it may have had effects.
    pub acted: bool,
    /// Task that the turn runs; `None` if it no longer exists.
    pub task: Option<Task>,
}

/// Stored state of a conversation in which a turn is to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationState {
    /// Chat and topic of the turn.
    pub conversation: ConversationId,
    /// Turn on record, if one has not ended.
    pub left: Option<LeftTurn>,
    /// End of the current session; `None` before the first one.
    pub current: Option<SessionTail>,
    /// Rules of the chat's context packs for the importance of messages, in addition to the general ones.
    pub rules: ImportanceRules,
}
