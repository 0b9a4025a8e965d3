//! What holds of any chats: what is found is of the chat that is asked in, once, not shown anyway, within its room, and the same
//! after the index was read again; with an embedder and without.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{Chats, Meaning, RecallQuery, Recalled};
use figaro_base::clock::Clock;
use figaro_base::ids::{BotId, ChatId, EntryId, RunId, SessionId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::estimate_tokens;
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::conversation::{EntryKey, Message, MessageRole};
use figaro_domain::model::ModelName;
use figaro_domain::usage::Payer;
use figaro_ledger::{ConfiguredLimits, Ledger, LedgerParts, RoleOf, Slots};
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedded, Embedder};
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::Imported;
use figaro_store::Store;

const CHATS: usize = 3;
/// So many sessions has each chat.
const SESSIONS: usize = 2;
/// Few, so that questions and messages meet.
const WORDS: [&str; 24] = [
    "garden", "gardens", "Lisbon", "bees", "honey", "train", "late", "Monday", "birthday", "May", "12",
    "cake", "sugar", "doctor", "doctors", "keys", "blue", "the", "and", "with", "abelha", "jardim", "蜂蜜",
    "1,200",
];

/// A message before it is stored.
#[derive(Debug, Clone)]
struct Said {
    chat: usize,
    session: usize,
    words: Vec<usize>,
    by_person: bool,
    importance: f32,
}

fn said() -> impl Strategy<Value = Said> {
    let words = prop_oneof![9 => vec(0..WORDS.len(), 0..14), 1 => vec(0..WORDS.len(), 200..400)];
    let importance = prop_oneof![40 => Just(5.0_f32), 1 => Just(9.0), 1 => Just(10.0)];
    (0..CHATS, 0..SESSIONS, words, any::<bool>(), importance).prop_map(
        |(chat, session, words, by_person, importance)| Said { chat, session, words, by_person, importance },
    )
}

#[derive(Debug, Clone)]
struct Asked {
    chat: usize,
    within: Option<usize>,
    shown: Option<(usize, u32)>,
    words: Vec<usize>,
    tokens: usize,
}

fn asked() -> impl Strategy<Value = Asked> {
    let shown = option::of((0..SESSIONS, 0..200_u32));
    (0..CHATS, option::of(0..SESSIONS), shown, vec(0..WORDS.len(), 0..8), 0..700_usize)
        .prop_map(|(chat, within, shown, words, tokens)| Asked { chat, within, shown, words, tokens })
}

fn text(words: &[usize]) -> String {
    let parts: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
    parts.join(" ")
}

fn begin() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

fn chat(number: usize) -> ChatId {
    ChatId(100 + i64::try_from(number).unwrap())
}

fn session(of_chat: usize, number: usize) -> SessionId {
    SessionId::from_bytes([u8::try_from(of_chat * SESSIONS + number + 1).unwrap(); 16])
}

/// Texts with the same words are near each other; those of one half of the words a little too.
#[derive(Debug)]
struct Halves {
    name: &'static str,
    made: AtomicUsize,
}

#[async_trait]
impl Embedder for Halves {
    fn name(&self) -> &str {
        self.name
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(&self, _purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.0_f32; WORDS.len() + 2];
            vector[0] = 0.1;
            for word in text.split_whitespace() {
                let Some(at) = WORDS.iter().position(|known| *known == word) else { continue };
                vector[1 + at] += 1.0;
                vector[if at < WORDS.len() / 2 { 0 } else { WORDS.len() + 1 }] += 0.5;
            }
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter().map(|x| x / length).collect()
        };
        self.made.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(Embedded { vectors: texts.iter().map(vector).collect(), tokens: 1 })
    }
}

struct Scene {
    _folder: TempDir,
    store: Store,
}

impl Scene {
    async fn with(all: &[Said]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = StoreUrl::new(EngineKind::ALL[0], folder.path().join("data"));
        let store = Store::open(&url, BotId(1)).await.unwrap();
        let mut messages: Vec<Vec<Imported>> = vec![Vec::new(); CHATS * SESSIONS];
        for (at, said) in (0_i32..).zip(all) {
            let role = if said.by_person { MessageRole::User } else { MessageRole::Assistant };
            let time = begin() + TimeDelta::minutes(i64::from(at) * 30);
            let mut message = Message::new(session(said.chat, said.session), role, text(&said.words), time);
            message.turn = Some(RunId::new());
            message.importance = said.importance;
            messages[said.chat * SESSIONS + said.session].push(Imported { message, name: at.to_string() });
        }
        for (at, some) in messages.into_iter().enumerate() {
            let (of_chat, number) = (at / SESSIONS, at % SESSIONS);
            store.messages().import(chat(of_chat), session(of_chat, number), some).await.unwrap();
        }
        Self { _folder: folder, store }
    }

    fn chats(&self) -> Chats {
        Chats::new(self.store.messages(), Clock::system())
    }
}

impl Scene {
    /// Chats that go by meaning too.
    async fn chats_by(&self, embedder: &Arc<impl Embedder + 'static>) -> Chats {
        self.chats().with_meaning(Some(self.meaning(embedder).await))
    }

    async fn meaning(&self, embedder: &Arc<impl Embedder + 'static>) -> Meaning {
        let none = ModelName { provider: String::new(), model: String::new() };
        let parts = LedgerParts {
            models: Arc::new(Models::new(Vec::new(), none, Vec::new())),
            store: self.store.usage(),
            prices: Prices::default(),
            limits: ConfiguredLimits::default(),
            roles: RoleOf::default(),
            zone: figaro_base::tz::Tz::UTC,
            clock: Clock::system(),
            background: TaskTracker::new(),
            slots: Arc::new(Slots::default()),
        };
        let ledger = Ledger::open(parts).await.unwrap();
        Meaning::new(embedder.clone(), ledger, Clock::system())
    }
}

fn payer(number: usize) -> Payer {
    Payer::new(chat(number), UserId::telegram(1))
}

async fn found(chats: &Chats, asked: &Asked) -> Vec<Recalled> {
    let words = text(&asked.words);
    let shown = asked.shown.map(|(number, index)| EntryKey { session: session(asked.chat, number), index });
    let question = RecallQuery {
        chat: chat(asked.chat),
        session: asked.within.map(|number| session(asked.chat, number)),
        text: &words,
        before: None,
        asked_at: begin() + TimeDelta::days(90),
        zone: figaro_base::tz::Tz::UTC,
        shown,
        tokens: asked.tokens,
        payer: payer(asked.chat),
    };
    chats.recall(&question).await.unwrap()
}

fn compared(found: &[Recalled]) -> Vec<(EntryId, &str, bool, f32)> {
    found.iter().map(|one| (one.message.id, one.text.as_str(), one.is_part, one.score)).collect()
}

/// What holds of every answer.
fn check(found: &[Recalled], asked: &Asked) -> Result<(), TestCaseError> {
    let own: HashSet<SessionId> = (0..SESSIONS).map(|number| session(asked.chat, number)).collect();
    let mut ids = HashSet::new();
    let mut tokens = 0;
    for one in found {
        prop_assert!(own.contains(&one.message.session), "of another chat: {one:?}");
        prop_assert!(ids.insert(one.message.id), "twice: {one:?}");
        if let Some((number, index)) = asked.shown {
            let is_shown = one.message.session == session(asked.chat, number) && one.message.index >= index;
            prop_assert!(!is_shown, "it is shown anyway: {one:?}");
        }
        if let Some(number) = asked.within {
            let is_within = one.message.session == session(asked.chat, number);
            prop_assert!(is_within || one.message.importance >= 10.0, "of another session: {one:?}");
        }
        prop_assert!(one.is_part || one.text == one.message.text.trim(), "not its text: {one:?}");
        tokens += estimate_tokens(&one.text);
    }
    prop_assert!(tokens <= asked.tokens, "{tokens} of {}", asked.tokens);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_of_its_chat_once_within_its_room_and_the_same_when_read_again(
        all in vec(said(), 1..1_200),
        questions in vec(asked(), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let scene = Scene::with(&all).await;
            let chats = scene.chats();
            for asked in &questions {
                let first = found(&chats, asked).await;
                check(&first, asked)?;
                let again = found(&chats, asked).await;
                prop_assert_eq!(compared(&first), compared(&again), "asked again");
                chats.forget(chat(asked.chat));
                let read_again = found(&chats, asked).await;
                prop_assert_eq!(compared(&first), compared(&read_again), "read from its blocks");
                let after_restart = found(&scene.chats(), asked).await;
                prop_assert_eq!(compared(&first), compared(&after_restart), "after a restart");
                scene.store.messages().drop_index(chat(asked.chat)).unwrap();
                let made_anew = found(&scene.chats(), asked).await;
                prop_assert_eq!(compared(&first), compared(&made_anew), "made anew");
            }
            Ok(())
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn the_same_holds_by_meaning_and_each_message_gets_one_vector(
        all in vec(said(), 1..500),
        questions in vec(asked(), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let scene = Scene::with(&all).await;
            let embedder = Arc::new(Halves { name: "local:halves", made: AtomicUsize::new(0) });
            let chats = scene.chats_by(&embedder).await;
            let mut vectors = 0;
            for number in 0..CHATS {
                vectors += chats.embed_all(&payer(number), figaro_base::tz::Tz::UTC).await.unwrap();
            }
            let said = all.iter().filter(|said| !said.words.is_empty()).count();
            prop_assert_eq!((vectors, embedder.made.load(Ordering::SeqCst)), (said, said));
            for asked in &questions {
                let first = found(&chats, asked).await;
                check(&first, asked)?;
                prop_assert!(first.is_sorted_by(|one, other| one.score >= other.score));
                chats.forget(chat(asked.chat));
                let again = found(&chats, asked).await;
                prop_assert_eq!(compared(&first), compared(&again), "read again");
                let restarted = scene.chats_by(&embedder).await;
                let again = found(&restarted, asked).await;
                prop_assert_eq!(compared(&first), compared(&again), "after a restart");
                prop_assert_eq!(restarted.embed_all(&payer(asked.chat), figaro_base::tz::Tz::UTC).await.unwrap(), 0);
            }
            let other = Arc::new(Halves { name: "local:other", made: AtomicUsize::new(0) });
            let anew = scene.chats_by(&other).await.embed_all(&payer(0), figaro_base::tz::Tz::UTC).await.unwrap();
            let of_chat = all.iter().filter(|said| said.chat == 0 && !said.words.is_empty()).count();
            prop_assert_eq!(anew, of_chat, "by a model of another name");
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn of_vital_messages_that_say_the_same_the_latest_comes() {
    let vital = |words: &[usize]| Said {
        chat: 0,
        session: 0,
        words: words.to_vec(),
        by_person: true,
        importance: 10.0,
    };
    // "the doctor with the keys" and "the keys and the doctors"; then "blue cake".
    let all = [vital(&[17, 13, 19, 17, 15]), vital(&[17, 15, 18, 17, 14]), vital(&[16, 11])];
    let scene = Scene::with(&all).await;
    let asked = Asked { chat: 0, within: None, shown: Some((1, 0)), words: vec![5], tokens: 700 };
    let mut indexes: Vec<u32> =
        found(&scene.chats(), &asked).await.iter().map(|one| one.message.index).collect();
    indexes.sort_unstable();
    assert_eq!(indexes, [1, 2]);
    // A question about them gets what bears on it.
    let about = Asked { words: vec![15], ..asked };
    assert_eq!(found(&scene.chats(), &about).await.len(), 3);
}

#[tokio::test]
async fn importance_selects_where_no_word_does_as_long_as_there_is_room() {
    let words = |number: usize| vec![number % 3, 3 + number % 5, 8 + number % 7];
    let mut all: Vec<Said> = (0..5_001)
        .map(|number| Said { chat: 0, session: 0, words: words(number), by_person: true, importance: 5.0 })
        .collect();
    // "abelha jardim", which no other message says.
    all[0] = Said { words: vec![20, 21], importance: 9.0, ..all[0].clone() };
    let scene = Scene::with(&all).await;
    let chats = scene.chats();
    chats.index_all(chat(0), figaro_base::tz::Tz::UTC).await.unwrap();
    let asked = Asked { chat: 0, within: None, shown: Some((0, 4_990)), words: vec![3, 5], tokens: 2_400 };
    let is_there = |found: &[Recalled]| found.iter().any(|one| one.message.index == 0);
    assert!(is_there(&found(&chats, &asked).await), "a question about other things");
    assert!(is_there(&found(&chats, &Asked { words: Vec::new(), ..asked.clone() }).await), "without words");
    let elsewhere = Asked { within: Some(1), shown: None, ..asked.clone() };
    assert!(!is_there(&found(&chats, &elsewhere).await), "another session begins anew");
    assert!(!is_there(&found(&chats, &Asked { chat: 1, ..asked }).await), "asked in another chat");
}

#[tokio::test]
async fn a_taste_that_a_question_began_with_comes_with_later_questions_that_share_no_word_with_it() {
    for (first, is_there) in [
        ("I prefer trains over planes, how do I get to Lyon?", true),
        ("Trains are faster than planes, how do I get to Lyon?", false),
    ] {
        let scene = Scene::with(&[]).await;
        let later = (0..200).map(|number| format!("The doctor has {number} bees."));
        let all = std::iter::once(first.to_owned()).chain(later).enumerate().map(|(at, text)| Imported {
            message: Message::new(session(0, 0), MessageRole::User, text, begin()),
            name: at.to_string(),
        });
        scene.store.messages().import(chat(0), session(0, 0), all.collect()).await.unwrap();
        let asked = Asked { chat: 0, within: None, shown: None, words: vec![8], tokens: 600 };
        let found = found(&scene.chats(), &asked).await;
        assert_eq!(found.iter().any(|one| one.text == first), is_there, "{first}");
    }
}

/// Does not answer a question before it may.
#[derive(Debug)]
struct Waiting {
    halves: Halves,
    asked: Notify,
    may_answer: Notify,
}

#[async_trait]
impl Embedder for Waiting {
    fn name(&self) -> &str {
        self.halves.name()
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        if purpose == EmbedPurpose::Question {
            self.asked.notify_one();
            self.may_answer.notified().await;
        }
        self.halves.embed(purpose, texts).await
    }
}

fn plain(words: &[usize]) -> Said {
    Said { chat: 0, session: 0, words: words.to_vec(), by_person: true, importance: 5.0 }
}

#[tokio::test]
async fn while_the_vector_of_a_question_is_made_the_index_is_free_and_may_be_dropped() {
    let scene = Scene::with(&[plain(&[0, 1]), plain(&[8, 9]), plain(&[2, 10])]).await;
    let halves = Halves { name: "local:halves", made: AtomicUsize::new(0) };
    let embedder = Arc::new(Waiting { halves, asked: Notify::new(), may_answer: Notify::new() });
    let chats = scene.chats_by(&embedder).await;
    chats.embed_all(&payer(0), figaro_base::tz::Tz::UTC).await.unwrap();
    let asked = Asked { chat: 0, within: None, shown: Some((1, 0)), words: vec![0], tokens: 700 };
    let meanwhile = async {
        embedder.asked.notified().await;
        let is_free = chats.of(chat(0)).try_lock().is_ok();
        // As an erasure does.
        chats.without(chat(0), async {}).await;
        embedder.may_answer.notify_one();
        is_free
    };
    let (first, is_free) = futures::join!(found(&chats, &asked), meanwhile);
    assert!(is_free);
    embedder.may_answer.notify_one();
    assert_eq!(compared(&first), compared(&found(&chats, &asked).await));
    assert!(first.iter().any(|one| one.message.index == 0), "{first:?}");
}

/// Has no budget for some questions, and fails at others.
#[derive(Debug)]
struct Capped(Halves);

#[async_trait]
impl Embedder for Capped {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        match texts.first().copied() {
            Some("capped") => Err(EmbedError::OverBudget),
            Some("broken") => Err(EmbedError::Unusable(String::new())),
            _ => self.0.embed(purpose, texts).await,
        }
    }
}

#[tokio::test]
async fn a_person_without_a_budget_does_not_end_search_by_meaning_for_others() {
    let scene = Scene::with(&[]).await;
    let halves = Halves { name: "local:halves", made: AtomicUsize::new(0) };
    let meaning = scene.meaning(&Arc::new(Capped(halves))).await;
    for (words, is_found) in [("capped", true), ("broken", false)] {
        for _ in 0..3 {
            assert!(meaning.of_question(words, payer(0)).await.is_none());
        }
        assert_eq!(meaning.of_question("bees", payer(1)).await.is_some(), is_found, "{words}");
    }
}

#[tokio::test]
async fn an_index_that_is_in_use_does_not_leave_for_the_room_of_another() {
    const MUCH: usize = 1 << 30;
    let scene = Scene::with(&[]).await;
    let chats = scene.chats();
    let place = chats.of(chat(0));
    let held = place.lock().await;
    chats.measured(chat(0), MUCH);
    drop(chats.of(chat(1)));
    chats.measured(chat(1), MUCH);
    assert!(chats.of(chat(0)).try_lock().is_err(), "an erasure waits for whoever reads it");
    drop(held);
    drop(place);
    chats.measured(chat(1), MUCH);
    assert_eq!(chats.bytes(), MUCH, "nobody uses it now");
}
