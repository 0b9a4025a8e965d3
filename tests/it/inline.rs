//! Questions from chats that the bot is no member of: inline queries and guest messages.

use std::time::Instant;

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{Person, TelegramView};
use serde_json::{Value, json};

use crate::support::scene::{labels, text};
use crate::support::{ANN, BOB, World};

impl World {
    /// Someone types a query; gives its id and the bot's answer.
    async fn typed(&self, who: i64, query: &str) -> (String, Value) {
        let id = self.telegram.inline_query(who, query).unwrap();
        let answer = self.see("the answer to the query", |view| view.query_answer(&id)).await;
        (id, answer)
    }

    /// Someone types a question and sends the first result; gives the message of it.
    async fn asks_elsewhere(&self, who: i64, query: &str) -> String {
        let (id, answer) = self.typed(who, query).await;
        let result = answer["results"][0]["id"].as_str().unwrap_or_else(|| panic!("no result: {answer}"));
        self.telegram.choose(&id, result).unwrap()
    }

    /// Waits until a message elsewhere ends with these words and has no button any more.
    async fn shows_elsewhere(&self, message: &str, words: &str) -> Value {
        let find = |view: &TelegramView<'_>| {
            let last = view.inline_versions(message).last()?;
            (text(last).ends_with(words) && labels(last).is_empty()).then(|| last.clone())
        };
        let found = self.telegram.wait_until(crate::support::TIMEOUT, find).await;
        found.unwrap_or_else(|| {
            let all = self.telegram.view(|view| view.inline_versions(message).to_vec());
            panic!("never seen: {words}; there is {all:?}")
        })
    }

    /// Waits for the guest message of a query, and gives its name.
    async fn guest_answer(&self, query: &str, at: usize) -> String {
        self.see("the answer to the guest", |view| view.query_answer(query)).await;
        self.telegram.view(|view| view.inline_messages()[at].to_owned())
    }
}

#[tokio::test]
async fn a_question_typed_anywhere_is_offered_at_once_and_answered_in_place() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("capital of Peru", ModelReply::text("**Lima**, on the coast.").behind(&gate));
    let _bot = world.start().await;
    let (id, offered) = world.typed(ANN, "capital of Peru?").await;
    assert_eq!(
        (&offered["is_personal"], &offered["results"][0]["title"]),
        (&json!(true), &json!("Ask Figaro"))
    );
    assert_eq!(world.asked().len(), 0, "nothing is asked before a result is sent");
    let message = world.telegram.choose(&id, offered["results"][0]["id"].as_str().unwrap()).unwrap();
    let waiting = world.telegram.view(|view| view.inline_versions(&message)[0].clone());
    assert_eq!(
        (text(&waiting), labels(&waiting)),
        ("capital of Peru?\n\n⏳ One moment…", vec!["Answer".to_owned()])
    );
    world.asks(1).await;
    gate.open();
    let answer = world.shows_elsewhere(&message, "Lima, on the coast.").await;
    assert_eq!(text(&answer), "capital of Peru?\n\nLima, on the coast.");
    let kinds: Vec<&str> =
        answer["entities"].as_array().unwrap().iter().filter_map(|e| e["type"].as_str()).collect();
    assert_eq!(kinds, ["blockquote", "bold"]);
    // Nothing of it is in Ann's own chat, nor in any prompt there.
    assert_eq!(world.bot_texts(ANN), Vec::<String>::new());
    world.when("What did I ask", ModelReply::text("Nothing."));
    world.told(ANN, ANN, "What did I ask?").await;
    assert!(!format!("{:?}", world.asked()[1]).contains("Peru"));
}

#[tokio::test]
async fn the_answer_grows_and_the_asker_alone_can_stop_it() {
    let world = World::new().await;
    world.when("a long story", ModelReply::text("Once upon a time there was more.").hang_after(2));
    let _bot = world.start().await;
    let message = world.asks_elsewhere(ANN, "a long story").await;
    let growing = world
        .see("the first words", |view| {
            let last = view.inline_versions(&message).last()?;
            text(last).contains("Once upon").then(|| last.clone())
        })
        .await;
    assert_eq!(labels(&growing), ["⏹ Stop"]);
    let press = world.telegram.press_inline(BOB, &message, "inline:stop").unwrap();
    let told = world.see("an answer", |view| view.callback_answer(&press).cloned()).await;
    assert_eq!(told["text"], "Only the person who asked can do that.");
    world.telegram.press_inline(ANN, &message, "inline:stop").unwrap();
    let stopped = world.shows_elsewhere(&message, "— stopped").await;
    assert!(text(&stopped).contains("Once upon a time"), "{stopped}");
}

#[tokio::test]
async fn without_feedback_from_telegram_the_button_asks() {
    let world = World::new().await;
    world.when("capital of Peru", ModelReply::text("Lima."));
    let _bot = world.start().await;
    let (id, offered) = world.typed(ANN, "capital of Peru").await;
    let data =
        offered["results"][0]["reply_markup"]["inline_keyboard"][0][0]["callback_data"].as_str().unwrap();
    let message = world.telegram.choose_untold(&id, offered["results"][0]["id"].as_str().unwrap()).unwrap();
    let press = world.telegram.press_inline(BOB, &message, data).unwrap();
    let told = world.see("an answer", |view| view.callback_answer(&press).cloned()).await;
    assert_eq!(told["text"], "Only the person who asked can do that.");
    world.telegram.press_inline(ANN, &message, data).unwrap();
    world.shows_elsewhere(&message, "Lima.").await;
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn an_empty_query_offers_the_last_answers_of_that_person_alone() {
    let world = World::new().await;
    world.telegram.add_user(Person::new(BOB, "Bob"));
    world.telegram.add_private(BOB).ok();
    world.when("Ann's secret", ModelReply::text("It is *blue*."));
    world.when("Bob's secret", ModelReply::text("It is red."));
    let _bot = world.start_open().await;
    let (_, nothing) = world.typed(ANN, "").await;
    assert_eq!((&nothing["results"], &nothing["button"]["start_parameter"]), (&json!([]), &json!("inline")));
    world.told(ANN, ANN, "Ann's secret?").await;
    world.told(BOB, BOB, "Bob's secret?").await;
    let (id, offered) = world.typed(ANN, " ").await;
    assert_eq!((&offered["is_personal"], &offered["cache_time"]), (&json!(true), &json!(0)));
    let results = offered["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{offered}");
    assert_eq!(
        (&results[0]["title"], &results[0]["description"]),
        (&json!("Ann's secret?"), &json!("It is blue."))
    );
    let message = world.telegram.choose(&id, results[0]["id"].as_str().unwrap()).unwrap();
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| view.inline_versions(&message).len()), 1, "it is sent as it is");
    assert_eq!(world.asked().len(), 2);
    // A new conversation has none yet.
    world.told(ANN, ANN, "/new").await;
    let (_, offered) = world.typed(ANN, "").await;
    assert_eq!(offered["results"], json!([]));
}

#[tokio::test]
async fn strangers_are_offered_the_way_in_and_get_no_answer() {
    let world = World::new().await;
    let _bot = world.start().await;
    let (_, offered) = world.typed(BOB, "capital of Peru?").await;
    assert_eq!(offered["results"], json!([]));
    assert_eq!(
        offered["button"],
        json!({"text": "Ask for access in our private chat", "start_parameter": "inline"})
    );
    let query = world.telegram.guest_message(BOB, "@figaro_bot what is this?", None).unwrap();
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| view.query_answer(&query)), None);
    assert_eq!(world.asked().len(), 0);
}

#[tokio::test]
async fn a_guest_message_is_answered_once_with_what_it_replies_to() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("who said this", ModelReply::text("Cicero.").behind(&gate));
    let _bot = world.start().await;
    let quoted = Some(("Eve", "O tempora, o mores!"));
    let query = world.telegram.guest_message(ANN, "@figaro_bot who said this?", quoted).unwrap();
    let message = world.guest_answer(&query, 0).await;
    let asked = world.asks(1).await;
    assert!(format!("{asked:?}").contains("O tempora"), "{asked:?}");
    gate.open();
    assert_eq!(text(&world.shows_elsewhere(&message, "Cicero.").await), "Cicero.");
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| view.calls_of("answerGuestQuery").len()), 1);
    assert!(world.bot_texts(ANN).len() == 1, "the marker alone: {:?}", world.bot_texts(ANN));
    let usage = world.told(ANN, ANN, "/usage").await;
    assert!(text(&usage).contains("tokens"), "{usage}");
}

#[tokio::test]
async fn what_a_kill_left_is_answered_in_the_same_message() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("capital of Peru", ModelReply::text("never").behind(&gate));
    world.when("who said this", ModelReply::text("never").behind(&gate));
    let bot = world.start().await;
    let typed = world.asks_elsewhere(ANN, "capital of Peru").await;
    let query = world.telegram.guest_message(ANN, "@figaro_bot who said this?", None).unwrap();
    let guest = world.guest_answer(&query, 1).await;
    world.asks(2).await;
    bot.kill();
    world.when("capital of Peru", ModelReply::text("Lima."));
    world.when("who said this", ModelReply::text("Cicero."));
    let bot = world.start().await;
    world.shows_elsewhere(&typed, "Lima.").await;
    world.shows_elsewhere(&guest, "Cicero.").await;
    assert_eq!(world.telegram.view(|view| view.calls_of("answerGuestQuery").len()), 1);
    world.caught_up().await;
    bot.stop().await;
    let asked = world.asked().len();
    let _bot = world.start().await;
    world.caught_up().await;
    assert_eq!(world.asked().len(), asked, "nothing is asked again");
}

#[tokio::test]
async fn two_hundred_queries_cost_nothing_and_two_hundred_questions_the_bound() {
    let world = World::new().await;
    let gate = Gate::new();
    world.otherwise(ModelReply::text("Yes.").behind(&gate));
    let _bot = world.start().await;
    let began = Instant::now();
    let queries: Vec<String> =
        (0..200).map(|n| world.telegram.inline_query(ANN, &format!("question {n}")).unwrap()).collect();
    world.see("the newest", |view| view.query_answer(queries.last().unwrap())).await;
    assert_eq!(world.asked().len(), 0);
    let answered =
        queries.iter().filter(|id| world.telegram.view(|view| view.query_answer(id)).is_some()).count();
    println!("200 queries typed: {answered} answered, the newest after {} ms", began.elapsed().as_millis());
    // One that waits holds up no others; of 200 more, the queue takes what it has room for.
    let (id, offered) = world.typed(ANN, "one more").await;
    let result = offered["results"][0]["id"].as_str().unwrap();
    let messages: Vec<String> = (0..200).map(|_| world.telegram.choose(&id, result).unwrap()).collect();
    world.asks(4).await;
    gate.open();
    for message in &messages {
        world
            .see("an end", |view| {
                let last = view.inline_versions(message).last()?;
                (labels(last).is_empty()).then_some(())
            })
            .await;
    }
    let ends: Vec<Value> = messages
        .iter()
        .map(|id| world.telegram.view(|view| view.inline_versions(id).last().unwrap().clone()))
        .collect();
    let answers = ends.iter().filter(|end| text(end).ends_with("Yes.")).count();
    let refused = ends.iter().filter(|end| text(end).contains("20 messages")).count();
    println!("200 results sent at once: {answers} answered, {refused} refused");
    assert!(answers + refused == 200 && (20..150).contains(&answers), "{answers} {refused}");
    assert_eq!(world.asked().len(), answers);
}

#[tokio::test]
async fn status_and_check_tell_how_inline_mode_is_turned_on() {
    let world = World::new().await;
    world.telegram.turn_inline_off();
    let _bot = world.start().await;
    let status = world.told(ANN, ANN, "/status").await;
    assert!(text(&status).contains("/setinlinefeedback"), "{status}");
    let check = world.bot().arg("check").run().await;
    assert!(String::from_utf8_lossy(&check.stdout).contains("/setinline"), "{check:?}");
}

/// A question of a person and its place. A generator gives the order; each question has a secret of its own.
#[tokio::test]
async fn nothing_of_one_person_reaches_another() {
    const EVE: i64 = 13;
    let world = World::new().await;
    world.telegram.add_user(Person::new(BOB, "Bob"));
    world.telegram.add_private(BOB).ok();
    world.person(EVE, "Eve", "en");
    world.otherwise(ModelReply::text("An answer."));
    let _bot = world.start_open().await;
    let people = [(ANN, "amber"), (BOB, "beryl"), (EVE, "ebony")];
    let mut seed = 40_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for round in 0..45 {
        let (who, secret) = people[next(3)];
        let asked = format!("my {secret}{round}?");
        match next(4) {
            0 => drop(world.told(who, who, &asked).await),
            1 => {
                let message = world.asks_elsewhere(who, &asked).await;
                world.shows_elsewhere(&message, "An answer.").await;
            }
            2 => {
                let at = world.telegram.view(|view| view.inline_messages().len());
                let query = world.telegram.guest_message(who, &format!("@figaro_bot {asked}"), None).unwrap();
                world.guest_answer(&query, 0).await;
                let message = world.telegram.view(|view| {
                    let mut all: Vec<String> =
                        view.inline_messages().into_iter().map(str::to_owned).collect();
                    all.sort_by_key(|id| id.rsplit('-').next().unwrap().parse::<u64>().unwrap());
                    assert_eq!(all.len(), at + 1);
                    all.pop().unwrap()
                });
                world.shows_elsewhere(&message, "An answer.").await;
            }
            _ => {
                let (_, offered) = world.typed(who, "").await;
                let offered = offered.to_string();
                for (other, theirs) in people {
                    assert!(other == who || !offered.contains(theirs), "{who} is offered {offered}");
                }
            }
        }
    }
    for request in world.asked() {
        let prompt = format!("{request:?}");
        let seen: Vec<&str> =
            people.iter().map(|(_, secret)| *secret).filter(|secret| prompt.contains(secret)).collect();
        assert_eq!(seen.len(), 1, "{seen:?}: {prompt}");
    }
}
