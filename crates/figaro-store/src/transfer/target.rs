//! The store that something is moved into.

use super::Result;
use super::error::{TransferError, of};
use crate::engine::{self, Batch, Engine, EngineError, Keys, Mark};
use crate::format::{COPYING, FORMAT, KEY};
use crate::inventory::{Inventory, inventory};
use crate::marks::{self, MARK};
use crate::tables::{META, NAMES};
use figaro_config::StoreUrl;

/// So many records, or bytes of them, are written in one commit.
const RECORDS: usize = 1_000;
const BYTES: usize = 1024 * 1024;

/// What is done with it.
const WRITTEN: &str = "be written";

/// A store that is being made. Records must come in the order of their keys, table by table.
pub(super) struct Target {
    url: StoreUrl,
    engine: Box<dyn Engine>,
    batch: Batch,
    records: usize,
    bytes: usize,
}

impl Target {
    /// Begins a new store, or goes on with one that is not whole yet.
    ///
    /// # Errors
    /// If it cannot be opened, if there is a whole one.
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

    /// The last key of a table that an earlier try has left.
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

    /// Compares the new store with what it must be, table by table, and makes it one that can be opened. Gives what is in it.
    ///
    /// # Errors
    /// Of the engine; if they differ.
    pub(super) fn finish(
        mut self,
        is_as_sent: impl Fn(&Inventory) -> std::result::Result<(), String>,
    ) -> Result<Inventory> {
        self.flush()?;
        let failed = of(&self.url, WRITTEN);
        let came = inventory(&*self.engine, |table, key| (table != META).then_some(key)).map_err(&failed)?;
        is_as_sent(&came).map_err(|table| {
            TransferError::Refused(format!(
                "what is in {} of {table} is not what was sent: remove that store and begin again; what an import is made of may \
                 be damaged too",
                self.url
            ))
        })?;
        let mut batch = Batch::default();
        batch.put(META, KEY.to_vec(), FORMAT.to_string().into_bytes());
        // Its first commit as a store of its own: an export of it can be gone on with.
        let mark = Mark { commits: 1, ..marks::first() };
        batch.put(META, MARK.to_vec(), serde_json::to_vec(&mark).map_err(std::io::Error::from)?);
        batch.remove(META, COPYING.to_vec());
        self.engine.write(&batch).map_err(&failed)?;
        self.engine.marks().keep(&mark).map_err(failed)?;
        Ok(came)
    }
}

/// Notes that a store is being made; `false` if there is something else.
fn begin(engine: &mut dyn Engine) -> Result<bool, EngineError> {
    if engine.tables()?.is_empty() {
        // Of a store that was there before.
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
