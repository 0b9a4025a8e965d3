//! Updates between their arrival and their settlement. An id is in the inbox until it is settled, and among the seen ones
//! after that.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::records::updates;
use super::tables::{Accepted, SetAsideUpdate, Tables};
use crate::engine::Keys;
use crate::{InboxStore, Result};
use figaro_base::ids::{BotId, UpdateId};

/// An update as Telegram sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawUpdate {
    /// `update_id` from Telegram.
    pub id: UpdateId,
    /// Whole update as JSON.
    pub body: Value,
}

/// An update that Figaro cannot read as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableUpdate {
    /// `update_id` from Telegram.
    pub id: UpdateId,
    /// Beginning of its text, at most [`Self::KEPT_BYTES`].
    pub text: String,
    /// Length of the whole text, in bytes.
    pub bytes: usize,
}

impl UnreadableUpdate {
    /// Maximum bytes of the text that are stored.
    pub const KEPT_BYTES: usize = 64 * 1024;

    /// Creates an unreadable update with this id, keeping the first [`Self::KEPT_BYTES`] of its text.
    #[must_use]
    pub fn new(id: UpdateId, text: &str) -> Self {
        let kept = text[..text.floor_char_boundary(Self::KEPT_BYTES)].to_owned();
        Self { id, text: kept, bytes: text.len() }
    }
}

/// Maximum stored unreadable updates of a bot; the oldest are deleted first.
pub const KEPT_UNREADABLE: usize = 100;

/// Maximum ids deleted by one call.
const EXPIRED: usize = 512;

impl InboxStore {
    /// Stores updates that were never seen before, and returns them in the given order. Acknowledge them to Telegram only
    /// after [`Self::sync`].
    pub fn accept(&self, updates: Vec<RawUpdate>, now: DateTime<Utc>) -> Result<Vec<RawUpdate>> {
        if updates.is_empty() {
            return Ok(updates);
        }
        let bot = self.0.bot();
        self.0.change("store updates", move |tables, changes| accept(tables, changes, bot, updates, now))
    }

    /// Waits until all accepted updates are durable, including repeated ones.
    pub async fn sync(&self) -> Result<()> {
        // In a turn that is answered at once they become durable together with its answer.
        self.0.durable_soon("store updates").await
    }

    /// Stores the text of unreadable updates, durably; their ids count as seen and settled. The newest
    /// [`KEPT_UNREADABLE`] of each bot are kept. Those seen before are ignored. No command shows them yet.
    pub async fn set_aside(&self, updates: Vec<UnreadableUpdate>, now: DateTime<Utc>) -> Result<()> {
        if updates.is_empty() {
            return Ok(());
        }
        let bot = self.0.bot();
        self.0
            .change_durably("store updates that cannot be read", move |tables, changes| {
                set_aside(tables, changes, bot, updates, now)
            })
            .await
    }

    /// Deletes the text of updates that were set aside before this time. Returns the number deleted.
    pub fn expire_set_aside(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0.change("forget updates that could not be read", move |tables, changes| {
            let mut expired = 0;
            for item in tables.unreadable.scan(&[])? {
                let (key, aside) = item?;
                if aside.arrived_at < before {
                    changes.remove(&tables.unreadable, key);
                    expired += 1;
                }
            }
            Ok(expired)
        })
    }

    /// Returns all accepted updates that are not settled, by id.
    pub fn unsettled(&self) -> Result<Vec<RawUpdate>> {
        let bot = self.0.bot();
        self.0.read("read the stored updates", move |tables| unsettled(tables, bot))
    }

    /// Adds the `inline_message_id` of its answer to a stored guest message, durably: Telegram takes one answer, and the next
    /// start goes on with it. Nothing happens if the update is settled.
    pub async fn note_guest_answer(&self, id: UpdateId, message: &str) -> Result<()> {
        let (bot, message) = (self.0.bot(), message.to_owned());
        self.0
            .change_durably("note the answer to a guest message", move |tables, changes| {
                let key = key::update(bot, id);
                let Some(mut accepted) = tables.inbox.find(&key)? else { return Ok(()) };
                if let Some(guest) = accepted.body.get_mut("guest_message").and_then(Value::as_object_mut) {
                    guest.insert("inline_message_id".to_owned(), Value::String(message));
                }
                changes.put(&tables.inbox, key, &accepted)
            })
            .await
    }

    /// Marks updates as settled, durably; their ids stay known as seen. Unknown ids are ignored.
    pub async fn settle(&self, updates: &[UpdateId]) -> Result<()> {
        let (bot, ids) = (self.0.bot(), updates.to_vec());
        let settled = self.0.change_durably("settle updates", move |tables, changes| {
            updates::settle(tables, changes, bot, &ids)
        });
        if settled.await? {
            self.0.shared.erasure_news.notify_one();
        }
        Ok(())
    }

    /// Deletes ids of settled updates accepted before this time, oldest first and a bounded number at a time, so that
    /// other writers do not wait long. Returns the number deleted; call again until it is 0.
    pub fn expire_seen(&self, before: DateTime<Utc>) -> Result<usize> {
        let bot = self.0.bot();
        self.0.change("forget old updates", move |tables, changes| expire_seen(tables, changes, bot, before))
    }
}

fn accept(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    mut updates: Vec<RawUpdate>,
    accepted_at: DateTime<Utc>,
) -> Result<Vec<RawUpdate>, StoreFault> {
    let mut new = BTreeSet::new();
    for update in &updates {
        let key = key::update(bot, update.id);
        if tables.inbox.contains(&key)? || tables.seen.contains(&key)? || !new.insert(update.id) {
            continue;
        }
        changes.put(
            &tables.inbox,
            key,
            &Accepted { id: update.id, accepted_at, body: update.body.clone() },
        )?;
    }
    // Of two copies in one batch, the first was stored.
    updates.retain(|update| new.remove(&update.id));
    Ok(updates)
}

fn set_aside(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    updates: Vec<UnreadableUpdate>,
    arrived_at: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let mut kept: BTreeSet<Vec<u8>> = BTreeSet::new();
    for key in tables.unreadable.keys_of(&key::bot(bot))? {
        kept.insert(key?.to_vec());
    }
    for update in updates {
        let key = key::update(bot, update.id);
        if tables.inbox.contains(&key)? || tables.seen.contains(&key)? || !kept.insert(key.clone()) {
            continue;
        }
        changes.put(&tables.seen, key.clone(), &())?;
        changes.put(&tables.seen_by_time, key::update_at(bot, arrived_at, update.id), &())?;
        let aside = SetAsideUpdate { arrived_at, bytes: update.bytes, text: update.text };
        changes.put(&tables.unreadable, key, &aside)?;
    }
    for old in kept.iter().take(kept.len().saturating_sub(KEPT_UNREADABLE)) {
        changes.remove(&tables.unreadable, old.clone());
    }
    Ok(())
}

fn unsettled(tables: &Tables<'_>, bot: BotId) -> Result<Vec<RawUpdate>, StoreFault> {
    let updates = tables.inbox.list(&key::bot(bot))?;
    Ok(updates.into_iter().map(|update| RawUpdate { id: update.id, body: update.body }).collect())
}

fn expire_seen(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    before: DateTime<Utc>,
) -> Result<usize, StoreFault> {
    let old = Keys::before(key::updates_from(bot, before), &key::bot(bot));
    let mut expired = 0;
    for key in tables.seen_by_time.keys(old)?.take(EXPIRED) {
        let key = key?;
        if let Some(id) = key::update_of(&key) {
            changes.remove(&tables.seen, key::update(bot, id));
        }
        changes.remove(&tables.seen_by_time, key);
        expired += 1;
    }
    Ok(expired)
}
