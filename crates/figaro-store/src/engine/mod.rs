//! What keeps a store: ordered keys in named tables, scans both ways, one atomic and durable commit over several tables that
//! fails on conflict (`port`). What the keys mean is the business of `store::kv`, which is written once over it.
//!
//! No call assumes a local disk. What an engine keeps in files is its own business, and so are its lock and its cache.

mod batch;
mod error;
mod folder;
mod mark;
mod memory;
mod names;
mod open;
mod panic;
mod port;
mod redb;
mod rewrite;
mod room;
mod sled;
#[cfg(test)]
mod tests;

pub use self::batch::{Batch, Keys};
pub use self::error::EngineError;
pub(crate) use self::memory::MemoryEngine;
pub(crate) use self::open::open_to_read;
pub use self::open::{found, has_mark, has_room, has_store, open, try_place};
pub(crate) use self::panic::{catching, words_of};
pub use self::port::{Engine, Entry};
pub(crate) use self::port::{Mark, Reader, Result, Scan, View};
