//! What model calls have cost.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use chrono::NaiveDate;

use super::changes::Changes;
use super::fault::Fault;
use super::tables::Tables;
use super::{SledStore, key};
use crate::domain::usage::{Reservation, Spending, Spent};
use crate::ids::{ChatId, ReservationId};
use crate::store::{Result, UsageStore};

#[async_trait]
impl UsageStore for SledStore {
    async fn reserve(&self, reservation: &Reservation) -> Result<()> {
        let reservation = reservation.clone();
        self.change_durably("set a model call's cost aside", move |tables, changes| {
            changes.put(&tables.reserved, key::id(reservation.id), &reservation)
        })
        .await
    }

    async fn book(&self, spending: &Spending, reserved: Option<ReservationId>) -> Result<()> {
        let spending = spending.clone();
        self.change("book what a model call has cost", move |tables, changes| {
            if let Some(id) = reserved {
                changes.remove(&tables.reserved, key::id(id));
            }
            add(tables, changes, spending)
        })
        .await
    }

    async fn book_reserved(&self) -> Result<()> {
        loop {
            // One at a time: several may add to the same record.
            let done = self
                .change_durably("book what a stop left open", |tables, changes| {
                    let Some(item) = tables.reserved.scan(&[]).next() else {
                        return Ok(true);
                    };
                    let (key, Reservation { most, .. }) = item?;
                    changes.remove(&tables.reserved, key);
                    add(tables, changes, most)?;
                    Ok(false)
                })
                .await?;
            if done {
                return Ok(());
            }
        }
    }

    async fn spent(&self, days: RangeInclusive<NaiveDate>) -> Result<Vec<Spending>> {
        self.read("read what was spent", move |tables| {
            let mut spent = Vec::new();
            for day in days.start().iter_days().take_while(|day| day <= days.end()) {
                spent.extend(tables.spent.list(&key::day(day))?);
            }
            Ok(spent)
        })
        .await
    }

    async fn tell_of_caps(&self, day: NaiveDate) -> Result<bool> {
        self.change_durably("remember that owners were told", move |tables, changes| {
            let key = key::day(day);
            let is_first = !tables.told_of_caps.contains(&key)?;
            if is_first {
                changes.put(&tables.told_of_caps, key, &())?;
            }
            Ok(is_first)
        })
        .await
    }
}

/// Adds to the record of the same day, chat, person and model. What came to nothing needs none.
fn add(tables: &Tables, changes: &mut Changes, mut spending: Spending) -> Result<(), Fault> {
    if spending.spent == Spent::default() {
        return Ok(());
    }
    let key = key::spending(&spending);
    if let Some(before) = tables.spent.find(&key)? {
        spending.spent += before.spent;
    }
    changes.put(&tables.spent, key, &spending)
}

/// Gives what was spent in a chat to the id it has from now on.
pub(super) fn migrate(tables: &Tables, changes: &mut Changes, from: ChatId, to: ChatId) -> Result<(), Fault> {
    for item in tables.spent.scan(&[]) {
        let (key, spending) = item?;
        if spending.chat == from {
            changes.remove(&tables.spent, key);
            add(tables, changes, Spending { chat: to, ..spending })?;
        }
    }
    Ok(())
}
