//! Receives updates by long polling. An update is acknowledged only after it is stored, by requesting the updates
//! after it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBackoff;
use serde_json::json;
use tokio::time::Instant;

use super::api::{Api, DeleteWebhook, GetWebhookInfo};
use super::batch::BatchUpdate;
use super::cursor::Cursor;
use super::error::ApiError;
use super::intake::{BatchIds, Intake};
use super::kinds;
use super::tries;
use figaro_agent::delivery::Owners;
use figaro_base::shutdown::TaskTracker;
use figaro_prompts::texts::Locales;

/// Number of refusals within [`CONFLICT_TIME`] after which owners are told: a process that ends may still ask once.
const CONFLICTS: usize = 5;
const CONFLICT_TIME: Duration = Duration::from_secs(600);
/// Pause between two messages to the owners.
const TOLD_EVERY: Duration = Duration::from_secs(6 * 3600);

/// Refusals because another program fetches the updates.
#[derive(Debug, Default)]
struct ConflictWatch {
    times: VecDeque<Instant>,
    told: Option<Instant>,
}

impl ConflictWatch {
    /// Counts a refusal. Returns `true` if owners are to be told.
    fn lasts(&mut self) -> bool {
        let now = Instant::now();
        self.times.push_back(now);
        while self.times.front().is_some_and(|first| now.duration_since(*first) > CONFLICT_TIME) {
            self.times.pop_front();
        }
        let is_due = self.told.is_none_or(|told| now.duration_since(told) > TOLD_EVERY);
        let lasts = self.times.len() >= CONFLICTS && is_due;
        if lasts {
            self.told = Some(now);
        }
        lasts
    }
}

/// Fetches updates and passes them to the intake.
#[derive(Debug)]
pub struct Poller {
    /// Client of the Bot API, to fetch updates.
    pub api: Api,
    /// Stores the updates and passes them on.
    pub intake: Intake,
    /// Owners, who hear of another program that fetches the updates.
    pub owners: Arc<dyn Owners>,
    /// Texts of that message, by language.
    pub locales: Arc<Locales>,
    /// Stop signal of the polling loop.
    pub background: TaskTracker,
}

impl Poller {
    /// Polls until a stop is requested.
    pub async fn run(self) {
        let mut cursor = Cursor::default();
        let (mut pauses, mut conflict) = (tries::pauses(), ConflictWatch::default());
        let kinds = kinds::asked();
        while !self.background.is_stopping() {
            let polled = tokio::select! {
                polled = self.api.updates(cursor.offset(), &kinds) => polled,
                () = self.background.stopping() => return,
            };
            match polled {
                Ok(updates) => match self.take(updates, &mut cursor).await {
                    true => pauses = tries::pauses(),
                    false => self.rest(&mut pauses).await,
                },
                Err(ApiError::RetryAfter(wait)) => self.sleep(wait).await,
                Err(ApiError::Conflict) => {
                    self.settle_conflict(&mut conflict).await;
                    self.rest(&mut pauses).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "updates could not be fetched; trying again");
                    self.rest(&mut pauses).await;
                }
            }
        }
    }

    /// Stores a batch and moves the cursor past it. Returns `false` if the next call may return the same batch.
    async fn take(&self, updates: Vec<BatchUpdate>, cursor: &mut Cursor) -> bool {
        match self.intake.take(updates).await {
            Some(BatchIds { highest, nameless }) => cursor.pass(highest, nameless),
            None => false,
        }
    }

    /// Tells the owners of a conflict that lasts, and ends a webhook, unless a stop is requested first.
    async fn settle_conflict(&self, conflict: &mut ConflictWatch) {
        if conflict.lasts() {
            self.owners.tell(self.locales.map(|texts| texts.fetched_elsewhere().to_owned())).await;
        }
        tokio::select! {
            () = self.end_webhook() => {}
            () = self.background.stopping() => {}
        }
    }

    /// Finds out who else gets the updates: Telegram gives none while a webhook is set, such as one of an earlier
    /// `WEBHOOK_URL`. Removes that.
    async fn end_webhook(&self) {
        let info = match self.api.call(GetWebhookInfo(json!({}))).await {
            Ok(info) => info,
            Err(error) => {
                tracing::warn!(%error, "updates could not be fetched, and it is not known who gets them; trying again");
                return;
            }
        };
        if info["url"].as_str().is_none_or(str::is_empty) {
            tracing::warn!(
                "another process is getting this bot's updates: stop it, or give it a token of its own"
            );
            return;
        }
        match self.api.call(DeleteWebhook(json!({}))).await {
            Ok(_) => tracing::warn!(
                "Telegram sent updates to a webhook; it is removed, since WEBHOOK_URL is empty"
            ),
            Err(error) => tracing::warn!(%error, "the webhook could not be removed; trying again"),
        }
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
