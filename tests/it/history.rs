//! What the model is sent of a conversation: the newest exchange however long it was, keys by which the rest is looked up,
//! never more than the model takes, and what there is where something cannot be loaded.

use std::fs;
use std::os::unix::fs::FileExt;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_base::text::estimate_tokens;
use figaro_config::EngineKind;
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_store::Store;
use serde_json::{Value, json};

use super::agents::MUTE;
use crate::support::calls::asked;
use crate::support::calls::{call, says};
use crate::support::records::{data_file, engine_kind, store_url};
use crate::support::{ANN, BOB, World};

/// A text of so many words with a beginning and an end.
fn story(words: usize) -> String {
    let words: String = (0..words).map(|n| format!("word{n} ")).collect();
    format!("Once {words}they lived happily.")
}

/// The texts of a request's conversation, of messages and results of tools.
pub fn texts(request: &ModelRequest) -> Vec<String> {
    let parts = |content: &Value| match content {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    };
    let text = |item: &Value| item["output"].as_str().map_or_else(|| parts(&item["content"]), str::to_owned);
    request.input().iter().map(text).collect()
}

/// The first key that stands in these texts.
pub fn key_in(texts: &[String]) -> String {
    let found = texts.iter().find_map(|text| {
        let (_, rest) = text.split_once("[session-")?;
        Some(format!("session-{}", rest.split([']', ':']).next()?))
    });
    found.unwrap_or_else(|| panic!("no key: {texts:?}"))
}

#[tokio::test]
async fn an_answer_longer_than_the_history_is_gone_on_with_from_its_end_and_can_be_looked_up() {
    let world = World::new().await;
    let bot = world.bot().set("HISTORY_TOKENS", "500").spawn();
    bot.ready().await;
    let long = story(1_500);
    let first = asked(&world, "Tell me a story", ModelReply::text(&long)).await;
    assert!(!first.tool_names().contains(&"lookup"), "nothing is left out yet");
    says(&world, ANN, "lived happily.").await;

    let next = asked(&world, "Go on", ModelReply::text("And then?")).await;
    let sent = texts(&next);
    assert!(sent[0].contains("Tell me a story"), "{sent:?}");
    assert!(sent[1].starts_with("Once") && sent[1].ends_with("they lived happily."), "{sent:?}");
    let tokens: usize = sent[..2].iter().map(|text| estimate_tokens(text)).sum();
    assert!((300..=500).contains(&tokens), "{tokens}");
    assert!(next.tool_names().contains(&"lookup"), "{:?}", next.tool_names());
    says(&world, ANN, "And then?").await;

    let key = key_in(&sent);
    let (mut read, mut next_key, mut step) = (String::new(), Some(key.clone()), 0);
    while let Some(key) = next_key {
        let page = call(&world, (ANN, ANN), &format!("read on {step}"), "lookup", json!({"key": key})).await;
        read += page["text"].as_str().unwrap_or_else(|| panic!("{page}"));
        next_key = page["next_key"].as_str().map(str::to_owned);
        step += 1;
    }
    assert_eq!(read, long);

    // Bob's chat knows nothing of it.
    asked_by_bob(&world, &key).await;
}

/// Bob has a history with a key of its own, and asks for Ann's.
async fn asked_by_bob(world: &World, key: &str) {
    let card = world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    assert!(card.to_string().contains("Bob (@bob) may talk to me now."), "{card}");
    world.when("my own story", ModelReply::text(&story(900)));
    world.say(BOB, BOB, "my own story");
    says(world, BOB, "lived happily.").await;
    let refused = call(world, (BOB, BOB), "hers", "lookup", json!({"key": key})).await;
    assert_eq!(refused["success"], false, "{refused}");
    assert!(!refused.to_string().contains("word7 "), "{refused}");
    for nonsense in ["", "session-1-msg-2", "session-01ARZ3NDEKTSV4RRFFQ69G5FAV-msg-0"] {
        let said = format!("nonsense {nonsense}!");
        let refused = call(world, (BOB, BOB), &said, "lookup", json!({"key": nonsense})).await;
        assert_eq!(refused["success"], false, "{refused}");
    }
}

#[tokio::test]
async fn results_of_tools_make_room_before_words_do() {
    let world = World::new().await;
    let bot = world.bot().set("HISTORY_TOKENS", "600").spawn();
    bot.ready().await;
    for at in 0..12 {
        let note = json!({"key": "list", "content": format!("item {at} {}", story(20))});
        call(&world, (ANN, ANN), &format!("keep {at}."), "add_note", note).await;
    }
    call(&world, (ANN, ANN), "what is there", "list_notes", json!({})).await;
    let next = asked(&world, "And now?", ModelReply::text("Nothing.")).await;
    let sent = texts(&next);
    assert!(sent[0].contains("what is there"), "the exchange is there: {sent:?}");
    let result = sent.iter().find(|text| text.contains("item 0")).expect("what the tool gave");
    assert!(result.contains("[session-") && result.len() < 2_500, "{result}");
    assert!(sent.iter().any(|text| text == "Dealt with: what is there"), "the answer is whole: {sent:?}");
    assert_eq!(key_in(&sent).matches("-msg-").count(), 1);
}

/// What anybody sees in part they may read on.
#[tokio::test]
async fn an_agent_that_names_no_tools_looks_up_what_it_is_shown_in_part() {
    let world = World::new().await;
    world.agent("mute.yaml", MUTE);
    let bot = world.bot().set("HISTORY_TOKENS", "1500").spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/config agent mute").await;
    let none = asked(&world, "Hello", ModelReply::text("Hi.")).await;
    assert_eq!(none.tool_names(), Vec::<&str>::new());
    says(&world, ANN, "Hi.").await;
    world.told(ANN, ANN, "/new").await;
    let none = asked(&world, "Tell me a story", ModelReply::text(&story(900))).await;
    assert_eq!(none.tool_names(), Vec::<&str>::new(), "no key is shown, though there is more in the chat");
    says(&world, ANN, "lived happily.").await;
    let next = asked(&world, "Go on", ModelReply::text("And then?")).await;
    assert_eq!(next.tool_names(), ["lookup"]);
    says(&world, ANN, "And then?").await;
    let key = json!({"key": key_in(&texts(&next))});
    let page = call(&world, (ANN, ANN), "read on", "lookup", key).await;
    assert!(page["text"].as_str().is_some_and(|text| text.starts_with("Once word0 ")), "{page}");
}

/// After lunch the last answer is what people go on about.
#[tokio::test]
async fn after_a_long_pause_the_last_answer_is_whole_where_it_takes_no_more_than_half_the_room() {
    for (words, is_whole) in [(510, true), (1_500, false)] {
        let world = World::new().await;
        let bot = world.start().await;
        let long = story(words);
        asked(&world, &format!("Hello. {}", story(300)), ModelReply::text("Hi.")).await;
        says(&world, ANN, "Hi.").await;
        asked(&world, "Tell me a story", ModelReply::text(&long)).await;
        says(&world, ANN, "lived happily.").await;
        bot.ends_well().await;
        world.records().change("messages", |message| {
            let at: DateTime<Utc> = message["created_at"].as_str().unwrap().parse().unwrap();
            message["created_at"] = json!(at - TimeDelta::hours(5));
        });
        let bot = world.start().await;
        for more in ["Shorten what you wrote above", "Shorter still"] {
            let short = format!("Short: {more}.");
            let sent = texts(&asked(&world, more, ModelReply::text(&short)).await);
            let of_story = sent.iter().find(|text| text.starts_with("Once word0 ")).unwrap();
            let tokens = estimate_tokens(of_story);
            assert_eq!(*of_story == long, is_whole, "{words} {more}: {of_story}");
            assert!(tokens > 1_000 && tokens < 1_500, "{words} {more}: {tokens}");
            says(&world, ANN, &short).await;
        }
        bot.ends_well().await;
    }
}

/// gpt-4 takes 8,192 tokens, the answer among them.
#[tokio::test]
async fn a_request_fits_the_models_own_window_and_a_question_that_does_not_says_so() {
    let world = World::new().await;
    let bot = world.bot().set("OPENAI_MODEL", "gpt-4").set("HISTORY_TOKENS", "100000").spawn();
    bot.ready().await;
    let window = 8_192;
    for at in 0..3 {
        asked(&world, &format!("story {at}"), ModelReply::text(&story(800))).await;
        world.answers(ANN, at + 1).await;
    }
    // A client splits a long paste into messages of this length.
    let paste = |at| format!("part {at} {}", story(600)).chars().take(4_096).collect::<String>();
    let parts: Vec<String> = (0..6).map(paste).collect();
    let before = world.asked().len();
    world.when("part 5", ModelReply::text("That was long."));
    for part in &parts {
        world.say(ANN, ANN, part);
    }
    says(&world, ANN, "That was long.").await;
    for request in world.asked().split_off(before) {
        let sent = texts(&request);
        let frame = request.body["tools"].to_string() + request.instructions();
        let tokens = sent.iter().map(|text| estimate_tokens(text)).sum::<usize>() + estimate_tokens(&frame);
        assert!(tokens + 2_048 <= window, "{tokens}");
    }
    let all: String = texts(world.asked().last().unwrap()).concat();
    assert!(all.contains("part 5") && all.contains("part 0"), "{all}");
    assert!(all.contains("characters of this message are left out"), "{all}");
}

#[tokio::test]
async fn settings_that_cannot_be_read_do_not_keep_a_question_from_being_answered() {
    let world = World::new().await;
    let bot = world.start().await;
    asked(&world, "Hello", ModelReply::text("Hi.")).await;
    says(&world, ANN, "Hi.").await;
    call(&world, (ANN, ANN), "a note", "add_note", json!({"key": "films", "content": "Alien"})).await;
    call(&world, (ANN, ANN), "in verse", "set_config", json!({"custom_prompt": "Rhyme."})).await;
    bot.ends_well().await;
    for table in ["chats", "notes"] {
        world.records().damage(table);
    }

    let bot = world.start().await;
    let request = asked(&world, "Still there?", ModelReply::text("Yes.")).await;
    says(&world, ANN, "Yes.").await;
    assert!(!request.instructions().contains("Rhyme."), "they are lost");
    assert!(texts(&request).iter().any(|text| text.contains("Hello")), "the history is there");
    bot.logged("a turn goes on without the settings of its chat").await;
}

/// The old messages of a session, each longer than what is kept in memory of a file, and then new ones.
async fn with_old_messages(world: &World, new: usize) {
    let store = world.stored().await;
    let place = ConversationId { chat: ChatId(ANN), topic: None };
    let session = store.conversations().session(place, Clock::system().now()).unwrap().id;
    let old = (0..40).map(|at| format!("old {at} {}", "x".repeat(300_000)));
    for (at, text) in old.chain((0..new).map(|at| format!("new {at}."))).enumerate() {
        let role = [MessageRole::User, MessageRole::Assistant][at % 2];
        store.conversations().append(Message::new(session, role, text, Clock::system().now())).unwrap();
    }
    store.flush().await.unwrap();
}

/// Makes the pages of the store's file unreadable in which old messages stand.
fn damage_old_pages(world: &World) {
    let path = data_file(&world.folder.path().join("data"));
    let bytes = fs::read(&path).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let found = bytes.windows(5).enumerate().filter(|(_, words)| words == b"\"old ");
    let pages: Vec<u64> = found.map(|(at, _)| at as u64 / 4096 * 4096).collect();
    assert!(pages.len() >= 40, "{pages:?}");
    pages.into_iter().for_each(|page| file.write_all_at(&[0x5A; 16], page).unwrap());
}

#[tokio::test]
async fn where_a_session_cannot_be_read_the_model_is_sent_its_ten_newest_messages_or_the_question_alone() {
    if engine_kind() != EngineKind::Redb {
        return;
    }
    // An answer without its question, the tenth newest, is left out.
    for (new, wanted) in [(14, 8), (4, 0)] {
        let world = World::new().await;
        assert!(world.start().await.stop().await.success());
        with_old_messages(&world, new).await;
        let bot = world.start().await;
        damage_old_pages(&world);
        let request = asked(&world, "Still there?", ModelReply::text("Yes.")).await;
        says(&world, ANN, "Yes.").await;
        let sent = texts(&request);
        assert!(sent.last().unwrap().contains("Still there?"), "{sent:?}");
        let is_new = |text: &&String| text.contains("new ");
        assert_eq!(sent.iter().filter(is_new).count(), wanted, "{sent:?}");
        assert!(!sent.concat().contains("old "), "{sent:?}");
        bot.logged("the history could not be read; the turn looks for less of it").await;
        drop(bot);
    }
}

/// A key that a chat took along when it became a supergroup is looked up there.
#[tokio::test]
async fn messages_are_found_by_key_in_their_own_chat_only() {
    use figaro_base::ids::BotId;
    use figaro_domain::conversation::EntryKey;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&store_url(folder.path()), BotId(1)).await.unwrap();
    let (old, new, now) = (ChatId(-5), ChatId(-1_005), chrono::DateTime::UNIX_EPOCH);
    let session = store.conversations().session(ConversationId { chat: old, topic: None }, now).unwrap().id;
    store
        .conversations()
        .append(Message::new(session, MessageRole::Assistant, "words".to_owned(), now))
        .unwrap();
    let found = async |chat, index| {
        let entry = store.conversations().entry(chat, EntryKey { session, index }).unwrap();
        entry.map(|message| message.text)
    };
    assert_eq!(found(old, 0).await.as_deref(), Some("words"));
    assert_eq!((found(old, 1).await, found(new, 0).await), (None, None));
    store.settings().migrate_chat(old, new).await.unwrap();
    assert_eq!(found(new, 0).await.as_deref(), Some("words"));
    assert_eq!(found(old, 0).await, None);
}
