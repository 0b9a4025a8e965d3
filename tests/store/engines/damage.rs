//! What the store makes of damaged records, what a crash leaves of its files, and that nothing changes on the way.

use std::slice::from_ref;

use figaro_base::ids::{ChatId, MessageId, NoteId, SessionId, UserId};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{AnswerWhen, ChatConfig, ConfigPatch};
use figaro_domain::conversation::Message;
use figaro_domain::delivery::{Author, DeliveryEnd};
use figaro_domain::note::Note;
use figaro_domain::tool::ToolStatus;
use figaro_store::{StoreError, TurnEnd};
use proptest::prelude::*;
use tokio::runtime::Handle;

use super::disk::{Disk, for_every_engine};
use super::{Backend, CHAT, HERE, at, inbound, raw, reply, started, texts, tool_call, words};
use crate::support::wait::eventually;

async fn unreadable_records_of_a_list_are_set_aside(folder: &Disk) {
    let store = folder.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap().id;
    for text in ["one", "two", "three"] {
        store.conversations().append(words(session, text)).unwrap();
    }
    store.inbox().accept(vec![raw(1), raw(2)], at(0)).unwrap();
    drop(store);
    folder.records().damage("messages");
    folder.records().damage("inbox");

    let mut store = folder.open().await;
    for _ in 0..2 {
        let messages = store.conversations().recent(session, 10).unwrap();
        assert_eq!(
            messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(),
            ["two", "three"]
        );
        assert_eq!(store.inbox().unsettled().unwrap(), [raw(2)]);
        assert_eq!(store.health().await.unwrap().unreadable, 2);
        store = folder.reopen(store).await;
    }
    assert_eq!(store.conversations().append(words(session, "four")).unwrap(), 3);
    drop(store);
    let aside = folder.records().all("quarantine");
    assert!(aside.iter().all(|(_, bytes)| *bytes == br#"{"half a rec"#));
    // Nine bytes say whose they are.
    assert!(
        aside.iter().all(|(key, _)| [&b"inbox\0"[..], b"messages\0"].iter().any(|p| key[9..].starts_with(p)))
    );
}

async fn an_unreadable_single_record_is_never_a_default(folder: &Disk) {
    let store = folder.open().await;
    let german = ConfigPatch { language: Some(Some("de".into())), ..ConfigPatch::default() };
    store.settings().change_chat_config(CHAT, german.clone()).await.unwrap();
    let allow = AccessChange::AllowUser(UserId::telegram(4));
    store.settings().change_access(allow.clone(), AuditActor::Bot).await.unwrap();
    drop(store);
    folder.records().damage("chats");
    folder.records().damage("access");

    let mut store = folder.open().await;
    for _ in 0..2 {
        for failed in [
            store.settings().chat_config(CHAT).map(drop),
            store.settings().change_chat_config(CHAT, german.clone()).await.map(drop),
            store.settings().access().map(drop),
            store.settings().change_access(allow.clone(), AuditActor::Bot).await.map(drop),
        ] {
            assert!(matches!(failed, Err(StoreError::Record { .. })), "{failed:?}");
        }
        store = folder.reopen(store).await;
    }
    store.settings().change_chat_config(CHAT, ConfigPatch::reset()).await.unwrap();
    assert_eq!(store.settings().chat_config(CHAT).unwrap(), ChatConfig::default());
    assert_eq!(store.health().await.unwrap().unreadable, 2);
}

async fn a_damaged_conversation_is_mended_by_a_new_session(folder: &Disk) {
    let store = folder.open().await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    drop(store);
    folder.records().damage("sessions");
    folder.records().damage("runs");

    let store = folder.open().await;
    assert_eq!(store.conversations().active_runs().unwrap(), []);
    assert!(matches!(
        store.conversations().end_turn(&run, TurnEnd::default()).await,
        Err(StoreError::Record { .. })
    ));
    assert!(matches!(store.conversations().session(HERE, at(0)), Err(StoreError::Record { .. })));
    assert_eq!(store.conversations().append(words(run.session, "still stored")).unwrap(), 1);
    let mended = store.conversations().new_session(HERE, at(1)).await.unwrap();
    assert_eq!(store.conversations().session(HERE, at(2)).unwrap(), mended);
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(2)).unwrap();
    store.conversations().end_turn(&run, TurnEnd::default()).await.unwrap();
}

async fn what_is_acknowledged_is_in_the_files(folder: &Disk) {
    let store = folder.open().await;
    store.inbox().accept(vec![raw(1)], at(0)).unwrap();
    store.inbox().sync().await.unwrap();
    let image = folder.crash_image();
    assert_eq!(image.open().await.inbox().unsettled().unwrap(), [raw(1)]);

    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    let call = tool_call(run.id, "c", ToolStatus::Running);
    started(&store.conversations(), &run, from_ref(&call)).await;
    let image = folder.crash_image();
    let crashed = image.open().await;
    assert_eq!(crashed.conversations().active_runs().unwrap(), from_ref(&run));
    assert_eq!(crashed.conversations().tool_calls(run.id).unwrap(), [call]);

    let call = tool_call(run.id, "c", ToolStatus::Complete);
    store.conversations().tool_ended(&call, words(run.session, &"result ".repeat(200_000))).await.unwrap();
    let image = folder.crash_image();
    let crashed = image.open().await;
    assert_eq!(crashed.conversations().tool_calls(run.id).unwrap(), [call]);
    assert_eq!(texts(&crashed, run.session).await.len(), 2);

    let answer = words(run.session, "a");
    let delivery = reply(&run, &answer);
    store
        .conversations()
        .end_turn(
            &run,
            TurnEnd { messages: vec![answer], delivery: Some(delivery.clone()), ..TurnEnd::default() },
        )
        .await
        .unwrap();
    let image = folder.crash_image();
    let crashed = image.open().await;
    assert_eq!(crashed.outbox().deliveries().unwrap(), from_ref(&delivery));
    assert_eq!(crashed.inbox().unsettled().unwrap(), []);

    store.outbox().confirm_part(delivery.id, MessageId(5), true).await.unwrap();
    store.outbox().end_delivery(delivery.id, DeliveryEnd::Whole, at(60)).unwrap();
    store.flush().await.unwrap();
    let image = folder.crash_image();
    let crashed = image.open().await;
    assert_eq!(crashed.outbox().deliveries().unwrap(), []);
    assert_eq!(crashed.conversations().recent(run.session, 1).unwrap()[0].telegram, [MessageId(5)]);

    store.outbox().record_own(CHAT, MessageId(5), Author::Model, at(0)).unwrap();
    store.flush().await.unwrap();
    let image = folder.crash_image();
    assert_eq!(image.open().await.outbox().author(CHAT, MessageId(5)).unwrap(), Some(Author::Model));
}

async fn what_is_not_acknowledged_reaches_the_files_soon(folder: &Disk) {
    let store = folder.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap();
    let is_there = async || {
        let image = folder.crash_image();
        // A copy is not of one moment: one that is made in the middle of a write may be refused.
        let store = image.try_open().await.ok()?;
        (store.conversations().session(HERE, at(9)).unwrap() == session).then_some(())
    };
    eventually(|| "what was written does not reach the files", is_there).await;
}

async fn save_and_load_change_nothing(folder: &Disk) {
    let store = folder.open().await;
    let session = SessionId::new();
    let strings = (any::<String>(), ".*", proptest::option::of(any::<String>()), 0.0..10.0f32);
    proptest!(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() }, |((a, b, c, d) in strings)| {
        let mut message = Message { model_id: c.clone(), importance: d, ..words(session, &a) };
        let config = ChatConfig { custom_prompt: c.clone(), personality: Some(b.clone()), ..ChatConfig::default() };
        let change = ConfigPatch {
            custom_prompt: Some(c.clone()),
            personality: Some(Some(b.clone())),
            answer_when: Some(AnswerWhen::Mention),
            ..ConfigPatch::default()
        };
        let note = Note { id: NoteId::new(), chat: ChatId(1), key: b, content: a, author: None, turn: None, created_at: at(1) };
        tokio::task::block_in_place(|| Handle::current().block_on(async {
            message.index = store.conversations().append(message.clone()).unwrap();
            assert_eq!(store.settings().change_chat_config(CHAT, change).await.unwrap(), config);
            store.notes().restore(&note).await.unwrap();
            assert_eq!(store.conversations().recent(session, 1).unwrap(), [message.into()]);
            assert_eq!(store.settings().chat_config(CHAT).unwrap(), config);
            assert_eq!(store.notes().clear(note.chat, Some(&note.key)).await.unwrap(), [note]);
        }));
    });
}

async fn own_messages_that_older_versions_recorded_without_an_author_are_figaros(folder: &Disk) {
    let store = folder.open().await;
    store.outbox().record_own(CHAT, MessageId(5), Author::Model, at(0)).unwrap();
    store.flush().await.unwrap();
    drop(store);
    let records = folder.records();
    let (key, _) = records.all("own").into_iter().next().unwrap();
    records.put("own", &key, "null");
    drop(records);
    let store = folder.open().await;
    assert_eq!(store.outbox().author(CHAT, MessageId(5)).unwrap(), Some(Author::Figaro));
    assert_eq!(store.health().await.unwrap().unreadable, 0);
}

for_every_engine! {
    unreadable_records_of_a_list_are_set_aside
    an_unreadable_single_record_is_never_a_default
    a_damaged_conversation_is_mended_by_a_new_session
    what_is_acknowledged_is_in_the_files
    what_is_not_acknowledged_reaches_the_files_soon
    save_and_load_change_nothing
    own_messages_that_older_versions_recorded_without_an_author_are_figaros
}
