//! What became of messages: the newest of each chat, for a while, and what is told later is added.

use figaro_base::ids::{ChatId, MessageId, RunId, UserId};
use figaro_domain::reception::{Ending, KEPT_IN_CHAT, ReceivedMessage, Reception, TurnTrace};

use super::{Backend, CHAT, at};

fn received(user: i64, second: i64, what: Reception) -> ReceivedMessage {
    ReceivedMessage { at: at(second), user: UserId::telegram(user), what, turn: None }
}

pub(super) async fn the_newest_of_each_chat_are_kept_and_go_by_age(backend: &dyn Backend) {
    let store = backend.open().await;
    let other = ChatId(7);
    store.receptions().note(other, &[MessageId(1)], received(1, 0, Reception::Asked)).unwrap();
    let more = i64::try_from(KEPT_IN_CHAT).unwrap() + 20;
    for number in 1..=more {
        let what = if number == more { Reception::Taken } else { Reception::NotAddressed };
        store.receptions().note(CHAT, &[MessageId(number)], received(number % 2, number, what)).unwrap();
    }
    assert!(store.receptions().find(CHAT, MessageId(20)).unwrap().is_some(), "until it is looked after");
    assert_eq!(store.receptions().expire(at(0)).unwrap(), 20);
    assert_eq!(store.receptions().expire(at(0)).unwrap(), 0);
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.receptions().find(CHAT, MessageId(20)).unwrap(), None);
    assert_eq!(
        store.receptions().find(CHAT, MessageId(21)).unwrap(),
        Some(received(1, 21, Reception::NotAddressed))
    );
    assert!(store.receptions().find(other, MessageId(1)).unwrap().is_some(), "another chat is not touched");
    let last = |user: i64, before| {
        let store = store.clone();
        async move {
            let found = store.receptions().last(CHAT, &UserId::telegram(user), MessageId(before)).unwrap();
            found.map(|(message, _)| message.0)
        }
    };
    assert_eq!(last(more % 2, i64::MAX).await, Some(more - 2), "a command is left out");
    assert_eq!(last(1, 100).await, Some(99));
    assert_eq!(last(9, 100).await, None);
    assert_eq!(store.receptions().expire(at(more)).unwrap(), KEPT_IN_CHAT);
    assert_eq!(store.receptions().expire(at(more)).unwrap(), 0);
    assert!(store.receptions().find(CHAT, MessageId(more)).unwrap().is_some());
}

pub(super) async fn what_is_told_later_is_added(backend: &dyn Backend) {
    let store = backend.open().await;
    let run = RunId::new();
    let both = [MessageId(1), MessageId(2)];
    let turn = |turn| ReceivedMessage { turn: Some(turn), ..received(1, 5, Reception::Asked) };
    store.receptions().note(CHAT, &both[..1], received(1, 0, Reception::Asked)).unwrap();
    store.receptions().note(CHAT, &both, turn(TurnTrace::begun(run, None, Vec::new()))).unwrap();
    store.receptions().note(CHAT, &both, turn(TurnTrace::ended(run, Ending::Answered))).unwrap();
    store.receptions().note(CHAT, &both[1..], received(1, 9, Reception::Taken)).unwrap();
    for (message, second) in [(1, 0), (2, 5)] {
        let found = store.receptions().find(CHAT, MessageId(message)).unwrap().unwrap();
        let wanted = TurnTrace { ending: Some(Ending::Answered), ..TurnTrace::begun(run, None, Vec::new()) };
        assert_eq!((found.at, found.what, found.turn), (at(second), Reception::Asked, Some(wanted)));
    }
}
