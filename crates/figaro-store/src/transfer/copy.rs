//! Copies a store into another one, of another engine or in another place.

use super::Result;
use super::source::{StoreSource, open_closed};
use super::target::StoreTarget;
use crate::inventory::Inventory;
use figaro_config::StoreUrl;

/// Copies a closed store into a new one, and compares the two. Calls `tell` with each table before it is copied.
/// Blocking.
///
/// # Errors
/// If one of them cannot be opened, there is another store at the target, or they differ in the end.
pub fn copy(from: &StoreUrl, to: &StoreUrl, mut tell: impl FnMut(&str)) -> Result<Inventory> {
    let engine = open_closed(from)?;
    let source = StoreSource::of(&*engine, from)?;
    let mut target = StoreTarget::begin(to)?;
    for table in source.tables()? {
        tell(table);
        // Keys are copied in order: the last one there shows how far an earlier copy came.
        let last = target.last(table)?;
        source.records(table, last, |key, value| target.put(table, key, value))?;
    }
    let sent = source.inventory()?;
    target.finish(|came| {
        let other = sent.iter().find(|(table, sent)| came.get(*table) != Some(*sent));
        other.map_or(Ok(()), |(table, _)| Err(table.clone()))
    })
}
