//! What turns did that can be taken back: taken once, told as it ended, forgotten by age, with its person and with its turn.

use figaro_base::ids::{ChatId, RunId, UpdateId, UserId};
use figaro_domain::approval::{ApprovalTarget, MethodCall};
use figaro_domain::audit::{AuditActor, AuditKind};
use figaro_domain::erasure::Erasure;
use figaro_domain::undo::{LASTS, MAX_CALLS, MadeIn, TurnUndo, UndoAuthor, UndoRefusal, Undoable, Undone};
use serde_json::json;

use super::{Backend, CHAT, at};

const NEWS: ChatId = ChatId(-9);

fn made(run: RunId, asked_by: i64, seconds: i64) -> MadeIn {
    MadeIn { run, asked_in: CHAT, asked_by: UserId::telegram(asked_by), at: at(seconds) }
}

/// What lifts the ban of somebody in a chat.
fn unban(chat: ChatId, user: i64) -> Undoable {
    let arguments = json!({"chat_id": chat, "user_id": user});
    let arguments = arguments.as_object().unwrap().clone();
    Undoable {
        call: MethodCall { method: "unbanChatMember".into(), arguments },
        target: ApprovalTarget { chat, title: Some("Home".into()) },
        left: serde_json::Map::new(),
        person: Some("Eve".into()),
        is_approved: true,
        outcome: None,
    }
}

fn taken(by: i64, seconds: i64) -> UndoAuthor {
    UndoAuthor { by: UserId::telegram(by), name: "Olga".into(), at: at(seconds), press: UpdateId(by) }
}

pub(super) async fn what_was_done_is_taken_back_once_and_noted(backend: &dyn Backend) {
    let store = backend.open().await;
    let run = RunId::new();
    assert_eq!(store.undos().find(run).unwrap(), None);
    assert_eq!(store.undos().take(run, taken(1, 1)).await.unwrap(), None, "nothing was done");
    let calls = [unban(CHAT, 7), unban(NEWS, 8), unban(CHAT, 9)];
    for (seconds, call) in (0..).zip(&calls) {
        store.undos().keep(made(run, 4, seconds), call.clone()).unwrap();
    }
    // A durable call takes along what was written before it.
    store.inbox().sync().await.unwrap();
    let store = backend.reopen(store).await;
    let kept = store.undos().find(run).unwrap().unwrap();
    assert_eq!((kept.calls.as_slice(), kept.until), (&calls[..], at(2) + LASTS));
    assert_eq!(store.undos().take(run, taken(1, 86_402)).await.unwrap(), None, "it is too late");
    let undos = store.undos();
    let (one, other) = tokio::join!(undos.take(run, taken(1, 5)), undos.take(run, taken(2, 5)));
    let (one, other) = (one.unwrap(), other.unwrap());
    drop(undos);
    assert!(one.is_some() != other.is_some(), "only one of them: {one:?} {other:?}");
    let store = backend.reopen(store).await;
    assert_eq!(store.undos().take(run, taken(3, 6)).await.unwrap(), None);
    let log = store.audit().newest(None, 9).unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.event.what, entry.event.target_user.clone())).collect();
    let wanted = [9, 8, 7].map(|user| (AuditKind::Undone, Some(UserId::telegram(user))));
    assert_eq!(told, wanted);
    assert!(matches!(log[0].event.actor, AuditActor::Person(_)));
    for (place, outcome) in
        [(2, Undone::Done), (1, Undone::Refused(UndoRefusal::NoRight)), (0, Undone::Unsent)]
    {
        store.undos().note_undone(run, place, outcome).await.unwrap();
    }
    let left = store.undos().find(run).unwrap().unwrap();
    assert_eq!((left.calls.as_slice(), left.taken), (&calls[..1], None), "it can be tried again");
    assert!(store.undos().take(run, taken(3, 7)).await.unwrap().is_some());
    store.undos().note_undone(run, 0, Undone::Done).await.unwrap();
    let ended = store.undos().find(run).unwrap().unwrap();
    assert!(ended.has_ended() && ended.is_whole() && ended.taken.is_some());
    store.undos().note_undone(RunId::new(), 0, Undone::Done).await.unwrap();
}

pub(super) async fn what_can_be_undone_goes_with_its_time_its_person_and_its_chat(backend: &dyn Backend) {
    let store = backend.open().await;
    let [many, theirs, old, others] = [(); 4].map(|()| RunId::new());
    for user in 0..12 {
        store.undos().keep(made(many, 5, 0), unban(NEWS, user)).unwrap();
    }
    store.undos().keep(made(theirs, 4, 0), unban(CHAT, 7)).unwrap();
    store.undos().keep(made(others, 5, 0), unban(CHAT, 4)).unwrap();
    store.undos().keep(made(old, 5, -1), unban(CHAT, 7)).unwrap();
    let kept = store.undos().find(many).unwrap().unwrap();
    assert_eq!((kept.calls.len(), kept.left_out), (MAX_CALLS, 2));
    assert_eq!(store.undos().expire(at(-1) + LASTS).unwrap(), 1);
    assert_eq!(store.undos().find(old).unwrap(), None);
    // Who forgets themselves takes along what was done for them, and their name in the rest.
    store.erasures().erase(&Erasure::Person(CHAT, UserId::telegram(4)), at(9)).await.unwrap();
    assert_eq!(store.undos().find(theirs).unwrap(), None);
    let nameless = store.undos().find(others).unwrap().unwrap().calls.remove(0);
    assert_eq!(nameless, Undoable { person: None, ..unban(CHAT, 4) });
    // What was done in a group before it moved was done to other messages.
    let new = ChatId(-1_002);
    store.settings().migrate_chat(CHAT, new).await.unwrap();
    assert_eq!(store.undos().find(others).unwrap(), None);
    let moved = store.undos().find(many).unwrap().unwrap();
    assert_eq!(moved, TurnUndo { asked_in: new, ..kept });
    store.erasures().erase(&Erasure::Chat(new, UserId::telegram(5)), at(9)).await.unwrap();
    assert_eq!(store.undos().find(many).unwrap(), None);
}
