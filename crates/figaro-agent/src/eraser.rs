//! Erases data on request: in the store, in the indexes of chats, and among waiting turns.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use parking_lot::Mutex;

use super::tools::draw::LastPictures;
use super::turn::parked::Parked;
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_memory::Chats;
use figaro_store::{Store, StoreError};

/// Time in which a removal by button can be undone, unless the chat erases data meanwhile.
pub const UNDO: TimeDelta = TimeDelta::minutes(1);

/// Time of the last erasure of each chat, within the undo period. Clones are cheap and share their state.
#[derive(Debug, Clone, Default)]
pub struct Erasures(Arc<Mutex<HashMap<ChatId, DateTime<Utc>>>>);

impl Erasures {
    /// Records an erasure in a chat.
    pub fn note(&self, chat: ChatId, now: DateTime<Utc>) {
        let mut last = self.0.lock();
        last.retain(|_, at| now - *at < UNDO);
        last.insert(chat, now);
    }

    /// Returns `true` if the chat had an erasure at `time` or later, within the last minute.
    #[must_use]
    pub fn has_since(&self, chat: ChatId, time: DateTime<Utc>) -> bool {
        let last = self.0.lock();
        last.get(&chat).is_some_and(|at| *at >= time)
    }
}

/// Erases data on request from any channel. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Eraser {
    /// Main store of the bot.
    pub store: Store,
    /// Search indexes of chats.
    pub chats: Chats,
    /// Turns that wait for a person.
    pub parked: Parked,
    /// Times of the last erasures.
    pub erasures: Erasures,
    /// Last pictures of conversations.
    pub pictures: LastPictures,
    /// Time zone of chats that have set none.
    pub default_zone: Tz,
    /// Source of the current time.
    pub clock: Clock,
    /// Runs the rebuild of indexes in the background.
    pub background: TaskTracker,
}

impl Eraser {
    /// Erases data from the store at once; rebuilds the chat's index in the background. `by` is the name of the requester,
    /// shown with questions that stop waiting.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn erase(&self, what: &Erasure, by: Option<&str>) -> Result<Forgotten, StoreError> {
        let chat = what.chat();
        let erasing = self.store.erasures();
        let forgotten = self.chats.without(chat, erasing.erase(what, self.clock.now())).await?;
        // The erasure may have removed waiting turns of this chat.
        self.parked.reload(by).await?;
        if let Forgotten::Done(_) = forgotten {
            self.erasures.note(chat, self.clock.now());
            self.pictures.forget(chat);
            let (this, stopping) = (self.clone(), self.background.clone());
            self.background.spawn("index", async move {
                tokio::select! {
                    () = stopping.stopping() => {}
                    () = this.index(chat) => {}
                }
            });
        }
        Ok(forgotten)
    }

    async fn index(&self, chat: ChatId) {
        let config = self.store.settings().chat_config(chat).unwrap_or_default();
        if let Err(error) = self.chats.index_all(chat, config.timezone.unwrap_or(self.default_zone)).await {
            // The next questions rebuild the index.
            tracing::warn!(%error, %chat, label = error.label(), "the index of a chat could not be made anew");
        }
    }
}
