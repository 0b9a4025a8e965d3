//! A call under way and what it comes to, booked once however it ends.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use futures::{StreamExt, stream};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::Ledger;
use super::slots::Slot;
use super::tree::Drawn;
use figaro_base::ids::ReservationId;
use figaro_base::text::estimate_tokens;
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Purpose, Reservation, Spending, Spent, Usage};
use figaro_policy::budget::{MAX_ASKED_OUTPUT, MAX_OUTPUT};
use figaro_provider::{Event, EventStream, Finish, ProviderError};

/// So many bytes of an answer are taken for each token that it may have, whatever the provider does. Text has three to
/// five in most languages; tables, rulers and indented code have up to a dozen.
const BYTES_PER_TOKEN: usize = 16;
/// So many bytes of an answer are taken that the model has not written for people: pages, opaque parts such as encrypted
/// reasoning.
const MAX_OTHER_BYTES: usize = 1024 * 1024;
/// So many bytes that nobody sees are taken for a token.
const BYTES_PER_UNSEEN_TOKEN: u64 = 4;
/// What an event of that kind counts at least.
const OTHER_EVENT_BYTES: usize = 256;
/// An answer takes so long at most, however much may still come: models of one's own may repeat themselves for ever.
const MOST_TIME: Duration = Duration::from_secs(15 * 60);

/// A call under way. Dropping it cancels the call and books what it came to by then.
pub struct MeteredStream {
    stream: EventStream,
    bill: Bill,
    may_search: bool,
    room: Room,
    /// Held until the call ends.
    _slots: Vec<Slot>,
}

/// What may still come of an answer.
#[derive(Debug)]
pub(super) struct Room {
    written: usize,
    other: usize,
    /// From the first look for an answer on.
    until: Option<Instant>,
}

impl Room {
    /// For an answer of so many tokens at most, or of what is usual where nobody said.
    pub(super) fn new(max_tokens: Option<u32>) -> Self {
        let tokens = max_tokens.map_or(MAX_OUTPUT, u64::from).min(MAX_ASKED_OUTPUT);
        let written = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
        Self { written, other: MAX_OTHER_BYTES, until: None }
    }

    /// Takes an event in; `false` once there is no room for it.
    fn take(&mut self, event: &Event) -> bool {
        let (room, bytes) = match event {
            Event::TextDelta(text) => (&mut self.written, text.len()),
            Event::ToolCall(call) => {
                (&mut self.written, call.id.len() + call.name.len() + call.arguments.len())
            }
            Event::Source(source) => {
                (&mut self.other, OTHER_EVENT_BYTES + source.title.len() + source.url.len())
            }
            Event::Found(search) => (&mut self.other, OTHER_EVENT_BYTES + search.size()),
            Event::Private(part) => (&mut self.other, OTHER_EVENT_BYTES + part.data.to_string().len()),
            Event::Answering(_) | Event::Searched | Event::Reasoned => (&mut self.other, OTHER_EVENT_BYTES),
            Event::Lost(_) | Event::Unseen(_) | Event::Completed { .. } => return true,
        };
        let left = room.checked_sub(bytes);
        if let Some(left) = left {
            *room = left;
        }
        left.is_some()
    }
}

/// What a call will be booked with.
#[derive(Debug)]
pub(super) struct Bill {
    ledger: Arc<Ledger>,
    payer: Payer,
    purpose: Purpose,
    /// Set until it is booked.
    open: bool,
    /// The model that is asked first.
    first: ModelName,
    /// A request was sent and nobody has refused it: it may cost something though nothing has come back.
    asked: bool,
    /// The model that answers, once it is known.
    model: Option<ModelName>,
    pub(super) input: u64,
    text: String,
    /// Tokens of what was written and not told, by estimate.
    unseen: u64,
    searches: u64,
    /// What was set aside for it, and the most tokens of its answer by that.
    reserved: Option<(Reservation, u64)>,
    /// What it has drawn on a tree.
    drawn: Option<Drawn>,
}

/// What is to be booked.
#[derive(Debug)]
pub(super) struct Closed {
    /// What was spent.
    pub(super) spending: Spending,
    /// What was set aside for it.
    pub(super) reservation: Option<Reservation>,
    /// What was drawn on a tree for it.
    pub(super) drawn: Option<Drawn>,
}

impl fmt::Debug for MeteredStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeteredStream").field("bill", &self.bill).finish_non_exhaustive()
    }
}

impl MeteredStream {
    pub(super) const fn new(
        stream: EventStream,
        bill: Bill,
        may_search: bool,
        room: Room,
        slots: Vec<Slot>,
    ) -> Self {
        Self { stream, bill, may_search, room, _slots: slots }
    }

    /// The next piece of the answer; `None` at its end. An answer that goes on beyond its bounds of length and time ends there, as one does
    /// that the provider ends at the bound on its tokens.
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
                // What nobody sees has filled it.
                _ => {
                    self.bill.unseen = self.bill.longest();
                    self.stream.next().await
                }
            };
        }
        match &event {
            Some(Ok(Event::Lost(model))) => drop(self.bill.lose(model.clone()).await),
            Some(Ok(Event::Answering(model))) => self.bill.model = Some(model.clone()),
            Some(Ok(Event::TextDelta(text))) => self.bill.text.push_str(text),
            Some(Ok(Event::ToolCall(call))) => self.bill.text.push_str(&call.arguments),
            Some(Ok(Event::Searched)) => self.bill.searches += 1,
            Some(Ok(Event::Unseen(bytes))) => {
                let bytes = u64::try_from(*bytes).unwrap_or(u64::MAX);
                self.bill.unseen = bytes.div_ceil(BYTES_PER_UNSEEN_TOKEN);
            }
            Some(Ok(Event::Completed { finish, usage })) => {
                let estimate = self.bill.estimate();
                let mut usage = usage.unwrap_or(estimate);
                // Some tell of the question only, with nothing for what they wrote.
                if usage.output == 0 {
                    usage.output = estimate.output;
                }
                if let Some(booked) = self.bill.settle(Some(usage)) {
                    // Whether it was or could not be, the log has it.
                    drop(booked.await);
                }
                return Some(Ok(Event::Completed { finish: finish.clone(), usage: Some(usage) }));
            }
            Some(Err(error)) => self.bill.fail(error),
            Some(Ok(Event::Found(_) | Event::Source(_) | Event::Private(_) | Event::Reasoned)) | None => {}
        }
        event
    }

    /// Ends the call as if the provider had at the bound on its tokens.
    fn end(&mut self) {
        let end = Event::Completed { finish: Finish::Length, usage: None };
        self.stream = stream::iter([Ok(end)]).boxed();
    }

    /// Whether the provider may search the web in this call, which the caps may not leave room for.
    #[must_use]
    pub const fn may_search(&self) -> bool {
        self.may_search
    }

    /// What it comes to if nothing more of it is read, by estimate.
    #[must_use]
    pub fn so_far(&self) -> Usage {
        if self.bill.is_taken_up() { self.bill.estimate() } else { Usage::default() }
    }
}

impl Ledger {
    /// Counts what was spent in place of what was set aside for it.
    fn count(&self, spending: &Spending, reservation: Option<&Reservation>, drawn: Option<&Drawn>) {
        let mut today = self.roll_over();
        // What a call of the day before comes to stays that day's.
        if today.date == spending.day {
            // What is drawn on a tree was set aside with that.
            let kept = reservation.filter(|_| drawn.is_none());
            let kept = kept.map(|kept| kept.most.spent).unwrap_or_default();
            for day in today.each(spending.purpose) {
                day.reserved -= kept;
                day.spent += spending.spent;
            }
        }
        drop(today);
        if let Some(drawn) = drawn {
            self.count_drawn(drawn, spending.spent);
        }
        self.booked.notify_waiters();
    }

    async fn book(&self, closed: Closed) {
        let Closed { spending, reservation, drawn } = closed;
        self.count(&spending, reservation.as_ref(), drawn.as_ref());
        if let Err(error) = self.store.book(&spending, reservation.map(|kept| kept.id)).await {
            tracing::error!(%error, label = error.label(), "what a model call has cost could not be stored");
        }
    }
}

impl Bill {
    /// For a call with so many tokens in its request, which is not made yet.
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
        }
    }

    /// Notes that the request is sent: from now on it may cost something though nothing comes back.
    pub(super) const fn ask(&mut self) {
        self.asked = true;
    }

    /// Notes how the call failed.
    pub(super) const fn fail(&mut self, error: &ProviderError) {
        self.asked = error.was_taken_up();
    }

    /// Books an attempt of this model that came to nothing, by what it was sent; what is set aside is for the next.
    fn lose(&self, model: ModelName) -> oneshot::Receiver<()> {
        let usage = Usage { input: self.input, ..Usage::default() };
        let spent = Spent::new(usage, 0, self.ledger.prices.of(&model));
        let day = self.reserved.as_ref().map_or_else(|| self.ledger.date(), |(kept, _)| kept.most.day);
        self.book(Closed { spending: self.spending(day, model, spent), reservation: None, drawn: None })
    }

    /// Whether it may cost something.
    const fn is_taken_up(&self) -> bool {
        self.asked || self.model.is_some()
    }

    /// The most tokens of the answer.
    fn longest(&self) -> u64 {
        self.reserved.as_ref().map_or(MAX_OUTPUT, |(_, longest)| *longest)
    }

    /// What the provider did not say, or not yet.
    fn estimate(&self) -> Usage {
        let longest = self.reserved.as_ref().map_or(u64::MAX, |(_, longest)| *longest);
        let seen = u64::try_from(estimate_tokens(&self.text)).unwrap_or(u64::MAX);
        Usage { input: self.input, cached: 0, output: seen.saturating_add(self.unseen).min(longest) }
    }

    /// What is to be booked, once.
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
        if spent == Spent::default() && reservation.is_none() {
            return None;
        }
        let day = reservation.as_ref().map_or_else(|| self.ledger.date(), |kept| kept.most.day);
        let drawn = self.drawn.take();
        Some(Closed { spending: self.spending(day, model, spent), reservation, drawn })
    }

    fn spending(&self, day: NaiveDate, model: ModelName, spent: Spent) -> Spending {
        let Payer { chat, user } = self.payer.clone();
        Spending { day, chat, user, model, purpose: self.purpose, spent }
    }

    /// What the call is made for.
    pub(super) const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Notes what was set aside for it.
    pub(super) fn reserve(&mut self, day: NaiveDate, most: Spent, longest: u64) {
        let most = self.spending(day, self.first.clone(), most);
        self.reserved = Some((Reservation { id: ReservationId::new(), most }, longest));
    }

    /// Notes what it has drawn on a tree.
    pub(super) fn draw(&mut self, drawn: Drawn) {
        self.drawn = Some(drawn);
    }

    pub(super) fn reservation(&self) -> Option<Reservation> {
        self.reserved.as_ref().map(|(reservation, _)| reservation.clone())
    }

    /// Books it, once; also when nobody waits for the end of that.
    pub(super) fn settle(&mut self, usage: Option<Usage>) -> Option<oneshot::Receiver<()>> {
        self.close(usage).map(|closed| self.book(closed))
    }

    fn book(&self, closed: Closed) -> oneshot::Receiver<()> {
        let (done, booked) = oneshot::channel();
        let ledger = Arc::clone(&self.ledger);
        self.ledger.background.spawn("bill", async move {
            ledger.book(closed).await;
            drop(done);
        });
        booked
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        drop(self.settle(None));
    }
}
