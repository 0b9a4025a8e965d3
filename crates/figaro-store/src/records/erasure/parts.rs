//! Messages of a session, read part by part: others write between two parts.

use std::ops::{Bound, ControlFlow};

use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::tables::Tables;
use crate::engine::{KeyValue, Keys};
use figaro_base::ids::SessionId;

/// Maximum messages, or bytes of them, read at once.
const MESSAGES: usize = 500;
const BYTES: usize = 1024 * 1024;

/// Access to the store: at once, or in short steps.
pub(crate) trait Looks {
    /// Reads the current store. Writers may wait until it ends.
    fn look<T>(&self, work: impl FnOnce(&Tables<'_>) -> Result<T, StoreFault>) -> Result<T, StoreFault>;
}

impl Looks for Tables<'_> {
    fn look<T>(&self, work: impl FnOnce(&Tables<'_>) -> Result<T, StoreFault>) -> Result<T, StoreFault> {
        work(self)
    }
}

/// Calls `each` with the stored messages of a session from an index on, until it breaks off.
pub(super) fn each(
    store: &impl Looks,
    session: SessionId,
    from: u32,
    mut each: impl FnMut(&Tables<'_>, KeyValue) -> Result<ControlFlow<()>, StoreFault>,
) -> Result<(), StoreFault> {
    let mut rest = Keys::from(key::message(session, from), &key::id(session));
    loop {
        let last = store.look(|tables| {
            let (mut messages, mut bytes) = (0, 0);
            for entry in tables.messages.entries_in(&rest)? {
                let (key, value) = entry?;
                messages += 1;
                bytes += value.len();
                let is_full = messages == MESSAGES || bytes > BYTES;
                let last = is_full.then(|| key.clone());
                if each(tables, (key, value))?.is_break() {
                    return Ok(None);
                }
                if last.is_some() {
                    return Ok(last);
                }
            }
            Ok(None)
        })?;
        let Some(last) = last else { return Ok(()) };
        rest.begin = Bound::Excluded(last);
    }
}
