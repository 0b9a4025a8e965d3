//! Carries answers to Telegram: Markdown to entities, split at the limit, each confirmed part recorded before the next.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::api::SetMessageReaction;
use super::live::Live;
use super::markup::{render, split};
use super::send::{Outgoing, Sender, Unsent};
use crate::delivery::Courier;
use crate::domain::chat::Place;
use crate::domain::delivery::PendingDelivery;
use crate::ids::MessageId;

/// The most UTF-16 units of a message.
const MESSAGE_UNITS: usize = 4096;
/// Shown on a message in a group that could not be answered; one of the reactions every chat has.
const SHRUG: &str = "🤷";

/// The way out for answers.
#[derive(Debug)]
pub struct TelegramCourier {
    /// Sends.
    pub sender: Sender,
    /// Draws what is in progress; it must be still before the answer is sent.
    pub live: Arc<Live>,
}

#[async_trait]
impl Courier for TelegramCourier {
    async fn deliver(&self, delivery: PendingDelivery) {
        self.live.settle(delivery.run).await;
        let parts = split(render(&delivery.markdown), MESSAGE_UNITS);
        for (at, content) in parts.into_iter().enumerate().skip(delivery.confirmed.len()) {
            let reply_to = delivery.reply_to.filter(|_| at == 0);
            let message = Outgoing { content, reply_to, buttons: Vec::new() };
            match self.sender.send(&delivery.place, &message).await {
                Ok(id) => self.confirm(&delivery, id).await,
                Err(Unsent::Stopping) => return,
                Err(Unsent::Hopeless(words)) => {
                    let chat = delivery.place.chat;
                    tracing::error!(run = %delivery.run, %chat, words, "Telegram will not take an answer; giving it up");
                    break;
                }
            }
        }
        if let Err(error) = self.sender.outbox.end_delivery(delivery.id).await {
            tracing::error!(%error, run = %delivery.run, "a finished delivery could not be recorded; it may be repeated");
        }
    }

    async fn decline(&self, place: &Place, message: MessageId) {
        if !place.is_group() {
            return;
        }
        let reaction = json!([{"type": "emoji", "emoji": SHRUG}]);
        let body = json!({"chat_id": place.chat, "message_id": message, "reaction": reaction});
        self.sender.gate.pass(place.chat).await;
        if let Err(error) = self.sender.api.call(SetMessageReaction(body)).await {
            tracing::warn!(chat = %place.chat, %error, "a reaction could not be set");
        }
    }
}

impl TelegramCourier {
    async fn confirm(&self, delivery: &PendingDelivery, message: MessageId) {
        if let Err(error) = self.sender.outbox.confirm_part(delivery.id, message).await {
            tracing::error!(%error, run = %delivery.run, "a sent part could not be recorded; it may be repeated");
        }
    }
}
