//! An open store: opening, reads and changes.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::changes::Changes;
use super::commits::Commits;
use super::decoded::Decoded;
use super::engine::{EngineError, Keys, MemoryEngine};
use super::fault::StoreFault;
use super::inventory::{StoreHealth, live_bytes};
use super::pack_rules::PackRules;
use super::space::Space;
use super::tables::{SESSIONS, Tables};
use super::writer::{StoreNews, Writer};
use super::{Result, StoreError};
use figaro_base::ids::BotId;
use figaro_base::tenure::Tenure;
use figaro_domain::access::AccessList;
use figaro_domain::conversation::Message;
use figaro_domain::tool_result;

/// Cache limit of decoded messages, in bytes: some 6,000 short messages.
const DECODED_BYTES: u64 = 4 * 1024 * 1024;
/// Cache limit of the decoded access list, in bytes: some 10,000 people.
const ACCESS_BYTES: u64 = 1024 * 1024;

/// A store of one bot, locked for this process. Cheap to clone; closed when the last clone is dropped.
#[derive(Clone)]
pub struct Store {
    pub(super) shared: Arc<StoreInner>,
}

pub(super) struct StoreInner {
    pub(super) place: String,
    pub(super) bot: BotId,
    pub(super) writer: Writer,
    pub(super) task_news: Arc<Notify>,
    pub(super) card_news: Arc<Notify>,
    pub(super) erasure_news: Arc<Notify>,
    pub(super) summary_news: Arc<Notify>,
    /// Cache of messages of active conversations.
    pub(super) messages: Decoded<Message>,
    /// Cache of the access list.
    pub(super) access: Decoded<AccessList>,
    pub(super) pack_rules: PackRules,
}

impl Store {
    /// Warns if only another bot has conversations in this store: the token may be the wrong one.
    pub async fn warn_of_others(&self) {
        let store = self.clone();
        if let Ok(Ok(Some(other))) = spawn_blocking(move || other_bot(&store)).await {
            tracing::warn!(
                bot = %self.bot(), %other,
                "the store {} has no conversations of this bot, but of another: each bot sees its own, so if they are missed \
                 here, the token is another bot's",
                self.shared.place
            );
        }
    }

    /// Creates an empty store in memory for this bot. It opens no file, starts no thread, and is gone with the last
    /// clone.
    #[must_use]
    pub fn in_memory(bot: BotId) -> Self {
        let commits = Commits::in_memory(Box::<MemoryEngine>::default());
        Self::over(
            Writer::new(Arc::new(commits), Space::of(bot)),
            "in memory".to_owned(),
            bot,
            PackRules::default(),
        )
    }

    pub(super) fn over(writer: Writer, place: String, bot: BotId, pack_rules: PackRules) -> Self {
        let messages = Decoded::within(DECODED_BYTES).shortened_by(tool_result::show);
        Self {
            shared: Arc::new(StoreInner {
                place,
                bot,
                writer,
                task_news: Arc::default(),
                card_news: Arc::default(),
                erasure_news: Arc::default(),
                summary_news: Arc::default(),
                messages,
                access: Decoded::one_within(ACCESS_BYTES),
                pack_rules,
            }),
        }
    }

    /// For tests with a stopped clock: waits for the disk do not let the clock jump ahead.
    pub fn hold_paused_time(&self) {
        self.shared.writer.hold_paused_time();
    }

    pub(super) fn bot(&self) -> BotId {
        self.shared.bot
    }

    /// Notifies the waiter for changed tasks.
    pub(super) fn tell_of_tasks(&self) {
        self.shared.task_news.notify_one();
        self.shared.card_news.notify_one();
    }

    /// Reads the store, without another thread: frequent data is in memory, and the rest is a page or two of a local
    /// file.
    pub(super) fn read<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        F: FnOnce(&Tables<'_>) -> Result<T, StoreFault>,
    {
        let read = self.shared.writer.read(|snapshot| {
            let outcome = work(&Tables::of(snapshot));
            Ok((outcome, snapshot.unreadable()))
        });
        let (outcome, unreadable) = read.map_err(|fault| self.error(fault, operation))?;
        if !unreadable.is_empty() {
            self.change(operation, move |tables, _| tables.snapshot.set_aside_again(unreadable))?;
        }
        outcome.map_err(|fault| self.error(fault, operation))
    }

    /// Reads and writes atomically, with no other writer in between. Durable a moment later.
    pub(super) fn change<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, StoreFault>,
    {
        self.shared.writer.change(work).map_err(|fault| self.error(fault, operation))
    }

    /// Like [`Self::change`], and durable on return.
    pub(super) async fn change_durably<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        F: FnOnce(&Tables<'_>, &mut Changes<'_>) -> Result<T, StoreFault>,
    {
        let done = self.shared.writer.change_durably(work).await;
        done.map_err(|fault| self.error(fault, operation))
    }

    /// Waits a moment until all changes so far are durable.
    pub(super) async fn durable_soon(&self, operation: &'static str) -> Result<()> {
        self.shared.writer.settle().await.map_err(|fault| self.error(fault, operation))
    }

    pub(super) fn error(&self, fault: StoreFault, operation: &'static str) -> StoreError {
        fault.into_error(&self.shared.place, operation)
    }
}

/// Returns another bot that has conversations in this store, if this bot has none.
fn other_bot(store: &Store) -> Result<Option<BotId>, EngineError> {
    let (view, space) = (store.shared.writer.engine().view()?, Space::of(store.bot()));
    let mut own = view.keys(SESSIONS, &space.range(&Keys::beginning_with([])))?;
    if own.next().is_some() {
        return Ok(None);
    }
    let first = view.keys(SESSIONS, &Keys::beginning_with([]))?.next().transpose()?;
    Ok(first.and_then(|key| Space::bot_of(&key)))
}

impl Store {
    /// Waits until the store can no longer write, as on a full disk or when another process may have the bot, and returns the
    /// reason. From then on every write fails; acknowledged writes are safe, and reopening the store continues from there.
    pub async fn failed(&self) -> String {
        self.shared.writer.failed().await
    }

    /// Returns what tells of changes in the store.
    #[must_use]
    pub fn news(&self) -> StoreNews {
        self.shared.writer.news()
    }

    /// Returns the importance rules of context packs.
    #[must_use]
    pub fn pack_rules(&self) -> PackRules {
        self.shared.pack_rules.clone()
    }

    /// Returns the right of this process to act for the bot, which another process may take over in a database.
    #[must_use]
    pub fn tenure(&self) -> Tenure {
        self.shared.writer.engine().tenure()
    }

    /// Returns the size of the store and the number of unreadable records.
    pub async fn health(&self) -> Result<StoreHealth> {
        let store = self.clone();
        // Measuring reads every record.
        let measured = spawn_blocking(move || {
            let engine = store.shared.writer.engine();
            let (bytes, live) = (engine.disk_bytes()?, live_bytes(engine)?);
            store.shared.writer.read(|snapshot| {
                let updates = Tables::of(snapshot).unreadable.keys_of(&[])?.count();
                let unreadable = u64::try_from(snapshot.quarantined()? + updates).unwrap_or(u64::MAX);
                Ok(StoreHealth { bytes, live, unreadable })
            })
        });
        let measured = measured.await.unwrap_or_else(|error| Err(StoreFault::Panic(error.to_string())));
        measured.map_err(|fault| self.error(fault, "measure itself"))
    }

    /// Makes all writes so far durable. Returns when they are on disk.
    pub async fn flush(&self) -> Result<()> {
        self.change_durably("write to its disk", |_, _| Ok(())).await
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("place", &self.shared.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use figaro_base::clock::Clock;
    use figaro_base::ids::ChatId;
    use figaro_domain::conversation::{ConversationId, MessageRole};

    #[tokio::test]
    async fn store_in_memory_has_what_is_written_and_shares_nothing() {
        let (store, other) = (Store::in_memory(BotId(1)), Store::in_memory(BotId(1)));
        let conversation = ConversationId { chat: ChatId(1), topic: None };
        let now = Clock::system().now();
        let session = store.conversations().new_session(conversation, now).await.unwrap();
        assert_eq!(store.conversations().session(conversation, now).unwrap().id, session.id);
        assert_ne!(other.conversations().session(conversation, now).unwrap().id, session.id);
        let words = Message::new(session.id, MessageRole::User, "hello".to_owned(), now);
        store.conversations().append(words).unwrap();
        assert_eq!(store.clone().conversations().recent(session.id, 5).unwrap().len(), 1);
        assert_eq!(other.conversations().recent(session.id, 5).unwrap(), []);
        store.flush().await.unwrap();
    }
}
