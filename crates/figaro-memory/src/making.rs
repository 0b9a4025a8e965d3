//! Makes vectors of messages in the background after a turn, the newest messages first and a limited number at a time.
//! The rest follows after the next turn, also after a restart: missing vectors are detected when the vectors of a chat
//! are loaded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use figaro_base::tz::Tz;
use parking_lot::Mutex;

use super::chats::{ChatIndex, Chats};
use super::meaning::Meaning;
use super::remember::{check, passage};
use figaro_base::ids::{ChatId, SessionId};
use figaro_base::shutdown::TaskTracker;
use figaro_domain::conversation::EntryKey;
use figaro_domain::usage::Payer;
use figaro_provider::embed::EmbedError;
use figaro_store::{MessageVector, SessionEnd, SettingsStore, StoreError};

/// Maximum messages embedded after a turn.
const MAX_AT_ONCE: usize = 512;
/// Messages embedded and stored at once.
const BATCH: usize = 64;

/// Reason why vector making stopped.
#[derive(Debug, thiserror::Error)]
pub enum NotMade {
    /// The store failed; nothing more was made.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder failed; the log has the reason.
    #[error(transparent)]
    Embedder(#[from] EmbedError),
}

#[derive(Debug, Clone, Copy)]
struct UnembeddedMessage {
    /// Position in the index.
    at: usize,
    key: EntryKey,
    check: u32,
}

/// Makes vectors in the background, one job per chat at a time. Cheap to clone; clones share the jobs.
#[derive(Debug, Clone)]
pub struct VectorMaker {
    chats: Chats,
    settings: SettingsStore,
    default_zone: Tz,
    background: TaskTracker,
    /// Chats with a running job; `true` if a turn has ended there meanwhile.
    busy: Arc<Mutex<HashMap<ChatId, bool>>>,
}

impl VectorMaker {
    /// Creates a maker for these chats and their zones; `background` tracks the jobs and ends them.
    #[must_use]
    pub fn new(chats: Chats, settings: SettingsStore, default_zone: Tz, background: TaskTracker) -> Self {
        Self { chats, settings, default_zone, background, busy: Arc::default() }
    }

    /// Starts making a chat's missing vectors at this payer's cost, if there is an embedder. Returns at once.
    pub fn after_turn(&self, payer: Payer) {
        let Some(meaning) = self.chats.meaning().cloned() else { return };
        let chat = payer.chat;
        if self.with_busy(|busy| busy.get_mut(&chat).map(|again| *again = true)).is_some() {
            return;
        }
        self.with_busy(|busy| busy.extend([(chat, false)]));
        let this = self.clone();
        self.background.spawn("vectors", async move {
            loop {
                tokio::select! {
                    () = this.background.stopping() => {}
                    made = this.make(&meaning, &payer) => match made {
                        // Failures of the embedder are logged once per kind.
                        Ok(()) | Err(NotMade::Embedder(_)) => {}
                        Err(error) => tracing::warn!(%error, %chat, "vectors of messages could not be made"),
                    }
                }
                let is_done = this.with_busy(|busy| match busy.get_mut(&chat) {
                    Some(again) if *again && !this.background.is_stopping() => {
                        *again = false;
                        false
                    }
                    _ => busy.remove(&chat).is_some(),
                });
                if is_done {
                    return;
                }
            }
        });
    }

    async fn make(&self, meaning: &Meaning, payer: &Payer) -> Result<(), NotMade> {
        let zone = self.settings.chat_config(payer.chat)?.timezone.unwrap_or(self.default_zone);
        let mut left = MAX_AT_ONCE;
        while left > 0 && meaning.has_spare() {
            let made = self.chats.make_some(payer, zone, left.min(BATCH)).await?;
            if made == 0 {
                return Ok(());
            }
            left -= made;
        }
        Ok(())
    }

    fn with_busy<T>(&self, work: impl FnOnce(&mut HashMap<ChatId, bool>) -> T) -> T {
        work(&mut self.busy.lock())
    }
}

impl Chats {
    /// Makes all missing vectors of a chat in this zone, regardless of the background share of the caps. Returns their
    /// number.
    ///
    /// # Errors
    /// When the store or the embedder fails.
    pub async fn embed_all(&self, payer: &Payer, zone: Tz) -> Result<usize, NotMade> {
        let _bytes = self.index_all(payer.chat, zone).await?;
        let mut all = 0;
        loop {
            match self.make_some(payer, zone, BATCH).await? {
                0 => return Ok(all),
                made => all += made,
            }
        }
    }

    /// Makes and stores at most `most` vectors of a chat's newest messages without one. Returns their number; 0 if none
    /// is missing.
    async fn make_some(&self, payer: &Payer, zone: Tz, most: usize) -> Result<usize, NotMade> {
        let Some(meaning) = self.meaning() else { return Ok(0) };
        loop {
            let lacking = self.lacking(payer.chat, zone, most).await?;
            if lacking.is_empty() {
                return Ok(0);
            }
            let keys: Vec<EntryKey> = lacking.iter().map(|one| one.key).collect();
            let found = self.store().messages_at(&keys)?;
            let texts: Vec<Option<String>> = lacking
                .iter()
                .zip(&found)
                .map(|(one, message)| {
                    let message = message.as_ref().filter(|message| check(message.id) == one.check)?;
                    passage(message)
                })
                .collect();
            let said: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
            let mut vectors = Vec::new();
            if !said.is_empty() {
                vectors = meaning.of_messages(&said, payer.clone()).await?;
            }
            let mut made = vectors.into_iter();
            let mut kept = Vec::new();
            for ((one, message), text) in lacking.iter().zip(found).zip(&texts) {
                let vector = text.as_ref().and_then(|_| made.next());
                if let (Some(of), Some(vector)) = (message, vector) {
                    kept.push(MessageVector { place: one.key, of, vector });
                }
            }
            self.keep(payer.chat, meaning.name(), &lacking, &kept).await?;
            // All of these messages get no vector: others may lack one.
            if !kept.is_empty() {
                return Ok(kept.len());
            }
        }
    }

    /// Returns the newest messages of a chat without a vector.
    async fn lacking(
        &self,
        chat: ChatId,
        zone: Tz,
        most: usize,
    ) -> Result<Vec<UnembeddedMessage>, StoreError> {
        let ends = self.store().session_ends(chat)?;
        let place = self.of(chat);
        let mut held = place.lock().await;
        let mut loaded = match held.take() {
            Some(loaded) => loaded,
            None => self.load(chat).await?,
        };
        // If the index is being rebuilt, that goes first, with the next questions.
        let is_whole = self.catch_up(chat, &mut loaded, &ends, zone)?;
        let mut found = Vec::new();
        if is_whole {
            self.load_vectors(&mut loaded, &ends)?;
            found = lacking(&loaded, &ends, most);
        }
        self.measured(chat, loaded.bytes());
        *held = Some(loaded);
        Ok(found)
    }

    /// Stores new vectors and adds them to the index in memory, if it is still there. Edits are recorded before or after
    /// both: a vector of the old text is then in neither.
    async fn keep(
        &self,
        chat: ChatId,
        model: &str,
        asked: &[UnembeddedMessage],
        made: &[MessageVector],
    ) -> Result<(), StoreError> {
        let place = self.of(chat);
        let mut held = place.lock().await;
        let kept = self.store().put_vectors(model, made)?;
        let Some(loaded) = held.as_mut() else { return Ok(()) };
        let Some(vectors) = loaded.vectors.as_mut() else { return Ok(()) };
        for one in asked {
            // The index may have been reloaded meanwhile.
            let is_there = loaded.index.message(one.at).is_some_and(|(session, entry)| {
                session == one.key.session && entry.index == one.key.index && entry.check == one.check
            });
            match made.iter().find(|made| made.place == one.key) {
                Some(made) if is_there && kept.contains(&made.place) => vectors.set(one.at, &made.vector),
                None if is_there => vectors.leave_out(one.at),
                _ => {}
            }
        }
        self.measured(chat, loaded.bytes());
        Ok(())
    }
}

fn lacking(loaded: &ChatIndex, ends: &[SessionEnd], most: usize) -> Vec<UnembeddedMessage> {
    let living: HashSet<SessionId> = ends.iter().map(|end| end.session).collect();
    let Some(vectors) = &loaded.vectors else { return Vec::new() };
    let messages = loaded.index.len();
    let newest = (0..messages).rev().filter(|at| vectors.lacks(*at, messages));
    let lacking = newest.filter_map(|at| {
        let (session, entry) = loaded.index.message(at)?;
        let key = EntryKey { session, index: entry.index };
        living.contains(&session).then_some(UnembeddedMessage { at, key, check: entry.check })
    });
    lacking.take(most).collect()
}
