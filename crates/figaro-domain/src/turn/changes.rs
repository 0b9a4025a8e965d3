//! What a transition wants written.

use crate::audit::Audited;
use crate::conversation::{Conversation, EntryKey, Message, Session};
use crate::delivery::PendingDelivery;
use crate::facts::{Unread, UsedMemories};
use crate::origin::Origin;
use crate::pin::Pin;
use crate::task::TaskStep;
use crate::tool::ToolCall;
use figaro_base::ids::{DeliveryId, RunId, UpdateId};

use super::active::ActiveTurn;
use super::parked::ParkedTurn;
use super::tail::SessionTail;

/// One thing that is to be different in the store.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes a session and makes it the current one of its conversation.
    BeginSession(Session),
    /// Writes the record of a session.
    PutSession(Session),
    /// Writes a message at its index.
    PutMessage(Box<Message>),
    /// Removes the stored messages of a session from this one on.
    RemoveMessages(EntryKey),
    /// Pins what is vital in messages that are written: of the same words there is one pin, and a full chat keeps what matters
    /// most.
    PinVital(Vec<Pin>),
    /// Writes the record of the turn in its conversation, in place of the one that is there.
    PutTurn(Box<ActiveTurn>),
    /// Removes the record of the turn in a conversation.
    RemoveTurn(Conversation),
    /// Puts a delivery on its way; with the place of the stored answer, if it carries one.
    PutDelivery(Box<PendingDelivery>, Option<EntryKey>),
    /// Removes the pending delivery with this id.
    RemoveDelivery(DeliveryId),
    /// Forgets the live messages of a turn.
    ForgetLive(RunId),
    /// Writes the records of calls of a turn, each in the place it has, or behind the others.
    PutCalls(RunId, Vec<ToolCall>),
    /// Ends the children of a turn that go on, and keeps no words of any.
    EndChildren(RunId),
    /// Removes the children of a turn as if they had never been.
    RemoveChildren(RunId),
    /// Writes a turn that waits for a person.
    PutParked(Box<ParkedTurn>),
    /// Removes a turn that waits for a person.
    RemoveParked(RunId),
    /// Marks updates as dealt with; unknown ones are ignored.
    Settle(Vec<UpdateId>),
    /// Notes a message that facts are still to be taken from.
    PutUnread(Box<Unread>),
    /// Counts that an answer has used memories.
    UseMemories(UsedMemories),
    /// Writes a task as it is after a change, and the entry of its history.
    ChangeTask(Box<TaskStep>),
    /// Adds an entry to the audit log.
    Audit(Box<Audited>),
}

/// The changes of a transition, to be made in this order and in one commit.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct ChangeSet(Vec<Change>);

impl ChangeSet {
    /// Adds a change behind the others.
    pub(crate) fn add(&mut self, change: Change) {
        self.0.push(change);
    }

    /// Adds a message, to be written at its index.
    pub(crate) fn add_message(&mut self, message: Message) {
        self.add(Change::PutMessage(Box::new(message)));
    }

    /// Adds a delivery, with the place of the stored answer that it carries.
    pub(crate) fn add_delivery(&mut self, delivery: PendingDelivery, answer: Option<EntryKey>) {
        self.add(Change::PutDelivery(Box::new(delivery), answer));
    }

    /// Has the updates of these origins count as dealt with. Only messages of Telegram have any.
    pub(crate) fn settle(&mut self, origins: &[Origin]) {
        let updates: Vec<UpdateId> = origins.iter().filter_map(|origin| origin.update()).collect();
        if !updates.is_empty() {
            self.add(Change::Settle(updates));
        }
    }

    /// Adds the step of a task, if there is one.
    pub(crate) fn add_step(&mut self, step: Option<TaskStep>) {
        self.0.extend(step.map(|step| Change::ChangeTask(Box::new(step))));
    }

    /// Adds all changes of another set behind its own.
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
            changes.add(Change::PutSession(Session { updated_at, ..record }));
        }
        changes
    }
}

impl IntoIterator for ChangeSet {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// What comes of a transition that gives its caller something.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Transition<T> {
    /// What the caller gets once the changes are made.
    pub output: T,
    /// The changes that the store commits together.
    pub changes: ChangeSet,
}

impl<T> Transition<T> {
    /// A transition that writes nothing.
    pub(crate) fn unchanged(output: T) -> Self {
        Self { output, changes: ChangeSet::default() }
    }

    /// The same changes with another output.
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Transition<U> {
        Transition { output: make(self.output), changes: self.changes }
    }
}
