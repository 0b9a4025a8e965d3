//! The only way to call a model: checks all limits before a call, streams the answer, and books the cost. All callers use
//! it, background work included.
//!
//! Public type to start from: [`Ledger`].

mod accounts;
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

use chrono::{DateTime, Days, Months, NaiveDate};
use figaro_base::tz::Tz;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::budget::{Budget, BudgetAxis, Period};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Price, Purpose, Ratings, Spending, Spent, Usage};
use figaro_policy::budget::{Bound, BudgetDecision, CallEstimate, MAX_OUTPUT, has_spare, judge};
use figaro_provider::ProviderError;
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::{StoreError, UsageStore};

use accounts::Accounts;
pub use accounts::{ConfiguredLimits, LimitUse, NEARLY, RoleOf, SUBJECT};
pub use bill::MeteredStream;
pub use call::Drawing;
pub use embedder::MeteredEmbedder;
pub use slots::Slots;
pub use tree::{DrawnBy, Tree};

/// A run of a task may use one part in so many of a day.
const RUNS_A_DAY: u64 = 10;
/// Tokens that a run of a task may use under the smallest limit: a request, and one with results of tools.
const LEAST_RUN: u64 = 20_000;

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
    pub slots: Slots,
}

/// A used-up limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of {} is used up until {} ({})", axis.party(), self.until_words().0, self.until_words().1)]
pub struct OverBudget {
    /// Party that is limited.
    pub axis: BudgetAxis,
    /// Period that is used up.
    pub period: Period,
    /// End of the period, in the bot's time zone.
    pub until: DateTime<Tz>,
}

impl OverBudget {
    /// Returns the end of the period for people, with the date if it is not the end of the day, and the name of the time
    /// zone.
    #[must_use]
    pub fn until_words(&self) -> (String, String) {
        let format = if self.period == Period::Day { "%H:%M" } else { "%Y-%m-%d %H:%M" };
        (self.until.format(format).to_string(), self.until.timezone().name().to_owned())
    }
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
        let (accounts, slots) = (Mutex::new(accounts), Arc::new(slots));
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

    /// Returns today's spending of the whole bot, without reservations.
    #[must_use]
    pub fn spent_today(&self) -> Spent {
        self.spent(&BudgetAxis::Bot, Period::Day)
    }

    /// Returns what an axis has spent in a period, without reservations. Months are counted only while one is limited.
    #[must_use]
    pub fn spent(&self, axis: &BudgetAxis, period: Period) -> Spent {
        self.accounts().usage(axis, period).spent
    }

    /// Returns the limits of a payer, with their usage.
    #[must_use]
    pub fn limits(&self, payer: &Payer) -> Vec<LimitUse> {
        self.accounts().limits(payer, Purpose::Turn, &[])
    }

    /// Returns the limits of an axis, with their usage. `chat` decides which role a person has.
    #[must_use]
    pub fn limits_of(&self, axis: BudgetAxis, chat: ChatId) -> Vec<LimitUse> {
        self.accounts().limits_of(axis, chat, Purpose::Turn)
    }

    /// Returns the model that answers a payer who wants this one: the cheaper model of the settings, if there is one and a
    /// limit of the payer is nearly used up.
    #[must_use]
    pub fn model_for(&self, payer: &Payer, wanted: ModelName) -> ModelName {
        let is_nearly_over = || self.limits(payer).iter().any(|limit| limit.percent() >= NEARLY);
        match self.models.cheaper() {
            Some(cheaper) if is_nearly_over() => cheaper.clone(),
            _ => wanted,
        }
    }

    /// Returns the tokens after which one run of the payer's task must end: a tenth of the tightest limit of a day, so that a
    /// task that goes wrong leaves the rest of the day. Money counts at the price of a sent token. `None` without a task or
    /// without a limit of a day.
    #[must_use]
    pub fn run_tokens(&self, payer: &Payer, model: &ModelName) -> Option<u64> {
        payer.task?;
        let price = self.price(model).map(|price| price.input);
        let of_day = self.limits(payer).into_iter().filter(|limit| limit.period == Period::Day);
        let tokens = of_day.flat_map(|limit| {
            let by_money =
                limit.bound.caps.nano_usd.zip(price).and_then(|(cap, price)| cap.checked_div(price));
            limit.bound.caps.tokens.into_iter().chain(by_money)
        });
        tokens.min().map(|tokens| (tokens / RUNS_A_DAY).max(LEAST_RUN))
    }

    /// Returns the limits that owners set in chats, by axis.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        self.accounts().budgets()
    }

    /// Sets the limits of an axis, durably; without any limit they are removed. They hold from the next call on and count
    /// what was spent before.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn set_budget(&self, budget: Budget) -> Result<(), StoreError> {
        self.store.set_budget(&budget).await?;
        let mut accounts = self.accounts();
        accounts.set(budget);
        self.count_months(&mut accounts)?;
        drop(accounts);
        self.booked.notify_waiters();
        Ok(())
    }

    /// Follows a chat to its new id, after the store has moved its data.
    pub fn move_chat(&self, from: ChatId, to: ChatId) {
        self.accounts().move_chat(from, to);
    }

    /// Returns the limits that calls in this chat have nearly used up, each once in its period.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tell_of_nearly(&self, chat: ChatId) -> Result<Vec<LimitUse>, StoreError> {
        let untold = self.accounts().take_untold(chat);
        let mut new = Vec::new();
        for limit in untold {
            if self.tell_once(&limit.axis, limit.period, "nearly").await? {
                new.push(limit);
            }
        }
        Ok(new)
    }

    /// Returns `true` once in the period, if owners have not been told yet that this limit is used up.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tell_of_over(&self, axis: &BudgetAxis, period: Period) -> Result<bool, StoreError> {
        self.tell_once(axis, period, "over").await
    }

    async fn tell_once(&self, axis: &BudgetAxis, period: Period, what: &str) -> Result<bool, StoreError> {
        self.store.tell_of_budget(period.start(self.date()), &format!("{axis} {period:?} {what}")).await
    }

    /// Returns `true` if the bot's limits leave any room for background calls. [`Self::background_text`] decides whether a
    /// particular call fits.
    #[must_use]
    pub fn has_spare(&self) -> bool {
        let limits = self.accounts().limits_of(BudgetAxis::Bot, ChatId(0), Purpose::Background);
        has_spare(&bounds(&limits))
    }

    /// Returns the time at which the day ends, and its time zone.
    #[must_use]
    pub fn resets_at(&self) -> (DateTime<Tz>, Tz) {
        (end_of(Period::Day, self.clock.now().with_timezone(&self.zone)), self.zone)
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
        let Payer { chat, user, task, agents, key } = payer;
        self.store
            .book(&Spending { day, chat, user, task, agents, key, model, purpose, spent, ratings }, None)
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
    fn grant(&self, wanted: CallEstimate, payer: &Payer, purpose: Purpose) -> (NaiveDate, Ruling) {
        let mut accounts = self.accounts();
        let limits = accounts.limits(payer, purpose, &[]);
        let ruling = self.ruled(judge(&bounds(&limits), wanted), &limits);
        let date = accounts.date;
        if let Ruling::Grant(Granted { most, .. }) = &ruling {
            accounts.reserve(date, &payer.axes(), purpose, *most);
        }
        (date, ruling)
    }

    /// Names the limit that a decision is about.
    fn ruled(&self, decision: BudgetDecision, limits: &[LimitUse]) -> Ruling {
        match decision {
            BudgetDecision::Grant { output, search, most } => Ruling::Grant(Granted { output, search, most }),
            BudgetDecision::Wait => Ruling::Wait,
            BudgetDecision::Over(at) => match limits.get(at) {
                Some(limit) => Ruling::Over(self.over(limit.axis.clone(), limit.period)),
                None => Ruling::Wait,
            },
        }
    }

    fn over(&self, axis: BudgetAxis, period: Period) -> LedgerError {
        let now = self.clock.now().with_timezone(&self.zone);
        LedgerError::OverBudget(Box::new(OverBudget { axis, period, until: end_of(period, now) }))
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
enum Ruling {
    Grant(Granted),
    Wait,
    Over(LedgerError),
}

fn bounds(limits: &[LimitUse]) -> Vec<Bound> {
    limits.iter().map(|limit| limit.bound).collect()
}

/// Returns `true` if each axis with a limit of money also has one of tokens, in a day or in a month.
fn takes_unpriced(limits: &[LimitUse]) -> bool {
    let has_tokens = |axis: &BudgetAxis| {
        limits.iter().any(|limit| limit.axis == *axis && limit.bound.caps.tokens.is_some())
    };
    limits.iter().all(|limit| limit.bound.caps.nano_usd.is_none() || has_tokens(&limit.axis))
}

/// Returns the end of a period: midnight or, if clocks skip it, the first hour that exists.
fn end_of(period: Period, now: DateTime<Tz>) -> DateTime<Tz> {
    let first = period.start(now.date_naive());
    let next = match period {
        Period::Day => first.checked_add_days(Days::new(1)),
        Period::Month => first.checked_add_months(Months::new(1)),
    };
    let mut hours = (0..24).filter_map(|hour| next?.and_hms_opt(hour, 0, 0));
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
