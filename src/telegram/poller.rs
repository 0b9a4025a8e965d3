//! Gets updates by long polling. An update is acknowledged, by asking for those after it, only once it is stored.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::Value;
use tokio::time::Instant;

use super::api::{Api, ApiError};
use super::router::Router;
use crate::clock::Clock;
use crate::ids::UpdateId;
use crate::shutdown::Tasks;
use crate::store::{InboxStore, RawUpdate};

/// The kinds of update Figaro asks for; others it would only throw away.
pub const KINDS: [&str; 5] =
    ["message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation"];
/// The pause after a failure doubles from the first to the second of these.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// Telegram keeps an update for a day; so long its id must be known.
const SEEN_DAYS: i64 = 3;
/// Ids that need not be known any more are looked for so often.
const SWEEP_EVERY: Duration = Duration::from_secs(3600);

/// Gets, stores and passes on updates.
#[derive(Debug)]
pub struct Poller {
    /// The Bot API.
    pub api: Api,
    /// Where updates are stored first.
    pub inbox: Arc<dyn InboxStore>,
    /// What becomes of them.
    pub router: Arc<Router>,
    /// The time.
    pub clock: Clock,
    /// It runs until these stop.
    pub tasks: Tasks,
}

impl Poller {
    /// Polls until a stop is requested.
    pub async fn run(self) {
        let mut offset = None;
        let mut pause = PAUSES.0;
        let mut swept = None;
        while !self.tasks.is_stopping() {
            let polled = tokio::select! {
                polled = self.api.updates(offset, &KINDS) => polled,
                () = self.tasks.stopping() => return,
            };
            match polled {
                Ok(updates) => {
                    pause = PAUSES.0;
                    match self.take(updates).await {
                        // After an empty answer all is acknowledged; without an offset nothing depends on the ids going
                        // on from where they were: after a week without updates Telegram may start them elsewhere.
                        Some(next) => offset = next,
                        None => self.rest(&mut pause).await,
                    }
                    self.forget_old(&mut swept).await;
                }
                Err(ApiError::RetryAfter(wait)) => self.sleep(wait).await,
                Err(error) => {
                    tracing::warn!(%error, "updates could not be fetched; trying again");
                    self.rest(&mut pause).await;
                }
            }
        }
    }

    /// Stores a batch and passes on what is new; gives the next offset, or `None` when it could not be stored.
    async fn take(&self, updates: Vec<Value>) -> Option<Option<i64>> {
        let raw: Vec<RawUpdate> = updates.into_iter().filter_map(with_id).collect();
        let Some(newest) = raw.iter().map(|update| update.id.0).max() else {
            return Some(None);
        };
        match self.inbox.accept(raw, self.clock.now()).await {
            Ok(new) => {
                self.router.take(new).await;
                Some(Some(newest + 1))
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), "updates could not be stored; not acknowledging them");
                None
            }
        }
    }

    async fn forget_old(&self, swept: &mut Option<Instant>) {
        if swept.is_some_and(|at| at.elapsed() < SWEEP_EVERY) {
            return;
        }
        *swept = Some(Instant::now());
        let before = self.clock.now() - TimeDelta::days(SEEN_DAYS);
        if let Err(error) = self.router.forget_strangers().await {
            tracing::error!(%error, label = error.label(), "strangers could not be forgotten");
        }
        loop {
            match self.inbox.expire_seen(before).await {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "old update ids could not be forgotten");
                    return;
                }
            }
        }
    }

    async fn rest(&self, pause: &mut Duration) {
        self.sleep(*pause).await;
        *pause = PAUSES.1.min(*pause * 2);
    }

    async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.tasks.stopping() => {}
        }
    }
}

fn with_id(body: Value) -> Option<RawUpdate> {
    let id = body.get("update_id").and_then(Value::as_i64);
    if id.is_none() {
        tracing::error!("Telegram sent an update without an id; skipping it");
    }
    id.map(|id| RawUpdate { id: UpdateId(id), body })
}
