//! Limits the number of waiting messages per person, per conversation and in total, so that nobody blocks the bot for
//! others. A message, command or button press takes a [`WaitingSlot`], and returns it when its turn begins or it is handled.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use figaro_base::ids::UserId;
use figaro_domain::conversation::ConversationId;

/// Maximum number of waiting messages of one person, over all conversations.
pub const MAX_OF_PERSON: usize = 20;
/// Maximum number of waiting messages in one conversation.
pub const MAX_IN_CONVERSATION: usize = 50;
/// Maximum number of waiting messages in total. Limits the memory use of a bot that is open to everybody.
pub(crate) const MAX_IN_ALL: usize = 2000;
/// Maximum number of people who are told that the whole bot is full. Others are not told.
const MAX_TOLD: usize = 1000;

/// Counts waiting messages. Cheap to clone; clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Admission(Arc<Mutex<WaitingCounts>>);

#[derive(Debug, Default)]
struct WaitingCounts {
    all: usize,
    people: HashMap<UserId, Count>,
    conversations: HashMap<ConversationId, Count>,
    /// People who were told that the whole bot is full, since it was last half empty.
    told: HashSet<UserId>,
}

/// Number of waiting messages of a person or conversation, and whether the limit was reported. Removed when none is
/// waiting.
#[derive(Debug, Default)]
struct Count {
    waiting: usize,
    told: bool,
}

/// A counted place among the waiting messages. Dropping it frees the place.
#[derive(Debug)]
pub struct WaitingSlot {
    /// Person who holds the slot; `None` if unknown.
    user: Option<UserId>,
    conversation: Option<ConversationId>,
    admission: Admission,
}

/// Kind of limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The person has [`MAX_OF_PERSON`] messages waiting.
    Person,
    /// [`MAX_IN_CONVERSATION`] messages are waiting in the conversation.
    Conversation,
    /// `MAX_IN_ALL` messages are waiting in total.
    All,
}

/// Refusal of a message because a limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionRefusal {
    /// Limit that is reached and caused the refusal.
    pub full: Full,
    /// `true` if the refusal must be reported: it was not yet, since the person or conversation last had nothing
    /// waiting.
    pub is_first: bool,
}

impl Admission {
    /// Reserves a slot for one more message. An unknown person has no limit per person. Without a conversation, where
    /// nothing can be waiting yet, only the limits of the person and of the bot apply.
    ///
    /// # Errors
    /// If a limit is reached. Nothing is counted then.
    pub(crate) fn admit(
        &self,
        user: Option<&UserId>,
        conversation: impl Into<Option<ConversationId>>,
    ) -> Result<WaitingSlot, AdmissionRefusal> {
        let conversation = conversation.into();
        let mut counts = self.counts();
        match counts.full(user, conversation) {
            Some(full) => Err(AdmissionRefusal { full, is_first: counts.tell(full, user, conversation) }),
            None => Ok(self.enter(counts, user, conversation)),
        }
    }

    /// Reserves a slot for a message that was accepted before a restart. It is counted, but never refused.
    #[must_use]
    pub(crate) fn readmit(&self, user: &UserId, conversation: ConversationId) -> WaitingSlot {
        self.enter(self.counts(), Some(user), Some(conversation))
    }

    fn enter(
        &self,
        mut counts: MutexGuard<'_, WaitingCounts>,
        user: Option<&UserId>,
        conversation: Option<ConversationId>,
    ) -> WaitingSlot {
        counts.all += 1;
        if let Some(user) = user {
            counts.people.entry(user.clone()).or_default().waiting += 1;
        }
        if let Some(conversation) = conversation {
            counts.conversations.entry(conversation).or_default().waiting += 1;
        }
        WaitingSlot { user: user.cloned(), conversation, admission: self.clone() }
    }

    /// Locks the counts. They stay consistent even if a holder panics: each change is complete before anything can
    /// fail.
    fn counts(&self) -> MutexGuard<'_, WaitingCounts> {
        self.0.lock()
    }
}

impl WaitingCounts {
    fn full(&self, user: Option<&UserId>, conversation: Option<ConversationId>) -> Option<Full> {
        let of_person = user.and_then(|user| self.people.get(user)).map_or(0, |count| count.waiting);
        let in_conversation = conversation.and_then(|conversation| self.conversations.get(&conversation));
        let in_conversation = in_conversation.map_or(0, |count| count.waiting);
        if of_person >= MAX_OF_PERSON {
            Some(Full::Person)
        } else if in_conversation >= MAX_IN_CONVERSATION {
            Some(Full::Conversation)
        } else if self.all >= MAX_IN_ALL {
            Some(Full::All)
        } else {
            None
        }
    }

    /// Marks the refusal as reported. Returns `false` if it was reported before, or if the person is unknown.
    fn tell(&mut self, full: Full, user: Option<&UserId>, conversation: Option<ConversationId>) -> bool {
        let Some(user) = user else { return false };
        let count = match full {
            Full::Person => self.people.get_mut(user),
            Full::Conversation => {
                conversation.and_then(|conversation| self.conversations.get_mut(&conversation))
            }
            Full::All => return self.told.len() < MAX_TOLD && self.told.insert(user.clone()),
        };
        count.is_some_and(|count| !std::mem::replace(&mut count.told, true))
    }

    fn leave(&mut self, user: Option<&UserId>, conversation: Option<ConversationId>) {
        self.all = self.all.saturating_sub(1);
        if self.all <= MAX_IN_ALL / 2 {
            self.told.clear();
        }
        if let Some(user) = user {
            take_one(&mut self.people, user);
        }
        if let Some(conversation) = conversation {
            take_one(&mut self.conversations, &conversation);
        }
    }
}

/// Decrements a count, and removes it at zero.
fn take_one<K: Eq + Hash>(counts: &mut HashMap<K, Count>, key: &K) {
    let Some(count) = counts.get_mut(key) else { return };
    count.waiting = count.waiting.saturating_sub(1);
    if count.waiting == 0 {
        counts.remove(key);
    }
}

impl WaitingSlot {
    /// Returns the person who holds this slot; `None` if unknown.
    #[must_use]
    pub(crate) const fn user(&self) -> Option<&UserId> {
        self.user.as_ref()
    }
}

impl Drop for WaitingSlot {
    fn drop(&mut self) {
        self.admission.counts().leave(self.user.as_ref(), self.conversation);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::ChatId;

    fn person(id: i64) -> UserId {
        UserId::telegram(id)
    }

    fn chat(id: i64) -> ConversationId {
        ConversationId { chat: ChatId(id), topic: None }
    }

    #[test]
    fn a_person_has_twenty_waiting_and_hears_once_that_there_is_no_room() {
        let admission = Admission::default();
        let admit = |user| admission.admit(Some(&person(user)), chat(user));
        let mut slots: Vec<WaitingSlot> = (0..MAX_OF_PERSON).map(|_| admit(1).unwrap()).collect();
        let refused = |is_first| Err(AdmissionRefusal { full: Full::Person, is_first });
        assert_eq!(admit(1).map(drop), refused(true));
        assert_eq!(admit(1).map(drop), refused(false));
        assert!(admit(2).is_ok(), "others have their own room");
        slots.pop();
        slots.push(admit(1).unwrap());
        assert_eq!(admit(1).map(drop), refused(false), "it is said again only after nothing waited");
        slots.clear();
        slots.extend((0..MAX_OF_PERSON).map(|_| admit(1).unwrap()));
        assert_eq!(admit(1).map(drop), refused(true));
    }

    #[test]
    fn a_conversation_has_fifty_waiting_and_the_bot_two_thousand() {
        let admission = Admission::default();
        let mut slots: Vec<WaitingSlot> = (0..MAX_IN_CONVERSATION)
            .map(|at| admission.admit(Some(&person(at as i64)), chat(-1)).unwrap())
            .collect();
        let refused = |full, is_first| Err(AdmissionRefusal { full, is_first });
        assert_eq!(admission.admit(Some(&person(99)), chat(-1)).map(drop), refused(Full::Conversation, true));
        assert_eq!(
            admission.admit(Some(&person(98)), chat(-1)).map(drop),
            refused(Full::Conversation, false)
        );
        slots.extend((0..MAX_IN_ALL - slots.len()).map(|at| {
            let id = 1000 + at as i64;
            admission.admit(Some(&person(id)), chat(id)).unwrap()
        }));
        assert_eq!(admission.admit(Some(&person(1)), chat(1)).map(drop), refused(Full::All, true));
        assert_eq!(admission.admit(Some(&person(1)), chat(1)).map(drop), refused(Full::All, false));
        assert_eq!(admission.admit(Some(&person(2)), chat(2)).map(drop), refused(Full::All, true));
        assert_eq!(
            admission.readmit(&person(1), chat(1)).user,
            Some(person(1)),
            "what was accepted has a place"
        );
    }

    #[test]
    fn somebody_unknown_has_no_bound_of_a_person() {
        let admission = Admission::default();
        let slots: Vec<WaitingSlot> =
            (0..=MAX_OF_PERSON as i64).map(|at| admission.admit(None, chat(at)).unwrap()).collect();
        assert!(admission.counts().people.is_empty() && slots.iter().all(|slot| slot.user().is_none()));
        drop(slots);
        assert_eq!(admission.counts().all, 0);
    }

    proptest! {
        #[test]
        fn nothing_is_counted_once_all_slots_are_given_back(
            asked in prop::collection::vec((0_i64..4, 0_i64..3, any::<bool>()), 0..200),
        ) {
            let admission = Admission::default();
            let mut slots = Vec::new();
            for (user, place, leaves) in asked {
                slots.extend(admission.admit(Some(&person(user)), chat(place)).ok());
                if leaves {
                    slots.pop();
                }
                let counts = admission.counts();
                prop_assert_eq!(counts.all, slots.len());
                prop_assert!(counts.people.values().all(|count| (1..=MAX_OF_PERSON).contains(&count.waiting)));
                prop_assert!(
                    counts.conversations.values().all(|count| (1..=MAX_IN_CONVERSATION).contains(&count.waiting))
                );
            }
            slots.clear();
            let counts = admission.counts();
            prop_assert!(counts.all == 0 && counts.people.is_empty() && counts.conversations.is_empty());
        }
    }
}
