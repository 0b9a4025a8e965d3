//! One step of a turn in progress: what the model said, the calls that are about to be made, and what a restart needs to go
//! on from there.

use serde_json::Value;

use super::active::{ActiveTurn, Checkpoint};
use super::changes::{Change, ChangeSet};
use super::end::StoredTurn;
use crate::conversation::Message;
use crate::tool::ToolCall;

/// The record of one step of a turn, written in one commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// The state of the turn's machine after it; `None` where only calls start that it knows of.
    pub state: Option<Value>,
    /// What the model said, if it said something.
    pub said: Option<Message>,
    /// The calls that start now. A call that is known gets the new record in its place.
    pub calls: Vec<ToolCall>,
}

/// Records a step. Of a turn that has ended or given way, what it said and calls is recorded all the same, as it happened;
/// nothing goes on with it.
pub fn step(turn: &ActiveTurn, stored: StoredTurn, step: Step) -> ChangeSet {
    let Step { state, said, calls } = step;
    let mut changes = ChangeSet::default();
    let has_ended = stored.has_ended(turn);
    if let Some((on_record, state)) = stored.on_record.filter(|_| !has_ended).zip(state) {
        let checkpoint = Some(Checkpoint { state, from: stored.tail.next_index });
        changes.add(Change::PutTurn(Box::new(ActiveTurn { checkpoint, ..on_record })));
    }
    if let Some(mut said) = said {
        changes.append(stored.tail.append(std::slice::from_mut(&mut said)));
    }
    changes.add(Change::PutCalls(turn.id, calls));
    changes
}
