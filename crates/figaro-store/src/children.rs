//! The port for children: the runs of agents that a turn has asked.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::RunId;
use figaro_domain::child::{ChildOutcome, ChildRun, NewChild};
use figaro_domain::conversation::Message;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::Step;
use figaro_domain::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The children of turns, and what they did so far.
#[async_trait]
pub trait ChildStore: Debug + Send + Sync {
    /// Begins a child, durably; gives the one that this call of this parent has begun before, if there is one, as it is. `None`
    /// if the turn is not on record any more, or has as many as it may ([`MAX_CHILDREN`](figaro_domain::child::MAX_CHILDREN)).
    async fn begin_child(&self, new: NewChild) -> Result<Option<ChildRun>>;
    /// Records a step of a child, in one durable write: what the model said, the state of its machine, the calls that start,
    /// and what it took so far. Of a child whose turn has ended nothing is kept.
    async fn record_child_step(&self, child: &ChildRun, step: Step, spent: ChildSpent) -> Result<()>;
    /// Records how a call of a child ended and appends its result, in one durable write. Of a child whose turn has ended nothing
    /// is kept.
    async fn child_tool_ended(&self, child: &ChildRun, call: &ToolCall, result: Message) -> Result<()>;
    /// Ends a child, durably, unless it has ended: the first outcome counts. Gives the outcome that counts.
    async fn end_child(
        &self,
        child: &ChildRun,
        outcome: ChildOutcome,
        spent: ChildSpent,
    ) -> Result<ChildOutcome>;
    /// What a child said and what its calls gave, oldest first.
    async fn child_messages(&self, child: RunId) -> Result<Vec<Arc<Message>>>;
    /// All children of a turn, those of its children too, in the order in which they began.
    async fn children(&self, root: RunId) -> Result<Vec<ChildRun>>;
    /// Forgets the children that began before this time, apart from those of turns at work. Returns how many.
    async fn expire_children(&self, before: DateTime<Utc>) -> Result<usize>;
}

/// What a child and its own children took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildSpent {
    /// The tokens.
    pub usage: Usage,
    /// What they cost in nano-dollars; `None` where the price is not known.
    pub nano_usd: Option<u64>,
}
