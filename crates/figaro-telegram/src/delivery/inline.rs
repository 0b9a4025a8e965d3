//! Delivers answers to chats that the bot is no member of, and what such turns can reach of Telegram: files alone.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::inline::{InlineAnswer, InlineAnswers, InlineContent, with_question};
use crate::live::Live;
use crate::send::Sender;
use figaro_agent::channel::{Channel, FileError, FileStream};
use figaro_agent::delivery::Delivery;
use figaro_base::ids::RunId;
use figaro_domain::delivery::{DeliveryEnd, PendingDelivery};
use figaro_domain::message::Inbound;
use figaro_markup::{Formatted, render};
use figaro_policy::access::Admins;
use figaro_prompts::texts::{Locales, Texts};
use figaro_store::OutboxStore;

/// Delivers answers by edits of their messages.
#[derive(Debug)]
pub struct InlineDelivery {
    /// Edits messages within the rate limits.
    pub sender: Sender,
    /// Previews of running turns. A turn's preview is stopped before its answer is shown.
    pub live: Arc<Live>,
    /// Texts in the language of whoever asked.
    pub locales: Arc<Locales>,
    /// Store of the turn, which records the end of the delivery.
    pub outbox: OutboxStore,
}

#[async_trait]
impl Delivery for InlineDelivery {
    async fn deliver(&self, delivery: PendingDelivery, _stop: &CancellationToken) {
        let answer = self.answers().of(delivery.place.conversation());
        // Cards have buttons that belong to a chat.
        if let Some(answer) = answer.filter(|_| delivery.card.is_none()) {
            drop(self.live.settle(delivery.run).await);
            self.end(&answer, render(&delivery.markdown)).await;
        }
        let ended = self.outbox.end_delivery(delivery.id, DeliveryEnd::Whole, self.sender.clock.now());
        if let Err(error) = ended {
            tracing::error!(%error, run = %delivery.run, "that an answer was given could not be recorded");
        }
    }

    async fn has_shown(&self, _run: RunId) -> bool {
        false
    }

    async fn withdraw(&self, run: RunId) {
        let Some(answer) = self.answers().of_run(run) else { return };
        drop(self.live.settle(run).await);
        let texts = self.texts(&answer);
        let words = if answer.is_stopped() { texts.stop_done() } else { texts.inline_nothing() };
        self.end(&answer, plain(words)).await;
    }

    async fn decline(&self, message: &Inbound, words: &str) {
        if let Some(answer) = self.answers().of(message.place.conversation()) {
            self.end(&answer, plain(words)).await;
        }
    }
}

impl InlineDelivery {
    fn answers(&self) -> &InlineAnswers {
        self.live.inline()
    }

    fn texts(&self, answer: &InlineAnswer) -> &Texts {
        self.locales.of(answer.language.as_deref())
    }

    async fn end(&self, answer: &InlineAnswer, text: Formatted) {
        let last = InlineContent::text(with_question(&answer.question, text));
        if let Err(unsent) = self.sender.end_inline(answer, &last).await {
            tracing::warn!(?unsent, "an answer in another chat could not be shown");
        }
    }
}

fn plain(text: &str) -> Formatted {
    Formatted { text: text.to_owned(), entities: Vec::new() }
}

/// The bot's channel for turns that answer in other chats: it opens files, and sends nothing.
#[derive(Debug)]
pub struct ElsewhereChannel(pub Arc<dyn Channel>);

#[async_trait]
impl Admins for ElsewhereChannel {}

#[async_trait]
impl Channel for ElsewhereChannel {
    async fn open(&self, file_id: &str, max_bytes: usize) -> Result<FileStream, FileError> {
        self.0.open(file_id, max_bytes).await
    }
}
