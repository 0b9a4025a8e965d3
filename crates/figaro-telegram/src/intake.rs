//! Stores updates before they are acknowledged to Telegram, and passes new ones to the router. Used by the poller and
//! the webhook.

use std::sync::Arc;

use super::batch::BatchUpdate;
use super::router::Router;
use figaro_base::clock::Clock;
use figaro_store::{InboxStore, RawUpdate, StoreError, UnreadableUpdate};

/// Stores updates and passes new ones to the router.
#[derive(Debug, Clone)]
pub struct Intake {
    /// Store that keeps updates before they are acknowledged.
    pub inbox: InboxStore,
    /// Handles new updates after they are stored.
    pub router: Arc<Router>,
    /// Source of the current time, which dates the updates.
    pub clock: Clock,
}

/// Ids in a stored batch, to move the poller's cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchIds {
    /// Highest id of the updates; `None` if no update has an id.
    pub(crate) highest: Option<i64>,
    /// Number of updates without an id.
    pub(crate) nameless: usize,
}

impl Intake {
    /// Stores updates and passes on new ones. Returns `None` after a logged failure of the store: the updates must
    /// not be acknowledged to Telegram.
    pub(crate) async fn take(&self, updates: Vec<BatchUpdate>) -> Option<BatchIds> {
        let (mut readable, mut unreadable, mut nameless) = (Vec::new(), Vec::new(), 0);
        for update in updates {
            match update {
                BatchUpdate::Readable(update) => readable.push(update),
                BatchUpdate::Unreadable(update, reason) => {
                    let (id, bytes) = (update.id, update.bytes);
                    tracing::error!(
                        update = %id, reason, bytes,
                        "an update cannot be read and is not answered; its beginning is kept for KEEP_DAYS, \
                         where no command shows it yet"
                    );
                    unreadable.push(update);
                }
                BatchUpdate::Nameless(bytes) => {
                    tracing::error!(bytes, "Telegram sent an update without an id; skipping it");
                    nameless += 1;
                }
            }
        }
        let ids = readable.iter().map(|update| update.id).chain(unreadable.iter().map(|update| update.id));
        let highest = ids.map(|id| id.0).max();
        let stored = async {
            let new = self.store(readable, unreadable).await?;
            // Handling need not wait for durability: its results become durable after the updates, and if the updates
            // are lost, Telegram sends them again.
            let ((), durable) = futures::join!(self.router.take(new), self.inbox.sync());
            durable
        };
        match stored.await {
            Ok(()) => Some(BatchIds { highest, nameless }),
            Err(error) => {
                tracing::error!(%error, label = error.label(), "updates could not be stored; not acknowledging them");
                None
            }
        }
    }

    /// Stores the updates and returns those that are new and readable.
    async fn store(
        &self,
        readable: Vec<RawUpdate>,
        unreadable: Vec<UnreadableUpdate>,
    ) -> Result<Vec<RawUpdate>, StoreError> {
        let now = self.clock.now();
        self.inbox.set_aside(unreadable, now).await?;
        self.inbox.accept(readable, now)
    }
}
