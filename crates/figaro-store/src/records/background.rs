//! Background messages: the newest messages of each conversation that were not addressed to the bot.

use std::slice::from_ref;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::people;
use figaro_domain::conversation::ConversationId;
use figaro_domain::message::Inbound;

/// Stores a Telegram message; deletes the oldest beyond `keep`.
pub(crate) fn keep(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    conversation: ConversationId,
    message: &Inbound,
    keep: usize,
) -> Result<(), StoreFault> {
    let Some(id) = message.origin.message() else { return Ok(()) };
    let new = key::background(conversation, message.sent_at, id);
    people::note(tables, changes, from_ref(message))?;
    let prefix = key::conversation(conversation);
    let mut keys = tables.background.keys_of(&prefix)?.collect::<Result<Vec<_>, _>>()?;
    if let Err(place) = keys.binary_search_by(|known| known.cmp(&new)) {
        keys.insert(place, new.as_slice().into());
    }
    changes.put(&tables.background, new, message)?;
    let surplus = keys.len().saturating_sub(keep);
    for key in keys.into_iter().take(surplus) {
        changes.remove(&tables.background, key);
    }
    Ok(())
}

/// Returns the newest messages since a time, oldest first.
pub(crate) fn since(
    tables: &Tables<'_>,
    conversation: ConversationId,
    since: DateTime<Utc>,
    limit: usize,
) -> Result<Vec<Inbound>, StoreFault> {
    let mut messages = Vec::new();
    for item in tables.background.scan(&key::conversation(conversation))?.rev().take(limit) {
        let (_, message) = item?;
        if message.sent_at < since {
            break;
        }
        messages.push(message);
    }
    messages.reverse();
    Ok(messages)
}
