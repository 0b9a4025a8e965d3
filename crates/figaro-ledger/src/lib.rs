//! The only way to call a model: checks all limits before a call, streams the answer, and books the cost. All callers use
//! it, background work included.
//!
//! Public type to start from: [`Ledger`].

mod accounts;
mod allowance;
mod bill;
mod call;
mod embedder;
mod limits;
mod over;
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
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::budget::{BudgetAxis, Period};
use figaro_domain::calls::Calls;
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Price, Purpose, Ratings, Spending, Spent, Usage};
use figaro_policy::budget::{Bound, BudgetDecision, CallEstimate, MAX_OUTPUT, has_spare, judge};
use figaro_provider::ProviderError;
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::{StoreError, UsageStore};

use accounts::{Accounts, takes_unpriced};
pub use accounts::{ConfiguredLimits, LimitUse, RoleOf, SUBJECT};
pub use bill::MeteredStream;
pub use call::Drawing;
pub use embedder::MeteredEmbedder;
pub use over::OverBudget;
pub use slots::Slots;
pub use tree::{DrawnBy, Tree};

/// Checks and books all model calls.
#[derive(Debug)]
pub struct Ledger {
    /// Client of the model providers.
    pub models: Arc<Models>,
    store: UsageStore,
    prices: Prices,
    zone: Tz,
    clock: Clock,
    background: TaskTracker,
    slots: Arc<Slots>,
    accounts: Mutex<Accounts>,
    booked: Notify,
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
    /// Limits from the settings.
    pub limits: ConfiguredLimits,
    /// Looks up the roles of people, which may limit them.
    pub roles: RoleOf,
    /// Time zone whose midnight ends the day.
    pub zone: Tz,
    /// Source of the current time; spending is booked on its day.
    pub clock: Clock,
    /// Tracks bookings that run in the background.
    pub background: TaskTracker,
    /// Limits of parallel requests per server.
    pub slots: Arc<Slots>,
}

/// Reason why a call was not made, or broke off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The provider of the model failed.
    #[error(transparent)]
    Model(#[from] ProviderError),
    /// A limit leaves no room for the call.
    #[error(transparent)]
    OverBudget(Box<OverBudget>),
    /// The price of the model is unknown, and money is the only limit.
    #[error("the price of {0} is not known, and money is the only limit")]
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
            Self::OverBudget(_) => "over_budget",
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
        let LedgerParts { models, store, prices, limits, roles, zone, clock, background, slots } = parts;
        store.book_reserved().await?;
        let date = clock.now().with_timezone(&zone).date_naive();
        let mut accounts = Accounts::new(date, limits, store.budgets()?, roles);
        accounts.begin_day(&store.spent(date..=date)?);
        let accounts = Mutex::new(accounts);
        let booked = Notify::new();
        let ledger = Self { models, store, prices, zone, clock, background, slots, accounts, booked };
        ledger.count_months(&mut ledger.accounts())?;
        Ok(Arc::new(ledger))
    }

    /// Reads what was spent this month before today, once a limit needs it.
    fn count_months(&self, accounts: &mut Accounts) -> Result<(), StoreError> {
        if accounts.lacks_months() {
            let first = Period::Month.start(accounts.date);
            let before = accounts.date.pred_opt().filter(|yesterday| first <= *yesterday);
            let spent = before.map(|yesterday| self.store.spent(first..=yesterday)).transpose()?;
            accounts.begin_month(&spent.unwrap_or_default());
        }
        Ok(())
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

    /// Returns `true` if the bot's limits leave any room for background calls. [`Self::background_text`] decides whether a
    /// particular call fits.
    #[must_use]
    pub fn has_spare(&self) -> bool {
        let limits = self.accounts().limits_of(BudgetAxis::Bot, ChatId(0), Purpose::Background);
        has_spare(&bounds(&limits))
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
        let (day, purpose, spent, calls) =
            (self.date(), Purpose::default(), Spent::default(), Calls::default());
        let Payer { chat, user, task, agents, key } = payer;
        self.store.book(
            &Spending { day, chat, user, task, agents, key, model, purpose, spent, ratings, calls },
            None,
        )
    }

    /// Returns the models that may be called within these limits: those of unknown price are left out where an axis is
    /// limited by money alone.
    fn affordable(&self, order: &[ModelName], limits: &[LimitUse]) -> Result<Vec<ModelName>, LedgerError> {
        let takes_unpriced = takes_unpriced(limits);
        let may_ask = |model: &&ModelName| takes_unpriced || self.prices.of(model).is_some();
        let affordable: Vec<ModelName> = order.iter().filter(may_ask).cloned().collect();
        match order.first() {
            Some(first) if affordable.is_empty() => Err(LedgerError::Unpriced(first.clone())),
            _ => Ok(affordable),
        }
    }

    /// Judges a call and, if granted, reserves its maximum cost on the returned day.
    fn grant(&self, wanted: CallEstimate, payer: &Payer, purpose: Purpose) -> (NaiveDate, CallRuling) {
        let mut accounts = self.accounts();
        let limits = accounts.limits(payer, purpose, &[]);
        let ruling = self.ruled(judge(&bounds(&limits), wanted), &limits);
        let date = accounts.date;
        if let CallRuling::Grant(Granted { most, .. }) = &ruling {
            accounts.reserve(date, &payer.axes(), purpose, *most);
        }
        (date, ruling)
    }

    /// Names the limit that a decision is about.
    fn ruled(&self, decision: BudgetDecision, limits: &[LimitUse]) -> CallRuling {
        match decision {
            BudgetDecision::Grant { output, search, most } => {
                CallRuling::Grant(Granted { output, search, most })
            }
            BudgetDecision::Wait => CallRuling::Wait,
            BudgetDecision::Over(at) => match limits.get(at) {
                Some(limit) => CallRuling::Over(self.over(limit.axis.clone(), limit.period)),
                None => CallRuling::Wait,
            },
        }
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

    /// Returns the accounts, with those of the day reset on a new day.
    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        let date = self.date();
        let mut accounts = self.accounts.lock();
        accounts.roll_over(date);
        accounts
    }
}

/// Room that a call has got.
struct Granted {
    /// Limit of the answer in tokens.
    output: u64,
    /// `true` if the provider may search the web.
    search: bool,
    /// Maximum cost of the call.
    most: Spent,
}

/// Decision about a call, with the limit that has no room for it.
enum CallRuling {
    Grant(Granted),
    Wait,
    Over(LedgerError),
}

fn bounds(limits: &[LimitUse]) -> Vec<Bound> {
    limits.iter().map(|limit| limit.bound).collect()
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
