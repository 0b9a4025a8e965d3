//! Usage of each party today and this month, and its limits.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use chrono::NaiveDate;

use super::over::OverBudget;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::budget::{Budget, BudgetAxis, Caps, Period, PeriodCaps, percent};
use figaro_domain::model::ModelName;
use figaro_domain::role::AccessRole;
use figaro_domain::usage::{Payer, Purpose, Spending, Spent};
use figaro_policy::budget::{Bound, LEFT_BY_BACKGROUND, PeriodUsage};

/// Share of a limit, in percent, from which people are told of it and a cheaper model answers, if there is one.
pub(super) const NEARLY: u64 = 75;
/// Beginning of the names of keys that are subjects of tokens.
pub const SUBJECT: &str = "jwt:";

/// Looks up a role.
type RoleLookup = dyn Fn(&UserId, ChatId) -> Option<AccessRole> + Send + Sync;

/// Returns the role of a person in a chat; `None` for an owner, whom no role limits.
#[derive(Clone)]
pub struct RoleOf(pub Arc<RoleLookup>);

/// Nobody has a role.
impl Default for RoleOf {
    fn default() -> Self {
        Self(Arc::new(|_, _| None))
    }
}

impl fmt::Debug for RoleOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoleOf")
    }
}

/// Limits from the settings of the bot. Owners add others in chats.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredLimits {
    /// Limits of the whole bot.
    pub bot: PeriodCaps,
    /// Share of the bot's limits for background work, in percent.
    pub background_percent: u64,
    /// All keys of the gateway by name, each with its limits of a day.
    pub keys: HashMap<String, Caps>,
    /// Limits of a day of each subject of a token of the gateway.
    pub subject: Caps,
    /// Model that answers while a limit is nearly used up.
    pub cheaper: Option<ModelName>,
}

/// Usage of a day and of its month.
#[derive(Debug, Clone, Copy, Default)]
struct Usages {
    day: PeriodUsage,
    month: PeriodUsage,
}

impl Usages {
    const fn of(&self, period: Period) -> PeriodUsage {
        match period {
            Period::Day => self.day,
            Period::Month => self.month,
        }
    }
}

/// A limit of a payer, and what is used of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitUse {
    /// Party that is limited.
    pub axis: BudgetAxis,
    /// Time in which the usage is counted.
    pub period: Period,
    /// The limit, and its usage.
    pub bound: Bound,
}

impl LimitUse {
    /// Returns the used share in percent, calls in progress left out: of tokens or of money, whichever is higher.
    #[must_use]
    pub fn percent(&self) -> u64 {
        let Bound { caps, usage } = self.bound;
        let share = |cap: Option<u64>, gone: u64| cap.map_or(0, |cap| percent(gone, cap));
        share(caps.tokens, usage.spent.tokens).max(share(caps.nano_usd, usage.spent.nano_usd))
    }
}

/// Usage and limits of all parties.
#[derive(Debug)]
pub(super) struct Accounts {
    pub(super) date: NaiveDate,
    by: HashMap<BudgetAxis, Usages>,
    background: Usages,
    configured: ConfiguredLimits,
    /// Limits that owners set in chats.
    set: HashMap<BudgetAxis, PeriodCaps>,
    roles: RoleOf,
    /// `true` if usage of the month is counted: nobody pays for reading it where nothing limits a month.
    has_months: bool,
    /// Limits that were nearly used up since the start of the day.
    seen: HashSet<(BudgetAxis, Period)>,
    /// Those of them that nobody was told of yet, with the chat of the call.
    untold: Vec<(ChatId, BudgetAxis, Period)>,
    /// Used-up limits that agents met whose turn goes on, so that its end does not tell of them.
    pub(super) met: Vec<OverBudget>,
}

impl Accounts {
    pub(super) fn new(
        date: NaiveDate,
        configured: ConfiguredLimits,
        budgets: Vec<Budget>,
        roles: RoleOf,
    ) -> Self {
        let set = budgets.into_iter().map(|budget| (budget.axis, budget.caps)).collect();
        Self {
            date,
            by: HashMap::new(),
            background: Usages::default(),
            configured,
            set,
            roles,
            has_months: false,
            seen: HashSet::new(),
            untold: Vec::new(),
            met: Vec::new(),
        }
    }

    /// Returns `true` if a limit of a month is set whose usage is not counted yet.
    pub(super) fn lacks_months(&self) -> bool {
        let is_set =
            || self.configured.bot.month.is_set() || self.set.values().any(|caps| caps.month.is_set());
        !self.has_months && is_set()
    }

    /// Counts spending of today at the start.
    pub(super) fn begin_day(&mut self, spendings: &[Spending]) {
        for spending in spendings {
            self.spend(spending.day, &spending.payer().axes(), spending.purpose, spending.spent);
        }
    }

    /// Counts the month from here on. `before` is its spending before today; that of today is known.
    pub(super) fn begin_month(&mut self, before: &[Spending]) {
        self.has_months = true;
        let known = self.by.values_mut().chain(std::iter::once(&mut self.background));
        known.for_each(|usages| usages.month = usages.day);
        for spending in before {
            if !spending.purpose.is_turn() {
                self.background.month.spent += spending.spent;
            }
            for axis in spending.payer().axes() {
                self.by.entry(axis).or_default().month.spent += spending.spent;
            }
        }
    }

    /// Begins a new day. Reservations of yesterday's calls stay on that day, and in its month.
    pub(super) fn roll_over(&mut self, date: NaiveDate) {
        if self.date >= date {
            return;
        }
        let is_same_month = Period::Month.start(self.date) == Period::Month.start(date);
        self.date = date;
        self.seen.clear();
        self.untold.clear();
        self.met.clear();
        if !(self.has_months && is_same_month) {
            self.by.clear();
            self.background = Usages::default();
            return;
        }
        self.by.values_mut().for_each(|usages| usages.day = PeriodUsage::default());
        self.background.day = PeriodUsage::default();
    }

    /// Sets the limits of an axis, or removes them.
    pub(super) fn set(&mut self, budget: Budget) {
        let is_of_people = matches!(budget.axis, BudgetAxis::Role(_));
        let has_changed = |axis: &BudgetAxis| {
            *axis == budget.axis || (is_of_people && matches!(axis, BudgetAxis::Person(_)))
        };
        self.seen.retain(|(axis, _)| !has_changed(axis));
        match budget.caps.is_set() {
            true => _ = self.set.insert(budget.axis, budget.caps),
            false => _ = self.set.remove(&budget.axis),
        }
    }

    /// Returns `true` if the gateway may see this key: one of the settings, or the subject of a token.
    pub(super) fn knows_key(&self, name: &str) -> bool {
        name.starts_with(SUBJECT) || self.configured.keys.contains_key(name)
    }

    pub(super) fn cheaper(&self) -> Option<ModelName> {
        self.configured.cheaper.clone()
    }

    /// Moves the limits and the usage of a chat to its new id. Calls in progress end at the old one.
    pub(super) fn move_chat(&mut self, from: ChatId, to: ChatId) {
        let [from, to] = [from, to].map(BudgetAxis::Chat);
        if let Some(caps) = self.set.remove(&from) {
            self.set.entry(to.clone()).or_insert(caps);
        }
        let Some(usages) = self.by.get_mut(&from) else { return };
        let [day, month] = [&mut usages.day, &mut usages.month].map(|usage| std::mem::take(&mut usage.spent));
        let usages = self.by.entry(to).or_default();
        usages.day.spent += day;
        usages.month.spent += month;
    }

    /// Returns the limits that owners set, by axis.
    pub(super) fn budgets(&self) -> Vec<Budget> {
        let mut budgets: Vec<Budget> =
            self.set.iter().map(|(axis, caps)| Budget { axis: axis.clone(), caps: *caps }).collect();
        budgets.sort_by(|a, b| a.axis.cmp(&b.axis));
        budgets
    }

    /// Returns the limits of a call, those of months first. Axes in `without` are left out.
    pub(super) fn limits(&self, payer: &Payer, purpose: Purpose, without: &[BudgetAxis]) -> Vec<LimitUse> {
        let mut axes = payer.axes();
        axes.retain(|axis| !without.contains(axis));
        let limits = axes.into_iter().map(|axis| (self.caps_of(&axis, payer.chat), axis)).collect();
        self.limits_within(limits, purpose)
    }

    /// Returns the limits of one axis of a chat.
    pub(super) fn limits_of(&self, axis: BudgetAxis, chat: ChatId, purpose: Purpose) -> Vec<LimitUse> {
        self.limits_within(vec![(self.caps_of(&axis, chat), axis)], purpose)
    }

    fn limits_within(&self, limits: Vec<(PeriodCaps, BudgetAxis)>, purpose: Purpose) -> Vec<LimitUse> {
        let percent = if purpose.is_turn() { 100 } else { LEFT_BY_BACKGROUND };
        let mut found = Vec::new();
        for period in Period::ALL {
            for (caps, axis) in &limits {
                let usage = self.by.get(axis).map(|usages| usages.of(period)).unwrap_or_default();
                let bound = Bound { caps: caps.of(period).percent(percent), usage };
                found.push(LimitUse { axis: axis.clone(), period, bound });
            }
            if !purpose.is_turn() {
                let of_bot = self.caps_of(&BudgetAxis::Bot, ChatId(0));
                let caps = of_bot.of(period).percent(self.configured.background_percent);
                let bound = Bound { caps, usage: self.background.of(period) };
                found.push(LimitUse { axis: BudgetAxis::Bot, period, bound });
            }
        }
        found.retain(|limit| limit.bound.caps.is_set());
        found
    }

    /// Returns all limits that hold for an axis. A person without limits of their own has those of their role.
    fn caps_of(&self, axis: &BudgetAxis, chat: ChatId) -> PeriodCaps {
        let own = self.set.get(axis).copied();
        match axis {
            BudgetAxis::Bot => both(self.configured.bot, own.unwrap_or_default()),
            BudgetAxis::Person(user) => own.or_else(|| self.of_role(user, chat)).unwrap_or_default(),
            BudgetAxis::Key(name) => {
                let is_subject = name.starts_with(SUBJECT);
                let configured =
                    if is_subject { Some(&self.configured.subject) } else { self.configured.keys.get(name) };
                let day = configured.copied().unwrap_or_default();
                both(PeriodCaps { day, month: Caps::default() }, own.unwrap_or_default())
            }
            _ => own.unwrap_or_default(),
        }
    }

    fn of_role(&self, user: &UserId, chat: ChatId) -> Option<PeriodCaps> {
        if !self.set.keys().any(|axis| matches!(axis, BudgetAxis::Role(_))) {
            return None;
        }
        let role = (self.roles.0)(user, chat)?;
        self.set.get(&BudgetAxis::Role(role)).copied()
    }

    /// Returns the usage of an axis in a period.
    pub(super) fn usage(&self, axis: &BudgetAxis, period: Period) -> PeriodUsage {
        self.by.get(axis).map(|usages| usages.of(period)).unwrap_or_default()
    }

    /// Reserves the maximum cost of a call that begins on `day`.
    pub(super) fn reserve(&mut self, day: NaiveDate, axes: &[BudgetAxis], purpose: Purpose, most: Spent) {
        self.change(day, axes, purpose, |usage| usage.reserved += most);
    }

    /// Takes back a reservation, or a part of it.
    pub(super) fn release(&mut self, day: NaiveDate, axes: &[BudgetAxis], purpose: Purpose, kept: Spent) {
        self.change(day, axes, purpose, |usage| usage.reserved -= kept);
    }

    /// Counts what a call has cost that began on `day`.
    pub(super) fn spend(&mut self, day: NaiveDate, axes: &[BudgetAxis], purpose: Purpose, spent: Spent) {
        self.change(day, axes, purpose, |usage| usage.spent += spent);
    }

    fn change(
        &mut self,
        day: NaiveDate,
        axes: &[BudgetAxis],
        purpose: Purpose,
        change: impl Fn(&mut PeriodUsage),
    ) {
        let is_today = day == self.date;
        let counts_in_month = self.has_months && Period::Month.start(day) == Period::Month.start(self.date);
        let change = |usages: &mut Usages| {
            if is_today {
                change(&mut usages.day);
            }
            if counts_in_month {
                change(&mut usages.month);
            }
        };
        for axis in axes {
            change(self.by.entry(axis.clone()).or_default());
        }
        if !purpose.is_turn() {
            change(&mut self.background);
        }
    }

    /// Notes the limits of a payer that have become nearly used up.
    pub(super) fn note_nearly(&mut self, payer: &Payer) {
        for limit in self.limits(payer, Purpose::Turn, &[]) {
            if limit.percent() >= NEARLY && self.seen.insert((limit.axis.clone(), limit.period)) {
                self.untold.push((payer.chat, limit.axis, limit.period));
            }
        }
    }

    /// Takes the noted limits that are for owners, and those that an answer to `payer` can tell of. Returns those of them
    /// that are still nearly used up.
    pub(super) fn take_untold(&mut self, payer: Option<&Payer>) -> Vec<LimitUse> {
        let is_told = |chat: ChatId, axis: &BudgetAxis| match axis {
            BudgetAxis::Bot | BudgetAxis::Agent(_) | BudgetAxis::Key(_) => true,
            _ => payer.is_some_and(|payer| payer.chat == chat && payer.axes().contains(axis)),
        };
        let taken = self.untold.extract_if(.., |(chat, axis, _)| is_told(*chat, axis)).collect::<Vec<_>>();
        let limits = taken.into_iter().flat_map(|(chat, axis, period)| {
            let limits = self.limits_of(axis, chat, Purpose::Turn).into_iter();
            limits.filter(move |limit| limit.period == period && limit.percent() >= NEARLY)
        });
        limits.collect()
    }
}

fn both(a: PeriodCaps, b: PeriodCaps) -> PeriodCaps {
    PeriodCaps { day: a.day.and(b.day), month: a.month.and(b.month) }
}

/// Returns `true` if each axis with a limit of money also has one of tokens, in a day or in a month.
pub(super) fn takes_unpriced(limits: &[LimitUse]) -> bool {
    let has_tokens = |axis: &BudgetAxis| {
        limits.iter().any(|limit| limit.axis == *axis && limit.bound.caps.tokens.is_some())
    };
    limits.iter().all(|limit| limit.bound.caps.nano_usd.is_none() || has_tokens(&limit.axis))
}
