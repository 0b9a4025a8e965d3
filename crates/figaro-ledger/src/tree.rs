//! Shared budget of a turn and its child agents. It is reserved at once, their calls draw on it, and the rest is given
//! back when the last of them ends. The number of children thus never raises the cost.

use std::sync::Arc;

use chrono::NaiveDate;
use parking_lot::{Mutex, MutexGuard};

use super::{Ledger, LedgerError};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Purpose, Spent};
use figaro_policy::budget::{BudgetDecision, CallEstimate, Caps, DayUsage, judge, part_for_tree};

/// A reservation that several runs draw on.
#[derive(Debug)]
pub struct Tree {
    ledger: Arc<Ledger>,
    /// Day on which the reservation is booked.
    date: NaiveDate,
    /// `true` if a daily cap is set; the tree is then reserved in it.
    is_capped: bool,
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
}

impl Ledger {
    /// Reserves the shared budget of a turn and its child agents: `tokens` tokens, or less if today's caps leave less.
    /// The price of `model` limits the money.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] if today leaves no room; [`LedgerError::Unpriced`] if the price of the model is
    /// unknown and money is the only cap.
    pub fn tree(self: &Arc<Self>, model: &ModelName, tokens: u64) -> Result<Arc<Tree>, LedgerError> {
        let order = self.affordable(&self.models.order(model))?;
        let price = self.highest_price(&order);
        let is_capped = self.caps.is_set();
        let mut today = self.roll_over();
        let part = part_for_tree(self.caps, today.day, tokens, price).ok_or(LedgerError::OverBudget)?;
        let wanted = CallEstimate { input: 0, output: part, is_whole: false, search: false, price };
        let most = match judge(self.caps, today.day, wanted) {
            BudgetDecision::Grant { most, .. } => most,
            BudgetDecision::Wait | BudgetDecision::Over => return Err(LedgerError::OverBudget),
        };
        if is_capped {
            today.each(Purpose::Turn).for_each(|day| day.reserved += most);
        }
        let (date, pot) = (today.date, Mutex::new(Pot { whole: most, drawn: Spent::default() }));
        drop(today);
        Ok(Arc::new(Tree { ledger: Arc::clone(self), date, is_capped, for_turn: part_of(most), pot }))
    }

    /// Counts the actual cost of a call of a tree, and returns the rest of its reservation to the tree.
    pub(super) fn count_drawn(&self, drawn: &TreeReservation, spent: Spent) {
        let TreeReservation { tree, most } = drawn;
        {
            let mut pot = tree.pot();
            pot.drawn -= *most;
            pot.whole -= spent;
        }
        if tree.is_capped {
            let mut today = self.roll_over();
            if today.date == tree.date {
                today.day.reserved -= spent;
            }
        }
    }
}

impl Tree {
    /// Returns `true` if a daily cap is set, so that all calls of the tree have to draw on it.
    #[must_use]
    pub const fn is_capped(&self) -> bool {
        self.is_capped
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
    pub(super) fn draw(
        self: &Arc<Self>,
        wanted: CallEstimate,
        by: DrawnBy,
    ) -> (BudgetDecision, TreeReservation) {
        let mut pot = self.pot();
        let mut whole = pot.whole;
        if by == DrawnBy::Child {
            whole -= self.for_turn;
        }
        let money = self.ledger.caps.nano_usd.map(|_| whole.nano_usd);
        let caps = Caps { tokens: Some(whole.tokens), nano_usd: money };
        let ruling = judge(caps, DayUsage { spent: Spent::default(), reserved: pot.drawn }, wanted);
        let most = match ruling {
            BudgetDecision::Grant { most, .. } => most,
            BudgetDecision::Wait | BudgetDecision::Over => Spent::default(),
        };
        pot.drawn += most;
        (ruling, TreeReservation { tree: Arc::clone(self), most })
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
        let mut today = self.ledger.roll_over();
        if today.date == self.date {
            today.day.reserved -= left;
        }
        drop(today);
        self.ledger.booked.notify_waiters();
    }
}
