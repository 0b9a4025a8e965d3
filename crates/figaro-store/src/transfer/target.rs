//! Target store of a move.

use super::Result;
use super::error::{TransferError, of};
use crate::engine::{self, Batch, Engine, EngineError, Keys, StoreMark};
use crate::format::{COPYING, FORMAT, KEY};
use crate::inventory::{Inventory, inventory};
use crate::marks::{self, MARK};
use crate::tables::{META, NAMES};
use figaro_config::StoreUrl;

/// Maximum records, or bytes of them, written in one commit.
const RECORDS: usize = 1_000;
const BYTES: usize = 1024 * 1024;

/// Operation named in errors.
const WRITTEN: &str = "be written";

/// A store being created. Records must come in key order, table by table.
pub(super) struct StoreTarget {
    url: StoreUrl,
    engine: Box<dyn Engine>,
    batch: Batch,
    records: usize,
    bytes: usize,
}

impl StoreTarget {
    /// Begins a new store, or continues an incomplete one.
    ///
    /// # Errors
    /// If it cannot be opened, or there is a complete one.
    pub(super) fn begin(url: &StoreUrl) -> Result<Self> {
        let failed = of(url, WRITTEN);
        let mut engine = engine::open(url).map_err(&failed)?;
        if !begin(&mut *engine).map_err(&failed)? {
            return Err(TransferError::Refused(format!(
                "there is a store already, {url}, which is left as it is: name another folder"
            )));
        }
        Ok(Self { url: url.clone(), engine, batch: Batch::default(), records: 0, bytes: 0 })
    }

    /// Returns the last key of a table, left by an earlier try.
    ///
    /// # Errors
    /// Of the engine.
    pub(super) fn last(&self, table: &str) -> Result<Option<Vec<u8>>> {
        let failed = of(&self.url, WRITTEN);
        let view = self.engine.view().map_err(&failed)?;
        view.keys(table, &Keys::beginning_with([])).map_err(&failed)?.next_back().transpose().map_err(&failed)
    }

    /// Writes a record, at the latest when it is flushed.
    ///
    /// # Errors
    /// Of the engine.
    pub(super) fn put(&mut self, table: &'static str, key: Vec<u8>, value: Vec<u8>) -> Result<()> {
        self.records += 1;
        self.bytes += key.len() + value.len();
        self.batch.put(table, key, value);
        if self.records == RECORDS || self.bytes > BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        (self.records, self.bytes) = (0, 0);
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() { Ok(()) } else { self.engine.write(&batch).map_err(of(&self.url, WRITTEN)) }
    }

    /// Compares the new store with this inventory, table by table, and makes it ready to be opened. Returns its contents.
    ///
    /// # Errors
    /// Of the engine; if they differ.
    pub(super) fn finish(
        mut self,
        is_as_sent: impl Fn(&Inventory) -> std::result::Result<(), String>,
    ) -> Result<Inventory> {
        self.flush()?;
        let failed = of(&self.url, WRITTEN);
        let came = inventory(&*self.engine).map_err(&failed)?;
        let came = came.into_iter().filter(|(table, _)| table != META).collect();
        is_as_sent(&came).map_err(|table| {
            TransferError::Refused(format!(
                "what is in {} of {table} is not what was sent: remove that store and begin again; what an import is made of may \
                 be damaged too",
                self.url
            ))
        })?;
        let mut batch = Batch::default();
        batch.put(META, KEY.to_vec(), FORMAT.to_string().into_bytes());
        // The first commit of this store, so that an interrupted export of it can continue.
        let mark = StoreMark { commits: 1, ..marks::first() };
        batch.put(META, MARK.to_vec(), serde_json::to_vec(&mark).map_err(std::io::Error::from)?);
        batch.remove(META, COPYING.to_vec());
        self.engine.write(&batch).map_err(&failed)?;
        self.engine.marks().keep(&mark).map_err(failed)?;
        Ok(came)
    }
}

/// Marks a store as being created; `false` if there is something else.
fn begin(engine: &mut dyn Engine) -> Result<bool, EngineError> {
    if engine.tables()?.is_empty() {
        // The mark of a store that was there before.
        engine.marks().replace(None)?;
        engine.create_tables(&[META])?;
        let mut batch = Batch::default();
        batch.put(META, COPYING.to_vec(), b"true".to_vec());
        engine.write(&batch)?;
    }
    if engine.view()?.get(META, COPYING)?.is_none() {
        return Ok(false);
    }
    engine.create_tables(&NAMES).map(|()| true)
}
