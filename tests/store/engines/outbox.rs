//! Deliveries, and the messages that are the bot's own.

use std::slice::from_ref;

use figaro_base::ids::{ChatId, MessageId, RunId};
use figaro_domain::conversation::Message;
use figaro_domain::delivery::{Author, CardKind, DeliveryEnd, LiveMessage, PendingDelivery};
use figaro_store::TurnEnd;

use super::{Backend, CHAT, HERE, TOPIC, at, inbound, reply, words};

pub(super) async fn deliveries_go_on_where_they_stopped(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut pending = Vec::new();
    for (place, written) in [(HERE, 20), (TOPIC, 10)] {
        let run = store.conversations().begin_turn(place, &[inbound(written, "q")], at(0)).unwrap();
        let answer = Message { created_at: at(written), ..words(run.session, "answer") };
        pending.push(reply(&run, &answer));
        let end = TurnEnd { messages: vec![answer], delivery: pending.last().cloned(), ..TurnEnd::default() };
        store.conversations().end_turn(&run, end).await.unwrap();
    }
    pending.reverse();
    assert_eq!(store.outbox().deliveries().unwrap(), pending);
    let parts = [MessageId(30), MessageId(31)];
    for part in [parts[0], parts[1], parts[1]] {
        store.outbox().confirm_part(pending[1].id, part, true).await.unwrap();
    }
    pending[1].confirmed = parts.to_vec();
    // A confirmed part begins the count anew.
    for (counted, repeats) in [(0, 2), (1, 1)] {
        for _ in 0..repeats {
            store.outbox().count_repeat(pending[counted].id).await.unwrap();
        }
        pending[counted].repeats = repeats;
    }
    store.outbox().count_repeat(pending[1].id).await.unwrap();
    store.outbox().confirm_part(pending[1].id, MessageId(33), true).await.unwrap();
    pending[1].confirmed.push(MessageId(33));
    pending[1].repeats = 0;
    let store = backend.reopen(store).await;
    assert_eq!(store.outbox().deliveries().unwrap(), pending);

    for _ in 0..2 {
        store.outbox().end_delivery(pending[1].id, DeliveryEnd::Whole, at(60)).unwrap();
    }
    store.outbox().confirm_part(pending[1].id, MessageId(32), true).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.outbox().deliveries().unwrap(), pending[..1]);
    let session = store.conversations().session(HERE, at(0)).unwrap().id;
    let parts = [parts.as_slice(), &[MessageId(33)]].concat();
    assert_eq!(store.conversations().recent(session, 1).unwrap()[0].telegram, parts);
}

pub(super) async fn an_answer_stored_early_gets_its_ids_too(backend: &dyn Backend) {
    let store = backend.open().await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    let answer = words(run.session, "answer");
    store.conversations().append(answer.clone()).unwrap();
    let delivery = reply(&run, &answer);
    let end = TurnEnd {
        messages: vec![words(run.session, "after")],
        delivery: Some(delivery.clone()),
        ..TurnEnd::default()
    };
    store.conversations().end_turn(&run, end).await.unwrap();
    store.outbox().confirm_part(delivery.id, MessageId(30), true).await.unwrap();
    store.outbox().end_delivery(delivery.id, DeliveryEnd::Whole, at(60)).unwrap();
    let messages = store.conversations().recent(run.session, 3).unwrap();
    let carried: Vec<_> = messages.iter().map(|message| message.telegram.len()).collect();
    assert_eq!(carried, [1, 1, 0]);
    assert_eq!(messages[1].telegram, [MessageId(30)]);
}

pub(super) async fn words_outside_the_conversation_are_delivered(backend: &dyn Backend) {
    let store = backend.open().await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    let apology = PendingDelivery { entry: None, ..reply(&run, &words(run.session, "sorry")) };
    let end = TurnEnd { messages: vec![], delivery: Some(apology.clone()), ..TurnEnd::default() };
    store.conversations().end_turn(&run, end).await.unwrap();
    assert_eq!(store.outbox().deliveries().unwrap(), from_ref(&apology));
    store.outbox().confirm_part(apology.id, MessageId(30), true).await.unwrap();
    store.outbox().end_delivery(apology.id, DeliveryEnd::Whole, at(60)).unwrap();
    assert_eq!(store.outbox().deliveries().unwrap(), []);
    assert_eq!(store.conversations().recent(run.session, 9).unwrap()[0].telegram, [MessageId(1001)]);
}

pub(super) async fn own_messages_are_known_for_two_days(backend: &dyn Backend) {
    const TWO_DAYS: i64 = 48 * 3600;
    let store = backend.open().await;
    let (old, young, other) = (MessageId(1), MessageId(2), MessageId(3));
    store.outbox().record_own(CHAT, old, Author::Model, at(0)).unwrap();
    store.outbox().record_own(CHAT, young, Author::Figaro, at(10)).unwrap();
    // What Figaro said stays Figaro's, and the reverse.
    store.outbox().record_own(CHAT, old, Author::Figaro, at(20)).unwrap();
    store.outbox().record_own(CHAT, young, Author::Model, at(20)).unwrap();
    let store = backend.reopen(store).await;
    store.outbox().record_own(ChatId(4), other, Author::Model, at(TWO_DAYS)).unwrap();
    assert_eq!(store.outbox().author(CHAT, old).unwrap(), Some(Author::Model));
    store.outbox().record_own(ChatId(4), other, Author::Model, at(TWO_DAYS + 1)).unwrap();
    for (chat, message, author) in [
        (CHAT, old, None),
        (CHAT, young, Some(Author::Figaro)),
        (ChatId(4), other, Some(Author::Model)),
        (ChatId(4), young, None),
    ] {
        assert_eq!(store.outbox().author(chat, message).unwrap(), author, "{chat} {message}");
    }
}

pub(super) async fn a_turn_has_live_messages_until_its_delivery_ends(backend: &dyn Backend) {
    let store = backend.open().await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    let live = |run: RunId, index, message| LiveMessage {
        run,
        index,
        chat: CHAT,
        message: MessageId(message),
        shown: (message > 40).then_some(u64::MAX),
    };
    let other = live(RunId::new(), 0, 50);
    let parts: Vec<_> = (0..300).map(|index| live(run.id, index, 41 + i64::from(index))).collect();
    for live in [live(run.id, 0, 40), other].iter().chain(parts.iter().rev()) {
        store.outbox().record_live(*live, at(0)).await.unwrap();
    }
    let store = backend.reopen(store).await;
    assert_eq!(store.outbox().live_of(run.id).unwrap(), parts);
    assert_eq!(store.outbox().live_of(RunId::new()).unwrap(), []);
    store.outbox().forget_live(run.id, 2).await.unwrap();
    assert_eq!(store.outbox().live_of(run.id).unwrap(), parts[..2]);
    let mut all = store.outbox().live_messages().unwrap();
    all.sort_by_key(|live| live.message);
    assert_eq!(all, [parts[0], parts[1], other]);
    for message in [40, 41, 50] {
        assert_eq!(
            store.outbox().author(CHAT, MessageId(message)).unwrap(),
            Some(Author::Model),
            "{message}"
        );
    }

    let answer = words(run.session, "answer");
    let delivery = reply(&run, &answer);
    let card = PendingDelivery::of_card(run.id, delivery.place.clone(), CardKind::Settings, at(0));
    let (messages, cards) = (vec![answer], vec![card.clone()]);
    let end = TurnEnd { messages, delivery: Some(delivery.clone()), cards, ..TurnEnd::default() };
    store.conversations().end_turn(&run, end).await.unwrap();
    store.outbox().confirm_part(delivery.id, MessageId(41), true).await.unwrap();
    assert_eq!(store.outbox().live_of(run.id).unwrap(), parts[..2]);
    store.outbox().end_delivery(card.id, DeliveryEnd::Whole, at(60)).unwrap();
    assert_eq!(store.outbox().live_of(run.id).unwrap(), parts[..2], "a card is no part of the answer");
    store.outbox().end_delivery(delivery.id, DeliveryEnd::Whole, at(60)).unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.outbox().live_messages().unwrap(), [other]);
    for _ in 0..2 {
        store.outbox().forget_live(other.run, 0).await.unwrap();
    }
    let store = backend.reopen(store).await;
    assert_eq!(store.outbox().live_messages().unwrap(), []);
    assert_eq!(store.outbox().author(CHAT, MessageId(50)).unwrap(), Some(Author::Model));
}
