//! Stores as older versions left them.

use chrono::TimeDelta;
use figaro_base::clock::Clock;
use figaro_base::ids::UserId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;

use super::disk::{Disk, for_every_engine};
use super::{Backend, HERE, at, words};

/// The access list when it also held the strangers who were told that the bot is private.
const OLD_LIST: &str = r#"{"owners":["tg:1"],"users":["tg:4"],"chats":[-5],"denied":[],"denied_chats":[],
    "told":["tg:12","tg:13","tg:14"],"claim":null}"#;

/// A store with that list, written as it was then.
async fn with_old_list(folder: &Disk, list: &str) {
    folder
        .open()
        .await
        .settings()
        .change_access(AccessChange::AllowUser(UserId::telegram(4)), AuditActor::Bot)
        .await
        .unwrap();
    let records = folder.records();
    let (key, _) = records.all("access").into_iter().next().unwrap();
    records.put("access", &key, list);
}

async fn strangers_of_the_old_list_are_not_told_again(folder: &Disk) {
    with_old_list(folder, OLD_LIST).await;
    let now = Clock::system().now();
    let mut store = folder.open().await;
    // Also after another change of the list, and at every later opening.
    store
        .settings()
        .change_access(AccessChange::AllowUser(UserId::telegram(9)), AuditActor::Bot)
        .await
        .unwrap();
    for _ in 0..2 {
        for told in [12, 13, 14] {
            assert!(
                !store.settings().greet_stranger(&UserId::telegram(told), at(0)).await.unwrap(),
                "{told}"
            );
        }
        let list = store.settings().access().await.unwrap();
        assert_eq!(list.owners, [UserId::telegram(1)]);
        assert_eq!(list.users, [4, 9].map(UserId::telegram));
        assert_eq!(
            store.settings().forget_strangers(now - TimeDelta::days(1)).await.unwrap(),
            0,
            "as told now"
        );
        store = folder.reopen(store).await;
    }
    assert!(
        store.settings().greet_stranger(&UserId::telegram(15), at(0)).await.unwrap(),
        "nobody told this one"
    );
    drop(store);
    let stored = folder.records().all("access");
    assert!(!String::from_utf8_lossy(&stored[0].1).contains("told"), "they were moved, not copied");
}

async fn they_are_moved_once(folder: &Disk) {
    with_old_list(folder, OLD_LIST).await;
    let mut store = folder.open().await;
    assert_eq!(
        store.settings().forget_strangers(Clock::system().now() + TimeDelta::days(1)).await.unwrap(),
        3
    );
    store = folder.reopen(store).await;
    assert!(store.settings().greet_stranger(&UserId::telegram(12), at(0)).await.unwrap());
}

async fn a_list_that_cannot_be_read_stops_no_opening(folder: &Disk) {
    with_old_list(folder, r#"{"told":["tg:12"],"owners":7}"#).await;
    let store = folder.open().await;
    store.settings().access().await.unwrap_err();
    assert_eq!(store.health().await.unwrap().unreadable, 1, "it is set aside, not replaced");
}

/// They had no table of sessions by conversation, and sessions had neither a name nor a model.
async fn sessions_of_older_versions_are_listed(folder: &Disk) {
    let mut store = folder.open().await;
    let first = store.conversations().session(HERE, at(0)).await.unwrap();
    store.conversations().append(words(first.id, "one")).await.unwrap();
    let second = store.conversations().new_session(HERE, at(9)).await.unwrap();
    drop(store);
    let records = folder.records();
    for (key, _) in records.all("sessions_of") {
        records.remove("sessions_of", &key);
    }
    let old_fields = ["id", "conversation", "created_at", "updated_at"];
    let count = records.change("sessions", |session| {
        session.as_object_mut().unwrap().retain(|field, _| old_fields.contains(&field.as_str()));
    });
    assert_eq!(count, 2);
    drop(records);
    for _ in 0..2 {
        store = folder.open().await;
        let listed = store.sessions().of_conversation(HERE).await.unwrap();
        assert_eq!(listed, [second.clone(), first.clone()]);
        drop(store);
    }
}

for_every_engine! {
    sessions_of_older_versions_are_listed
    strangers_of_the_old_list_are_not_told_again
    they_are_moved_once
    a_list_that_cannot_be_read_stops_no_opening
}
