//! Sends one message: within the rate limits, again when Telegram asks to wait, simpler when it refuses a part of it.
//! The delivery and the commands use it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide::requests::Payload;
use tokio_util::sync::CancellationToken;

use super::api::{
    Api, DeleteMessage, EditMessageReplyMarkup, EditMessageText, SendMessage, SetMessageReaction,
};
pub use super::button::Button;
pub(crate) use super::button::Press;
pub(super) use super::button::keyboard;
use super::error::ApiError;
use super::tries::Tries;
use figaro_agent::outbound::{RateLimiter, Urgency};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, DeliveryId, MessageId};
use figaro_base::shutdown::TaskTracker;
use figaro_domain::chat::Place;
use figaro_domain::delivery::Author;
use figaro_markup::{File, Formatted};
use figaro_store::{OutboxStore, SettingsStore};

/// Shown on a message in a group that is not answered; one of the reactions every chat has.
const SHRUG: &str = "🤷";
/// Says of which address in a text a preview is shown.
pub(super) const PREVIEW: &str = "link_preview_options";

/// Sends messages as the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The client of the Bot API.
    pub api: Api,
    /// The rate limiter that every call waits at.
    pub limiter: Arc<RateLimiter>,
    /// Where the bot's own messages are recorded.
    pub outbox: OutboxStore,
    /// Where a chat's new id is recorded.
    pub settings: SettingsStore,
    /// Gives the current time: messages and attempts are dated by it.
    pub clock: Clock,
    /// What the bot runs in the background: retries end when this is asked to stop.
    pub background: TaskTracker,
}

/// A message to be sent: text or a document, with its buttons.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    /// Text and entities; of a document what can be sent in its place, if anything.
    pub(crate) content: Formatted,
    /// The address that is shown with a preview of its page, if it stands in the text. Of no other one is a page loaded.
    pub(crate) preview: Option<String>,
    /// The message that it replies to, in the same chat. It is sent without if that is gone.
    pub(crate) reply_to: Option<MessageId>,
    /// Rows of buttons under the message, from the top.
    pub(crate) buttons: Vec<Vec<Button>>,
    /// It asks for a reply: this stands in the field in which one is written.
    pub(crate) asks: Option<String>,
    /// A document, sent in place of the text.
    pub(crate) file: Option<File>,
    /// A picture as PNG, whose caption the text is.
    pub(crate) picture: Option<Vec<u8>>,
    /// Whether it waits behind other messages.
    pub(crate) urgency: Urgency,
    /// Whether the words are the model's or Figaro's own; recorded with the message.
    pub(crate) author: Author,
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// Telegram refuses it for good; holds Telegram's description. Another try is of no use.
    Hopeless(String),
    /// The outcome is unknown and all repeats are used up; holds the last error.
    Unclear(String),
    /// The bot is stopping. The message may be sent at the next start.
    Stopping,
    /// A person stopped the answer. It is not sent any more.
    Stopped,
}

/// What became of a change of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    /// The message shows what it was to show.
    Done,
    /// It will never show it: it is gone, or Telegram does not let the bot change it any more.
    Gone,
    /// It may not show it; another try may help.
    Failed,
}

impl Sender {
    /// Sends a message that is nowhere recorded, as [`Self::deliver`] does.
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

    /// Sends a message until Telegram has confirmed or finally refused it, and records it as the bot's own.
    ///
    /// What was certainly not sent is tried again for a day. A call whose outcome is unknown is repeated as often as
    /// `tries` has it; with a delivery, each repeat is first counted there, so that restarts add none.
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
        let mut body = body(place, message);
        let mut chat = place.chat;
        loop {
            self.unless_stopping(self.limiter.acquire(chat, message.urgency), stop).await?;
            // A stop does not tear it off: it may have its effect, and the next start would repeat it.
            let sent = match &message.picture {
                Some(png) => self.api.send_photo(png.clone(), &body).await,
                None => self.call(message.file.as_ref(), &body).await,
            };
            let error = match sent {
                Ok(sent) => return self.record(chat, &sent, message.author).await,
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

    /// Telegram's own message about it may have come while the bot was away for long, and be lost.
    async fn moved(&self, chat: ChatId, new: ChatId) {
        tracing::info!(%chat, %new, "a group has become a supergroup");
        if let Err(error) = self.settings.migrate_chat(chat, new).await {
            tracing::error!(%error, %chat, %new, "what belongs to a group could not be moved to its new id");
        }
    }

    /// Sends a message or, with these arguments, a document, once.
    pub(super) async fn call(
        &self,
        file: Option<&File>,
        body: &Map<String, Value>,
    ) -> Result<Value, ApiError> {
        match file {
            Some(file) => self.api.send_document(file.name.clone(), file.content.clone(), body).await,
            None => self.api.call(SendMessage(Value::Object(body.clone()))).await,
        }
    }

    /// Changes the text and the buttons of a message of the bot's; a failure is logged, there is nothing else to be done
    /// about it.
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
            // It stays behind in the old group.
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

    /// Deletes a message of the bot's; a failure is only logged.
    pub(crate) async fn delete(&self, chat: ChatId, message: MessageId) {
        let body = json!({"chat_id": chat, "message_id": message});
        if let Err(unsent) = self.once(chat, DeleteMessage(body), Urgency::Notice).await {
            tracing::debug!(%chat, ?unsent, "a message could not be deleted");
        }
    }

    /// Takes the buttons off a message of the bot's; a failure is only logged, a press that still comes is told that it is
    /// late.
    pub(crate) async fn without_buttons(&self, place: &Place, message: MessageId, urgency: Urgency) {
        self.set_buttons(place, message, &keyboard(&[]), urgency).await;
    }

    /// Gives a message of the bot's this keyboard, as Telegram takes it; a failure is only logged.
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

    /// Makes a call that may be left undone: one wait is waited out, any other failure is final.
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

    /// The same, with the error as it is; `None` if the bot stops before the call is made.
    async fn call_once<P>(
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

    /// Shows on a message in a group that it is not answered, without words. A failure to do so is only logged.
    pub(crate) async fn shrug(&self, place: &Place, message: MessageId) {
        let reaction = json!([{"type": "emoji", "emoji": SHRUG}]);
        let body = json!({"chat_id": place.chat, "message_id": message, "reaction": reaction});
        if let Err(unsent) = self.once(place.chat, SetMessageReaction(body), Urgency::Notice).await {
            tracing::warn!(chat = %place.chat, ?unsent, "that a message was not answered could not be shown");
        }
    }

    async fn record(&self, chat: ChatId, sent: &Value, author: Author) -> Result<MessageId, Unsent> {
        let id = sent_id(sent);
        if let Err(error) = self.outbox.record_own(chat, id, author, self.clock.now()).await {
            tracing::warn!(%error, %chat, "a sent message could not be recorded as the bot's own");
        }
        Ok(id)
    }

    /// Waits for something unless the bot stops or a person does; what needs no waiting is done all the same.
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

/// The JSON arguments of `sendMessage` for this message in this chat and topic.
pub(super) fn body(place: &Place, message: &Outgoing) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("chat_id".to_owned(), json!(place.chat));
    if message.picture.is_some() {
        body.insert("caption".to_owned(), json!(message.content.text));
    } else if message.file.is_none() {
        body.insert("text".to_owned(), json!(message.content.text));
        body.insert(PREVIEW.to_owned(), preview(message));
        if !message.content.entities.is_empty() {
            body.insert("entities".to_owned(), json!(message.content.entities));
        }
    }
    if let Some(topic) = place.topic {
        body.insert("message_thread_id".to_owned(), json!(topic));
    }
    if let Some(id) = message.reply_to {
        let reply = json!({"message_id": id, "allow_sending_without_reply": true});
        body.insert("reply_parameters".to_owned(), reply);
    }
    if !message.buttons.is_empty() {
        body.insert("reply_markup".to_owned(), keyboard(&message.buttons));
    } else if let Some(hint) = &message.asks {
        let asks = json!({"force_reply": true, "input_field_placeholder": hint, "selective": true});
        body.insert("reply_markup".to_owned(), asks);
    }
    body
}

/// What Telegram may load for a text: without this the page of whatever address comes first, which a model turned against
/// its owner could use to send words away.
pub(super) fn preview(message: &Outgoing) -> Value {
    let shown = message.preview.as_ref().filter(|address| message.content.shows(address));
    shown.map_or_else(no_preview, |address| json!({"url": address}))
}

fn no_preview() -> Value {
    json!({"is_disabled": true})
}

/// The id of the message that a call has sent.
pub(super) fn sent_id(sent: &Value) -> MessageId {
    MessageId(sent.get("message_id").and_then(Value::as_i64).unwrap_or_default())
}

/// Leaves out the part that Telegram's words complain about; `None` when there is nothing to leave out.
pub(super) fn simpler(words: &str, body: &mut Map<String, Value>) -> Option<&'static str> {
    let words = words.to_lowercase();
    if words.contains("webpage") && body.get(PREVIEW).is_some_and(|options| *options != no_preview()) {
        body.insert(PREVIEW.to_owned(), no_preview());
        return Some(PREVIEW);
    }
    let part = if words.contains("entit") {
        "entities"
    } else if words.contains("thread not found") {
        "message_thread_id"
    } else if words.contains("reply") || words.contains("replied") {
        "reply_parameters"
    } else {
        return None;
    };
    body.remove(part).map(|_| part)
}

/// Whether these words of Telegram say that a message already is what an edit would make of it.
pub(super) fn is_unchanged(words: &str) -> bool {
    words.contains("not modified")
}
