//! Storage of everything that must survive a restart, over a small engine port (redb, sled). `tests/store/engines/` is
//! the conformance suite of the engines. Used by the agent, Telegram, the gateway and the binary.
//!
//! A store is opened for one bot; data of other bots in it is neither seen nor touched.
//!
//! *Durable* means: on disk, past the file system's caches, when the call returns. Other writes become durable a moment
//! later (5 ms and a commit) or with the next durable call, and are never visible without the writes before them. Only
//! durable calls wait, so the other calls are plain functions.
//!
//! Layers over the engine: tables and their contents (`tables`), ordered keys (`key`), all writes of an operation at once
//! (`changes`), durability of writes (`writer`), and input of an operation (`snapshot`).
//!
//! Above them are the `records`: finding and writing them. On top is a file for each part of the store, such as
//! [`PinStore`], which makes each of its operations one read or one change of [`Store`].

mod attempts;
mod audit;
mod buffer;
mod business;
mod changes;
mod chat_records;
mod children;
mod commits;
mod conversation;
mod decoded;
mod documents;
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
mod meters;
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
mod stores;
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
pub use self::meters::StoreMeters;
pub use self::notes::Added;
pub use self::pack_rules::PackRules;
pub use self::parts::{
    AuditStore, BusinessStore, ChildStore, ConversationStore, DocumentStore, ErasureStore, ExternalStore,
    FactStore, InboxStore, MemoryStore, NoteStore, OutboxStore, ParkedStore, PeopleStore, PersonaStore,
    PinStore, ProfileStore, ReceptionStore, RecordStore, SessionStore, SettingsStore, SummaryStore,
    TaskStore, UndoStore, UsageStore,
};
pub use self::personas::{PersonaSaved, PersonaToSave};
pub use self::records::erasure::SaidSearch;
pub use self::records::facts::{ExtractionLimits, MemoryCounts, ReadFacts, UnreadBatch};
pub use self::records::pins::PinAdded;
pub use self::records::session_list::{ListedSession, Outline, SessionStats};
pub use self::records::summaries::Unsummarised;
pub use self::records::tasks::{KEPT_RUNS, TaskAdded, TaskLimits};
pub use self::records::turns::Repetition;
pub use self::records::vectors::{KeptVector, MessageVector, SessionEnd};
pub use self::store::Store;
pub use self::stores::Stores;
pub use self::writer::StoreNews;
pub use self::zone::{Changing, ZoneChangeResult, change_chat, move_tasks, undo_change};
pub use figaro_domain::turn::TurnEnd;

/// Result of a store operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Work on a whole store that no bot has open: inventory, check, copy, export and import. For `figaro store` and the
/// benchmarks.
pub mod whole {
    pub use super::inventory::{Inventory, TableInventory, inventory};
    pub use super::look::look;
    pub use super::marks::{accept_loss, loss};
    pub use super::transfer::{
        TransferError, copy, export_beside, export_file, export_to, import, is_export_end,
    };
    pub use super::verify::{state, verify};
}
