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

/// Declares all tables: each with its records and its stored name, which never changes.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $record:ty = $name:expr;)+) => {
        /// All tables of the store, as they stand in a snapshot.
        pub(super) struct Tables<'a> {
            /// The snapshot that all of them are read from.
            pub(super) snapshot: &'a Snapshot<'a>,
            /// Secrets that never leave the store, among what is recorded of the store itself.
            pub(super) store_secrets: Table<'a, String>,
            $($(#[$doc])* pub(super) $table: Table<'a, $record>,)+
        }

        /// The stored names of all tables but [`META`].
        pub(super) const NAMES: [&str; [$($name),+].len() + 1] = [$($name,)+ QUARANTINE];

        impl<'a> Tables<'a> {
            /// The tables of a snapshot.
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
    inbox: Accepted = "inbox";
    /// Settled updates, by bot and id.
    seen: () = "seen";
    /// The same updates by the time they were accepted, so that the oldest are found without a search.
    seen_by_time: () = "seen_by_time";
    /// The text of updates that could not be read, by bot and id, for some days; their ids are among the seen.
    unreadable: SetAside = "unreadable_updates";
    /// That something was erased since the files of the store were rewritten: one record.
    erasures: RewriteDue = "erasures";
    /// The current session of a conversation.
    current: SessionId = "current";
    /// Sessions by id.
    sessions: Session = SESSIONS;
    /// The same sessions by conversation.
    sessions_of: () = "sessions_of";
    /// Topics by conversation: whether Telegram made their title up and nobody has chosen another.
    untitled: bool = "untitled";
    /// What is known of people, by person.
    profiles: UserProfile = "profiles";
    /// Messages by session and index.
    messages: Message = MESSAGES;
    /// The turn that runs in a conversation.
    turns: ActiveTurn = "runs";
    /// Turns that wait for a person, by id.
    parked: ParkedTurn = "parked";
    /// Tool calls by turn and order.
    calls: ToolCall = "calls";
    /// Background by conversation and time.
    background: Inbound = "overheard";
    /// The people who wrote in groups, by chat and person.
    people: Seen = "people";
    /// Replies on their way, by id.
    deliveries: Outgoing = "deliveries";
    /// Messages of answers that are not whole yet, by turn and index.
    live: LiveMessage = "live";
    /// Messages the bot sent, by chat and message: who speaks in each, which older versions did not keep.
    own: Option<Author> = "own";
    /// The same messages by time, so that the oldest are found without a search.
    own_by_time: () = "own_by_time";
    /// Notes by chat and id.
    notes: Note = "notes";
    /// Records in the forms of context packs, by chat and id.
    records: Record = "records";
    /// Personas of chats' own, by chat and id.
    personas: OwnPersona = "personas";
    /// Messages that ask for the words of a persona, by chat and message.
    persona_questions: PersonaQuestion = "persona_questions";
    /// Conversations outside Telegram, by their names.
    external: Conversation = "external";
    /// The same names by conversation.
    external_names: String = "external_names";
    /// The number that the next of these conversations gets: one record.
    external_next: u32 = "external_next";
    /// Settings by chat.
    chats: ChatConfig = "chats";
    /// What the model changed of settings, by turn.
    config_changes: ConfigChange = "config_changes";
    /// The one access list.
    access: AccessList = "access";
    /// Strangers who were told that the bot is private, and when.
    strangers: DateTime<Utc> = "strangers";
    /// What was spent, by day, chat, person and model.
    spent: Spending = "spent";
    /// What is set aside for calls under way, by id.
    reserved: Reservation = "reserved";
    /// The days of whose caps owners have been told.
    told_of_caps: () = "told_of_caps";
    /// Tasks by id.
    tasks: Task = "tasks";
    /// The same tasks by chat.
    tasks_of_chat: () = "tasks_of_chat";
    /// Those that may still run, by creator.
    tasks_of_user: () = "tasks_of_user";
    /// Tasks by the time somebody has to look after them.
    tasks_by_wake: () = "tasks_by_wake";
    /// Tasks whose run is under way.
    leases: () = "claims";
    /// Tasks whose messages may show them as they were.
    stale_cards: () = "stale_cards";
    /// How tasks ran, by task and order.
    task_runs: TaskRun = "task_runs";
    /// Parts of the indexes of chats, as base64, by chat and order.
    index_blocks: String = "index_blocks";
    /// Messages that were edited since the index of their chat was made of them, by chat, session and index.
    index_edits: () = "index_edits";
    /// Vectors of messages, by the keys of the messages.
    vectors: StoredVector = "vectors";
    /// What messages were called where they were imported from, by id.
    imported: String = "imported";
    /// Pins by chat and id.
    pins: Pin = "pins";
    /// Summaries by session and the index of the first message that each covers.
    summaries: Summary = "summaries";
    /// The sessions in which summaries are to be made.
    summary_jobs: SummaryJob = "summary_jobs";
    /// Memories by person and id.
    memories: Memory = "memories";
    /// Messages that facts are still to be taken from, by person and id.
    unread: Unread = "unread";
    /// What became of messages that came in, by chat and message.
    received: Received = "received";
    /// What turns did that can be taken back, by turn.
    undos: TurnUndo = "undos";
    /// The children of turns, by turn and id.
    children: ChildRun = "children";
    /// What children said and what their calls gave, by child and index.
    child_messages: Message = "child_messages";
    /// The audit log by place.
    audit: AuditEntry = "audit";
    /// Where the audit log ends, and where it begins once old entries have gone.
    audit_head: AuditHead = "audit_head";
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
