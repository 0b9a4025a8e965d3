//! Sends one message: within the rate limits, with retries when Telegram asks to wait, simplified when it refuses a
//! part. Used by the delivery and the commands.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide::requests::Payload;
use tokio_util::sync::CancellationToken;

use super::api::{
    Api, DeleteMessage, EditMessageReplyMarkup, EditMessageText, SendDocument, SendMessage, SendRichMessage,
    SetMessageReaction,
};
pub use super::button::Button;
pub(crate) use super::button::PressEffect;
pub(super) use super::button::keyboard;
use super::error::ApiError;
pub(crate) use super::outgoing::Outgoing;
use super::outgoing::{PREVIEW, body, is_unchanged, no_preview, sent_id, simpler};
use super::tries::Tries;
use figaro_agent::outbound::{RateLimiter, Urgency};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, DeliveryId, MessageId};
use figaro_base::shutdown::TaskTracker;
use figaro_domain::chat::Place;
use figaro_domain::delivery::Author;
use figaro_store::{OutboxStore, SettingsStore};

/// Reaction to a message in a group that is not answered; available in every chat.
const SHRUG: &str = "🤷";

/// Sends messages as the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender {
    /// Client of the Bot API, which makes the calls.
    pub api: Api,
    /// Rate limiter that every call waits for.
    pub limiter: Arc<RateLimiter>,
    /// Store that records the bot's own messages.
    pub outbox: OutboxStore,
    /// Store that records a chat's new id.
    pub settings: SettingsStore,
    /// Source of the current time, which dates messages and attempts.
    pub clock: Clock,
    /// Background work and its stop signal, which ends retries.
    pub background: TaskTracker,
}

/// Reason why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// Telegram refuses the message for good; holds its description. A retry is of no use.
    Hopeless(String),
    /// The outcome is unknown and all repeats are used up; holds the last error.
    Unclear(String),
    /// The bot is stopping. The message may be sent at the next start.
    Stopping,
    /// A person stopped the answer, which is no longer sent.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    /// The message shows the new content.
    Done,
    /// The message is gone, or the bot can no longer edit it.
    Gone,
    /// The edit may have failed; a retry may help.
    Failed,
}

impl Sender {
    /// Sends a message without a delivery, like [`Self::deliver`].
    ///
    /// # Errors
    /// See [`Unsent`].
    pub(crate) async fn send(
        &self,
        place: &Place,
        message: &Outgoing,
        stop: &CancellationToken,
    ) -> Result<MessageId, Unsent> {
        self.deliver(place, message, &mut Tries::unrecorded(self.clock.now()), stop).await
    }

    /// Like [`Self::send`], but a message that may have been sent is not repeated. Returns it as Telegram describes it.
    ///
    /// # Errors
    /// See [`Unsent`].
    pub(crate) async fn send_for_view(&self, place: &Place, message: &Outgoing) -> Result<Value, Unsent> {
        let (mut tries, never) = (Tries::unrepeated(self.clock.now()), CancellationToken::new());
        self.try_delivering(place, message, &mut tries, &never).await
    }

    /// Sends a message until Telegram confirms or finally refuses it, and records it as the bot's own.
    ///
    /// A message that was certainly not sent is retried for a day. A call with an unknown outcome is repeated as
    /// often as `tries` allows. For a delivery, each repeat is counted in the store first, so that restarts add none.
    ///
    /// # Errors
    /// See [`Unsent`].
    pub(crate) async fn deliver(
        &self,
        place: &Place,
        message: &Outgoing,
        tries: &mut Tries,
        stop: &CancellationToken,
    ) -> Result<MessageId, Unsent> {
        Ok(sent_id(&self.try_delivering(place, message, tries, stop).await?))
    }

    async fn try_delivering(
        &self,
        place: &Place,
        message: &Outgoing,
        tries: &mut Tries,
        stop: &CancellationToken,
    ) -> Result<Value, Unsent> {
        let mut body = body(place, message);
        let mut chat = place.chat;
        loop {
            self.unless_stopping(self.limiter.acquire(chat, message.urgency), stop).await?;
            // A stop does not cancel the call: it may take effect, and the next start would repeat it.
            let sent = match &message.media {
                Some(media) => self.api.send_media(media.clone(), &body).await,
                None => self.call(message, &body).await,
            };
            let error = match sent {
                Ok(sent) => {
                    self.record(chat, &sent, message.author);
                    return Ok(sent);
                }
                Err(error) => error,
            };
            let pause = match &error {
                ApiError::RetryAfter(wait) => {
                    self.limiter.pause(chat, *wait);
                    tries.again().map(|_pause| Duration::ZERO)
                }
                ApiError::Migrated(new) => {
                    self.moved(chat, *new).await;
                    chat = *new;
                    body.insert("chat_id".to_owned(), json!(new));
                    continue;
                }
                ApiError::Refused(words) => match simpler(words, &mut body) {
                    Some(left_out) => {
                        tracing::warn!(%chat, words, left_out, "Telegram refused a message; simplified");
                        continue;
                    }
                    None => return Err(Unsent::Hopeless(words.clone())),
                },
                ApiError::Unclear(words) => {
                    let Some(pause) = tries.repeat() else { return Err(Unsent::Unclear(words.clone())) };
                    self.count_repeat(tries.delivery).await;
                    Some(pause)
                }
                ApiError::Unauthorized | ApiError::Conflict | ApiError::Unreachable(_) => tries.again(),
            };
            let Some(pause) = pause else {
                return Err(Unsent::Hopeless(format!("{error}; it has been tried for a day")));
            };
            tracing::warn!(%chat, %error, "a message could not be sent; trying again");
            self.unless_stopping(tokio::time::sleep(pause), stop).await?;
        }
    }

    async fn count_repeat(&self, delivery: Option<DeliveryId>) {
        let Some(delivery) = delivery else { return };
        if let Err(error) = self.outbox.count_repeat(delivery).await {
            tracing::error!(%error, %delivery, "a repeat could not be counted; a restart may add one");
        }
    }

    /// Records a chat's new id. Telegram's update about it may be lost if the bot was off for long.
    async fn moved(&self, chat: ChatId, new: ChatId) {
        tracing::info!(%chat, %new, "a group has become a supergroup");
        if let Err(error) = self.settings.migrate_chat(chat, new).await {
            tracing::error!(%error, %chat, %new, "what belongs to a group could not be moved to its new id");
        }
    }

    /// Sends a text, a rich message or a document with these arguments, once.
    pub(super) async fn call(
        &self,
        message: &Outgoing,
        body: &Map<String, Value>,
    ) -> Result<Value, ApiError> {
        match &message.file {
            Some(file) => self.api.send_document(file.name.clone(), file.content.clone(), body).await,
            None if message.rich.is_some() => {
                self.api.call(SendRichMessage(Value::Object(body.clone()))).await
            }
            None => self.api.call(SendMessage(Value::Object(body.clone()))).await,
        }
    }

    /// Sends a file that Telegram has already, by its file id. Returns `false` if it was not sent.
    pub(crate) async fn send_again(&self, place: &Place, file_id: &str) -> bool {
        let body = json!({"chat_id": place.chat, "message_thread_id": place.topic, "document": file_id});
        match self.once(place.chat, SendDocument(body), Urgency::Answer).await {
            Ok(sent) => {
                self.record(place.chat, &sent, Author::Figaro);
                true
            }
            Err(unsent) => {
                tracing::warn!(chat = %place.chat, ?unsent, "a file could not be sent again");
                false
            }
        }
    }

    /// Edits the text and the buttons of a message of the bot. A failure is logged.
    pub(crate) async fn edit(&self, chat: ChatId, message: MessageId, now: &Outgoing) -> Edited {
        let mut body = json!({"chat_id": chat, "message_id": message, "text": now.content.text});
        body["entities"] = json!(now.content.entities);
        body[PREVIEW] = no_preview();
        body["reply_markup"] = keyboard(&now.buttons);
        let error = match self.call_once(chat, EditMessageText(body), now.urgency).await {
            Ok(_) => return Edited::Done,
            Err(Some(ApiError::Refused(words))) if is_unchanged(&words) => return Edited::Done,
            Err(None) => return Edited::Failed,
            Err(Some(error)) => error,
        };
        tracing::warn!(%chat, %error, "a message could not be changed");
        match error {
            ApiError::Refused(_) => Edited::Gone,
            // The message stays behind in the old group.
            ApiError::Migrated(new) => {
                self.moved(chat, new).await;
                Edited::Gone
            }
            ApiError::Unauthorized
            | ApiError::Conflict
            | ApiError::RetryAfter(_)
            | ApiError::Unreachable(_)
            | ApiError::Unclear(_) => Edited::Failed,
        }
    }

    /// Deletes a message of the bot. A failure is only logged.
    pub(crate) async fn delete(&self, chat: ChatId, message: MessageId) {
        let body = json!({"chat_id": chat, "message_id": message});
        if let Err(unsent) = self.once(chat, DeleteMessage(body), Urgency::Notice).await {
            tracing::debug!(%chat, ?unsent, "a message could not be deleted");
        }
    }

    /// Removes the buttons of a message of the bot. A failure is only logged; later presses are answered as too late.
    pub(crate) async fn without_buttons(&self, place: &Place, message: MessageId, urgency: Urgency) {
        self.set_buttons(place, message, &keyboard(&[]), urgency).await;
    }

    /// Sets the keyboard of a message of the bot, in Telegram's JSON. A failure is only logged.
    pub(crate) async fn set_buttons(
        &self,
        place: &Place,
        message: MessageId,
        keyboard: &Value,
        urgency: Urgency,
    ) {
        let body = json!({"chat_id": place.chat, "message_id": message, "reply_markup": keyboard});
        if let Err(unsent) = self.once(place.chat, EditMessageReplyMarkup(body), urgency).await {
            tracing::debug!(chat = %place.chat, ?unsent, "the buttons of a message could not be changed");
        }
    }

    /// Makes an optional call: retries once if Telegram asks to wait; any other failure is final.
    ///
    /// # Errors
    /// See [`Unsent`].
    pub(crate) async fn once<P>(&self, chat: ChatId, payload: P, urgency: Urgency) -> Result<Value, Unsent>
    where
        P: Payload<Output = Value> + Serialize + Clone,
    {
        let called = self.call_once(chat, payload, urgency).await;
        called.map_err(|error| error.map_or(Unsent::Stopping, |error| Unsent::Hopeless(error.to_string())))
    }

    /// Like [`Self::once`], with the original error; `None` if the bot stops before the call.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub(crate) async fn call_once<P>(
        &self,
        chat: ChatId,
        payload: P,
        urgency: Urgency,
    ) -> Result<Value, Option<ApiError>>
    where
        P: Payload<Output = Value> + Serialize + Clone,
    {
        let never = CancellationToken::new();
        let room = async || self.unless_stopping(self.limiter.acquire(chat, urgency), &never).await;
        room().await.map_err(|_stopping| None)?;
        let asked_to_wait = match self.api.call(payload.clone()).await {
            Err(ApiError::RetryAfter(wait)) => wait,
            done => return done.map_err(Some),
        };
        self.limiter.pause(chat, asked_to_wait);
        room().await.map_err(|_stopping| None)?;
        self.api.call(payload).await.map_err(Some)
    }

    /// Marks a message in a group as not answered, with a reaction. A failure is only logged.
    pub(crate) async fn shrug(&self, place: &Place, message: MessageId) {
        self.react(place, message, Some(SHRUG)).await;
    }

    /// Sets the bot's only reaction to a message, or removes it. Returns `false` if that failed; a failure is only
    /// logged.
    pub(crate) async fn react(&self, place: &Place, message: MessageId, emoji: Option<&str>) -> bool {
        let reaction: Vec<Value> =
            emoji.map(|emoji| json!({"type": "emoji", "emoji": emoji})).into_iter().collect();
        let body = json!({"chat_id": place.chat, "message_id": message, "reaction": reaction});
        let set = self.once(place.chat, SetMessageReaction(body), Urgency::Notice).await;
        set.inspect_err(|unsent| tracing::warn!(chat = %place.chat, ?unsent, "a reaction could not be set"))
            .is_ok()
    }

    fn record(&self, chat: ChatId, sent: &Value, author: Author) {
        if let Err(error) = self.outbox.record_own(chat, sent_id(sent), author, self.clock.now()) {
            tracing::warn!(%error, %chat, "a sent message could not be recorded as the bot's own");
        }
    }

    /// Waits for `doing` unless the bot or a person stops it. A future that is already ready still completes.
    pub(super) async fn unless_stopping<T>(
        &self,
        doing: impl Future<Output = T>,
        stop: &CancellationToken,
    ) -> Result<T, Unsent> {
        tokio::select! {
            biased;
            done = doing => Ok(done),
            () = self.background.stopping() => Err(Unsent::Stopping),
            () = stop.cancelled() => Err(Unsent::Stopped),
        }
    }
}
