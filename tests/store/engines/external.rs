//! Names of conversations outside Telegram.

use std::collections::BTreeSet;

use figaro_base::ids::UserId;
use figaro_domain::conversation::ConversationId;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_domain::external::ExternalName;
use figaro_store::Store;

use super::{Backend, at};

fn ann() -> ExternalName {
    ExternalName::person("acme", "ann")
}

fn person() -> UserId {
    UserId::external("acme", "ann")
}

/// Begins a session, without which there is nothing to erase.
async fn begun(store: &Store, name: &ExternalName) -> (ConversationId, Erasure) {
    let conversation = store.external().keep(name).await.unwrap();
    let session = store.conversations().session(conversation, at(0)).unwrap();
    (conversation, Erasure::of_external(conversation, session.id, person()))
}

async fn erase(store: &Store, what: &Erasure) {
    assert!(matches!(store.erasures().erase(what, at(1)).await.unwrap(), Forgotten::Done(_)));
}

pub(super) async fn no_two_conversations_outside_telegram_have_one_number(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(store.external().find(&ann()).unwrap(), None, "looking one up keeps nothing");
    let sessions: Vec<ExternalName> = (0..20).map(|at| ann().session(&format!("{at}"))).collect();
    let others = (0..20).map(|at| ExternalName::anonymous("acme", "app", &format!("{at}")));
    let names: Vec<ExternalName> = sessions.iter().cloned().chain(others).collect();
    // Each is asked for by two at the same time.
    let external = store.external();
    let asked = names.iter().chain(&names).map(|name| external.keep(name));
    let kept: Vec<ConversationId> =
        futures::future::join_all(asked).await.into_iter().collect::<Result<_, _>>().unwrap();
    let (once, again) = kept.split_at(names.len());
    assert_eq!(once, again);
    assert_eq!(once.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert!(once.iter().all(|conversation| conversation.chat.is_external()));
    let home = store.external().find(&ann()).unwrap().unwrap();
    assert!(once[..sessions.len()].iter().all(|part| part.chat == home.chat && *part != home));
    assert!(once[sessions.len()..].iter().all(|whole| whole.chat != home.chat));
    drop(external);
    let store = backend.reopen(store).await;
    for (name, conversation) in names.iter().zip(once) {
        assert_eq!(store.external().find(name).unwrap(), Some(*conversation));
        assert!(store.external().is_named(*conversation).unwrap());
    }
}

pub(super) async fn a_name_goes_with_its_conversation_and_its_number_is_never_given_again(
    backend: &dyn Backend,
) {
    let store = backend.open().await;
    let (trip, work) = (ann().session("trip"), ann().session("work"));
    let anonymous = ExternalName::anonymous("acme", "app", "trip");
    let (old_trip, of_trip) = begun(&store, &trip).await;
    let (of_work, _) = begun(&store, &work).await;
    let (alone, of_alone) = begun(&store, &anonymous).await;
    let home = store.external().find(&ann()).unwrap().unwrap();
    erase(&store, &of_trip).await;
    erase(&store, &of_alone).await;
    let store = backend.reopen(store).await;
    for (name, conversation) in [(&trip, old_trip), (&anonymous, alone)] {
        assert_eq!(store.external().find(name).unwrap(), None, "{name:?}");
        assert!(!store.external().is_named(conversation).unwrap(), "{name:?}");
    }
    assert_eq!(store.external().find(&work).unwrap(), Some(of_work), "another session stays");
    let new_trip = store.external().keep(&trip).await.unwrap();
    assert_eq!(new_trip.chat, home.chat, "notes and pins are found again");
    assert!(![old_trip, of_work].contains(&new_trip));
    erase(&store, &Erasure::Chat(home.chat, person())).await;
    for name in [ann(), trip, work] {
        assert_eq!(store.external().find(&name).unwrap(), None, "{name:?}");
    }
    let new = store.external().keep(&ann()).await.unwrap();
    assert!(![home.chat, alone.chat].contains(&new.chat));
}
