//! [`MemoryStore`]: messages by where they stand, and blocks of indexes.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chrono::TimeDelta;

use super::records::{index, sessions, vectors};
use super::{KvStore, key};
use crate::engine::Keys;
use crate::{Imported, KeptVector, MemoryStore, MessageVector, Result, SessionEnd};
use figaro_base::ids::{ChatId, EntryId, RequestId, RunId, SessionId};
use figaro_domain::conversation::{Conversation, EntryKey, Message, Role, Session};

#[async_trait]
impl MemoryStore for KvStore {
    async fn chats(&self) -> Result<Vec<ChatId>> {
        self.read("read the chats", move |tables| {
            let mut chats: Vec<ChatId> = Vec::new();
            for found in tables.sessions_of.keys_of(&[])? {
                let chat = key::chat_in(&found?).filter(|chat| chats.last() != Some(chat));
                chats.extend(chat);
            }
            Ok(chats)
        })
        .await
    }

    async fn session_ends(&self, chat: ChatId) -> Result<Vec<SessionEnd>> {
        self.read("read the sessions of a chat", move |tables| {
            let mut ends = Vec::new();
            for found in tables.sessions_of.keys_of(&key::chat(chat))? {
                let found = found?;
                let Some(session) = key::session_in(&found) else { continue };
                // What a turn in progress has stored may be taken back.
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
        .await
    }

    async fn messages_from(&self, session: SessionId, index: u32, limit: usize) -> Result<Vec<Arc<Message>>> {
        self.read("read the messages", move |tables| {
            let range = Keys::from(key::message(session, index), &key::id(session));
            let found = tables.messages.scan_range(&range)?;
            found.take(limit).map(|item| item.map(|(_, message)| Arc::new(message))).collect()
        })
        .await
    }

    async fn question_of(&self, run: RunId) -> Result<Option<EntryKey>> {
        // A question comes shortly before its turn, or a turn was put off.
        let (begun, longest) = (run.created_at(), TimeDelta::days(1));
        let request = RequestId::from_bytes(run.to_bytes());
        self.read("look for the question of a turn", move |tables| {
            for session in tables.sessions.list(&[])? {
                if session.created_at > begun + longest || session.updated_at < begun - longest {
                    continue;
                }
                for item in tables.messages.list_decoded(&key::id(session.id), &self.0.messages)?.rev() {
                    let message = item?;
                    let is_asked = message.turn == Some(run) || message.request == Some(request);
                    if message.role == Role::User && is_asked {
                        return Ok(Some(message.key()));
                    }
                    if message.created_at < begun - longest {
                        break;
                    }
                }
            }
            Ok(None)
        })
        .await
    }

    async fn messages_at(&self, places: &[EntryKey]) -> Result<Vec<Option<Arc<Message>>>> {
        let decoded = &self.0.messages;
        self.read("read the messages", move |tables| {
            let one = |place: &EntryKey| {
                tables.messages.find_decoded(&key::message(place.session, place.index), decoded)
            };
            places.iter().map(one).collect()
        })
        .await
    }

    async fn index_blocks(&self, chat: ChatId) -> Result<Vec<Vec<u8>>> {
        self.read("read the index of a chat", move |tables| {
            let mut blocks = Vec::new();
            for block in tables.index_blocks.list(&key::chat(chat))? {
                // One that is no block any more ends the index: what is behind it is indexed anew.
                let Ok(bytes) = STANDARD_NO_PAD.decode(block.as_bytes()) else { break };
                blocks.push(bytes);
            }
            Ok(blocks)
        })
        .await
    }

    async fn add_index_block(&self, chat: ChatId, block: &[u8]) -> Result<()> {
        let block = STANDARD_NO_PAD.encode(block);
        self.change("store a part of the index", move |tables, changes| {
            index::add(tables, changes, chat, &block)
        })
        .await
    }

    async fn index_edits(&self, chat: ChatId) -> Result<Vec<EntryKey>> {
        self.read("read what was edited", move |tables| index::edits(tables, chat)).await
    }

    async fn edits_indexed(
        &self,
        chat: ChatId,
        block: Option<&[u8]>,
        read: &[(EntryKey, Option<Arc<Message>>)],
    ) -> Result<()> {
        let block = block.map(|block| STANDARD_NO_PAD.encode(block));
        self.change("store a part of the index", |tables, changes| {
            if let Some(block) = &block {
                index::add(tables, changes, chat, block)?;
            }
            index::caught_up(tables, changes, chat, read)
        })
        .await
    }

    async fn drop_index(&self, chat: ChatId) -> Result<()> {
        self.change("drop the index of a chat", move |tables, changes| index::drop_all(tables, changes, chat))
            .await
    }

    async fn vectors_before(&self, session: SessionId, index: u32, limit: usize) -> Result<Vec<KeptVector>> {
        self.read("read vectors", move |tables| vectors::before(tables, session, index, limit)).await
    }

    async fn put_vectors(&self, model: &str, made: &[MessageVector]) -> Result<Vec<EntryKey>> {
        self.change("store vectors", |tables, changes| vectors::put(tables, changes, model, made)).await
    }

    async fn import(&self, chat: ChatId, session: SessionId, messages: Vec<Imported>) -> Result<()> {
        self.change_durably("import messages", move |tables, changes| {
            let Some(last) = messages.last() else { return Ok(()) };
            let now = last.message.created_at;
            let known = tables.sessions.get(&key::id(session))?;
            let conversation = Conversation { chat, topic: None };
            let begun = || Session { id: session, ..Session::new(conversation, now) };
            let mut record = known.unwrap_or_else(begun);
            record.updated_at = record.updated_at.max(now);
            sessions::put_current(tables, changes, &record)?;
            // The places of what was erased are not given again.
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

    async fn imported_names(&self, messages: &[EntryId]) -> Result<Vec<Option<String>>> {
        self.read("read what messages were called", move |tables| {
            messages.iter().map(|message| tables.imported.find(&key::id(*message))).collect()
        })
        .await
    }
}
