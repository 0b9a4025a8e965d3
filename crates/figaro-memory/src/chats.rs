//! Cache of chat indexes in memory, for chats in use and within a limit. An index is read from its blocks when first
//! needed, grows with new messages, and is dropped when its chat is quiet.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use figaro_base::tz::Tz;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use super::index::{Index, Remembered, Vectors, decode, encode};
use super::meaning::Meaning;
use super::remember::remembered;
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_store::{MemoryStore, SessionEnd, StoreError};

/// Approximate limit of all indexes together, in bytes, unless one alone is larger.
const MAX_BYTES: usize = 24 << 20;
/// Time without questions after which a chat is quiet.
const QUIET: Duration = Duration::from_secs(600);
/// Interval of the search for quiet chats.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// Messages in a block.
const BLOCK: usize = 256;
/// Messages read at once.
const READ: usize = 256;
/// Maximum new messages indexed before a question is answered; the rest follows with later questions. Only a store of a
/// version without an index has more.
const MAX_AT_ONCE: usize = 4_000;

/// Index of a chat, and its messages that are in no block yet.
#[derive(Debug, Default)]
pub(super) struct ChatIndex {
    pub(super) index: Index,
    unsaved: Vec<Remembered>,
    /// Vectors of its messages; `None` before they are read, and always without an embedder.
    pub(super) vectors: Option<Vectors>,
}

impl ChatIndex {
    /// Returns its approximate memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.vectors.as_ref().map_or(0, Vectors::bytes)
    }
}

/// An index that is loaded by its first user.
pub(super) type SharedIndex = Arc<AsyncMutex<Option<ChatIndex>>>;

#[derive(Debug)]
struct CachedIndex {
    index: SharedIndex,
    used: Duration,
    bytes: usize,
}

impl CachedIndex {
    /// Returns `true` if the index is in use. It must not be dropped then: an erasure or another question would create a
    /// second index, and writes of the two would collide.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.index) > 1
    }
}

/// Indexes in memory. Cheap to clone; clones share them.
#[derive(Debug, Clone)]
pub struct Chats {
    store: MemoryStore,
    clock: Clock,
    meaning: Option<Meaning>,
    kept: Arc<Mutex<HashMap<ChatId, CachedIndex>>>,
}

impl Chats {
    /// Creates an empty cache over the messages in this store.
    #[must_use]
    pub fn new(store: MemoryStore, clock: Clock) -> Self {
        Self { store, clock, meaning: None, kept: Arc::default() }
    }

    /// Adds an embedder, so that recall also compares meaning.
    #[must_use]
    pub fn with_meaning(self, meaning: Option<Meaning>) -> Self {
        Self { meaning, ..self }
    }

    /// Drops the indexes of quiet chats, until `background` stops.
    pub async fn tend(self, background: TaskTracker) {
        loop {
            tokio::select! {
                () = background.stopping() => return,
                () = tokio::time::sleep(LOOK_AGAIN) => self.leave_quiet(),
            }
        }
    }

    /// Drops the indexes of quiet chats.
    pub(crate) fn leave_quiet(&self) {
        let now = self.clock.steady();
        let mut kept = self.kept.lock();
        kept.retain(|_, index| index.is_in_use() || now.saturating_sub(index.used) < QUIET);
    }

    /// Indexes all messages of a chat in this zone. Returns the approximate memory use of its index in bytes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn index_all(&self, chat: ChatId, zone: Tz) -> Result<usize, StoreError> {
        loop {
            let place = self.of(chat);
            // The lock is released between two parts, so that questions can run.
            let mut held = place.lock().await;
            let mut index = match held.take() {
                Some(index) => index,
                None => self.load(chat).await?,
            };
            let ends = self.store.session_ends(chat)?;
            let is_whole = self.catch_up(chat, &mut index, &ends, zone)?;
            let bytes = index.bytes();
            self.measured(chat, bytes);
            *held = Some(index);
            if is_whole {
                return Ok(bytes);
            }
        }
    }

    /// Runs work while nobody uses the index of a chat, such as an erasure that drops its blocks. The index is loaded or
    /// rebuilt when next needed.
    pub async fn without<T>(&self, chat: ChatId, work: impl Future<Output = T>) -> T {
        let place = self.of(chat);
        let mut held = place.lock().await;
        *held = None;
        work.await
    }

    /// Drops the index of a chat from memory, for example after its messages were deleted.
    pub fn forget(&self, chat: ChatId) {
        drop(self.kept.lock().remove(&chat));
    }

    /// Returns the approximate memory use of all indexes in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let kept = self.kept.lock();
        kept.values().map(|index| index.bytes).sum()
    }

    pub(super) fn store(&self) -> &MemoryStore {
        &self.store
    }

    /// Returns the embedder; `None` if only words are compared.
    pub(super) const fn meaning(&self) -> Option<&Meaning> {
        self.meaning.as_ref()
    }

    /// Returns the shared index of a chat.
    pub(super) fn of(&self, chat: ChatId) -> SharedIndex {
        let now = self.clock.steady();
        let mut kept = self.kept.lock();
        let index = kept.entry(chat).or_insert_with(|| CachedIndex {
            index: SharedIndex::default(),
            used: now,
            bytes: 0,
        });
        index.used = now;
        index.index.clone()
    }

    /// Returns `true` if another index of this size fits beside those in memory.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let total: usize = self.kept.lock().values().map(|index| index.bytes).sum();
        total + bytes <= MAX_BYTES
    }

    /// Records the memory use of a chat's index; if all together exceed the limit, drops those unused for longest, but
    /// none that is in use.
    pub(super) fn measured(&self, chat: ChatId, bytes: usize) {
        let mut kept = self.kept.lock();
        if let Some(index) = kept.get_mut(&chat) {
            index.bytes = bytes;
        }
        let mut total: usize = kept.values().map(|index| index.bytes).sum();
        while total > MAX_BYTES {
            let others = kept.iter().filter(|(other, index)| **other != chat && !index.is_in_use());
            let Some(oldest) = others.min_by_key(|(_, index)| index.used).map(|(chat, _)| *chat) else {
                return;
            };
            total -= kept.remove(&oldest).map_or(0, |index| index.bytes);
        }
    }

    /// Loads the index from its blocks; an unreadable one is dropped and starts empty.
    pub(super) async fn load(&self, chat: ChatId) -> Result<ChatIndex, StoreError> {
        let blocks = self.store.index_blocks(chat)?;
        let read = move || -> Option<Index> {
            let mut index = Index::default();
            for block in &blocks {
                decode(block).ok()?.iter().for_each(|remembered| index.put(remembered));
            }
            Some(index)
        };
        // Decoding a long chat takes some 100 ms.
        let read = tokio::task::spawn_blocking(read).await.ok().flatten();
        if let Some(index) = read {
            return Ok(ChatIndex { index, ..ChatIndex::default() });
        }
        tracing::warn!(%chat, "the index of a chat's memory is of another version or damaged; it is made anew");
        self.store.drop_index(chat)?;
        Ok(ChatIndex::default())
    }

    /// Indexes new messages and stores full blocks. Returns `true` if none is left.
    pub(super) fn catch_up(
        &self,
        chat: ChatId,
        held: &mut ChatIndex,
        ends: &[SessionEnd],
        zone: Tz,
    ) -> Result<bool, StoreError> {
        self.take_edits(chat, held, zone)?;
        let mut left = MAX_AT_ONCE;
        for SessionEnd { session, next_index } in ends {
            let mut from = held.index.next_of(*session);
            while from < *next_index {
                if left == 0 {
                    return Ok(false);
                }
                // Not the messages of a turn in progress: its own question would be found for it.
                let before_end = usize::try_from(next_index - from).unwrap_or(usize::MAX);
                let messages = self.store.messages_from(*session, from, READ.min(left).min(before_end))?;
                let Some(last) = messages.last() else { break };
                from = last.index + 1;
                left -= messages.len();
                for message in &messages {
                    let usual = held.index.languages().first().copied();
                    if let Some(remembered) = remembered(message, zone, usual) {
                        held.index.add(&remembered);
                        held.unsaved.push(remembered);
                    }
                }
                self.save(chat, held)?;
            }
        }
        Ok(true)
    }

    /// Updates the index entries of edited messages.
    fn take_edits(&self, chat: ChatId, held: &mut ChatIndex, zone: Tz) -> Result<(), StoreError> {
        let places = self.store.index_edits(chat)?;
        if places.is_empty() {
            return Ok(());
        }
        let found = self.store.messages_at(&places)?;
        let mut block = Vec::new();
        for message in found.iter().flatten() {
            // A message that is not indexed yet is indexed in its current state later.
            let Some(at) = held.index.at(message.session, message.index) else { continue };
            let usual = held.index.languages().first().copied();
            let remembered = match (remembered(message, zone, usual), held.index.message(at)) {
                (Some(remembered), _) => remembered,
                (None, Some((session, entry))) => Remembered { session, entry, terms: Vec::new() },
                (None, None) => continue,
            };
            held.index.put(&remembered);
            held.vectors.iter_mut().for_each(|vectors| vectors.forget(at));
            let is_it =
                |one: &&mut Remembered| one.session == message.session && one.entry.index == message.index;
            match held.unsaved.iter_mut().find(is_it) {
                Some(unsaved) => *unsaved = remembered,
                None => block.push(remembered),
            }
        }
        let block = Some(block).filter(|block| !block.is_empty()).map(|block| encode(&block));
        let read: Vec<_> = places.into_iter().zip(found).collect();
        self.store.edits_indexed(chat, block.as_deref(), &read)
    }

    /// Loads the vectors of a fully indexed chat, unless they are loaded or only words are compared.
    pub(super) fn load_vectors(&self, held: &mut ChatIndex, ends: &[SessionEnd]) -> Result<(), StoreError> {
        let Some(meaning) = self.meaning.as_ref().filter(|_| held.vectors.is_none()) else { return Ok(()) };
        let mut vectors = Vectors::default();
        let places = held.index.places();
        for SessionEnd { session, next_index } in ends.iter().rev() {
            let mut before = *next_index;
            loop {
                let found = self.store.vectors_before(*session, before, READ)?;
                let Some(last) = found.last() else { break };
                before = last.index;
                for kept in found.iter().filter(|kept| kept.model == meaning.name()) {
                    if let Some(at) = places.get(&(*session, kept.index)) {
                        vectors.set(*at, &kept.vector);
                    }
                }
            }
        }
        held.vectors = Some(vectors);
        Ok(())
    }

    fn save(&self, chat: ChatId, held: &mut ChatIndex) -> Result<(), StoreError> {
        while held.unsaved.len() >= BLOCK {
            self.store.add_index_block(chat, &encode(&held.unsaved[..BLOCK]))?;
            held.unsaved.drain(..BLOCK);
        }
        Ok(())
    }
}
