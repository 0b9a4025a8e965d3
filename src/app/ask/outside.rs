//! Terminal channel in place of Telegram: forwards the events of turns in order.

use async_trait::async_trait;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use figaro_agent::channel::Channel;
use figaro_agent::delivery::{Delivery, Listener, OutsideEvent, Owners, TurnEvent};
use figaro_base::ids::RunId;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::language::ByLanguage;
use figaro_domain::message::Inbound;
use figaro_policy::access::Admins;

/// Forwards events of turns to the printer.
#[derive(Debug)]
pub(super) struct Terminal(UnboundedSender<OutsideEvent>);

impl Terminal {
    /// Creates a terminal and the receiver of its events. The receiver closes when the terminal is dropped.
    pub(super) fn new() -> (Self, UnboundedReceiver<OutsideEvent>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Sends an event. A closed receiver is ignored: the process is about to end.
    fn tell(&self, told: OutsideEvent) {
        drop(self.0.send(told));
    }
}

impl Listener for Terminal {
    fn hear(&self, event: &TurnEvent) {
        self.tell(OutsideEvent::Event(event.clone()));
    }
}

#[async_trait]
impl Delivery for Terminal {
    async fn deliver(&self, delivery: PendingDelivery, _stop: &CancellationToken) {
        // Cards have buttons; the terminal has none.
        if delivery.card.is_none() {
            self.tell(OutsideEvent::Words(delivery.markdown));
        }
    }

    async fn has_shown(&self, _run: RunId) -> bool {
        false
    }

    async fn withdraw(&self, _run: RunId) {}

    async fn decline(&self, _message: &Inbound, words: &str) {
        self.tell(OutsideEvent::Declined(words.to_owned()));
    }
}

impl Admins for Terminal {}
impl Channel for Terminal {}

#[async_trait]
impl Owners for Terminal {
    /// Does nothing: the end of the turn reports faults.
    async fn tell(&self, _words: ByLanguage<String>) {}
}
