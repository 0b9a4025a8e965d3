//! Source store of a move.

use std::collections::BTreeSet;

use super::Result;
use super::error::of;
use crate::StoreError;
use crate::engine::{self, Engine, EngineError, Keys, StoreMark, View};
use crate::inventory::{Inventory, inventory_of};
use crate::marks;
use crate::tables::{ALL, META, NAMES};
use crate::verify::{state, verify};
use figaro_config::StoreUrl;

/// Operation named in errors.
pub(super) const READ: &str = "be read";

/// Opens a store that no bot has open, and reads all of it once to check that it is complete.
///
/// # Errors
/// If it cannot be opened, is incomplete, or has lost commits.
pub(super) fn open_closed(url: &StoreUrl) -> Result<Box<dyn Engine>> {
    let failed = of(url, READ);
    let mut engine = engine::open(url).map_err(&failed)?;
    if let Some(lost) = state(&*engine, url)? {
        return Err(StoreError::Lost { place: url.to_string(), loss: lost.to_string() }.into());
    }
    // Otherwise damaged data would be copied as if it were correct.
    verify(&mut *engine).map_err(&failed)?;
    Ok(engine)
}

/// Contents of a store at one moment, read from the first record to the last.
pub(crate) struct StoreSource<'a> {
    url: StoreUrl,
    tables: BTreeSet<String>,
    view: Box<dyn View + 'a>,
}

impl<'a> StoreSource<'a> {
    /// Begins to read a store of [`open_closed`].
    ///
    /// # Errors
    /// Of the engine.
    pub(super) fn of(engine: &'a dyn Engine, url: &StoreUrl) -> Result<Self> {
        Self::begin(engine, url, |engine| engine.view())
    }

    /// Begins to read a store that bots have open, while they go on.
    ///
    /// # Errors
    /// Of the engine.
    pub(crate) fn beside(engine: &'a dyn Engine, url: &StoreUrl) -> Result<Self> {
        Self::begin(engine, url, |engine| engine.snapshot(&ALL))
    }

    fn begin(
        engine: &'a dyn Engine,
        url: &StoreUrl,
        view: impl FnOnce(&'a dyn Engine) -> Result<Box<dyn View + 'a>, EngineError>,
    ) -> Result<Self> {
        let failed = of(url, READ);
        let tables = engine.tables().map_err(&failed)?;
        Ok(Self { url: url.clone(), tables, view: view(engine).map_err(failed)? })
    }

    /// Returns its tables, except the table about the store itself.
    ///
    /// # Errors
    /// If this build does not know one of them.
    pub(super) fn tables(&self) -> Result<Vec<&'static str>> {
        let known = self.tables.iter().filter(|table| *table != META).map(|table| {
            let known = NAMES.into_iter().find(|name| name == table);
            known.ok_or_else(|| {
                of(&self.url, READ)(EngineError::Unreadable(format!("it has an unknown table {table}")))
            })
        });
        known.collect()
    }

    /// Calls `each` with the records of a table, or only with those after this key.
    ///
    /// # Errors
    /// Of the engine; those of `each`.
    pub(super) fn records(
        &self,
        table: &str,
        after: Option<Vec<u8>>,
        mut each: impl FnMut(Vec<u8>, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let failed = of(&self.url, READ);
        let rest = after.map_or_else(|| Keys::beginning_with([]), Keys::after);
        for entry in self.view.scan(table, &rest).map_err(&failed)? {
            let (key, value) = entry.map_err(&failed)?;
            each(key, value)?;
        }
        Ok(())
    }

    /// Returns the inventory, which the new store must match.
    ///
    /// # Errors
    /// Of the engine.
    pub(super) fn inventory(&self) -> Result<Inventory> {
        let without_meta = self.tables.iter().filter(|table| *table != META);
        inventory_of(&*self.view, without_meta).map_err(of(&self.url, READ))
    }

    /// Returns its last commit; `None` if its commits are not counted.
    ///
    /// # Errors
    /// Of the engine; if it cannot be read.
    pub(super) fn mark(&self) -> Result<Option<StoreMark>> {
        marks::recorded(&*self.view).map_err(of(&self.url, READ))
    }
}
