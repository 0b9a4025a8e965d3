//! One step of a current turn: the model's text, the calls about to start, and the data needed to continue after a restart.

use serde_json::Value;

use super::active::{ActiveTurn, Checkpoint};
use super::changes::{ChangeSet, TurnChange};
use super::end::StoredTurn;
use crate::conversation::Message;
use crate::tool::ToolCall;

/// Record of one step of a turn, written in one commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// State of the turn's state machine after the step; `None` if the step only starts calls that the machine already
    /// knows.
    pub state: Option<Value>,
    /// Text of the model, if any.
    pub said: Option<Message>,
    /// Calls that start now. The record of a known call is replaced.
    pub calls: Vec<ToolCall>,
}

/// Records a step. For a turn that has ended or was replaced, text and calls are still recorded, because they happened, but
/// the turn does not continue.
pub fn step(turn: &ActiveTurn, stored: StoredTurn, step: Step) -> ChangeSet {
    let Step { state, said, calls } = step;
    let mut changes = ChangeSet::default();
    let has_ended = stored.has_ended(turn);
    if let Some((on_record, state)) = stored.on_record.filter(|_| !has_ended).zip(state) {
        let checkpoint = Some(Checkpoint { state, from: stored.tail.next_index });
        changes.add(TurnChange::PutTurn(Box::new(ActiveTurn { checkpoint, ..on_record })));
    }
    if let Some(mut said) = said {
        changes.append(stored.tail.append(std::slice::from_mut(&mut said)));
    }
    changes.add(TurnChange::PutCalls(turn.id, calls));
    changes
}
