//! Sessions of a conversation: listing, outlines, resuming and deleting.

use std::collections::HashMap;

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::{parked, pins, sessions};
use chrono::{DateTime, Utc};
use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::{ConversationId, Message, MessageRole, Session};

/// Outline of a session's messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// First words of a person in it.
    pub first_words: Option<String>,
    /// Number of messages of people and of the model. Above 5,000 messages tool results count too.
    pub messages: u32,
}

/// Stored amounts of a session besides its messages, and their importance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SessionStats {
    /// Number of its summaries, stale ones included.
    pub summaries: usize,
    /// Number of its pins, by people and automatic.
    pub pins: usize,
    /// Mean importance, from 0 to 10, of its newest 5,000 messages of people and the model; `None` without any.
    pub importance: Option<f32>,
    /// Time of its oldest message of people and the model, UTC.
    pub oldest: Option<DateTime<Utc>>,
    /// Time of its newest such message, UTC.
    pub newest: Option<DateTime<Utc>>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// The session.
    pub session: Session,
    /// Index of its next message: the number of its messages, erased ones and results of calls included.
    pub next_index: u32,
}

/// Maximum messages counted one by one; beyond it tool results count too.
const COUNTED: u32 = 5_000;
/// Number of first messages searched for the words that describe a session.
const FIRST_MESSAGES: usize = 200;

/// Returns the sessions of a conversation, the one with the newest message first. A session without messages or settings
/// is left out, unless it is the current one.
pub(crate) fn all(tables: &Tables<'_>, conversation: ConversationId) -> Result<Vec<Session>, StoreFault> {
    let current = tables.current.find(&key::conversation(conversation))?;
    let mut all = Vec::new();
    for found in tables.sessions_of.keys_of(&key::conversation(conversation))? {
        let Some(id) = key::session_in(&found?) else { continue };
        let Some(session) = tables.sessions.find(&key::id(id))? else { continue };
        let is_chosen = current == Some(id) || session.name.is_some() || session.model.is_some();
        if is_chosen || tables.messages.next_index(&key::id(id))? > 0 {
            all.push(session);
        }
    }
    all.sort_by_key(|session| std::cmp::Reverse((session.updated_at, session.id)));
    Ok(all)
}

/// Returns the chats that have sessions, the one with the newest message first.
pub(crate) fn newest_chats(tables: &Tables<'_>) -> Result<Vec<ChatId>, StoreFault> {
    let mut newest: HashMap<ChatId, DateTime<Utc>> = HashMap::new();
    for session in tables.sessions.list(&[])? {
        let at = newest.entry(session.conversation.chat).or_insert(session.updated_at);
        *at = session.updated_at.max(*at);
    }
    let mut chats: Vec<(ChatId, DateTime<Utc>)> = newest.into_iter().collect();
    chats.sort_by_key(|(chat, at)| std::cmp::Reverse((*at, chat.0)));
    Ok(chats.into_iter().map(|(chat, _)| chat).collect())
}

/// Returns the sessions with messages of all chats, or of one chat, the one with the newest message first.
pub(crate) fn newest(
    tables: &Tables<'_>,
    of: Option<ChatId>,
    skipped: usize,
    limit: usize,
) -> Result<Vec<ListedSession>, StoreFault> {
    let mut all = match of {
        Some(chat) => of_chat(tables, chat)?,
        None => tables.sessions.list(&[])?,
    };
    all.sort_by_key(|session| std::cmp::Reverse((session.updated_at, session.id)));
    let listed = all.into_iter().map(|session| {
        let next_index = tables.messages.next_index(&key::id(session.id))?;
        Ok(ListedSession { session, next_index })
    });
    let with_messages = listed.filter(|one| one.as_ref().map_or(true, |one| one.next_index > 0));
    with_messages.skip(skipped).take(limit).collect()
}

/// Returns the sessions of a chat, the oldest of each conversation first.
pub(crate) fn of_chat(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Session>, StoreFault> {
    let mut sessions = Vec::new();
    for found in tables.sessions_of.keys_of(&key::chat(chat))? {
        let Some(id) = key::session_in(&found?) else { continue };
        sessions.extend(tables.sessions.find(&key::id(id))?);
    }
    Ok(sessions)
}

/// Returns a session, if it belongs to this conversation.
pub(crate) fn one(
    tables: &Tables<'_>,
    conversation: ConversationId,
    session: SessionId,
) -> Result<Option<Session>, StoreFault> {
    let found = tables.sessions.get(&key::id(session))?;
    Ok(found.filter(|session| session.conversation == conversation))
}

/// Returns the outline of a session.
pub(crate) fn outline(tables: &Tables<'_>, session: SessionId) -> Result<Outline, StoreFault> {
    let prefix = key::id(session);
    let last = tables.messages.next_index(&prefix)?;
    let (mut messages, mut first_words) = (last, None);
    if last <= COUNTED {
        messages = 0;
        for item in tables.messages.scan(&prefix)? {
            let (_, message) = item?;
            if is_said(&message) {
                messages += 1;
                first_words = first_words.or_else(|| words_of_person(message));
            }
        }
    } else {
        for item in tables.messages.scan(&prefix)?.take(FIRST_MESSAGES) {
            first_words = first_words.or_else(|| item.ok().and_then(|(_, message)| words_of_person(message)));
        }
    }
    Ok(Outline { first_words, messages })
}

/// Returns the stored amounts of a session of this chat.
pub(crate) fn stats(
    tables: &Tables<'_>,
    chat: ChatId,
    session: SessionId,
) -> Result<SessionStats, StoreFault> {
    let (mut sum, mut count, mut newest) = (0.0, 0_u16, None);
    for item in tables.messages.scan(&key::id(session))?.rev().take(COUNTED as usize) {
        let (_, message) = item?;
        if is_said(&message) {
            (sum, count) = (sum + message.importance, count + 1);
            newest = newest.or(Some(message.created_at));
        }
    }
    let mut oldest = None;
    for item in tables.messages.scan(&key::id(session))? {
        let (_, message) = item?;
        if is_said(&message) {
            oldest = Some(message.created_at);
            break;
        }
    }
    let pins = tables.pins.list(&key::chat(chat))?;
    Ok(SessionStats {
        summaries: tables.summaries.list(&key::id(session))?.len(),
        pins: pins.iter().filter(|pin| pin.session == session && pin.about.is_none()).count(),
        importance: (count > 0).then(|| sum / f32::from(count)),
        oldest,
        newest,
    })
}

/// Returns the first messages of people and the model in a session, at most `limit`, oldest first.
pub(crate) fn first_said(
    tables: &Tables<'_>,
    session: SessionId,
    limit: usize,
) -> Result<Vec<Message>, StoreFault> {
    let first = tables.messages.scan(&key::id(session))?.take(FIRST_MESSAGES);
    let said = first.map(|item| item.map(|(_, message)| message));
    said.filter(|message| message.as_ref().map_or(true, is_said)).take(limit).collect()
}

/// Returns `true` if people see the message: words of a person or of the model that no later try replaced.
fn is_said(message: &Message) -> bool {
    match message.role {
        _ if message.replaced => false,
        MessageRole::User => true,
        MessageRole::Assistant => !message.text.trim().is_empty(),
        MessageRole::Tool | MessageRole::System => false,
    }
}

fn words_of_person(message: Message) -> Option<String> {
    (message.role == MessageRole::User && !message.text.trim().is_empty()).then_some(message.text)
}

/// Makes a session the current one of its conversation and gives up the turns that wait there; `false` if it belongs to
/// another conversation.
pub(crate) fn switch(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    conversation: ConversationId,
    session: SessionId,
) -> Result<bool, StoreFault> {
    let Some(session) = one(tables, conversation, session)? else { return Ok(false) };
    if tables.current.find(&key::conversation(conversation))? != Some(session.id) {
        parked::give_up_all(tables, changes, conversation)?;
        pins::session_began(tables, changes, &session)?;
        sessions::put_current(tables, changes, &session)?;
    }
    Ok(true)
}
