//! Sessions, their messages, and background messages.

use std::collections::BTreeSet;
use std::sync::Arc;

use figaro_base::ids::{MemoryId, SessionId};
use figaro_domain::conversation::{Message, MessageRole, PrivatePart, ToolMeta};
use figaro_domain::erasure::{Erased, Erasure, Forgotten};
use figaro_domain::session::{SessionChange, SessionName};
use figaro_domain::tool::{SideEffects, ToolStatus};
use figaro_domain::usage::Usage;
use figaro_domain::vector::ByteVector;
use figaro_store::{KeptVector, MessageVector, Outline, Store, TurnEnd};
use serde_json::json;
use tokio::task::JoinSet;

use super::{Backend, HERE, TOPIC, at, inbound, started, texts, tool_call, words};

pub(super) async fn a_conversation_has_a_current_session(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = store.conversations().session(HERE, at(0)).unwrap();
    assert_eq!((first.conversation, first.created_at, first.updated_at), (HERE, at(0), at(0)));
    assert_eq!(store.conversations().session(HERE, at(5)).unwrap(), first);
    assert_ne!(store.conversations().session(TOPIC, at(0)).unwrap().id, first.id);
    store.conversations().append(words(first.id, "one")).unwrap();

    let second = store.conversations().new_session(HERE, at(6)).await.unwrap();
    assert_ne!(second.id, first.id);
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().session(HERE, at(7)).unwrap(), second);
    assert_eq!(texts(&store, first.id).await, ["one"]);
    assert_eq!(texts(&store, second.id).await, [""; 0]);
}

pub(super) async fn a_session_knows_when_it_was_written_to(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap();
    for (written, latest) in [(30, 30), (20, 30), (40, 40)] {
        let message = Message { created_at: at(written), ..words(session.id, "") };
        store.conversations().append(message).unwrap();
        let updated_at = store.conversations().session(HERE, at(99)).unwrap().updated_at;
        assert_eq!(updated_at, at(latest));
    }
}

pub(super) async fn indexes_have_no_gaps(backend: &dyn Backend) {
    let store = backend.open().await;
    let sessions = [SessionId::new(), store.conversations().session(HERE, at(0)).unwrap().id];
    let mut tasks = JoinSet::new();
    for writer in 0..64 {
        let store = store.clone();
        tasks.spawn(async move {
            let session = sessions[writer % 2];
            let mut given = Vec::new();
            for i in 0..4 {
                given.push((
                    session,
                    store.conversations().append(words(session, &format!("{writer}:{i}"))).unwrap(),
                ));
            }
            given
        });
    }
    let given: BTreeSet<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(given.len(), 256);
    let store = backend.reopen(store).await;
    for session in sessions {
        assert_eq!(texts(&store, session).await.len(), 128);
    }
}

pub(super) async fn messages_are_kept_whole(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap().id;
    let mut stored = vec![
        Message::from_inbound(session, &inbound(1, "a question\0\u{202e} with 🦀")),
        Message {
            model_id: Some("openai:gpt".into()),
            token_usage: Some(Usage { input: 9, cached: 8, output: u64::MAX }),
            importance: 7.3,
            referenced_memories: vec![MemoryId::new()],
            private: vec![PrivatePart {
                provider: "openai".into(),
                data: json!({ "b": [1, null], "a": "=" }),
            }],
            ..words(session, &"long ".repeat(300_000))
        },
        Message {
            role: MessageRole::Tool,
            tool: Some(Box::new(ToolMeta {
                tool_call_id: "c1".into(),
                tool_name: "clock".into(),
                tool_arguments: "{".into(),
                side_effects: SideEffects {
                    spoke: true,
                    found: vec!["pinChatMessage".into()],
                    ..SideEffects::default()
                },
            })),
            ..words(session, "noon")
        },
    ];
    for (message, index) in stored.iter_mut().zip(0..) {
        message.index = store.conversations().append(message.clone()).unwrap();
        assert_eq!(message.index, index);
    }
    let stored = stored.into_iter().map(Arc::new).collect::<Vec<_>>();
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().recent(session, 10).unwrap(), stored);
    assert_eq!(store.conversations().recent(session, 2).unwrap(), stored[1..]);
    assert_eq!(store.conversations().recent(session, 0).unwrap(), []);
    assert_eq!(store.conversations().recent(SessionId::new(), 10).unwrap(), []);
}

pub(super) async fn background_is_bounded(backend: &dyn Backend) {
    let store = backend.open().await;
    let said = |id| inbound(id, &format!("said {id}"));
    for id in [4, 1, 5, 2, 3, 5] {
        store.conversations().add_background(HERE, &said(id), 4).unwrap();
    }
    store.conversations().add_background(TOPIC, &said(9), 4).unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().background(HERE, at(0), 10).unwrap(), [2, 3, 4, 5].map(said));
    assert_eq!(store.conversations().background(HERE, at(4), 10).unwrap(), [4, 5].map(said));
    assert_eq!(store.conversations().background(HERE, at(0), 1).unwrap(), [said(5)]);
    assert_eq!(store.conversations().background(HERE, at(6), 10).unwrap(), []);
    assert_eq!(store.conversations().background(TOPIC, at(0), 10).unwrap(), [said(9)]);
    store.conversations().add_background(HERE, &said(6), 1).unwrap();
    assert_eq!(store.conversations().background(HERE, at(0), 10).unwrap(), [said(6)]);
    store.conversations().add_background(HERE, &said(7), 0).unwrap();
    assert_eq!(store.conversations().background(HERE, at(0), 10).unwrap(), []);
}

pub(super) async fn sessions_are_listed_newest_first(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = store.conversations().session(HERE, at(0)).unwrap();
    store.conversations().append(Message { created_at: at(50), ..words(first.id, "one") }).unwrap();
    let second = store.conversations().new_session(HERE, at(10)).await.unwrap();
    store.conversations().append(Message { created_at: at(20), ..words(second.id, "two") }).unwrap();
    let empty = store.conversations().new_session(HERE, at(30)).await.unwrap();
    let current = store.conversations().new_session(HERE, at(31)).await.unwrap();
    let elsewhere = store.conversations().session(TOPIC, at(0)).unwrap();
    let store = backend.reopen(store).await;
    let listed = |store: &Store| {
        let store = store.clone();
        async move {
            store.sessions().of_conversation(HERE).unwrap().into_iter().map(|s| s.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(listed(&store).await, [first.id, current.id, second.id], "without {}", empty.id);
    assert!(!store.sessions().switch(HERE, elsewhere.id).await.unwrap());
    assert!(store.sessions().switch(HERE, second.id).await.unwrap());
    assert_eq!(store.conversations().session(HERE, at(60)).unwrap().id, second.id);
    assert_eq!(store.sessions().current(HERE).unwrap(), Some(second.id));
    assert_eq!(listed(&store).await, [first.id, second.id]);
    let said = Outline { first_words: None, messages: 1 };
    assert_eq!(store.sessions().outline(second.id).unwrap(), said);
}

pub(super) async fn a_session_is_named_once_and_by_a_person_for_good(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap();
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "what of Riga?")], at(1)).unwrap();
    store
        .conversations()
        .end_turn(&run, TurnEnd { messages: vec![words(session.id, "a town")], ..TurnEnd::default() })
        .await
        .unwrap();
    let said = store.sessions().begin_naming(session.id, 2, 6).unwrap().unwrap();
    assert_eq!(said.iter().map(|said| said.text.as_str()).collect::<Vec<_>>(), ["what of Riga?", "a town"]);
    let store = backend.reopen(store).await;
    assert!(store.sessions().begin_naming(session.id, 2, 6).unwrap().is_some());
    assert_eq!(store.sessions().begin_naming(session.id, 2, 6).unwrap(), None, "it was tried twice");
    let named = |name: Option<SessionName>| {
        let (store, change) = (store.clone(), SessionChange { name, ..SessionChange::default() });
        async move { store.sessions().change(session.id, change).await.unwrap().unwrap().name.unwrap().text }
    };
    assert_eq!(named(SessionName::by_bot("Riga", Vec::new())).await, "Riga");
    assert_eq!(named(SessionName::by_person("My town")).await, "My town");
    assert_eq!(named(SessionName::by_bot("Riga", Vec::new())).await, "My town");
    assert_eq!(store.sessions().begin_naming(session.id, 9, 6).unwrap(), None, "it has a name");
    let outline = store.sessions().outline(session.id).unwrap();
    assert_eq!(outline, Outline { first_words: Some("what of Riga?".into()), messages: 2 });
}

pub(super) async fn a_deleted_session_leaves_nothing(backend: &dyn Backend) {
    let store = backend.open().await;
    let kept = store.conversations().session(HERE, at(0)).unwrap();
    store.conversations().append(words(kept.id, "kept")).unwrap();
    let session = store.conversations().new_session(HERE, at(1)).await.unwrap();
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "secret")], at(2)).unwrap();
    started(&store.conversations(), &run, &[tool_call(run.id, "c", ToolStatus::Running)]).await;
    let delete =
        async |place| store.erasures().erase(&Erasure::Session(place, session.id), at(3)).await.unwrap();
    let nothing = Forgotten::Done(Erased::default());
    assert_eq!(delete(HERE).await, Forgotten::Busy);
    store
        .conversations()
        .end_turn(&run, TurnEnd { messages: vec![words(session.id, "so")], ..TurnEnd::default() })
        .await
        .unwrap();
    assert_eq!(delete(TOPIC).await, nothing, "it is none of that topic");
    let erased = Erased { messages: 1, answers: 1, sessions: 1, ..Erased::default() };
    assert_eq!(delete(HERE).await, Forgotten::Done(erased));
    assert_eq!(delete(HERE).await, nothing);
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().recent(session.id, 9).unwrap(), []);
    assert_eq!(store.conversations().tool_calls(run.id).unwrap(), []);
    assert_eq!(store.sessions().find(session.id).unwrap(), None);
    assert_eq!(store.sessions().current(HERE).unwrap(), None);
    assert_eq!(texts(&store, kept.id).await, ["kept"]);
    assert_eq!(store.sessions().of_conversation(HERE).unwrap().len(), 1);
    assert_ne!(
        store.conversations().session(HERE, at(9)).unwrap().id,
        kept.id,
        "the next question begins another one"
    );
}

pub(super) async fn vectors_are_kept_with_their_messages_and_go_with_them(backend: &dyn Backend) {
    const MODEL: &str = "local:0123456789ab";
    let store = backend.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap().id;
    for said in ["one", "two", "three"] {
        store.conversations().append(words(session, said)).unwrap();
    }
    let messages = store.messages().messages_from(session, 0, 9).unwrap();
    let vector = |number: i8| ByteVector { scale: 0.007_812_5, numbers: vec![number, -127, 127] };
    let made = |number: i8, message: &Arc<Message>| MessageVector {
        place: message.key(),
        of: message.clone(),
        vector: vector(number),
    };
    let mut vectors: Vec<MessageVector> =
        (1..).zip(&messages).map(|(number, message)| made(number, message)).collect();
    // Another message was there when this one was made.
    vectors[1].of = messages[0].clone();
    store.messages().put_vectors(MODEL, &vectors).unwrap();
    let store = backend.reopen(store).await;
    let kept =
        |index, model: &str, number| KeptVector { index, model: model.to_owned(), vector: vector(number) };
    let all = store.messages().vectors_before(session, 9, 9).unwrap();
    assert_eq!(all, [kept(2, MODEL, 3), kept(0, MODEL, 1)], "newest first");
    assert_eq!(store.messages().vectors_before(session, 2, 9).unwrap(), [kept(0, MODEL, 1)]);
    assert_eq!(store.messages().vectors_before(session, 9, 1).unwrap(), [kept(2, MODEL, 3)]);
    store.messages().put_vectors("other", &[made(9, &messages[0])]).unwrap();
    assert_eq!(store.messages().vectors_before(session, 1, 9).unwrap(), [kept(0, "other", 9)]);
    // It was edited while this one was made.
    let before = Arc::new(Message { text: "zero".to_owned(), ..(*messages[0]).clone() });
    assert_eq!(store.messages().put_vectors(MODEL, &[made(8, &before)]).unwrap(), []);
    assert_eq!(store.messages().vectors_before(session, 1, 9).unwrap(), [kept(0, "other", 9)]);

    let other = store.conversations().new_session(HERE, at(1)).await.unwrap().id;
    store.conversations().append(words(other, "elsewhere")).unwrap();
    let elsewhere = store.messages().messages_from(other, 0, 9).unwrap();
    store.messages().put_vectors(MODEL, &[made(5, &elsewhere[0])]).unwrap();
    store.erasures().erase(&Erasure::Session(HERE, session), at(9)).await.unwrap();
    assert_eq!(store.messages().vectors_before(session, 9, 9).unwrap(), []);
    assert_eq!(store.messages().vectors_before(other, 9, 9).unwrap(), [kept(0, MODEL, 5)]);
    store.messages().put_vectors(MODEL, &vectors).unwrap();
    assert_eq!(store.messages().vectors_before(session, 9, 9).unwrap(), [], "there is no message any more");
}
