//! All tables of the store, and what each holds.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::snapshot::{QUARANTINE, Snapshot};
use super::table::Table;
use figaro_base::ids::{SessionId, UpdateId};
use figaro_domain::access::AccessList;
use figaro_domain::audit::{AuditEntry, AuditHead};
use figaro_domain::chat::ChatConfig;
use figaro_domain::child::ChildRun;
use figaro_domain::config_change::ConfigChange;
use figaro_domain::conversation::{Conversation, Message, Session};
use figaro_domain::delivery::{Author, LiveMessage, PendingDelivery};
use figaro_domain::facts::Unread;
use figaro_domain::memory::Memory;
use figaro_domain::message::Inbound;
use figaro_domain::note::Note;
use figaro_domain::people::Seen;
use figaro_domain::persona::{OwnPersona, PersonaQuestion};
use figaro_domain::pin::Pin;
use figaro_domain::profile::UserProfile;
use figaro_domain::reception::Received;
use figaro_domain::record::Record;
use figaro_domain::summary::{Summary, SummaryJob};
use figaro_domain::task::{Task, TaskRun};
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, ParkedTurn};
use figaro_domain::undo::TurnUndo;
use figaro_domain::usage::{Reservation, Spending};

/// All tables of the store, as they stand in a snapshot.
pub(super) struct Tables<'a> {
    /// What they stand in.
    pub(super) snapshot: &'a Snapshot<'a>,
    /// Updates not settled yet, by bot and id.
    pub(super) inbox: Table<'a, Accepted>,
    /// Settled updates, by bot and id.
    pub(super) seen: Table<'a, ()>,
    /// The same updates by the time they were accepted, so that the oldest are found without a search.
    pub(super) seen_by_time: Table<'a, ()>,
    /// The text of updates that could not be read, by bot and id, for some days; their ids are among the seen.
    pub(super) unreadable: Table<'a, SetAside>,
    /// That something was erased since the files of the store were rewritten: one record.
    pub(super) erasures: Table<'a, RewriteDue>,
    /// The current session of a conversation.
    pub(super) current: Table<'a, SessionId>,
    /// Sessions by id.
    pub(super) sessions: Table<'a, Session>,
    /// The same sessions by conversation.
    pub(super) sessions_of: Table<'a, ()>,
    /// Topics by conversation: whether Telegram made their title up and nobody has chosen another.
    pub(super) untitled: Table<'a, bool>,
    /// What is known of people, by person.
    pub(super) profiles: Table<'a, UserProfile>,
    /// Messages by session and index.
    pub(super) messages: Table<'a, Message>,
    /// The turn that runs in a conversation.
    pub(super) turns: Table<'a, ActiveTurn>,
    /// Turns that wait for a person, by id.
    pub(super) parked: Table<'a, ParkedTurn>,
    /// Tool calls by turn and order.
    pub(super) calls: Table<'a, ToolCall>,
    /// Background by conversation and time.
    pub(super) background: Table<'a, Inbound>,
    /// The people who wrote in groups, by chat and person.
    pub(super) people: Table<'a, Seen>,
    /// Replies on their way, by id.
    pub(super) deliveries: Table<'a, Outgoing>,
    /// Messages of answers that are not whole yet, by turn and index.
    pub(super) live: Table<'a, LiveMessage>,
    /// Messages the bot sent, by chat and message: who speaks in each, which older versions did not keep.
    pub(super) own: Table<'a, Option<Author>>,
    /// The same messages by time, so that the oldest are found without a search.
    pub(super) own_by_time: Table<'a, ()>,
    /// Notes by chat and id.
    pub(super) notes: Table<'a, Note>,
    /// Records in the forms of context packs, by chat and id.
    pub(super) records: Table<'a, Record>,
    /// Personas of chats' own, by chat and id.
    pub(super) personas: Table<'a, OwnPersona>,
    /// Messages that ask for the words of a persona, by chat and message.
    pub(super) persona_questions: Table<'a, PersonaQuestion>,
    /// Conversations outside Telegram, by their names.
    pub(super) external: Table<'a, Conversation>,
    /// The same names by conversation.
    pub(super) external_names: Table<'a, String>,
    /// The number that the next of these conversations gets: one record.
    pub(super) external_next: Table<'a, u32>,
    /// Settings by chat.
    pub(super) chats: Table<'a, ChatConfig>,
    /// What the model changed of settings, by turn.
    pub(super) config_changes: Table<'a, ConfigChange>,
    /// The one access list.
    pub(super) access: Table<'a, AccessList>,
    /// Strangers who were told that the bot is private, and when.
    pub(super) strangers: Table<'a, DateTime<Utc>>,
    /// What was spent, by day, chat, person and model.
    pub(super) spent: Table<'a, Spending>,
    /// What is set aside for calls under way, by id.
    pub(super) reserved: Table<'a, Reservation>,
    /// The days of whose caps owners have been told.
    pub(super) told_of_caps: Table<'a, ()>,
    /// Tasks by id.
    pub(super) tasks: Table<'a, Task>,
    /// The same tasks by chat.
    pub(super) tasks_of_chat: Table<'a, ()>,
    /// Those that may still run, by creator.
    pub(super) tasks_of_user: Table<'a, ()>,
    /// Tasks by the time somebody has to look after them.
    pub(super) tasks_by_wake: Table<'a, ()>,
    /// Tasks whose run is under way.
    pub(super) leases: Table<'a, ()>,
    /// Tasks whose messages may show them as they were.
    pub(super) stale_cards: Table<'a, ()>,
    /// How tasks ran, by task and order.
    pub(super) task_runs: Table<'a, TaskRun>,
    /// Parts of the indexes of chats, as base64, by chat and order.
    pub(super) index_blocks: Table<'a, String>,
    /// Messages that were edited since the index of their chat was made of them, by chat, session and index.
    pub(super) index_edits: Table<'a, ()>,
    /// Vectors of messages, by the keys of the messages.
    pub(super) vectors: Table<'a, StoredVector>,
    /// What messages were called where they were imported from, by id.
    pub(super) imported: Table<'a, String>,
    /// Pins by chat and id.
    pub(super) pins: Table<'a, Pin>,
    /// Summaries by session and the index of the first message that each covers.
    pub(super) summaries: Table<'a, Summary>,
    /// The sessions in which summaries are to be made.
    pub(super) summary_jobs: Table<'a, SummaryJob>,
    /// Memories by person and id.
    pub(super) memories: Table<'a, Memory>,
    /// Messages that facts are still to be taken from, by person and id.
    pub(super) unread: Table<'a, Unread>,
    /// What became of messages that came in, by chat and message.
    pub(super) received: Table<'a, Received>,
    /// What turns did that can be taken back, by turn.
    pub(super) undos: Table<'a, TurnUndo>,
    /// The children of turns, by turn and id.
    pub(super) children: Table<'a, ChildRun>,
    /// What children said and what their calls gave, by child and index.
    pub(super) child_messages: Table<'a, Message>,
    /// The audit log by place.
    pub(super) audit: Table<'a, AuditEntry>,
    /// Where the audit log ends, and where it begins once old entries have gone.
    pub(super) audit_head: Table<'a, AuditHead>,
    /// Secrets that never leave the store, among what is recorded of the store itself.
    pub(super) store_secrets: Table<'a, String>,
}

/// An update in the inbox.
#[derive(Serialize, Deserialize)]
pub(super) struct Accepted {
    pub(super) id: UpdateId,
    pub(super) accepted_at: DateTime<Utc>,
    pub(super) body: Value,
}

/// An update that could not be read.
#[derive(Serialize, Deserialize)]
pub(super) struct SetAside {
    pub(super) arrived_at: DateTime<Utc>,
    pub(super) bytes: usize,
    pub(super) text: String,
}

/// Something was erased, and its bytes may be in the files of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RewriteDue {
    /// When the first was erased.
    pub(super) since: DateTime<Utc>,
    /// How many were: a rewriting does for those that it began after.
    pub(super) erasures: u64,
    /// The updates that were being served when something was erased, and are not settled yet: they may hold it.
    #[serde(default)]
    pub(super) unsettled: BTreeSet<UpdateId>,
    /// How often one of them was settled.
    #[serde(default)]
    pub(super) settled: u64,
    /// The files were rewritten: only what these updates hold is left.
    #[serde(default)]
    pub(super) is_rewritten: bool,
}

impl RewriteDue {
    /// For nothing yet.
    pub(super) const fn since(since: DateTime<Utc>) -> Self {
        Self { since, erasures: 0, unsettled: BTreeSet::new(), settled: 0, is_rewritten: false }
    }
}

/// A pending delivery, and where its answer is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct Outgoing {
    pub(super) delivery: PendingDelivery,
    pub(super) answer: Option<(SessionId, u32)>,
}

/// A vector: the name of the model that made it, what its numbers are multiplied by, and these as base64, a byte each. It is
/// stored as a list, without names: there is one for every message.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredVector(pub(super) String, pub(super) f32, pub(super) String);

/// The table of what is recorded of the store itself, in every format.
pub(super) const META: &str = "meta";

/// The table of sessions.
pub(super) const SESSIONS: &str = "sessions";

/// The table of messages.
pub(super) const MESSAGES: &str = "messages";

/// The stored names of all other tables.
pub(super) const NAMES: [&str; 57] = [
    "inbox",
    "seen",
    "seen_by_time",
    "unreadable_updates",
    "erasures",
    "current",
    SESSIONS,
    "sessions_of",
    "untitled",
    "profiles",
    MESSAGES,
    "runs",
    "parked",
    "calls",
    "overheard",
    "people",
    "deliveries",
    "live",
    "own",
    "own_by_time",
    "notes",
    "records",
    "personas",
    "persona_questions",
    "external",
    "external_names",
    "external_next",
    "chats",
    "config_changes",
    "access",
    "strangers",
    "spent",
    "reserved",
    "told_of_caps",
    "tasks",
    "tasks_of_chat",
    "tasks_of_user",
    "tasks_by_wake",
    "claims",
    "stale_cards",
    "task_runs",
    "index_blocks",
    "index_edits",
    "vectors",
    "imported",
    "pins",
    "summaries",
    "summary_jobs",
    "memories",
    "unread",
    "received",
    "undos",
    "children",
    "child_messages",
    "audit",
    "audit_head",
    QUARANTINE,
];

impl<'a> Tables<'a> {
    /// The tables of a snapshot.
    pub(super) const fn of(snapshot: &'a Snapshot<'a>) -> Self {
        Self {
            snapshot,
            inbox: Table::new("inbox", snapshot),
            seen: Table::new("seen", snapshot),
            seen_by_time: Table::new("seen_by_time", snapshot),
            unreadable: Table::new("unreadable_updates", snapshot),
            erasures: Table::new("erasures", snapshot),
            current: Table::new("current", snapshot),
            sessions: Table::new(SESSIONS, snapshot),
            sessions_of: Table::new("sessions_of", snapshot),
            untitled: Table::new("untitled", snapshot),
            profiles: Table::new("profiles", snapshot),
            messages: Table::new(MESSAGES, snapshot),
            turns: Table::new("runs", snapshot),
            parked: Table::new("parked", snapshot),
            calls: Table::new("calls", snapshot),
            background: Table::new("overheard", snapshot),
            people: Table::new("people", snapshot),
            deliveries: Table::new("deliveries", snapshot),
            live: Table::new("live", snapshot),
            own: Table::new("own", snapshot),
            own_by_time: Table::new("own_by_time", snapshot),
            notes: Table::new("notes", snapshot),
            records: Table::new("records", snapshot),
            personas: Table::new("personas", snapshot),
            persona_questions: Table::new("persona_questions", snapshot),
            external: Table::new("external", snapshot),
            external_names: Table::new("external_names", snapshot),
            external_next: Table::new("external_next", snapshot),
            chats: Table::new("chats", snapshot),
            config_changes: Table::new("config_changes", snapshot),
            access: Table::new("access", snapshot),
            strangers: Table::new("strangers", snapshot),
            spent: Table::new("spent", snapshot),
            reserved: Table::new("reserved", snapshot),
            told_of_caps: Table::new("told_of_caps", snapshot),
            tasks: Table::new("tasks", snapshot),
            tasks_of_chat: Table::new("tasks_of_chat", snapshot),
            tasks_of_user: Table::new("tasks_of_user", snapshot),
            tasks_by_wake: Table::new("tasks_by_wake", snapshot),
            leases: Table::new("claims", snapshot),
            stale_cards: Table::new("stale_cards", snapshot),
            task_runs: Table::new("task_runs", snapshot),
            index_blocks: Table::new("index_blocks", snapshot),
            index_edits: Table::new("index_edits", snapshot),
            vectors: Table::new("vectors", snapshot),
            imported: Table::new("imported", snapshot),
            pins: Table::new("pins", snapshot),
            summaries: Table::new("summaries", snapshot),
            summary_jobs: Table::new("summary_jobs", snapshot),
            memories: Table::new("memories", snapshot),
            unread: Table::new("unread", snapshot),
            received: Table::new("received", snapshot),
            undos: Table::new("undos", snapshot),
            children: Table::new("children", snapshot),
            child_messages: Table::new("child_messages", snapshot),
            audit: Table::new("audit", snapshot),
            audit_head: Table::new("audit_head", snapshot),
            store_secrets: Table::new(META, snapshot),
        }
    }
}
