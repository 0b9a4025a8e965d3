//! Storage engines: ordered keys in named tables, scans in both directions, one atomic and durable commit over several
//! tables that fails on conflict (`port`). The meaning of keys belongs to the store above, which is written once for all engines.
//!
//! No call assumes a local disk. Files, locks and caches are internal to an engine.

mod batch;
mod error;
mod folder;
mod mark;
mod memory;
mod names;
mod open;
mod panic;
mod port;
mod postgres;
mod redb;
mod rewrite;
mod room;
mod sled;
#[cfg(test)]
mod tests;

pub use self::batch::{Batch, Keys};
pub use self::error::EngineError;
pub(crate) use self::memory::MemoryEngine;
pub(crate) use self::open::{Connections, LEASE_WAIT, open_beside, open_for, open_to_read};
pub use self::open::{found, has_mark, has_room, has_store, migrate, open, try_folder, try_place};
pub(crate) use self::panic::{catching, words_of};
pub use self::port::{Engine, KeyValue};
pub(crate) use self::port::{EntryScan, Reader, Result, StoreMark, View};
pub use self::postgres::{BotOwner, Ownership};
