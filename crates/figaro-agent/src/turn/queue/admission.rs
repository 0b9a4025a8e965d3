//! Bounds what people may have waiting, so that nobody fills the bot for all others: per person, per conversation, and
//! in all. A message, a command or a press takes a [`Slot`] and gives it back once its turn begins or it is dealt with.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use figaro_base::ids::UserId;
use figaro_domain::conversation::Conversation;

/// So much of one person waits at most, in all conversations.
pub const MAX_OF_PERSON: usize = 20;
/// So much waits in one conversation at most.
pub const MAX_IN_CONVERSATION: usize = 50;
/// So much waits in all at most. It bounds the memory that a bot open to everybody takes.
pub(crate) const MAX_IN_ALL: usize = 2000;
/// So many people are remembered as told that the whole bot is full; further ones are not told.
const MAX_TOLD: usize = 1000;

/// Counts what waits. Cheap to clone; clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Admission(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    people: HashMap<UserId, Count>,
    conversations: HashMap<Conversation, Count>,
    /// Who was told that the whole bot is full, since it last was half empty.
    told: HashSet<UserId>,
}

/// What waits for one, and whether it was said that there is no room for more. Forgotten when nothing waits.
#[derive(Debug, Default)]
struct Count {
    waiting: usize,
    told: bool,
}

/// A place among what waits; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    /// `None` for somebody unknown.
    user: Option<UserId>,
    conversation: Option<Conversation>,
    admission: Admission,
}

/// What there is no room in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The person has [`MAX_OF_PERSON`] waiting.
    Person,
    /// The conversation has [`MAX_IN_CONVERSATION`] waiting.
    Conversation,
    /// The bot has `MAX_IN_ALL` waiting.
    All,
}

/// There is no room for one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The bound that was reached.
    pub full: Full,
    /// Whether it is to be said: it was not, since what is full last was empty.
    pub is_first: bool,
}

impl Admission {
    /// A place for one more of this person in this conversation. A question of somebody unknown has no bound of a person. Without a
    /// conversation, as nothing waits there yet, only the person's and the whole bot's bounds count.
    ///
    /// # Errors
    /// When one of the bounds is reached; nothing is counted then.
    pub(crate) fn admit(
        &self,
        user: Option<&UserId>,
        conversation: impl Into<Option<Conversation>>,
    ) -> Result<Slot, Refusal> {
        let conversation = conversation.into();
        let mut counts = self.counts();
        match counts.full(user, conversation) {
            Some(full) => Err(Refusal { full, is_first: counts.tell(full, user, conversation) }),
            None => Ok(self.enter(counts, user, conversation)),
        }
    }

    /// A place for what was accepted before a restart: it is counted, and never refused.
    #[must_use]
    pub(crate) fn readmit(&self, user: &UserId, conversation: Conversation) -> Slot {
        self.enter(self.counts(), Some(user), Some(conversation))
    }

    fn enter(
        &self,
        mut counts: MutexGuard<'_, Counts>,
        user: Option<&UserId>,
        conversation: Option<Conversation>,
    ) -> Slot {
        counts.all += 1;
        if let Some(user) = user {
            counts.people.entry(user.clone()).or_default().waiting += 1;
        }
        if let Some(conversation) = conversation {
            counts.conversations.entry(conversation).or_default().waiting += 1;
        }
        Slot { user: user.cloned(), conversation, admission: self.clone() }
    }

    /// A lock whose holder panicked still guards whole counts: every change is complete before anything can fail.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock()
    }
}

impl Counts {
    fn full(&self, user: Option<&UserId>, conversation: Option<Conversation>) -> Option<Full> {
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

    /// Notes that it is said now; `false` if it was said before, or to somebody unknown.
    fn tell(&mut self, full: Full, user: Option<&UserId>, conversation: Option<Conversation>) -> bool {
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

    fn leave(&mut self, user: Option<&UserId>, conversation: Option<Conversation>) {
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

/// One less waits there; whoever has nothing waiting is forgotten.
fn take_one<K: Eq + Hash>(counts: &mut HashMap<K, Count>, key: &K) {
    let Some(count) = counts.get_mut(key) else { return };
    count.waiting = count.waiting.saturating_sub(1);
    if count.waiting == 0 {
        counts.remove(key);
    }
}

impl Slot {
    /// The person whose message or press takes this place; `None` for somebody unknown.
    #[must_use]
    pub(crate) const fn user(&self) -> Option<&UserId> {
        self.user.as_ref()
    }
}

impl Drop for Slot {
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

    fn chat(id: i64) -> Conversation {
        Conversation { chat: ChatId(id), topic: None }
    }

    #[test]
    fn a_person_has_twenty_waiting_and_hears_once_that_there_is_no_room() {
        let admission = Admission::default();
        let admit = |user| admission.admit(Some(&person(user)), chat(user));
        let mut slots: Vec<Slot> = (0..MAX_OF_PERSON).map(|_| admit(1).unwrap()).collect();
        let refused = |is_first| Err(Refusal { full: Full::Person, is_first });
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
        let mut slots: Vec<Slot> = (0..MAX_IN_CONVERSATION)
            .map(|at| admission.admit(Some(&person(at as i64)), chat(-1)).unwrap())
            .collect();
        let refused = |full, is_first| Err(Refusal { full, is_first });
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
        let slots: Vec<Slot> =
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
