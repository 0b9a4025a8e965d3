//! Outcomes of received messages, by chat and message. They name people and turns, and are erased with them.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::erasure::Erasure;
use figaro_domain::reception::{KEPT_IN_CHAT, ReceivedMessage, Reception};

/// Maximum records deleted at once by age, so that other writers do not wait long.
const EXPIRED_AT_ONCE: usize = 1_000;

/// Adds outcomes to messages of a chat. [`expire`] deletes records beyond the limit: every message of a group is
/// recorded, and none should wait for a count.
pub(crate) fn note(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    messages: &[MessageId],
    received: &ReceivedMessage,
) -> Result<(), StoreFault> {
    for message in messages {
        let key = key::telegram(chat, *message);
        let known = tables.received.find(&key)?;
        let now = known.map_or_else(|| received.clone(), |known| known.with(received.clone()));
        changes.put(&tables.received, key, &now)?;
    }
    Ok(())
}

/// Returns the last message of a person in a chat before this one that was not a command.
pub(crate) fn last(
    tables: &Tables<'_>,
    chat: ChatId,
    user: &UserId,
    before: MessageId,
) -> Result<Option<(MessageId, ReceivedMessage)>, StoreFault> {
    for item in tables.received.scan(&key::chat(chat))?.rev() {
        let (key, received) = item?;
        let Some(message) = key::message_in(&key).filter(|message| message.0 < before.0) else { continue };
        if received.user == *user && received.what != Reception::Taken {
            return Ok(Some((message, received)));
        }
    }
    Ok(None)
}

/// Deletes records from before this time, and all but the newest [`KEPT_IN_CHAT`] of each chat, up to
/// [`EXPIRED_AT_ONCE`]. Returns the number deleted.
pub(crate) fn expire(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, StoreFault> {
    let (mut gone, mut chat, mut kept) = (0, Vec::new(), 0);
    for item in tables.received.scan(&[])?.rev() {
        let (key, received) = item?;
        let of = key::place(&key);
        if of != chat {
            (chat, kept) = (of.to_vec(), 0);
        }
        if received.at < before || kept >= KEPT_IN_CHAT {
            changes.remove(&tables.received, key);
            gone += 1;
        } else {
            kept += 1;
        }
        if gone == EXPIRED_AT_ONCE {
            break;
        }
    }
    Ok(gone)
}

/// Deletes the records of erased messages; all of them for a person or a private chat.
pub(crate) fn forget(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    what: &Erasure,
    erased: &BTreeSet<MessageId>,
) -> Result<(), StoreFault> {
    if let Erasure::Chat(chat, _) = what {
        return drop_all(tables, changes, *chat);
    }
    for item in tables.received.scan(&key::chat(what.chat()))? {
        let (key, received) = item?;
        let is_theirs = matches!(what, Erasure::Person(_, user) if received.user == *user);
        if is_theirs || key::message_in(&key).is_some_and(|message| erased.contains(&message)) {
            changes.remove(&tables.received, key);
        }
    }
    Ok(())
}

/// Deletes all records of a chat. Also for a group that gets a new id: its messages have other ids there.
pub(crate) fn drop_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
) -> Result<(), StoreFault> {
    for key in tables.received.keys_of(&key::chat(chat))? {
        changes.remove(&tables.received, key?);
    }
    Ok(())
}
