//! Blocks of the indexes of chats, and the messages edited since they were made.

use std::sync::Arc;

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::conversation::{EntryKey, Message};

/// Deletes all blocks of a chat's index: it is rebuilt from the messages when next needed.
pub(crate) fn drop_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
) -> Result<(), StoreFault> {
    for key in tables.index_blocks.keys_of(&key::chat(chat))? {
        changes.remove(&tables.index_blocks, key?);
    }
    // A rebuilt index reads the edited messages.
    for key in tables.index_edits.keys_of(&key::chat(chat))? {
        changes.remove(&tables.index_edits, key?);
    }
    Ok(())
}

pub(crate) fn add(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    block: &String,
) -> Result<(), StoreFault> {
    let number = tables.index_blocks.next_index(&key::chat(chat))?;
    changes.put(&tables.index_blocks, key::index_block(chat, number), block)
}

/// Records that a message of a chat has changed since its index read it.
pub(super) fn edited(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    message: &Message,
) -> Result<(), StoreFault> {
    changes.put(&tables.index_edits, key::index_edit(chat, message.session, message.index), &())
}

/// Returns the messages of a chat edited since its index read them.
pub(crate) fn edits(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<EntryKey>, StoreFault> {
    let mut found = Vec::new();
    for key in tables.index_edits.keys_of(&key::chat(chat))? {
        found.extend(key::edited_in(&key?));
    }
    Ok(found)
}

/// Marks these edits as indexed, except messages that were edited again since.
pub(crate) fn caught_up(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    read: &[(EntryKey, Option<Arc<Message>>)],
) -> Result<(), StoreFault> {
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
