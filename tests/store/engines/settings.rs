//! Notes, settings, access, and the health of it all.

use figaro_base::ids::{ChatId, PersonaId, RunId, SessionId, UserId};
use figaro_domain::access::{AccessChange, OwnerInvite};
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{
    AnswerFormat, AnswerWhen, ChatConfig, ConfigPatch, PackChange, PersonaChoice, VoiceMode,
};
use figaro_domain::code::CodeHash;
use figaro_domain::config_change::{ChangingTurn, Setting};
use figaro_domain::generation::Generation;
use figaro_store::Added;
use tokio::task::JoinSet;

use super::{Backend, CHAT, at, note, words};

pub(super) async fn notes_come_back_oldest_first(backend: &dyn Backend) {
    let store = backend.open().await;
    let kept = [note(CHAT, "b", "bread", 1), note(CHAT, "a", "milk", 2), note(CHAT, "b", "salt", 3)];
    let [bread, milk, salt] = kept.clone();
    for note in [&salt, &bread, &milk, &note(ChatId(4), "b", "elsewhere", 0)] {
        store.notes().restore(note).await.unwrap();
    }
    let store = backend.reopen(store).await;
    assert_eq!(store.notes().of_chat(CHAT).unwrap(), kept);
    assert_eq!(store.notes().remove(ChatId(4), milk.id).await.unwrap(), None);
    assert_eq!(store.notes().remove(CHAT, milk.id).await.unwrap(), Some(milk.clone()));
    assert_eq!(store.notes().remove(CHAT, milk.id).await.unwrap(), None);
    assert_eq!(store.notes().of_chat(CHAT).unwrap(), [bread.clone(), salt.clone()]);
    store.notes().restore(&milk).await.unwrap();
    assert_eq!(store.notes().of_chat(CHAT).unwrap(), kept);

    assert_eq!(store.notes().clear(CHAT, Some("c")).await.unwrap(), []);
    assert_eq!(store.notes().clear(CHAT, Some("b")).await.unwrap(), [bread, salt]);
    let store = backend.reopen(store).await;
    assert_eq!(store.notes().clear(CHAT, None).await.unwrap(), [milk]);
    assert_eq!(store.notes().of_chat(CHAT).unwrap(), []);
    assert_eq!(store.notes().of_chat(ChatId(4)).unwrap().len(), 1);
}

/// The change that makes the settings of a chat these.
fn patch_of(config: &ChatConfig) -> ConfigPatch {
    ConfigPatch {
        pack: Some(PackChange { name: "eldercare".to_owned(), is_chosen: true }),
        custom_prompt: Some(config.custom_prompt.clone()),
        language: Some(None),
        personality: Some(config.personality.clone()),
        timezone: Some(config.timezone),
        answer_when: Some(config.answer_when),
        voice: Some(config.voice),
        eyes: Some(config.eyes),
        cost: Some(config.cost),
        quiet_hours: Some(config.quiet_hours),
        welcome: Some(config.welcome.clone()),
        format: Some(config.format),
        agent: Some(config.agent.clone()),
        persona: Some(config.persona.clone()),
        model: Some(config.model.clone()),
        settings: Some(Generation::default()),
        setting: Some(("temperature".into(), Some("0.5".into()))),
        zone_asked: config.zone_asked,
    }
}

pub(super) async fn chats_have_settings(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(store.settings().chat_config(CHAT).unwrap(), ChatConfig::default());
    let config = ChatConfig {
        packs: vec!["eldercare".to_owned()],
        custom_prompt: Some("Be brief.".into()),
        language: None,
        personality: Some(String::new()),
        written_in: figaro_domain::chat::TextTurns::default(),
        timezone: Some("Europe/Berlin".parse().unwrap()),
        answer_when: AnswerWhen::Always,
        voice: VoiceMode::Reply,
        eyes: true,
        cost: true,
        quiet_hours: Some("22:00-7".parse().unwrap()),
        welcome: Some("Hello NAME!".into()),
        format: AnswerFormat::Plain,
        agent: Some("tutor".into()),
        persona: Some(PersonaChoice::Own { id: PersonaId::new(), name: "Pirate".into() }),
        model: Some("ollama:qwen3:8b".parse().unwrap()),
        settings: Generation { temperature: Some(0.5), ..Generation::default() },
        zone_asked: Some(at(7)),
    };
    let change = patch_of(&config);
    assert_eq!(store.settings().change_chat_config(CHAT, change).await.unwrap(), config);
    let store = backend.reopen(store).await;
    assert_eq!(store.settings().chat_config(CHAT).unwrap(), config);
    assert_eq!(store.settings().chat_config(ChatId(4)).unwrap(), ChatConfig::default());
    assert_eq!(store.settings().change_chat_config(CHAT, ConfigPatch::default()).await.unwrap(), config);
    let clear = ConfigPatch { custom_prompt: Some(None), ..ConfigPatch::default() };
    let cleared = store.settings().change_chat_config(CHAT, clear).await.unwrap();
    assert_eq!(cleared, ChatConfig { custom_prompt: None, ..config });
    // Nobody is asked twice where they are, and no model gets rid of the agent that holds it.
    let cleared = ChatConfig {
        zone_asked: Some(at(7)),
        voice: VoiceMode::Reply,
        eyes: true,
        cost: true,
        welcome: Some("Hello NAME!".into()),
        agent: Some("tutor".into()),
        packs: vec!["eldercare".to_owned()],
        ..ChatConfig::default()
    };
    assert_eq!(store.settings().change_chat_config(CHAT, ConfigPatch::reset()).await.unwrap(), cleared);
}

pub(super) async fn what_a_turn_changes_can_be_undone(backend: &dyn Backend) {
    let store = backend.open().await;
    let language = |to: &str| ConfigPatch { language: Some(Some(to.to_owned())), ..ConfigPatch::default() };
    let tone = |to: &str| ConfigPatch { personality: Some(Some(to.to_owned())), ..ConfigPatch::default() };
    let (run, other) = (RunId::new(), RunId::new());
    let turn = |run, seconds| ChangingTurn { run, moved: Vec::new(), at: at(seconds) };
    store.settings().change_chat_config(CHAT, language("Latvian")).await.unwrap();
    for (change, seconds) in [(language("Greek"), 1), (tone("dry"), 2), (language("German"), 3)] {
        store.settings().change_chat_config_in_turn(CHAT, change, turn(run, seconds)).await.unwrap();
    }
    let store = backend.reopen(store).await;
    let kept = store.settings().config_change(run).unwrap().unwrap();
    assert_eq!((kept.chat, kept.changed_at, kept.undone), (CHAT, at(3), false));
    assert_eq!(
        (kept.before.language.as_deref(), kept.after.language.as_deref()),
        (Some("Latvian"), Some("German"))
    );
    assert_eq!((kept.before.personality.as_deref(), kept.after.personality.as_deref()), (None, Some("dry")));
    assert_eq!(store.settings().config_change(other).unwrap(), None);
    assert_eq!(store.settings().undo_config_change(other, at(4)).await.unwrap(), None);
    // What changes nothing is no change.
    store.settings().change_chat_config_in_turn(CHAT, tone("dry"), turn(other, 4)).await.unwrap();
    assert_eq!(store.settings().config_change(other).unwrap(), None);
    // A group that moves takes along what can be undone.
    let new = ChatId(-9);
    store.settings().migrate_chat(CHAT, new).await.unwrap();
    store.settings().change_chat_config(new, tone("loud")).await.unwrap();
    let (change, restored) = store.settings().undo_config_change(run, at(5)).await.unwrap().unwrap();
    assert_eq!((change.chat, change.undone, restored), (new, true, vec![Setting::Language]));
    let store = backend.reopen(store).await;
    let now = store.settings().chat_config(new).unwrap();
    assert_eq!((now.language.as_deref(), now.personality.as_deref()), (Some("Latvian"), Some("loud")));
    let (change, restored) = store.settings().undo_config_change(run, at(6)).await.unwrap().unwrap();
    assert_eq!((change.undone, restored), (true, vec![]));
    // Old ones are forgotten.
    const DAY: i64 = 24 * 3600;
    store.settings().change_chat_config_in_turn(CHAT, tone("calm"), turn(other, 2 * DAY + 4)).await.unwrap();
    assert_eq!(store.settings().config_change(run).unwrap(), None);
    assert!(store.settings().config_change(other).unwrap().is_some());
}

pub(super) async fn settings_lose_no_change(backend: &dyn Backend) {
    let store = backend.open().await;
    let some = || Some(Some("x".to_owned()));
    let changes = [
        ConfigPatch { custom_prompt: some(), ..ConfigPatch::default() },
        ConfigPatch { language: some(), ..ConfigPatch::default() },
        ConfigPatch { personality: some(), ..ConfigPatch::default() },
        ConfigPatch { timezone: Some(Some("Asia/Tokyo".parse().unwrap())), ..ConfigPatch::default() },
        ConfigPatch { answer_when: Some(AnswerWhen::Off), ..ConfigPatch::default() },
    ];
    for round in 0..10 {
        let chat = ChatId(round);
        let mut tasks = JoinSet::new();
        for change in changes.clone() {
            let store = store.clone();
            tasks.spawn(async move { store.settings().change_chat_config(chat, change).await.unwrap() });
        }
        let expected = ChatConfig {
            custom_prompt: some().flatten(),
            language: some().flatten(),
            personality: some().flatten(),
            timezone: Some("Asia/Tokyo".parse().unwrap()),
            answer_when: AnswerWhen::Off,
            ..ChatConfig::default()
        };
        // Whoever came last was told of all the others.
        assert!(tasks.join_all().await.contains(&expected));
        assert_eq!(store.settings().chat_config(chat).unwrap(), expected);
    }
}

pub(super) async fn a_note_is_added_once_and_within_the_limit(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut tasks = JoinSet::new();
    for writer in 0..64 {
        let store = store.clone();
        let note = note(CHAT, "list", &format!("item {}", writer % 16), writer);
        tasks.spawn(async move { (note.id, store.notes().add(&note, 10).await.unwrap()) });
    }
    let outcomes = tasks.join_all().await;
    let kept = backend.reopen(store).await.notes().of_chat(CHAT).unwrap();
    let new: Vec<_> = outcomes.iter().filter(|(_, added)| *added == Added::New).map(|(id, _)| *id).collect();
    assert_eq!((kept.len(), new.len()), (10, 10));
    assert!(kept.iter().all(|note| new.contains(&note.id)));
    for (_, added) in outcomes {
        assert!(!matches!(added, Added::Already(id) if !new.contains(&id)));
    }
}

pub(super) async fn the_same_note_is_one_of_the_same_list_and_chat(backend: &dyn Backend) {
    let store = backend.open().await;
    let milk = note(CHAT, "list", "milk", 0);
    let cases = [
        (milk.clone(), 1, Added::New),
        (note(CHAT, "list", "milk", 9), 1, Added::Already(milk.id)),
        (note(CHAT, "list", "salt", 0), 1, Added::Full),
        (note(CHAT, "list", "Milk", 0), 2, Added::New),
        (note(CHAT, "other", "milk", 0), 3, Added::New),
        (note(ChatId(4), "list", "milk", 0), 1, Added::New),
    ];
    for (note, limit, expected) in cases {
        assert_eq!(store.notes().add(&note, limit).await.unwrap(), expected, "{note:?}");
    }
    assert_eq!(store.notes().of_chat(CHAT).unwrap().len(), 3);
}

pub(super) async fn access_loses_no_change(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut tasks = JoinSet::new();
    for user in 0..64 {
        let store = store.clone();
        let change = AccessChange::AllowUser(UserId::telegram(user / 2));
        tasks.spawn(async move { store.settings().change_access(change, AuditActor::Bot).await.unwrap() });
    }
    let effective = tasks.join_all().await.into_iter().filter(|changed| *changed).count();
    assert_eq!(effective, 32);
    let invite = AccessChange::Invite { invite: OwnerInvite::new("c0de", at(0)), at: at(0) };
    assert!(store.settings().change_access(invite, AuditActor::Bot).await.unwrap());
    let store = backend.reopen(store).await;
    assert_eq!(store.settings().access().unwrap().users.len(), 32);
    let redeem = AccessChange::Redeem { code: CodeHash::of("c0de"), user: UserId::telegram(9), at: at(1) };
    assert!(store.settings().change_access(redeem.clone(), AuditActor::Bot).await.unwrap());
    assert!(!store.settings().change_access(redeem, AuditActor::Bot).await.unwrap());
    assert_eq!(store.settings().access().unwrap().owners, [UserId::telegram(9)]);
}

pub(super) async fn strangers_are_greeted_once_until_they_are_forgotten(backend: &dyn Backend) {
    let store = backend.open().await;
    let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
    assert!(store.settings().greet_stranger(&ann, at(1)).unwrap());
    assert!(!store.settings().greet_stranger(&ann, at(5)).unwrap());
    assert!(store.settings().greet_stranger(&bob, at(3)).unwrap());
    let store = backend.reopen(store).await;
    assert!(!store.settings().greet_stranger(&bob, at(6)).unwrap());
    assert_eq!(store.settings().forget_strangers(at(3)).unwrap(), 1);
    assert_eq!(store.settings().forget_strangers(at(3)).unwrap(), 0);
    assert!(store.settings().greet_stranger(&ann, at(7)).unwrap());
    assert!(!store.settings().greet_stranger(&bob, at(7)).unwrap());
}

pub(super) async fn a_sound_store_says_so(backend: &dyn Backend) {
    let store = backend.open().await;
    store.conversations().append(words(SessionId::new(), &"x".repeat(50_000))).unwrap();
    store.flush().await.unwrap();
    let health = store.health().await.unwrap();
    // A database compresses.
    assert!(health.bytes >= 20_000, "{health:?}");
    assert_eq!(health.unreadable, 0);
}
