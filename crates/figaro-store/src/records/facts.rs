//! Memories of people, and the messages still to be read for facts.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::pins;
use figaro_base::ids::SessionId;
use figaro_base::ids::{ChatId, EntryId};
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::facts::{FactChange, Facts, Unread, UsedMemories};
use figaro_domain::message::Inbound;

/// Messages of a person in one session to be read for facts.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadBatch {
    /// Chat in which they were written.
    pub chat: ChatId,
    /// Session that contains them.
    pub session: SessionId,
    /// Messages, oldest first, each with its mark.
    pub messages: Vec<(Unread, Message)>,
    /// Context right before the first of them, oldest first.
    pub before: Vec<Message>,
}

/// Limits of reading messages for facts.
#[derive(Debug, Clone, Copy)]
pub struct ExtractionLimits {
    /// Maximum messages read at once.
    pub messages: usize,
    /// Maximum context messages before them.
    pub before: usize,
    /// Maximum tries; a message that reaches it is given up.
    pub tries: u8,
}

/// Result of reading messages for facts.
#[derive(Debug, Clone)]
pub struct ReadFacts {
    /// Messages that were read; their marks are deleted.
    pub read: Vec<EntryId>,
    /// Changes to the memories of the person.
    pub changes: Vec<FactChange>,
    /// Maximum memories of a person.
    pub limit: usize,
    /// Current time, UTC.
    pub now: DateTime<Utc>,
}

/// Counts of memories and unread messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Memories in use.
    pub active: usize,
    /// Memories removed and still stored.
    pub removed: usize,
    /// Messages still to be read for facts.
    pub unread: usize,
}

/// Maximum marks of a person; beyond it the oldest is dropped.
const MAX_UNREAD: usize = 200;

/// Marks a message to be read for facts.
pub(super) fn put_unread(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    unread: &Unread,
) -> Result<(), StoreFault> {
    let keys = tables.unread.keys_of(&key::user(&unread.user))?.collect::<Result<Vec<_>, _>>()?;
    let surplus = (keys.len() + 1).saturating_sub(MAX_UNREAD);
    for key in keys.into_iter().take(surplus) {
        changes.remove(&tables.unread, key);
    }
    changes.put(&tables.unread, key::of_user(&unread.user, unread.id), unread)
}

/// Counts the use of memories by an answer.
pub(super) fn use_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    used: &UsedMemories,
) -> Result<(), StoreFault> {
    for id in &used.ids {
        let key = key::of_user(&used.user, id);
        if let Some(mut memory) = tables.memories.find(&key)? {
            memory.access_count = memory.access_count.saturating_add(1);
            memory.last_accessed_at = Some(used.at);
            changes.put(&tables.memories, key, &memory)?;
        }
    }
    Ok(())
}

/// Deletes the marks and memories of a message that is taken back before anybody read an answer to it.
pub(super) fn lose_source(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    message: &Message,
) -> Result<(), StoreFault> {
    let writer = message.speaker.as_ref().filter(|_| message.role == MessageRole::User);
    let Some(user) = writer.map(|speaker| &speaker.user) else { return Ok(()) };
    changes.remove(&tables.unread, key::of_user(user, message.id));
    for memory in tables.memories.list(&key::user(user))? {
        if memory.source_message_id == message.id {
            changes.remove(&tables.memories, key::of_user(user, memory.id));
            pins::remove_of_memories(tables, changes, user, Some(&BTreeSet::from([memory.id])))?;
        }
    }
    Ok(())
}

/// Writes the changed memories of a person.
pub(crate) fn put_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    facts: &Facts,
) -> Result<(), StoreFault> {
    for memory in facts.written() {
        changes.put(&tables.memories, key::of_user(&memory.user, memory.id), memory)?;
        pins::follow_memory(tables, changes, memory, facts.has_expired(memory.id))?;
    }
    Ok(())
}

/// Deletes memories that were removed before this time for good; returns the number deleted.
pub(crate) fn purge(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, StoreFault> {
    let mut gone = 0;
    for item in tables.memories.scan(&[])? {
        let (key, memory) = item?;
        if memory.deleted_at.is_some_and(|deleted| deleted < before) {
            changes.remove(&tables.memories, key);
            gone += 1;
        }
    }
    Ok(gone)
}

/// Deletes the marks of a person with this key.
pub(crate) fn skip(tables: &Tables<'_>, changes: &mut Changes<'_>, of: &[u8]) -> Result<(), StoreFault> {
    for key in tables.unread.keys_of(of)? {
        changes.remove(&tables.unread, key?);
    }
    Ok(())
}

/// Deletes the marks of earlier wordings of an edited message, apart from that of the question that is asked now: no facts are
/// taken from words that were edited away.
pub(super) fn skip_earlier(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    edited: &Inbound,
    asked: &[Message],
) -> Result<(), StoreFault> {
    for item in tables.unread.scan(&key::user(&edited.speaker.user))? {
        let (key, unread) = item?;
        // Other chats have messages with the same number.
        let is_other = |asked: &Message| asked.session == unread.place.session && asked.id != unread.id;
        let message = tables.messages.find(&key::message(unread.place.session, unread.place.index))?;
        if asked.iter().all(is_other) && message.is_some_and(|message| message.is_written_in(edited)) {
            changes.remove(&tables.unread, key);
        }
    }
    Ok(())
}

/// Returns the oldest messages to be read of a person with this key, of one session; counts a try of each.
pub(crate) fn take(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    of: &[u8],
    reading: ExtractionLimits,
) -> Result<Option<UnreadBatch>, StoreFault> {
    let mut batch: Option<UnreadBatch> = None;
    for item in tables.unread.scan(of)? {
        let (key, mut unread) = item?;
        let session = unread.place.session;
        if batch.as_ref().is_some_and(|batch| batch.session != session) {
            continue;
        }
        if batch.as_ref().is_some_and(|batch| batch.messages.len() >= reading.messages) {
            break;
        }
        let record = tables.sessions.find(&key::id(session))?;
        let stored = tables.messages.find(&key::message(session, unread.place.index))?;
        let message = stored.filter(|message| message.id == unread.id && unread.tries < reading.tries);
        let Some((record, message)) = record.zip(message) else {
            if unread.tries >= reading.tries {
                tracing::warn!(message = %unread.id, "no facts were taken from a message: every try failed");
            }
            changes.remove(&tables.unread, key);
            continue;
        };
        unread.tries += 1;
        changes.put(&tables.unread, &key, &unread)?;
        let chat = record.conversation.chat;
        let batch = batch.get_or_insert_with(|| UnreadBatch {
            chat,
            session,
            messages: Vec::new(),
            before: Vec::new(),
        });
        batch.messages.push((unread, message));
    }
    if let Some(batch) = &mut batch {
        let first = batch.messages.first().map_or(0, |(unread, _)| unread.place.index);
        batch.before = before(tables, batch.session, first, reading.before)?;
    }
    Ok(batch)
}

/// Returns the messages of people and the bot right before a message, oldest first.
fn before(
    tables: &Tables<'_>,
    session: SessionId,
    index: u32,
    most: usize,
) -> Result<Vec<Message>, StoreFault> {
    let mut found = Vec::new();
    for at in (0..index).rev().take(most * 3) {
        let said = tables.messages.find(&key::message(session, at))?.filter(|message| {
            let is_said = matches!(message.role, MessageRole::User | MessageRole::Assistant);
            is_said && !message.replaced && !message.text.trim().is_empty()
        });
        found.extend(said);
        if found.len() == most {
            break;
        }
    }
    found.reverse();
    Ok(found)
}
