//! The parts of a store that others hold: each has the operations of one concern, in the file of its name.

use crate::Store;

/// Declares a part of the store and how it is reached.
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
    /// The sessions of conversations.
    SessionStore, sessions;
    /// The profiles of people.
    ProfileStore, profiles;
    /// Turns that wait for a person.
    ParkedStore, parked;
    /// The children of turns, and what they did so far.
    ChildStore, children;
    /// Replies on their way, and which Telegram messages are the bot's own.
    OutboxStore, outbox;
    /// The notes of chats.
    NoteStore, notes;
    /// The records that chats keep in the forms of their context packs.
    RecordStore, records;
    /// Who wrote in a group. It is noted together with what they wrote.
    PeopleStore, people;
    /// The personas that chats write for themselves.
    PersonaStore, personas;
    /// Settings: of chats, and of access to the bot.
    SettingsStore, settings;
    /// Tokens and money that model calls have taken or may take.
    UsageStore, usage;
    /// Scheduled prompts, in the order in which somebody has to look after them.
    TaskStore, tasks;
    /// The messages of chats as their memory reads them, and what is kept of its indexes. An index can be made anew from the messages
    /// at any time: it is never the only place of anything.
    MemoryStore, messages;
    /// Erases what people want forgotten. What is erased is found by no later read. Its bytes are in the files of the store until
    /// these are rewritten; that this is to be done is stored in the same write.
    ErasureStore, erasures;
    /// Conversations outside Telegram, by their names.
    ExternalStore, external;
    /// The pins of chats. What a full chat takes in is decided by [`figaro_domain::pinning`].
    PinStore, pins;
    /// The summaries of sessions.
    SummaryStore, summaries;
    /// What is remembered of people.
    FactStore, facts;
    /// The audit log. It is only added to: nothing changes an entry, and entries go by age alone, the oldest first.
    AuditStore, audit;
    /// What became of messages that came in: of each chat the newest, for some days.
    ReceptionStore, receptions;
    /// What turns did that can be taken back, for as long as it can be.
    UndoStore, undos;
}
