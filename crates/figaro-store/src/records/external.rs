//! Names of conversations outside Telegram: assigning their numbers, and erasing them.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, TopicId};
use figaro_domain::conversation::ConversationId;
use figaro_domain::external::ExternalName;

/// Key of the record with the next number.
const NEXT: &[u8] = b"next";

/// Returns the conversation of a name. A new name gets the next number; so does the parent that it is a part of.
pub(crate) fn keep(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    name: &ExternalName,
) -> Result<ConversationId, StoreFault> {
    let key = key::id(name);
    if let Some(known) = tables.external.get(&key)? {
        return Ok(known);
    }
    let whole = name.whole().map(|whole| keep(tables, changes, &whole)).transpose()?;
    let number = number(tables, changes)?;
    let conversation = match whole {
        Some(whole) => ConversationId { topic: Some(TopicId(i64::from(number))), ..whole },
        None => ConversationId { chat: ChatId::external(number), topic: None },
    };
    changes.put(&tables.external, key, &conversation)?;
    changes.put(&tables.external_names, key::conversation(conversation), &name.to_string())?;
    Ok(conversation)
}

/// Returns a number that is never reused, even after its name was erased.
fn number(tables: &Tables<'_>, changes: &mut Changes<'_>) -> Result<u32, StoreFault> {
    let number = match changes.pending(&tables.external_next, NEXT)? {
        Some(number) => number,
        // Topics have positive numbers.
        None => tables.external_next.get(NEXT)?.unwrap_or(1),
    };
    changes.put(&tables.external_next, NEXT, &number.checked_add(1).ok_or(StoreFault::NoNumber)?)?;
    Ok(number)
}

/// Erases the names of a chat and all its parts, or of one part. `of` is the prefix of their keys.
pub(crate) fn forget(tables: &Tables<'_>, changes: &mut Changes<'_>, of: &[u8]) -> Result<(), StoreFault> {
    for item in tables.external_names.scan(of)? {
        let (conversation, name) = item?;
        changes.remove(&tables.external, key::id(name));
        changes.remove(&tables.external_names, conversation);
    }
    Ok(())
}
