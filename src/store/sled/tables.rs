//! All tables of the store, and what each holds.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sled::{Db, Tree};

use super::table::Table;
use crate::domain::access::AccessList;
use crate::domain::chat::ChatConfig;
use crate::domain::config_change::ConfigChange;
use crate::domain::conversation::{Message, Session};
use crate::domain::delivery::{Author, LiveMessage, PendingDelivery};
use crate::domain::message::Inbound;
use crate::domain::note::Note;
use crate::domain::task::{Task, TaskRun};
use crate::domain::tool::ToolCall;
use crate::domain::turn::{ActiveTurn, ParkedTurn};
use crate::domain::usage::{Reservation, Spending};
use crate::ids::{SessionId, UpdateId};

/// All tables of the store.
pub(super) struct Tables {
    /// Updates not settled yet, by bot and id.
    pub(super) inbox: Table<Accepted>,
    /// Settled updates, by bot and id.
    pub(super) seen: Table<()>,
    /// The same updates by the time they were accepted, so that the oldest are found without a search.
    pub(super) seen_by_time: Table<()>,
    /// The text of updates that could not be read, by bot and id, for some days; their ids are among the seen.
    pub(super) unreadable: Table<SetAside>,
    /// The current session of a conversation.
    pub(super) current: Table<SessionId>,
    /// Sessions by id.
    pub(super) sessions: Table<Session>,
    /// Messages by session and index.
    pub(super) messages: Table<Message>,
    /// The turn that runs in a conversation.
    pub(super) turns: Table<ActiveTurn>,
    /// Turns that wait for a person, by id.
    pub(super) parked: Table<ParkedTurn>,
    /// Tool calls by turn and order.
    pub(super) calls: Table<ToolCall>,
    /// Background by conversation and time.
    pub(super) background: Table<Inbound>,
    /// Replies on their way, by id.
    pub(super) deliveries: Table<Outgoing>,
    /// Messages of answers that are not whole yet, by turn and index.
    pub(super) live: Table<LiveMessage>,
    /// Messages the bot sent, by chat and message: who speaks in each, which older versions did not keep.
    pub(super) own: Table<Option<Author>>,
    /// The same messages by time, so that the oldest are found without a search.
    pub(super) own_by_time: Table<()>,
    /// Notes by chat and id.
    pub(super) notes: Table<Note>,
    /// Settings by chat.
    pub(super) chats: Table<ChatConfig>,
    /// What the model changed of settings, by turn.
    pub(super) config_changes: Table<ConfigChange>,
    /// The one access list.
    pub(super) access: Table<AccessList>,
    /// Strangers who were told that the bot is private, and when.
    pub(super) strangers: Table<DateTime<Utc>>,
    /// What was spent, by day, chat, person and model.
    pub(super) spent: Table<Spending>,
    /// What is set aside for calls under way, by id.
    pub(super) reserved: Table<Reservation>,
    /// The days of whose caps owners have been told.
    pub(super) told_of_caps: Table<()>,
    /// Tasks by id.
    pub(super) tasks: Table<Task>,
    /// The same tasks by chat.
    pub(super) tasks_of_chat: Table<()>,
    /// Those that may still run, by creator.
    pub(super) tasks_of_user: Table<()>,
    /// Tasks by the time somebody has to look after them.
    pub(super) tasks_by_wake: Table<()>,
    /// Tasks whose run is under way.
    pub(super) leases: Table<()>,
    /// How tasks ran, by task and order.
    pub(super) task_runs: Table<TaskRun>,
    /// Records that cannot be read, by table and key.
    pub(super) quarantine: Tree,
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

/// A pending delivery, and where its answer is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct Outgoing {
    pub(super) delivery: PendingDelivery,
    pub(super) answer: Option<(SessionId, u32)>,
}

impl Tables {
    /// Opens them all; missing ones begin empty.
    pub(super) fn open(db: &Db) -> Result<Self, sled::Error> {
        let quarantine = db.open_tree("quarantine")?;
        Ok(Self {
            inbox: Table::open(db, "inbox", &quarantine)?,
            seen: Table::open(db, "seen", &quarantine)?,
            seen_by_time: Table::open(db, "seen_by_time", &quarantine)?,
            unreadable: Table::open(db, "unreadable_updates", &quarantine)?,
            current: Table::open(db, "current", &quarantine)?,
            sessions: Table::open(db, "sessions", &quarantine)?,
            messages: Table::open(db, "messages", &quarantine)?,
            turns: Table::open(db, "runs", &quarantine)?,
            parked: Table::open(db, "parked", &quarantine)?,
            calls: Table::open(db, "calls", &quarantine)?,
            background: Table::open(db, "overheard", &quarantine)?,
            deliveries: Table::open(db, "deliveries", &quarantine)?,
            live: Table::open(db, "live", &quarantine)?,
            own: Table::open(db, "own", &quarantine)?,
            own_by_time: Table::open(db, "own_by_time", &quarantine)?,
            notes: Table::open(db, "notes", &quarantine)?,
            chats: Table::open(db, "chats", &quarantine)?,
            config_changes: Table::open(db, "config_changes", &quarantine)?,
            access: Table::open(db, "access", &quarantine)?,
            strangers: Table::open(db, "strangers", &quarantine)?,
            spent: Table::open(db, "spent", &quarantine)?,
            reserved: Table::open(db, "reserved", &quarantine)?,
            told_of_caps: Table::open(db, "told_of_caps", &quarantine)?,
            tasks: Table::open(db, "tasks", &quarantine)?,
            tasks_of_chat: Table::open(db, "tasks_of_chat", &quarantine)?,
            tasks_of_user: Table::open(db, "tasks_of_user", &quarantine)?,
            tasks_by_wake: Table::open(db, "tasks_by_wake", &quarantine)?,
            leases: Table::open(db, "claims", &quarantine)?,
            task_runs: Table::open(db, "task_runs", &quarantine)?,
            quarantine,
        })
    }
}
