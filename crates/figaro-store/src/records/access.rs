//! The access list: a single record.

use std::sync::Arc;

use super::super::changes::Changes;
use super::super::decoded::Decoded;
use super::super::fault::StoreFault;
use super::super::tables::Tables;
use figaro_domain::access::{AccessChange, AccessList};

pub(super) const LIST: &[u8] = b"list";

/// Returns the stored list, or an empty one.
///
/// # Errors
/// If the list cannot be read: an unknown list must neither admit nor exclude anybody.
pub(crate) fn list(tables: &Tables<'_>) -> Result<AccessList, StoreFault> {
    Ok(tables.access.get(LIST)?.unwrap_or_default())
}

/// Returns the list, decoded only if it changed: every message needs it, and it names everybody who may talk.
///
/// # Errors
/// Those of [`list`].
pub(crate) fn decoded(
    tables: &Tables<'_>,
    decoded: &Decoded<AccessList>,
) -> Result<Arc<AccessList>, StoreFault> {
    Ok(tables.access.get_decoded(LIST, decoded)?.unwrap_or_default())
}

/// Changes the list. Returns `false` if the change had no effect, as [`AccessList::apply`] says.
pub(crate) fn apply(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    change: AccessChange,
) -> Result<bool, StoreFault> {
    let before = list(tables)?;
    let mut list = before.clone();
    let applied = list.apply(change);
    // Compares the lists: a change may report an effect and still leave the list as it was.
    if list != before {
        changes.put(&tables.access, LIST, &list)?;
    }
    Ok(applied)
}
