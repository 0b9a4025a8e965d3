//! What the bot promises for later: an answer that stored nothing for it is written anew before anybody may rely on it.

use std::time::Duration;

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::TelegramView;
use serde_json::json;

use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, World};

const PROMISE: &str = "I'll remind you tomorrow at 9.";
const HONEST: &str = "I do not know the time: nothing is scheduled yet. When shall it be?";
const NOTHING: &str = "⚠️ Nothing new was scheduled: ask me again, with the time.";

#[tokio::test]
async fn a_promise_that_nothing_was_stored_for_is_written_anew() {
    let world = World::paced().await;
    world.script.push(ModelReply::text(PROMISE));
    world.script.push(ModelReply::text(HONEST));
    world.script.push(ModelReply::text("You are welcome."));
    let _bot = world.start().await;
    assert_eq!(text(&world.ask("remind me of the train").await), HONEST);

    let second = world.asks(2).await;
    let names = second.body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone());
    assert!(names.collect::<Vec<_>>().contains(&json!("schedule_task")), "it may be mended by a call");
    assert!(second.user_text().contains("Not from a person"), "{}", second.user_text());
    assert!(second.body["input"].to_string().contains(PROMISE));

    assert_eq!(text(&world.ask("thanks").await), "You are welcome.");
    let third = world.asks(3).await.body["input"].to_string();
    assert!(third.contains(HONEST) && !third.contains(PROMISE) && !third.contains("Not from a person"));
    assert_eq!((world.bot_texts(ANN).len(), world.refused()), (2, Vec::new()));
}

#[tokio::test]
async fn a_promise_made_twice_is_sent_with_what_is_true() {
    let world = World::paced().await;
    world.person(14, "Rui", "pt");
    let again = "Claro! Lembrete definido para as 18:00 ✅";
    for reply in [PROMISE, PROMISE, again, again] {
        world.script.push(ModelReply::text(reply));
    }
    let _bot = world.start_open().await;
    let answer = world.ask("remind me").await;
    assert_eq!(text(&answer), format!("{PROMISE}\n\n{NOTHING}"));
    let answer = world.told(14, 14, "lembra-me").await;
    let told = "⚠️ Nada de novo foi agendado: peça outra vez e diga o horário.";
    assert_eq!(text(&answer), format!("{again}\n\n{told}"));
    assert_eq!(world.asked().len(), 4, "it is written anew once");
}

#[tokio::test]
async fn a_failure_to_write_it_anew_costs_nobody_the_answer() {
    let world = World::paced().await;
    world.script.push(ModelReply::text(PROMISE));
    world.script.push(ModelReply::status(400, "bad request"));
    let _bot = world.start().await;
    let answer = world.ask("remind me").await;
    assert_eq!(text(&answer), format!("{PROMISE}\n\n{NOTHING}"));
}

#[tokio::test]
async fn in_a_group_the_growing_message_becomes_the_new_answer() {
    let world = World::paced().await;
    world.team();
    let [first, second] = [PROMISE, HONEST].map(|begin| format!("{begin} {}", "And more. ".repeat(40)));
    for text in [&first, &second] {
        world.script.push(ModelReply::text(text).paced(12, Duration::from_millis(200)));
    }
    let _bot = world.start_open().await;
    world.say(BOB, TEAM, "@figaro_bot remind us");
    let grown = world.answers(TEAM, 1).await.remove(0);
    assert!(text(&grown).starts_with(PROMISE), "{grown}");
    let find = |view: &TelegramView<'_>| {
        let only = view.bot_messages(TEAM).into_iter().all(|message| text(message) == second.trim());
        only.then_some(())
    };
    world.see("the new answer alone", find).await;
    let edits =
        world.telegram.view(|view| view.calls_of("editMessageText").into_iter().cloned().collect::<Vec<_>>());
    let shown: Vec<&str> = edits.iter().filter_map(|call| call.args["text"].as_str()).collect();
    assert!(shown.iter().filter(|text| text.starts_with(HONEST)).count() >= 2, "it grows too: {shown:?}");
    assert!(!shown.iter().any(|text| text.contains(PROMISE) && text.contains(HONEST)), "{shown:?}");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn other_answers_are_left_alone() {
    let world = World::paced().await;
    let answers =
        ["When shall I remind you?", "> I'll remind you tomorrow\n\nThat was Bob.", "The train leaves at 9."];
    answers.iter().for_each(|answer| world.script.push(ModelReply::text(answer)));
    let _bot = world.start().await;
    for _ in answers {
        world.ask("and?").await;
    }
    assert_eq!(world.asked().len(), answers.len());
}
