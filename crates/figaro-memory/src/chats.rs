//! The indexes of chats that are in memory: those of chats that are talked in, within a bound. Each is read from its blocks when
//! it is first needed, goes on with the messages that came since, and leaves when its chat is quiet.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use super::index::{Index, Remembered, Vectors, decode, encode};
use super::meaning::Meaning;
use super::remember::remembered;
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_store::{MemoryStore, SessionEnd, StoreError};

/// All indexes together take at most about so many bytes, unless one alone does.
const MAX_BYTES: usize = 24 << 20;
/// A chat in which nothing was asked for so long is quiet.
const QUIET: Duration = Duration::from_secs(600);
/// Quiet chats are looked for so often.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// So many messages are kept in a block.
const BLOCK: usize = 256;
/// So many messages are read at once.
const READ: usize = 256;
/// So many messages that came since are indexed before a question is answered; what is left comes with the next ones. Only a
/// store of a version without an index has more.
const MAX_AT_ONCE: usize = 4_000;

/// The index of a chat, and what of it is in no block yet.
#[derive(Debug, Default)]
pub(super) struct ChatIndex {
    pub(super) index: Index,
    unsaved: Vec<Remembered>,
    /// What its messages mean; `None` before the vectors are read, and always without an embedder.
    pub(super) vectors: Option<Vectors>,
}

impl ChatIndex {
    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.vectors.as_ref().map_or(0, Vectors::bytes)
    }
}

/// An index that is loaded by whoever first holds it.
pub(super) type Held = Arc<AsyncMutex<Option<ChatIndex>>>;

#[derive(Debug)]
struct Kept {
    index: Held,
    used: Duration,
    bytes: usize,
}

impl Kept {
    /// Whether somebody works with it. It must not leave then: an erasure, or another question, would get another place, and what
    /// is being read would be stored beside or after what they write.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.index) > 1
    }
}

/// The indexes in memory. Cheap to clone; clones share them.
#[derive(Debug, Clone)]
pub struct Chats {
    store: MemoryStore,
    clock: Clock,
    meaning: Option<Meaning>,
    kept: Arc<Mutex<HashMap<ChatId, Kept>>>,
}

impl Chats {
    /// None yet, of the messages in this store.
    #[must_use]
    pub fn new(store: MemoryStore, clock: Clock) -> Self {
        Self { store, clock, meaning: None, kept: Arc::default() }
    }

    /// The same, which also go by what messages mean.
    #[must_use]
    pub fn with_meaning(self, meaning: Option<Meaning>) -> Self {
        Self { meaning, ..self }
    }

    /// Lets go of the indexes of quiet chats, until `background` stops.
    pub async fn tend(self, background: TaskTracker) {
        loop {
            tokio::select! {
                () = background.stopping() => return,
                () = tokio::time::sleep(LOOK_AGAIN) => self.leave_quiet(),
            }
        }
    }

    /// Lets go of the indexes of quiet chats.
    pub(crate) fn leave_quiet(&self) {
        let now = self.clock.steady();
        let mut kept = self.kept.lock();
        kept.retain(|_, index| index.is_in_use() || now.saturating_sub(index.used) < QUIET);
    }

    /// Indexes all that a chat in this zone has. Gives about how many bytes of memory its index takes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn index_all(&self, chat: ChatId, zone: Tz) -> Result<usize, StoreError> {
        loop {
            let place = self.of(chat);
            // Questions that come meanwhile have their turn between two parts.
            let mut held = place.lock().await;
            let mut index = match held.take() {
                Some(index) => index,
                None => self.load(chat).await?,
            };
            let ends = self.store.session_ends(chat).await?;
            let is_whole = self.catch_up(chat, &mut index, &ends, zone).await?;
            let bytes = index.bytes();
            self.measured(chat, bytes);
            *held = Some(index);
            if is_whole {
                return Ok(bytes);
            }
        }
    }

    /// Does something while nobody uses the index of a chat, such as an erasure that drops its blocks. The index is read or made
    /// anew when it is needed next.
    pub async fn without<T>(&self, chat: ChatId, work: impl Future<Output = T>) -> T {
        let place = self.of(chat);
        let mut held = place.lock().await;
        *held = None;
        work.await
    }

    /// Forgets all that is in memory of a chat, as when its messages were deleted.
    pub fn forget(&self, chat: ChatId) {
        drop(self.kept.lock().remove(&chat));
    }

    /// How many bytes the indexes take, about.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let kept = self.kept.lock();
        kept.values().map(|index| index.bytes).sum()
    }

    /// The messages of the store.
    pub(super) fn store(&self) -> &MemoryStore {
        &self.store
    }

    /// Makes the vectors; `None` where words alone count.
    pub(super) const fn meaning(&self) -> Option<&Meaning> {
        self.meaning.as_ref()
    }

    /// The place of a chat's index.
    pub(super) fn of(&self, chat: ChatId) -> Held {
        let now = self.clock.steady();
        let mut kept = self.kept.lock();
        let index = kept.entry(chat).or_insert_with(|| Kept { index: Held::default(), used: now, bytes: 0 });
        index.used = now;
        index.index.clone()
    }

    /// Records how much a chat's index takes; those unused for longest leave where all together take too much, but none that is
    /// in use.
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

    /// The index as its blocks have it; an empty one where they cannot be read, which drops them.
    pub(super) async fn load(&self, chat: ChatId) -> Result<ChatIndex, StoreError> {
        let blocks = self.store.index_blocks(chat).await?;
        let read = move || -> Option<Index> {
            let mut index = Index::default();
            for block in &blocks {
                decode(block).ok()?.iter().for_each(|remembered| index.put(remembered));
            }
            Some(index)
        };
        // A long chat takes some 100 ms.
        let read = tokio::task::spawn_blocking(read).await.ok().flatten();
        if let Some(index) = read {
            return Ok(ChatIndex { index, ..ChatIndex::default() });
        }
        tracing::warn!(%chat, "the index of a chat's memory is of another version or damaged; it is made anew");
        self.store.drop_index(chat).await?;
        Ok(ChatIndex::default())
    }

    /// Adds what was said since, and stores what fills a block. Gives whether that was all there is.
    pub(super) async fn catch_up(
        &self,
        chat: ChatId,
        held: &mut ChatIndex,
        ends: &[SessionEnd],
        zone: Tz,
    ) -> Result<bool, StoreError> {
        self.take_edits(chat, held, zone).await?;
        let mut left = MAX_AT_ONCE;
        for SessionEnd { session, next_index } in ends {
            let mut from = held.index.next_of(*session);
            while from < *next_index {
                if left == 0 {
                    return Ok(false);
                }
                let messages = self.store.messages_from(*session, from, READ.min(left)).await?;
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
                self.save(chat, held).await?;
            }
        }
        Ok(true)
    }

    /// Puts what edited messages say now in the place of what they said.
    async fn take_edits(&self, chat: ChatId, held: &mut ChatIndex, zone: Tz) -> Result<(), StoreError> {
        let places = self.store.index_edits(chat).await?;
        if places.is_empty() {
            return Ok(());
        }
        let found = self.store.messages_at(&places).await?;
        let mut block = Vec::new();
        for message in found.iter().flatten() {
            // One that is not here yet is indexed as it is now.
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
        self.store.edits_indexed(chat, block.as_deref(), &read).await
    }

    /// Reads the vectors of a chat whose messages are all in the index, unless they were read or words alone count.
    pub(super) async fn load_vectors(
        &self,
        held: &mut ChatIndex,
        ends: &[SessionEnd],
    ) -> Result<(), StoreError> {
        let Some(meaning) = self.meaning.as_ref().filter(|_| held.vectors.is_none()) else { return Ok(()) };
        let mut vectors = Vectors::default();
        let places = held.index.places();
        for SessionEnd { session, next_index } in ends.iter().rev() {
            let mut before = *next_index;
            loop {
                let found = self.store.vectors_before(*session, before, READ).await?;
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

    async fn save(&self, chat: ChatId, held: &mut ChatIndex) -> Result<(), StoreError> {
        while held.unsaved.len() >= BLOCK {
            self.store.add_index_block(chat, &encode(&held.unsaved[..BLOCK])).await?;
            held.unsaved.drain(..BLOCK);
        }
        Ok(())
    }
}
