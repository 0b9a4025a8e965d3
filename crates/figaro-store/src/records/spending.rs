//! Spending: a record for each day, chat, person and model.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::budget::{Budget, BudgetAxis};
use figaro_domain::usage::{Spending, Spent};

/// Adds to the record of the same day, chat, person and model. Skips a record without spending, ratings and calls.
pub(crate) fn add(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    mut spending: Spending,
) -> Result<(), StoreFault> {
    if spending.spent == Spent::default() && spending.ratings.is_none() && spending.calls.is_none() {
        return Ok(());
    }
    let key = key::spending(&spending);
    if let Some(before) = tables.spent.find(&key)? {
        spending.spent += before.spent;
        spending.ratings += before.ratings;
        spending.calls += before.calls;
    }
    changes.put(&tables.spent, key, &spending)
}

/// Moves the spending of a chat, and its limits, to its new id.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.spent.scan(&[])? {
        let (key, spending) = item?;
        if spending.chat == from {
            changes.remove(&tables.spent, key);
            add(tables, changes, Spending { chat: to, ..spending })?;
        }
    }
    let before = key::budget(&BudgetAxis::Chat(from));
    if let Some(Budget { caps, .. }) = tables.budgets.find(&before)? {
        let axis = BudgetAxis::Chat(to);
        changes.remove(&tables.budgets, before);
        let after = key::budget(&axis);
        if !tables.budgets.contains(&after)? {
            changes.put(&tables.budgets, after, &Budget { axis, caps })?;
        }
    }
    Ok(())
}
