//! The audit log: a chain that no order of writing forks, that shows what was tampered with, and that holds no words.

use figaro_base::ids::UserId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName, AuditVerdict, Audited};
use serde_json::json;

use super::{Backend, CHAT, at};

const WHOLE: Option<u64> = None;
const MARKER: &str = "zanzibar";

fn event(minute: i64) -> Audited {
    let event = AuditEvent {
        chat: Some(CHAT),
        method: AuditName::new("sendMessage"),
        ..AuditEvent::new(AuditKind::CallAllowed, AuditActor::Model, at(minute * 60))
    };
    Audited { event, arguments: Some(json!({"text": MARKER, "chat_id": 1})) }
}

pub(super) async fn many_who_write_at_once_make_one_chain(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..8 {
        let store = store.clone();
        writers.spawn(async move {
            for minute in 0..10 {
                store.audit().add(vec![event(minute), event(minute)]).await.unwrap();
                let user = UserId::telegram(writer * 100 + minute);
                let by = AuditActor::Person(UserId::telegram(1));
                assert!(store.settings().change_access(AccessChange::AllowUser(user), by).await.unwrap());
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    let whole = AuditVerdict { entries: 240, broken: WHOLE };
    assert_eq!(store.audit().verify().unwrap(), whole);
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.audit().verify().unwrap(), whole);
    let mut found = Vec::new();
    loop {
        let page =
            store.audit().newest(found.last().map(|entry: &figaro_domain::audit::AuditEntry| entry.seq), 7);
        let page = page.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    let places: Vec<u64> = found.iter().map(|entry| entry.seq).collect();
    assert_eq!(places, (0..240).rev().collect::<Vec<_>>());
    assert_eq!(found.iter().filter(|entry| entry.event.what == AuditKind::AccessAllowed).count(), 80);
}

pub(super) async fn equal_arguments_have_one_hash_and_words_are_not_kept(backend: &dyn Backend) {
    let store = backend.open().await;
    let other = |arguments| Audited { arguments: Some(arguments), ..event(0) };
    let events = vec![
        event(0),
        other(json!({"chat_id": 1, "text": MARKER})),
        other(json!({"chat_id": 2, "text": MARKER})),
    ];
    store.audit().add(events).await.unwrap();
    let found = store.audit().newest(None, 10).unwrap();
    let hash = |at: usize| found[at].arguments.as_deref().unwrap();
    assert_eq!(hash(1), hash(2), "the order of fields does not count");
    assert_ne!(hash(0), hash(1));
    assert!(!serde_json::to_string(&found).unwrap().contains(MARKER));
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    store.audit().add(vec![event(0)]).await.unwrap();
    assert_eq!(
        store.audit().newest(None, 1).unwrap()[0].arguments.as_deref(),
        Some(hash(1)),
        "the key is kept"
    );
}

pub(super) async fn what_goes_by_age_leaves_a_whole_chain(backend: &dyn Backend) {
    let store = backend.open().await;
    store.audit().add((0..10).map(event).collect()).await.unwrap();
    assert_eq!(store.audit().expire(at(4 * 60)).unwrap(), 4);
    assert_eq!(store.audit().expire(at(4 * 60)).unwrap(), 0);
    assert_eq!(store.audit().verify().unwrap(), AuditVerdict { entries: 6, broken: WHOLE });
    store.audit().add(vec![event(10)]).await.unwrap();
    assert_eq!(store.audit().expire(at(100 * 60)).unwrap(), 7, "all of it may go");
    store.audit().add(vec![event(11)]).await.unwrap();
    assert_eq!(store.audit().verify().unwrap(), AuditVerdict { entries: 1, broken: WHOLE });
    assert_eq!(store.audit().newest(None, 5).unwrap()[0].seq, 11);
}

pub(super) async fn only_what_changes_access_is_noted(backend: &dyn Backend) {
    let store = backend.open().await;
    let (user, by) = (UserId::telegram(4), AuditActor::Person(UserId::telegram(1)));
    for _ in 0..2 {
        store.settings().change_access(AccessChange::DenyUser(user.clone()), by.clone()).await.unwrap();
    }
    let found = store.audit().newest(None, 10).unwrap();
    let [entry] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(entry.event.what, AuditKind::AccessDenied);
    assert_eq!((&entry.event.target_user, &entry.event.actor), (&Some(user), &by));
}
