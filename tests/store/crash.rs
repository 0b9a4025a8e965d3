//! `kill -9` at any moment: what Telegram was told is received is answered once, nothing is done twice, nothing stored is
//! lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use crate::support::{ANN, BOB, Bot, TIMEOUT, World, listener};

const UNKNOWN: &str = "whether it acted is not known";

/// Waits until Telegram has seen something.
async fn until(world: &World, what: &str, mut seen: impl FnMut(&TelegramView<'_>) -> bool) {
    let found = world.telegram.wait_until(TIMEOUT, |view| seen(view).then_some(())).await;
    found.unwrap_or_else(|| panic!("{what} did not happen"));
}

fn calls(view: &TelegramView<'_>, method: &str) -> usize {
    view.calls_of(method).len()
}

fn poll(question: &str) -> ModelReply {
    let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
    ModelReply::call("sendPoll", json!({"question": question, "options": options}))
}

/// The number of the question that a request ends with.
fn number(request: &ModelRequest) -> u32 {
    let said = request.user_text();
    let (_, rest) = said.rsplit_once("question ").unwrap();
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Answers each question by its number, in one of four ways.
fn examiner(request: &ModelRequest) -> ModelReply {
    let n = number(request);
    let answer = ModelReply::text(&format!("answer {n} of the examiner"));
    let slow = answer.clone().paced(0, Duration::from_millis(90));
    match (n % 4, request.tool_results().is_empty()) {
        (0, _) => answer,
        (1, _) => slow,
        (2, true) => ModelReply::call("add_note", json!({"key": "seen", "content": format!("note {n}")})),
        (3, true) => poll(&format!("poll {n}")),
        _ => slow,
    }
}

/// Pseudo-random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Lets a bot come to a moment of its work; the moments take turns.
async fn come_to(world: &World, round: u64, dice: &mut Dice, before: &Before) {
    let some = Duration::from_millis(dice.below(400));
    let moment = world.telegram.wait_until(Duration::from_millis(1500), |view| {
        let happened = match round % 6 {
            0 => view.updates_pending() == 0,
            1 => calls(view, "sendMessage") > before.messages,
            2 => calls(view, "sendPoll") > before.polls,
            3 => calls(view, "sendMessageDraft") > before.drafts + 2,
            _ => false,
        };
        happened.then_some(())
    });
    match round % 6 {
        4 => tokio::time::sleep(some).await,
        5 => tokio::time::sleep(some + Duration::from_millis(400)).await,
        // Some rounds have nothing to wait for: then the time is over, which is a moment too.
        _ => drop(moment.await),
    }
}

/// The calls made before a round.
struct Before {
    messages: usize,
    polls: usize,
    drafts: usize,
}

#[tokio::test]
async fn whatever_moment_it_is_killed_at_every_message_is_answered_once_and_in_order() {
    const KILLS: u64 = 10;
    let world = World::new().await;
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(examiner), &runtime).unwrap();
    let recipe = world.bot().set("OPENAI_BASE_URL", model.url()).set("ACCESS", "open");
    let (mut dice, mut asked) = (Dice(20_251_120), 0);
    for round in 0..KILLS {
        let before = world.telegram.view(|view| Before {
            messages: calls(view, "sendMessage"),
            polls: calls(view, "sendPoll"),
            drafts: calls(view, "sendMessageDraft"),
        });
        let bot = recipe.spawn();
        for _ in 0..1 + dice.below(2) {
            asked += 1;
            for chat in [ANN, BOB] {
                world.telegram.say(chat, chat, &format!("question {asked}")).unwrap();
            }
        }
        come_to(&world, round, &mut dice, &before).await;
        bot.kill();
    }
    let bot = recipe.spawn();
    let wanted: Vec<String> = (1..=asked).map(|n| format!("answer {n} of the examiner")).collect();
    let is_last = |view: &TelegramView<'_>, chat| {
        view.bot_messages(chat).iter().any(|m| m["text"] == wanted[asked - 1])
    };
    until(&world, "the last answers", |view| is_last(view, ANN) && is_last(view, BOB)).await;
    bot.ends_well().await;
    for chat in [ANN, BOB] {
        let mut answers = world.bot_texts(chat);
        answers.retain(|text| !text.is_empty());
        let all = answers.len();
        // An answer whose confirmation was lost stands twice, one behind the other.
        answers.dedup();
        assert_eq!(answers, wanted, "in {chat}");
        assert!(
            all - answers.len() <= usize::try_from(KILLS).unwrap(),
            "{all} messages for {asked} questions"
        );
    }
    nothing_was_done_twice(&world, &model, asked).await;
    runtime.stop();
    assert_eq!(model.violations(), Vec::<String>::new());
}

/// Polls and notes: each once, or not at all and then the model was told that it is not known.
async fn nothing_was_done_twice(world: &World, model: &OfflineModel, asked: usize) {
    let told: BTreeSet<u32> = model
        .requests()
        .iter()
        .filter(|request| request.tool_results().iter().any(|(_, result)| result.contains(UNKNOWN)))
        .map(number)
        .collect();
    let store = world.stored().await;
    for chat in [ANN, BOB] {
        let notes: Vec<String> =
            store.notes().of_chat(ChatId(chat)).unwrap().into_iter().map(|note| note.content).collect();
        let polls: Vec<Value> = world.telegram.view(|view| {
            view.bot_messages(chat).into_iter().map(|m| m["poll"]["question"].clone()).collect()
        });
        for n in 1..=u32::try_from(asked).unwrap() {
            let times = match n % 4 {
                2 => notes.iter().filter(|note| **note == format!("note {n}")).count(),
                3 => polls.iter().filter(|poll| **poll == format!("poll {n}")).count(),
                _ => continue,
            };
            assert!(times == 1 || (times == 0 && told.contains(&n)), "{n} in {chat}: {times} times");
        }
    }
}

async fn killed(world: &World, bot: Bot) -> Bot {
    bot.kill();
    world.start().await
}

#[tokio::test]
async fn a_call_that_ran_when_it_was_killed_is_not_made_again_and_the_model_is_told() {
    let world = World::new().await;
    world.telegram.fail("sendPoll", PlannedFailure::Hang, 1);
    world.script.push(poll("What?"));
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Tea or coffee?").unwrap();
    until(&world, "the call", |view| calls(view, "sendPoll") == 1).await;
    world.script.push(ModelReply::text("Look whether there is a poll."));
    let bot = killed(&world, bot).await;
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "Look whether there is a poll.");
    let requests = world.model.requests();
    let results = requests[1].tool_results();
    assert_eq!((requests.len(), results.len()), (2, 1));
    assert!(results[0].0 == "sendPoll" && results[0].1.contains(UNKNOWN), "{results:?}");
    bot.ends_well().await;
    assert_eq!(world.telegram.view(|view| calls(view, "sendPoll")), 1);
}

#[tokio::test]
async fn a_call_that_had_ended_is_not_made_again_and_its_result_is_there() {
    let world = World::new().await;
    world.script.push(poll("What?"));
    world.script.push(ModelReply::silence());
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Tea or coffee?").unwrap();
    world.model.wait_until(TIMEOUT, |requests| requests.get(1).map(|_| ())).await.expect("the second pass");
    world.script.push(ModelReply::text("There it is."));
    let bot = killed(&world, bot).await;
    assert_eq!(world.answers(ANN, 2).await[1]["text"], "There it is.");
    let requests = world.model.requests();
    assert_eq!(requests[2].tool_results(), requests[1].tool_results());
    assert_eq!(requests[2].tool_results().len(), 1);
    bot.ends_well().await;
    assert_eq!(world.telegram.view(|view| calls(view, "sendPoll")), 1);
}

#[tokio::test]
async fn what_the_model_has_said_by_a_tool_is_not_said_again() {
    let world = World::new().await;
    world.script.push(ModelReply::call("sendMessage", json!({"text": "Here you are."})));
    world.script.push(ModelReply::silence());
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Say it yourself").unwrap();
    world.model.wait_until(TIMEOUT, |requests| requests.get(1).map(|_| ())).await.expect("the second pass");
    world.script.push(ModelReply::text("I have said it."));
    world.script.push(ModelReply::text("Next."));
    let bot = killed(&world, bot).await;
    until(&world, "the first words", |view| view.bot_messages(ANN).len() == 1).await;
    world.telegram.say(ANN, ANN, "And then?").unwrap();
    until(&world, "the next answer", |view| view.bot_messages(ANN).iter().any(|m| m["text"] == "Next."))
        .await;
    assert_eq!(world.bot_texts(ANN), ["Here you are.", "Next."]);
    bot.ends_well().await;
}

#[tokio::test]
async fn an_answer_on_its_way_is_delivered_once() {
    let world = World::new().await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    world.script.push(ModelReply::text("On its way."));
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Where is it?").unwrap();
    until(&world, "the call", |view| calls(view, "sendMessage") == 1).await;
    let bot = killed(&world, bot).await;
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "On its way.");
    world.script.push(ModelReply::text("Next."));
    assert_eq!(world.ask("And then?").await["text"], "Next.");
    // The second turn began once the first delivery was confirmed in the store.
    let bot = killed(&world, bot).await;
    world.script.push(ModelReply::text("Last."));
    world.telegram.say(ANN, ANN, "And last?").unwrap();
    until(&world, "the last answer", |view| view.bot_messages(ANN).iter().any(|m| m["text"] == "Last."))
        .await;
    bot.ends_well().await;
    let mut texts = world.bot_texts(ANN);
    texts.retain(|text| text != "Next.");
    assert_eq!(texts, ["On its way.", "Last."]);
    assert_eq!(world.model.requests().len(), 3);
}

#[tokio::test]
async fn of_a_long_answer_only_what_is_missing_is_delivered() {
    let world = World::new().await;
    let paragraphs: Vec<String> = (1..=60).map(|n| format!("{n}. {}", "word ".repeat(40))).collect();
    // Killed before the answer was stored, the bot asks again.
    world.otherwise(ModelReply::text(&paragraphs.join("\n\n")));
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "A long one").unwrap();
    until(&world, "the first part", |view| calls(view, "sendMessage") == 1).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    until(&world, "a part that hangs", |view| {
        view.calls_of("sendMessage").last().is_some_and(|call| call.error.is_some())
    })
    .await;
    let bot = killed(&world, bot).await;
    until(&world, "the last part", |view| {
        view.bot_messages(ANN).iter().any(|m| m["text"].as_str().is_some_and(|text| text.contains("60. ")))
    })
    .await;
    bot.ends_well().await;
    let whole = world.bot_texts(ANN).join("\n\n");
    let heads: Vec<&str> = whole.split("\n\n").filter_map(|part| part.split('.').next()).collect();
    let wanted: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    assert_eq!(heads, wanted);
}

#[tokio::test]
async fn notes_settings_and_access_survive() {
    let world = World::new().await;
    world.script.push(ModelReply::call("add_note", json!({"key": "Shopping", "content": "milk"})));
    world.script.push(ModelReply::text("Noted."));
    let bot = world.start().await;
    world.ask("remember milk").await;
    world.ask("/config timezone Europe/Riga").await;
    world.ask(&format!("/allow {BOB}")).await;
    let bot = killed(&world, bot).await;
    // The reply to the last command may come again: it was not known to have arrived.
    for (command, words) in [("/notes", "shopping (1)"), ("/config", "Europe/Riga")] {
        let sent = world.telegram.say(ANN, ANN, command).unwrap().message_id;
        until(&world, words, |view| {
            let later = |m: &&Value| m["message_id"].as_i64() > Some(sent);
            view.bot_messages(ANN).into_iter().filter(later).any(|m| m.to_string().contains(words))
        })
        .await;
    }
    world.script.push(ModelReply::text("Welcome, Bob."));
    world.telegram.say(BOB, BOB, "May I?").unwrap();
    assert_eq!(world.answers(BOB, 1).await[0]["text"], "Welcome, Bob.");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_turn_that_had_acted_does_not_begin_again_for_an_edit() {
    let world = World::new().await;
    world.script.push(poll("What?"));
    world.script.push(ModelReply::silence());
    let bot = world.start().await;
    let asked = world.telegram.say(ANN, ANN, "Tea or coffee?").unwrap();
    let pass = async |count: usize| {
        world
            .model
            .wait_until(TIMEOUT, |requests| requests.get(count - 1).map(|_| ()))
            .await
            .expect("a pass");
    };
    pass(2).await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("There it is.").behind(&gate));
    world.script.push(poll("What?"));
    world.script.push(ModelReply::text("There are two."));
    let bot = killed(&world, bot).await;
    pass(3).await;
    world.telegram.edit(ANN, ANN, asked.message_id, "Tea or cocoa?").unwrap();
    until(&world, "the edit", |view| view.updates_pending() == 0).await;
    gate.open();
    assert_eq!(world.answers(ANN, 2).await[1]["text"], "There it is.");
    bot.ends_well().await;
    assert_eq!(world.telegram.view(|view| calls(view, "sendPoll")), 1);
}
