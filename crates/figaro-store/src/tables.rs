//! All tables of the store and their contents.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::snapshot::{QUARANTINE, Snapshot};
use super::table::Table;
use figaro_base::ids::{SessionId, UpdateId};
use figaro_domain::access::AccessList;
use figaro_domain::audit::{AuditEntry, AuditHead};
use figaro_domain::budget::Budget;
use figaro_domain::business::{BusinessAccount, CustomerChat};
use figaro_domain::chat::ChatConfig;
use figaro_domain::child::ChildRun;
use figaro_domain::config_change::ConfigChange;
use figaro_domain::conversation::{ConversationId, Message, Session};
use figaro_domain::delivery::{Author, LiveMessage, PendingDelivery};
use figaro_domain::document::{Document, Passage};
use figaro_domain::facts::Unread;
use figaro_domain::memory::Memory;
use figaro_domain::message::Inbound;
use figaro_domain::note::Note;
use figaro_domain::people::KnownPerson;
use figaro_domain::persona::{OwnPersona, PersonaQuestion};
use figaro_domain::pin::Pin;
use figaro_domain::profile::UserProfile;
use figaro_domain::reception::ReceivedMessage;
use figaro_domain::record::Record;
use figaro_domain::summary::{Summary, SummaryJob};
use figaro_domain::task::{Task, TaskRun};
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, ParkedTurn};
use figaro_domain::undo::TurnUndo;
use figaro_domain::usage::{Reservation, Spending};

/// Beginning of the keys of a table, and the erasure of its records with their chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyedBy {
    /// Keys begin with a chat. The records are erased with it.
    Chat,
    /// Keys begin with a chat. The records have no words of people, and stay: Telegram still has what they are about.
    LastingChat,
    /// Keys begin with something else: `records/erasure` finds the records by their sources.
    Other,
}

/// Declares all tables, each with its record type, its stored name, which never changes, and a [`KeyedBy`].
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $record:ty = $name:expr, by $key:ident;)+) => {
        /// All tables of the store in a snapshot.
        pub(super) struct Tables<'a> {
            /// Snapshot that all tables read from.
            pub(super) snapshot: &'a Snapshot<'a>,
            /// Secrets that never leave the store, stored in [`META`].
            pub(super) store_secrets: Table<'a, String>,
            $($(#[$doc])* pub(super) $table: Table<'a, $record>,)+
        }

        /// Stored names of all tables but [`META`].
        pub(super) const NAMES: [&str; [$($name),+].len() + 1] = [$($name,)+ QUARANTINE];

        /// Stored names of all tables.
        pub(super) const ALL: [&str; NAMES.len() + 1] = [META, $($name,)+ QUARANTINE];

        /// Stored names of all tables with records of people.
        pub(super) const KEYED: &[(&str, KeyedBy)] = &[$(($name, KeyedBy::$key)),+];

        impl<'a> Tables<'a> {
            /// Returns the tables of a snapshot.
            pub(super) const fn of(snapshot: &'a Snapshot<'a>) -> Self {
                Self {
                    snapshot,
                    store_secrets: Table::new(META, snapshot),
                    $($table: Table::new($name, snapshot),)+
                }
            }
        }
    };
}

tables! {
    /// Updates not settled yet, by bot and id.
    inbox: Accepted = "inbox", by Other;
    /// Settled updates, by bot and id.
    seen: () = "seen", by Other;
    /// Settled updates by the time of acceptance, so that the oldest are found without a search.
    seen_by_time: () = "seen_by_time", by Other;
    /// Text of unreadable updates, by bot and id, for some days; their ids are among the seen.
    unreadable: SetAsideUpdate = "unreadable_updates", by Other;
    /// Data erased since the files of the store were rewritten: one record.
    erasures: RewriteDue = "erasures", by Other;
    /// The current session of a conversation.
    current: SessionId = "current", by Chat;
    /// Sessions, by id.
    sessions: Session = SESSIONS, by Other;
    /// Sessions of each conversation: key index over `sessions`.
    sessions_of: () = "sessions_of", by Chat;
    /// Topics by conversation: `true` while the title is Telegram's automatic one.
    untitled: bool = "untitled", by LastingChat;
    /// Profiles of people, by person.
    profiles: UserProfile = "profiles", by Other;
    /// Messages, by session and index.
    messages: Message = MESSAGES, by Other;
    /// Turn in progress of a conversation.
    turns: ActiveTurn = "runs", by Chat;
    /// Turns that wait for a person, by id.
    parked: ParkedTurn = "parked", by Other;
    /// Tool calls by turn and order.
    calls: ToolCall = "calls", by Other;
    /// Background messages, by conversation and time.
    background: Inbound = "overheard", by Chat;
    /// People who wrote in groups, by chat and person.
    people: KnownPerson = "people", by Chat;
    /// Replies on their way, by id.
    deliveries: DeliveryRecord = "deliveries", by Other;
    /// Messages of unfinished answers, by turn and index.
    live: LiveMessage = "live", by Other;
    /// Messages sent by the bot, by chat and message, with their author, which older versions did not store.
    own: Option<Author> = "own", by LastingChat;
    /// Messages sent by the bot by time, so that the oldest are found without a search.
    own_by_time: () = "own_by_time", by Other;
    /// Notes of chats, by chat and id.
    notes: Note = "notes", by Chat;
    /// Documents of chats, by chat and id.
    documents: Document = "documents", by Chat;
    /// Text of documents, by chat, document and order.
    passages: Passage = "passages", by Chat;
    /// Records in the forms of context packs, by chat and id.
    records: Record = "records", by Chat;
    /// Personas written in chats, by chat and id.
    personas: OwnPersona = "personas", by Chat;
    /// Messages that ask for the words of a persona, by chat and message.
    persona_questions: PersonaQuestion = "persona_questions", by Chat;
    /// Conversations outside Telegram, by name.
    external: ConversationId = "external", by Other;
    /// Names of these conversations, by conversation.
    external_names: String = "external_names", by Chat;
    /// Next number for such a conversation: one record.
    external_next: u32 = "external_next", by Other;
    /// Settings of chats, by chat.
    chats: ChatConfig = "chats", by Chat;
    /// Changes of settings by the model, by turn.
    config_changes: ConfigChange = "config_changes", by Other;
    /// Access list: one record.
    access: AccessList = "access", by Other;
    /// Strangers who were told that the bot is private, with the time.
    strangers: DateTime<Utc> = "strangers", by Other;
    /// Spending, by day, chat, person, task, agents, key and model.
    spent: Spending = "spent", by Other;
    /// Reservations of calls in progress, by id.
    reserved: Reservation = "reserved", by Other;
    /// Notices about limits that were given, by the first day of the period and a text that names the limit.
    told_of_caps: () = "told_of_caps", by Other;
    /// Limits that owners set in chats, by axis.
    budgets: Budget = "budgets", by Other;
    /// Scheduled prompts, by task id.
    tasks: Task = "tasks", by Other;
    /// Tasks of each chat: key index over `tasks`.
    tasks_of_chat: () = "tasks_of_chat", by Chat;
    /// Tasks that may still run, by creator.
    tasks_of_user: () = "tasks_of_user", by Other;
    /// Tasks by the time at which they are due.
    tasks_by_wake: () = "tasks_by_wake", by Other;
    /// Tasks with a run in progress.
    leases: () = "claims", by Other;
    /// Tasks whose Telegram messages may be out of date.
    stale_cards: () = "stale_cards", by Other;
    /// Runs of tasks, by task and order.
    task_runs: TaskRun = "task_runs", by Other;
    /// Blocks of the indexes of chats, as base64, by chat and order.
    index_blocks: String = "index_blocks", by Chat;
    /// Messages edited since the index of their chat read them, by chat, session and index.
    index_edits: () = "index_edits", by Chat;
    /// Vectors of messages, by message key.
    vectors: StoredVector = "vectors", by Other;
    /// Original names of imported messages, by id.
    imported: String = "imported", by Other;
    /// Pins of chats, by chat and id.
    pins: Pin = "pins", by Chat;
    /// Summaries, by session and the index of the first covered message.
    summaries: Summary = "summaries", by Other;
    /// Sessions with summary work to do.
    summary_jobs: SummaryJob = "summary_jobs", by Other;
    /// Memories of people, by person and id.
    memories: Memory = "memories", by Other;
    /// Messages still to be read for facts, by person and id.
    unread: Unread = "unread", by Other;
    /// Outcomes of received messages, by chat and message.
    received: ReceivedMessage = "received", by Chat;
    /// Actions of turns that can be undone, by turn.
    undos: TurnUndo = "undos", by Other;
    /// Children of turns, by turn and id.
    children: ChildRun = "children", by Other;
    /// Messages of children and results of their calls, by child and index.
    child_messages: Message = "child_messages", by Other;
    /// Audit log, by place of the entry.
    audit: AuditEntry = "audit", by Other;
    /// Accounts of people that the bot is connected to, by connection.
    business: BusinessAccount = "business", by Other;
    /// Chats of these accounts with customers, by connection and chat.
    customers: CustomerChat = "customers", by Other;
    /// End of the audit log, and its beginning once old entries were deleted.
    audit_head: AuditHead = "audit_head", by Other;
}

#[derive(Serialize, Deserialize)]
pub(super) struct Accepted {
    pub(super) id: UpdateId,
    pub(super) accepted_at: DateTime<Utc>,
    pub(super) body: Value,
}

/// An update that could not be read.
#[derive(Serialize, Deserialize)]
pub(super) struct SetAsideUpdate {
    pub(super) arrived_at: DateTime<Utc>,
    pub(super) bytes: usize,
    pub(super) text: String,
}

/// Erased data whose bytes may still be in the files of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RewriteDue {
    /// Time of the first erasure.
    pub(super) since: DateTime<Utc>,
    /// Number of erasures; a rewrite covers those from before it began.
    pub(super) erasures: u64,
    /// Unsettled updates that were being served during an erasure: they may contain erased data.
    #[serde(default)]
    pub(super) unsettled: BTreeSet<UpdateId>,
    /// Number of settlements of these updates.
    #[serde(default)]
    pub(super) settled: u64,
    /// `true` after the rewrite: only data in these updates is left.
    #[serde(default)]
    pub(super) is_rewritten: bool,
}

impl RewriteDue {
    /// Creates a record without erasures.
    pub(super) const fn since(since: DateTime<Utc>) -> Self {
        Self { since, erasures: 0, unsettled: BTreeSet::new(), settled: 0, is_rewritten: false }
    }
}

/// A pending delivery, and the place of its answer.
#[derive(Serialize, Deserialize)]
pub(super) struct DeliveryRecord {
    pub(super) delivery: PendingDelivery,
    pub(super) answer: Option<(SessionId, u32)>,
}

/// A vector: the name of its model, its scale, and its numbers as base64, a byte each. Stored as a list without field
/// names, because there is one for every message.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredVector(pub(super) String, pub(super) f32, pub(super) String);

/// Table with records about the store itself, in every format.
pub(super) const META: &str = "meta";

pub(super) const SESSIONS: &str = "sessions";

pub(super) const MESSAGES: &str = "messages";
