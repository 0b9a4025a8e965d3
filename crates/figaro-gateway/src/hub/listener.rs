//! Passes events and text of turns to their followers. Text goes to followers where it would otherwise go to a chat.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::Hub;
use figaro_agent::channel::Channel;
use figaro_agent::delivery::{Delivery, Listener, OutsideEvent, TurnEvent, TurnEventKind};
use figaro_base::clock::Clock;
use figaro_base::ids::RunId;
use figaro_domain::delivery::{DeliveryEnd, PendingDelivery};
use figaro_domain::message::Inbound;
use figaro_policy::access::Admins;
use figaro_store::OutboxStore;

impl Listener for Hub {
    fn hear(&self, event: &TurnEvent) {
        let turn = {
            let mut turns = self.turns();
            if let TurnEventKind::Started { place, .. } = &event.kind
                && let Some(turn) = turns.current.get(&place.conversation()).cloned()
            {
                turns.runs.insert(event.run, turn);
            }
            turns.runs.get(&event.run).cloned()
        };
        if let Some(turn) = turn {
            turn.tell(OutsideEvent::Event(event.clone()));
        }
    }
}

/// Callers have no chats.
impl Admins for Hub {}
impl Channel for Hub {}

/// Delivers answers to the followers of their turns.
#[derive(Debug)]
pub struct GatewayDelivery {
    /// Turns that can be followed.
    pub hub: Hub,
    /// Store of deliveries in progress.
    pub outbox: OutboxStore,
    /// Source of the current time.
    pub clock: Clock,
}

#[async_trait]
impl Delivery for GatewayDelivery {
    async fn deliver(&self, delivery: PendingDelivery, _stop: &CancellationToken) {
        // Cards have buttons, which nobody can press here.
        if let Some(turn) =
            self.hub.current(delivery.place.conversation()).filter(|_| delivery.card.is_none())
        {
            turn.tell(OutsideEvent::Words(delivery.markdown.clone()));
        }
        let ended = self.outbox.end_delivery(delivery.id, DeliveryEnd::Whole, self.clock.now());
        if let Err(error) = ended {
            tracing::error!(%error, run = %delivery.run, "that an answer was given could not be recorded");
        }
    }

    async fn has_shown(&self, _run: RunId) -> bool {
        false
    }

    async fn withdraw(&self, _run: RunId) {}

    async fn decline(&self, message: &Inbound, words: &str) {
        if let Some(turn) = self.hub.current(message.place.conversation()) {
            turn.tell(OutsideEvent::Declined(words.to_owned()));
        }
    }
}
