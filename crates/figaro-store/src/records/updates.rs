//! Settled updates: no longer in the inbox, but known as seen.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::due;
use figaro_base::ids::{BotId, UpdateId};

/// Moves updates from the inbox to the seen ones, at the time of their acceptance. Skips updates that are not in the
/// inbox. Returns `true` if a rewrite of the store's files is due because of one of them.
pub(crate) fn settle(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    updates: &[UpdateId],
) -> Result<bool, StoreFault> {
    for &id in updates {
        let key = key::update(bot, id);
        let Some(update) = tables.inbox.find(&key)? else {
            continue;
        };
        changes.put(&tables.seen, key.clone(), &())?;
        changes.put(&tables.seen_by_time, key::update_at(bot, update.accepted_at, id), &())?;
        changes.remove(&tables.inbox, key);
    }
    due::settled(tables, changes, updates)
}
