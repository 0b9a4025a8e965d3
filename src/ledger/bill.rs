//! A call under way and what it comes to, booked once however it ends.

use std::fmt;
use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::oneshot;

use super::Ledger;
use crate::domain::model::ModelName;
use crate::domain::usage::{Payer, Reservation, Spending, Spent, Usage};
use crate::provider::{Event, EventStream, ProviderError};
use crate::text::estimate_tokens;

/// A call under way. Dropping it cancels the call and books what it came to by then.
pub struct Paid {
    stream: EventStream,
    bill: Bill,
}

/// What a call will be booked with.
#[derive(Debug)]
pub(super) struct Bill {
    ledger: Arc<Ledger>,
    payer: Payer,
    /// Set until it is booked.
    open: bool,
    /// The model that answers, once it is known; until then nothing was spent.
    model: Option<ModelName>,
    input: u64,
    text: String,
    searches: u64,
    reservation: Option<Reservation>,
}

impl fmt::Debug for Paid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paid").field("bill", &self.bill).finish_non_exhaustive()
    }
}

impl Paid {
    pub(super) const fn new(stream: EventStream, bill: Bill) -> Self {
        Self { stream, bill }
    }

    /// The next piece of the answer; `None` at its end.
    pub async fn next(&mut self) -> Option<Result<Event, ProviderError>> {
        let event = self.stream.next().await;
        match &event {
            Some(Ok(Event::Answering(model))) => self.bill.model = Some(model.clone()),
            Some(Ok(Event::TextDelta(text))) => self.bill.text.push_str(text),
            Some(Ok(Event::ToolCall(call))) => self.bill.text.push_str(&call.arguments),
            Some(Ok(Event::Hosted(_))) => self.bill.searches += 1,
            Some(Ok(Event::Completed { finish, usage })) => {
                let usage = usage.unwrap_or_else(|| self.bill.estimate());
                if let Some(booked) = self.bill.settle(Some(usage)) {
                    // Whether it was or could not be, the log has it.
                    drop(booked.await);
                }
                return Some(Ok(Event::Completed { finish: finish.clone(), usage: Some(usage) }));
            }
            Some(Ok(Event::Source(_) | Event::Private(_)) | Err(_)) | None => {}
        }
        event
    }
}

impl Bill {
    /// For a call with so many tokens in its request, of which nothing has come back yet.
    pub(super) const fn new(
        ledger: Arc<Ledger>,
        payer: Payer,
        input: u64,
        reservation: Option<Reservation>,
    ) -> Self {
        Self { ledger, payer, open: true, model: None, input, text: String::new(), searches: 0, reservation }
    }

    /// What the provider did not say, or not yet.
    fn estimate(&self) -> Usage {
        let output = u64::try_from(estimate_tokens(&self.text)).unwrap_or(u64::MAX);
        Usage { input: self.input, cached: 0, output }
    }

    /// What is to be booked, once.
    fn close(&mut self, usage: Option<Usage>) -> Option<(Spending, Option<Reservation>)> {
        if !std::mem::take(&mut self.open) {
            return None;
        }
        let reservation = self.reservation.take();
        // A call that no model took up has cost nothing.
        let spent = match &self.model {
            Some(model) => {
                let usage = usage.unwrap_or_else(|| self.estimate());
                Spent::new(usage, self.searches, self.ledger.prices.of(model))
            }
            None => Spent::default(),
        };
        let day = reservation.as_ref().map_or_else(|| self.ledger.date(), |kept| kept.most.day);
        let model = self.model.clone().unwrap_or_else(|| self.ledger.models.default_model().clone());
        if spent == Spent::default() && reservation.is_none() {
            return None;
        }
        Some((self.ledger.spending(day, &self.payer, model, spent), reservation))
    }

    /// Books it, once; also when nobody waits for the end of that.
    fn settle(&mut self, usage: Option<Usage>) -> Option<oneshot::Receiver<()>> {
        let (spending, reservation) = self.close(usage)?;
        let (done, booked) = oneshot::channel();
        let ledger = Arc::clone(&self.ledger);
        self.ledger.tasks.spawn("bill", async move {
            ledger.book(spending, reservation).await;
            drop(done);
        });
        Some(booked)
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        drop(self.settle(None));
    }
}
