//! Erases for commands: in the store, in the memory of chats, and among the turns that wait.

use chrono_tz::Tz;

use super::handles::Handles;
use super::removed::Erasures;
use figaro_agent::turn::parked::Parked;
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_memory::Chats;
use figaro_store::{ErasureStore, SettingsStore, StoreError};

/// Erases what people want forgotten. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Eraser {
    erasures: ErasureStore,
    settings: SettingsStore,
    chats: Chats,
    made: Erasures,
    parked: Parked,
    default_zone: Tz,
    clock: Clock,
    background: TaskTracker,
}

impl Eraser {
    pub(super) fn new(handles: &Handles) -> Self {
        let sender = &handles.cards.sender;
        Self {
            erasures: handles.store.erasures(),
            settings: handles.store.settings(),
            chats: handles.chats.clone(),
            made: handles.erasures.clone(),
            parked: handles.parked.clone(),
            default_zone: handles.default_zone,
            clock: sender.clock.clone(),
            background: sender.background.clone(),
        }
    }

    /// Erases at once from all that is read; the index of the chat is made anew in the background. `by` is the name of whoever
    /// wants it.
    pub(super) async fn erase(&self, what: &Erasure, by: &str) -> Result<Forgotten, StoreError> {
        let chat = what.chat();
        let forgotten = self.chats.without(chat, self.erasures.erase(what, self.clock.now())).await?;
        // What waited in it was given up.
        self.parked.reload(Some(by)).await?;
        if let Forgotten::Done(_) = forgotten {
            self.made.note(chat, self.clock.now());
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
        let config = self.settings.chat_config(chat).await.unwrap_or_default();
        if let Err(error) = self.chats.index_all(chat, config.timezone.unwrap_or(self.default_zone)).await {
            // It is made with the next questions.
            tracing::warn!(%error, %chat, label = error.label(), "the index of a chat could not be made anew");
        }
    }
}
