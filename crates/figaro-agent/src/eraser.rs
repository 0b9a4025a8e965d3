//! Erases what people want forgotten: in the store, in the memory of chats, and among the turns that wait.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use parking_lot::Mutex;

use super::turn::parked::Parked;
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_memory::Chats;
use figaro_store::{Store, StoreError};

/// Time in which something that a button removed can be put back, unless its chat has something forgotten meanwhile.
pub const UNDO: TimeDelta = TimeDelta::minutes(1);

/// When chats last had something forgotten, as far as that can matter for what was removed. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Erasures(Arc<Mutex<HashMap<ChatId, DateTime<Utc>>>>);

impl Erasures {
    /// Notes that a chat has something forgotten now.
    pub fn note(&self, chat: ChatId, now: DateTime<Utc>) {
        let mut last = self.0.lock();
        last.retain(|_, at| now - *at < UNDO);
        last.insert(chat, now);
    }

    /// `true` if a chat has had something forgotten at this time or since, within the last minute.
    #[must_use]
    pub fn has_since(&self, chat: ChatId, time: DateTime<Utc>) -> bool {
        let last = self.0.lock();
        last.get(&chat).is_some_and(|at| *at >= time)
    }
}

/// Erases what people want forgotten, wherever they ask for it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Eraser {
    /// The store of the bot.
    pub store: Store,
    /// The indexes of its chats.
    pub chats: Chats,
    /// The turns that wait for a person.
    pub parked: Parked,
    /// When it last erased.
    pub erasures: Erasures,
    /// The zone of chats that have set none.
    pub default_zone: Tz,
    /// Gives the current time.
    pub clock: Clock,
    /// Where indexes are made anew.
    pub background: TaskTracker,
}

impl Eraser {
    /// Erases at once from all that is read; the index of the chat is made anew in the background. `by` is the name of whoever
    /// wants it, for questions that stop waiting.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn erase(&self, what: &Erasure, by: Option<&str>) -> Result<Forgotten, StoreError> {
        let chat = what.chat();
        let erasing = self.store.erasures();
        let forgotten = self.chats.without(chat, erasing.erase(what, self.clock.now())).await?;
        // Turns that waited in it were given up.
        self.parked.reload(by).await?;
        if let Forgotten::Done(_) = forgotten {
            self.erasures.note(chat, self.clock.now());
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
        let config = self.store.settings().chat_config(chat).await.unwrap_or_default();
        if let Err(error) = self.chats.index_all(chat, config.timezone.unwrap_or(self.default_zone)).await {
            // It is made with the next questions.
            tracing::warn!(%error, %chat, label = error.label(), "the index of a chat could not be made anew");
        }
    }
}
