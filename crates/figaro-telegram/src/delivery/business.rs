//! Takes what turns write for customers: nothing is sent here, because the person decides about it.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::business::Drafts;
use figaro_agent::delivery::{Delivery, Listener, TurnEnding, TurnEvent, TurnEventKind};
use figaro_base::clock::Clock;
use figaro_base::ids::RunId;
use figaro_domain::delivery::{DeliveryEnd, PendingDelivery};
use figaro_domain::message::Inbound;
use figaro_store::OutboxStore;

/// Records what turns write as drafts.
#[derive(Debug)]
pub struct DraftDelivery {
    /// Drafts that are being written.
    pub drafts: Drafts,
    /// Store of the turn, which records the end of the delivery.
    pub outbox: OutboxStore,
    /// Source of the current time, in UTC.
    pub clock: Clock,
}

#[async_trait]
impl Delivery for DraftDelivery {
    async fn deliver(&self, delivery: PendingDelivery, _stop: &CancellationToken) {
        if delivery.card.is_none() {
            self.drafts.said(delivery.place.conversation(), &delivery.markdown);
        }
        let ended = self.outbox.end_delivery(delivery.id, DeliveryEnd::Whole, self.clock.now());
        if let Err(error) = ended {
            tracing::error!(%error, run = %delivery.run, "that a draft was written could not be recorded");
        }
    }

    async fn has_shown(&self, _run: RunId) -> bool {
        false
    }

    async fn withdraw(&self, _run: RunId) {}

    async fn decline(&self, message: &Inbound, words: &str) {
        self.drafts.declined(message.place.conversation(), words);
    }
}

impl Listener for Drafts {
    fn hear(&self, event: &TurnEvent) {
        match &event.kind {
            TurnEventKind::Started { place, .. } => self.began(place.conversation(), event.run),
            TurnEventKind::Closed(closing) => {
                // Only a whole text of the model is a draft: words of an error must never reach a customer.
                let text = closing.whole("");
                let is_draft =
                    closing.ending == TurnEnding::Answered && !closing.is_cut && !text.trim().is_empty();
                self.closed(event.run, is_draft.then_some(text));
            }
            TurnEventKind::Delta(_)
            | TurnEventKind::PassEnded { .. }
            | TurnEventKind::ToolStarted { .. }
            | TurnEventKind::ToolEnded { .. }
            | TurnEventKind::Action { .. }
            | TurnEventKind::MemoryUpdated { .. }
            | TurnEventKind::Child { .. }
            | TurnEventKind::Ended => {}
        }
    }
}
