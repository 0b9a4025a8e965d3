//! Receives updates by long polling. An update is acknowledged only after it is stored, by requesting the updates
//! after it.

use std::time::Duration;

use backon::ExponentialBackoff;
use serde_json::json;

use super::api::{Api, DeleteWebhook, GetWebhookInfo};
use super::batch::BatchUpdate;
use super::cursor::Cursor;
use super::error::ApiError;
use super::intake::{BatchIds, Intake};
use super::kinds;
use super::tries;
use figaro_base::shutdown::TaskTracker;

/// Fetches updates and passes them to the intake.
#[derive(Debug)]
pub struct Poller {
    /// Client of the Bot API, to fetch updates.
    pub api: Api,
    /// Stores the updates and passes them on.
    pub intake: Intake,
    /// Stop signal of the polling loop.
    pub background: TaskTracker,
}

impl Poller {
    /// Polls until a stop is requested.
    pub async fn run(self) {
        let mut cursor = Cursor::default();
        let mut pauses = tries::pauses();
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
                    self.settle_conflict().await;
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

    /// Ends a webhook, unless a stop is requested first.
    async fn settle_conflict(&self) {
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
