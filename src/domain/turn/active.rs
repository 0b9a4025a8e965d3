//! A turn in progress, as it is stored so that a restart can go on with it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::conversation::Conversation;
use crate::domain::model::ModelName;
use crate::ids::{RunId, SessionId, TaskId, UpdateId};

/// A turn that has begun and not ended. There is at most one in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveTurn {
    /// Its id, the turn id of the log.
    pub id: RunId,
    /// Where it runs.
    pub conversation: Conversation,
    /// The session it writes to.
    pub session: SessionId,
    /// The updates it answers.
    pub updates: Vec<UpdateId>,
    /// Index in the session of the question's first message; what stands at or after it belongs to this turn.
    pub first_index: u32,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// It tries an earlier question again.
    #[serde(default)]
    pub again: bool,
    /// The model that was asked for, for this turn alone.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// The task that it carries out.
    #[serde(default)]
    pub task: Option<TaskId>,
}
