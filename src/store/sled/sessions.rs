//! Sessions of conversations and the messages in them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::key;
use super::tables::Tables;
use crate::domain::conversation::{Conversation, EntryKey, Message, Session};
use crate::ids::{ChatId, SessionId};

/// The current session, begun if there is none.
pub(super) fn current(
    tables: &Tables,
    changes: &mut Changes,
    conversation: Conversation,
    now: DateTime<Utc>,
) -> Result<Session, Fault> {
    let stored = match tables.current.get(&key::conversation(conversation))? {
        Some(id) => tables.sessions.get(&key::id(id))?,
        None => None,
    };
    stored.map_or_else(|| begin(tables, changes, conversation, now), Ok)
}

/// Begins another session.
pub(super) fn begin(
    tables: &Tables,
    changes: &mut Changes,
    conversation: Conversation,
    now: DateTime<Utc>,
) -> Result<Session, Fault> {
    let session = Session { id: SessionId::new(), conversation, created_at: now, updated_at: now };
    changes.put(&tables.sessions, key::id(session.id), &session)?;
    changes.put(&tables.current, key::conversation(conversation), &session.id)?;
    Ok(session)
}

/// Appends messages, each to its session, and sets their indexes. Called once per operation: it counts on from what is
/// stored, not from what the same operation is about to store.
pub(super) fn append(tables: &Tables, changes: &mut Changes, messages: &mut [Message]) -> Result<(), Fault> {
    let mut ends = BTreeMap::<SessionId, (u32, DateTime<Utc>)>::new();
    for message in messages {
        let (next, written_at) = match ends.get(&message.session) {
            Some(&end) => end,
            None => (tables.messages.next_index(&key::id(message.session))?, message.created_at),
        };
        message.index = next;
        changes.put(&tables.messages, key::message(message.session, next), message)?;
        ends.insert(message.session, (next.saturating_add(1), written_at.max(message.created_at)));
    }
    for (id, (_, written_at)) in ends {
        // A session whose own record is lost keeps its messages all the same.
        let Some(mut session) = tables.sessions.find(&key::id(id))? else {
            continue;
        };
        session.updated_at = session.updated_at.max(written_at);
        changes.put(&tables.sessions, key::id(id), &session)?;
    }
    Ok(())
}

/// The newest messages of a session, oldest first.
pub(super) fn recent(tables: &Tables, session: SessionId, limit: usize) -> Result<Vec<Message>, Fault> {
    let newest = tables.messages.scan(&key::id(session)).rev().map(|item| item.map(|(_, message)| message));
    let current = newest.filter(|message| !message.as_ref().is_ok_and(|message| message.replaced));
    let mut messages = current.take(limit).collect::<Result<Vec<_>, _>>()?;
    messages.reverse();
    Ok(messages)
}

/// A message by its key, if its session belongs to this chat.
pub(super) fn entry(tables: &Tables, chat: ChatId, key: EntryKey) -> Result<Option<Message>, Fault> {
    let session = tables.sessions.get(&key::id(key.session))?;
    match session.filter(|session| session.conversation.chat == chat) {
        Some(session) => {
            let message = tables.messages.get(&key::message(session.id, key.index))?;
            Ok(message.filter(|message| !message.replaced))
        }
        None => Ok(None),
    }
}
