//! Messages of a session, read part by part: between two parts others write.

use std::ops::{Bound, ControlFlow};

use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use crate::engine::{Entry, Keys};
use figaro_base::ids::SessionId;

/// So many messages, or bytes of them, are read at once.
const MESSAGES: usize = 500;
const BYTES: usize = 1024 * 1024;

/// Where one looks at the store: at once, or for a moment each time.
pub(crate) trait Looks {
    /// Looks at the store as it is now. Writers may wait until it ends.
    fn look<T>(&self, work: impl FnOnce(&Tables<'_>) -> Result<T, Fault>) -> Result<T, Fault>;
}

impl Looks for Tables<'_> {
    fn look<T>(&self, work: impl FnOnce(&Tables<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        work(self)
    }
}

/// Goes through the messages of a session from an index on, as they are stored, until `each` breaks off.
pub(super) fn each(
    store: &impl Looks,
    session: SessionId,
    from: u32,
    mut each: impl FnMut(&Tables<'_>, Entry) -> Result<ControlFlow<()>, Fault>,
) -> Result<(), Fault> {
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
