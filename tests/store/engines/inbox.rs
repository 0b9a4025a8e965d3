//! The inbox: an update is accepted once, and stays until it is settled.

use figaro_base::ids::{BotId, UpdateId};
use figaro_store::{KEPT_UNREADABLE, UnreadableUpdate};
use tokio::task::JoinSet;

use super::{Backend, CHAT, accept, at, ids, note, raw};

pub(super) async fn accepts_an_update_once(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(accept(&store, &[500, 3, 500, 40], 0).await, [500, 3, 40]);
    assert_eq!(accept(&store, &[3, 9, 500], 1).await, [9]);
    assert_eq!(accept(&store, &[], 1).await, [0; 0]);
    let stored = [3, 9, 40, 500].map(raw);
    assert_eq!(store.inbox().unsettled().unwrap(), stored);
    let store = backend.reopen(store).await;
    assert_eq!(store.inbox().unsettled().unwrap(), stored);
    assert_eq!(accept(&store, &[40, 41], 2).await, [41]);
}

pub(super) async fn ids_may_start_over(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(accept(&store, &[900_000_000], 0).await, [900_000_000]);
    store.inbox().settle(&[UpdateId(900_000_000)]).await.unwrap();
    assert_eq!(accept(&store, &[300, 2, i64::MAX, -1], 0).await, [300, 2, i64::MAX, -1]);
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [-1, 2, 300, i64::MAX]);
}

pub(super) async fn one_of_many_gets_an_update(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut tasks = JoinSet::new();
    for _ in 0..64 {
        let store = store.clone();
        tasks.spawn(async move { accept(&store, &[1, 2], 0).await.len() });
    }
    assert_eq!(tasks.join_all().await.into_iter().sum::<usize>(), 2);
}

pub(super) async fn settled_updates_stay_known(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2], 0).await;
    let settled = [UpdateId(1), UpdateId(99)];
    store.inbox().settle(&settled).await.unwrap();
    store.inbox().settle(&settled).await.unwrap();
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [2]);
    let store = backend.reopen(store).await;
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [2]);
    assert_eq!(accept(&store, &[1, 2, 99], 1).await, [99]);
}

pub(super) async fn forgets_old_settled_ids(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2], 0).await;
    accept(&store, &[3], 10).await;
    store.inbox().settle(&[UpdateId(1), UpdateId(3)]).await.unwrap();
    assert_eq!(store.inbox().expire_seen(at(0)).unwrap(), 0);
    assert_eq!(store.inbox().expire_seen(at(10)).unwrap(), 1);
    assert_eq!(store.inbox().expire_seen(at(10)).unwrap(), 0);
    assert_eq!(accept(&store, &[1, 2, 3], 20).await, [1]);
}

pub(super) async fn forgets_the_oldest_ids_a_few_at_a_time(backend: &dyn Backend) {
    let store = backend.open().await;
    // The higher the id, the older.
    for batch in 0..4 {
        let ids: Vec<i64> = (0..500).map(|i| 10_000 - batch * 500 - i).collect();
        accept(&store, &ids, batch).await;
        store.inbox().settle(&ids.into_iter().map(UpdateId).collect::<Vec<_>>()).await.unwrap();
    }
    let store = backend.reopen(store).await;
    let first = store.inbox().expire_seen(at(3)).unwrap();
    assert!((1..1000).contains(&first), "{first} at once");
    assert_eq!(accept(&store, &[10_000, 8501], 9).await, [10_000]);
    let mut rest = 0;
    loop {
        match store.inbox().expire_seen(at(3)).unwrap() {
            0 => break,
            some => rest += some,
        }
    }
    assert_eq!(first + rest, 1500);
    // What has been accepted anew is not forgotten with what it was before.
    assert_eq!(accept(&store, &[10_000, 8501, 8500], 9).await, [8501]);
    store.inbox().settle(&[UpdateId(10_000)]).await.unwrap();
    assert_eq!(store.inbox().expire_seen(at(3)).unwrap(), 0);
    assert_eq!(accept(&store, &[10_000], 9).await, [0; 0]);
}

pub(super) async fn every_bot_has_a_space_of_its_own(backend: &dyn Backend) {
    let store = backend.open_for(BotId(1)).await;
    accept(&store, &[5], 0).await;
    store.notes().restore(&note(CHAT, "list", "milk", 0)).await.unwrap();
    drop(store);
    let store = backend.open_for(BotId(2)).await;
    assert_eq!(accept(&store, &[5, 6], 0).await, [5, 6]);
    store.inbox().settle(&[UpdateId(5), UpdateId(6)]).await.unwrap();
    assert_eq!(store.notes().of_chat(CHAT).unwrap(), []);
    drop(store);
    let store = backend.open_for(BotId(1)).await;
    assert_eq!(store.notes().of_chat(CHAT).unwrap().len(), 1);
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [5]);
    assert_eq!(store.inbox().expire_seen(at(100)).unwrap(), 0);
}

fn unreadable(id: i64) -> UnreadableUpdate {
    UnreadableUpdate { id: UpdateId(id), text: "{".to_owned(), bytes: 1 }
}

pub(super) async fn what_cannot_be_read_is_set_aside_once(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2], 0).await;
    store.inbox().settle(&[UpdateId(2)]).await.unwrap();
    store.inbox().set_aside([1, 2, 3, 3].map(unreadable).to_vec(), at(1)).await.unwrap();
    let store = backend.reopen(store).await;
    store.inbox().set_aside(vec![unreadable(3)], at(2)).await.unwrap();
    assert_eq!(store.health().await.unwrap().unreadable, 1, "what was read once is not set aside");
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [1], "it holds no start up");
    assert_eq!(accept(&store, &[3, 4], 2).await, [4]);
    // Its id is forgotten like any other; what is kept of it stays.
    assert_eq!(store.inbox().expire_seen(at(10)).unwrap(), 2);
    assert_eq!(accept(&store, &[3], 11).await, [3]);
    assert_eq!(store.health().await.unwrap().unreadable, 1);
}

pub(super) async fn unreadable_updates_are_forgotten(backend: &dyn Backend) {
    let other = backend.open_for(BotId(1)).await;
    other.inbox().set_aside(vec![unreadable(1)], at(0)).await.unwrap();
    drop(other);
    let store = backend.open().await;
    store.inbox().set_aside([1, 2].map(unreadable).to_vec(), at(1)).await.unwrap();
    store.inbox().set_aside(vec![unreadable(3)], at(5)).await.unwrap();
    assert_eq!(store.inbox().expire_set_aside(at(0)).unwrap(), 0);
    assert_eq!(store.inbox().expire_set_aside(at(5)).unwrap(), 2, "not that of another bot");
    let store = backend.reopen(store).await;
    assert_eq!(store.inbox().expire_set_aside(at(5)).unwrap(), 0);
    assert_eq!(store.health().await.unwrap().unreadable, 1);
    assert_eq!(accept(&store, &[1, 2, 3], 6).await, [0; 0], "their ids stay known");
}

pub(super) async fn few_unreadable_updates_are_kept(backend: &dyn Backend) {
    let store = backend.open().await;
    let kept = i64::try_from(KEPT_UNREADABLE).unwrap();
    store.inbox().set_aside((0..kept + 5).map(unreadable).collect(), at(0)).await.unwrap();
    store.inbox().set_aside((kept + 5..kept + 10).map(unreadable).collect(), at(0)).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.health().await.unwrap().unreadable, KEPT_UNREADABLE as u64);
    assert_eq!(accept(&store, &[0, kept + 9], 0).await, [0; 0], "their ids stay known");
}
