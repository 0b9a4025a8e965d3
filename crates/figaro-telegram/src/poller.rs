//! Gets updates by long polling. An update is acknowledged, by asking for those after it, only once it is stored.

use std::time::Duration;

use backon::ExponentialBackoff;

use super::api::Api;
use super::batch::Received;
use super::cursor::Cursor;
use super::error::ApiError;
use super::intake::{Intake, Taken};
use super::tries;
use figaro_base::shutdown::TaskTracker;

/// The kinds of update Figaro asks for; others it would only throw away.
pub(crate) const KINDS: [&str; 5] =
    ["message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation"];

/// Gets, stores and passes on updates.
#[derive(Debug)]
pub struct Poller {
    /// The client of the Bot API.
    pub api: Api,
    /// What takes updates in.
    pub intake: Intake,
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

    /// Takes a batch in and moves the cursor past it; `false` if the next call may bring the same.
    async fn take(&self, updates: Vec<Received>, cursor: &mut Cursor) -> bool {
        match self.intake.take(updates).await {
            Some(Taken { highest, nameless }) => cursor.pass(highest, nameless),
            None => false,
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
