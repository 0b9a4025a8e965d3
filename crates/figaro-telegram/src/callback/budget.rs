//! Buttons of limits on spending.

use super::buttons::buttons;
use super::{Page, Short, hash};
use figaro_domain::budget::BudgetAxis;

/// Length of the key of a budget, in bytes.
const KEY: usize = 16;

/// Key of a party that has a budget: a hash of its name, which may be too long for a button.
pub(crate) type BudgetKey = Short<KEY>;

/// Returns the key of a party, the same in every process.
#[must_use]
pub(crate) fn key_of(axis: &BudgetAxis) -> BudgetKey {
    Short(format!("{:016x}", hash(&axis.to_string())))
}

buttons! {
    /// Buttons of `/budget`. The page is the list page that the card was opened from.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum BudgetButton = "budget" {
        /// Shows a page of the list.
        List(page: Page) = "list",
        /// Shows the card of a budget.
        Open(of: BudgetKey, page: Page) = "open",
        /// Halves the limits of a budget.
        Less(of: BudgetKey, page: Page) = "less",
        /// Doubles the limits of a budget.
        More(of: BudgetKey, page: Page) = "more",
        /// Removes a budget; it can be restored for a minute.
        Remove(of: BudgetKey, page: Page) = "drop",
        /// Restores a budget that was removed.
        Undo(of: BudgetKey, page: Page) = "undo",
    }
}
