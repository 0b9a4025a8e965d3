//! Limits on spending as the rest of Figaro sees them: how much of each is used, who is told, and how owners change them.

use super::accounts::{LimitUse, NEARLY};
use super::over::{OverBudget, end_of};
use super::{Ledger, LedgerError};
use figaro_base::ids::ChatId;
use figaro_domain::budget::{Budget, BudgetAxis, Period};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Purpose, Spent};
use figaro_store::StoreError;

/// A run of a task may use one part in so many of a day.
const RUNS_A_DAY: u64 = 10;
/// Tokens that a run of a task may use under the smallest limit: a request, and one with results of tools.
const LEAST_RUN: u64 = 20_000;

impl Ledger {
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

    /// Returns the model that answers while a limit is nearly used up; `None` if the settings name none.
    #[must_use]
    pub fn cheaper(&self) -> Option<ModelName> {
        self.accounts().cheaper()
    }

    /// Returns the model that answers a payer who wants this one: the cheaper model of the settings, if there is one and a
    /// limit of the payer is nearly used up.
    #[must_use]
    pub fn model_for(&self, payer: &Payer, wanted: ModelName) -> ModelName {
        let is_nearly_over = || self.limits(payer).iter().any(|limit| limit.percent() >= NEARLY);
        match self.cheaper() {
            Some(cheaper) if is_nearly_over() => cheaper,
            _ => wanted,
        }
    }

    /// Returns the tokens after which one run of the payer's task must end: a tenth of the tightest limit of a day, but at
    /// least 20,000, so that a task that goes wrong leaves the rest of the day. Money counts at the price of a sent
    /// token. `None` without a task or without a limit of a day.
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

    /// Returns `true` if there is a key of the gateway with this name, or it is the subject of a token.
    #[must_use]
    pub fn knows_key(&self, name: &str) -> bool {
        self.accounts().knows_key(name)
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

    /// Returns the limits that are nearly used up, each once in its period: those that an answer to `payer` can tell of, and
    /// those for owners.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tell_of_nearly(&self, payer: Option<&Payer>) -> Result<Vec<LimitUse>, StoreError> {
        let untold = self.accounts().take_untold(payer);
        let mut new = Vec::new();
        for limit in untold {
            // A raised limit is told of again.
            let what = format!("nearly {:?}", limit.bound.caps);
            if self.tell_once(&limit.axis, limit.period, &what).await? {
                new.push(limit);
            }
        }
        Ok(new)
    }

    /// Takes the used-up limits that agents met whose turn went on.
    #[must_use]
    pub fn take_met(&self) -> Vec<OverBudget> {
        std::mem::take(&mut self.accounts().met)
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

    pub(super) fn over(&self, axis: BudgetAxis, period: Period) -> LedgerError {
        let now = self.clock.now().with_timezone(&self.zone);
        LedgerError::OverBudget(Box::new(OverBudget { axis, period, until: end_of(period, now) }))
    }
}
