//! The store: what must survive a restart, over a small engine port (redb, sled). `tests/store/engines/` is the conformance suite
//! of its engines. Used by the agent, Telegram, the gateway and the binary.
//!
//! A store is opened for one bot; the others that it may hold are neither seen nor touched.
//!
//! *Durable* means: on disk, past the file system's caches, when the call returns. What is not called durable is
//! so a moment later (5 ms and a commit) or with the next durable call, and is never seen without what was written before it.

mod audit;
mod children;
pub mod engine;
mod erasure;
mod error;
mod external;
mod facts;
mod health;
pub mod kv;
mod memory;
mod people;
mod personas;
mod pins;
mod profiles;
mod receptions;
mod records;
mod sessions;
mod summaries;
mod tasks;
mod undos;
mod zone;

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;

use figaro_base::ids::{
    ChatId, DeliveryId, MessageId, NoteId, ReservationId, RunId, SessionId, UpdateId, UserId,
};
use figaro_domain::access::{AccessChange, AccessList};
use figaro_domain::approval::Ruling;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{ChatConfig, ConfigPatch};
use figaro_domain::config_change::{ChangingTurn, ConfigChange, Setting};
use figaro_domain::conversation::{Conversation, EntryKey, Message, Session};
use figaro_domain::delivery::{Author, DeliveryEnd, LiveMessage, PendingDelivery};
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_domain::note::Note;
use figaro_domain::origin::Origin;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, GoneOn, ParkedTurn, Step};
use figaro_domain::usage::{Reservation, Spending};

pub use audit::{AuditStore, whole_log};
pub use children::{ChildSpent, ChildStore};
pub use erasure::{ErasureStore, SaidSearch};
pub use error::StoreError;
pub use external::ExternalStore;
pub use facts::{FactStore, MemoryCounts, ReadFacts, Reading, UnreadBatch};
pub use figaro_domain::turn::TurnEnd;
pub use health::StoreHealth;
pub use memory::{Imported, KeptVector, MemoryStore, MessageVector, SessionEnd};
pub use people::PeopleStore;
pub use personas::{PersonaSaved, PersonaStore, PersonaToSave};
pub use pins::{PinAdded, PinStore};
pub use profiles::ProfileStore;
pub use receptions::ReceptionStore;
pub use records::{ByModel, RecordSaved, RecordStore};
pub use sessions::{Outline, SessionStats, SessionStore};
pub use summaries::{SummaryStore, Unsummarised};
pub use tasks::{KEPT_RUNS, TaskAdded, TaskLimits, TaskStore};
pub use undos::UndoStore;
pub use zone::{Changing, Followed, change_chat, move_tasks, undo_change};

/// The result of every operation of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An update as Telegram sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawUpdate {
    /// The `update_id` that Telegram gave it.
    pub id: UpdateId,
    /// The whole update as JSON.
    pub body: Value,
}

/// An update that is no JSON Figaro can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableUpdate {
    /// The `update_id` that Telegram gave it.
    pub id: UpdateId,
    /// The first [`Self::KEPT_BYTES`] of its text at most.
    pub text: String,
    /// How long the whole of it is, in bytes.
    pub bytes: usize,
}

impl UnreadableUpdate {
    /// The most bytes of the text that are kept.
    pub const KEPT_BYTES: usize = 64 * 1024;

    /// An unreadable update with this id, of whose text the first [`Self::KEPT_BYTES`] are kept.
    #[must_use]
    pub fn new(id: UpdateId, text: &str) -> Self {
        let kept = text[..text.floor_char_boundary(Self::KEPT_BYTES)].to_owned();
        Self { id, text: kept, bytes: text.len() }
    }
}

/// Updates between their arrival and their settlement.
#[async_trait]
pub trait InboxStore: Debug + Send + Sync {
    /// Stores those updates that were never seen before, and returns them in the order given. Telegram may be told of them
    /// after [`Self::sync`] alone.
    async fn accept(&self, updates: Vec<RawUpdate>, now: DateTime<Utc>) -> Result<Vec<RawUpdate>>;
    /// Returns when all updates that were accepted, also those accepted before once more, are durable.
    async fn sync(&self) -> Result<()>;
    /// Keeps the text of updates that cannot be read, durably; their ids count as seen and settled. Of each bot's the
    /// newest [`KEPT_UNREADABLE`] by id are kept. Those seen before are ignored. No command shows them yet.
    async fn set_aside(&self, updates: Vec<UnreadableUpdate>, now: DateTime<Utc>) -> Result<()>;
    /// Forgets the text of updates that were set aside before this time. Returns how many.
    async fn expire_set_aside(&self, before: DateTime<Utc>) -> Result<usize>;
    /// All updates that were accepted and are not settled, by id.
    async fn unsettled(&self) -> Result<Vec<RawUpdate>>;
    /// Marks updates as dealt with, durably; their ids stay known as seen. Unknown ids are ignored.
    async fn settle(&self, updates: &[UpdateId]) -> Result<()>;
    /// Forgets ids of settled updates that were accepted before this time: the oldest, a bounded number at a time, so
    /// that no other writer waits long. Returns how many; called again until it returns 0, it forgets them all.
    async fn expire_seen(&self, before: DateTime<Utc>) -> Result<usize>;
}

/// The most updates of a bot that could not be read and are kept; the oldest go first.
pub const KEPT_UNREADABLE: usize = 100;

/// Sessions, their messages, their background messages and their turns.
#[async_trait]
pub trait ConversationStore: Debug + Send + Sync {
    /// The current session of a conversation; the first call begins one.
    async fn session(&self, conversation: Conversation, now: DateTime<Utc>) -> Result<Session>;
    /// Begins another session and makes it the current one, durably. Turns of the conversation that wait for a person are
    /// given up.
    async fn new_session(&self, conversation: Conversation, now: DateTime<Utc>) -> Result<Session>;
    /// Appends the question to the current session and records the turn, in one write. If the turn on record was begun
    /// with this question, that turn is returned as it is. A turn of another question that never ended gives way and
    /// counts as ended; what it stored stays. If it had made a tool call, its updates are settled in the same write:
    /// what it did is not to be done again from the start. If not, they stay unsettled, for the next start to answer.
    async fn begin_turn(
        &self,
        conversation: Conversation,
        question: &[Inbound],
        now: DateTime<Utc>,
    ) -> Result<ActiveTurn>;
    /// Begins a turn that tries the last question of the current session again, asked for by a message of this origin: the
    /// question and all that followed it count as replaced, and the question is appended anew; gives it, too. `None` if
    /// there is no question; the update is settled then, durably. Otherwise as [`Self::begin_turn`].
    async fn begin_again(
        &self,
        conversation: Conversation,
        origin: Origin,
        model: Option<ModelName>,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Vec<Message>)>>;
    /// The stored messages of a turn's question, oldest first.
    async fn question(&self, run: &ActiveTurn) -> Result<Vec<Message>>;
    /// All turns that began and have not ended, of every conversation. After a start these are the ones to go on with.
    async fn active_runs(&self) -> Result<Vec<ActiveTurn>>;
    /// Appends a message to its session. Sets its `index` to the next one of the session, and returns that.
    async fn append(&self, message: Message) -> Result<u32>;
    /// Records a step of a turn, in one durable write: what the model said, the state of the turn's machine, and that calls
    /// start; after a crash it is known that these may have acted.
    async fn record_step(&self, turn: &ActiveTurn, step: Step) -> Result<()>;
    /// Records how a call ended and appends its result, in one durable write; gives the key of the result.
    async fn tool_ended(&self, call: &ToolCall, result: Message) -> Result<EntryKey>;
    /// The calls of a turn, in the order they were started.
    async fn tool_calls(&self, run: RunId) -> Result<Vec<ToolCall>>;
    /// Ends a turn: its last messages, the pending delivery, the settlement of its updates and the end of its record,
    /// in one durable write. A turn that ended already is left as it is.
    async fn end_turn(&self, run: &ActiveTurn, end: TurnEnd) -> Result<()>;
    /// Takes a turn back that has shown and done nothing: its record and every message it stored go, its updates stay
    /// unsettled. If its chat has migrated since, its messages stay. Unknown turns are ignored.
    async fn retract_turn(&self, run: &ActiveTurn) -> Result<()>;
    /// The newest messages of a session that no later try has replaced, at most so many, oldest first; of long tool results as
    /// much as models see.
    async fn recent(&self, session: SessionId, limit: usize) -> Result<Vec<Arc<Message>>>;
    /// A message by its key; `None` where there is none, where a later try has replaced it, or where it belongs to another
    /// chat than this.
    async fn entry(&self, chat: ChatId, key: EntryKey) -> Result<Option<Message>>;
    /// Gives the stored message that this is an edit of the words that it has now, in all later tries too, and has the
    /// summaries that cover it made anew; durably. That of a turn at work, or of one that waits, stays as it is. Returns how many stored messages were changed.
    async fn edit_message(&self, edited: &Inbound) -> Result<usize>;
    /// Stores a message that was not addressed to the bot as background; the oldest beyond `keep` are deleted.
    async fn add_background(&self, conversation: Conversation, message: &Inbound, keep: usize) -> Result<()>;
    /// Background messages of a conversation sent at or after `since`, oldest first; the newest `limit` of them.
    async fn background(
        &self,
        conversation: Conversation,
        since: DateTime<Utc>,
        limit: usize,
    ) -> Result<Vec<Inbound>>;
}

/// Turns that wait for a person.
#[async_trait]
pub trait ParkedStore: Debug + Send + Sync {
    /// All turns that wait, also those that were answered and have not gone on yet.
    async fn parked_turns(&self) -> Result<Vec<ParkedTurn>>;
    /// Records the answer and settles its update, in one durable write; gives the conversation in which the turn goes on.
    /// `None`, and nothing is written, if the turn does not wait any more or was answered before.
    async fn answer_parked(&self, run: RunId, part: &Inbound) -> Result<Option<Conversation>>;
    /// Records what a person says to the call that a turn waits with, and settles their press, in one durable write; gives the
    /// conversation in which the turn goes on. `None`, and nothing is written, if it does not wait with a call any more, was
    /// ruled on before, or expired before this ruling.
    async fn rule_parked(&self, run: RunId, ruling: Ruling, press: UpdateId) -> Result<Option<Conversation>>;
    /// Goes on with a turn that was answered, durably: its messages move to the end of its session, the answer follows as the
    /// result of its call, and it is on record in its conversation; or the call that was approved is to be made now. `None` if
    /// it does not wait any more or has no answer.
    async fn unpark(&self, run: RunId, now: DateTime<Utc>) -> Result<Option<GoneOn>>;
    /// Ends the waiting of a turn that nobody goes on with, durably, and puts words on that on their way; `false` if it does
    /// not wait any more or has its answer.
    async fn give_up_parked(&self, run: RunId, words: Option<PendingDelivery>) -> Result<bool>;
}

/// Replies on their way, and which Telegram messages are the bot's own.
#[async_trait]
pub trait OutboxStore: Debug + Send + Sync {
    /// All replies that Telegram has not confirmed in full, oldest first.
    async fn deliveries(&self) -> Result<Vec<PendingDelivery>>;
    /// Counts, durably, one more repeat of the part under way. A delivery that has ended is ignored.
    async fn count_repeat(&self, delivery: DeliveryId) -> Result<()>;
    /// Records the message that one more part was sent as; the count of repeats begins anew for the next part. A delivery
    /// that has ended is ignored. It is durable when it returns, for the last part a moment later, with the end of the
    /// delivery: who stops in between sends that part once more.
    async fn confirm_part(&self, delivery: DeliveryId, message: MessageId, is_last: bool) -> Result<()>;
    /// Ends a delivery: the confirmed ids are written into the stored answer, and the delivery is gone. The
    /// live messages of its turn are forgotten in the same write, and a task whose words these were has run. It is durable a
    /// moment later.
    async fn end_delivery(&self, delivery: DeliveryId, end: DeliveryEnd, now: DateTime<Utc>) -> Result<()>;
    /// Remembers that the bot sent this message and who speaks in it, for as long as Telegram lets it be deleted (48
    /// hours). What is recorded first stays.
    async fn record_own(
        &self,
        chat: ChatId,
        message: MessageId,
        author: Author,
        now: DateTime<Utc>,
    ) -> Result<()>;
    /// Who speaks in a message that the bot is known to have sent; `None` for any other message. Records of versions that
    /// kept no author count as [`Author::Figaro`].
    async fn author(&self, chat: ChatId, message: MessageId) -> Result<Option<Author>>;
    /// Remembers, durably, a live message of a turn, also as one of the model's. It replaces the one with its index.
    async fn record_live(&self, live: LiveMessage, now: DateTime<Utc>) -> Result<()>;
    /// The live messages of a turn, by index; empty if it has none.
    async fn live_of(&self, run: RunId) -> Result<Vec<LiveMessage>>;
    /// The live messages of all turns, the oldest turn first.
    async fn live_messages(&self) -> Result<Vec<LiveMessage>>;
    /// Forgets the live messages of a turn from this index on, durably; they stay the bot's own.
    async fn forget_live(&self, run: RunId, from: u32) -> Result<()>;
}

/// What became of a note that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It was stored as a new note.
    New,
    /// The chat has a note with the same key and content, which stays; nothing was stored. Its id.
    Already(NoteId),
    /// The chat has as many notes as it may; nothing was stored.
    Full,
}

/// The notes of chats.
#[async_trait]
pub trait NoteStore: Debug + Send + Sync {
    /// Adds a note, durably, unless its chat has the same one already or `limit` notes; of several callers at the same
    /// time only so many add theirs.
    async fn add_note(&self, note: &Note, limit: usize) -> Result<Added>;
    /// Puts a removed note back as it was, durably, whatever has been added since.
    async fn restore_note(&self, note: &Note) -> Result<()>;
    /// All notes of a chat, oldest first.
    async fn notes(&self, chat: ChatId) -> Result<Vec<Note>>;
    /// Removes a note, durably, and returns it; `None` if the chat has none with this id.
    async fn remove_note(&self, chat: ChatId, note: NoteId) -> Result<Option<Note>>;
    /// Removes all notes, or all under a key, durably, and returns them.
    async fn clear_notes(&self, chat: ChatId, key: Option<&str>) -> Result<Vec<Note>>;
}

/// Settings: of chats, and of access to the bot.
#[async_trait]
pub trait SettingsStore: Debug + Send + Sync {
    /// A chat's settings; the default if it never set any.
    async fn chat_config(&self, chat: ChatId) -> Result<ChatConfig>;
    /// Changes a chat's settings, durably and without losing a change made at the same time; returns them as they are
    /// then. A reset also mends settings that cannot be read.
    async fn change_chat_config(&self, chat: ChatId, change: ConfigPatch) -> Result<ChatConfig>;
    /// The same for the model in a turn. What this changes is kept in the same write, together with what the turn changed
    /// before, for longer than it can be undone.
    async fn change_chat_config_in_turn(
        &self,
        chat: ChatId,
        change: ConfigPatch,
        turn: ChangingTurn,
    ) -> Result<ChatConfig>;
    /// What the model changed of a chat's settings in a turn, if it did and that is still kept.
    async fn config_change(&self, run: RunId) -> Result<Option<ConfigChange>>;
    /// Undoes what the model changed in a turn, durably, as far as it still holds; gives the change and the settings that
    /// were set back. `None` for a turn that changed nothing, or too long ago.
    async fn undo_config_change(
        &self,
        run: RunId,
        now: DateTime<Utc>,
    ) -> Result<Option<(ConfigChange, Vec<Setting>)>>;
    /// Gives what belongs to a chat to the id it has from now on, in one durable write: settings, notes, personas, sessions,
    /// background, what people asked for in it, tasks, its place in the access list. Where the new id has settings or a current session, its own stay; its
    /// notes are joined by those it does not have. Turns and deliveries in progress go on under the old id. May be
    /// called again, and moves then what has come to the old id since.
    async fn migrate_chat(&self, from: ChatId, to: ChatId) -> Result<()>;
    /// The list of who may use the bot: owners, users, chats, denials, invites.
    async fn access(&self) -> Result<Arc<AccessList>>;
    /// Applies a change to the list, durably and without losing a change made at the same time; returns whether the
    /// change did anything.
    async fn change_access(&self, change: AccessChange, by: AuditActor) -> Result<bool>;
    /// Notes that a stranger is told now that the bot is private; `false` if they were told before. It is not durable:
    /// after a crash somebody may be told twice.
    async fn greet_stranger(&self, user: &UserId, now: DateTime<Utc>) -> Result<bool>;
    /// Forgets strangers that were told before this time. Returns how many.
    async fn forget_strangers(&self, before: DateTime<Utc>) -> Result<usize>;
}

/// Tokens and money that model calls have taken or may take.
#[async_trait]
pub trait UsageStore: Debug + Send + Sync {
    /// Sets tokens and money aside for a call. It is durable a moment later.
    async fn reserve(&self, reservation: &Reservation) -> Result<()>;
    /// Adds to what was spent, and drops what was set aside for it, in one write. It is durable after the next durable
    /// call, and every turn ends with one.
    async fn book(&self, spending: &Spending, reserved: Option<ReservationId>) -> Result<()>;
    /// Books everything that is still set aside as spent, durably: for a start, when nobody knows what of it was.
    async fn book_reserved(&self) -> Result<()>;
    /// What was spent on these days, by day, chat, person and model.
    async fn spent(&self, days: RangeInclusive<NaiveDate>) -> Result<Vec<Spending>>;
    /// Remembers, durably, that owners have been told of a day's caps; `true` the first time.
    async fn tell_of_caps(&self, day: NaiveDate) -> Result<bool>;
}

/// Everything, for the composition root; all others name the trait they need.
#[async_trait]
pub trait Store:
    InboxStore
    + ConversationStore
    + SessionStore
    + ProfileStore
    + ParkedStore
    + ChildStore
    + OutboxStore
    + NoteStore
    + RecordStore
    + PeopleStore
    + PersonaStore
    + SettingsStore
    + UsageStore
    + TaskStore
    + MemoryStore
    + ErasureStore
    + ExternalStore
    + PinStore
    + SummaryStore
    + FactStore
    + AuditStore
    + ReceptionStore
    + UndoStore
{
    /// Waits until it can no longer write, as on a full disk, and says why. From then on every write fails; what was
    /// acknowledged before is safe, and opening it anew goes on from there.
    async fn failed(&self) -> String;
    /// The size of the store and how much of it was unreadable.
    async fn health(&self) -> Result<StoreHealth>;
    /// Makes everything written so far durable. Returns when it is on disk.
    async fn flush(&self) -> Result<()>;
}
