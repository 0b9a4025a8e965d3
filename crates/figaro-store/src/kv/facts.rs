//! [`FactStore`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::{due, facts, pins};
use super::{KvStore, key};
use crate::{FactStore, MemoryCounts, ReadFacts, Reading, Result, UnreadBatch};
use figaro_base::clock::Clock;
use figaro_base::ids::{EntryId, MemoryId, UserId};
use figaro_domain::facts::{FactCounts, Facts, OwnChange};
use figaro_domain::memory::Memory;

#[async_trait]
impl FactStore for KvStore {
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>> {
        let of = key::user(user);
        self.read("read the memories", move |tables| tables.memories.list(&of)).await
    }

    async fn change_memory(
        &self,
        user: &UserId,
        memory: MemoryId,
        change: OwnChange,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>> {
        let user = user.clone();
        self.change_durably("change a memory", move |tables, changes| {
            let mut all = Facts::of(user.clone(), tables.memories.list(&key::user(&user))?, now);
            let changed = all.change(memory, change, usize::MAX);
            facts::put_all(tables, changes, &all)?;
            Ok(changed)
        })
        .await
    }

    async fn erase_memories(&self, user: &UserId) -> Result<usize> {
        let (of, user) = (key::user(user), user.clone());
        let now = Clock::system().now();
        let erased = self.change_durably("erase memories", move |tables, changes| {
            let known = tables.memories.list(&of)?;
            for key in tables.memories.keys_of(&of)? {
                changes.remove(&tables.memories, key?);
            }
            facts::skip(tables, changes, &of)?;
            let pins = pins::remove_of_memories(tables, changes, &user, None)?;
            if !known.is_empty() || pins > 0 {
                due::mark(tables, changes, now)?;
            }
            Ok(known.iter().filter(|memory| memory.is_active()).count())
        });
        let erased = erased.await?;
        self.0.erasure_news.notify_one();
        Ok(erased)
    }

    async fn people_with_unread(&self) -> Result<Vec<UserId>> {
        self.read("read who has said something", |tables| {
            let mut people: Vec<UserId> = Vec::new();
            for item in tables.unread.list(&[])? {
                if people.last() != Some(&item.user) {
                    people.push(item.user);
                }
            }
            Ok(people)
        })
        .await
    }

    async fn take_unread(&self, user: &UserId, reading: Reading) -> Result<Option<UnreadBatch>> {
        let of = key::user(user);
        let nothing = self.read("read what was said", |tables| {
            Ok(tables.unread.keys_of(&of)?.next().transpose()?.is_none())
        });
        if nothing.await? {
            return Ok(None);
        }
        self.change("read what was said", |tables, changes| facts::take(tables, changes, &of, reading)).await
    }

    async fn return_unread(&self, user: &UserId, messages: &[EntryId]) -> Result<()> {
        let keys: Vec<Vec<u8>> = messages.iter().map(|message| key::of_user(user, message)).collect();
        self.change("take a try back", move |tables, changes| {
            for key in &keys {
                if let Some(mut unread) = tables.unread.find(key)? {
                    unread.tries = unread.tries.saturating_sub(1);
                    changes.put(&tables.unread, key, &unread)?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn end_reading(&self, user: &UserId, read: ReadFacts) -> Result<Option<FactCounts>> {
        let user = user.clone();
        self.change_durably("store memories", move |tables, changes| {
            for message in &read.read {
                let key = key::of_user(&user, message);
                if !tables.unread.contains(&key)? {
                    return Ok(None);
                }
            }
            for message in &read.read {
                changes.remove(&tables.unread, key::of_user(&user, message));
            }
            let mut all = Facts::of(user.clone(), tables.memories.list(&key::user(&user))?, read.now);
            let counts = all.apply(read.changes, read.limit);
            facts::put_all(tables, changes, &all)?;
            Ok(Some(counts))
        })
        .await
    }

    async fn skip_unread(&self, user: &UserId) -> Result<()> {
        let of = key::user(user);
        self.change_durably("take no facts from what was said", move |tables, changes| {
            facts::skip(tables, changes, &of)
        })
        .await
    }

    async fn purge_memories(&self, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<usize> {
        let purged = self.change("delete memories", move |tables, changes| {
            let gone = facts::purge(tables, changes, before)?;
            if gone > 0 {
                due::mark(tables, changes, now)?;
            }
            Ok(gone)
        });
        let purged = purged.await?;
        if purged > 0 {
            self.0.erasure_news.notify_one();
        }
        Ok(purged)
    }

    async fn count_memories(&self) -> Result<MemoryCounts> {
        self.read("count the memories", |tables| {
            let all = tables.memories.list(&[])?;
            let active = all.iter().filter(|memory| memory.is_active()).count();
            Ok(MemoryCounts { active, removed: all.len() - active, unread: tables.unread.list(&[])?.len() })
        })
        .await
    }
}
