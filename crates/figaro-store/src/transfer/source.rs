//! Source store of a move.

use super::Result;
use super::error::of;
use crate::StoreError;
use crate::engine::{self, Engine, EngineError, Keys, StoreMark};
use crate::inventory::{Inventory, inventory};
use crate::marks;
use crate::tables::{META, NAMES};
use crate::verify::{state, verify};
use figaro_config::StoreUrl;

/// Operation named in errors.
const READ: &str = "be read";

/// A store that no bot has open, read from its first record to its last.
pub(super) struct StoreSource {
    url: StoreUrl,
    engine: Box<dyn Engine>,
}

impl StoreSource {
    /// Opens the store, and reads all of it once to check that it is complete.
    ///
    /// # Errors
    /// If it cannot be opened, is incomplete, or has lost commits.
    pub(super) fn open(url: &StoreUrl) -> Result<Self> {
        let failed = of(url, READ);
        let mut engine = engine::open(url).map_err(&failed)?;
        if let Some(lost) = state(&*engine, url)? {
            return Err(StoreError::Lost { place: url.to_string(), loss: lost.to_string() }.into());
        }
        // Otherwise damaged data would be copied as if it were correct.
        verify(&mut *engine).map_err(&failed)?;
        Ok(Self { url: url.clone(), engine })
    }

    /// Returns its tables, except the table about the store itself.
    ///
    /// # Errors
    /// Of the engine; if this build does not know one of them.
    pub(super) fn tables(&self) -> Result<Vec<&'static str>> {
        let tables = self.engine.tables().map_err(of(&self.url, READ))?;
        let known = tables.iter().filter(|table| *table != META).map(|table| {
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
        let view = self.engine.view().map_err(&failed)?;
        for entry in view.scan(table, &rest).map_err(&failed)? {
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
        let without_meta = |table: &str, key: Vec<u8>| (table != META).then_some(key);
        inventory(&*self.engine, without_meta).map_err(of(&self.url, READ))
    }

    /// Returns its last commit; `None` if a version without counts wrote it.
    ///
    /// # Errors
    /// Of the engine; if it cannot be read.
    pub(super) fn mark(&self) -> Result<Option<StoreMark>> {
        marks::recorded(&*self.engine).map_err(of(&self.url, READ))
    }
}
