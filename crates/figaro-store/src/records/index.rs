//! The blocks of the indexes of chats, and the messages that were edited since those were made.

use std::sync::Arc;

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::conversation::{EntryKey, Message};

/// Removes all blocks of a chat's index: it is made anew from the messages when it is needed next.
pub(crate) fn drop_all(tables: &Tables<'_>, changes: &mut Changes<'_>, chat: ChatId) -> Result<(), Fault> {
    for key in tables.index_blocks.keys_of(&key::chat(chat))? {
        changes.remove(&tables.index_blocks, key?);
    }
    // An index that is made anew has what messages say now.
    for key in tables.index_edits.keys_of(&key::chat(chat))? {
        changes.remove(&tables.index_edits, key?);
    }
    Ok(())
}

/// Adds a block behind the others.
pub(crate) fn add(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    block: &String,
) -> Result<(), Fault> {
    let number = tables.index_blocks.next_index(&key::chat(chat))?;
    changes.put(&tables.index_blocks, key::index_block(chat, number), block)
}

/// Notes that a message of a chat says something else now than its index knows.
pub(super) fn edited(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    message: &Message,
) -> Result<(), Fault> {
    changes.put(&tables.index_edits, key::index_edit(chat, message.session, message.index), &())
}

/// The messages of a chat that were edited so.
pub(crate) fn edits(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<EntryKey>, Fault> {
    let mut found = Vec::new();
    for key in tables.index_edits.keys_of(&key::chat(chat))? {
        found.extend(key::edited_in(&key?));
    }
    Ok(found)
}

/// The index knows these messages as they were read; not those that were edited once more since.
pub(crate) fn caught_up(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    read: &[(EntryKey, Option<Arc<Message>>)],
) -> Result<(), Fault> {
    for (EntryKey { session, index }, message) in read {
        let now = tables.messages.find(&key::message(*session, *index))?;
        let is_same = match (message, &now) {
            (Some(message), Some(now)) => message.says_the_same(now),
            (_, now) => now.is_none(),
        };
        if is_same {
            changes.remove(&tables.index_edits, key::index_edit(chat, *session, *index));
        }
    }
    Ok(())
}
