//! The store: what must survive a restart, over a small engine port (redb, sled). `tests/store/engines/` is the conformance suite
//! of its engines. Used by the agent, Telegram, the gateway and the binary.
//!
//! A store is opened for one bot; the others that it may hold are neither seen nor touched.
//!
//! *Durable* means: on disk, past the file system's caches, when the call returns. What is not called durable is
//! so a moment later (5 ms and a commit) or with the next durable call, and is never seen without what was written before it.
//!
//! Over the engine: what each table holds (`tables`), keys in order (`key`), every write of an operation at once
//! (`changes`), how writes become durable (`writer`), and what an operation reads (`snapshot`).
//!
//! Above them are the `records`: how they are found and written. On top is a file for each part of the store, such as
//! [`PinStore`], which makes each of its operations one read or one change of [`Store`].

mod audit;
mod buffer;
mod changes;
mod chat_records;
mod children;
mod conversation;
mod decoded;
pub mod engine;
mod erasure;
mod error;
mod external;
mod facts;
mod fault;
mod format;
mod inbox;
mod inventory;
mod key;
mod look;
mod marks;
mod memory;
mod merged;
mod notes;
mod outbox;
mod pack_rules;
mod parked;
mod parts;
mod people;
mod personas;
mod pins;
mod profiles;
mod receptions;
mod records;
mod sessions;
mod settings;
mod snapshot;
mod space;
mod store;
mod summaries;
mod table;
mod tables;
mod tasks;
mod transfer;
mod undos;
mod usage;
mod verify;
mod writer;
mod zone;

pub use self::audit::whole_log;
pub use self::chat_records::{ByModel, RecordSaved};
pub use self::children::ChildSpent;
pub use self::error::StoreError;
pub use self::inbox::{KEPT_UNREADABLE, RawUpdate, UnreadableUpdate};
pub use self::inventory::StoreHealth;
pub use self::memory::Imported;
pub use self::notes::Added;
pub use self::parts::{
    AuditStore, ChildStore, ConversationStore, ErasureStore, ExternalStore, FactStore, InboxStore,
    MemoryStore, NoteStore, OutboxStore, ParkedStore, PeopleStore, PersonaStore, PinStore, ProfileStore,
    ReceptionStore, RecordStore, SessionStore, SettingsStore, SummaryStore, TaskStore, UndoStore, UsageStore,
};
pub use self::personas::{PersonaSaved, PersonaToSave};
pub use self::records::erasure::SaidSearch;
pub use self::records::facts::{MemoryCounts, ReadFacts, Reading, UnreadBatch};
pub use self::records::pins::PinAdded;
pub use self::records::session_list::{Outline, SessionStats};
pub use self::records::summaries::Unsummarised;
pub use self::records::tasks::{KEPT_RUNS, TaskAdded, TaskLimits};
pub use self::records::vectors::{KeptVector, MessageVector, SessionEnd};
pub use self::store::Store;
pub use self::zone::{Changing, Followed, change_chat, move_tasks, undo_change};
pub use figaro_domain::turn::TurnEnd;

/// The result of every operation of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Work on a whole store that no bot has open: inventory, check, copy, export and import. For `figaro store` and the benchmarks.
pub mod whole {
    pub use super::inventory::{Inventory, Table, inventory};
    pub use super::look::look;
    pub use super::marks::{accept_loss, loss};
    pub use super::transfer::{TransferError, copy, export_file, export_to, import};
    pub use super::verify::{state, verify};
}
