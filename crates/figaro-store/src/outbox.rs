//! Replies on their way to Telegram, their live messages, and the record of the bot's own messages.

use chrono::{DateTime, TimeDelta, Utc};

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::records::{tasks, write};
use super::tables::{DeliveryRecord, Tables};
use crate::engine::Keys;
use crate::{OutboxStore, Result};
use figaro_base::ids::{ChatId, DeliveryId, MessageId, RunId};
use figaro_domain::delivery::{Author, CardKind, DeliveryEnd, LiveMessage, PendingDelivery};
use figaro_domain::turn::{self, StoredDelivery};

/// Hours for which Telegram lets a bot delete its own message.
const OWN_HOURS: i64 = 48;
/// Maximum old entries deleted per call; more than one call adds, so they never pile up.
const OWN_DROPPED: usize = 16;

impl OutboxStore {
    /// Returns all replies that Telegram has not confirmed in full, oldest first.
    pub fn deliveries(&self) -> Result<Vec<PendingDelivery>> {
        self.0.read("read the pending replies", |tables| {
            let stored = tables.deliveries.list(&[])?;
            let mut deliveries: Vec<_> = stored.into_iter().map(|outgoing| outgoing.delivery).collect();
            deliveries.sort_by_key(|delivery| (delivery.created_at, delivery.id));
            Ok(deliveries)
        })
    }

    /// Counts one more repeat of the current part, durably. A delivery that has ended is ignored.
    pub async fn count_repeat(&self, delivery: DeliveryId) -> Result<()> {
        self.0
            .change_durably("count a repeat", move |tables, changes| {
                let key = key::id(delivery);
                let Some(mut outgoing) = tables.deliveries.get(&key)? else {
                    return Ok(());
                };
                outgoing.delivery.count_repeat();
                changes.put(&tables.deliveries, key, &outgoing)
            })
            .await
    }

    /// Records the message id of a sent part and resets the repeat count for the next part. A delivery that has ended is
    /// ignored. Durable on return; for the last part a moment later, with the end of the delivery: a crash in between
    /// sends that part again.
    pub async fn confirm_part(&self, delivery: DeliveryId, message: MessageId, is_last: bool) -> Result<()> {
        let operation = "record a delivery";
        let work =
            move |tables: &Tables<'_>, changes: &mut Changes<'_>| confirm(tables, changes, delivery, message);
        match is_last {
            true => self.0.change(operation, work),
            false => self.0.change_durably(operation, work).await,
        }
    }

    /// Ends a delivery: writes the confirmed ids into the stored answer and deletes the delivery. The same write deletes
    /// the live messages of its turn and marks the run of its task as done. Durable a moment later.
    pub fn end_delivery(&self, delivery: DeliveryId, ended: DeliveryEnd, now: DateTime<Utc>) -> Result<()> {
        let bot = self.0.bot();
        let of_task = self.0.change("end a delivery", move |tables, changes| {
            let Some(stored) = stored(tables, delivery)? else {
                return Ok(false);
            };
            let of_task = stored.delivery.task.is_some();
            if ended != DeliveryEnd::Whole && stored.delivery.card.is_none() {
                drop_spoken(tables, changes, stored.delivery.run)?;
            }
            write::write(tables, changes, bot, turn::end_delivery(stored, ended, now))?;
            Ok(of_task)
        })?;
        if of_task {
            self.0.tell_of_tasks();
        }
        Ok(())
    }

    /// Returns `true` if a delivery has neither ended nor been erased.
    pub fn is_pending(&self, delivery: DeliveryId) -> Result<bool> {
        self.0.read("look up a reply", move |tables| tables.deliveries.contains(&key::id(delivery)))
    }

    /// Records that the bot sent this message and its author, for as long as Telegram lets it be deleted (48 hours). The
    /// first record stays.
    pub fn record_own(
        &self,
        chat: ChatId,
        message: MessageId,
        author: Author,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.0.change("record a sent message", move |tables, changes| {
            let sent = OwnMessage { chat, message, author };
            own(tables, changes, sent, now)
        })
    }

    /// Returns the author of a message that the bot is known to have sent; `None` for any other message. Records of
    /// versions without authors count as [`Author::Figaro`].
    pub fn author(&self, chat: ChatId, message: MessageId) -> Result<Option<Author>> {
        self.0.read("look up a sent message", move |tables| {
            let recorded = tables.own.find(&key::telegram(chat, message))?;
            Ok(recorded.map(Option::unwrap_or_default))
        })
    }

    /// Records a live message of a turn, durably, also as one of the model's. Replaces the one with its index.
    pub async fn record_live(&self, live: LiveMessage, now: DateTime<Utc>) -> Result<()> {
        self.0
            .change_durably("record a live message", move |tables, changes| {
                let sent = OwnMessage { chat: live.chat, message: live.message, author: Author::Model };
                own(tables, changes, sent, now)?;
                changes.put(&tables.live, key::live(live.run, live.index), &live)
            })
            .await
    }

    /// Returns the live messages of a turn, by index; empty if it has none.
    pub fn live_of(&self, run: RunId) -> Result<Vec<LiveMessage>> {
        self.0.read("look up live messages", move |tables| tables.live.list(&key::id(run)))
    }

    /// Returns the live messages of all turns, the oldest turn first.
    pub fn live_messages(&self) -> Result<Vec<LiveMessage>> {
        self.0.read("read the live messages", |tables| tables.live.list(&[]))
    }

    /// Deletes the live messages of a turn from this index on, durably; they stay recorded as the bot's own.
    pub async fn forget_live(&self, run: RunId, from: u32) -> Result<()> {
        self.0
            .change_durably("forget live messages", move |tables, changes| {
                write::forget_live(tables, changes, run, from)
            })
            .await
    }
}

/// Drops the voice message of an answer whose text has not arrived.
fn drop_spoken(tables: &Tables<'_>, changes: &mut Changes<'_>, run: RunId) -> Result<(), StoreFault> {
    for DeliveryRecord { delivery, .. } in tables.deliveries.list(&[])? {
        if delivery.run == run && delivery.card == Some(CardKind::Spoken) {
            changes.remove(&tables.deliveries, key::id(delivery.id));
        }
    }
    Ok(())
}

fn confirm(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    delivery: DeliveryId,
    message: MessageId,
) -> Result<(), StoreFault> {
    let key = key::id(delivery);
    let Some(mut outgoing) = tables.deliveries.get(&key)? else {
        return Ok(());
    };
    if outgoing.delivery.confirm(message) {
        changes.put(&tables.deliveries, key, &outgoing)?;
    }
    Ok(())
}

/// Returns a delivery with the records that its end changes; `None` if it has ended.
fn stored(tables: &Tables<'_>, delivery: DeliveryId) -> Result<Option<StoredDelivery>, StoreFault> {
    let Some(DeliveryRecord { delivery, answer }) = tables.deliveries.find(&key::id(delivery))? else {
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
) -> Result<(), StoreFault> {
    let OwnMessage { chat, message, author } = sent;
    drop_old(tables, changes, now)?;
    let key = key::telegram(chat, message);
    if tables.own.contains(&key)? {
        return Ok(());
    }
    changes.put(&tables.own, key, &Some(author))?;
    changes.put(&tables.own_by_time, key::telegram_at(now, chat, message), &())
}

fn drop_old(tables: &Tables<'_>, changes: &mut Changes<'_>, now: DateTime<Utc>) -> Result<(), StoreFault> {
    let end = key::time(now - TimeDelta::hours(OWN_HOURS));
    for old in tables.own_by_time.keys(Keys::before(end, &[]))?.take(OWN_DROPPED) {
        let old = old?;
        changes.remove(&tables.own, key::telegram_of(&old));
        changes.remove(&tables.own_by_time, old);
    }
    Ok(())
}
