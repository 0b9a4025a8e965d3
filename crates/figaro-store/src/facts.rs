//! Memories: facts about people, and the messages still to be read for them.

use chrono::{DateTime, Utc};

use super::key;
use super::records::facts::{ExtractionLimits, MemoryCounts, ReadFacts, UnreadBatch};
use super::records::{due, facts, pins};
use crate::{FactStore, Result};
use figaro_base::clock::Clock;
use figaro_base::ids::{EntryId, MemoryId, UserId};
use figaro_domain::facts::{FactCounts, Facts, OwnChange};
use figaro_domain::memory::Memory;

impl FactStore {
    /// Returns all memories of a person that were not erased, removed ones included, oldest first.
    pub fn of_person(&self, user: &UserId) -> Result<Vec<Memory>> {
        let of = key::user(user);
        self.0.read("read the memories", move |tables| tables.memories.list(&of))
    }

    /// Changes a memory at its person's request, durably, and returns it; `None` if the person has none that the change
    /// fits.
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

    /// Deletes all memories of a person for good, and the marks of messages still to be read for facts. Durable; returns
    /// the number of active memories deleted.
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

    /// Returns the people with messages still to be read for facts.
    pub fn people_with_unread(&self) -> Result<Vec<UserId>> {
        self.0.read("read who has said something", |tables| {
            let mut people: Vec<UserId> = Vec::new();
            for item in tables.unread.list(&[])? {
                if people.last() != Some(&item.user) {
                    people.push(item.user);
                }
            }
            Ok(people)
        })
    }

    /// Returns the oldest unread messages of a person, of one session, and counts a try of each. Messages that are gone
    /// or out of tries are given up. `None` if there is nothing to read.
    pub fn take_unread(&self, user: &UserId, reading: ExtractionLimits) -> Result<Option<UnreadBatch>> {
        let of = key::user(user);
        let nothing = self.0.read("read what was said", |tables| {
            Ok(tables.unread.keys_of(&of)?.next().transpose()?.is_none())
        });
        if nothing? {
            return Ok(None);
        }
        self.0.change("read what was said", |tables, changes| facts::take(tables, changes, &of, reading))
    }

    /// Takes back a counted try of messages, because no model answered.
    pub fn return_unread(&self, user: &UserId, messages: &[EntryId]) -> Result<()> {
        let keys: Vec<Vec<u8>> = messages.iter().map(|message| key::of_user(user, message)).collect();
        self.0.change("take a try back", move |tables, changes| {
            for key in &keys {
                if let Some(mut unread) = tables.unread.find(key)? {
                    unread.tries = unread.tries.saturating_sub(1);
                    changes.put(&tables.unread, key, &unread)?;
                }
            }
            Ok(())
        })
    }

    /// Ends the reading of messages: changes the memories and removes the marks, in one durable write. Returns the number
    /// of changes; `None`, without a write, if the mark of a message is gone because it was erased or read before.
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

    /// Marks everything a person has said so far as not to be read for facts.
    pub async fn skip_unread(&self, user: &UserId) -> Result<()> {
        let of = key::user(user);
        self.0
            .change_durably("take no facts from what was said", move |tables, changes| {
                facts::skip(tables, changes, &of)
            })
            .await
    }

    /// Deletes memories that were removed before this time for good, and from the files a moment later; returns the
    /// number deleted.
    pub fn purge(&self, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<usize> {
        let purged = self.0.change("delete memories", move |tables, changes| {
            let gone = facts::purge(tables, changes, before)?;
            if gone > 0 {
                due::mark(tables, changes, now)?;
            }
            Ok(gone)
        });
        let purged = purged?;
        if purged > 0 {
            self.0.shared.erasure_news.notify_one();
        }
        Ok(purged)
    }

    /// Counts the memories of all people.
    pub fn count(&self) -> Result<MemoryCounts> {
        self.0.read("count the memories", |tables| {
            let all = tables.memories.list(&[])?;
            let active = all.iter().filter(|memory| memory.is_active()).count();
            Ok(MemoryCounts { active, removed: all.len() - active, unread: tables.unread.list(&[])?.len() })
        })
    }
}
