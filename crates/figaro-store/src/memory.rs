//! [`MemoryStore`]: messages by their place, and blocks of indexes.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chrono::TimeDelta;

use super::key;
use super::records::vectors::{KeptVector, MessageVector, SessionEnd};
use super::records::{index, sessions, vectors};
use crate::engine::Keys;
use crate::{MemoryStore, Result};
use figaro_base::ids::{ChatId, EntryId, RequestId, RunId, SessionId};
use figaro_domain::conversation::{ConversationId, EntryKey, Message, MessageRole, Session};

/// Message imported from another system.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The message; its session and index are set when it is added.
    pub message: Message,
    /// Name or id of the message in the system it came from.
    pub name: String,
}

impl MemoryStore {
    /// Returns the chats that have sessions, ordered by id.
    pub fn chats(&self) -> Result<Vec<ChatId>> {
        self.0.read("read the chats", move |tables| {
            let mut chats: Vec<ChatId> = Vec::new();
            for found in tables.sessions_of.keys_of(&[])? {
                let chat = key::chat_in(&found?).filter(|chat| chats.last() != Some(chat));
                chats.extend(chat);
            }
            Ok(chats)
        })
    }

    /// Returns all sessions of a chat, in all topics, oldest first.
    pub fn session_ends(&self, chat: ChatId) -> Result<Vec<SessionEnd>> {
        self.0.read("read the sessions of a chat", move |tables| {
            let mut ends = Vec::new();
            for found in tables.sessions_of.keys_of(&key::chat(chat))? {
                let found = found?;
                let Some(session) = key::session_in(&found) else { continue };
                // Messages of a turn in progress may be taken back.
                let turn = tables.turns.find(key::conversation_in(&found))?;
                let running = turn.filter(|turn| turn.session == session).map(|turn| turn.first_index);
                let next_index = match running {
                    Some(first) => first,
                    None => tables.messages.next_index(&key::id(session))?,
                };
                ends.push(SessionEnd { session, next_index });
            }
            ends.sort_unstable_by_key(|end| end.session);
            Ok(ends)
        })
    }

    /// Returns the messages of a session from an index on, at most `limit`, oldest first, including those that a later
    /// try replaced.
    pub fn messages_from(&self, session: SessionId, index: u32, limit: usize) -> Result<Vec<Arc<Message>>> {
        self.0.read("read the messages", move |tables| {
            let range = Keys::from(key::message(session, index), &key::id(session));
            let found = tables.messages.scan_range(&range)?;
            found.take(limit).map(|item| item.map(|(_, message)| Arc::new(message))).collect()
        })
    }

    /// Returns the place of the question that a turn answers, by its id or by that of the HTTP request; `None` if none is
    /// stored. Searches the sessions of that time.
    pub fn question_of(&self, run: RunId) -> Result<Option<EntryKey>> {
        // A question comes shortly before its turn, unless the turn was put off.
        let (begun, longest) = (run.created_at(), TimeDelta::days(1));
        let request = RequestId::from_bytes(run.to_bytes());
        self.0.read("look for the question of a turn", move |tables| {
            for session in tables.sessions.list(&[])? {
                if session.created_at > begun + longest || session.updated_at < begun - longest {
                    continue;
                }
                let all = Keys::beginning_with(key::id(session.id));
                for item in tables.messages.list_decoded(&all, &self.0.shared.messages)?.rev() {
                    let message = item?;
                    let is_asked = message.turn == Some(run) || message.request == Some(request);
                    if message.role == MessageRole::User && is_asked {
                        return Ok(Some(message.key()));
                    }
                    if message.created_at < begun - longest {
                        break;
                    }
                }
            }
            Ok(None)
        })
    }

    /// Returns the message at each place; `None` if there is none.
    pub fn messages_at(&self, places: &[EntryKey]) -> Result<Vec<Option<Arc<Message>>>> {
        let decoded = &self.0.shared.messages;
        self.0.read("read the messages", move |tables| {
            let one = |place: &EntryKey| {
                tables.messages.find_decoded(&key::message(place.session, place.index), decoded)
            };
            places.iter().map(one).collect()
        })
    }

    /// Returns the blocks of a chat's index, in order.
    pub fn index_blocks(&self, chat: ChatId) -> Result<Vec<Vec<u8>>> {
        self.0.read("read the index of a chat", move |tables| {
            let mut blocks = Vec::new();
            for block in tables.index_blocks.list(&key::chat(chat))? {
                // A damaged block ends the index: what follows is indexed anew.
                let Ok(bytes) = STANDARD_NO_PAD.decode(block.as_bytes()) else { break };
                blocks.push(bytes);
            }
            Ok(blocks)
        })
    }

    /// Appends a block. It is durable a moment later.
    pub fn add_index_block(&self, chat: ChatId, block: &[u8]) -> Result<()> {
        let block = STANDARD_NO_PAD.encode(block);
        self.0.change("store a part of the index", move |tables, changes| {
            index::add(tables, changes, chat, &block)
        })
    }

    /// Returns the messages of a chat that were edited since its index read them.
    pub fn index_edits(&self, chat: ChatId) -> Result<Vec<EntryKey>> {
        self.0.read("read what was edited", move |tables| index::edits(tables, chat))
    }

    /// Marks these edits as indexed, also of deleted messages, and adds a block with their new contents in the same
    /// write. A message edited again meanwhile is returned again by [`Self::index_edits`].
    pub fn edits_indexed(
        &self,
        chat: ChatId,
        block: Option<&[u8]>,
        read: &[(EntryKey, Option<Arc<Message>>)],
    ) -> Result<()> {
        let block = block.map(|block| STANDARD_NO_PAD.encode(block));
        self.0.change("store a part of the index", |tables, changes| {
            if let Some(block) = &block {
                index::add(tables, changes, chat, block)?;
            }
            index::caught_up(tables, changes, chat, read)
        })
    }

    /// Removes all blocks of a chat's index. Durable a moment later.
    pub fn drop_index(&self, chat: ChatId) -> Result<()> {
        self.0
            .change("drop the index of a chat", move |tables, changes| index::drop_all(tables, changes, chat))
    }

    /// Returns the vectors of a session's messages before an index, at most `limit`, newest first, of any model.
    pub fn vectors_before(&self, session: SessionId, index: u32, limit: usize) -> Result<Vec<KeptVector>> {
        self.0.read("read vectors", move |tables| vectors::before(tables, session, index, limit))
    }

    /// Stores vectors made by the model of this name, replacing existing ones. Skips vectors whose message is gone or has
    /// changed. Returns the places of the stored ones. Durable a moment later.
    pub fn put_vectors(&self, model: &str, made: &[MessageVector]) -> Result<Vec<EntryKey>> {
        self.0.change("store vectors", |tables, changes| vectors::put(tables, changes, model, made))
    }

    /// Adds imported messages to a session of their own, durably, each with its original name; indexes continue from the
    /// last one. Begins the session if it does not exist.
    pub async fn import(&self, chat: ChatId, session: SessionId, messages: Vec<Imported>) -> Result<()> {
        self.0
            .change_durably("import messages", move |tables, changes| {
                let Some(last) = messages.last() else { return Ok(()) };
                let now = last.message.created_at;
                let known = tables.sessions.get(&key::id(session))?;
                let conversation = ConversationId { chat, topic: None };
                let begun = || Session { id: session, ..Session::new(conversation, now) };
                let mut record = known.unwrap_or_else(begun);
                record.updated_at = record.updated_at.max(now);
                sessions::put_current(tables, changes, &record)?;
                // Places of erased messages are not reused.
                let first = tables.messages.next_index(&key::id(session))?.max(record.erased_to);
                for (Imported { mut message, name }, index) in messages.into_iter().zip(first..) {
                    (message.session, message.index) = (session, index);
                    changes.put(&tables.messages, key::message(session, index), &message)?;
                    changes.put(&tables.imported, key::id(message.id), &name)?;
                }
                Ok(())
            })
            .await
    }

    /// Returns the original name of each imported message; `None` for one that was not imported.
    pub fn imported_names(&self, messages: &[EntryId]) -> Result<Vec<Option<String>>> {
        self.0.read("read what messages were called", move |tables| {
            messages.iter().map(|message| tables.imported.find(&key::id(*message))).collect()
        })
    }
}
