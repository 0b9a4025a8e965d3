//! Changes that a transition writes to the store.

use crate::audit::Audited;
use crate::conversation::{ConversationId, EntryKey, Message, Session};
use crate::delivery::{LiveMessage, PendingDelivery};
use crate::facts::{Unread, UsedMemories};
use crate::origin::Origin;
use crate::pin::Pin;
use crate::task::TaskStep;
use crate::tool::ToolCall;
use figaro_base::ids::{DeliveryId, RunId, UpdateId};

use super::active::ActiveTurn;
use super::parked::ParkedTurn;
use super::tail::SessionTail;

/// One change of the store.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnChange {
    /// Writes a session and makes it the current one of its conversation.
    BeginSession(Session),
    /// Writes the record of a session.
    PutSession(Session),
    /// Writes a message at its index.
    PutMessage(Box<Message>),
    /// Removes the stored messages of a session from this one on.
    RemoveMessages(EntryKey),
    /// Pins the vital parts of written messages. Equal texts share one pin, and a full chat keeps the most important ones.
    PinVital(Vec<Pin>),
    /// Writes the record of the turn in its conversation, replacing the existing one.
    PutTurn(Box<ActiveTurn>),
    /// Removes the record of the turn in a conversation.
    RemoveTurn(ConversationId),
    /// Adds a pending delivery, with the place of the stored answer if it carries one.
    PutDelivery(Box<PendingDelivery>, Option<EntryKey>),
    /// Removes the pending delivery with this id.
    RemoveDelivery(DeliveryId),
    /// Records a live message of a turn.
    PutLive(LiveMessage),
    /// Forgets the live messages of a turn.
    ForgetLive(RunId),
    /// Writes records of a turn's calls. A known call keeps its place; others are appended.
    PutCalls(RunId, Vec<ToolCall>),
    /// Ends the running children of a turn, and removes the words of all of them.
    EndChildren(RunId),
    /// Removes the children of a turn without a trace.
    RemoveChildren(RunId),
    /// Writes a parked turn, which waits for a person.
    PutParked(Box<ParkedTurn>),
    /// Removes a parked turn.
    RemoveParked(RunId),
    /// Marks updates as processed; unknown ones are ignored.
    Settle(Vec<UpdateId>),
    /// Adds a message from which facts are still to be extracted.
    PutUnread(Box<Unread>),
    /// Counts the use of memories by an answer.
    UseMemories(UsedMemories),
    /// Writes a task after a change, with the entry of its history.
    ChangeTask(Box<TaskStep>),
    /// Adds an entry to the audit log.
    Audit(Box<Audited>),
}

/// Changes of a transition, applied in this order and in one commit.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct ChangeSet(Vec<TurnChange>);

impl ChangeSet {
    pub(crate) fn add(&mut self, change: TurnChange) {
        self.0.push(change);
    }

    /// Adds a message, to be written at its index.
    pub(crate) fn add_message(&mut self, message: Message) {
        self.add(TurnChange::PutMessage(Box::new(message)));
    }

    /// Adds a delivery, with the place of the stored answer that it carries.
    pub(crate) fn add_delivery(&mut self, delivery: PendingDelivery, answer: Option<EntryKey>) {
        self.add(TurnChange::PutDelivery(Box::new(delivery), answer));
    }

    /// Marks the updates of these origins as processed. Only messages from Telegram have updates.
    pub(crate) fn settle(&mut self, origins: &[Origin]) {
        let updates: Vec<UpdateId> = origins.iter().filter_map(|origin| origin.update()).collect();
        if !updates.is_empty() {
            self.add(TurnChange::Settle(updates));
        }
    }

    /// Adds the step of a task, if there is one.
    pub(crate) fn add_step(&mut self, step: Option<TaskStep>) {
        self.0.extend(step.map(|step| TurnChange::ChangeTask(Box::new(step))));
    }

    /// Records live messages.
    pub(crate) fn add_live(&mut self, live: Vec<LiveMessage>) {
        self.0.extend(live.into_iter().map(TurnChange::PutLive));
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends all changes of another set.
    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl SessionTail {
    /// Appends messages in this order. Sets their session and index, also in the slice.
    pub fn append(self, messages: &mut [Message]) -> ChangeSet {
        let mut changes = ChangeSet::default();
        for (message, index) in messages.iter_mut().zip(self.next_index..) {
            (message.session, message.index) = (self.session, index);
            changes.add_message(message.clone());
        }
        let written_at = messages.iter().map(|message| message.created_at).max();
        if let (Some(record), Some(written_at)) = (self.record, written_at) {
            let updated_at = record.updated_at.max(written_at);
            changes.add(TurnChange::PutSession(Session { updated_at, ..record }));
        }
        changes
    }
}

impl IntoIterator for ChangeSet {
    type Item = TurnChange;
    type IntoIter = std::vec::IntoIter<TurnChange>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Result of a transition that returns a value to its caller.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Transition<T> {
    /// Value for the caller, valid once the changes are committed.
    pub output: T,
    /// Changes that the store commits together.
    pub changes: ChangeSet,
}

impl<T> Transition<T> {
    /// Creates a transition that writes nothing.
    pub(crate) fn unchanged(output: T) -> Self {
        Self { output, changes: ChangeSet::default() }
    }

    /// Replaces the output and keeps the changes.
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Transition<U> {
        Transition { output: make(self.output), changes: self.changes }
    }
}
