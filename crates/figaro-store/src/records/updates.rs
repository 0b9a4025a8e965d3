//! Updates that are settled: no longer in the inbox, among those that were seen.

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use super::due;
use figaro_base::ids::{BotId, UpdateId};

/// Moves updates from the inbox to those that were seen, at the time they were accepted. One that is not in the inbox is
/// passed over. Gives whether the files of the store are to be rewritten for what one of them may hold.
pub(crate) fn settle(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    updates: &[UpdateId],
) -> Result<bool, Fault> {
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
