//! Sessions of conversations and the messages in them.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::decoded::Decoded;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::pins;
use crate::engine::Keys;
use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::{ConversationId, EntryKey, Message, Session};
use figaro_domain::turn::SessionTail;

/// Returns the current session, beginning one if there is none.
pub(crate) fn current(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    conversation: ConversationId,
    now: DateTime<Utc>,
) -> Result<Session, StoreFault> {
    stored(tables, conversation)?.map_or_else(|| begin(tables, changes, conversation, now), Ok)
}

/// Returns the current session; `None` before the first one.
pub(super) fn stored(
    tables: &Tables<'_>,
    conversation: ConversationId,
) -> Result<Option<Session>, StoreFault> {
    match tables.current.get(&key::conversation(conversation))? {
        Some(id) => tables.sessions.get(&key::id(id)),
        None => Ok(None),
    }
}

pub(crate) fn begin(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    conversation: ConversationId,
    now: DateTime<Utc>,
) -> Result<Session, StoreFault> {
    let session = Session::new(conversation, now);
    pins::session_began(tables, changes, &session)?;
    put_current(tables, changes, &session)?;
    Ok(session)
}

/// Writes a session and makes it the current one of its conversation.
pub(crate) fn put_current(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    session: &Session,
) -> Result<(), StoreFault> {
    changes.put(&tables.sessions, key::id(session.id), session)?;
    changes.put(&tables.sessions_of, key::session_of(session.conversation, session.id), &())?;
    changes.put(&tables.current, key::conversation(session.conversation), &session.id)
}

/// Returns the end of the current session; `None` before the first one.
pub(super) fn current_tail(
    tables: &Tables<'_>,
    conversation: ConversationId,
) -> Result<Option<SessionTail>, StoreFault> {
    let Some(session) = stored(tables, conversation)? else {
        return Ok(None);
    };
    let next_index = tables.messages.next_index(&key::id(session.id))?.max(session.erased_to);
    Ok(Some(SessionTail { session: session.id, record: Some(session), next_index }))
}

/// Returns the end of a session, even if its record is unreadable.
pub(super) fn tail(tables: &Tables<'_>, session: SessionId) -> Result<SessionTail, StoreFault> {
    let record = tables.sessions.find(&key::id(session))?;
    let erased_to = record.as_ref().map_or(0, |record| record.erased_to);
    let next_index = tables.messages.next_index(&key::id(session))?.max(erased_to);
    Ok(SessionTail { session, record, next_index })
}

/// Returns the newest messages of a session, oldest first.
pub(crate) fn recent(
    tables: &Tables<'_>,
    decoded: &Decoded<Message>,
    session: SessionId,
    limit: usize,
) -> Result<Vec<Arc<Message>>, StoreFault> {
    let all = Keys::beginning_with(key::id(session));
    let newest = tables.messages.list_decoded(&all, decoded)?.rev();
    let current = newest.filter(|message| !message.as_ref().is_ok_and(|message| message.replaced));
    let mut messages = current.take(limit).collect::<Result<Vec<_>, _>>()?;
    messages.reverse();
    Ok(messages)
}

/// Returns a message by its key, if its session belongs to this chat and no later attempt replaced it.
pub(crate) fn entry(tables: &Tables<'_>, chat: ChatId, key: EntryKey) -> Result<Option<Message>, StoreFault> {
    Ok(entry_or_replaced(tables, chat, key)?.filter(|message| !message.replaced))
}

/// Returns a message by its key, if its session belongs to this chat.
pub(crate) fn entry_or_replaced(
    tables: &Tables<'_>,
    chat: ChatId,
    key: EntryKey,
) -> Result<Option<Message>, StoreFault> {
    let session = tables.sessions.get(&key::id(key.session))?;
    match session.filter(|session| session.conversation.chat == chat) {
        Some(session) => tables.messages.get(&key::message(session.id, key.index)),
        None => Ok(None),
    }
}
