//! Parts of a store: each has the operations of one concern, in the file of its name.

use crate::Store;

/// Declares a part of the store and its accessor.
macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident, $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $part(pub(super) Store);

        impl Store {
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> $part {
                $part(self.clone())
            }
        }
    )+};
}

parts! {
    /// Updates between their arrival and their settlement.
    InboxStore, inbox;
    /// Sessions, their messages, their background messages and their turns.
    ConversationStore, conversations;
    /// Sessions of conversations, to list, name, switch and delete.
    SessionStore, sessions;
    /// Profiles of the people that the bot has seen.
    ProfileStore, profiles;
    /// Turns that wait for a person.
    ParkedStore, parked;
    /// Children of turns, with their messages.
    ChildStore, children;
    /// Replies on their way, and the record of the bot's own Telegram messages.
    OutboxStore, outbox;
    /// Notes of chats, by key.
    NoteStore, notes;
    /// Documents of chats, with their text as passages.
    DocumentStore, documents;
    /// Records of chats in the forms of their context packs.
    RecordStore, records;
    /// People who wrote in groups, recorded together with their messages.
    PeopleStore, people;
    /// Personas written in chats.
    PersonaStore, personas;
    /// Settings: of chats, and of access to the bot.
    SettingsStore, settings;
    /// Tokens and money that model calls have used or reserved.
    UsageStore, usage;
    /// Scheduled prompts, in the order in which they are due.
    TaskStore, tasks;
    /// Messages of chats as their memory reads them, and stored blocks of its indexes. An index can be rebuilt from the
    /// messages at any time.
    MemoryStore, messages;
    /// Erases data at people's request. No later read finds it. Its bytes stay in the files of the store until they are
    /// rewritten; the same write stores that a rewrite is due.
    ErasureStore, erasures;
    /// Conversations outside Telegram, by name.
    ExternalStore, external;
    /// Pins of chats. [`figaro_domain::pinning`] decides what a full chat keeps.
    PinStore, pins;
    /// Summaries of sessions, and the work still to be done on them.
    SummaryStore, summaries;
    /// Memories of people, and messages still to be read for facts.
    FactStore, facts;
    /// The audit log, which is append-only: no entry changes, and only the oldest entries are deleted, by age.
    AuditStore, audit;
    /// Accounts of people that the bot is connected to, and their chats with customers.
    BusinessStore, business;
    /// Outcomes of received messages: of each chat the newest, for some days.
    ReceptionStore, receptions;
    /// Actions of turns that can be undone, for as long as they can be.
    UndoStore, undos;
}
