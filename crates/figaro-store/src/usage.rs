//! Spending on model calls.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use super::key;
use super::records::spending;
use crate::{Result, UsageStore};
use figaro_base::ids::ReservationId;
use figaro_domain::budget::Budget;
use figaro_domain::usage::{Reservation, Spending};

impl UsageStore {
    /// Stores a reservation of tokens and money for a call, durably: the call may cost this much even if it is given up.
    pub async fn reserve(&self, reservation: &Reservation) -> Result<()> {
        let reserving = self.0.change_durably("set a model call's cost aside", |tables, changes| {
            changes.put(&tables.reserved, key::id(reservation.id), reservation)
        });
        reserving.await
    }

    /// Adds spending and deletes its reservation, in one write. Durable with the next durable call; every turn ends with
    /// one.
    pub fn book(&self, spending: &Spending, reserved: Option<ReservationId>) -> Result<()> {
        let spending = spending.clone();
        self.0.change("book what a model call has cost", move |tables, changes| {
            if let Some(id) = reserved {
                changes.remove(&tables.reserved, key::id(id));
            }
            spending::add(tables, changes, spending)
        })
    }

    /// Books all remaining reservations as spent, durably. Used at the start, when their actual cost is unknown.
    pub async fn book_reserved(&self) -> Result<()> {
        loop {
            // One at a time: several may add to the same record.
            let done = self
                .0
                .change_durably("book what a stop left open", |tables, changes| {
                    let Some(item) = tables.reserved.scan(&[])?.next() else {
                        return Ok(true);
                    };
                    let (key, Reservation { most, .. }) = item?;
                    changes.remove(&tables.reserved, key);
                    spending::add(tables, changes, most)?;
                    Ok(false)
                })
                .await?;
            if done {
                return Ok(());
            }
        }
    }

    /// Returns the spending on these days, by day, chat, person and model.
    pub fn spent(&self, days: RangeInclusive<NaiveDate>) -> Result<Vec<Spending>> {
        self.0.read("read what was spent", move |tables| {
            let mut spent = Vec::new();
            for day in days.start().iter_days().take_while(|day| day <= days.end()) {
                spent.extend(tables.spent.list(&key::day(day))?);
            }
            Ok(spent)
        })
    }

    /// Records, durably, that a notice was given in the period that begins on this day; returns `true` the first time.
    /// `notice` names the limit and what was told of it.
    pub async fn tell_of_budget(&self, start: NaiveDate, notice: &str) -> Result<bool> {
        let key = key::told(start, notice);
        self.0
            .change_durably("remember that people were told of a limit", move |tables, changes| {
                let is_first = !tables.told_of_caps.contains(&key)?;
                if is_first {
                    changes.put(&tables.told_of_caps, key, &())?;
                }
                Ok(is_first)
            })
            .await
    }

    /// Returns the limits that owners set in chats.
    pub fn budgets(&self) -> Result<Vec<Budget>> {
        self.0.read("read the limits on spending", |tables| tables.budgets.list(&[]))
    }

    /// Stores the limits of an axis, durably; without any limit its record is deleted.
    pub async fn set_budget(&self, budget: &Budget) -> Result<()> {
        let budget = budget.clone();
        self.0
            .change_durably("store a limit on spending", move |tables, changes| {
                let key = key::budget(&budget.axis);
                match budget.caps.is_set() {
                    true => changes.put(&tables.budgets, key, &budget),
                    false => {
                        changes.remove(&tables.budgets, key);
                        Ok(())
                    }
                }
            })
            .await
    }
}
