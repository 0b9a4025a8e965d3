//! Children: agent runs requested by a turn or by another child. Each is recorded from start to end, so that it survives a
//! restart and ends exactly once. The record stays for `/usage`, without the words.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tool::SideEffects;
use super::turn::Checkpoint;
use super::usage::Usage;
use figaro_base::ids::{ChatId, RunId};

/// Maximum depth of a child; the turn itself has depth 0.
pub const MAX_DEPTH: u32 = 3;
/// Maximum number of children of a turn, including children of children.
pub const MAX_CHILDREN: usize = 20;

/// Record of a child run, kept after its end for `/usage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildRun {
    /// Id of the child; its calls are recorded under it.
    pub id: RunId,
    /// Turn that the child belongs to.
    pub root: RunId,
    /// Turn or child that requested it.
    pub parent: RunId,
    /// Provider's id of the call that started the child, unique in its parent.
    pub call: String,
    /// Chat of the turn that the child belongs to.
    pub chat: ChatId,
    /// Name of the agent that the child runs.
    pub agent: String,
    /// Depth: 1 for a child of the turn, 2 for a child of that child.
    pub depth: u32,
    /// Start time, UTC.
    pub started_at: DateTime<Utc>,
    /// Deadline, UTC. A restart of the bot does not extend it.
    pub ends_by: DateTime<Utc>,
    /// Progress of the child; `None` before its first complete step and after its turn has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Tokens used by the child and its own children, as far as recorded.
    pub usage: Usage,
    /// Cost of these tokens in nano-dollars; `None` if the price is unknown.
    pub nano_usd: Option<u64>,
    /// Result of the child; `None` while it runs.
    #[serde(default)]
    pub outcome: Option<ChildOutcome>,
}

/// Result of a child, returned to the agent that requested it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildOutcome {
    /// Way in which the child ended.
    pub end: ChildEnd,
    /// Answer, or the partial text of an interrupted child. Empty once the turn has ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Structured answer, if the agent has to match a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Reason of a failure, for the model that made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Side effects for the turn: text said to the person, pages, tasks.
    #[serde(default)]
    pub left: SideEffects,
    /// The model that answered, as `provider:model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Way in which a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildEnd {
    /// Completed with an answer.
    Done,
    /// Failed without an answer.
    Failed,
    /// Reached its deadline.
    Timeout,
    /// Stopped with its turn, or still running when the turn ended.
    Cancelled,
    /// Reached the limit of its passes or tokens, or the day's budget.
    OverBudget,
}

impl ChildEnd {
    /// Returns the name for models and logs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::OverBudget => "over_budget",
        }
    }
}

/// Parameters of a new child, for [`ChildRun::begin`].
#[derive(Debug, Clone, PartialEq)]
pub struct NewChild {
    /// Turn that the child belongs to.
    pub root: RunId,
    /// Turn or child that requests it.
    pub parent: RunId,
    /// Provider's id of the call that requests the child.
    pub call: String,
    /// Chat of the turn that the child belongs to.
    pub chat: ChatId,
    /// Name of the agent that the child runs.
    pub agent: String,
    /// Depth of the child, from 1.
    pub depth: u32,
    /// Start time, UTC.
    pub started_at: DateTime<Utc>,
    /// Deadline, UTC.
    pub ends_by: DateTime<Utc>,
}

impl ChildRun {
    /// Starts a child with a new id.
    #[must_use]
    pub fn begin(new: NewChild) -> Self {
        let NewChild { root, parent, call, chat, agent, depth, started_at, ends_by } = new;
        Self {
            id: RunId::new(),
            root,
            parent,
            call,
            chat,
            agent,
            depth,
            started_at,
            ends_by,
            checkpoint: None,
            usage: Usage::default(),
            nano_usd: Some(0),
            outcome: None,
        }
    }

    /// Ends the child. The first outcome counts.
    pub fn end(&mut self, outcome: ChildOutcome) {
        self.outcome.get_or_insert(outcome);
    }

    /// Returns the record after the end of its turn: ended, and without any words.
    #[must_use]
    pub fn without_words(mut self) -> Self {
        self.end(ChildOutcome::of(ChildEnd::Cancelled));
        if let Some(outcome) = &mut self.outcome {
            *outcome = ChildOutcome { model: outcome.model.take(), ..ChildOutcome::of(outcome.end) };
        }
        Self { checkpoint: None, ..self }
    }
}

impl ChildOutcome {
    /// Creates an outcome with only its end.
    #[must_use]
    pub fn of(end: ChildEnd) -> Self {
        let (text, left) = (String::new(), SideEffects::default());
        Self { end, text, structured: None, error: None, left, model: None }
    }

    /// Creates an outcome with an error text for the model that made the call.
    #[must_use]
    pub fn because(end: ChildEnd, error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::of(end) }
    }
}
