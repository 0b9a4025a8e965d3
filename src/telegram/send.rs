//! Sends one message: through the gate, again when Telegram asks to wait, simpler when it refuses a part of it.
//! The courier and the commands use it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::api::{Api, ApiError, EditMessageText, SendMessage};
use super::markup::Formatted;
use crate::clock::Clock;
use crate::domain::chat::Place;
use crate::ids::{ChatId, MessageId};
use crate::outbound::Gate;
use crate::shutdown::Tasks;
use crate::store::OutboxStore;

/// The pause before another try doubles from the first to the second of these.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// Sends messages as the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The Bot API.
    pub api: Api,
    /// The pace.
    pub gate: Arc<Gate>,
    /// Where the bot's own messages are recorded.
    pub outbox: Arc<dyn OutboxStore>,
    /// The time.
    pub clock: Clock,
    /// Trying again ends when these stop.
    pub tasks: Tasks,
}

/// A message to be sent.
#[derive(Debug, Clone, Default)]
pub struct Outgoing {
    /// Text and entities.
    pub content: Formatted,
    /// The message it answers.
    pub reply_to: Option<MessageId>,
    /// Rows of buttons.
    pub buttons: Vec<Vec<Button>>,
}

/// A button of an inline keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What it shows.
    pub text: String,
    /// What comes back when it is pressed; 64 bytes at most.
    pub data: String,
}

impl Button {
    /// A button with this text and data.
    #[must_use]
    pub fn new(text: impl Into<String>, data: impl Into<String>) -> Self {
        Self { text: text.into(), data: data.into() }
    }
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsent {
    /// Telegram will never take it; its words.
    Hopeless(String),
    /// The bot stops.
    Stopping,
}

impl Sender {
    /// Sends a message until Telegram has confirmed or finally refused it, and records it as the bot's own.
    ///
    /// An answer that was lost on its way is asked for again, so at worst the message stands twice.
    ///
    /// # Errors
    /// See [`Unsent`].
    pub async fn send(&self, place: &Place, message: &Outgoing) -> Result<MessageId, Unsent> {
        let mut body = body(place, message);
        let mut chat = place.chat;
        let mut pause = PAUSES.0;
        loop {
            self.unless_stopping(self.gate.pass(chat)).await?;
            let error =
                match self.unless_stopping(self.api.call(SendMessage(Value::Object(body.clone())))).await? {
                    Ok(sent) => return self.record(chat, &sent).await,
                    Err(error) => error,
                };
            match error {
                ApiError::RetryAfter(wait) => self.gate.close(chat, wait),
                ApiError::Migrated(new) => {
                    tracing::info!(%chat, %new, "a group has become a supergroup");
                    chat = new;
                    body.insert("chat_id".to_owned(), json!(new));
                }
                ApiError::Refused(words) => match simpler(&words, &mut body) {
                    Some(left_out) => {
                        tracing::warn!(%chat, words, left_out, "Telegram refused a message; simplified")
                    }
                    None => return Err(Unsent::Hopeless(words)),
                },
                ApiError::Unauthorized
                | ApiError::Conflict
                | ApiError::Unreachable(_)
                | ApiError::Unclear(_) => {
                    tracing::warn!(%chat, %error, "a message could not be sent; trying again");
                    self.unless_stopping(tokio::time::sleep(pause)).await?;
                    pause = PAUSES.1.min(pause * 2);
                }
            }
        }
    }

    /// Changes a message of the bot's; a failure is logged, there is nothing else to be done about it.
    pub async fn edit(
        &self,
        place: &Place,
        message: MessageId,
        content: &Formatted,
        buttons: &[Vec<Button>],
    ) {
        let mut body = json!({"chat_id": place.chat, "message_id": message, "text": content.text});
        body["entities"] = json!(content.entities);
        body["reply_markup"] = keyboard(buttons);
        self.gate.pass(place.chat).await;
        match self.api.call(EditMessageText(body)).await {
            Ok(_) => {}
            Err(ApiError::Refused(words)) if words.contains("not modified") => {}
            Err(error) => tracing::warn!(chat = %place.chat, %error, "a message could not be changed"),
        }
    }

    async fn record(&self, chat: ChatId, sent: &Value) -> Result<MessageId, Unsent> {
        let id = MessageId(sent.get("message_id").and_then(Value::as_i64).unwrap_or_default());
        if let Err(error) = self.outbox.record_own(chat, id, self.clock.now()).await {
            tracing::error!(%error, %chat, "a sent message could not be recorded as the bot's own");
        }
        Ok(id)
    }

    async fn unless_stopping<T>(&self, doing: impl Future<Output = T>) -> Result<T, Unsent> {
        tokio::select! {
            done = doing => Ok(done),
            () = self.tasks.stopping() => Err(Unsent::Stopping),
        }
    }
}

fn body(place: &Place, message: &Outgoing) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("chat_id".to_owned(), json!(place.chat));
    body.insert("text".to_owned(), json!(message.content.text));
    if let Some(topic) = place.topic {
        body.insert("message_thread_id".to_owned(), json!(topic));
    }
    if !message.content.entities.is_empty() {
        body.insert("entities".to_owned(), json!(message.content.entities));
    }
    if let Some(id) = message.reply_to {
        let reply = json!({"message_id": id, "allow_sending_without_reply": true});
        body.insert("reply_parameters".to_owned(), reply);
    }
    if !message.buttons.is_empty() {
        body.insert("reply_markup".to_owned(), keyboard(&message.buttons));
    }
    body
}

/// Leaves out the part that Telegram's words complain about; `None` when there is nothing to leave out.
fn simpler(words: &str, body: &mut Map<String, Value>) -> Option<&'static str> {
    let words = words.to_lowercase();
    let part = if words.contains("entit") {
        "entities"
    } else if words.contains("thread not found") || words.contains("topic") {
        "message_thread_id"
    } else if words.contains("reply") || words.contains("replied") {
        "reply_parameters"
    } else {
        return None;
    };
    body.remove(part).map(|_| part)
}

fn keyboard(buttons: &[Vec<Button>]) -> Value {
    let rows: Vec<Vec<Value>> = buttons
        .iter()
        .map(|row| row.iter().map(|b| json!({"text": b.text, "callback_data": b.data})).collect())
        .collect();
    json!({"inline_keyboard": rows})
}
