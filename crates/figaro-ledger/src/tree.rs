//! Shared budget of a turn and its child agents. It is reserved at once, their calls draw on it, and the rest is given
//! back when the last of them ends. The number of children thus never raises the cost.

use std::sync::Arc;

use chrono::NaiveDate;
use parking_lot::{Mutex, MutexGuard};

use super::accounts::Accounts;
use super::{CallRuling, Granted, Ledger, LedgerError, bounds};
use figaro_domain::budget::{BudgetAxis, Caps, Period};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Purpose, Spent};
use figaro_policy::budget::{Bound, BudgetDecision, CallEstimate, PeriodUsage, judge, part_for_tree};

/// A reservation that several runs draw on.
#[derive(Debug)]
pub struct Tree {
    ledger: Arc<Ledger>,
    /// Day on which the reservation is booked.
    date: NaiveDate,
    /// Axes of the turn. The tree is reserved on them if they have a limit.
    axes: Vec<BudgetAxis>,
    /// `true` if the turn has a limit; the tree is then reserved in it.
    is_capped: bool,
    /// `true` if the turn has a limit of money.
    has_money: bool,
    /// Limit that the tree is a part of; the day of the bot if it has none.
    within: (BudgetAxis, Period),
    /// Part that only the turn may use, so that it can still answer.
    for_turn: Spent,
    pot: Mutex<Pot>,
}

#[derive(Debug)]
struct Pot {
    /// Unspent part.
    whole: Spent,
    /// Part reserved by calls in progress.
    drawn: Spent,
}

/// Kind of caller that draws on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnBy {
    /// The turn itself, which may use all that is left.
    Turn,
    /// A child, which leaves a quarter for the turn.
    Child,
}

/// Returns a quarter of the budget.
fn part_of(all: Spent) -> Spent {
    let Spent { tokens, nano_usd, unpriced } = all;
    Spent { tokens: tokens / 4, nano_usd: nano_usd / 4, unpriced: unpriced / 4 }
}

/// Reservation of a call in a tree.
#[derive(Debug)]
pub(super) struct TreeReservation {
    tree: Arc<Tree>,
    most: Spent,
    /// Axes of the call beside those of the turn, such as a child's agent, on which it is reserved by itself.
    beside: Vec<BudgetAxis>,
}

impl TreeReservation {
    /// Counts the actual cost of the call, and returns the rest of its reservation to the tree.
    pub(super) fn settle(&self, accounts: &mut Accounts, day: NaiveDate, spent: Spent) {
        let Self { tree, most, beside } = self;
        {
            let mut pot = tree.pot();
            pot.drawn -= *most;
            pot.whole -= spent;
        }
        accounts.release(day, beside, Purpose::Turn, *most);
        if tree.is_capped {
            accounts.release(tree.date, &tree.axes, Purpose::Turn, spent);
        }
    }
}

impl Ledger {
    /// Reserves the shared budget of a turn and its child agents: `tokens` tokens, or less if the limits of the payer leave
    /// less. The highest price of these models and their fallbacks limits the money.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] if a limit leaves no room; [`LedgerError::Unpriced`] if the price of the model is
    /// unknown and money is the only limit.
    pub fn tree(
        self: &Arc<Self>,
        models: &[ModelName],
        tokens: u64,
        payer: &Payer,
    ) -> Result<Arc<Tree>, LedgerError> {
        let axes = payer.axes();
        let mut accounts = self.accounts();
        let limits = accounts.limits(payer, Purpose::Turn, &[]);
        let order: Vec<ModelName> = models.iter().flat_map(|model| self.models.order(model)).collect();
        let order = self.affordable(&order, &limits)?;
        let price = self.highest_price(&order);
        let over = |at: usize| match limits.get(at) {
            Some(limit) => self.over(limit.axis.clone(), limit.period),
            None => self.over(BudgetAxis::Bot, Period::Day),
        };
        let part = part_for_tree(&bounds(&limits), tokens, price).map_err(over)?;
        let wanted = CallEstimate { input: 0, output: part, is_whole: false, search: false, price };
        let most = match judge(&bounds(&limits), wanted) {
            BudgetDecision::Grant { most, .. } => most,
            BudgetDecision::Wait => return Err(over(0)),
            BudgetDecision::Over(at) => return Err(over(at)),
        };
        let is_capped = !limits.is_empty();
        let has_money = limits.iter().any(|limit| limit.bound.caps.nano_usd.is_some());
        let date = accounts.date;
        if is_capped {
            accounts.reserve(date, &axes, Purpose::Turn, most);
        }
        drop(accounts);
        let tightest = limits.into_iter().max_by_key(super::LimitUse::percent);
        let within = tightest.map_or((BudgetAxis::Bot, Period::Day), |limit| (limit.axis, limit.period));
        let pot = Mutex::new(Pot { whole: most, drawn: Spent::default() });
        let ledger = Arc::clone(self);
        let for_turn = part_of(most);
        Ok(Arc::new(Tree { ledger, date, axes, is_capped, has_money, within, for_turn, pot }))
    }

    /// Judges a call by what the tree has left and by the limits that are not the turn's, such as those of a child's agent.
    /// Reserves its maximum cost if granted.
    pub(super) fn draw_once(
        &self,
        tree: &Arc<Tree>,
        by: DrawnBy,
        wanted: CallEstimate,
        payer: &Payer,
    ) -> (CallRuling, TreeReservation) {
        let drawn = |most, beside| TreeReservation { tree: Arc::clone(tree), most, beside };
        let mut accounts = self.accounts();
        let limits = accounts.limits(payer, Purpose::Turn, &tree.axes);
        let granted = match self.ruled(judge(&bounds(&limits), wanted), &limits) {
            CallRuling::Grant(granted) => granted,
            other => {
                if let CallRuling::Over(LedgerError::OverBudget(over)) = &other {
                    accounts.met.push((**over).clone());
                }
                return (other, drawn(Spent::default(), Vec::new()));
            }
        };
        match tree.draw(CallEstimate { output: granted.output, search: granted.search, ..wanted }, by) {
            BudgetDecision::Grant { output, search, most } => {
                let mut beside = payer.axes();
                beside.retain(|axis| !tree.axes.contains(axis));
                accounts.reserve(tree.date, &beside, Purpose::Turn, most);
                (CallRuling::Grant(Granted { output, search, most }), drawn(most, beside))
            }
            BudgetDecision::Wait => (CallRuling::Wait, drawn(Spent::default(), Vec::new())),
            BudgetDecision::Over(_) => {
                let (axis, period) = tree.within.clone();
                (CallRuling::Over(self.over(axis, period)), drawn(Spent::default(), Vec::new()))
            }
        }
    }
}

impl Tree {
    /// Returns `true` if the turn has a limit, so that all calls of the tree have to draw on it.
    #[must_use]
    pub const fn is_capped(&self) -> bool {
        self.is_capped
    }

    /// Returns `true` if this is a party of the turn, on which the tree is reserved.
    #[must_use]
    pub fn is_of_turn(&self, axis: &BudgetAxis) -> bool {
        self.axes.contains(axis)
    }

    /// Returns the number of tokens that children may still use.
    #[must_use]
    pub fn left_tokens(&self) -> u64 {
        self.pot().whole.tokens.saturating_sub(self.for_turn.tokens)
    }

    pub(super) const fn date(&self) -> NaiveDate {
        self.date
    }

    /// Judges a call by what the tree has left, and reserves its maximum cost if granted.
    fn draw(&self, wanted: CallEstimate, by: DrawnBy) -> BudgetDecision {
        let mut pot = self.pot();
        let mut whole = pot.whole;
        if by == DrawnBy::Child {
            whole -= self.for_turn;
        }
        let caps = Caps { tokens: Some(whole.tokens), nano_usd: self.has_money.then_some(whole.nano_usd) };
        let usage = PeriodUsage { spent: Spent::default(), reserved: pot.drawn };
        let ruling = judge(&[Bound { caps, usage }], wanted);
        if let BudgetDecision::Grant { most, .. } = ruling {
            pot.drawn += most;
        }
        ruling
    }

    fn pot(&self) -> MutexGuard<'_, Pot> {
        self.pot.lock()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if !self.is_capped {
            return;
        }
        let left = self.pot().whole;
        self.ledger.accounts().release(self.date, &self.axes, Purpose::Turn, left);
        self.ledger.booked.notify_waiters();
    }
}
