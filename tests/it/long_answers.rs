//! Long answers, histories and results from end to end: what the README promises of them, and no more.

use std::fs;
use std::time::Duration;

use figaro_base::text::estimate_tokens;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use futures::future::join;
use serde_json::json;

use super::history::{key_in, texts};
use crate::support::calls::{call, calls, says};
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, World};

const TUTOR: &str = "type: object
description: Never give the answer to homework.
json_schema_extra: {kind: agent, name: tutor, version: 1, tools: [{name: add_note}]}
";

/// So many words that begin with these letters, each of them only once.
fn words(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n:04}x")).collect()
}

/// An answer of 10,000 characters with all there is in it, and its words as people are to see them.
fn rich(name: &str) -> (String, Vec<String>) {
    let part = |kind: &str, count| words(&format!("{name}{kind}"), count);
    let (before, code, cells, quote, links, after) =
        (part("p", 380), part("c", 130), part("t", 24), part("q", 40), part("l", 20), part("z", 540));
    let paragraphs = |all: &[String]| all.chunks(40).map(|p| p.join(" ")).collect::<Vec<_>>().join("\n\n");
    let lines = code.chunks(5).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n");
    let row = |row: &[String]| format!("| {} |", row.join(" | "));
    let mut rows: Vec<String> = cells.chunks(3).map(row).collect();
    rows.insert(1, "|---|---|---|".to_owned());
    let quoted = quote.chunks(8).map(|line| format!("> {}", line.join(" "))).collect::<Vec<_>>().join("\n");
    let linked = links.iter().map(|l| format!("[{l}](https://example.com/{l}/y)"));
    let linked = linked.collect::<Vec<_>>().join(", ");
    let parts = [
        paragraphs(&before),
        format!("```python\n{lines}\n```"),
        rows.join("\n"),
        quoted,
        linked,
        paragraphs(&after),
    ];
    (parts.join("\n\n"), [before, code, cells, quote, links, after].concat())
}

/// The words of these texts that look like those of [`words`].
fn seen(texts: &[String]) -> Vec<String> {
    let all = texts.join("\n");
    let all = all.split(|c: char| !c.is_alphanumeric());
    all.filter(|w| w.ends_with('x') && w.contains(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
}

fn slowly(answer: &str) -> ModelReply {
    ModelReply::text(answer).paced(0, Duration::from_millis(4))
}

fn count(world: &World, method: &str, chat: i64) -> usize {
    let to = |view: &TelegramView<'_>| {
        view.calls_of(method).iter().filter(|call| call.args.get("chat_id") == Some(&json!(chat))).count()
    };
    world.telegram.view(to)
}

fn few_changes(world: &World, chat: i64) {
    for method in ["editMessageText", "deleteMessage", "deleteMessages"] {
        let count = count(world, method, chat);
        assert!(count <= 2, "{method}: {count}");
    }
}

/// The words that stand in blocks of code.
fn in_code(world: &World, chat: i64) -> Vec<String> {
    let messages = world.telegram.messages(chat);
    let mut found = Vec::new();
    for message in &messages {
        let units: Vec<u16> = text(message).encode_utf16().collect();
        for entity in
            message["entities"].as_array().into_iter().flatten().filter(|e| e["language"] == "python")
        {
            let at = |name: &str| usize::try_from(entity[name].as_i64().unwrap()).unwrap();
            found.push(String::from_utf16(&units[at("offset")..at("offset") + at("length")]).unwrap());
        }
    }
    seen(&found)
}

/// Ann asks, and the answer's last words are waited for; gives the first request of it.
async fn asked(world: &World, said: &str, answer: &str) -> ModelRequest {
    let before = world.asked().len();
    world.when(said, ModelReply::text(answer));
    world.say(ANN, ANN, said);
    let request = world.asks(before + 1).await;
    let end: String = answer.chars().skip(answer.chars().count().saturating_sub(12)).collect();
    says(world, ANN, &end).await;
    request
}

#[tokio::test]
async fn a_20000_character_answer_of_any_script_stands_whole_and_is_gone_on_with() {
    for (name, unit) in
        [("latin", "plain words "), ("emoji", "🎉👩‍👩‍👧🇱🇻"), ("cyrillic", "Жили-были дед да баба. ")]
    {
        let world = World::new().await;
        let bot = world.bot().set("HISTORY_TOKENS", "300").spawn();
        bot.ready().await;
        let long: String = unit.chars().cycle().take(20_000).collect::<String>() + " THE END OF IT";
        asked(&world, "A story please", &long).await;
        let joined: String = world.bot_texts(ANN).concat();
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert!(letters(&joined) == letters(&long), "{name}: the chat has another text");
        let (before, gate) = (world.asked().len(), Gate::new());
        world.when("Go on", ModelReply::call("list_notes", json!({})).behind(&gate));
        world.say(ANN, ANN, "Go on");
        let next = world.asks(before + 1).await;
        let sent = texts(&next);
        assert!(sent[0].contains("A story please"), "{name}: {sent:?}");
        assert!(sent[1].ends_with("THE END OF IT"), "{name}: {sent:?}");
        let tokens: usize = sent[..2].iter().map(|text| estimate_tokens(text)).sum();
        assert!((100..=300).contains(&tokens), "{name}: {tokens}");
        assert!(!sent[1].contains('\u{FFFD}'), "{name}: {sent:?}");
        let key = key_in(&sent[1..2]);
        world.when("Go on", ModelReply::call("lookup", json!({"key": key})));
        world.when("Go on", ModelReply::text("Gone on with."));
        gate.open();
        says(&world, ANN, "Gone on with.").await;
        let last = world.asks(before + 3).await;
        let told = last.tool_results().pop().unwrap().1;
        assert!(told.contains("\"success\":true"), "{name}: {told}");
        assert!(world.refused().is_empty(), "{name}: {:?}", world.refused());
    }
}

#[tokio::test]
async fn every_word_of_a_slow_rich_answer_stands_once_also_after_a_429() {
    for refusals in [0, 1] {
        let world = World::paced().await;
        world.plain(&[ANN]).await;
        let _bot = world.start().await;
        let (answer, wanted) = rich("a");
        assert!(answer.len() >= 9_500, "{}", answer.len());
        world.telegram.fail("sendMessage", PlannedFailure::RetryAfter(1), refusals);
        world.when("Tell me all", slowly(&answer));
        world.say(ANN, ANN, "Tell me all");
        says(&world, ANN, wanted.last().unwrap()).await;
        world.caught_up().await;
        assert_eq!(seen(&world.bot_texts(ANN)), wanted, "{refusals}");
        let code: Vec<String> = wanted.iter().filter(|w| w.starts_with("ac")).cloned().collect();
        assert_eq!(in_code(&world, ANN), code, "{refusals}");
        few_changes(&world, ANN);
        assert_eq!(world.refused().len(), refusals, "{:?}", world.refused());
    }
}

#[tokio::test]
async fn what_was_read_stays_once_where_stop_comes_in_the_middle_also_after_a_429() {
    for refusals in [0, 1] {
        let world = World::paced().await;
        world.plain(&[ANN]).await;
        let _bot = world.start().await;
        let (answer, wanted) = rich("a");
        world.telegram.fail("sendMessage", PlannedFailure::RetryAfter(1), refusals);
        world.when("Tell me all", ModelReply::text(&answer).paced(0, Duration::from_millis(10)));
        world.say(ANN, ANN, "Tell me all");
        world.answers(ANN, 1).await;
        // In the middle of what follows the first message.
        let next = &wanted[seen(&world.bot_texts(ANN)).len() + 20];
        world
            .see("words of the next message", |view| {
                view.drafts(ANN).iter().any(|draft| draft.text.contains(next)).then_some(())
            })
            .await;
        world.say(ANN, ANN, "/stop");
        world.caught_up().await;
        let there = seen(&world.bot_texts(ANN));
        assert!(there.len() > 200 && there.len() < wanted.len(), "{refusals}: {}", there.len());
        assert_eq!(there, wanted[..there.len()], "{refusals}");
        few_changes(&world, ANN);
        assert_eq!(world.refused().len(), refusals, "{:?}", world.refused());
    }
}

#[tokio::test]
async fn long_answers_follow_each_other_in_a_chat_and_go_side_by_side_in_two() {
    let world = World::paced().await;
    world.plain(&[ANN, BOB]).await;
    let _bot = world.start_open().await;
    let all = [("a", ANN), ("b", ANN), ("d", BOB)].map(|(name, chat)| (name, chat, rich(name)));
    for (name, chat, (answer, _)) in &all {
        world.when(&format!("Tell me {name}!"), slowly(answer));
        world.say(*chat, *chat, &format!("Tell me {name}!"));
    }
    let last = |at: usize| all[at].2.1.last().unwrap().clone();
    let (b, d) = (last(1), last(2));
    join(says(&world, ANN, &b), says(&world, BOB, &d)).await;
    world.caught_up().await;
    assert_eq!(seen(&world.bot_texts(ANN)), [all[0].2.1.clone(), all[1].2.1.clone()].concat());
    assert_eq!(seen(&world.bot_texts(BOB)), all[2].2.1);
    few_changes(&world, BOB);
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn keys_of_another_chat_and_of_a_replaced_answer_give_no_text() {
    let world = World::new().await;
    let recipe = world.bot().set("HISTORY_TOKENS", "300").set("ACCESS", "open");
    let bot = recipe.spawn();
    bot.ready().await;
    let story = |name: &str| words(name, 700).join(" ");
    asked(&world, "First story", &story("one")).await;
    let next = asked(&world, "Second story", &story("two")).await;
    let key = key_in(&texts(&next)[1..2]);
    world.when("Second story", ModelReply::text(&story("three")));
    world.say(ANN, ANN, "/retry");
    says(&world, ANN, "three0699x").await;
    let third = asked(&world, "And then", &story("four")).await;
    let sent = texts(&third).join("\n");
    assert!(sent.contains("three0699x") && !sent.contains("two0"), "{sent}");
    let (session, _) = key.rsplit_once('-').unwrap();
    let keys: Vec<String> = (0..9).map(|at| format!("{session}-{at}")).collect();
    let looks = keys.iter().map(|key| ("lookup", json!({"key": key}))).collect();
    let pages = calls(&world, (ANN, ANN), "look at all!", looks).await;
    assert!(pages.iter().any(|page| page["success"] == true), "{pages:?}");
    let old: Vec<_> = pages.iter().filter(|page| page.to_string().contains("two0")).collect();
    // Bob has something left out, too, and so the tool.
    world.when("my story", ModelReply::text(&story("bob")));
    world.say(BOB, BOB, "my story");
    says(&world, BOB, "bob0699x").await;
    let page = call(&world, (BOB, BOB), "hers!", "lookup", json!({"key": key})).await;
    assert_eq!(page["success"], false, "{page}");
    assert!(!page.to_string().contains("one0"), "{page}");
    assert!(old.is_empty(), "the replaced answer is still read by {old:?}");
}

#[tokio::test]
async fn a_member_cannot_choose_an_agent_and_one_whose_file_has_gone_is_as_none() {
    let world = World::new().await;
    world.team();
    let folder = world.folder.path().join("prompts/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tutor.yaml"), TUTOR).unwrap();
    let bot = world.start_open().await;
    let instructions = "Never give the answer to homework.";
    world.otherwise(ModelReply::text("Fine."));
    for form in
        ["/config@figaro_bot agent tutor", "/config@figaro_bot agent TUTOR", "/config@figaro_bot agent none"]
    {
        world.say(BOB, TEAM, form);
        world.caught_up().await;
    }
    world.told(BOB, TEAM, "@figaro_bot question one").await;
    let plain = world.asked().pop().unwrap();
    assert!(!plain.body.to_string().contains(instructions));
    world.told(ANN, TEAM, "/config@figaro_bot agent tutor").await;
    world.say(BOB, TEAM, "/config@figaro_bot agent none");
    world.caught_up().await;
    world.told(BOB, TEAM, "@figaro_bot question two").await;
    let tutored = world.asked().pop().unwrap();
    assert!(tutored.body.to_string().contains(instructions));
    assert_eq!(tutored.tool_names(), ["add_note"]);
    bot.ends_well().await;

    fs::remove_file(folder.join("tutor.yaml")).unwrap();
    let _bot = world.start_open().await;
    world.told(BOB, TEAM, "@figaro_bot question three").await;
    let after = world.asked().pop().unwrap();
    assert!(!after.body.to_string().contains(instructions));
    assert_eq!(after.tool_names(), plain.tool_names());
    let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
    assert!(text(&card).contains("tutor"), "{card}");
}

#[tokio::test]
async fn a_small_window_holds_a_tools_result_of_16000_characters() {
    let world = World::new().await;
    let bot = world.bot().set("OPENAI_MODEL", "gpt-4").spawn();
    bot.ready().await;
    for turn in 0..2 {
        let note = |at: usize| {
            let content = words(&format!("n{}k", turn * 8 + at), 100).join(" ");
            ("add_note", json!({"key": "list", "content": content}))
        };
        let stored = calls(&world, (ANN, ANN), &format!("keep {turn}!"), (0..8).map(note).collect()).await;
        assert!(stored.iter().all(|told| told["success"] == true), "{stored:?}");
    }
    let list = || ReplyPart::Call { name: "list_notes".to_owned(), arguments: json!({}) };
    world.when("what is there", ModelReply::turn(vec![list(), list()]));
    world.when("what is there", ModelReply::text("All of it."));
    let before = world.asked().len();
    world.say(ANN, ANN, "what is there");
    says(&world, ANN, "All of it.").await;
    let requests = world.asked().split_off(before);
    for request in &requests {
        let frame = request.body["tools"].to_string() + request.instructions();
        let sent = texts(request);
        let tokens = sent.iter().map(|t| estimate_tokens(t)).sum::<usize>() + estimate_tokens(&frame);
        assert!(tokens + 1_024 <= 8_192, "{tokens}");
        assert!(sent.iter().any(|text| text.contains("what is there")), "{sent:?}");
    }
    let told = requests.last().unwrap().tool_results();
    let cut = told.iter().filter(|(_, told)| told.contains("… [session-")).count();
    assert!(cut >= 1, "nothing says how the rest is had: {told:?}");
    let longest = told.iter().map(|(_, told)| told.chars().count()).max();
    assert!(longest > Some(500), "the room there is is used: {told:?}");
    let next = asked(&world, "And now?", "Nothing more.").await;
    assert!(texts(&next).iter().any(|text| text == "All of it."), "{:?}", texts(&next));
}
