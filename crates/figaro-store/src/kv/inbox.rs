//! Updates between their arrival and their settlement. An id is in the inbox until it is settled, then among the seen.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::records::updates;
use super::tables::{Accepted, SetAside, Tables};
use super::{KvStore, key};
use crate::engine::Keys;
use crate::{InboxStore, KEPT_UNREADABLE, RawUpdate, Result, UnreadableUpdate};
use figaro_base::ids::{BotId, UpdateId};

/// The most ids one call forgets.
const EXPIRED: usize = 512;

#[async_trait]
impl InboxStore for KvStore {
    async fn accept(&self, updates: Vec<RawUpdate>, now: DateTime<Utc>) -> Result<Vec<RawUpdate>> {
        if updates.is_empty() {
            return Ok(updates);
        }
        let bot = self.bot();
        self.change("store updates", move |tables, changes| accept(tables, changes, bot, updates, now)).await
    }

    async fn sync(&self) -> Result<()> {
        // In a turn that is answered at once they are durable together with its answer.
        self.durable_soon("store updates").await
    }

    async fn set_aside(&self, updates: Vec<UnreadableUpdate>, now: DateTime<Utc>) -> Result<()> {
        if updates.is_empty() {
            return Ok(());
        }
        let bot = self.bot();
        self.change_durably("store updates that cannot be read", move |tables, changes| {
            set_aside(tables, changes, bot, updates, now)
        })
        .await
    }

    async fn expire_set_aside(&self, before: DateTime<Utc>) -> Result<usize> {
        self.change("forget updates that could not be read", move |tables, changes| {
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

    async fn unsettled(&self) -> Result<Vec<RawUpdate>> {
        let bot = self.bot();
        self.read("read the stored updates", move |tables| unsettled(tables, bot)).await
    }

    async fn settle(&self, updates: &[UpdateId]) -> Result<()> {
        let (bot, ids) = (self.bot(), updates.to_vec());
        let settled = self.change_durably("settle updates", move |tables, changes| {
            updates::settle(tables, changes, bot, &ids)
        });
        if settled.await? {
            self.0.erasure_news.notify_one();
        }
        Ok(())
    }

    async fn expire_seen(&self, before: DateTime<Utc>) -> Result<usize> {
        let bot = self.bot();
        self.change("forget old updates", move |tables, changes| expire_seen(tables, changes, bot, before))
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
