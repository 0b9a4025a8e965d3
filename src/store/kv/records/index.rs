//! The blocks of the indexes of chats.

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use crate::ids::ChatId;

/// Removes all blocks of a chat's index: it is made anew from the messages when it is needed next.
pub(in crate::store::kv) fn drop_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
) -> Result<(), Fault> {
    for key in tables.index_blocks.keys_of(&key::chat(chat))? {
        changes.remove(&tables.index_blocks, key?);
    }
    Ok(())
}
