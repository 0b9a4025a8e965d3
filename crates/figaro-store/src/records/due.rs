//! The rewrite that is due for the files of the store, and the reasons for it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::{RewriteDue, Tables};
use figaro_base::ids::UpdateId;

const DUE: &[u8] = b"due";

/// Marks a rewrite of the store's files as due. Updates in progress may contain erased data, such as the press of a
/// button under it: their bytes have to go too, once they are settled.
pub(crate) fn mark(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let before = tables.erasures.find(DUE)?;
    let since = before.as_ref().filter(|due| !due.is_rewritten).map_or(now, |due| due.since);
    let mut due = before.unwrap_or_else(|| RewriteDue::since(now));
    due.unsettled.extend(in_inbox(tables)?);
    let after = RewriteDue { since, erasures: due.erasures.saturating_add(1), is_rewritten: false, ..due };
    changes.put(&tables.erasures, DUE, &after)
}

/// Returns the reasons for a due rewrite; `None` if none is due.
pub(crate) fn due(tables: &Tables<'_>) -> Result<Option<RewriteDue>, StoreFault> {
    Ok(tables.erasures.find(DUE)?.filter(|due| !due.is_rewritten))
}

/// Records that these updates left the inbox. Returns `true` if one of them makes a rewrite due.
pub(crate) fn settled(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    updates: &[UpdateId],
) -> Result<bool, StoreFault> {
    let Some(mut due) = tables.erasures.find(DUE)? else { return Ok(false) };
    let before = due.unsettled.len();
    due.unsettled.retain(|update| !updates.contains(update));
    if due.unsettled.len() == before {
        return Ok(false);
    }
    let after = RewriteDue { settled: due.settled.saturating_add(1), is_rewritten: false, ..due };
    changes.put(&tables.erasures, DUE, &after)?;
    Ok(true)
}

/// Records a finished rewrite, which began with this due record. Later erasures stay due, and so do updates still in
/// progress.
pub(crate) fn rewritten(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    then: &RewriteDue,
    begun: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let Some(mut due) = tables.erasures.find(DUE)? else { return Ok(()) };
    let inbox = in_inbox(tables)?;
    due.unsettled.retain(|update| inbox.contains(update));
    if due.settled != then.settled {
        // The data in these updates was erased earlier: it must not wait longer.
        return changes.put(&tables.erasures, DUE, &due);
    }
    if due.erasures != then.erasures {
        // All remaining erasures are later than the start of the rewrite.
        return changes.put(&tables.erasures, DUE, &RewriteDue { since: begun, ..due });
    }
    if due.unsettled.is_empty() {
        changes.remove(&tables.erasures, DUE);
        return Ok(());
    }
    changes.put(&tables.erasures, DUE, &RewriteDue { is_rewritten: true, ..due })
}

/// Returns the updates that are in progress or waiting.
fn in_inbox(tables: &Tables<'_>) -> Result<BTreeSet<UpdateId>, StoreFault> {
    let mut updates = BTreeSet::new();
    for found in tables.inbox.keys_of(&[])? {
        updates.extend(key::update_of(&found?));
    }
    Ok(updates)
}
