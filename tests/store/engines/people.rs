//! Who wrote in a group is known, for as long and as many as is told.

use figaro_base::ids::{ChatId, TaskId, UserId};
use figaro_domain::chat::ChatKind;
use figaro_domain::conversation::ConversationId;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::people::{KnownPerson, MAX_PEOPLE};
use figaro_store::PeopleStore;

use super::{Backend, CHAT, HERE, TOPIC, at, inbound};

fn said(id: i64, who: i64) -> Inbound {
    let speaker = Speaker { user: UserId::telegram(who), name: format!("Person {who}"), username: None };
    Inbound { speaker, ..inbound(id, "said") }
}

fn people(store: &PeopleStore, chat: ChatId) -> Vec<(i64, Vec<i64>)> {
    let of = |seen: KnownPerson| {
        let posted = seen.posted.iter().map(|posted| posted.id.0).collect();
        (seen.speaker.user.telegram_id().unwrap(), posted)
    };
    store.of_chat(chat).unwrap().into_iter().map(of).collect()
}

pub(super) async fn who_writes_is_known_by_their_last_names_and_messages(backend: &dyn Backend) {
    let store = backend.open().await;
    // Questions and background, in any topic; several parts of a question at once.
    let turn = store.conversations().begin_turn(HERE, &[said(1, 4), said(2, 4)], at(1)).unwrap();
    store.conversations().add_background(TOPIC, &said(3, 5), 1).unwrap();
    let mut renamed = said(4, 5);
    renamed.speaker.name = "Renamed".into();
    renamed.speaker.username = Some("five".into());
    store.conversations().add_background(TOPIC, &renamed, 1).unwrap();
    // The same once more, as after a crash.
    store.conversations().add_background(TOPIC, &renamed, 1).unwrap();
    store.conversations().retract_turn(&turn).unwrap();
    // Nobody wrote the prompt of a task, and a private chat has nobody to look for.
    let task = Inbound { task: Some(TaskId::new()), ..said(5, 6) };
    store.conversations().add_background(HERE, &task, 9).unwrap();
    let mut private = said(6, 7);
    private.place.kind = ChatKind::Private;
    store.conversations().add_background(HERE, &private, 9).unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(people(&store.people(), CHAT), [(5, vec![1003, 1004]), (4, vec![1001, 1002])]);
    let five = store.people().of_chat(CHAT).unwrap().swap_remove(0);
    assert_eq!(five.speaker, renamed.speaker);
    assert_eq!(five.seen_at, at(4));

    // Who only came is known without a message; who is known stays as they are.
    let speaker = |who: i64| said(0, who).speaker;
    store.people().came(CHAT, vec![speaker(5), speaker(8)], at(9)).unwrap();
    assert_eq!(people(&store.people(), CHAT), [(8, vec![]), (5, vec![1003, 1004]), (4, vec![1001, 1002])]);
}

pub(super) async fn of_many_the_last_to_write_are_kept(backend: &dyn Backend) {
    let store = backend.open().await;
    let many = i64::try_from(MAX_PEOPLE).unwrap();
    for id in 1..=many {
        store.conversations().add_background(HERE, &said(id, id), 1).unwrap();
    }
    assert_eq!(store.people().of_chat(CHAT).unwrap().len(), MAX_PEOPLE);
    // The first has written again, and stays when a stranger needs room.
    store.conversations().add_background(HERE, &said(many + 1, 1), 1).unwrap();
    store.conversations().add_background(HERE, &said(many + 2, many + 1), 1).unwrap();
    let kept = people(&store.people(), CHAT);
    assert!(kept.len() <= MAX_PEOPLE && kept.len() > MAX_PEOPLE * 9 / 10, "{}", kept.len());
    assert_eq!(kept[..2], [(many + 1, vec![many + 1002]), (1, vec![1001, many + 1001])]);
    assert!(kept.iter().all(|(who, _)| *who != 2), "who was silent longest is gone");
}

pub(super) async fn they_move_with_their_group_and_are_forgotten(backend: &dyn Backend) {
    let (old, other) = (ChatId(-5), ChatId(-4));
    let store = backend.open().await;
    for (chat, id, who) in [(old, 1, 4), (old, 2, 5), (other, 3, 4)] {
        let mut said = said(id, who);
        said.place.chat = chat;
        store.conversations().add_background(ConversationId { chat, topic: None }, &said, 9).unwrap();
    }
    store.conversations().add_background(HERE, &said(4, 5), 9).unwrap();
    store.settings().migrate_chat(old, CHAT).await.unwrap();
    assert_eq!(people(&store.people(), old), []);
    // Messages of the old group have other numbers than those of the new one.
    assert_eq!(people(&store.people(), CHAT), [(5, vec![1004]), (4, vec![])]);
    assert_eq!(people(&store.people(), other), [(4, vec![1003])]);

    let erased = store.erasures().erase(&Erasure::Person(CHAT, UserId::telegram(4)), at(9)).await.unwrap();
    assert!(matches!(erased, Forgotten::Done(_)));
    assert_eq!(people(&store.people(), CHAT), [(5, vec![1004])]);
    assert_eq!(people(&store.people(), other), [(4, vec![1003])], "what is forgotten in a group is its own");
    let erased = store.erasures().erase(&Erasure::Chat(CHAT, UserId::telegram(5)), at(9)).await.unwrap();
    assert!(matches!(erased, Forgotten::Done(_)));
    assert_eq!(people(&store.people(), CHAT), []);
    let store = backend.reopen(store).await;
    assert_eq!(people(&store.people(), other), [(4, vec![1003])]);
}
