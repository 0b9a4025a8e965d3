//! Answers to messages that say what a card of Figaro's asked for.

use std::sync::Arc;

use super::Router;
use super::fate::Fate;
use crate::domain::message::Inbound;
use crate::policy::access::Standing;
use crate::telegram::commands::{Asker, Card};
use crate::turn::queue::admission::Slot;

impl Router {
    /// Shows a card for a message, beside the next update; the message keeps its place meanwhile, if it has one.
    pub(super) fn answer(
        self: &Arc<Self>,
        part: &Inbound,
        standing: Standing,
        card: Card,
        slot: Option<Slot>,
    ) -> Fate {
        let (this, id, asker) = (Arc::clone(self), part.update, Asker::new(part, standing));
        self.background.spawn("answer", async move {
            let _slot = slot;
            this.show(id, &asker, card).await;
        });
        Fate::Pending
    }
}
