//! The port for memories: facts about people, and the messages that they are still to be taken from.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::{ChatId, EntryId, MemoryId, SessionId, UserId};
use figaro_domain::conversation::Message;
use figaro_domain::facts::{FactChange, FactCounts, OwnChange, Unread};
use figaro_domain::memory::Memory;

type Result<T> = std::result::Result<T, StoreError>;

/// Messages of a person in one session that facts are to be taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadBatch {
    /// The chat that they were said in.
    pub chat: ChatId,
    /// The session that they stand in.
    pub session: SessionId,
    /// The messages, oldest first, each with its mark.
    pub messages: Vec<(Unread, Message)>,
    /// What was said right before the first of them, oldest first.
    pub before: Vec<Message>,
}

/// How many messages are read at once, and how often a model is asked about each.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The most messages at once.
    pub messages: usize,
    /// The most messages before them.
    pub before: usize,
    /// The most tries; a message that had so many is given up.
    pub tries: u8,
}

/// What reading messages has come to.
#[derive(Debug, Clone)]
pub struct ReadFacts {
    /// The messages that were read.
    pub read: Vec<EntryId>,
    /// What changes.
    pub changes: Vec<FactChange>,
    /// The most memories of a person.
    pub limit: usize,
    /// The current time, UTC.
    pub now: DateTime<Utc>,
}

/// How many memories there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Those that are used.
    pub active: usize,
    /// Those that were removed and are still stored.
    pub removed: usize,
    /// Messages that facts are still to be taken from.
    pub unread: usize,
}

/// What is remembered of people.
#[async_trait]
pub trait FactStore: Debug + Send + Sync {
    /// All memories of a person that were not erased, also those that were removed, oldest first.
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>>;
    /// Makes a change that a person asked for of a memory of theirs, durably; gives the memory then. `None` if they have none
    /// that it fits.
    async fn change_memory(
        &self,
        user: &UserId,
        memory: MemoryId,
        change: OwnChange,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>>;
    /// Deletes all memories of a person for good, and the marks of messages that facts were still to be taken from. Durable;
    /// gives how many were active.
    async fn erase_memories(&self, user: &UserId) -> Result<usize>;
    /// The people who have said something that facts are still to be taken from.
    async fn people_with_unread(&self) -> Result<Vec<UserId>>;
    /// The oldest such messages of a person, of one session, and counts a try of each. Those that are gone or had all their
    /// tries are given up. `None` if there is nothing to read.
    async fn take_unread(&self, user: &UserId, reading: Reading) -> Result<Option<UnreadBatch>>;
    /// Takes a try of messages back: no model has answered.
    async fn return_unread(&self, user: &UserId, messages: &[EntryId]) -> Result<()>;
    /// Ends the reading of messages: changes the memories and takes the marks away, in one durable write. Gives what changed;
    /// `None`, and nothing is written, if the mark of one of them is gone: somebody has erased it, or it was read before.
    async fn end_reading(&self, user: &UserId, facts: ReadFacts) -> Result<Option<FactCounts>>;
    /// Takes no facts from what a person has said so far.
    async fn skip_unread(&self, user: &UserId) -> Result<()>;
    /// Deletes memories that were removed before this time for good, from the files too, a moment later; gives how many.
    async fn purge_memories(&self, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<usize>;
    /// How many memories there are of all people.
    async fn count_memories(&self) -> Result<MemoryCounts>;
}
