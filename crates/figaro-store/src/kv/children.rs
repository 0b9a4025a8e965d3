//! [`ChildStore`].

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::{calls, children};
use super::{KvStore, key};
use crate::{ChildSpent, ChildStore, Result};
use figaro_base::ids::RunId;
use figaro_domain::child::{ChildOutcome, ChildRun, MAX_CHILDREN, NewChild};
use figaro_domain::conversation::Message;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{Checkpoint, Step};

#[async_trait]
impl ChildStore for KvStore {
    async fn begin_child(&self, new: NewChild) -> Result<Option<ChildRun>> {
        self.change_durably("begin a child", move |tables, changes| {
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

    async fn record_child_step(&self, child: &ChildRun, step: Step, spent: ChildSpent) -> Result<()> {
        let child = child.clone();
        self.change_durably("store a step of a child", move |tables, changes| {
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

    async fn child_tool_ended(&self, child: &ChildRun, call: &ToolCall, result: Message) -> Result<()> {
        let (child, call) = (child.clone(), call.clone());
        self.change_durably("store a tool result of a child", move |tables, changes| {
            let Some(child) = children::going_on(tables, &child)? else { return Ok(()) };
            calls::put(tables, changes, child.id, std::slice::from_ref(&call))?;
            children::append(tables, changes, child.id, result.clone())
        })
        .await
    }

    async fn end_child(
        &self,
        child: &ChildRun,
        outcome: ChildOutcome,
        spent: ChildSpent,
    ) -> Result<ChildOutcome> {
        let child = child.clone();
        self.change_durably("end a child", move |tables, changes| {
            let Some(mut stored) = children::find(tables, &child)? else { return Ok(outcome.clone()) };
            stored.end(outcome.clone());
            // Where its turn has ended meanwhile, what it took counts all the same.
            (stored.usage, stored.nano_usd) = (spent.usage, spent.nano_usd);
            children::put(tables, changes, &stored)?;
            Ok(stored.outcome.unwrap_or_else(|| outcome.clone()))
        })
        .await
    }

    async fn child_messages(&self, child: RunId) -> Result<Vec<Arc<Message>>> {
        self.read("read the messages of a child", move |tables| {
            Ok(tables.child_messages.list(&key::id(child))?.into_iter().map(Arc::new).collect())
        })
        .await
    }

    async fn children(&self, root: RunId) -> Result<Vec<ChildRun>> {
        self.read("read the children of a turn", move |tables| children::of_turn(tables, root)).await
    }

    async fn expire_children(&self, before: DateTime<Utc>) -> Result<usize> {
        self.change("forget the children of old turns", move |tables, changes| {
            children::expire(tables, changes, before)
        })
        .await
    }
}
