//! Answers to messages that say what a card of Figaro's asked for.

use std::sync::Arc;

use super::Router;
use super::fate::Fate;
use crate::commands::{Asker, Card};
use figaro_agent::turn::queue::admission::Slot;
use figaro_domain::message::Inbound;
use figaro_policy::access::Standing;

impl Router {
    /// Shows a card for a message, beside the next update; the message keeps its place meanwhile, if it has one.
    pub(super) fn answer(
        self: &Arc<Self>,
        part: &Inbound,
        standing: Standing,
        card: Card,
        slot: Option<Slot>,
    ) -> Fate {
        let (this, id, asker) = (Arc::clone(self), part.origin.update(), Asker::new(part, standing));
        self.background.spawn("answer", async move {
            let _slot = slot;
            this.show(id, &asker, card).await;
        });
        Fate::Pending
    }
}
