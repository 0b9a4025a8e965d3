//! Turns the live messages of an answer into its parts, or deletes them. Used by the delivery.
//!
//! Both calls are safe to repeat, so unlike a send they are retried until the outcome is known: after a crash, the
//! same edit finds nothing left to change, which counts as success.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide::requests::Payload;
use tokio_util::sync::CancellationToken;

use super::api::{DeleteMessage, EditMessageText};
use super::error::ApiError;
use super::outgoing::{PREVIEW, RICH, is_unchanged, preview, simpler};
use super::send::{Outgoing, Sender, Unsent, keyboard};
use super::tries::Tries;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::ChatId;
use figaro_domain::delivery::LiveMessage;
use figaro_markup::Formatted;

impl Sender {
    /// Edits a live message to show `message`. Returns `false` if Telegram refuses, for example because an
    /// administrator deleted the live message or it is not a text message. A rich message that is refused is shown as
    /// text, if it fits one message.
    ///
    /// # Errors
    /// [`Unsent::Stopping`] and [`Unsent::Stopped`]: the live message may show the old or the new content.
    pub(crate) async fn amend(
        &self,
        live: LiveMessage,
        message: &Outgoing,
        stop: &CancellationToken,
    ) -> Result<bool, Unsent> {
        if self.change(live, message, stop).await? {
            return Ok(true);
        }
        match message.rich.as_ref().map(|rich| rich.instead.as_slice()) {
            Some([text]) => {
                let text = Outgoing { content: text.clone(), rich: None, ..message.clone() };
                self.change(live, &text, stop).await
            }
            Some(_) | None => Ok(false),
        }
    }

    async fn change(
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

    /// Deletes the turn's live messages from index `from` on, and forgets them. `live` is sorted by index. A refusal
    /// by Telegram, mostly because a message is already gone, counts as deleted.
    ///
    /// # Errors
    /// [`Unsent::Stopping`] and [`Unsent::Stopped`]: some of the messages may remain.
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
            // Recorded before the deletion: after a crash the message must not count as visible.
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

    /// Repeats a call for at most a day, until Telegram accepts or refuses it. The inner error is the text of the
    /// refusal or of the last failure.
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

/// Returns the arguments of `editMessageText` that make `live` show `message`.
pub(super) fn edit_body(live: LiveMessage, message: &Outgoing) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("chat_id".to_owned(), json!(live.chat));
    body.insert("message_id".to_owned(), json!(live.message));
    if let Some(rich) = &message.rich {
        body.insert(RICH.to_owned(), json!(rich.message));
    } else {
        body.insert("text".to_owned(), json!(message.content.text));
        body.insert(PREVIEW.to_owned(), preview(message));
        if !message.content.entities.is_empty() {
            body.insert("entities".to_owned(), json!(message.content.entities));
        }
    }
    if !message.buttons.is_empty() {
        body.insert("reply_markup".to_owned(), keyboard(&message.buttons));
    }
    body
}

impl Outgoing {
    /// Returns a copy to send as a part before the answer is complete: without buttons and link preview.
    pub(super) fn as_part(&self) -> Self {
        Self { content: self.content.clone(), file: self.file.clone(), ..Self::default() }
    }

    /// Returns a hash of the visible content. Messages with equal hashes show the same. Other versions of Figaro may
    /// compute other hashes.
    #[must_use]
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match (&self.file, &self.rich) {
            (Some(file), _) => (&file.name, &file.content).hash(&mut hasher),
            (None, Some(rich)) => {
                json!([rich.message, keyboard(&self.buttons)]).to_string().hash(&mut hasher);
            }
            (None, None) => {
                let Formatted { text, entities } = &self.content;
                let shown = json!([text, entities, preview(self), keyboard(&self.buttons)]);
                shown.to_string().hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}
