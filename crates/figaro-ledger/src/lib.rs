//! The only way to call a model: checks today's caps before a call, streams the answer, and books the cost. All callers
//! use it, background work included.
//!
//! Public type to start from: [`Ledger`].

mod bill;
mod call;
mod embedder;
mod services;
mod slots;
#[cfg(test)]
mod tests;
mod tree;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate};
use figaro_base::tz::Tz;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Price, Purpose, Ratings, Spending, Spent, Usage};
use figaro_policy::budget::{
    BudgetDecision, CallEstimate, Caps, DayUsage, MAX_OUTPUT, has_spare, judge, judge_background,
};
use figaro_provider::ProviderError;
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::{StoreError, UsageStore};

pub use bill::MeteredStream;
pub use call::Drawing;
pub use embedder::MeteredEmbedder;
pub use slots::Slots;
pub use tree::{DrawnBy, Tree};

/// Checks and books all model calls.
#[derive(Debug)]
pub struct Ledger {
    /// Client of the model providers.
    pub models: Arc<Models>,
    store: UsageStore,
    prices: Prices,
    caps: Caps,
    background_percent: u64,
    zone: Tz,
    clock: Clock,
    background: TaskTracker,
    slots: Arc<Slots>,
    today: Mutex<Today>,
    booked: Notify,
}

/// Figures by which calls are judged.
#[derive(Debug, Default)]
struct Today {
    date: NaiveDate,
    day: DayUsage,
    /// Background part of the day.
    background: DayUsage,
}

impl Today {
    /// Returns the figures that a call of this purpose counts toward.
    fn each(&mut self, purpose: Purpose) -> impl Iterator<Item = &mut DayUsage> {
        let own = match purpose {
            Purpose::Turn => None,
            Purpose::Background => Some(&mut self.background),
        };
        std::iter::once(&mut self.day).chain(own)
    }
}

/// Parts that a [`Ledger`] is built from.
#[derive(Debug)]
pub struct LedgerParts {
    /// Client of the model providers.
    pub models: Arc<Models>,
    /// Store of spending and reservations.
    pub store: UsageStore,
    /// Prices by model.
    pub prices: Prices,
    /// Daily limits of the whole bot.
    pub caps: Caps,
    /// Share of the caps for background calls, in percent.
    pub background_percent: u64,
    /// Time zone whose midnight ends the day.
    pub zone: Tz,
    /// Source of the current time; spending is booked on its day.
    pub clock: Clock,
    /// Tracks bookings that run in the background.
    pub background: TaskTracker,
    /// Limits of parallel requests per server.
    pub slots: Slots,
}

/// Reason why a call was not made, or broke off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The provider of the model failed.
    #[error(transparent)]
    Model(#[from] ProviderError),
    /// The daily caps leave no room for the call.
    #[error("today's budget is used up")]
    OverBudget,
    /// The price of the model is unknown, and money is the only cap.
    #[error("the price of {0} is not known, and DAILY_USD is the only bound")]
    Unpriced(ModelName),
    /// The reservation could not be stored; the log has the reason.
    #[error("the store failed")]
    Store,
    /// The call took longer than the caller's limit.
    #[error("the model took too long")]
    Slow,
    /// People's questions kept the server busy.
    #[error("questions keep the model busy")]
    Busy,
}

impl LedgerError {
    /// A short stable name for metrics and logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Model(error) => error.label(),
            Self::OverBudget => "over_budget",
            Self::Unpriced(_) => "unpriced",
            Self::Store => "store",
            Self::Slow => "slow",
            Self::Busy => "busy",
        }
    }
}

impl Ledger {
    /// Opens the ledger. Reservations left by a crash count as spent.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open(parts: LedgerParts) -> Result<Arc<Self>, StoreError> {
        let LedgerParts { models, store, prices, caps, background_percent, zone, clock, background, slots } =
            parts;
        store.book_reserved().await?;
        let (today, booked) = (Mutex::default(), Notify::new());
        let slots = Arc::new(slots);
        let ledger = Self {
            models,
            store,
            prices,
            caps,
            background_percent,
            zone,
            clock,
            background,
            slots,
            today,
            booked,
        };
        let date = ledger.date();
        let spendings = ledger.store.spent(date..=date)?;
        let of = |spent: Spent| DayUsage { spent, reserved: Spent::default() };
        *ledger.today() = Today { date, day: of(sum(&spendings)), background: of(in_background(&spendings)) };
        Ok(Arc::new(ledger))
    }

    /// Returns the cost of a call of this model in nano-dollars; `None` if the price of its tokens or searches is
    /// unknown.
    #[must_use]
    pub fn cost(&self, model: &ModelName, usage: Usage, searches: u64) -> Option<u64> {
        let spent = Spent::new(usage, searches, self.price(model));
        (spent.unpriced == 0).then_some(spent.nano_usd)
    }

    /// Returns the price of a model; `None` if it is unknown.
    #[must_use]
    pub fn price(&self, model: &ModelName) -> Option<Price> {
        self.prices.of(model)
    }

    /// Returns the daily caps.
    #[must_use]
    pub const fn caps(&self) -> Caps {
        self.caps
    }

    /// Returns today's spending, without reservations.
    #[must_use]
    pub fn spent_today(&self) -> Spent {
        self.roll_over().day.spent
    }

    /// Returns `true` if today's caps leave any room for background calls. [`Self::background_text`] decides whether a
    /// particular call fits.
    #[must_use]
    pub fn has_spare(&self) -> bool {
        let today = self.roll_over();
        has_spare(self.caps, self.background_percent, today.day, today.background)
    }

    /// Returns the time at which the day ends, and its time zone.
    #[must_use]
    pub fn resets_at(&self) -> (DateTime<Tz>, Tz) {
        (next_day(self.clock.now().with_timezone(&self.zone)), self.zone)
    }

    /// Returns the time after this duration, at most a year, and its time zone.
    #[must_use]
    pub fn time_after(&self, passed: Duration) -> (DateTime<Tz>, Tz) {
        const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
        (self.clock.now().with_timezone(&self.zone) + passed.min(YEAR), self.zone)
    }

    /// Returns the range of the last `count` days, today included, and the spending on them.
    ///
    /// # Errors
    /// When the store fails.
    pub fn last_days(&self, count: u64) -> Result<(RangeInclusive<NaiveDate>, Vec<Spending>), StoreError> {
        let today = self.date();
        let first = today.checked_sub_days(Days::new(count.saturating_sub(1))).unwrap_or(today);
        Ok((first..=today, self.store.spent(first..=today)?))
    }

    /// Adds a change of reactions to answers of this model, today.
    ///
    /// # Errors
    /// When the store fails.
    pub fn rate(&self, payer: Payer, model: ModelName, ratings: Ratings) -> Result<(), StoreError> {
        let (day, purpose, spent) = (self.date(), Purpose::default(), Spent::default());
        let Payer { chat, user } = payer;
        self.store.book(&Spending { day, chat, user, model, purpose, spent, ratings }, None)
    }

    /// Returns `true` once a day, if owners have not yet been told that today's caps were reached.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tell_of_caps(&self) -> Result<bool, StoreError> {
        self.store.tell_of_caps(self.date()).await
    }

    /// Returns the models that may be called: if money is the only cap, those of unknown price are left out.
    fn affordable(&self, order: &[ModelName]) -> Result<Vec<ModelName>, LedgerError> {
        let may_ask = |model: &&ModelName| self.caps.takes_unpriced() || self.prices.of(model).is_some();
        let affordable: Vec<ModelName> = order.iter().filter(may_ask).cloned().collect();
        match order.first() {
            Some(first) if affordable.is_empty() => Err(LedgerError::Unpriced(first.clone())),
            _ => Ok(affordable),
        }
    }

    /// Judges a call and, if granted, reserves its maximum cost on the returned day.
    fn grant(&self, wanted: CallEstimate, purpose: Purpose) -> (NaiveDate, BudgetDecision) {
        let mut today = self.roll_over();
        let ruling = match purpose {
            Purpose::Turn => judge(self.caps, today.day, wanted),
            Purpose::Background => {
                judge_background(self.caps, self.background_percent, today.day, today.background, wanted)
            }
        };
        if let BudgetDecision::Grant { most, .. } = ruling {
            today.each(purpose).for_each(|day| day.reserved += most);
        }
        (today.date, ruling)
    }

    /// Returns the default answer limit in tokens, small enough for each of the models.
    fn longest_answer(&self, order: &[ModelName]) -> u64 {
        let can = order.iter().filter_map(|model| self.models.capabilities(model));
        let bounds = can.filter_map(|can| u64::try_from(can.longest_answer()).ok());
        bounds.fold(MAX_OUTPUT, u64::min)
    }

    /// Returns the highest known price of each kind; `None` if no price is known. A model of unknown price is limited by
    /// tokens alone, and must not lift the money cap from the others.
    fn highest_price(&self, order: &[ModelName]) -> Option<Price> {
        let prices = order.iter().filter_map(|model| self.prices.of(model));
        prices.reduce(|a, b| Price {
            input: a.input.max(b.input),
            cached: a.cached.max(b.cached),
            output: a.output.max(b.output),
            search: a.search.max(b.search),
        })
    }

    fn date(&self) -> NaiveDate {
        self.clock.now().with_timezone(&self.zone).date_naive()
    }

    /// Returns today's figures, reset to zero on a new day. Reservations of yesterday's calls stay on that day.
    fn roll_over(&self) -> MutexGuard<'_, Today> {
        let date = self.date();
        let mut today = self.today();
        if today.date < date {
            *today = Today { date, ..Today::default() };
        }
        today
    }

    fn today(&self) -> MutexGuard<'_, Today> {
        self.today.lock()
    }
}

/// Returns the start of the next day: midnight or, if clocks skip it, the first hour that exists.
fn next_day(now: DateTime<Tz>) -> DateTime<Tz> {
    let tomorrow = now.date_naive().checked_add_days(Days::new(1));
    let mut hours = (0..24).filter_map(|hour| tomorrow?.and_hms_opt(hour, 0, 0));
    hours.find_map(|hour| hour.and_local_timezone(now.timezone()).earliest()).unwrap_or(now)
}

/// Sums the background spending.
#[must_use]
pub fn in_background(spendings: &[Spending]) -> Spent {
    sum(spendings.iter().filter(|spending| !spending.purpose.is_turn()))
}

/// Sums all spending.
#[must_use]
pub fn sum<'a>(spendings: impl IntoIterator<Item = &'a Spending>) -> Spent {
    spendings.into_iter().fold(Spent::default(), |mut sum, spending| {
        sum += spending.spent;
        sum
    })
}
