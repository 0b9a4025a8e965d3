//! Changes of memories: messages still to be read, proposed changes, and the rules that hold for every proposal. Pure; the
//! store applies the result in one commit.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::{EntryKey, Message};
use super::memory::Memory;
use super::message::{Inbound, Span};
use figaro_base::ids::{ChatId, EntryId, MemoryId, UserId};

/// Time in which the removal of a memory can be undone. Afterwards the memory is deleted.
pub const REMOVED_FOR: TimeDelta = TimeDelta::days(1);

/// A person's message from which facts are still to be extracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Id of the stored message. Another message may have taken its place since.
    pub id: EntryId,
    /// Writer of the message, who owns the resulting memories.
    pub user: UserId,
    /// Key of the message.
    pub place: EntryKey,
    /// Parts that are not the writer's own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Span>,
    /// Number of times a model has been asked about it.
    #[serde(default)]
    pub tries: u8,
}

impl Unread {
    /// Creates the entry for a message of a question, which must already have its place in a session.
    #[must_use]
    pub(crate) fn of(part: &Inbound, message: &Message) -> Self {
        let (id, place, user) = (message.id, message.key(), part.speaker.user.clone());
        Self { id, user, place, foreign: part.foreign.clone(), tries: 0 }
    }
}

/// Memories used by an answer, to count their use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedMemories {
    /// Owner of the memories.
    pub user: UserId,
    /// Ids of the memories, without duplicates.
    pub ids: Vec<MemoryId>,
    /// Time of the answer, UTC.
    pub at: DateTime<Utc>,
}

/// A fact stated by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Text to remember.
    pub content: String,
    /// Chat of the message that states the fact.
    pub chat: ChatId,
    /// Message that states the fact.
    pub source_message_id: EntryId,
    /// Key of that message.
    pub source: EntryKey,
    /// `true` for a lasting preference.
    pub is_preference: bool,
}

/// One change of the memories of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactChange {
    /// Adds a memory.
    Create(Fact),
    /// Replaces the text of a memory.
    Update(MemoryId, Fact),
    /// Replaces the text of a memory, and removes the memories merged into it.
    Merge(MemoryId, Vec<MemoryId>, Fact),
    /// Removes a memory. It can be restored for [`REMOVED_FOR`].
    Remove(MemoryId),
}

impl FactChange {
    /// Returns the existing memories that the change refers to.
    fn named(&self) -> impl Iterator<Item = MemoryId> {
        let (one, others) = match self {
            Self::Create(_) => (None, &[][..]),
            Self::Update(id, _) | Self::Remove(id) => (Some(*id), &[][..]),
            Self::Merge(id, others, _) => (Some(*id), &others[..]),
        };
        one.into_iter().chain(others.iter().copied())
    }
}

/// A person's change of one of their memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnChange {
    /// Replaces the text.
    Reword(String),
    /// Removes the memory. [`Self::Restore`] undoes this for [`REMOVED_FOR`].
    Remove,
    /// Restores a removed memory.
    Restore,
}

/// Numbers of memories changed by a series of changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FactCounts {
    /// Number of memories added.
    pub added: usize,
    /// Number of memories with a new text or source.
    pub changed: usize,
    /// Number of memories removed, including those above the limit.
    pub removed: usize,
}

impl FactCounts {
    /// Returns `true` if anything has changed.
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.added + self.changed + self.removed > 0
    }
}

/// Memories of one person during a change.
#[derive(Debug)]
pub struct Facts {
    /// All memories, including removed ones, oldest first.
    pub all: Vec<Memory>,
    /// Ids of the memories to be written.
    pub(crate) touched: Vec<MemoryId>,
    /// Memories removed because the limit was exceeded.
    expired: Vec<MemoryId>,
    user: UserId,
    now: DateTime<Utc>,
    counts: FactCounts,
}

impl Facts {
    /// Takes the stored memories of a person, to be changed at `now`.
    #[must_use]
    pub fn of(user: UserId, all: Vec<Memory>, now: DateTime<Utc>) -> Self {
        Self { all, touched: Vec::new(), expired: Vec::new(), user, now, counts: FactCounts::default() }
    }

    /// Applies changes in order and returns the counts. Three rules hold for every proposal: equal texts are stored once, a
    /// memory changes only by facts of its own chat, and above the limit the least valuable memory is removed.
    pub fn apply(&mut self, changes: Vec<FactChange>, limit: usize) -> FactCounts {
        // A memory that no longer exists was removed or erased. A text derived from it must not come back.
        let there: HashSet<MemoryId> =
            self.all.iter().filter(|memory| memory.is_active()).map(|memory| memory.id).collect();
        for change in changes.into_iter().filter(|change| change.named().all(|id| there.contains(&id))) {
            match change {
                FactChange::Create(fact) => self.create(fact),
                FactChange::Update(id, fact) => self.update(id, fact),
                FactChange::Merge(id, others, fact) => {
                    self.inherit(id, &others, fact.chat);
                    for other in others.into_iter().filter(|other| *other != id) {
                        self.remove(other, fact.chat);
                    }
                    self.update(id, fact);
                }
                FactChange::Remove(id) => self.remove_any(id),
            }
        }
        self.expire(limit);
        self.counts
    }

    /// Applies a person's change and returns the changed memory; `None` if no memory fits the change.
    pub fn change(&mut self, id: MemoryId, change: OwnChange, limit: usize) -> Option<Memory> {
        let now = self.now;
        let is_wanted = |memory: &Memory| memory.is_active() != (change == OwnChange::Restore);
        let memory = self.all.iter_mut().find(|memory| memory.id == id && is_wanted(memory))?;
        match change {
            OwnChange::Reword(content) => (memory.content, memory.updated_at) = (content, now),
            OwnChange::Remove => memory.deleted_at = Some(now),
            OwnChange::Restore => memory.deleted_at = None,
        }
        self.touched.push(id);
        self.expire(limit);
        self.all.iter().find(|memory| memory.id == id).cloned()
    }

    /// Returns the memories to be written.
    pub fn written(&self) -> impl Iterator<Item = &Memory> {
        self.all.iter().filter(|memory| self.touched.contains(&memory.id))
    }

    /// Returns `true` if a memory was removed only because of the limit.
    #[must_use]
    pub fn has_expired(&self, id: MemoryId) -> bool {
        self.expired.contains(&id)
    }

    fn create(&mut self, fact: Fact) {
        let same = |memory: &&mut Memory| memory.is_active() && same_words(&memory.content, &fact.content);
        let known = self.all.iter_mut().filter(same).find(|memory| {
            let is_private = !memory.chat.is_group();
            memory.is_used_in(fact.chat) || is_private
        });
        if let Some(known) = known {
            // A fact from a private chat that is repeated in a group may be used in the group too.
            if !known.is_used_in(fact.chat) {
                (known.chat, known.source) = (fact.chat, fact.source);
                (known.source_message_id, known.updated_at) = (fact.source_message_id, self.now);
                self.touched.push(known.id);
                self.counts.changed += 1;
            }
            return;
        }
        let memory = Memory {
            id: MemoryId::new(),
            user: self.user.clone(),
            chat: fact.chat,
            content: fact.content,
            source_message_id: fact.source_message_id,
            source: fact.source,
            older_sources: Vec::new(),
            is_preference: fact.is_preference,
            access_count: 0,
            last_accessed_at: None,
            created_at: self.now,
            updated_at: self.now,
            deleted_at: None,
        };
        self.touched.push(memory.id);
        self.all.push(memory);
        self.counts.added += 1;
    }

    fn update(&mut self, id: MemoryId, fact: Fact) {
        let same = |memory: &Memory| {
            memory.id != id
                && memory.is_active()
                && memory.chat == fact.chat
                && same_words(&memory.content, &fact.content)
        };
        if self.all.iter().any(same) {
            self.remove(id, fact.chat);
            return;
        }
        let is_it = |memory: &&mut Memory| memory.id == id && memory.is_active() && memory.chat == fact.chat;
        // A memory of another chat does not change: words from this chat must not be read there.
        let Some(memory) = self.all.iter_mut().find(is_it) else { return self.create(fact) };
        if memory.content == fact.content {
            return;
        }
        let before = memory.source_message_id;
        if before != fact.source_message_id && !memory.older_sources.contains(&before) {
            memory.older_sources.push(before);
        }
        (memory.content, memory.source) = (fact.content, fact.source);
        (memory.source_message_id, memory.updated_at) = (fact.source_message_id, self.now);
        memory.is_preference = fact.is_preference;
        self.touched.push(id);
        self.counts.changed += 1;
    }

    /// Adds the sources of the merged memories, so that erasing one of those messages also erases this memory.
    fn inherit(&mut self, id: MemoryId, others: &[MemoryId], chat: ChatId) {
        let merged = self.all.iter().filter(|memory| memory.chat == chat && others.contains(&memory.id));
        let sources: Vec<EntryId> = merged.flat_map(Memory::sources).collect();
        if let Some(memory) = self.all.iter_mut().find(|memory| memory.id == id && memory.chat == chat) {
            memory.older_sources.extend(sources);
            memory.older_sources.sort_unstable();
            memory.older_sources.dedup();
            self.touched.push(id);
        }
    }

    fn remove(&mut self, id: MemoryId, chat: ChatId) {
        if self.all.iter().any(|memory| memory.id == id && memory.chat == chat) {
            self.remove_any(id);
        }
    }

    fn remove_any(&mut self, id: MemoryId) {
        let active = |memory: &&mut Memory| memory.id == id && memory.is_active();
        if let Some(memory) = self.all.iter_mut().find(active) {
            memory.deleted_at = Some(self.now);
            self.touched.push(id);
            self.counts.removed += 1;
        }
    }

    /// Removes the least valuable memories down to the limit; of equal ones the oldest.
    fn expire(&mut self, limit: usize) {
        let now = self.now;
        loop {
            let active = self.all.iter().filter(|memory| memory.is_active());
            if active.clone().count() <= limit {
                return;
            }
            let least = active.min_by(|one, other| {
                one.worth(now).total_cmp(&other.worth(now)).then(one.created_at.cmp(&other.created_at))
            });
            let Some(least) = least.map(|memory| memory.id) else { return };
            self.remove_any(least);
            self.expired.push(least);
        }
    }
}

/// Returns `true` if two texts have the same letters and digits in the same order. Case and separators are ignored.
#[must_use]
pub fn same_words(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::SessionId;

    const ANN: i64 = 11;

    fn at(day: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(day)
    }

    fn fact(content: &str, chat: i64) -> Fact {
        let source = EntryKey { session: SessionId::new(), index: 0 };
        let content = content.to_owned();
        let source_message_id = EntryId::new();
        Fact { content, chat: ChatId(chat), source_message_id, source, is_preference: false }
    }

    fn changed(
        all: Vec<Memory>,
        day: i64,
        changes: Vec<FactChange>,
        limit: usize,
    ) -> (Vec<Memory>, FactCounts) {
        let mut facts = Facts::of(UserId::telegram(ANN), all, at(day));
        let counts = facts.apply(changes, limit);
        (facts.all, counts)
    }

    fn active(all: &[Memory]) -> Vec<(&str, i64)> {
        let active = all.iter().filter(|memory| memory.is_active());
        active.map(|memory| (memory.content.as_str(), memory.chat.0)).collect()
    }

    #[test]
    fn the_same_words_are_kept_once_and_go_where_they_were_said() {
        let create = |content: &str, chat| FactChange::Create(fact(content, chat));
        let (all, counts) =
            changed(Vec::new(), 0, vec![create("Likes tea", ANN), create("likes  TEA.", ANN)], 9);
        assert_eq!((active(&all), counts.added), (vec![("Likes tea", ANN)], 1));
        let (all, counts) = changed(all, 1, vec![create("Likes tea", -5)], 9);
        assert_eq!((active(&all), counts.changed), (vec![("Likes tea", -5)], 1), "now the group may know");
        let (all, counts) = changed(all, 2, vec![create("Likes tea", ANN)], 9);
        assert_eq!((active(&all), counts.is_some()), (vec![("Likes tea", -5)], false));
        let (all, _) = changed(all, 3, vec![create("Likes tea", -6)], 9);
        assert_eq!(active(&all).len(), 2, "each group knows what was said in it");
    }

    #[test]
    fn a_memory_knows_all_the_messages_it_is_made_of_and_nothing_is_made_of_one_that_is_gone() {
        let create = |content: &str| FactChange::Create(fact(content, ANN));
        let (all, _) = changed(Vec::new(), 0, vec![create("Has a dog"), create("The dog is Rex")], 9);
        let (one, other) = (all[0].clone(), all[1].clone());
        let whole = fact("Has a dog, Rex", ANN);
        let merge = FactChange::Merge(one.id, vec![other.id], whole.clone());
        let (merged, _) = changed(all.clone(), 1, vec![merge.clone()], 9);
        let memory = merged.iter().find(|memory| memory.id == one.id).unwrap();
        assert_eq!(memory.content, "Has a dog, Rex");
        for source in [one.source_message_id, other.source_message_id, whole.source_message_id] {
            assert!(memory.sources().any(|known| known == source));
        }
        for gone in [0, 1] {
            let mut left = all.clone();
            left.remove(gone);
            let update = FactChange::Update(all[gone].id, whole.clone());
            let (after, counts) = changed(left.clone(), 1, vec![merge.clone(), update], 9);
            assert_eq!((after, counts.is_some()), (left, false));
        }
    }

    #[test]
    fn a_memory_changes_only_by_what_was_said_in_its_chat() {
        let (all, _) = changed(Vec::new(), 0, vec![FactChange::Create(fact("Lives in Riga", -5))], 9);
        let id = all[0].id;
        let (moved, _) = changed(all.clone(), 1, vec![FactChange::Update(id, fact("Lives in Rome", ANN))], 9);
        assert_eq!(active(&moved), [("Lives in Riga", -5), ("Lives in Rome", ANN)]);
        let there = fact("Lives in Rome", -5);
        let (moved, counts) = changed(all, 1, vec![FactChange::Update(id, there.clone())], 9);
        assert_eq!((active(&moved), counts.changed), (vec![("Lives in Rome", -5)], 1));
        assert_eq!((moved[0].id, moved[0].source_message_id), (id, there.source_message_id));
    }

    #[test]
    fn merging_keeps_one_and_what_was_removed_stays_until_it_is_purged() {
        let create = |content: &str| FactChange::Create(fact(content, ANN));
        let (all, _) =
            changed(Vec::new(), 0, vec![create("Has a dog"), create("The dog is Rex"), create("Sings")], 9);
        let (dog, rex) = (all[0].id, all[1].id);
        let merge = FactChange::Merge(dog, vec![rex, dog], fact("Has a dog, Rex", ANN));
        let (all, counts) = changed(all, 1, vec![merge], 9);
        assert_eq!(active(&all), [("Has a dog, Rex", ANN), ("Sings", ANN)]);
        assert_eq!((counts.changed, counts.removed, all.len()), (1, 1, 3));
        assert_eq!(changed(all, 32, vec![], 9).0.len(), 3, "the store purges it");
    }

    #[test]
    fn a_person_rewords_removes_and_puts_back() {
        let (all, _) = changed(Vec::new(), 0, vec![FactChange::Create(fact("Sings", ANN))], 9);
        let id = all[0].id;
        let mut facts = Facts::of(UserId::telegram(ANN), all, at(1));
        assert_eq!(facts.change(id, OwnChange::Restore, 9), None);
        let reworded = facts.change(id, OwnChange::Reword("Sings alto".into()), 9).unwrap();
        assert_eq!((reworded.content.as_str(), reworded.updated_at), ("Sings alto", at(1)));
        assert!(!facts.change(id, OwnChange::Remove, 9).unwrap().is_active());
        assert_eq!(facts.change(id, OwnChange::Remove, 9), None);
        assert!(facts.change(id, OwnChange::Restore, 9).unwrap().is_active());
        assert_eq!(facts.change(MemoryId::new(), OwnChange::Remove, 9), None);
    }

    proptest! {
        #[test]
        fn there_are_never_more_than_the_limit_and_the_used_ones_stay(
            days in prop::collection::vec((0_u32..12, 0_u32..4), 1..60),
            limit in 1_usize..12,
        ) {
            let mut all = Vec::new();
            for (day, (word, uses)) in (0_i64..).zip(days) {
                let words = format!("fact {word} of day {day}");
                all = changed(all, day, vec![FactChange::Create(fact(&words, ANN))], limit).0;
                if let Some(newest) = all.iter_mut().rev().find(|memory| memory.is_active()) {
                    newest.access_count += uses;
                }
                let now = at(day + 1);
                let gone = changed(all.clone(), day + 1, vec![], limit.saturating_sub(1)).0;
                let least_kept = gone.iter().filter(|m| m.is_active()).map(|m| m.worth(now)).fold(f64::MAX, f64::min);
                let expired = gone.iter().filter(|m| m.deleted_at == Some(now));
                prop_assert!(expired.clone().all(|m| m.worth(now) <= least_kept));
                prop_assert!(all.iter().filter(|memory| memory.is_active()).count() <= limit);
            }
        }
    }
}
