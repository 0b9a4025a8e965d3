//! A model call in progress and its bill, booked exactly once however the call ends.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use futures::{FutureExt, StreamExt, stream};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::Ledger;
use super::allowance::AnswerAllowance;
use super::slots::RequestSlot;
use super::tree::TreeReservation;
use figaro_base::ids::ReservationId;
use figaro_base::telemetry::gen_ai::ModelCallSpan;
use figaro_base::text::estimate_tokens;
use figaro_domain::calls::{Calls, Spread};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Purpose, Ratings, Reservation, Spending, Spent, Usage};
use figaro_policy::budget::MAX_OUTPUT;
use figaro_provider::{Event, EventStream, Finish, ProviderError};

/// Bytes of unseen output estimated as one token.
const BYTES_PER_UNSEEN_TOKEN: u64 = 4;
/// Time limit of an answer, even within its byte limits: self-hosted models may repeat themselves forever.
const MOST_TIME: Duration = Duration::from_secs(15 * 60);

/// A model call in progress. Dropping it cancels the call and books its cost so far.
pub struct MeteredStream {
    stream: EventStream,
    bill: Bill,
    may_search: bool,
    room: AnswerAllowance,
    span: ModelCallSpan,
    began: Instant,
    /// Time to the first word, once there is one.
    first: Option<Duration>,
    _slots: Vec<RequestSlot>,
}

/// Data from which a call is booked.
#[derive(Debug)]
pub(super) struct Bill {
    ledger: Arc<Ledger>,
    payer: Payer,
    purpose: Purpose,
    /// `true` until the bill is booked.
    open: bool,
    /// The model that is asked first.
    first: ModelName,
    /// `true` once a request was sent and not refused: it may cost something even if nothing came back.
    asked: bool,
    /// The model that answers, once it is known.
    model: Option<ModelName>,
    pub(super) input: u64,
    text: String,
    /// Estimated tokens that the model wrote and the stream did not pass on.
    unseen: u64,
    searches: u64,
    /// Reservation of the call on the limits of its payer, and the answer limit in tokens that it covers.
    reserved: Option<(Reservation, u64)>,
    /// Reservation of the call in a tree.
    drawn: Option<TreeReservation>,
    /// The call in figures, once it has ended.
    calls: Calls,
}

/// A closed bill, ready to be booked.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) spending: Spending,
    /// Reservation on the limits of the payer that the spending replaces.
    pub(super) reservation: Option<Reservation>,
    /// Tree reservation that the spending replaces.
    pub(super) drawn: Option<TreeReservation>,
}

impl fmt::Debug for MeteredStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeteredStream").field("bill", &self.bill).finish_non_exhaustive()
    }
}

impl MeteredStream {
    pub(super) fn new(
        stream: EventStream,
        bill: Bill,
        may_search: bool,
        room: AnswerAllowance,
        slots: Vec<RequestSlot>,
    ) -> Self {
        let span = ModelCallSpan::begin(&bill.first.provider, &bill.first.model);
        let began = Instant::now();
        Self { stream, bill, may_search, room, span, began, first: None, _slots: slots }
    }

    /// Returns the next event of the answer; `None` at its end. An answer that exceeds its limit of length or time ends
    /// as if the provider had stopped it at the token limit.
    pub async fn next(&mut self) -> Option<Result<Event, ProviderError>> {
        self.bill.ask();
        let until = *self.room.until.get_or_insert_with(|| Instant::now() + MOST_TIME);
        let mut event = match timeout_at(until, self.stream.next()).await {
            Ok(event) => event,
            Err(_elapsed) => {
                tracing::warn!(model = ?self.bill.model, "an answer takes longer than it may; the rest is not read");
                self.end();
                self.stream.next().await
            }
        };
        if let Some(Ok(more)) = &event
            && !self.room.take(more)
        {
            tracing::warn!(model = ?self.bill.model, "an answer is longer than it may be; the rest is not read");
            self.end();
            event = match event {
                Some(Ok(Event::TextDelta(text))) => {
                    let fits = text.floor_char_boundary(self.room.written);
                    Some(Ok(Event::TextDelta(text[..fits].to_owned())))
                }
                // Unseen output has used up the allowance.
                _ => {
                    self.bill.unseen = self.bill.longest();
                    self.stream.next().await
                }
            };
        }
        match &event {
            Some(Ok(Event::Lost(model))) => drop(self.bill.lose(model.clone()).await),
            Some(Ok(Event::Answering(model))) => {
                self.span.answered_by(&model.provider, &model.model);
                self.bill.model = Some(model.clone());
            }
            Some(Ok(Event::TextDelta(text))) => self.write(text),
            Some(Ok(Event::ToolCall(call))) => self.write(&call.arguments),
            Some(Ok(Event::Searched)) => self.bill.searches += 1,
            Some(Ok(Event::Unseen(bytes))) => {
                let bytes = u64::try_from(*bytes).unwrap_or(u64::MAX);
                self.bill.unseen = bytes.div_ceil(BYTES_PER_UNSEEN_TOKEN);
            }
            Some(Ok(Event::Completed { finish, usage })) => {
                let usage = self.complete(*usage).await;
                return Some(Ok(Event::Completed { finish: finish.clone(), usage: Some(usage) }));
            }
            Some(Err(error)) => {
                self.span.fail(error.label());
                self.bill.fail(error);
            }
            Some(Ok(Event::Found(_) | Event::Source(_) | Event::Private(_) | Event::Reasoned)) | None => {}
        }
        event
    }

    /// Adds to what the model wrote.
    fn write(&mut self, text: &str) {
        self.first.get_or_insert_with(|| self.began.elapsed());
        self.bill.text.push_str(text);
    }

    /// Books an answer that is complete, and returns its usage; an estimate of what the provider does not report.
    async fn complete(&mut self, reported: Option<Usage>) -> Usage {
        let estimate = self.bill.estimate();
        let mut usage = reported.unwrap_or(estimate);
        // Some providers report only the input tokens, with 0 output.
        if usage.output == 0 {
            usage.output = estimate.output;
        }
        self.span.used(usage.input, usage.output);
        let whole = self.began.elapsed();
        self.bill.calls = Calls::one(self.first.unwrap_or(whole), whole);
        if let Some(booked) = self.bill.settle(Some(usage)) {
            // A booking that failed is in the log already.
            drop(booked.await);
        }
        usage
    }

    /// Ends the call as if the provider had stopped it at the token limit.
    fn end(&mut self) {
        let end = Event::Completed { finish: Finish::Length, usage: None };
        self.stream = stream::iter([Ok(end)]).boxed();
    }

    /// Returns `true` if the provider may search the web in this call; the caps may leave no room for searches.
    #[must_use]
    pub const fn may_search(&self) -> bool {
        self.may_search
    }

    /// Returns the estimated usage if the call stops here.
    #[must_use]
    pub fn so_far(&self) -> Usage {
        if self.bill.is_taken_up() { self.bill.estimate() } else { Usage::default() }
    }
}

impl Ledger {
    /// Replaces the reservation of a call by its actual spending.
    fn count(&self, spending: &Spending, reservation: Option<&Reservation>, drawn: Option<&TreeReservation>) {
        let (day, payer) = (spending.day, spending.payer());
        let axes = payer.axes();
        let mut accounts = self.accounts();
        // Spending of a call that began yesterday stays on that day.
        accounts.spend(day, &axes, spending.purpose, spending.spent);
        match (drawn, reservation) {
            (Some(drawn), _) => drawn.settle(&mut accounts, day, spending.spent),
            (None, Some(kept)) => accounts.release(day, &axes, spending.purpose, kept.most.spent),
            (None, None) => {}
        }
        accounts.note_nearly(&payer);
        drop(accounts);
        self.booked.notify_waiters();
    }

    fn book(&self, closed: Closed) {
        let Closed { spending, reservation, drawn } = closed;
        self.count(&spending, reservation.as_ref(), drawn.as_ref());
        if let Err(error) = self.store.book(&spending, reservation.map(|kept| kept.id)) {
            tracing::error!(%error, label = error.label(), "what a model call has cost could not be stored");
        }
    }
}

impl Bill {
    /// Creates the bill of a call that has not been sent. `input` is its request size in tokens.
    pub(super) const fn new(
        ledger: Arc<Ledger>,
        payer: Payer,
        purpose: Purpose,
        first: ModelName,
        input: u64,
    ) -> Self {
        Self {
            ledger,
            payer,
            purpose,
            open: true,
            first,
            asked: false,
            model: None,
            input,
            text: String::new(),
            unseen: 0,
            searches: 0,
            reserved: None,
            drawn: None,
            calls: Calls { answered: 0, failed: 0, first: Spread::NONE, whole: Spread::NONE },
        }
    }

    /// Returns the model that is asked first.
    pub(super) const fn first(&self) -> &ModelName {
        &self.first
    }

    /// Sets the tokens that a call without a stream counts as unless the service tells them.
    pub(super) const fn expect(&mut self, output: u64) {
        self.unseen = output;
    }

    /// Marks the request as sent: from now on it may cost something even if nothing comes back.
    pub(super) const fn ask(&mut self) {
        self.asked = true;
    }

    /// Marks the call as refused: it costs nothing.
    pub(super) const fn spare(&mut self) {
        self.asked = false;
    }

    /// Marks the call as one search.
    pub(super) const fn search(&mut self) {
        self.asked = true;
        self.searches = 1;
    }

    pub(super) fn fail(&mut self, error: &ProviderError) {
        self.asked = error.was_taken_up();
        self.calls = Calls::one_failed();
    }

    /// Books a failed attempt of this model with its input tokens. The reservation stays for the next attempt.
    fn lose(&self, model: ModelName) -> oneshot::Receiver<()> {
        let usage = Usage { input: self.input, ..Usage::default() };
        let spent = Spent::new(usage, 0, self.ledger.prices.of(&model));
        let day = self.reserved.as_ref().map_or_else(|| self.ledger.date(), |(kept, _)| kept.most.day);
        let spending = Spending { calls: Calls::one_failed(), ..self.spending(day, model, spent) };
        self.book(Closed { spending, reservation: None, drawn: None })
    }

    const fn is_taken_up(&self) -> bool {
        self.asked || self.model.is_some()
    }

    /// Limit of the answer in tokens.
    fn longest(&self) -> u64 {
        self.reserved.as_ref().map_or(MAX_OUTPUT, |(_, longest)| *longest)
    }

    /// Estimates the usage that the provider has not reported.
    fn estimate(&self) -> Usage {
        let longest = self.reserved.as_ref().map_or(u64::MAX, |(_, longest)| *longest);
        let seen = u64::try_from(estimate_tokens(&self.text)).unwrap_or(u64::MAX);
        Usage { input: self.input, cached: 0, output: seen.saturating_add(self.unseen).min(longest) }
    }

    /// Closes the bill and returns it for booking; `None` if it was closed before.
    fn close(&mut self, usage: Option<Usage>) -> Option<Closed> {
        if !std::mem::take(&mut self.open) {
            return None;
        }
        let usage = usage.unwrap_or_else(|| self.estimate());
        let reservation = self.reserved.take().map(|(reservation, _)| reservation);
        let model = self.model.clone().unwrap_or_else(|| self.first.clone());
        let spent = match self.is_taken_up() {
            true => Spent::new(usage, self.searches, self.ledger.prices.of(&model)),
            false => Spent::default(),
        };
        if spent == Spent::default() && reservation.is_none() && self.calls.is_none() {
            return None;
        }
        let day = reservation.as_ref().map_or_else(|| self.ledger.date(), |kept| kept.most.day);
        let drawn = self.drawn.take();
        Some(Closed { spending: self.spending(day, model, spent), reservation, drawn })
    }

    fn spending(&self, day: NaiveDate, model: ModelName, spent: Spent) -> Spending {
        let Payer { chat, user, task, agents, key } = self.payer.clone();
        let (purpose, ratings) = (self.purpose, Ratings::default());
        let calls = self.calls;
        Spending { day, chat, user, task, agents, key, model, purpose, spent, ratings, calls }
    }

    pub(super) const fn purpose(&self) -> Purpose {
        self.purpose
    }

    pub(super) const fn payer(&self) -> &Payer {
        &self.payer
    }

    /// Records the reservation of the call on the limits of its payer.
    pub(super) fn reserve(&mut self, day: NaiveDate, most: Spent, longest: u64) {
        let most = self.spending(day, self.first.clone(), most);
        self.reserved = Some((Reservation { id: ReservationId::new(), most }, longest));
    }

    /// Records the tree reservation of the call.
    pub(super) fn draw(&mut self, drawn: TreeReservation) {
        self.drawn = Some(drawn);
    }

    pub(super) fn reservation(&self) -> Option<Reservation> {
        self.reserved.as_ref().map(|(reservation, _)| reservation.clone())
    }

    /// Books the bill once. The booking completes even if the receiver is dropped.
    pub(super) fn settle(&mut self, usage: Option<Usage>) -> Option<oneshot::Receiver<()>> {
        self.close(usage).map(|closed| self.book(closed))
    }

    fn book(&self, closed: Closed) -> oneshot::Receiver<()> {
        let (done, booked) = oneshot::channel();
        let ledger = Arc::clone(&self.ledger);
        let mut booking = Box::pin(async move {
            ledger.book(closed);
            drop(done);
        });
        // The store usually takes it at once; with a task the answer would wait for another thread.
        if (&mut booking).now_or_never().is_none() {
            self.ledger.background.spawn("bill", booking);
        }
        booked
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        drop(self.settle(None));
    }
}
