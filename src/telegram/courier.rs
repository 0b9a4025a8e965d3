//! Carries answers to Telegram: Markdown to entities, split at the limit, long code as files, each confirmed part
//! recorded before the next.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::api::SetMessageReaction;
use super::commands::action_buttons;
use super::live::{Live, MESSAGE_UNITS};
use super::markup::{Formatted, Piece, messages, split};
use super::send::{Outgoing, Sender, Unsent};
use crate::delivery::Courier;
use crate::domain::chat::Place;
use crate::domain::delivery::{LiveMessage, PendingDelivery};
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
        let pieces = pieces(&delivery.markdown);
        if pieces.is_empty() {
            self.withdraw(delivery.run).await;
        }
        let last = pieces.len().saturating_sub(1);
        for (at, piece) in pieces.into_iter().enumerate().skip(delivery.confirmed.len()) {
            let message = self.outgoing(&delivery, piece, (at == 0, at == last));
            match self.send(&delivery, message, live.filter(|_| at == 0), stop).await {
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
    /// A part of an answer: the first quotes the question, the last has the buttons.
    fn outgoing(
        &self,
        delivery: &PendingDelivery,
        piece: Piece,
        (is_first, is_last): (bool, bool),
    ) -> Outgoing {
        let texts = self.locales.of(delivery.language.as_deref());
        let actions = if is_last { delivery.actions.as_slice() } else { &[] };
        let (content, file) = match piece {
            Piece::Text(content) => (content, None),
            Piece::File(file) => (Formatted::default(), Some(file)),
        };
        let reply_to = delivery.reply_to.filter(|_| is_first);
        Outgoing { content, reply_to, buttons: action_buttons(actions, delivery.run, texts), file }
    }

    async fn send(
        &self,
        delivery: &PendingDelivery,
        message: Outgoing,
        live: Option<LiveMessage>,
        stop: &CancellationToken,
    ) -> Result<MessageId, Unsent> {
        let place = &delivery.place;
        let sending = match live {
            Some(live) if message.file.is_none() => self.sender.amend(live, place, &message, stop).await,
            // No message becomes a document.
            Some(live) => {
                self.sender.take_back(live, stop).await?;
                self.sender.send(place, &message, stop).await
            }
            None => self.sender.send(place, &message, stop).await,
        };
        match sending {
            Err(Unsent::Hopeless(words)) if message.file.is_some() => {
                tracing::warn!(run = %delivery.run, words, "Telegram refused a file; sending its code as text");
                self.as_texts(place, message, stop).await
            }
            sent => sent,
        }
    }

    /// Sends code that may not be a file. Together its messages are one part of the answer, known by the last: how
    /// many parts there are must not depend on what Telegram takes.
    async fn as_texts(
        &self,
        place: &Place,
        Outgoing { file, mut reply_to, mut buttons, .. }: Outgoing,
        stop: &CancellationToken,
    ) -> Result<MessageId, Unsent> {
        let mut texts =
            file.map(|file| file.into_texts(MESSAGE_UNITS)).unwrap_or_default().into_iter().peekable();
        let mut last = Err(Unsent::Hopeless("there is no code".to_owned()));
        while let Some(content) = texts.next() {
            let buttons = if texts.peek().is_none() { std::mem::take(&mut buttons) } else { Vec::new() };
            let message = Outgoing { content, reply_to: reply_to.take(), buttons, file: None };
            last = Ok(self.sender.send(place, &message, stop).await?);
        }
        last
    }

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

/// What is sent of an answer. Should its formatting fail, it still arrives, as plain text.
fn pieces(markdown: &str) -> Vec<Piece> {
    std::panic::catch_unwind(|| messages(markdown, MESSAGE_UNITS)).unwrap_or_else(|_panic| {
        tracing::error!("an answer could not be formatted; sending it as it is");
        split(plain(markdown), MESSAGE_UNITS).into_iter().map(Piece::Text).collect()
    })
}

fn plain(text: &str) -> Formatted {
    Formatted { text: text.to_owned(), entities: Vec::new() }
}
