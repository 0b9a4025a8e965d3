//! The port: what an engine does for the store, and what a view of it shows.

use std::collections::BTreeSet;
use std::fmt::Debug;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::batch::{Batch, Keys};
use super::error::EngineError;

/// The result of every operation of an engine.
pub(crate) type Result<T, E = EngineError> = std::result::Result<T, E>;

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// What a scan gives, one at a time.
pub(crate) type Scan<'a, T> = Box<dyn DoubleEndedIterator<Item = Result<T>> + 'a>;

/// A point in the life of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Which store it is: a ULID, made with it.
    pub(crate) store: String,
    /// How many commits it has had.
    pub(crate) commits: u64,
    /// When the last of them was made.
    pub(crate) at: DateTime<Utc>,
}

/// How many commits a store has seen since it was opened. It tells whether what was read still stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision(pub u64);

/// What can be asked of a store without a change of it. Blocking.
pub trait Reader: Debug + Send + Sync {
    /// The names of the tables it has.
    ///
    /// # Errors
    /// Of the storage.
    fn tables(&self) -> Result<BTreeSet<String>>;

    /// Everything that was committed before the call, and nothing that is committed while the view is held.
    ///
    /// # Errors
    /// Of the storage.
    fn view(&self) -> Result<Box<dyn View + '_>>;

    /// Where marks of this store are kept.
    fn marks(&self) -> &dyn MarkKeeper;

    /// The bytes that it takes where it keeps them; the garbage in it included.
    ///
    /// # Errors
    /// Of the storage.
    fn disk_bytes(&self) -> Result<u64>;
}

/// Tables of ordered keys. Blocking: the store calls it on threads of its own choice.
pub trait Engine: Reader {
    /// Makes those of these tables that are not there, empty.
    ///
    /// # Errors
    /// Of the storage.
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()>;

    /// Makes the changes of a batch, all or none, seen by every later view. They are durable when it returns: a loss of
    /// power loses none of them.
    ///
    /// # Errors
    /// [`EngineError::Conflict`] if something was committed since the view that `based_on` comes from; nothing is changed
    /// then. Else of the storage: the changes may or may not be there, and the engine takes no further ones.
    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()>;

    /// [`Self::commit`] based on what is there now, for a caller that looked at nothing.
    ///
    /// # Errors
    /// Those of [`Self::commit`].
    fn write(&self, batch: &Batch) -> Result<()> {
        // The view ends here: an engine may keep commits away as long as somebody looks.
        let revision = self.view()?.revision();
        self.commit(revision, batch)
    }

    /// Whether all there is can be read and is as it was written, as far as the engine can tell. It looks at everything.
    ///
    /// # Errors
    /// Of the storage.
    fn verify(&mut self) -> Result<bool>;

    /// Gives the space of what was removed back to the system, as far as that is possible while it is open. Gives whether
    /// there was something to do.
    ///
    /// # Errors
    /// Of the storage. Nothing is lost then.
    fn compact(&mut self) -> Result<bool>;

    /// Writes all there is into new files, which take the place of the old ones: no byte of what was removed or changed before
    /// this call is left in the folder of the store when it returns. `tables` are all tables that it may have. Others read
    /// and write meanwhile; at the end they wait a moment. Blocking.
    ///
    /// # Errors
    /// If it has another table, if it is being rewritten already, of the storage. The store is as it was then, unless it
    /// cannot be opened again: then every later call fails, and opening the store anew ends what was begun.
    fn rewrite(&self, tables: &[&'static str]) -> Result<()>;
}

/// Keeps how far the commits of a store were durable, apart from its content.
pub trait MarkKeeper: Debug + Send + Sync {
    /// The newest mark; `None` if there is none that can be read.
    ///
    /// # Errors
    /// Of the storage.
    fn newest(&self) -> Result<Option<Mark>>;

    /// Keeps a mark of commits that are durable. It need not be durable itself.
    ///
    /// # Errors
    /// Of the storage.
    fn keep(&self, mark: &Mark) -> Result<()>;

    /// Puts a mark, or none, in the place of those that were kept.
    ///
    /// # Errors
    /// Of the storage.
    fn replace(&self, mark: Option<&Mark>) -> Result<()>;
}

/// The content of an engine at one moment. A table that was not made is empty.
pub trait View {
    /// Which commit it shows.
    fn revision(&self) -> Revision;

    /// One value; `None` where there is none.
    ///
    /// # Errors
    /// Of the storage.
    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// The entries of a range in the order of their keys, from either end. An error is the last item.
    ///
    /// # Errors
    /// Of the storage.
    fn scan(&self, table: &str, keys: &Keys) -> Result<Scan<'_, Entry>>;

    /// The keys of a range, as [`Self::scan`] gives them.
    ///
    /// # Errors
    /// Of the storage.
    fn keys(&self, table: &str, keys: &Keys) -> Result<Scan<'_, Vec<u8>>>;
}
