//! Memories and the messages that facts are still to be taken from: each is read once, whatever happens in between.

use figaro_base::ids::{ChatId, EntryId, MessageId, UpdateId, UserId};
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::facts::{Fact, FactChange, OwnChange, UsedMemories};
use figaro_domain::memory::Memory;
use figaro_domain::message::Inbound;
use figaro_domain::origin::Origin;
use figaro_domain::pin::SystemPin;
use figaro_domain::profile::{Consent, PersonRole, PersonSnapshot};
use figaro_store::{ExtractionLimits, MemoryCounts, ReadFacts, Repetition, Store, TurnEnd, UnreadBatch};

use super::{Backend, CHAT, HERE, at, inbound};

const READING: ExtractionLimits = ExtractionLimits { messages: 2, before: 3, tries: 3 };

fn ann() -> UserId {
    UserId::telegram(4)
}

fn taken(store: &Store) -> Option<UnreadBatch> {
    store.facts().take_unread(&ann(), READING).unwrap()
}

fn ids(batch: &UnreadBatch) -> Vec<EntryId> {
    batch.messages.iter().map(|(unread, _)| unread.id).collect()
}

fn texts(batch: &UnreadBatch) -> Vec<&str> {
    batch.messages.iter().map(|(_, message)| message.text.as_str()).collect()
}

/// The end of reading this, with a memory of each message.
fn read(batch: &UnreadBatch) -> ReadFacts {
    let create = |(unread, message): &(_, Message)| {
        let unread: &figaro_domain::facts::Unread = unread;
        FactChange::Create(Fact {
            content: message.text.clone(),
            chat: batch.chat,
            source_message_id: unread.id,
            source: unread.place,
            is_preference: false,
        })
    };
    ReadFacts {
        read: ids(batch),
        changes: batch.messages.iter().map(create).collect(),
        limit: 9,
        now: at(60),
    }
}

fn active(store: &Store) -> Vec<Memory> {
    let mut all = store.facts().of_person(&ann()).unwrap();
    all.retain(Memory::is_active);
    all
}

pub(super) async fn what_a_person_says_is_read_once(backend: &dyn Backend) {
    let store = backend.open().await;
    for (id, text) in [(1, "one"), (2, "two"), (3, "three")] {
        let turn = store.conversations().begin_turn(HERE, &[inbound(id, text)], at(id)).unwrap();
        store.conversations().end_turn(&turn, TurnEnd::default()).await.unwrap();
    }
    let forwarded =
        figaro_domain::message::Inbound { forwarded_from: Some("Bob".into()), ..inbound(4, "four") };
    store.conversations().begin_turn(HERE, &[forwarded], at(4)).unwrap();
    assert_eq!(store.facts().people_with_unread().unwrap(), [ann()]);
    let first = taken(&store).unwrap();
    assert_eq!((texts(&first), first.chat, first.before.len()), (vec!["one", "two"], CHAT, 0));

    // A stop before the end: the same are taken again, and read once.
    let store = backend.reopen(store).await;
    let again = taken(&store).unwrap();
    assert_eq!(ids(&again), ids(&first));
    assert_eq!(store.facts().end_reading(&ann(), read(&again)).await.unwrap().unwrap().added, 2);
    assert_eq!(store.facts().end_reading(&ann(), read(&first)).await.unwrap(), None, "they were read");
    let store = backend.reopen(store).await;
    assert_eq!(active(&store).len(), 2);
    let last = taken(&store).unwrap();
    assert_eq!((texts(&last), last.before.len()), (vec!["three"], 2));

    // What comes to nothing costs no try; three that do are all.
    store.facts().return_unread(&ann(), &ids(&last)).unwrap();
    for _ in 0..3 {
        assert_eq!(taken(&store).map(|batch| ids(&batch)), Some(ids(&last)));
    }
    assert_eq!(taken(&store), None);
    assert_eq!(store.facts().people_with_unread().unwrap(), []);
    let counts = MemoryCounts { active: 2, removed: 0, unread: 0 };
    assert_eq!(store.facts().count().unwrap(), counts);
}

pub(super) async fn what_is_taken_back_leaves_no_memory(backend: &dyn Backend) {
    let store = backend.open().await;
    let turn = store.conversations().begin_turn(HERE, &[inbound(1, "I live in Rige")], at(1)).unwrap();
    let batch = taken(&store).unwrap();
    store.facts().end_reading(&ann(), read(&batch)).await.unwrap();
    assert_eq!(active(&store).len(), 1);
    store.conversations().retract_turn(&turn).unwrap();
    assert_eq!(store.facts().of_person(&ann()).unwrap(), []);
    let turn = store.conversations().begin_turn(HERE, &[inbound(1, "I live in Riga")], at(2)).unwrap();
    let batch = taken(&store).unwrap();
    store.conversations().retract_turn(&turn).unwrap();
    assert_eq!(store.facts().end_reading(&ann(), read(&batch)).await.unwrap(), None, "its message is gone");
    assert_eq!(store.facts().people_with_unread().unwrap(), []);
    // A further try of a question is no further word of the person.
    let turn = store.conversations().begin_turn(HERE, &[inbound(2, "I live in Riga")], at(3)).unwrap();
    store.conversations().end_turn(&turn, TurnEnd::default()).await.unwrap();
    store
        .conversations()
        .begin_again(HERE, super::again(super::from(3), None), at(4))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(taken(&store).unwrap().messages.len(), 1);
    // An edit takes the place of the words before, also if it comes once more after a restart.
    let edited =
        Inbound { origin: Origin::telegram(UpdateId(5), MessageId(1002)), ..inbound(2, "I live in Oslo") };
    for _ in 0..2 {
        let edit = Repetition { edited: Some(Box::new(edited.clone())), ..super::again(edited.origin, None) };
        store.conversations().begin_again(HERE, edit, at(5)).await.unwrap().unwrap();
    }
    assert_eq!(texts(&taken(&store).unwrap()), ["I live in Oslo"]);
}

pub(super) async fn memories_are_used_changed_and_erased(backend: &dyn Backend) {
    let store = backend.open().await;
    let turn =
        store.conversations().begin_turn(HERE, &[inbound(1, "one"), inbound(2, "two")], at(1)).unwrap();
    let batch = taken(&store).unwrap();
    store.facts().end_reading(&ann(), read(&batch)).await.unwrap();
    let [one, two] = active(&store).try_into().unwrap();
    // An answer counts what it used in the write that stores it, once.
    let answer = Message::new(turn.session, MessageRole::Assistant, "so".into(), at(70));
    let answer = Message { referenced_memories: vec![one.id], ..answer };
    let used = UsedMemories { user: ann(), ids: vec![one.id, figaro_base::ids::MemoryId::new()], at: at(70) };
    let end = TurnEnd { messages: vec![answer], used: Some(used), ..TurnEnd::default() };
    for _ in 0..2 {
        store.conversations().end_turn(&turn, end.clone()).await.unwrap();
    }
    let store = backend.reopen(store).await;
    let kept = active(&store);
    assert_eq!((kept[0].access_count, kept[0].last_accessed_at), (1, Some(at(70))));
    assert_eq!((kept[1].access_count, kept[1].last_accessed_at), (0, None));

    let (other, now) = (UserId::telegram(5), at(80));
    assert_eq!(store.facts().change(&other, two.id, OwnChange::Remove, now).await.unwrap(), None);
    let reworded = store.facts().change(&ann(), two.id, OwnChange::Reword("2".into()), now).await.unwrap();
    assert_eq!(reworded.unwrap().content, "2");
    store.facts().change(&ann(), two.id, OwnChange::Remove, now).await.unwrap().unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(active(&store).len(), 1);
    store.facts().change(&ann(), two.id, OwnChange::Restore, now).await.unwrap().unwrap();
    let removed = store.facts().change(&ann(), one.id, OwnChange::Remove, at(81)).await.unwrap().unwrap();
    let deleted = removed.deleted_at.unwrap();
    assert_eq!(store.facts().purge(deleted, at(82)).unwrap(), 0, "it can still be put back");
    let purged = store.facts().purge(deleted + chrono::TimeDelta::seconds(1), at(82)).unwrap();
    assert_eq!((purged, active(&store).len()), (1, 1));
    assert_eq!(store.facts().change(&ann(), one.id, OwnChange::Restore, at(83)).await.unwrap(), None);
    store.conversations().begin_turn(HERE, &[inbound(3, "three")], at(84)).unwrap();
    assert_eq!(store.facts().erase(&other).await.unwrap(), 0);
    assert_eq!(store.facts().erase(&ann()).await.unwrap(), 1);
    let store = backend.reopen(store).await;
    assert_eq!(store.facts().count().unwrap(), MemoryCounts::default());
}

pub(super) async fn a_refusal_leaves_nothing_to_read(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(
        store.profiles().set_consent(&ann(), Consent::Given, at(5)).await.unwrap(),
        None,
        "nobody knows them"
    );
    let seen = PersonSnapshot {
        speaker: inbound(1, "").speaker,
        language: None,
        role: PersonRole::Member,
        at: at(0),
    };
    store.profiles().see(&seen).unwrap();
    store.conversations().begin_turn(HERE, &[inbound(1, "one")], at(1)).unwrap();
    let given = store.profiles().set_consent(&ann(), Consent::Given, at(5)).await.unwrap().unwrap();
    assert!(given.consent.allows(true) && taken(&store).is_some());
    let consents = async |store: &Store| {
        let pins = store.pins().of_chat(ChatId(ann().telegram_id().unwrap())).unwrap();
        pins.iter().filter(|pin| pin.about == Some(SystemPin::Consent)).count()
    };
    assert_eq!(consents(&store).await, 1, "it is kept in their private chat");
    let refused = store.profiles().set_consent(&ann(), Consent::Refused, at(5)).await.unwrap().unwrap();
    assert!(!refused.consent.allows(false));
    assert_eq!(consents(&store).await, 0);
    store.conversations().begin_turn(HERE, &[inbound(9, "I am allergic to nuts")], at(6)).unwrap();
    store.facts().skip_unread(&ann()).await.unwrap();
    let pins = store.pins().of_chat(HERE.chat).unwrap();
    assert!(pins.iter().all(|pin| pin.about.is_some()), "nothing is pinned by itself: {pins:?}");
    let store = backend.reopen(store).await;
    assert_eq!(taken(&store), None);
    // Being seen again changes nothing of it.
    store.profiles().see(&PersonSnapshot { at: at(9_000), ..seen }).unwrap();
    assert_eq!(store.profiles().find(&ann()).unwrap().unwrap().consent, Consent::Refused);
}
