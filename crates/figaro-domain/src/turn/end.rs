//! End of a turn, and its retraction.

use chrono::{DateTime, Utc};

use super::active::ActiveTurn;
use super::changes::{ChangeSet, TurnChange};
use super::parked::ParkedTurn;
use super::tail::SessionTail;
use crate::conversation::{EntryKey, Message};
use crate::delivery::PendingDelivery;
use crate::facts::UsedMemories;
use crate::session::{SessionChange, SessionName};
use crate::task::{Task, TaskChange, TaskRunResult};
use figaro_base::ids::EntryId;

/// Data that a turn writes when it ends.
#[derive(Debug, Clone, Default)]
pub struct TurnEnd {
    /// Messages to append, the answer last. A turn may end without any.
    pub messages: Vec<Message>,
    /// Reply to be sent to the chat, if any.
    pub delivery: Option<PendingDelivery>,
    /// Cards to be sent after the answer, in order.
    pub cards: Vec<PendingDelivery>,
    /// Change of the task whose prompt the turn ran, and its time.
    pub task: Option<(TaskChange, DateTime<Utc>)>,
    /// Memories used by the answer.
    pub used: Option<UsedMemories>,
    /// New name of the session, used unless a person has named it.
    pub name: Option<SessionName>,
    /// Parked turn, if the turn does not end but waits for a person. Its only message holds the question.
    pub parked: Option<Box<ParkedTurn>>,
}

impl TurnEnd {
    /// Returns the delivered answer, if it was appended before the end of the turn.
    #[must_use]
    pub fn earlier_answer(&self) -> Option<EntryId> {
        let entry = self.delivery.as_ref()?.entry?;
        self.messages.iter().all(|message| message.id != entry).then_some(entry)
    }
}

/// Stored data of a turn that is to end or to be retracted.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTurn {
    /// Turn on record in its conversation. If it is another one, or `None`, the turn has ended.
    pub on_record: Option<ActiveTurn>,
    /// End of the session that the turn writes to.
    pub tail: SessionTail,
}

impl StoredTurn {
    pub(super) fn has_ended(&self, turn: &ActiveTurn) -> bool {
        self.on_record.as_ref().is_none_or(|active| active.id != turn.id)
    }
}

/// Stored data that the end of a turn changes or refers to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndsWith {
    /// Key of the answer named by [`TurnEnd::earlier_answer`]; `None` if it is not found.
    pub answer: Option<EntryKey>,
    /// Task that the turn runs.
    pub task: Option<Task>,
}

/// Ends a turn: appends its last messages, adds its deliveries, changes its task and settles its updates. If a task's turn
/// is tried again, its messages are removed. Does nothing if the turn has ended.
pub fn end(turn: &ActiveTurn, mut stored: StoredTurn, with: EndsWith, mut end: TurnEnd) -> ChangeSet {
    let mut changes = ChangeSet::default();
    if stored.has_ended(turn) {
        return changes;
    }
    let task_change = end.task.filter(|_| turn.task.is_some());
    if task_change.as_ref().is_some_and(|(change, _)| is_tried_again(change)) {
        end.messages.clear();
        changes.append(take_back(turn, &stored.tail));
    }
    // A waiting turn has the results of all its children, but their usage is still needed.
    if end.parked.is_none() {
        changes.add(TurnChange::EndChildren(turn.id));
    }
    if let Some(mut parked) = end.parked {
        parked.asked_at = stored.tail.next_index;
        // The chat may have got a new id during the turn.
        if let Some(session) = &stored.tail.record {
            parked.turn.conversation = session.conversation;
            parked.place.chat = session.conversation.chat;
        }
        changes.add(TurnChange::PutParked(parked));
    }
    if let Some(session) = &mut stored.tail.record {
        let is_named = session.change(SessionChange { name: end.name, ..SessionChange::default() });
        // The record of the session is written together with appended messages.
        if is_named && end.messages.is_empty() {
            changes.add(TurnChange::PutSession(session.clone()));
        }
    }
    changes.append(stored.tail.append(&mut end.messages));
    if let Some(delivery) = end.delivery {
        let appended = |entry: EntryId| end.messages.iter().find(|message| message.id == entry);
        let answer = delivery.entry.and_then(|entry| appended(entry).map(Message::key).or(with.answer));
        changes.add_delivery(delivery, answer);
    }
    for card in end.cards {
        changes.add_delivery(card, None);
    }
    if let Some((change, at)) = task_change {
        changes.add_step(with.task.and_then(|task| task.step(change, at)));
    }
    if let Some(used) = end.used.filter(|_| !end.messages.is_empty()) {
        changes.add(TurnChange::UseMemories(used));
    }
    changes.add(TurnChange::RemoveTurn(turn.conversation));
    changes.settle(&turn.origins);
    changes
}

/// Retracts a turn without visible effects: removes its record and its messages, and leaves its updates unsettled. Does
/// nothing if the turn has ended.
pub fn retract(turn: &ActiveTurn, stored: &StoredTurn) -> ChangeSet {
    if stored.has_ended(turn) {
        return ChangeSet::default();
    }
    let mut changes = take_back(turn, &stored.tail);
    changes.add(TurnChange::RemoveChildren(turn.id));
    changes.add(TurnChange::RemoveTurn(turn.conversation));
    changes
}

const fn is_tried_again(change: &TaskChange) -> bool {
    matches!(change, TaskChange::Settle(_, TaskRunResult::Failed { again: true, .. }))
}

/// Removes the messages of a turn, including its question.
fn take_back(turn: &ActiveTurn, tail: &SessionTail) -> ChangeSet {
    let mut changes = ChangeSet::default();
    let has_moved = tail.record.as_ref().is_some_and(|session| session.conversation != turn.conversation);
    // If the session moved with its chat, the next turn there may have written to it since.
    if !has_moved {
        changes.add(TurnChange::RemoveMessages(EntryKey { session: turn.session, index: turn.first_index }));
    }
    changes
}
