//! Children: runs of agents that a turn asked.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::key;
use super::records::{calls, children};
use crate::{ChildStore, Result};
use figaro_base::ids::RunId;
use figaro_domain::child::{ChildOutcome, ChildRun, MAX_CHILDREN, NewChild};
use figaro_domain::conversation::Message;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{Checkpoint, Step};
use figaro_domain::usage::Usage;

/// Usage and cost of a child and its own children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildSpent {
    /// Tokens sent and written.
    pub usage: Usage,
    /// Cost in nano-dollars; `None` if a price is unknown.
    pub nano_usd: Option<u64>,
}

impl ChildStore {
    /// Begins a child, durably. Returns the existing one if this call of this parent began it before. `None` if the turn
    /// is no longer stored or has the maximum of children ([`MAX_CHILDREN`](figaro_domain::child::MAX_CHILDREN)).
    pub async fn begin(&self, new: NewChild) -> Result<Option<ChildRun>> {
        self.0
            .change_durably("begin a child", move |tables, changes| {
                let known = children::of_turn(tables, new.root)?;
                let is_it = |child: &ChildRun| child.parent == new.parent && child.call == new.call;
                if let Some(child) = known.iter().find(|child| is_it(child)) {
                    return Ok(Some(child.clone()));
                }
                if !children::is_at_work(tables, new.root)? || known.len() >= MAX_CHILDREN {
                    return Ok(None);
                }
                let child = ChildRun::begin(new.clone());
                children::put(tables, changes, &child)?;
                Ok(Some(child))
            })
            .await
    }

    /// Records a step of a child, in one durable write: the model's message, the machine state, the calls that start, and
    /// the cost so far. Nothing is stored for a child whose turn has ended.
    pub async fn record_step(&self, child: &ChildRun, step: Step, spent: ChildSpent) -> Result<()> {
        let child = child.clone();
        self.0
            .change_durably("store a step of a child", move |tables, changes| {
                let Some(mut child) = children::going_on(tables, &child)? else { return Ok(()) };
                let Step { state, said, calls: started } = step.clone();
                let from = tables.child_messages.next_index(&key::id(child.id))?;
                if let Some(state) = state {
                    child.checkpoint = Some(Checkpoint { state, from });
                }
                (child.usage, child.nano_usd) = (spent.usage, spent.nano_usd);
                children::put(tables, changes, &child)?;
                if let Some(said) = said {
                    children::append(tables, changes, child.id, said)?;
                }
                calls::put(tables, changes, child.id, &started)
            })
            .await
    }

    /// Records how a call of a child ended and appends its result, in one durable write. Nothing is stored for a child
    /// whose turn has ended.
    pub async fn tool_ended(&self, child: &ChildRun, call: &ToolCall, result: Message) -> Result<()> {
        let (child, call) = (child.clone(), call.clone());
        self.0
            .change_durably("store a tool result of a child", move |tables, changes| {
                let Some(child) = children::going_on(tables, &child)? else { return Ok(()) };
                calls::put(tables, changes, child.id, std::slice::from_ref(&call))?;
                children::append(tables, changes, child.id, result.clone())
            })
            .await
    }

    /// Ends a child, durably, unless it has ended: the first outcome counts. Returns that outcome.
    pub async fn end(
        &self,
        child: &ChildRun,
        outcome: ChildOutcome,
        spent: ChildSpent,
    ) -> Result<ChildOutcome> {
        let child = child.clone();
        self.0
            .change_durably("end a child", move |tables, changes| {
                let Some(mut stored) = children::find(tables, &child)? else { return Ok(outcome.clone()) };
                stored.end(outcome.clone());
                // Its cost counts even if its turn has ended meanwhile.
                (stored.usage, stored.nano_usd) = (spent.usage, spent.nano_usd);
                children::put(tables, changes, &stored)?;
                Ok(stored.outcome.unwrap_or_else(|| outcome.clone()))
            })
            .await
    }

    /// Returns the messages of a child and the results of its calls, oldest first.
    pub fn messages(&self, child: RunId) -> Result<Vec<Arc<Message>>> {
        self.0.read("read the messages of a child", move |tables| {
            Ok(tables.child_messages.list(&key::id(child))?.into_iter().map(Arc::new).collect())
        })
    }

    /// Returns all children of a turn, nested ones included, in the order in which they began.
    pub fn of_run(&self, root: RunId) -> Result<Vec<ChildRun>> {
        self.0.read("read the children of a turn", move |tables| children::of_turn(tables, root))
    }

    /// Deletes children that began before this time, except those of turns in progress. Returns the number deleted.
    pub fn expire(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0.change("forget the children of old turns", move |tables, changes| {
            children::expire(tables, changes, before)
        })
    }
}
