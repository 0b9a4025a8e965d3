//! What a turn and the agents that it asks may take together. It is set aside at once, their calls draw on it, and what they
//! leave is given back when the last of them is over: so no number of children takes more than that.

use std::sync::Arc;

use chrono::NaiveDate;
use parking_lot::{Mutex, MutexGuard};

use super::{Ledger, LedgerError};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Purpose, Spent};
use figaro_policy::budget::{Caps, Day, Ruling, Wanted, judge, part_for_tree};

/// A reservation that several runs draw on.
#[derive(Debug)]
pub struct Tree {
    ledger: Arc<Ledger>,
    /// The day that it is booked on.
    date: NaiveDate,
    /// Whether a cap of the day holds, so that it is set aside there.
    is_capped: bool,
    /// What only the turn itself may take: it has to be able to answer.
    for_turn: Spent,
    pot: Mutex<Pot>,
}

#[derive(Debug)]
struct Pot {
    /// What is not spent yet.
    whole: Spent,
    /// What of it calls under way may still come to.
    drawn: Spent,
}

/// Who draws on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnBy {
    /// The turn itself: all that is left is there for it.
    Turn,
    /// A child: a quarter is kept for the turn.
    Child,
}

/// A quarter.
fn part_of(all: Spent) -> Spent {
    let Spent { tokens, nano_usd, unpriced } = all;
    Spent { tokens: tokens / 4, nano_usd: nano_usd / 4, unpriced: unpriced / 4 }
}

/// What a call has drawn.
#[derive(Debug)]
pub(super) struct Drawn {
    tree: Arc<Tree>,
    most: Spent,
}

impl Ledger {
    /// Sets aside what a turn and the agents that it asks may take together from now on: `tokens` tokens, or less where today's
    /// caps leave less. `model` is the one whose price bounds the money.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] where today leaves no room; [`LedgerError::Unpriced`] where nobody can tell what the model
    /// costs and money is the only bound.
    pub fn tree(self: &Arc<Self>, model: &ModelName, tokens: u64) -> Result<Arc<Tree>, LedgerError> {
        let order = self.affordable(&self.models.order(model))?;
        let price = self.highest_price(&order);
        let is_capped = self.caps.is_set();
        let mut today = self.roll_over();
        let part = part_for_tree(self.caps, today.day, tokens, price).ok_or(LedgerError::OverBudget)?;
        let wanted = Wanted { input: 0, output: part, search: false, price };
        let most = match judge(self.caps, today.day, wanted) {
            Ruling::Grant { most, .. } => most,
            Ruling::Wait | Ruling::Over => return Err(LedgerError::OverBudget),
        };
        if is_capped {
            today.each(Purpose::Turn).for_each(|day| day.reserved += most);
        }
        let (date, pot) = (today.date, Mutex::new(Pot { whole: most, drawn: Spent::default() }));
        drop(today);
        Ok(Arc::new(Tree { ledger: Arc::clone(self), date, is_capped, for_turn: part_of(most), pot }))
    }

    /// Counts what a call of a tree took: it was set aside with the tree, and what it left goes back there.
    pub(super) fn count_drawn(&self, drawn: &Drawn, spent: Spent) {
        let Drawn { tree, most } = drawn;
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
    /// Whether a cap of the day holds, so that all of the tree has to draw on it.
    #[must_use]
    pub const fn is_capped(&self) -> bool {
        self.is_capped
    }

    /// How many tokens children may still take.
    #[must_use]
    pub fn left_tokens(&self) -> u64 {
        self.pot().whole.tokens.saturating_sub(self.for_turn.tokens)
    }

    /// The day that it is booked on.
    pub(super) const fn date(&self) -> NaiveDate {
        self.date
    }

    /// Judges a call by what is left for it; one that is granted has the most that it may come to from then on.
    pub(super) fn draw(self: &Arc<Self>, wanted: Wanted, by: DrawnBy) -> (Ruling, Drawn) {
        let mut pot = self.pot();
        let mut whole = pot.whole;
        if by == DrawnBy::Child {
            whole -= self.for_turn;
        }
        let money = self.ledger.caps.nano_usd.map(|_| whole.nano_usd);
        let caps = Caps { tokens: Some(whole.tokens), nano_usd: money };
        let ruling = judge(caps, Day { spent: Spent::default(), reserved: pot.drawn }, wanted);
        let most = match ruling {
            Ruling::Grant { most, .. } => most,
            Ruling::Wait | Ruling::Over => Spent::default(),
        };
        pot.drawn += most;
        (ruling, Drawn { tree: Arc::clone(self), most })
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
