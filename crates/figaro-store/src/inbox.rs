//! Updates between their arrival and their settlement. An id is in the inbox until it is settled, then among the seen.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::changes::Changes;
use super::fault::Fault;
use super::key;
use super::records::updates;
use super::tables::{Accepted, SetAside, Tables};
use crate::engine::Keys;
use crate::{InboxStore, Result};
use figaro_base::ids::{BotId, UpdateId};

/// An update as Telegram sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawUpdate {
    /// The `update_id` that Telegram gave it.
    pub id: UpdateId,
    /// The whole update as JSON.
    pub body: Value,
}

/// An update that is no JSON Figaro can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableUpdate {
    /// The `update_id` that Telegram gave it.
    pub id: UpdateId,
    /// The first [`Self::KEPT_BYTES`] of its text at most.
    pub text: String,
    /// How long the whole of it is, in bytes.
    pub bytes: usize,
}

impl UnreadableUpdate {
    /// The most bytes of the text that are kept.
    pub const KEPT_BYTES: usize = 64 * 1024;

    /// An unreadable update with this id, of whose text the first [`Self::KEPT_BYTES`] are kept.
    #[must_use]
    pub fn new(id: UpdateId, text: &str) -> Self {
        let kept = text[..text.floor_char_boundary(Self::KEPT_BYTES)].to_owned();
        Self { id, text: kept, bytes: text.len() }
    }
}

/// The most updates of a bot that could not be read and are kept; the oldest go first.
pub const KEPT_UNREADABLE: usize = 100;

/// The most ids one call forgets.
const EXPIRED: usize = 512;

impl InboxStore {
    /// Stores those updates that were never seen before, and returns them in the order given. Telegram may be told of them
    /// after [`Self::sync`] alone.
    pub async fn accept(&self, updates: Vec<RawUpdate>, now: DateTime<Utc>) -> Result<Vec<RawUpdate>> {
        if updates.is_empty() {
            return Ok(updates);
        }
        let bot = self.0.bot();
        self.0
            .change("store updates", move |tables, changes| accept(tables, changes, bot, updates, now))
            .await
    }

    /// Returns when all updates that were accepted, also those accepted before once more, are durable.
    pub async fn sync(&self) -> Result<()> {
        // In a turn that is answered at once they are durable together with its answer.
        self.0.durable_soon("store updates").await
    }

    /// Keeps the text of updates that cannot be read, durably; their ids count as seen and settled. Of each bot's the
    /// newest [`KEPT_UNREADABLE`] by id are kept. Those seen before are ignored. No command shows them yet.
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

    /// Forgets the text of updates that were set aside before this time. Returns how many.
    pub async fn expire_set_aside(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0
            .change("forget updates that could not be read", move |tables, changes| {
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
            .await
    }

    /// All updates that were accepted and are not settled, by id.
    pub async fn unsettled(&self) -> Result<Vec<RawUpdate>> {
        let bot = self.0.bot();
        self.0.read("read the stored updates", move |tables| unsettled(tables, bot)).await
    }

    /// Marks updates as dealt with, durably; their ids stay known as seen. Unknown ids are ignored.
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

    /// Forgets ids of settled updates that were accepted before this time: the oldest, a bounded number at a time, so
    /// that no other writer waits long. Returns how many; called again until it returns 0, it forgets them all.
    pub async fn expire_seen(&self, before: DateTime<Utc>) -> Result<usize> {
        let bot = self.0.bot();
        self.0
            .change("forget old updates", move |tables, changes| expire_seen(tables, changes, bot, before))
            .await
    }
}

fn accept(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    mut updates: Vec<RawUpdate>,
    accepted_at: DateTime<Utc>,
) -> Result<Vec<RawUpdate>, Fault> {
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
    // The first of two copies in one batch is the one that was stored.
    updates.retain(|update| new.remove(&update.id));
    Ok(updates)
}

fn set_aside(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    updates: Vec<UnreadableUpdate>,
    arrived_at: DateTime<Utc>,
) -> Result<(), Fault> {
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
        let aside = SetAside { arrived_at, bytes: update.bytes, text: update.text };
        changes.put(&tables.unreadable, key, &aside)?;
    }
    for old in kept.iter().take(kept.len().saturating_sub(KEPT_UNREADABLE)) {
        changes.remove(&tables.unreadable, old.clone());
    }
    Ok(())
}

fn unsettled(tables: &Tables<'_>, bot: BotId) -> Result<Vec<RawUpdate>, Fault> {
    let updates = tables.inbox.list(&key::bot(bot))?;
    Ok(updates.into_iter().map(|update| RawUpdate { id: update.id, body: update.body }).collect())
}

fn expire_seen(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    before: DateTime<Utc>,
) -> Result<usize, Fault> {
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
