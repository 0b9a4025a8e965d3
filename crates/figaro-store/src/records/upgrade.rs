//! What an older version kept in another place: moved at the first opening by this one. Called once the tables are open.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use super::access::LIST;
use figaro_base::ids::UserId;

/// What the access list held beside access.
#[derive(Deserialize)]
struct OldList {
    /// Strangers who were told that the bot is private, without when.
    #[serde(default)]
    told: Vec<UserId>,
}

/// Moves strangers out of the access list, as told now: when they were is not known. A list that cannot be read is left
/// to whoever reads it.
pub(crate) fn move_strangers(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let Some(stored) = tables.access.raw(LIST)? else { return Ok(()) };
    let told = serde_json::from_slice::<OldList>(&stored).map(|list| list.told).unwrap_or_default();
    if told.is_empty() {
        return Ok(());
    }
    let Some(list) = tables.access.find(LIST)? else { return Ok(()) };
    tracing::info!(strangers = told.len(), "moving the strangers who were told to a table of their own");
    for user in told {
        let key = key::user(&user);
        if !tables.strangers.contains(&key)? {
            changes.put(&tables.strangers, key, &now)?;
        }
    }
    // Without them.
    changes.put(&tables.access, LIST, &list)
}
