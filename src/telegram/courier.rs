//! Carries answers to Telegram: Markdown to entities, split at the limit, each confirmed part recorded before the next.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::api::SetMessageReaction;
use super::commands::action_buttons;
use super::live::{Live, MESSAGE_UNITS};
use super::markup::{Formatted, render, split};
use super::send::{Outgoing, Sender, Unsent};
use crate::delivery::Courier;
use crate::domain::chat::Place;
use crate::domain::delivery::PendingDelivery;
use crate::ids::{MessageId, RunId};
use crate::prompts::texts::Locales;

/// Shown on a message in a group that could not be answered; one of the reactions every chat has.
const SHRUG: &str = "🤷";

/// The way out for answers.
#[derive(Debug)]
pub struct TelegramCourier {
    /// Sends.
    pub sender: Sender,
    /// Draws what is in progress; it must be still before the answer is sent.
    pub live: Arc<Live>,
    /// Words on buttons.
    pub locales: Arc<Locales>,
}

#[async_trait]
impl Courier for TelegramCourier {
    async fn deliver(&self, delivery: PendingDelivery, stop: &CancellationToken) {
        let live = self.live.settle(delivery.run).await;
        let parts = formatted(&delivery.markdown);
        if parts.is_empty() {
            self.withdraw(delivery.run).await;
        }
        let last = parts.len().saturating_sub(1);
        for (at, content) in parts.into_iter().enumerate().skip(delivery.confirmed.len()) {
            let reply_to = delivery.reply_to.filter(|_| at == 0);
            let texts = self.locales.of(delivery.language.as_deref());
            let actions = if at == last { delivery.actions.as_slice() } else { &[] };
            let message =
                Outgoing { content, reply_to, buttons: action_buttons(actions, delivery.run, texts) };
            let sent = match live.filter(|_| at == 0) {
                Some(live) => self.sender.amend(live, &delivery.place, &message, stop).await,
                None => self.sender.send(&delivery.place, &message, stop).await,
            };
            match sent {
                Ok(id) => self.confirm(&delivery, id).await,
                Err(Unsent::Stopped) => break,
                Err(Unsent::Stopping) => return,
                Err(Unsent::Unclear(words)) => {
                    tracing::error!(run = %delivery.run, words, "an answer may not have arrived; trying at the next start");
                    return;
                }
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

    async fn has_shown(&self, run: RunId) -> bool {
        self.live.settle(run).await.is_some()
    }

    async fn withdraw(&self, run: RunId) {
        let Some(live) = self.live.settle(run).await else {
            return;
        };
        if let Err(unsent) = self.sender.take_back(live, &CancellationToken::new()).await {
            tracing::warn!(%run, ?unsent, "what was shown of a turn stays until the next start");
            return;
        }
        if let Err(error) = self.sender.outbox.forget_live(run).await {
            tracing::error!(%error, %run, "a message that was taken back could not be forgotten");
        }
    }

    async fn decline(&self, place: &Place, message: MessageId, words: &str) {
        let done = match place.is_group() {
            true => self.shrug(place, message).await,
            false => {
                let words = Outgoing { content: plain(words), ..Outgoing::default() };
                self.sender.send(place, &words, &CancellationToken::new()).await.map(|_| ())
            }
        };
        if let Err(unsent) = done {
            tracing::warn!(chat = %place.chat, ?unsent, "that a message was not answered could not be shown");
        }
    }
}

impl TelegramCourier {
    async fn shrug(&self, place: &Place, message: MessageId) -> Result<(), Unsent> {
        let reaction = json!([{"type": "emoji", "emoji": SHRUG}]);
        let body = json!({"chat_id": place.chat, "message_id": message, "reaction": reaction});
        self.sender.once(place.chat, SetMessageReaction(body)).await.map(|_| ())
    }

    async fn confirm(&self, delivery: &PendingDelivery, message: MessageId) {
        if let Err(error) = self.sender.outbox.confirm_part(delivery.id, message).await {
            tracing::error!(%error, run = %delivery.run, "a sent part could not be recorded; it may be repeated");
        }
    }
}

/// The messages of an answer. Should its formatting fail, it still arrives, as plain text.
fn formatted(markdown: &str) -> Vec<Formatted> {
    std::panic::catch_unwind(|| split(render(markdown), MESSAGE_UNITS)).unwrap_or_else(|_panic| {
        tracing::error!("an answer could not be formatted; sending it as it is");
        split(plain(markdown), MESSAGE_UNITS)
    })
}

fn plain(text: &str) -> Formatted {
    Formatted { text: text.to_owned(), entities: Vec::new() }
}
