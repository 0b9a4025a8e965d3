//! Pins of chats: added once and within the limit, changed, removed and put back, following their source and their chat.

use std::slice::from_ref;

use figaro_base::ids::{ChatId, MessageId, PinId, SessionId, UserId};
use figaro_domain::chat::ConfigPatch;
use figaro_domain::erasure::Erasure;
use figaro_domain::pin::{MAX_PINS, Pin, PinType, SystemPin};
use figaro_domain::session::{SessionChange, SessionName};
use figaro_store::PinAdded;

use super::{Backend, CHAT, HERE, TOPIC, at, inbound};

fn pin(chat: ChatId, content: &str) -> Pin {
    Pin::new(chat, SessionId::from_bytes([1; 16]), content.to_owned(), at(0))
}

/// The words of pins of people.
fn said(pins: &[Pin]) -> Vec<&str> {
    pins.iter().filter(|pin| pin.about.is_none()).map(|pin| pin.content.as_str()).collect()
}

pub(super) async fn pins_are_added_once_changed_removed_and_put_back(backend: &dyn Backend) {
    let store = backend.open().await;
    let (one, other) = (pin(CHAT, "The code is 4711"), pin(ChatId(4), "The code is 4711"));
    assert_eq!(store.pins().add(&one).await.unwrap(), PinAdded::New);
    assert_eq!(store.pins().add(&other).await.unwrap(), PinAdded::New, "another chat has pins of its own");
    assert_eq!(store.pins().add(&pin(CHAT, "the code is 4711")).await.unwrap(), PinAdded::Already(one.id));
    let store = backend.reopen(store).await;
    assert_eq!(store.pins().of_chat(CHAT).unwrap(), from_ref(&one));
    let weighed = store.pins().weigh(CHAT, one.id, 11.0).await.unwrap().unwrap();
    assert_eq!(weighed, Pin { importance: 10.0, ..one.clone() });
    assert_eq!(store.pins().weigh(CHAT, other.id, 1.0).await.unwrap(), None, "of another chat");
    assert_eq!(store.pins().remove(CHAT, other.id).await.unwrap(), None);
    assert_eq!(store.pins().remove(CHAT, one.id).await.unwrap(), Some(weighed.clone()));
    assert_eq!(store.pins().remove(CHAT, one.id).await.unwrap(), None);
    store.pins().restore(&weighed).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.pins().of_chat(CHAT).unwrap(), [weighed]);
    assert_eq!(store.pins().of_chat(ChatId(4)).unwrap(), [other]);
    for at in 1..MAX_PINS {
        assert_eq!(store.pins().add(&pin(CHAT, &format!("thing {at}"))).await.unwrap(), PinAdded::New);
    }
    assert_eq!(store.pins().add(&pin(CHAT, "one more")).await.unwrap(), PinAdded::Full);
    let auto = Pin { pin_type: PinType::Auto, importance: 10.0, ..pin(CHAT, "allergic to nuts") };
    assert_eq!(store.pins().add(&auto).await.unwrap(), PinAdded::Full, "what people have pinned stays");
}

pub(super) async fn what_is_vital_is_pinned_with_its_question_and_taken_back_with_it(backend: &dyn Backend) {
    let store = backend.open().await;
    let turn =
        store.conversations().begin_turn(HERE, &[inbound(1, "I am allergic to nuts. Ok?")], at(1)).unwrap();
    let pins = store.pins().of_chat(CHAT).unwrap();
    assert_eq!(said(&pins), ["I am allergic to nuts."]);
    let found = store.pins().carried_by(HERE, MessageId(1001)).unwrap().unwrap();
    let vital = pins.iter().find(|pin| pin.about.is_none()).unwrap();
    assert_eq!((vital.source, vital.telegram), (Some(found.key()), Some(MessageId(1001))));
    assert_eq!((vital.pin_type, &vital.author), (PinType::Auto, &Some(UserId::telegram(4))));
    assert_eq!(store.pins().carried_by(HERE, MessageId(1)).unwrap(), None);
    assert_eq!(store.pins().carried_by(TOPIC, MessageId(1001)).unwrap(), None, "another conversation");
    store.conversations().retract_turn(&turn).unwrap();
    assert!(said(&store.pins().of_chat(CHAT).unwrap()).is_empty());

    store.conversations().begin_turn(HERE, &[inbound(2, "I am allergic to nuts")], at(2)).unwrap();
    store.conversations().begin_turn(HERE, &[inbound(3, "i am allergic to nuts!")], at(3)).unwrap();
    let pins = store.pins().of_chat(CHAT).unwrap();
    assert_eq!(said(&pins), ["i am allergic to nuts!"], "the latest is the source");
    store.pins().follow_edit(CHAT, MessageId(1002), "I like nuts").await.unwrap();
    assert_eq!(said(&store.pins().of_chat(CHAT).unwrap()), ["i am allergic to nuts!"]);
    store.pins().follow_edit(CHAT, MessageId(1003), "I am allergic to fish").await.unwrap();
    assert_eq!(said(&store.pins().of_chat(CHAT).unwrap()), ["I am allergic to fish"]);
    store.pins().follow_edit(CHAT, MessageId(1003), "I like fish").await.unwrap();
    assert!(said(&store.pins().of_chat(CHAT).unwrap()).is_empty());
    // Both of them in one question.
    let parts = [inbound(4, "I am allergic to nuts"), inbound(5, "I am allergic to nuts.")];
    store.conversations().begin_turn(HERE, &parts, at(4)).unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(said(&store.pins().of_chat(CHAT).unwrap()), ["I am allergic to nuts."]);
}

pub(super) async fn figaro_keeps_one_pin_of_each_kind(backend: &dyn Backend) {
    let store = backend.open().await;
    let own = async |about: SystemPin| {
        let pins = store.pins().of_chat(CHAT).unwrap();
        let own = pins.into_iter().filter(|pin| pin.about == Some(about));
        let mut own: Vec<String> = own.map(|pin| pin.content).collect();
        own.sort();
        own
    };
    let zone = |zone| ConfigPatch { timezone: Some(zone), ..ConfigPatch::default() };
    for name in ["Europe/Riga".parse().unwrap(), "Europe/Lisbon".parse().unwrap()] {
        store.settings().change_chat_config(CHAT, zone(Some(name))).await.unwrap();
    }
    assert_eq!(own(SystemPin::Zone).await, ["Europe/Lisbon"]);
    store.settings().change_chat_config(CHAT, ConfigPatch::default()).await.unwrap();
    assert_eq!(own(SystemPin::Zone).await, ["Europe/Lisbon"]);
    store.settings().change_chat_config(CHAT, zone(None)).await.unwrap();
    assert!(own(SystemPin::Zone).await.is_empty());

    let old = store.conversations().new_session(HERE, at(1)).await.unwrap();
    let session = store.conversations().new_session(HERE, at(60)).await.unwrap();
    store.conversations().new_session(TOPIC, at(2)).await.unwrap();
    let began = at(60).format("%Y-%m-%d %H:%M UTC").to_string();
    assert_eq!(own(SystemPin::Session(None)).await, from_ref(&began));
    let named = |name: &str| SessionChange { name: SessionName::by_person(name), ..SessionChange::default() };
    store.sessions().change(session.id, named("Trip")).await.unwrap();
    store.sessions().change(old.id, named("Before")).await.unwrap();
    assert_eq!(own(SystemPin::Session(None)).await, [format!("Trip ({began})")]);
    assert!(store.sessions().switch(HERE, old.id).await.unwrap());
    assert!(own(SystemPin::Session(None)).await[0].starts_with("Before ("), "the session that goes on");
    assert_eq!(own(SystemPin::Session(TOPIC.topic)).await.len(), 1, "each topic has its own");

    let consent =
        |user, words: &str| Pin::consent(UserId::telegram(user), CHAT, session.id, words.to_owned(), at(3));
    for pin in [consent(4, "old"), consent(5, "Bob"), consent(4, "Ann")] {
        store.pins().keep(&pin).await.unwrap();
    }
    assert_eq!(own(SystemPin::Consent).await, ["Ann", "Bob"]);
    store.erasures().erase(&Erasure::Session(HERE, session.id), at(4)).await.unwrap();
    assert_eq!(own(SystemPin::Consent).await, ["Ann", "Bob"], "it holds in all sessions");
    let pins = store.pins().of_chat(CHAT).unwrap();
    for pin in &pins {
        assert!(!pin.is_shown_in(session.id) && pin.pin_type == PinType::System, "{pin:?}");
        assert_eq!(store.pins().remove(CHAT, pin.id).await.unwrap(), None, "people do not remove it");
        assert_eq!(store.pins().weigh(CHAT, pin.id, 1.0).await.unwrap(), None);
    }
    assert_eq!(store.pins().remove(CHAT, PinId::new()).await.unwrap(), None);
}

pub(super) async fn pins_move_with_their_group(backend: &dyn Backend) {
    let store = backend.open().await;
    let old = ChatId(-5);
    let zone = |zone| ConfigPatch { timezone: Some(Some(zone)), ..ConfigPatch::default() };
    store.settings().change_chat_config(old, zone("Europe/Riga".parse().unwrap())).await.unwrap();
    store.settings().change_chat_config(CHAT, zone("Europe/Lisbon".parse().unwrap())).await.unwrap();
    let moved = Pin { telegram: Some(MessageId(7)), ..pin(old, "Lunch is at noon") };
    store.pins().add(&moved).await.unwrap();
    for _ in 0..2 {
        store.settings().migrate_chat(old, CHAT).await.unwrap();
        let pins = store.pins().of_chat(CHAT).unwrap();
        assert_eq!(said(&pins), ["Lunch is at noon"]);
        assert!(pins.iter().all(|pin| pin.telegram.is_none()), "the new group has other numbers");
        let zones: Vec<&str> = pins
            .iter()
            .filter(|pin| pin.about == Some(SystemPin::Zone))
            .map(|pin| pin.content.as_str())
            .collect();
        assert_eq!(zones, ["Europe/Lisbon"], "the new id's own settings stay");
        assert!(store.pins().of_chat(old).unwrap().is_empty());
    }
}
