//! The one way to a model: checks today's caps before a call, passes the model's words on, and books the cost. Used by all callers
//! of models, background work included.
//!
//! Public type to start from: [`Ledger`].

mod bill;
mod call;
mod embedder;
mod slots;
#[cfg(test)]
mod tests;
mod tree;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate};
use chrono_tz::Tz;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Price, Purpose, Spending, Spent, Usage};
use figaro_policy::budget::{Caps, Day, MAX_OUTPUT, Ruling, Wanted, has_spare, judge, judge_background};
use figaro_provider::ProviderError;
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::{StoreError, UsageStore};

pub use bill::MeteredStream;
pub use call::Drawing;
pub use embedder::MeteredEmbedder;
pub use slots::Slots;
pub use tree::{DrawnBy, Tree};

/// Keeps account of all model calls.
#[derive(Debug)]
pub struct Ledger {
    /// The way to the models.
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

/// The figures that calls are judged by.
#[derive(Debug, Default)]
struct Today {
    date: NaiveDate,
    day: Day,
    /// What of it nobody waits for.
    background: Day,
}

impl Today {
    /// The figures that a call of this purpose counts to.
    fn each(&mut self, purpose: Purpose) -> impl Iterator<Item = &mut Day> {
        let own = match purpose {
            Purpose::Turn => None,
            Purpose::Background => Some(&mut self.background),
        };
        std::iter::once(&mut self.day).chain(own)
    }
}

/// What a ledger works with.
#[derive(Debug)]
pub struct LedgerParts {
    /// The way to the models.
    pub models: Arc<Models>,
    /// Where it is kept.
    pub store: UsageStore,
    /// The prices of models.
    pub prices: Prices,
    /// Bounds of a day.
    pub caps: Caps,
    /// So many hundredths of the caps are for calls that nobody waits for.
    pub background_percent: u64,
    /// Where the day ends at midnight.
    pub zone: Tz,
    /// Gives the current time: spending is booked on its day.
    pub clock: Clock,
    /// Tracks bookings that nobody waits for.
    pub background: TaskTracker,
    /// The servers that take few requests at a time.
    pub slots: Slots,
}

/// Why a call was not made, or broke off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The provider of the model failed.
    #[error(transparent)]
    Model(#[from] ProviderError),
    /// The day's caps leave no room for it.
    #[error("today's budget is used up")]
    OverBudget,
    /// Nobody knows what the model costs, and money is the only bound.
    #[error("the price of {0} is not known, and DAILY_USD is the only bound")]
    Unpriced(ModelName),
    /// Nothing could be set aside for it; the log says why.
    #[error("the store failed")]
    Store,
    /// It took longer than the caller wants to wait.
    #[error("the model took too long")]
    Slow,
    /// People's questions have kept its server busy.
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
    /// Opens the books: what a stop left set aside counts as spent.
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
        let spendings = ledger.store.spent(date..=date).await?;
        let of = |spent: Spent| Day { spent, reserved: Spent::default() };
        *ledger.today() = Today { date, day: of(sum(&spendings)), background: of(in_background(&spendings)) };
        Ok(Arc::new(ledger))
    }

    /// What a call of this model came to; `None` where the price of its tokens or its searches is not known.
    #[must_use]
    pub fn cost(&self, model: &ModelName, usage: Usage, searches: u64) -> Option<u64> {
        let spent = Spent::new(usage, searches, self.price(model));
        (spent.unpriced == 0).then_some(spent.nano_usd)
    }

    /// What a model costs; `None` where nobody knows.
    #[must_use]
    pub fn price(&self, model: &ModelName) -> Option<Price> {
        self.prices.of(model)
    }

    /// What may be spent in a day.
    #[must_use]
    pub const fn caps(&self) -> Caps {
        self.caps
    }

    /// What today has come to.
    #[must_use]
    pub fn spent_today(&self) -> Spent {
        self.roll_over().day.spent
    }

    /// Whether today's caps leave any room for calls that nobody waits for. Whether a certain call fits,
    /// [`Self::background_text`] says.
    #[must_use]
    pub fn has_spare(&self) -> bool {
        let today = self.roll_over();
        has_spare(self.caps, self.background_percent, today.day, today.background)
    }

    /// When the day ends, and where.
    #[must_use]
    pub fn resets_at(&self) -> (DateTime<Tz>, Tz) {
        (next_day(self.clock.now().with_timezone(&self.zone)), self.zone)
    }

    /// The time once this has passed, a year at most, and where clocks show it.
    #[must_use]
    pub fn time_after(&self, passed: Duration) -> (DateTime<Tz>, Tz) {
        const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
        (self.clock.now().with_timezone(&self.zone) + passed.min(YEAR), self.zone)
    }

    /// What was spent on the last so many days, today among them, and which days these are.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_days(
        &self,
        count: u64,
    ) -> Result<(RangeInclusive<NaiveDate>, Vec<Spending>), StoreError> {
        let today = self.date();
        let first = today.checked_sub_days(Days::new(count.saturating_sub(1))).unwrap_or(today);
        Ok((first..=today, self.store.spent(first..=today).await?))
    }

    /// Whether owners are yet to be told that today's caps were reached; `true` once a day.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tell_of_caps(&self) -> Result<bool, StoreError> {
        self.store.tell_of_caps(self.date()).await
    }

    /// Those of these models that may be asked: not those that nobody can tell the price of where money is the only bound.
    fn affordable(&self, order: &[ModelName]) -> Result<Vec<ModelName>, LedgerError> {
        let may_ask = |model: &&ModelName| self.caps.takes_unpriced() || self.prices.of(model).is_some();
        let affordable: Vec<ModelName> = order.iter().filter(may_ask).cloned().collect();
        match order.first() {
            Some(first) if affordable.is_empty() => Err(LedgerError::Unpriced(first.clone())),
            _ => Ok(affordable),
        }
    }

    /// Judges a call and, if it is granted, sets aside what it may come to on the day that it gives.
    fn grant(&self, wanted: Wanted, purpose: Purpose) -> (NaiveDate, Ruling) {
        let mut today = self.roll_over();
        let ruling = match purpose {
            Purpose::Turn => judge(self.caps, today.day, wanted),
            Purpose::Background => {
                judge_background(self.caps, self.background_percent, today.day, today.background, wanted)
            }
        };
        if let Ruling::Grant { most, .. } = ruling {
            today.each(purpose).for_each(|day| day.reserved += most);
        }
        (today.date, ruling)
    }

    /// The bound on an answer where nobody has set one; none of the models must refuse it.
    fn longest_answer(&self, order: &[ModelName]) -> u64 {
        let can = order.iter().filter_map(|model| self.models.capabilities(model));
        let bounds = can.filter_map(|can| u64::try_from(can.longest_answer()).ok());
        bounds.fold(MAX_OUTPUT, u64::min)
    }

    /// Each part of the highest price that is known; `None` if none is. What a model of unknown price takes is bounded
    /// by tokens alone, which must not free the others from a bound in money.
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

    /// Today's figures; a new day begins at nothing. What is set aside for calls of the day before stays that day's.
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

/// When the next day begins: at midnight or, where clocks skip it, with the first hour that they show.
fn next_day(now: DateTime<Tz>) -> DateTime<Tz> {
    let tomorrow = now.date_naive().checked_add_days(Days::new(1));
    let mut hours = (0..24).filter_map(|hour| tomorrow?.and_hms_opt(hour, 0, 0));
    hours.find_map(|hour| hour.and_local_timezone(now.timezone()).earliest()).unwrap_or(now)
}

/// What of it nobody waited for.
#[must_use]
pub fn in_background(spendings: &[Spending]) -> Spent {
    sum(spendings.iter().filter(|spending| !spending.purpose.is_turn()))
}

/// All of it together.
#[must_use]
pub fn sum<'a>(spendings: impl IntoIterator<Item = &'a Spending>) -> Spent {
    spendings.into_iter().fold(Spent::default(), |mut sum, spending| {
        sum += spending.spent;
        sum
    })
}
