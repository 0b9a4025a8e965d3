//! Makes the first part of an answer of the message it grew in, or takes that message back. The courier uses it.
//!
//! Both calls may be made twice without harm, so unlike a message they are repeated until their outcome is known: after
//! a crash the same edit finds nothing left to change, which is a success.

use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide::requests::Payload;
use tokio_util::sync::CancellationToken;

use super::api::{DeleteMessage, EditMessageText};
use super::error::ApiError;
use super::send::{Outgoing, PREVIEW, Sender, Unsent, keyboard, preview, simpler};
use super::tries::Tries;
use crate::domain::chat::Place;
use crate::domain::delivery::LiveMessage;
use crate::ids::{ChatId, MessageId};
use crate::outbound::Urgency;

impl Sender {
    /// Changes the message an answer grew in into this one. Where that cannot be, as when an administrator has deleted
    /// it, it is taken away and a new message is sent.
    ///
    /// # Errors
    /// See [`Unsent`].
    pub async fn amend(
        &self,
        (live, place): (LiveMessage, &Place),
        message: &Outgoing,
        tries: &mut Tries,
        stop: &CancellationToken,
    ) -> Result<MessageId, Unsent> {
        let mut body = edit_body(live, message);
        loop {
            let Err(words) =
                self.insist(live.chat, EditMessageText(Value::Object(body.clone())), stop).await?
            else {
                return Ok(live.message);
            };
            if is_unchanged(&words) {
                return Ok(live.message);
            }
            let left_out = simpler(&words, &mut body);
            tracing::warn!(chat = %live.chat, words, left_out, "Telegram refused to change a message");
            if left_out.is_none() {
                break;
            }
        }
        self.take_back(live, stop).await?;
        self.deliver(place, message, tries, stop).await
    }

    /// Deletes the message an answer grew in. That Telegram refuses, mostly because it is gone, is the end of it too.
    ///
    /// # Errors
    /// [`Unsent::Stopping`] and [`Unsent::Stopped`]: it may still be there.
    pub async fn take_back(&self, live: LiveMessage, stop: &CancellationToken) -> Result<(), Unsent> {
        let body = json!({"chat_id": live.chat, "message_id": live.message});
        if let Err(words) = self.insist(live.chat, DeleteMessage(body), stop).await? {
            tracing::info!(chat = %live.chat, words, "Telegram refused to delete a message");
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
            self.unless_stopping(self.gate.pass(chat, Urgency::Answer), stop).await?;
            match self.api.call(payload.clone()).await {
                Ok(_) => return Ok(Ok(())),
                Err(ApiError::RetryAfter(wait)) if !tries.is_over() => self.gate.close(chat, wait),
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

/// Whether these words of Telegram say that a message already is what an edit would make of it.
pub(super) fn is_unchanged(words: &str) -> bool {
    words.contains("not modified")
}
