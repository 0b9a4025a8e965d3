//! How a turn ends, and how it is taken back.

use chrono::{DateTime, Utc};

use super::active::ActiveTurn;
use super::changes::{Change, ChangeSet};
use super::parked::ParkedTurn;
use super::tail::SessionTail;
use crate::conversation::{EntryKey, Message};
use crate::delivery::PendingDelivery;
use crate::facts::UsedMemories;
use crate::session::{SessionChange, SessionName};
use crate::task::{Ended, Task, TaskChange};
use figaro_base::ids::EntryId;

/// What a turn leaves when it ends.
#[derive(Debug, Clone, Default)]
pub struct TurnEnd {
    /// Messages to append, the answer last; a turn may end without words.
    pub messages: Vec<Message>,
    /// The reply on its way to the chat, if one is to be sent.
    pub delivery: Option<PendingDelivery>,
    /// The cards that are sent behind the answer, in order.
    pub cards: Vec<PendingDelivery>,
    /// The change of the task whose prompt the turn ran, and its time.
    pub task: Option<(TaskChange, DateTime<Utc>)>,
    /// The memories that the answer has used.
    pub used: Option<UsedMemories>,
    /// What its session is called from now on, unless a person has named it.
    pub name: Option<SessionName>,
    /// It does not end but waits for a person: its only message holds the question.
    pub parked: Option<Box<ParkedTurn>>,
}

impl TurnEnd {
    /// The answer that is delivered, if it was appended before the end of the turn.
    #[must_use]
    pub fn earlier_answer(&self) -> Option<EntryId> {
        let entry = self.delivery.as_ref()?.entry?;
        self.messages.iter().all(|message| message.id != entry).then_some(entry)
    }
}

/// What is stored of a turn that is to end or to be taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTurn {
    /// The turn on record in its conversation. If that is another one, or none, the turn has ended.
    pub on_record: Option<ActiveTurn>,
    /// The end of the session that it writes to.
    pub tail: SessionTail,
}

impl StoredTurn {
    pub(super) fn has_ended(&self, turn: &ActiveTurn) -> bool {
        self.on_record.as_ref().is_none_or(|active| active.id != turn.id)
    }
}

/// What is stored of the things that the end of a turn changes or points to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndsWith {
    /// The place of the answer named by [`TurnEnd::earlier_answer`]; `None` if it is not found.
    pub answer: Option<EntryKey>,
    /// The task that the turn carries out.
    pub task: Option<Task>,
}

/// Ends a turn: its last messages, its deliveries, the change of its task, the settlement of its updates. The messages of
/// a task's turn that is tried again are taken back. A turn that has ended is left as it is.
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
    // A turn that waits has heard of all its children; what they took is still asked for.
    if end.parked.is_none() {
        changes.add(Change::EndChildren(turn.id));
    }
    if let Some(mut parked) = end.parked {
        parked.asked_at = stored.tail.next_index;
        // Its chat may have got another id while it ran.
        if let Some(session) = &stored.tail.record {
            parked.turn.conversation = session.conversation;
            parked.place.chat = session.conversation.chat;
        }
        changes.add(Change::PutParked(parked));
    }
    if let Some(session) = &mut stored.tail.record {
        let is_named = session.change(SessionChange { name: end.name, ..SessionChange::default() });
        // Messages are appended together with the record of their session.
        if is_named && end.messages.is_empty() {
            changes.add(Change::PutSession(session.clone()));
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
        changes.add(Change::UseMemories(used));
    }
    changes.add(Change::RemoveTurn(turn.conversation));
    changes.settle(&turn.origins);
    changes
}

/// Takes a turn back that has shown and done nothing: its record and its messages go, its updates stay unsettled. A turn
/// that has ended is left as it is.
pub fn retract(turn: &ActiveTurn, stored: &StoredTurn) -> ChangeSet {
    if stored.has_ended(turn) {
        return ChangeSet::default();
    }
    let mut changes = take_back(turn, &stored.tail);
    changes.add(Change::RemoveChildren(turn.id));
    changes.add(Change::RemoveTurn(turn.conversation));
    changes
}

const fn is_tried_again(change: &TaskChange) -> bool {
    matches!(change, TaskChange::Settle(_, Ended::Failed { again: true, .. }))
}

/// Removes the messages of a turn, its question included.
fn take_back(turn: &ActiveTurn, tail: &SessionTail) -> ChangeSet {
    let mut changes = ChangeSet::default();
    let has_moved = tail.record.as_ref().is_some_and(|session| session.conversation != turn.conversation);
    // If the session moved with its chat, the next turn there may have written to it since.
    if !has_moved {
        changes.add(Change::RemoveMessages(EntryKey { session: turn.session, index: turn.first_index }));
    }
    changes
}
