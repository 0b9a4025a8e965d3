//! Port of the store: the operations of an engine and its views.

use std::collections::BTreeSet;
use std::fmt::Debug;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::batch::{Batch, Keys};
use super::error::EngineError;
use figaro_base::tenure::Tenure;

pub(crate) type Result<T, E = EngineError> = std::result::Result<T, E>;

/// A key and its value, as stored.
pub type KeyValue = (Vec<u8>, Vec<u8>);

/// Items of a scan, from either end.
pub(crate) type EntryScan<'a, T> = Box<dyn DoubleEndedIterator<Item = Result<T>> + 'a>;

/// A point in the history of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreMark {
    /// ULID of the store, created with it.
    pub(crate) store: String,
    pub(crate) commits: u64,
    pub(crate) at: DateTime<Utc>,
}

/// Number of commits since the store was opened. Shows whether data read earlier is still current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision(pub u64);

/// Read access to a store. Blocking.
pub trait Reader: Debug + Send + Sync {
    /// Returns the names of its tables.
    ///
    /// # Errors
    /// Of the storage.
    fn tables(&self) -> Result<BTreeSet<String>>;

    /// Returns a view of everything committed before the call, and nothing committed while it is held.
    ///
    /// # Errors
    /// Of the storage.
    fn view(&self) -> Result<Box<dyn View + '_>>;

    /// Returns the place of this store's marks.
    fn marks(&self) -> &dyn MarkKeeper;

    /// Returns the storage used, in bytes, garbage included.
    ///
    /// # Errors
    /// Of the storage.
    fn disk_bytes(&self) -> Result<u64>;
}

/// Tables of ordered keys. Blocking: the store chooses the threads to call it on.
pub trait Engine: Reader {
    /// Creates missing tables, empty.
    ///
    /// # Errors
    /// Of the storage.
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()>;

    /// Makes the changes of a batch, all or none, visible to every later view. They are durable on return, even after a
    /// power loss.
    ///
    /// # Errors
    /// [`EngineError::Conflict`] if another commit was made since the view of `based_on`; nothing is changed then. Other
    /// errors of the storage: the changes may or may not be made, and the engine accepts no further ones.
    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()>;

    /// Calls [`Self::commit`] based on the current state, for a caller that read nothing.
    ///
    /// # Errors
    /// Those of [`Self::commit`].
    fn write(&self, batch: &Batch) -> Result<()> {
        // Drops the view: an engine may block commits while one is held.
        let revision = self.view()?.revision();
        self.commit(revision, batch)
    }

    /// Returns `true` if the store is to count its commits in itself, so that a loss of the newest shows.
    fn counts_commits(&self) -> bool {
        true
    }

    /// Returns the right of this process to use the store for a bot, which others may take over in a database.
    fn tenure(&self) -> Tenure {
        Tenure::default()
    }

    /// Reads everything and returns `true` if all of it is as written, as far as the engine can tell.
    ///
    /// # Errors
    /// Of the storage.
    fn verify(&mut self) -> Result<bool>;

    /// Returns free space to the system, as far as possible while the store is open. Returns `true` if there was any.
    ///
    /// # Errors
    /// Of the storage. Nothing is lost then.
    fn compact(&mut self) -> Result<bool>;

    /// Returns a view for a reader that takes minutes, as a backup does: of all bots in a database, and without blocking
    /// commits. An engine may copy the store for it, beside itself. `tables` are all tables that the store may have.
    /// Blocking.
    ///
    /// # Errors
    /// Of the storage; if the store is being rewritten.
    fn snapshot(&self, _tables: &[&'static str]) -> Result<Box<dyn View + '_>> {
        self.view()
    }

    /// Writes all data into new files, which replace the old ones: on return, the folder of the store contains no byte
    /// that was removed or changed before this call. `tables` are all tables that the store may have. Others read and
    /// write meanwhile; at the end they wait a moment. Blocking.
    ///
    /// # Errors
    /// If the store has another table or is being rewritten already; of the storage. The store is then unchanged, unless
    /// it cannot be reopened: then every later call fails, and reopening the store completes the rewrite.
    fn rewrite(&self, tables: &[&'static str]) -> Result<()>;
}

/// Stores the last durable commit of a store, apart from its content.
pub trait MarkKeeper: Debug + Send + Sync {
    /// Returns the newest readable mark; `None` if there is none.
    ///
    /// # Errors
    /// Of the storage.
    fn newest(&self) -> Result<Option<StoreMark>>;

    /// Stores a mark of durable commits. The mark need not be durable itself.
    ///
    /// # Errors
    /// Of the storage.
    fn keep(&self, mark: &StoreMark) -> Result<()>;

    /// Replaces all stored marks by this one, or by none.
    ///
    /// # Errors
    /// Of the storage.
    fn replace(&self, mark: Option<&StoreMark>) -> Result<()>;
}

/// Contents of an engine at one moment, or of a database, whose views may show later commits of this process: the store hides
/// these. A missing table is empty.
pub trait View {
    /// Returns the commit that the view shows.
    fn revision(&self) -> Revision;

    /// Returns the value of a key; `None` if there is none.
    ///
    /// # Errors
    /// Of the storage.
    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Returns the entries of a range in key order, from either end. An error is the last item.
    ///
    /// # Errors
    /// Of the storage.
    fn scan(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, KeyValue>>;

    /// Returns the keys of a range, in the order of [`Self::scan`].
    ///
    /// # Errors
    /// Of the storage.
    fn keys(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, Vec<u8>>>;
}
