//! Replies on their way to Telegram, their messages that are there before, and which of its messages are the bot's own.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::records::{tasks, write};
use super::tables::{Outgoing, Tables};
use super::{KvStore, key};
use crate::engine::Keys;
use crate::{OutboxStore, Result};
use figaro_base::ids::{ChatId, DeliveryId, MessageId, RunId};
use figaro_domain::delivery::{Author, DeliveryEnd, LiveMessage, PendingDelivery};
use figaro_domain::turn::{self, StoredDelivery};

/// How long Telegram lets a bot delete its own message.
const OWN_HOURS: i64 = 48;
/// The most old entries one call drops; more than it adds, so that they never pile up.
const OWN_DROPPED: usize = 16;

#[async_trait]
impl OutboxStore for KvStore {
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
            outgoing.delivery.count_repeat();
            changes.put(&tables.deliveries, key, &outgoing)
        })
        .await
    }

    async fn confirm_part(&self, delivery: DeliveryId, message: MessageId, is_last: bool) -> Result<()> {
        let operation = "record a delivery";
        let work =
            move |tables: &Tables<'_>, changes: &mut Changes<'_>| confirm(tables, changes, delivery, message);
        match is_last {
            true => self.change(operation, work).await,
            false => self.change_durably(operation, work).await,
        }
    }

    async fn end_delivery(&self, delivery: DeliveryId, ended: DeliveryEnd, now: DateTime<Utc>) -> Result<()> {
        let bot = self.bot();
        let of_task = self
            .change("end a delivery", move |tables, changes| {
                let Some(stored) = stored(tables, delivery)? else {
                    return Ok(false);
                };
                let of_task = stored.delivery.task.is_some();
                write::write(tables, changes, bot, turn::end_delivery(stored, ended, now))?;
                Ok(of_task)
            })
            .await?;
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
            let sent = OwnMessage { chat, message, author };
            own(tables, changes, sent, now)
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
            let sent = OwnMessage { chat: live.chat, message: live.message, author: Author::Model };
            own(tables, changes, sent, now)?;
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
            write::forget_live(tables, changes, run, from)
        })
        .await
    }
}

fn confirm(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    delivery: DeliveryId,
    message: MessageId,
) -> Result<(), Fault> {
    let key = key::id(delivery);
    let Some(mut outgoing) = tables.deliveries.get(&key)? else {
        return Ok(());
    };
    if outgoing.delivery.confirm(message) {
        changes.put(&tables.deliveries, key, &outgoing)?;
    }
    Ok(())
}

/// A delivery with what its end changes; `None` if it has ended.
fn stored(tables: &Tables<'_>, delivery: DeliveryId) -> Result<Option<StoredDelivery>, Fault> {
    let Some(Outgoing { delivery, answer }) = tables.deliveries.find(&key::id(delivery))? else {
        return Ok(None);
    };
    let answer = answer.map(|(session, index)| tables.messages.find(&key::message(session, index)));
    let task = tasks::find(tables, delivery.task)?;
    Ok(Some(StoredDelivery { delivery, answer: answer.transpose()?.flatten(), task }))
}

/// A message that the bot sent.
struct OwnMessage {
    chat: ChatId,
    message: MessageId,
    author: Author,
}

fn own(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    sent: OwnMessage,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let OwnMessage { chat, message, author } = sent;
    drop_old(tables, changes, now)?;
    let key = key::telegram(chat, message);
    if tables.own.contains(&key)? {
        return Ok(());
    }
    changes.put(&tables.own, key, &Some(author))?;
    changes.put(&tables.own_by_time, key::telegram_at(now, chat, message), &())
}

fn drop_old(tables: &Tables<'_>, changes: &mut Changes<'_>, now: DateTime<Utc>) -> Result<(), Fault> {
    let end = key::time(now - TimeDelta::hours(OWN_HOURS));
    for old in tables.own_by_time.keys(Keys::before(end, &[]))?.take(OWN_DROPPED) {
        let old = old?;
        changes.remove(&tables.own, key::telegram_of(&old));
        changes.remove(&tables.own_by_time, old);
    }
    Ok(())
}
