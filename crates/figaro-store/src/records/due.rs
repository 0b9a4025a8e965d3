//! That the files of the store are to be rewritten, and for what.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::{RewriteDue, Tables};
use figaro_base::ids::UpdateId;

/// The key of the one record that says so.
const DUE: &[u8] = b"due";

/// Notes that the files of the store are to be rewritten. Updates that are being served may hold what was erased, as that of the
/// press of a button under it does: their bytes are to go as well, once they are settled.
pub(crate) fn mark(tables: &Tables<'_>, changes: &mut Changes<'_>, now: DateTime<Utc>) -> Result<(), Fault> {
    let before = tables.erasures.find(DUE)?;
    let since = before.as_ref().filter(|due| !due.is_rewritten).map_or(now, |due| due.since);
    let mut due = before.unwrap_or_else(|| RewriteDue::since(now));
    due.unsettled.extend(in_inbox(tables)?);
    let after = RewriteDue { since, erasures: due.erasures.saturating_add(1), is_rewritten: false, ..due };
    changes.put(&tables.erasures, DUE, &after)
}

/// What the files of the store are to be rewritten for; `None` if they need not be.
pub(crate) fn due(tables: &Tables<'_>) -> Result<Option<RewriteDue>, Fault> {
    Ok(tables.erasures.find(DUE)?.filter(|due| !due.is_rewritten))
}

/// These updates leave the inbox. Gives whether the files are to be rewritten for one of them.
pub(crate) fn settled(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    updates: &[UpdateId],
) -> Result<bool, Fault> {
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

/// They were rewritten, which began at a time when they were due for this. What was erased since then stays due, and so do the
/// updates that are still being served.
pub(crate) fn rewritten(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    then: &RewriteDue,
    begun: DateTime<Utc>,
) -> Result<(), Fault> {
    let Some(mut due) = tables.erasures.find(DUE)? else { return Ok(()) };
    let inbox = in_inbox(tables)?;
    due.unsettled.retain(|update| inbox.contains(update));
    if due.settled != then.settled {
        // What these held was erased earlier: it waits no longer.
        return changes.put(&tables.erasures, DUE, &due);
    }
    if due.erasures != then.erasures {
        // None of them was before that.
        return changes.put(&tables.erasures, DUE, &RewriteDue { since: begun, ..due });
    }
    if due.unsettled.is_empty() {
        changes.remove(&tables.erasures, DUE);
        return Ok(());
    }
    changes.put(&tables.erasures, DUE, &RewriteDue { is_rewritten: true, ..due })
}

/// The updates that are being served, or wait for it.
fn in_inbox(tables: &Tables<'_>) -> Result<BTreeSet<UpdateId>, Fault> {
    let mut updates = BTreeSet::new();
    for found in tables.inbox.keys_of(&[])? {
        updates.extend(key::update_of(&found?));
    }
    Ok(updates)
}
