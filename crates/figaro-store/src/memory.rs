//! The port for the memory of chats: their messages by where they stand, and the blocks of their indexes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::error::StoreError;
use figaro_base::ids::{ChatId, EntryId, RunId, SessionId};
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::vector::ByteVector;

type Result<T> = std::result::Result<T, StoreError>;

/// How far a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// The session whose messages are counted.
    pub session: SessionId,
    /// The index behind its last message that is there to stay: what a turn in progress has stored may be taken back.
    pub next_index: u32,
}

/// A vector of a message, to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageVector {
    /// Where the message stands.
    pub place: EntryKey,
    /// The message that it was made of: another may have come to its place, or it may have been edited.
    pub of: Arc<Message>,
    /// What was made of it.
    pub vector: ByteVector,
}

/// A vector of a message of a session, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptVector {
    /// The place of the message in the session.
    pub index: u32,
    /// The name of the model that made it: only vectors of one model can be compared.
    pub model: String,
    /// The vector; without numbers if it could not be read.
    pub vector: ByteVector,
}

/// The messages of chats as their memory reads them, and what is kept of its indexes. An index can be made anew from the messages
/// at any time: it is never the only place of anything.
#[async_trait]
pub trait MemoryStore: Debug + Send + Sync {
    /// The chats that have sessions, in the order of their numbers.
    async fn chats(&self) -> Result<Vec<ChatId>>;
    /// All sessions of a chat, in all its topics, the oldest first.
    async fn session_ends(&self, chat: ChatId) -> Result<Vec<SessionEnd>>;
    /// The messages of a session from an index on, at most so many, oldest first, also those that a later try has replaced.
    async fn messages_from(&self, session: SessionId, index: u32, limit: usize) -> Result<Vec<Arc<Message>>>;
    /// The place of the question that a turn answers, by its id or by that of the question over HTTP; `None` where none is stored. Looked for in the sessions of its time.
    async fn question_of(&self, run: RunId) -> Result<Option<EntryKey>>;
    /// The message at each place; `None` where there is none.
    async fn messages_at(&self, places: &[EntryKey]) -> Result<Vec<Option<Arc<Message>>>>;
    /// The blocks of a chat's index, in order.
    async fn index_blocks(&self, chat: ChatId) -> Result<Vec<Vec<u8>>>;
    /// Adds a block behind the others. It is durable a moment later.
    async fn add_index_block(&self, chat: ChatId, block: &[u8]) -> Result<()>;
    /// The messages of a chat that were edited since its index was told of them.
    async fn index_edits(&self, chat: ChatId) -> Result<Vec<EntryKey>>;
    /// The index knows these messages as they were read, also those that are gone. Adds a block with what it knows of them now,
    /// in the same write. One that was edited once more meanwhile is given again by [`Self::index_edits`].
    async fn edits_indexed(
        &self,
        chat: ChatId,
        block: Option<&[u8]>,
        read: &[(EntryKey, Option<Arc<Message>>)],
    ) -> Result<()>;
    /// Removes all blocks of a chat's index. It is durable a moment later.
    async fn drop_index(&self, chat: ChatId) -> Result<()>;
    /// The vectors of a session's messages before an index, at most so many, newest first, whichever model made them.
    async fn vectors_before(&self, session: SessionId, index: u32, limit: usize) -> Result<Vec<KeptVector>>;
    /// Keeps vectors that the model of this name made, in place of those there are. One whose message is gone or says something
    /// else by now is left out. Gives the places of those that are kept. It is durable a moment later.
    async fn put_vectors(&self, model: &str, vectors: &[MessageVector]) -> Result<Vec<EntryKey>>;
    /// Adds messages from elsewhere to a session of their own, durably, each with what it was called there; their indexes go
    /// on from the last. The session is begun if there is none with this id.
    async fn import(&self, chat: ChatId, session: SessionId, messages: Vec<Imported>) -> Result<()>;
    /// What each of these messages was called where it was imported from; `None` for one that was not.
    async fn imported_names(&self, messages: &[EntryId]) -> Result<Vec<Option<String>>>;
}

/// A message from elsewhere.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The message; its session and index are given when it is added.
    pub message: Message,
    /// What it was called.
    pub name: String,
}
