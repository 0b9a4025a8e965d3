//! Replies on their way to Telegram, their messages that are there before, and which of its messages are the bot's own.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::tables::Tables;
use super::{SledStore, key, tasks};
use crate::domain::delivery::{Author, DeliveryEnd, LiveMessage, PendingDelivery};
use crate::domain::task::{Cost, Ended, Reason, TaskChange};
use crate::ids::{ChatId, DeliveryId, MessageId, RunId};
use crate::store::{OutboxStore, Result};

/// How long Telegram lets a bot delete its own message.
const OWN_HOURS: i64 = 48;
/// The most old entries one call drops; more than it adds, so that they never pile up.
const OWN_DROPPED: usize = 16;

#[async_trait]
impl OutboxStore for SledStore {
    async fn deliveries(&self) -> Result<Vec<PendingDelivery>> {
        self.read("read the pending replies", |tables| {
            let stored = tables.deliveries.list(&[])?;
            let mut deliveries: Vec<_> = stored.into_iter().map(|outgoing| outgoing.delivery).collect();
            deliveries.sort_by_key(|delivery| (delivery.created_at, delivery.id));
            Ok(deliveries)
        })
        .await
    }

    async fn count_repeat(&self, delivery: DeliveryId) -> Result<()> {
        self.change_durably("count a repeat", move |tables, changes| {
            let key = key::id(delivery);
            let Some(mut outgoing) = tables.deliveries.get(&key)? else {
                return Ok(());
            };
            outgoing.delivery.repeats = outgoing.delivery.repeats.saturating_add(1);
            changes.put(&tables.deliveries, key, &outgoing)
        })
        .await
    }

    async fn confirm_part(&self, delivery: DeliveryId, message: MessageId) -> Result<()> {
        self.change_durably("record a delivery", move |tables, changes| {
            confirm(tables, changes, delivery, message)
        })
        .await
    }

    async fn end_delivery(&self, delivery: DeliveryId, ended: DeliveryEnd, now: DateTime<Utc>) -> Result<()> {
        let work = move |tables: &Tables, changes: &mut Changes| end(tables, changes, delivery, (ended, now));
        let of_task = self.change_durably("end a delivery", work).await?;
        if of_task {
            self.tell_of_tasks();
        }
        Ok(())
    }

    async fn record_own(
        &self,
        chat: ChatId,
        message: MessageId,
        author: Author,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.change("record a sent message", move |tables, changes| {
            own(tables, changes, (chat, message, author), now)
        })
        .await
    }

    async fn author(&self, chat: ChatId, message: MessageId) -> Result<Option<Author>> {
        self.read("look up a sent message", move |tables| {
            let recorded = tables.own.find(&key::telegram(chat, message))?;
            Ok(recorded.map(Option::unwrap_or_default))
        })
        .await
    }

    async fn record_live(&self, live: LiveMessage, now: DateTime<Utc>) -> Result<()> {
        self.change_durably("record a live message", move |tables, changes| {
            own(tables, changes, (live.chat, live.message, Author::Model), now)?;
            changes.put(&tables.live, key::live(live.run, live.index), &live)
        })
        .await
    }

    async fn live_of(&self, run: RunId) -> Result<Vec<LiveMessage>> {
        self.read("look up live messages", move |tables| tables.live.list(&key::id(run))).await
    }

    async fn live_messages(&self) -> Result<Vec<LiveMessage>> {
        self.read("read the live messages", |tables| tables.live.list(&[])).await
    }

    async fn forget_live(&self, run: RunId, from: u32) -> Result<()> {
        self.change_durably("forget live messages", move |tables, changes| {
            forget_live(tables, changes, run, from)
        })
        .await
    }
}

fn forget_live(tables: &Tables, changes: &mut Changes, run: RunId, from: u32) -> Result<(), Fault> {
    let first = key::live(run, from);
    for key in tables.live.tree().scan_prefix(key::id(run)).keys() {
        let key = key?;
        if *key >= *first {
            changes.remove(&tables.live, key);
        }
    }
    Ok(())
}

fn confirm(
    tables: &Tables,
    changes: &mut Changes,
    delivery: DeliveryId,
    message: MessageId,
) -> Result<(), Fault> {
    let key = key::id(delivery);
    let Some(mut outgoing) = tables.deliveries.get(&key)? else {
        return Ok(());
    };
    if outgoing.delivery.confirmed.contains(&message) {
        return Ok(());
    }
    outgoing.delivery.confirmed.push(message);
    outgoing.delivery.repeats = 0;
    changes.put(&tables.deliveries, key, &outgoing)
}

/// Ends a delivery; whether a task ends its run with it.
fn end(
    tables: &Tables,
    changes: &mut Changes,
    delivery: DeliveryId,
    (ended, now): (DeliveryEnd, DateTime<Utc>),
) -> Result<bool, Fault> {
    let key = key::id(delivery);
    let Some(outgoing) = tables.deliveries.find(&key)? else {
        return Ok(false);
    };
    let of_task = outgoing.delivery.task;
    if let Some(task) = of_task {
        let failed = |error| Ended::Failed { error, again: false, cost: Cost::default() };
        let ended = match ended {
            DeliveryEnd::Whole => Ended::Delivered(outgoing.delivery.confirmed.last().copied()),
            DeliveryEnd::Stopped => Ended::Stopped(Cost::default()),
            DeliveryEnd::Refused => failed(Reason::Undelivered),
            DeliveryEnd::Unclear => failed(Reason::Unclear),
        };
        tasks::change(tables, changes, (task, TaskChange::Settle(outgoing.delivery.run, ended)), now)?;
    }
    changes.remove(&tables.deliveries, key);
    // A card is no part of the answer, which may still be on its way.
    if outgoing.delivery.card.is_none() {
        forget_live(tables, changes, outgoing.delivery.run, 0)?;
    }
    let Some((session, index)) = outgoing.answer else {
        return Ok(of_task.is_some());
    };
    let answer = key::message(session, index);
    if let Some(mut message) = tables.messages.find(&answer)? {
        message.telegram = outgoing.delivery.confirmed;
        changes.put(&tables.messages, answer, &message)?;
    }
    Ok(of_task.is_some())
}

fn own(
    tables: &Tables,
    changes: &mut Changes,
    (chat, message, author): (ChatId, MessageId, Author),
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    drop_old(tables, changes, now)?;
    let key = key::telegram(chat, message);
    if tables.own.contains(&key)? {
        return Ok(());
    }
    changes.put(&tables.own, key, &Some(author))?;
    changes.put(&tables.own_by_time, key::telegram_at(now, chat, message), &())
}

fn drop_old(tables: &Tables, changes: &mut Changes, now: DateTime<Utc>) -> Result<(), Fault> {
    let end = key::time(now - TimeDelta::hours(OWN_HOURS));
    for old in tables.own_by_time.tree().range(..end).keys().take(OWN_DROPPED) {
        let old = old?;
        changes.remove(&tables.own, key::telegram_of(&old));
        changes.remove(&tables.own_by_time, old);
    }
    Ok(())
}
