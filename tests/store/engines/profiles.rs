//! The profiles of people.

use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::Speaker;
use figaro_domain::profile::{PersonRole, PersonSnapshot, PreferencesPatch};

use super::{Backend, at};

/// Somebody who asks at a time.
pub(super) fn seen(name: &str, seconds: i64) -> PersonSnapshot {
    let speaker = Speaker { user: UserId::telegram(4), name: name.to_owned(), username: Some("ann".into()) };
    PersonSnapshot { speaker, language: Some("de".into()), role: PersonRole::Member, at: at(seconds) }
}

fn place(chat: ChatId, kind: ChatKind) -> Place {
    Place { chat, kind, title: None, topic: None }
}

pub(super) async fn a_profile_is_kept(backend: &dyn Backend) {
    let store = backend.open().await;
    let user = UserId::telegram(4);
    assert_eq!(store.profiles().find(&user).unwrap(), None);
    store.profiles().see(&seen("Ann", 0)).unwrap();
    store.profiles().see(&seen("Ann", 60)).unwrap();
    let store = backend.reopen(store).await;
    let known = store.profiles().find(&user).unwrap().unwrap();
    assert_eq!((known.first_seen, known.last_seen), (at(0), at(0)), "a minute is not written down");
    assert_eq!((known.names.shown.as_str(), known.language.as_deref()), ("Ann", Some("de")));
    let later = store.profiles().see(&PersonSnapshot { language: None, ..seen("Ann Lee", 7200) }).unwrap();
    assert_eq!((later.first_seen, later.last_seen), (at(0), at(7200)));
    assert_eq!((later.names.shown.as_str(), later.language.as_deref()), ("Ann Lee", Some("de")));
}

pub(super) async fn what_a_person_asked_for_is_kept_by_chat(backend: &dyn Backend) {
    let store = backend.open().await;
    let user = UserId::telegram(4);
    let wish = PreferencesPatch {
        called: Some(Some("Annie".to_owned())),
        timezone: Some(Some("America/New_York".parse::<Tz>().unwrap())),
        language: None,
    };
    assert_eq!(
        store.profiles().wish(&user, ChatId(4), wish.clone(), RunId::new()).await.unwrap(),
        None,
        "nobody knows them"
    );
    store.profiles().see(&seen("Ann", 0)).unwrap();
    store.profiles().wish(&user, ChatId(4), wish, RunId::new()).await.unwrap().unwrap();
    store.profiles().see(&seen("Ann Lee", 1)).unwrap();
    let store = backend.reopen(store).await;
    let known = store.profiles().find(&user).unwrap().unwrap();
    let private = known.wishes_in(&place(ChatId(4), ChatKind::Private));
    assert_eq!(private.called.as_deref(), Some("Annie"));
    assert_eq!(private.timezone, Some("America/New_York".parse::<Tz>().unwrap()));
    assert_eq!(known.wishes_in(&place(ChatId(-5), ChatKind::Group)), Default::default());
}
