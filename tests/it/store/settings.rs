//! Notes, settings, access, and the health of it all.

use std::sync::Arc;

use figaro::domain::access::{AccessChange, Claim};
use figaro::domain::chat::{AnswerWhen, ChatConfig};
use figaro::ids::{ChatId, SessionId, UserId};
use tokio::task::JoinSet;

use super::{Backend, CHAT, at, note, words};

pub(super) async fn notes_come_back_oldest_first(backend: &dyn Backend) {
    let store = backend.open().await;
    let kept = [note(CHAT, "b", "bread", 1), note(CHAT, "a", "milk", 2), note(CHAT, "b", "salt", 3)];
    let [bread, milk, salt] = kept.clone();
    for note in [&salt, &bread, &milk, &note(ChatId(4), "b", "elsewhere", 0)] {
        store.put_note(note).await.unwrap();
    }
    let store = backend.reopen(store).await;
    assert_eq!(store.notes(CHAT).await.unwrap(), kept);
    assert_eq!(store.remove_note(ChatId(4), milk.id).await.unwrap(), None);
    assert_eq!(store.remove_note(CHAT, milk.id).await.unwrap(), Some(milk.clone()));
    assert_eq!(store.remove_note(CHAT, milk.id).await.unwrap(), None);
    assert_eq!(store.notes(CHAT).await.unwrap(), [bread.clone(), salt.clone()]);
    store.put_note(&milk).await.unwrap();
    assert_eq!(store.notes(CHAT).await.unwrap(), kept);

    assert_eq!(store.clear_notes(CHAT, Some("c")).await.unwrap(), []);
    assert_eq!(store.clear_notes(CHAT, Some("b")).await.unwrap(), [bread, salt]);
    let store = backend.reopen(store).await;
    assert_eq!(store.clear_notes(CHAT, None).await.unwrap(), [milk]);
    assert_eq!(store.notes(CHAT).await.unwrap(), []);
    assert_eq!(store.notes(ChatId(4)).await.unwrap().len(), 1);
}

pub(super) async fn chats_have_settings(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(store.chat_config(CHAT).await.unwrap(), ChatConfig::default());
    let config = ChatConfig {
        custom_prompt: Some("Be brief.".into()),
        language: None,
        personality: Some(String::new()),
        timezone: Some(chrono_tz::Europe::Berlin),
        answer_when: AnswerWhen::Always,
    };
    store.set_chat_config(CHAT, &config).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.chat_config(CHAT).await.unwrap(), config);
    assert_eq!(store.chat_config(ChatId(4)).await.unwrap(), ChatConfig::default());
    store.set_chat_config(CHAT, &ChatConfig::default()).await.unwrap();
    assert_eq!(store.chat_config(CHAT).await.unwrap(), ChatConfig::default());
}

pub(super) async fn access_loses_no_change(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut tasks = JoinSet::new();
    for user in 0..64 {
        let store = Arc::clone(&store);
        let change = AccessChange::AllowUser(UserId::telegram(user / 2));
        tasks.spawn(async move { store.change_access(change).await.unwrap() });
    }
    let effective = tasks.join_all().await.into_iter().filter(|changed| *changed).count();
    assert_eq!(effective, 32);
    let claim = Claim { code: "c0de".into(), expires_at: at(60) };
    assert!(store.change_access(AccessChange::Offer(claim)).await.unwrap());
    let store = backend.reopen(store).await;
    assert_eq!(store.access().await.unwrap().users.len(), 32);
    let redeem = AccessChange::Redeem { code: "c0de".into(), user: UserId::telegram(9), at: at(1) };
    assert!(store.change_access(redeem.clone()).await.unwrap());
    assert!(!store.change_access(redeem).await.unwrap());
    assert_eq!(store.access().await.unwrap().owners, [UserId::telegram(9)]);
}

pub(super) async fn a_group_that_moved_leaves_nothing_behind(backend: &dyn Backend) {
    let store = backend.open().await;
    let (from, to) = (ChatId(-5), ChatId(-1_005));
    for chat in [from, to] {
        store.change_access(AccessChange::AllowChat(chat)).await.unwrap();
    }
    store.change_access(AccessChange::Migrate { from, to }).await.unwrap();
    assert_eq!(store.access().await.unwrap().chats, [to]);
}

pub(super) async fn a_sound_store_says_so(backend: &dyn Backend) {
    let store = backend.open().await;
    store.append(words(SessionId::new(), &"x".repeat(50_000))).await.unwrap();
    store.flush().await.unwrap();
    let health = store.health().await.unwrap();
    assert!(health.bytes >= 50_000, "{health:?}");
    assert_eq!(health.unreadable, 0);
}
