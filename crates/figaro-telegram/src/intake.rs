//! Takes updates in: stores them before Telegram is told that they were received, and passes on what is new. Used by what fetches
//! updates and by what is sent them.

use std::sync::Arc;

use super::batch::Received;
use super::router::Router;
use figaro_base::clock::Clock;
use figaro_store::{InboxStore, RawUpdate, StoreError, UnreadableUpdate};

/// Takes updates in.
#[derive(Debug, Clone)]
pub struct Intake {
    /// Where updates are stored first.
    pub inbox: InboxStore,
    /// What becomes of them.
    pub router: Arc<Router>,
    /// Gives the current time: updates are dated by it.
    pub clock: Clock,
}

/// What was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The highest id among the updates.
    pub(crate) highest: Option<i64>,
    /// So many had no id.
    pub(crate) nameless: usize,
}

impl Intake {
    /// Stores updates and passes on what is new; `None` if they could not be stored, which is logged: Telegram is not to be told
    /// that they were received.
    pub(crate) async fn take(&self, updates: Vec<Received>) -> Option<Taken> {
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
        let stored = async {
            let new = self.store(readable, unreadable).await?;
            // Dealing with them need not wait until they are durable: what comes of them is so after them, and if they are lost
            // Telegram sends them again.
            let ((), durable) = futures::join!(self.router.take(new), self.inbox.sync());
            durable
        };
        match stored.await {
            Ok(()) => Some(Taken { highest, nameless }),
            Err(error) => {
                tracing::error!(%error, label = error.label(), "updates could not be stored; not acknowledging them");
                None
            }
        }
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
}
