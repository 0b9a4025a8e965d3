//! Gets updates by long polling. An update is acknowledged, by asking for those after it, only once it is stored.

use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBackoff;

use super::api::Api;
use super::batch::Received;
use super::cursor::Cursor;
use super::error::ApiError;
use super::router::Router;
use super::tries;
use crate::clock::Clock;
use crate::shutdown::TaskTracker;
use crate::store::{InboxStore, RawUpdate, StoreError, UnreadableUpdate};

/// The kinds of update Figaro asks for; others it would only throw away.
pub const KINDS: [&str; 5] =
    ["message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation"];

/// Gets, stores and passes on updates.
#[derive(Debug)]
pub struct Poller {
    /// The client of the Bot API.
    pub api: Api,
    /// Where updates are stored first.
    pub inbox: Arc<dyn InboxStore>,
    /// What becomes of them.
    pub router: Arc<Router>,
    /// Gives the current time: updates are dated by it.
    pub clock: Clock,
    /// Polling ends when this is asked to stop.
    pub background: TaskTracker,
}

impl Poller {
    /// Polls until a stop is requested.
    pub async fn run(self) {
        let mut cursor = Cursor::default();
        let mut pauses = tries::pauses();
        while !self.background.is_stopping() {
            let polled = tokio::select! {
                polled = self.api.updates(cursor.offset(), &KINDS) => polled,
                () = self.background.stopping() => return,
            };
            match polled {
                Ok(updates) => match self.take(updates, &mut cursor).await {
                    true => pauses = tries::pauses(),
                    false => self.rest(&mut pauses).await,
                },
                Err(ApiError::RetryAfter(wait)) => self.sleep(wait).await,
                Err(error) => {
                    tracing::warn!(%error, "updates could not be fetched; trying again");
                    self.rest(&mut pauses).await;
                }
            }
        }
    }

    /// Stores a batch, passes on what is new and moves the cursor past it; `false` if the next call may bring the same.
    async fn take(&self, updates: Vec<Received>, cursor: &mut Cursor) -> bool {
        let (mut readable, mut unreadable, mut nameless) = (Vec::new(), Vec::new(), 0);
        for update in updates {
            match update {
                Received::Readable(update) => readable.push(update),
                Received::Unreadable(update, reason) => {
                    let (id, bytes) = (update.id, update.bytes);
                    tracing::error!(
                        update = %id, reason, bytes,
                        "an update cannot be read and is not answered; its beginning is kept for KEEP_DAYS, \
                         where no command shows it yet"
                    );
                    unreadable.push(update);
                }
                Received::Nameless(bytes) => {
                    tracing::error!(bytes, "Telegram sent an update without an id; skipping it");
                    nameless += 1;
                }
            }
        }
        let ids = readable.iter().map(|update| update.id).chain(unreadable.iter().map(|update| update.id));
        let highest = ids.map(|id| id.0).max();
        let new = match self.store(readable, unreadable).await {
            Ok(new) => new,
            Err(error) => {
                tracing::error!(%error, label = error.label(), "updates could not be stored; not acknowledging them");
                return false;
            }
        };
        // Dealing with them need not wait until they are durable: what comes of them is so after them, and if they are lost
        // Telegram sends them again.
        let ((), durable) = futures::join!(self.router.take(new), self.inbox.sync());
        if let Err(error) = durable {
            tracing::error!(%error, label = error.label(), "updates could not be stored; not acknowledging them");
            return false;
        }
        cursor.pass(highest, nameless)
    }

    /// Gives those that are new and can be read.
    async fn store(
        &self,
        readable: Vec<RawUpdate>,
        unreadable: Vec<UnreadableUpdate>,
    ) -> Result<Vec<RawUpdate>, StoreError> {
        let now = self.clock.now();
        self.inbox.set_aside(unreadable, now).await?;
        self.inbox.accept(readable, now).await
    }

    async fn rest(&self, pauses: &mut ExponentialBackoff) {
        self.sleep(pauses.next().unwrap_or_default()).await;
    }

    async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.background.stopping() => {}
        }
    }
}
