//! A group that gets a new id takes everything along.

use std::slice::from_ref;

use figaro_base::ids::{ChatId, RunId, TopicId};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{AnswerWhen, ConfigPatch};
use figaro_domain::conversation::ConversationId;
use figaro_domain::message::Inbound;
use figaro_domain::profile::PreferencesPatch;
use figaro_store::TurnEnd;

use super::usage::spending;
use super::{Backend, CHAT, accept, at, ids, inbound, note, reply, texts, words};

/// The group before and after.
const OLD: ChatId = ChatId(-5);
const NEW: ChatId = CHAT;
/// A group that has nothing to do with it, and whose id comes right after the old one's.
const OTHER: ChatId = ChatId(-4);

const fn conversation(chat: ChatId, topic: Option<TopicId>) -> ConversationId {
    ConversationId { chat, topic }
}

fn said_in(chat: ChatId, id: i64) -> Inbound {
    let mut said = inbound(id, "said");
    said.place.chat = chat;
    said
}

fn speaking(language: &str) -> ConfigPatch {
    ConfigPatch { language: Some(Some(language.to_owned())), ..ConfigPatch::default() }
}

pub(super) async fn a_group_that_moves_takes_everything_along(backend: &dyn Backend) {
    let store = backend.open().await;
    let topic = Some(TopicId(5));
    let [bread, salt] = [note(OLD, "list", "bread", 0), note(OTHER, "list", "salt", 0)];
    for chat in [OLD, OTHER] {
        store.settings().change_access(AccessChange::AllowChat(chat), AuditActor::Bot).await.unwrap();
        store.settings().change_chat_config(chat, speaking("German")).await.unwrap();
        store.conversations().add_background(conversation(chat, topic), &said_in(chat, 1), 9).unwrap();
    }
    store.notes().restore(&bread).await.unwrap();
    store.notes().restore(&salt).await.unwrap();
    let earlier = store.conversations().session(conversation(OLD, None), at(0)).unwrap();
    let current = store.conversations().new_session(conversation(OLD, None), at(1)).await.unwrap();
    let in_topic = store.conversations().session(conversation(OLD, topic), at(2)).unwrap();
    let others = store.conversations().session(conversation(OTHER, None), at(3)).unwrap();
    for session in [&earlier, &current] {
        store.conversations().append(words(session.id, "kept")).unwrap();
    }

    let person = super::profiles::seen("Ann", 0);
    store.profiles().see(&person).unwrap();
    let wish = PreferencesPatch { called: Some(Some("Chief".to_owned())), ..PreferencesPatch::default() };
    store.profiles().wish(&person.speaker.user, OLD, wish, RunId::new()).await.unwrap();

    store.settings().migrate_chat(OLD, NEW).await.unwrap();
    let profile = store.profiles().find(&person.speaker.user).unwrap().unwrap();
    assert_eq!(profile.wishes[0].0, NEW);
    assert_eq!(store.sessions().of_conversation(conversation(NEW, None)).unwrap().len(), 2);
    assert_eq!(store.sessions().of_conversation(conversation(OLD, None)).unwrap(), []);
    let mut store = backend.reopen(store).await;
    for _ in 0..2 {
        assert_eq!(store.settings().chat_config(NEW).unwrap().language.as_deref(), Some("German"));
        let mut moved = bread.clone();
        moved.chat = NEW;
        assert_eq!(store.notes().of_chat(NEW).unwrap(), [moved]);
        for (place, before) in [(conversation(NEW, None), &current), (conversation(NEW, topic), &in_topic)] {
            let after = store.conversations().session(place, at(9)).unwrap();
            assert_eq!((after.id, after.conversation), (before.id, place));
            assert_eq!(after.created_at, before.created_at);
        }
        assert_eq!(texts(&store, current.id).await, ["kept"]);
        assert_eq!(texts(&store, earlier.id).await, ["kept"]);
        assert_eq!(
            store.conversations().background(conversation(NEW, topic), at(0), 9).unwrap(),
            [said_in(NEW, 1)]
        );
        assert_eq!(store.settings().access().unwrap().chats, [OTHER, NEW]);

        assert_eq!(store.settings().chat_config(OLD).unwrap().language, None);
        assert_eq!(store.notes().of_chat(OLD).unwrap(), []);
        assert_eq!(store.conversations().background(conversation(OLD, topic), at(0), 9).unwrap(), []);
        assert_eq!(store.notes().of_chat(OTHER).unwrap(), from_ref(&salt));
        assert_eq!(store.conversations().session(conversation(OTHER, None), at(9)).unwrap(), others);
        assert_eq!(
            store.conversations().background(conversation(OTHER, topic), at(0), 9).unwrap(),
            [said_in(OTHER, 1)]
        );
        store.settings().migrate_chat(OLD, NEW).await.unwrap();
        store = backend.reopen(store).await;
    }
    // What belonged to the old id is not there any more.
    let after = store.conversations().session(conversation(OLD, None), at(9)).unwrap();
    assert!(after.id != current.id && after.conversation == conversation(OLD, None));
}

pub(super) async fn what_the_new_id_has_stays(backend: &dyn Backend) {
    let store = backend.open().await;
    store.settings().change_chat_config(OLD, speaking("German")).await.unwrap();
    let off = ConfigPatch { answer_when: Some(AnswerWhen::Off), ..ConfigPatch::default() };
    let newer = store.settings().change_chat_config(NEW, off).await.unwrap();
    let old = store.conversations().session(conversation(OLD, None), at(0)).unwrap();
    let new = store.conversations().session(conversation(NEW, None), at(1)).unwrap();
    let kept = [note(OLD, "list", "bread", 0), note(NEW, "list", "salt", 1), note(OLD, "list", "salt", 2)];
    for note in &kept {
        store.notes().restore(note).await.unwrap();
    }
    store.conversations().add_background(conversation(OLD, None), &said_in(OLD, 1), 9).unwrap();
    store.conversations().add_background(conversation(NEW, None), &said_in(NEW, 2), 9).unwrap();
    for chat in [OLD, NEW] {
        store.settings().change_access(AccessChange::AllowChat(chat), AuditActor::Bot).await.unwrap();
    }

    store.settings().migrate_chat(OLD, NEW).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.settings().chat_config(NEW).unwrap(), newer);
    assert_eq!(store.conversations().session(conversation(NEW, None), at(9)).unwrap(), new);
    assert_ne!(store.conversations().session(conversation(OLD, None), at(9)).unwrap().id, old.id);
    let notes: Vec<_> = store.notes().of_chat(NEW).unwrap().into_iter().map(|note| note.id).collect();
    assert_eq!(notes, [kept[0].id, kept[1].id]);
    assert_eq!(store.notes().of_chat(OLD).unwrap(), []);
    let background = store.conversations().background(conversation(NEW, None), at(0), 9).unwrap();
    assert_eq!(background, [said_in(NEW, 1), said_in(NEW, 2)]);
    assert_eq!(store.settings().access().unwrap().chats, [NEW]);
}

pub(super) async fn a_chat_that_stays_loses_nothing(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = store.conversations().session(conversation(NEW, None), at(0)).unwrap();
    store.settings().change_chat_config(NEW, speaking("German")).await.unwrap();
    store.notes().restore(&note(NEW, "list", "salt", 0)).await.unwrap();
    store.settings().change_access(AccessChange::AllowChat(NEW), AuditActor::Bot).await.unwrap();
    store.settings().migrate_chat(NEW, NEW).await.unwrap();
    // A group nobody had allowed is not allowed because it moves.
    store.settings().migrate_chat(OLD, OTHER).await.unwrap();
    assert_eq!(store.conversations().session(conversation(NEW, None), at(9)).unwrap(), session);
    assert!(store.settings().chat_config(NEW).unwrap().language.is_some());
    assert_eq!(store.notes().of_chat(NEW).unwrap().len(), 1);
    assert_eq!(store.settings().access().unwrap().chats, [NEW]);
}

pub(super) async fn a_turn_in_progress_goes_on_where_it_began(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2, 3], 0).await;
    let answered =
        store.conversations().begin_turn(conversation(OLD, None), &[said_in(OLD, 1)], at(0)).unwrap();
    let answer = words(answered.session, "answer");
    let delivery = reply(&answered, &answer);
    let end = TurnEnd { messages: vec![answer], delivery: Some(delivery.clone()), ..TurnEnd::default() };
    store.conversations().end_turn(&answered, end).await.unwrap();
    let run = store.conversations().begin_turn(conversation(OLD, None), &[said_in(OLD, 2)], at(0)).unwrap();

    store.settings().migrate_chat(OLD, NEW).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().active_runs().unwrap(), from_ref(&run));
    assert_eq!(store.outbox().deliveries().unwrap(), from_ref(&delivery));
    let next = store.conversations().begin_turn(conversation(NEW, None), &[said_in(NEW, 3)], at(0)).unwrap();
    assert_eq!((next.session, next.conversation), (run.session, conversation(NEW, None)));
    assert_eq!(store.conversations().active_runs().unwrap().len(), 2);
    for run in [&next, &run] {
        let end = TurnEnd { messages: vec![words(run.session, "end")], delivery: None, ..TurnEnd::default() };
        store.conversations().end_turn(run, end).await.unwrap();
    }
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [0; 0]);
    assert_eq!(texts(&store, next.session).await, ["said", "answer", "said", "said", "end", "end"]);
    assert_eq!(
        store.conversations().session(conversation(NEW, None), at(9)).unwrap().conversation,
        conversation(NEW, None)
    );
}

pub(super) async fn a_turn_taken_back_takes_nothing_of_the_next(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1], 0).await;
    let run = store.conversations().begin_turn(conversation(OLD, None), &[said_in(OLD, 1)], at(0)).unwrap();
    store.settings().migrate_chat(OLD, NEW).await.unwrap();
    let next = store.conversations().begin_turn(conversation(NEW, None), &[said_in(NEW, 2)], at(0)).unwrap();
    store.conversations().end_turn(&next, TurnEnd::default()).await.unwrap();
    store.conversations().retract_turn(&run).unwrap();
    assert_eq!(store.conversations().active_runs().unwrap(), []);
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [1]);
    assert_eq!(texts(&store, next.session).await, ["said", "said"]);
}

pub(super) async fn what_was_spent_moves_with_its_chat(backend: &dyn Backend) {
    let store = backend.open().await;
    let (old, new) = (ChatId(-5), ChatId(-1_005));
    for chat in [old, new, ChatId(-6)] {
        store.usage().book(&spending(1, chat, 4, "openai:a", 10), None).unwrap();
    }
    store.settings().migrate_chat(old, new).await.unwrap();
    let store = backend.reopen(store).await;
    let day = spending(1, new, 4, "openai:a", 0).day;
    let spent = store.usage().spent(day..=day).unwrap();
    let mut rows: Vec<(i64, u64)> = spent.iter().map(|one| (one.chat.0, one.spent.tokens)).collect();
    rows.sort_unstable();
    assert_eq!(rows, [(new.0, 20), (-6, 10)]);
}
