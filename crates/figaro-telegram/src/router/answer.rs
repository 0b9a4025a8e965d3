//! Replies to messages that answer a card.

use std::sync::Arc;

use super::Router;
use super::fate::UpdateFate;
use crate::commands::{Asker, Card};
use figaro_agent::turn::queue::admission::WaitingSlot;
use figaro_domain::message::Inbound;
use figaro_policy::access::Standing;

impl Router {
    /// Shows a card for a message in the background. The message keeps its slot meanwhile, if it has one.
    pub(super) fn answer(
        self: &Arc<Self>,
        part: &Inbound,
        standing: Standing,
        card: Card,
        slot: Option<WaitingSlot>,
    ) -> UpdateFate {
        let (this, id, asker) = (Arc::clone(self), part.origin.update(), Asker::new(part, standing));
        self.background.spawn("answer", async move {
            let _slot = slot;
            this.show(id, &asker, card).await;
        });
        UpdateFate::Pending
    }
}
