//! Children: runs of agents that a turn, or another child, has asked something. Each is on record from its beginning to its
//! end, so that a restart goes on with it, and it ends once. Without words the record stays for `/usage`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tool::SideEffects;
use super::turn::Checkpoint;
use super::usage::Usage;
use figaro_base::ids::{ChatId, RunId};

/// Children may ask further children down to this depth; the turn itself is at depth 0.
pub const MAX_DEPTH: u32 = 3;
/// So many children a turn may have, those of its children counted.
pub const MAX_CHILDREN: usize = 20;

/// The record of a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildRun {
    /// Its own id: its calls are on record under it.
    pub id: RunId,
    /// The turn that it is part of.
    pub root: RunId,
    /// The turn or child that asked it.
    pub parent: RunId,
    /// The provider's id of the call by which it was asked, unique in its parent.
    pub call: String,
    /// The chat of the turn.
    pub chat: ChatId,
    /// The name of its agent.
    pub agent: String,
    /// 1 for a child of the turn, 2 for a child of that.
    pub depth: u32,
    /// When it began, UTC.
    pub started_at: DateTime<Utc>,
    /// Its time is up then, UTC, also when the bot was restarted in between.
    pub ends_by: DateTime<Utc>,
    /// How far it has come; none before its first step is whole, and once its turn has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The tokens that it and its own children took, as far as is on record.
    pub usage: Usage,
    /// What they cost in nano-dollars; `None` where the price is not known.
    pub nano_usd: Option<u64>,
    /// How it ended; none while it goes on.
    #[serde(default)]
    pub outcome: Option<ChildOutcome>,
}

/// How a child ended, and what it gives whoever asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildOutcome {
    /// In which way.
    pub end: ChildEnd,
    /// Its answer, or what it had when it was cut; empty once its turn has ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The value that it answered with, where its agent has to match a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Why it failed, for the model that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it leaves behind for its turn: what was said to the person, pages, tasks.
    #[serde(default)]
    pub left: SideEffects,
    /// The model that answered, as `provider:model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// In which way a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildEnd {
    /// With an answer.
    Done,
    /// It could not answer.
    Failed,
    /// Its time was up.
    Timeout,
    /// The turn was stopped, or ended without it.
    Cancelled,
    /// It reached the bound on its passes or tokens, or the day's budget.
    OverBudget,
}

impl ChildEnd {
    /// The name that models and logs see.
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

/// A child that is to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChild {
    /// The turn that it is part of.
    pub root: RunId,
    /// The turn or child that asks it.
    pub parent: RunId,
    /// The provider's id of the call by which it is asked.
    pub call: String,
    /// The chat of the turn.
    pub chat: ChatId,
    /// The name of its agent.
    pub agent: String,
    /// How deep it stands.
    pub depth: u32,
    /// The time now, UTC.
    pub started_at: DateTime<Utc>,
    /// Its time is up then, UTC.
    pub ends_by: DateTime<Utc>,
}

impl ChildRun {
    /// A child that begins.
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

    /// Ends it, unless it has ended: the first outcome counts.
    pub fn end(&mut self, outcome: ChildOutcome) {
        self.outcome.get_or_insert(outcome);
    }

    /// The same once its turn has ended: it has ended too, and its words are nobody's any more.
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
    /// An end without a word.
    #[must_use]
    pub fn of(end: ChildEnd) -> Self {
        let (text, left) = (String::new(), SideEffects::default());
        Self { end, text, structured: None, error: None, left, model: None }
    }

    /// An end with the reason, for the model that asked.
    #[must_use]
    pub fn because(end: ChildEnd, error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::of(end) }
    }
}
