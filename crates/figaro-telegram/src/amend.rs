//! Makes parts of an answer of its live messages, or takes these back. The delivery uses it.
//!
//! Both calls may be made twice without harm, so unlike a message they are repeated until their outcome is known: after
//! a crash the same edit finds nothing left to change, which is a success.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide::requests::Payload;
use tokio_util::sync::CancellationToken;

use super::api::{DeleteMessage, EditMessageText};
use super::error::ApiError;
use super::send::{Outgoing, PREVIEW, Sender, Unsent, is_unchanged, keyboard, preview, simpler};
use super::tries::Tries;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::ChatId;
use figaro_domain::delivery::LiveMessage;
use figaro_markup::Formatted;

impl Sender {
    /// Changes a live message into this one. Gives whether it could: not where an administrator has deleted it, or where
    /// it is no text.
    ///
    /// # Errors
    /// [`Unsent::Stopping`] and [`Unsent::Stopped`]: it may show this or what it showed before.
    pub(crate) async fn amend(
        &self,
        live: LiveMessage,
        message: &Outgoing,
        stop: &CancellationToken,
    ) -> Result<bool, Unsent> {
        let mut body = edit_body(live, message);
        loop {
            let Err(words) =
                self.insist(live.chat, EditMessageText(Value::Object(body.clone())), stop).await?
            else {
                return Ok(true);
            };
            if is_unchanged(&words) {
                return Ok(true);
            }
            let left_out = simpler(&words, &mut body);
            tracing::warn!(chat = %live.chat, words, left_out, "Telegram refused to change a message");
            if left_out.is_none() {
                return Ok(false);
            }
        }
    }

    /// Deletes live messages of a turn, which stand in the order of their indices, from this index on, and forgets them. That Telegram refuses, mostly because one
    /// is gone, is the end of it too.
    ///
    /// # Errors
    /// [`Unsent::Stopping`] and [`Unsent::Stopped`]: some may still be there.
    pub(crate) async fn take_back(
        &self,
        live: &mut Vec<LiveMessage>,
        from: usize,
        stop: &CancellationToken,
    ) -> Result<(), Unsent> {
        let is_before = |live: &LiveMessage| usize::try_from(live.index).is_ok_and(|index| index < from);
        let from = live.partition_point(is_before);
        let Some(first) = live.get(from).copied() else { return Ok(()) };
        for gone in live.drain(from..) {
            // Should the process die in between, nobody takes it for one that is there.
            if gone.shown.is_some()
                && let Err(error) =
                    self.outbox.record_live(LiveMessage { shown: None, ..gone }, self.clock.now()).await
            {
                tracing::error!(%error, run = %gone.run, "that a message is deleted could not be recorded");
            }
            let body = json!({"chat_id": gone.chat, "message_id": gone.message});
            if let Err(words) = self.insist(gone.chat, DeleteMessage(body), stop).await? {
                tracing::info!(chat = %gone.chat, words, "Telegram refused to delete a message");
            }
        }
        if let Err(error) = self.outbox.forget_live(first.run, first.index).await {
            tracing::error!(%error, run = %first.run, "messages that were taken back could not be forgotten");
        }
        Ok(())
    }

    /// Makes a call again and again, at most for a day, until Telegram has done it or, in these words, refused it.
    async fn insist<P>(
        &self,
        chat: ChatId,
        payload: P,
        stop: &CancellationToken,
    ) -> Result<Result<(), String>, Unsent>
    where
        P: Payload<Output = Value> + Serialize + Clone,
    {
        let mut tries = Tries::unrecorded(self.clock.now());
        loop {
            self.unless_stopping(self.limiter.acquire(chat, Urgency::Answer), stop).await?;
            match self.api.call(payload.clone()).await {
                Ok(_) => return Ok(Ok(())),
                Err(ApiError::RetryAfter(wait)) if !tries.is_over() => self.limiter.pause(chat, wait),
                Err(error @ (ApiError::Refused(_) | ApiError::Migrated(_))) => {
                    return Ok(Err(error.to_string()));
                }
                Err(error) => {
                    let Some(pause) = tries.again() else { return Ok(Err(error.to_string())) };
                    tracing::warn!(%chat, %error, "a message could not be changed; trying again");
                    self.unless_stopping(tokio::time::sleep(pause), stop).await?;
                }
            }
        }
    }
}

/// The arguments of `editMessageText` that make this of a message.
pub(super) fn edit_body(live: LiveMessage, message: &Outgoing) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("chat_id".to_owned(), json!(live.chat));
    body.insert("message_id".to_owned(), json!(live.message));
    body.insert("text".to_owned(), json!(message.content.text));
    body.insert(PREVIEW.to_owned(), preview(message));
    if !message.content.entities.is_empty() {
        body.insert("entities".to_owned(), json!(message.content.entities));
    }
    if !message.buttons.is_empty() {
        body.insert("reply_markup".to_owned(), keyboard(&message.buttons));
    }
    body
}

impl Outgoing {
    /// What it is as a part that is sent before the answer is whole, which has neither buttons nor a preview.
    pub(super) fn as_part(&self) -> Self {
        Self { content: self.content.clone(), file: self.file.clone(), ..Self::default() }
    }

    /// A hash of what it shows. Equal ones show the same; another version of Figaro may have others.
    #[must_use]
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &self.file {
            Some(file) => (&file.name, &file.content).hash(&mut hasher),
            None => {
                let Formatted { text, entities } = &self.content;
                let shown = json!([text, entities, preview(self), keyboard(&self.buttons)]);
                shown.to_string().hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}
