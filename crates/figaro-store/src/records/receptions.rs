//! What became of messages that came in, by chat and message. It names people and turns: it goes with what they have
//! forgotten.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::erasure::Erasure;
use figaro_domain::reception::{KEPT_IN_CHAT, Received, Reception};

/// So many go at once by age, so that no other writer waits long.
const EXPIRED_AT_ONCE: usize = 1_000;

/// Adds this to what is known of messages of a chat. What is one too many goes with [`expire`]: each message of a group is noted,
/// and none is to wait for others to be counted.
pub(crate) fn note(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    messages: &[MessageId],
    received: &Received,
) -> Result<(), Fault> {
    for message in messages {
        let key = key::telegram(chat, *message);
        let known = tables.received.find(&key)?;
        let now = known.map_or_else(|| received.clone(), |known| known.with(received.clone()));
        changes.put(&tables.received, key, &now)?;
    }
    Ok(())
}

/// The last message of a person in a chat before this one that was no command.
pub(crate) fn last(
    tables: &Tables<'_>,
    chat: ChatId,
    user: &UserId,
    before: MessageId,
) -> Result<Option<(MessageId, Received)>, Fault> {
    for item in tables.received.scan(&key::chat(chat))?.rev() {
        let (key, received) = item?;
        let Some(message) = key::message_in(&key).filter(|message| message.0 < before.0) else { continue };
        if received.user == *user && received.what != Reception::Taken {
            return Ok(Some((message, received)));
        }
    }
    Ok(None)
}

/// Removes those that came in before this time, and of each chat all but the newest [`KEPT_IN_CHAT`], up to [`EXPIRED_AT_ONCE`].
/// Gives how many there were.
pub(crate) fn expire(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, Fault> {
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

/// Removes those of messages that are erased; of a person, or of a private chat, all.
pub(crate) fn forget(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    what: &Erasure,
    erased: &BTreeSet<MessageId>,
) -> Result<(), Fault> {
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

/// Removes all of a chat. Of a group that gets a new number too: its messages have other numbers there.
pub(crate) fn drop_all(tables: &Tables<'_>, changes: &mut Changes<'_>, chat: ChatId) -> Result<(), Fault> {
    for key in tables.received.keys_of(&key::chat(chat))? {
        changes.remove(&tables.received, key?);
    }
    Ok(())
}
