//! Memories: facts about people, and the messages that they are still to be taken from.

use chrono::{DateTime, Utc};

use super::key;
use super::records::facts::{MemoryCounts, ReadFacts, Reading, UnreadBatch};
use super::records::{due, facts, pins};
use crate::{FactStore, Result};
use figaro_base::clock::Clock;
use figaro_base::ids::{EntryId, MemoryId, UserId};
use figaro_domain::facts::{FactCounts, Facts, OwnChange};
use figaro_domain::memory::Memory;

impl FactStore {
    /// All memories of a person that were not erased, also those that were removed, oldest first.
    pub async fn of_person(&self, user: &UserId) -> Result<Vec<Memory>> {
        let of = key::user(user);
        self.0.read("read the memories", move |tables| tables.memories.list(&of)).await
    }

    /// Makes a change that a person asked for of a memory of theirs, durably; gives the memory then. `None` if they have none
    /// that it fits.
    pub async fn change(
        &self,
        user: &UserId,
        memory: MemoryId,
        change: OwnChange,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>> {
        let user = user.clone();
        self.0
            .change_durably("change a memory", move |tables, changes| {
                let mut all = Facts::of(user.clone(), tables.memories.list(&key::user(&user))?, now);
                let changed = all.change(memory, change, usize::MAX);
                facts::put_all(tables, changes, &all)?;
                Ok(changed)
            })
            .await
    }

    /// Deletes all memories of a person for good, and the marks of messages that facts were still to be taken from. Durable;
    /// gives how many were active.
    pub async fn erase(&self, user: &UserId) -> Result<usize> {
        let (of, user) = (key::user(user), user.clone());
        let now = Clock::system().now();
        let erased = self.0.change_durably("erase memories", move |tables, changes| {
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
        self.0.shared.erasure_news.notify_one();
        Ok(erased)
    }

    /// The people who have said something that facts are still to be taken from.
    pub async fn people_with_unread(&self) -> Result<Vec<UserId>> {
        self.0
            .read("read who has said something", |tables| {
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

    /// The oldest such messages of a person, of one session, and counts a try of each. Those that are gone or had all their
    /// tries are given up. `None` if there is nothing to read.
    pub async fn take_unread(&self, user: &UserId, reading: Reading) -> Result<Option<UnreadBatch>> {
        let of = key::user(user);
        let nothing = self.0.read("read what was said", |tables| {
            Ok(tables.unread.keys_of(&of)?.next().transpose()?.is_none())
        });
        if nothing.await? {
            return Ok(None);
        }
        self.0
            .change("read what was said", |tables, changes| facts::take(tables, changes, &of, reading))
            .await
    }

    /// Takes a try of messages back: no model has answered.
    pub async fn return_unread(&self, user: &UserId, messages: &[EntryId]) -> Result<()> {
        let keys: Vec<Vec<u8>> = messages.iter().map(|message| key::of_user(user, message)).collect();
        self.0
            .change("take a try back", move |tables, changes| {
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

    /// Ends the reading of messages: changes the memories and takes the marks away, in one durable write. Gives what changed;
    /// `None`, and nothing is written, if the mark of one of them is gone: somebody has erased it, or it was read before.
    pub async fn end_reading(&self, user: &UserId, read: ReadFacts) -> Result<Option<FactCounts>> {
        let user = user.clone();
        self.0
            .change_durably("store memories", move |tables, changes| {
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

    /// Takes no facts from what a person has said so far.
    pub async fn skip_unread(&self, user: &UserId) -> Result<()> {
        let of = key::user(user);
        self.0
            .change_durably("take no facts from what was said", move |tables, changes| {
                facts::skip(tables, changes, &of)
            })
            .await
    }

    /// Deletes memories that were removed before this time for good, from the files too, a moment later; gives how many.
    pub async fn purge(&self, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<usize> {
        let purged = self.0.change("delete memories", move |tables, changes| {
            let gone = facts::purge(tables, changes, before)?;
            if gone > 0 {
                due::mark(tables, changes, now)?;
            }
            Ok(gone)
        });
        let purged = purged.await?;
        if purged > 0 {
            self.0.shared.erasure_news.notify_one();
        }
        Ok(purged)
    }

    /// How many memories there are of all people.
    pub async fn count(&self) -> Result<MemoryCounts> {
        self.0
            .read("count the memories", |tables| {
                let all = tables.memories.list(&[])?;
                let active = all.iter().filter(|memory| memory.is_active()).count();
                Ok(MemoryCounts {
                    active,
                    removed: all.len() - active,
                    unread: tables.unread.list(&[])?.len(),
                })
            })
            .await
    }
}
