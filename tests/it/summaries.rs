//! Summaries of what was said: made in the background, without a gap and each once through kills, told in the prompt where the
//! messages are not, made anew after an edit, within their share of the caps.

use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_domain::conversation::ConversationId;
use figaro_domain::summary::Summary;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::Say;
use serde_json::{Value, json};

use super::history::texts;
use super::memories::{ON, remembered, tells};
use crate::support::bot::Recipe;
use crate::support::calls::says;
use crate::support::output::refused;
use crate::support::wait::{eventually, recorded};
use crate::support::{ANN, Bot, World};

/// Logs each summary that is made.
const LOG: &str = "info,figaro_agent::turn::summaries=debug";

/// A bot that shows few messages and summarises early.
fn recipe(world: &World) -> Recipe {
    world.bot().set("SUMMARY_EVERY", "6").set("HISTORY_TOKENS", "900").set("RUST_LOG", LOG)
}

async fn started(recipe: &Recipe) -> Bot {
    let bot = recipe.spawn();
    bot.ready().await;
    bot
}

/// An exchange with a number of its own; gives Telegram's id of the question.
async fn exchange(world: &World, number: usize) -> i64 {
    let said = format!("Question {number}. What of the train to Riga?");
    let answer = format!("Answer {number}{}.", ", it was late and full again".repeat(6));
    world.when(&said, ModelReply::text(&answer).usage(100, 10));
    let sent = world.say(ANN, ANN, &said).message_id;
    says(world, ANN, &format!("Answer {number},")).await;
    sent
}

async fn exchanges(world: &World, numbers: std::ops::Range<usize>) {
    for number in numbers {
        exchange(world, number).await;
    }
}

/// What the model writes as a summary.
fn made(words: &str, importance: u8) -> ModelReply {
    ModelReply::text(&json!({"summary": words, "importance": importance}).to_string()).usage(400, 100)
}

/// Waits until the model was asked for so many summaries, and gives the requests.
async fn summaries_asked(world: &World, count: usize) -> Vec<ModelRequest> {
    world.asked_for(OfflineModel::summary_requests, "", count).await
}

/// Waits until so many summaries were stored since the first bot of the world started.
async fn stored(bot: &Bot, count: usize) {
    bot.logged_times("is_stored=true", count).await;
}

/// What stands in the store of a bot that has stopped, after it was seen that the summaries tile the session.
async fn tiled(world: &World) -> Vec<Summary> {
    let store = world.stored().await;
    let here = ConversationId { chat: ChatId(ANN), topic: None };
    let session = store.sessions().current(here).unwrap().unwrap();
    let all = store.summaries().of_session(session).unwrap();
    let messages = store.conversations().recent(session, 1_000).unwrap();
    let mut next = 0;
    for summary in &all {
        assert_eq!(summary.start, next, "{all:?}");
        assert_eq!(summary.message_count, summary.end - summary.start + 1);
        next = summary.end + 1;
    }
    assert!(usize::try_from(next).unwrap() < messages.len() + 20, "{all:?}");
    all
}

/// What a request tells of summaries; empty for nothing.
fn told(request: &ModelRequest) -> String {
    let body = request.body.to_string();
    body.split("<summaries>").skip(1).filter_map(|rest| rest.split("</summaries>").next()).collect()
}

/// Asks something, and gives the request that it made.
async fn asks(world: &World, words: &str) -> ModelRequest {
    let before = world.asked().len();
    world.when(words, ModelReply::text(&format!("Done: {words}")).usage(100, 10));
    world.say(ANN, ANN, words);
    let request = world.asks(before + 1).await;
    says(world, ANN, &format!("Done: {words}")).await;
    request
}

#[tokio::test]
async fn what_no_longer_fits_is_told_in_summaries_that_have_no_gaps() {
    let world = World::new().await;
    // Whose answers can be held to a schema.
    let recipe = recipe(&world).set("OPENAI_MODEL", "gpt-4.1-mini");
    let bot = started(&recipe).await;
    exchanges(&world, 0..2).await;
    assert_eq!(world.model.summary_requests().len(), 0, "it is not time yet");
    // One waits for its model: turns go on meanwhile.
    let gate = Gate::new();
    world.script.summarise_next(made("Ann takes the train to Riga on Friday.", 8).behind(&gate));
    exchange(&world, 2).await;
    let asked = summaries_asked(&world, 1).await;
    exchanges(&world, 3..5).await;
    gate.open();
    stored(&bot, 1).await;
    assert!(asked[0].instructions().starts_with("You summarise conversations."));
    let words = asked[0].user_text();
    assert!(
        words.contains("<said by=\"Ann\" on=\"")
            && words.contains("Question 0.")
            && words.contains("Answer 0")
    );
    assert!(!words.contains("Question 2."), "the newest stays out: {words}");
    assert_eq!(asked[0].body["text"]["format"]["name"], "summary", "held to a schema");
    exchanges(&world, 5..9).await;
    stored(&bot, 2).await;
    let request = asks(&world, "When do I go?").await;
    let summaries = told(&request);
    assert!(summaries.contains("Ann takes the train to Riga on Friday."), "{}", request.body);
    let shown = texts(&request);
    assert!(!shown[..shown.len() - 1].concat().contains("Question 0."), "its messages are not shown");
    bot.ends_well().await;
    let all = tiled(&world).await;
    assert!(all.len() >= 2, "{all:?}");
    assert_eq!((all[0].summary.as_str(), all[0].importance), ("Ann takes the train to Riga on Friday.", 8.0));
    // Switched off, those that there are stay, and are told.
    let asked = world.model.summary_requests().len();
    let bot = started(&recipe.clone().set("SUMMARY_EVERY", "0")).await;
    exchanges(&world, 9..14).await;
    assert!(told(&asks(&world, "When was it again?").await).contains("on Friday"));
    bot.ends_well().await;
    assert_eq!(world.model.summary_requests().len(), asked);
    assert_eq!(tiled(&world).await, all);
    let message = refused(&world, &recipe.clone().set("SUMMARY_EVERY", "3")).await;
    assert!(message.contains("SUMMARY_EVERY") && message.contains("from 4 to 1000"), "{message}");
}

/// Each of them alone, then all: the model is sent the newest messages and the question.
#[tokio::test]
async fn what_is_kept_of_before_and_cannot_be_read_is_left_out_and_the_question_is_answered() {
    let world = World::new().await;
    let recipe = recipe(&world).set("HISTORY_TOKENS", "600").set(ON.0, ON.1);
    let mut bot = started(&recipe).await;
    world.script.summarise_next(made("Ann takes the train to Riga on Friday.", 8));
    tells(&world, ANN, Say::new(ANN, ANN, "I work as a cook."), "I work as a cook").await;
    remembered(&world, ANN, "cook").await;
    world.told(ANN, ANN, "/pin The platform is 7.").await;
    exchanges(&world, 0..6).await;
    stored(&bot, 1).await;
    let kept = [("summaries", "on Friday"), ("memories", "work as a cook</"), ("pins", "The platform is 7.")];
    let asked = asks(&world, "When do I go?").await.body.to_string();
    assert!(
        asked.contains("on Friday") && asked.contains("platform is 7") && asked.contains("a cook"),
        "{asked}"
    );
    for (number, (table, words)) in kept.into_iter().enumerate() {
        bot.ends_well().await;
        let records = world.records();
        let all = records.all(table);
        assert!(!all.is_empty(), "{table}");
        for (key, _) in all {
            records.put(table, &key, r#"{"half a rec"#);
        }
        drop(records);
        bot = started(&recipe).await;
        let question = format!("And the way back, number {number}?");
        let request = asks(&world, &question).await;
        let shown = texts(&request);
        assert!(shown.last().unwrap().contains(&question), "{table}: {shown:?}");
        assert!(shown.iter().any(|text| text.contains("Done: ")), "{table}, the newest: {shown:?}");
        let told = shown[0].clone() + shown.last().unwrap();
        assert!(!told.contains(words), "{table}: {told}");
    }
    bot.ends_well().await;
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn killed_at_any_moment_every_run_is_summarised_once() {
    // While the model is asked.
    let world = World::new().await;
    let bot = started(&recipe(&world)).await;
    let gate = Gate::new();
    world.script.summarise_next(made("Never heard.", 5).behind(&gate));
    exchanges(&world, 0..3).await;
    summaries_asked(&world, 1).await;
    // That the last answer was confirmed is on record a moment later; until then a kill repeats it.
    recorded().await;
    bot.kill();
    let bot = started(&recipe(&world)).await;
    let asked = summaries_asked(&world, 2).await;
    assert_eq!(asked[0].user_text(), asked[1].user_text(), "the same run, without another word of Ann's");
    stored(&bot, 1).await;
    bot.ends_well().await;
    assert_eq!(tiled(&world).await.len(), 1);

    // Around the moment that it is stored, and around the end of the turn.
    for after_ms in [0, 2, 5, 10, 25, 60] {
        let world = World::new().await;
        let bot = started(&recipe(&world)).await;
        let gate = Gate::new();
        world.script.summarise_next(made("The first.", 5).behind(&gate));
        exchanges(&world, 0..3).await;
        if after_ms % 2 == 0 {
            summaries_asked(&world, 1).await;
            gate.open();
        }
        tokio::time::sleep(Duration::from_millis(after_ms)).await;
        bot.kill();
        gate.open();
        let bot = started(&recipe(&world)).await;
        exchanges(&world, 3..6).await;
        bot.logged("is_stored=true").await;
        bot.ends_well().await;
        let all = tiled(&world).await;
        assert!((1..=3).contains(&all.len()), "after {after_ms} ms: {all:?}");
        assert!(all.iter().all(|summary| !summary.is_stale()));
    }
}

#[tokio::test]
async fn an_edit_of_an_answered_message_is_stored_and_its_summary_is_made_anew() {
    let world = World::new().await;
    let bot = started(&recipe(&world)).await;
    world.script.summarise_next(made("Ann has the code 4711.", 9));
    world.when("My code is 4711", ModelReply::text("Noted."));
    let first = world.say(ANN, ANN, "My code is 4711").message_id;
    says(&world, ANN, "Noted.").await;
    exchanges(&world, 0..7).await;
    stored(&bot, 3).await;
    assert!(told(&asks(&world, "What is it?").await).contains("4711"));
    stored(&bot, 4).await;

    let gate = Gate::new();
    let before = world.model.summary_requests().len();
    world.script.summarise_next(made("Never stored: it is of the edit before.", 9).behind(&gate));
    world.telegram.edit(ANN, ANN, first, "My code is secret").unwrap();
    let asked = summaries_asked(&world, before + 1).await;
    assert!(asked[before].user_text().contains("My code is secret"), "{}", asked[before].user_text());
    assert!(!asked[before].user_text().contains("4711"));
    let meanwhile = asks(&world, "And now?").await.body.to_string();
    assert!(
        !meanwhile.contains("Ann has the code 4711") && !meanwhile.contains("My code is 4711"),
        "{meanwhile}"
    );
    // Edited once more while it is made.
    world.telegram.edit(ANN, ANN, first, "My code is nobody's").unwrap();
    world.caught_up().await;
    world.script.summarise_next(made("Ann has a code that is nobody's.", 9));
    gate.open();
    let asked = summaries_asked(&world, before + 2).await;
    assert!(asked.iter().any(|request| request.user_text().contains("code is nobody")));
    bot.logged("is_stored=false").await;
    let mut tries = 0;
    eventually(
        || "the new summary is never told",
        async || {
            tries += 1;
            let request = asks(&world, &format!("Try {tries}?")).await;
            told(&request).contains("a code that is nobody").then_some(())
        },
    )
    .await;
    bot.ends_well().await;
    let all = tiled(&world).await;
    assert_eq!(all[0].summary, "Ann has a code that is nobody's.", "{all:?}");
    let messages = world.records().all("messages");
    let texts: Vec<String> =
        messages.iter().map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect();
    assert!(texts.iter().all(|text| !text.contains("4711\"")) && texts[0].contains("nobody's"), "{texts:?}");
}

#[tokio::test]
async fn a_share_of_the_caps_ends_it_for_the_day_and_it_goes_on_the_next() {
    let world = World::new().await;
    // A tenth of it is room for one summary.
    let recipe = recipe(&world).set("DAILY_TOKENS", "30000");
    let bot = started(&recipe).await;
    let costly = json!({"summary": "The first part.", "importance": 5}).to_string();
    world.script.summarise_next(ModelReply::text(&costly).usage(2_300, 200));
    exchanges(&world, 0..8).await;
    stored(&bot, 1).await;
    exchanges(&world, 8..10).await;
    bot.ends_well().await;
    assert_eq!(
        world.model.summary_requests().len(),
        1,
        "people are answered, and nothing more is summarised"
    );
    let bot = started(&recipe).await;
    exchange(&world, 10).await;
    bot.ends_well().await;
    assert_eq!(world.model.summary_requests().len(), 1, "a restart does not change that");
    // As on the next day: nothing is spent.
    let records = world.records();
    for (key, _) in records.all("spent") {
        records.remove("spent", &key);
    }
    drop(records);
    let bot = started(&recipe).await;
    summaries_asked(&world, 2).await;
    stored(&bot, 2).await;
    bot.ends_well().await;
    assert!(tiled(&world).await.len() >= 2);
}

/// Lets what has to wait be due, in the store of a bot that has stopped; gives how often it was tried.
fn due(world: &World) -> Vec<u64> {
    let mut tries = Vec::new();
    world.records().change("summary_jobs", |job: &mut Value| {
        tries.push(job["tries"].as_u64().unwrap());
        job["not_before"] = json!("1970-01-01T00:00:00Z");
    });
    tries
}

#[tokio::test]
async fn a_model_that_fails_is_asked_again_with_bounds_and_then_done_without() {
    let world = World::new().await;
    let recipe = recipe(&world).set("SUMMARY_EVERY", "12").set("HISTORY_TOKENS", "3000");
    let bot = started(&recipe).await;
    world.script.summarise_next(ModelReply::text("I would rather talk of the weather."));
    exchanges(&world, 0..6).await;
    bot.logged("a session could not be summarised").await;
    exchange(&world, 6).await;
    bot.ends_well().await;
    assert_eq!(world.model.summary_requests().len(), 1, "not at once");
    assert_eq!(due(&world), [2]);
    for (reply, tries) in [
        (ModelReply::status(400, "no such thing"), 3),
        (ModelReply::text(r#"{"summary": "", "importance": 5}"#), 5),
        (ModelReply::text(r#"{"summary": "x", "importance": 50}"#), 7),
    ] {
        world.script.summarise_next(reply);
        let bot = started(&recipe).await;
        bot.logged("a session could not be summarised").await;
        bot.ends_well().await;
        assert_eq!(due(&world), [tries]);
    }
    assert_eq!(tiled(&world).await.len(), 0);
    let asked = world.model.summary_requests().len();
    let bot = started(&recipe).await;
    stored(&bot, 1).await;
    bot.ends_well().await;
    assert_eq!(world.model.summary_requests().len(), asked, "no model is asked any more");
    let all = tiled(&world).await;
    assert!(all[0].summary.contains("Ann: Question"), "{all:?}");
    let bot = started(&recipe).await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(due(&world), Vec::<u64>::new(), "nothing is left to do");
}

#[tokio::test]
async fn what_a_later_try_replaced_is_covered_and_not_told() {
    let world = World::new().await;
    let bot = started(&recipe(&world)).await;
    world.when("What is best?", ModelReply::text("Wrong words."));
    world.say(ANN, ANN, "What is best?");
    says(&world, ANN, "Wrong words.").await;
    world.when("What is best?", ModelReply::text("Right words."));
    world.say(ANN, ANN, "/retry");
    says(&world, ANN, "Right words.").await;
    exchanges(&world, 0..3).await;
    let asked = summaries_asked(&world, 1).await;
    stored(&bot, 1).await;
    bot.ends_well().await;
    let words = asked.iter().map(ModelRequest::user_text).collect::<String>();
    assert!(words.contains("Right words.") && !words.contains("Wrong words."), "{words}");
    assert_eq!(tiled(&world).await[0].start, 0);
}

#[tokio::test]
async fn a_long_session_of_an_older_store_costs_no_more_than_its_newest_part() {
    let world = World::new().await;
    let bot = started(&recipe(&world).set("SUMMARY_EVERY", "0").set("RUST_LOG", "info")).await;
    exchanges(&world, 0..50).await;
    bot.ends_well().await;
    // Twenty summaries of four messages are asked for at most.
    let bot = started(&recipe(&world).set("SUMMARY_EVERY", "4")).await;
    exchange(&world, 50).await;
    stored(&bot, 25).await;
    bot.ends_well().await;
    let all = tiled(&world).await;
    assert!(all[0].summary.contains("Ann: Question 0."), "{:?}", all[0]);
    let asked = world.model.summary_requests().len();
    assert!((15..=20).contains(&asked), "{asked}");
    assert_eq!(all.iter().filter(|summary| summary.summary.starts_with("They exchanged")).count(), asked);
}
