//! Observation of the offline Telegram by tests: calls, messages, answers, and waiting for them.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::broadcast;

use super::super::OfflineTelegram;
use super::super::call::ApiCall;
use super::super::state::{TelegramState, WebEvent};
use super::super::world::MessageDraft;

/// Snapshot of the state. Holds the server's lock: be quick, and do not act on the server inside.
#[derive(Debug)]
pub struct TelegramView<'a>(pub(super) &'a TelegramState);

impl TelegramView<'_> {
    /// Returns the calls answered so far, in the order they finished.
    #[must_use]
    pub fn calls(&self) -> &[ApiCall] {
        self.0.testing.calls()
    }

    /// Returns the calls of one method, in the order they finished.
    #[must_use]
    pub fn calls_of(&self, method: &str) -> Vec<&ApiCall> {
        self.calls().iter().filter(|c| c.method == method).collect()
    }

    /// Returns the messages of a chat, oldest first.
    #[must_use]
    pub fn messages(&self, chat: i64) -> Vec<&Value> {
        self.0.world.chats.get(&chat).map(|c| c.messages.values().collect()).unwrap_or_default()
    }

    /// Returns the messages of the bot in a chat, oldest first.
    #[must_use]
    pub fn bot_messages(&self, chat: i64) -> Vec<&Value> {
        let bot = self.0.world.bot.id;
        self.messages(chat).into_iter().filter(|m| m["from"]["id"] == bot).collect()
    }

    /// Returns the bot's reactions to a message.
    #[must_use]
    pub fn reactions(&self, chat: i64, message_id: i64) -> &[Value] {
        self.0.world.chats.get(&chat).and_then(|c| c.reactions.get(&message_id)).map_or(&[], Vec::as_slice)
    }

    /// Returns the drafts shown in a chat.
    #[must_use]
    pub fn drafts(&self, chat: i64) -> Vec<&MessageDraft> {
        self.0.world.chats.get(&chat).map(|c| c.drafts.values().collect()).unwrap_or_default()
    }

    /// Returns the answer to a button press: `callback_query_id`, `text`, `show_alert`. `None` if not answered.
    #[must_use]
    pub fn callback_answer(&self, callback_query_id: &str) -> Option<&Value> {
        self.0.presses.get(callback_query_id)?.answer.as_ref()
    }

    /// Returns the content of a file that the bot or a person sent.
    #[must_use]
    pub fn file(&self, file_id: &str) -> Option<&[u8]> {
        self.0.files.get(file_id).map(|file| file.bytes.as_slice())
    }

    /// Returns the number of updates the bot has not acknowledged.
    #[must_use]
    pub fn updates_pending(&self) -> usize {
        self.0.updates.pending()
    }
}

impl OfflineTelegram {
    /// Calls `look` with a snapshot of the state. `look` must be quick, as it holds the lock.
    pub fn view<T>(&self, look: impl FnOnce(&TelegramView<'_>) -> T) -> T {
        self.shared.look(|state| look(&TelegramView(state)))
    }

    /// Returns the calls answered so far, in the order they finished.
    #[must_use]
    pub fn calls(&self) -> Vec<ApiCall> {
        self.view(|view| view.calls().to_vec())
    }

    /// Returns the messages of a chat, oldest first.
    #[must_use]
    pub fn messages(&self, chat: i64) -> Vec<Value> {
        self.view(|view| view.messages(chat).into_iter().cloned().collect())
    }

    /// Returns the number of updates the bot has not acknowledged.
    #[must_use]
    pub fn updates_pending(&self) -> usize {
        self.view(|view| view.updates_pending())
    }

    /// Calls `find` after every change until it returns a value; `None` on timeout.
    pub async fn wait_until<T>(
        &self,
        timeout: Duration,
        mut find: impl FnMut(&TelegramView<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.shared.changes();
        let found = async {
            loop {
                if let Some(found) = self.view(&mut find) {
                    return Some(found);
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(timeout, found).await.unwrap_or_default()
    }

    /// Returns a receiver for the demo page's events from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<WebEvent> {
        self.shared.look(|state| state.events.subscribe())
    }
}
