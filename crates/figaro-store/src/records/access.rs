//! The access list: who may use the bot. There is one, as one record.

use std::sync::Arc;

use super::super::changes::Changes;
use super::super::decoded::Decoded;
use super::super::fault::Fault;
use super::super::tables::Tables;
use figaro_domain::access::{AccessChange, AccessList};

/// The key of the one access list.
pub(super) const LIST: &[u8] = b"list";

/// The list as it is stored, or an empty one.
///
/// # Errors
/// If it cannot be read: nobody is let in or kept out by a list that is not known.
pub(crate) fn list(tables: &Tables<'_>) -> Result<AccessList, Fault> {
    Ok(tables.access.get(LIST)?.unwrap_or_default())
}

/// The same, not decoded again while it is what it was: it is asked for with every message, and names everybody who may talk.
///
/// # Errors
/// Those of [`list`].
pub(crate) fn decoded(tables: &Tables<'_>, decoded: &Decoded<AccessList>) -> Result<Arc<AccessList>, Fault> {
    Ok(tables.access.get_decoded(LIST, decoded)?.unwrap_or_default())
}

/// Changes the list. Returns `false` if the change found nothing to do, as [`AccessList::apply`] says.
pub(crate) fn apply(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    change: AccessChange,
) -> Result<bool, Fault> {
    let before = list(tables)?;
    let mut list = before.clone();
    let applied = list.apply(change);
    // Compared, not believed: a change may touch the list and still not have come to what was asked.
    if list != before {
        changes.put(&tables.access, LIST, &list)?;
    }
    Ok(applied)
}
