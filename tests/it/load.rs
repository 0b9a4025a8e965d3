//! What people, models and strangers may ask for at once: everybody has a bounded share, and who keeps to it gets their
//! answers. Each test runs the real bot.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::{PlannedFailure, Say, TelegramView};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::{TEAM, number, text};
use crate::support::{ANN, BOB, Bot, World};

/// Part of what is said to someone whose message is not kept.
const NOT_KEPT: &str = "is not kept";
/// So much of one person waits at most.
const OF_PERSON: usize = 20;
/// So much waits in one conversation at most.
const IN_CONVERSATION: usize = 50;

fn count(view: &TelegramView<'_>, chat: i64, words: &str) -> usize {
    view.bot_messages(chat).into_iter().filter(|message| text(message).contains(words)).count()
}

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// A bot that writes an answer to Bob until the gate opens.
async fn answering(world: &World, recipe: &Recipe) -> (Bot, Gate) {
    let (bot, gate) = (recipe.spawn(), Gate::new());
    bot.ready().await;
    world.when("number 0.", ModelReply::text("answer 0").behind(&gate));
    world.say(BOB, BOB, "number 0.");
    world.asks(1).await;
    (bot, gate)
}

#[tokio::test]
async fn twenty_messages_of_a_person_wait_and_the_rest_is_refused_once() {
    let world = World::new().await;
    for at in 1..=OF_PERSON {
        world.when(&format!("number {at}."), ModelReply::text(&format!("answer {at}")));
    }
    let (_bot, gate) = answering(&world, &world.bot().set("ACCESS", "open")).await;
    for at in 1..=OF_PERSON + 200 {
        world.say(BOB, BOB, &format!("number {at}."));
    }
    world.see("the word that there is no room", |view| (count(view, BOB, NOT_KEPT) > 0).then_some(())).await;
    // Others and commands are not held up, and a stop still works.
    world.caught_up().await;
    gate.open();
    let last = format!("answer {OF_PERSON}");
    world.see("the last answer", |view| (count(view, BOB, &last) > 0).then_some(())).await;
    let mut expected: Vec<String> = (0..=OF_PERSON).map(|at| format!("answer {at}")).collect();
    let mut seen = world.bot_texts(BOB);
    let refusals = seen.extract_if(.., |text| text.contains(NOT_KEPT)).count();
    assert_eq!((seen, refusals), (expected.clone(), 1), "in order, and said once");
    // Caught up with, they may go on.
    world.when("number 999.", ModelReply::text("answer 999"));
    world.told(BOB, BOB, "number 999.").await;
    expected.push("answer 999".to_owned());
    assert_eq!(world.bot_texts(BOB).last(), expected.last());
    assert_eq!(world.asked().len(), OF_PERSON + 2, "nothing that was refused is asked");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_refused_is_not_answered_after_a_restart_and_what_was_accepted_is() {
    let world = World::new().await;
    let recipe = world.bot().set("ACCESS", "open");
    let (bot, gate) = answering(&world, &recipe).await;
    for at in 1..=OF_PERSON + 30 {
        world.say(BOB, BOB, &format!("number {at}."));
    }
    world.see("the word that there is no room", |view| (count(view, BOB, NOT_KEPT) > 0).then_some(())).await;
    world.caught_up().await;
    bot.kill();
    gate.open();
    world.otherwise(ModelReply::text("here you are"));
    let bot = recipe.spawn();
    bot.ready().await;
    world.see("all answers", |view| (count(view, BOB, "here you are") > OF_PERSON).then_some(())).await;
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| count(view, BOB, "here you are")), OF_PERSON + 1);
    drop(bot);
}

#[tokio::test]
async fn what_was_refused_and_a_kill_kept_from_being_told_is_answered_after_all() {
    let world = World::new().await;
    let recipe = world.bot().set("ACCESS", "open");
    let (bot, gate) = answering(&world, &recipe).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    for at in 1..=OF_PERSON + 1 {
        world.say(BOB, BOB, &format!("number {at}."));
    }
    world
        .see("a word that hangs", |view| {
            view.calls_of("sendMessage").last().is_some_and(|call| call.error.is_some()).then_some(())
        })
        .await;
    // Telegram knows that it came, and does not send it again.
    world.caught_up().await;
    bot.kill();
    gate.open();
    world.otherwise(ModelReply::text("here you are"));
    let bot = recipe.spawn();
    bot.ready().await;
    world.see("all answers", |view| (count(view, BOB, "here you are") == OF_PERSON + 2).then_some(())).await;
    assert_eq!(world.telegram.view(|view| count(view, BOB, NOT_KEPT)), 0);
    drop(bot);
}

#[tokio::test]
async fn presses_count_as_messages_do() {
    let world = World::new().await;
    let bot = world.bot().set("ACCESS", "open").spawn();
    bot.ready().await;
    let card = world.told(BOB, BOB, "/start").await;
    let gate = Gate::new();
    world.otherwise(ModelReply::text("an example").behind(&gate));
    let id = number(&card["message_id"]);
    for _ in 0..300 {
        world.telegram.press(BOB, BOB, id, "start:example").unwrap();
    }
    let refused = |view: &TelegramView<'_>| {
        let calls = view.calls_of("answerCallbackQuery").into_iter();
        calls.filter(|call| call.args.get("text").is_some_and(|t| t.to_string().contains(NOT_KEPT))).count()
    };
    world.see("the word that there is no room", |view| (refused(view) > 0).then_some(())).await;
    world.when("Are you there?", ModelReply::text("I am."));
    assert_eq!(text(&world.ask("Are you there?").await), "I am.");
    gate.open();
    world.see("the examples", |view| (count(view, BOB, "an example") >= OF_PERSON).then_some(())).await;
    world.caught_up().await;
    // Some presses are under way, and give their place back, while others come.
    let answered = world.telegram.view(|view| count(view, BOB, "an example"));
    assert!((OF_PERSON..=OF_PERSON * 3).contains(&answered), "{answered} of 300 presses began a turn");
}

#[tokio::test]
async fn fifty_wait_in_a_group_and_the_rest_is_background() {
    let world = World::new().await;
    world.team();
    let people: Vec<i64> = (101..=104).collect();
    for person in &people {
        world.person(*person, "Someone", "en");
        world.telegram.set_member(TEAM, *person, figaro_offline::telegram::MemberStatus::Member).unwrap();
    }
    let bot = world.bot().set("ACCESS", "open").spawn();
    bot.ready().await;
    let gate = Gate::new();
    world.otherwise(ModelReply::text("an answer").behind(&gate));
    let ask = |person: i64, at: usize| world.say(person, TEAM, &format!("@figaro_bot question {at}"));
    ask(ANN, 0);
    world.asks(1).await;
    let asked: Vec<i64> = (0..60).map(|at| ask(people[at % people.len()], at).message_id).collect();
    world
        .see("a shrug", |view| asked.iter().find(|id| !view.reactions(TEAM, **id).is_empty()).copied())
        .await;
    world.caught_up().await;
    gate.open();
    world.see("all answers", |view| (count(view, TEAM, "an answer") > IN_CONVERSATION).then_some(())).await;
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| count(view, TEAM, "an answer")), IN_CONVERSATION + 1);
    let shrugs = asked.iter().filter(|id| !world.reactions(TEAM, **id).is_empty()).count();
    assert_eq!(shrugs, 1, "it is shown once");
    assert_eq!(world.telegram.view(|view| count(view, TEAM, NOT_KEPT)), 0, "a group gets no words about it");
}

#[tokio::test]
async fn a_person_in_very_many_topics_keeps_nobody_from_an_answer() {
    let world = World::new().await;
    let forum = -1002;
    world.telegram.add_forum(forum, "Forum");
    world.join(forum);
    let topics: Vec<i64> =
        (0..70).map(|at| world.telegram.add_topic(forum, &format!("Topic {at}")).unwrap()).collect();
    let bot = world.bot().set("ACCESS", "open").spawn();
    bot.ready().await;
    let gate = Gate::new();
    world.otherwise(ModelReply::text("an answer").behind(&gate));
    for topic in &topics {
        world.telegram.send(Say::new(BOB, forum, "@figaro_bot a question").topic(*topic)).unwrap();
    }
    // Other people are answered at once, and only some of Bob's questions are under way.
    world.caught_up().await;
    let asked = world.asked().len();
    assert!((1..=4).contains(&asked), "{asked} turns of one person");
    gate.open();
    world.see("his answers", |view| (count(view, forum, "an answer") >= OF_PERSON).then_some(())).await;
    world.caught_up().await;
    let answered = world.telegram.view(|view| count(view, forum, "an answer"));
    assert!((OF_PERSON..=OF_PERSON + 8).contains(&answered), "{answered} of 70 were kept");
}

#[tokio::test]
async fn of_5000_calls_32_are_made_and_the_model_hears_of_the_rest() {
    let world = World::new().await;
    let bot = world.start().await;
    let calls = (0..5000).map(|at| call("list_notes", json!({"key": format!("k{at}")}))).collect();
    world.when("everything", ModelReply::turn(calls));
    world.script.push(ModelReply::text("Done."));
    assert_eq!(text(&world.ask("everything at once").await), "Done.");
    let last = world.asked().pop().unwrap();
    let results = last.tool_results();
    assert_eq!(results.len(), 33);
    let worked = results.iter().filter(|(_, output)| output.contains(r#""success":true"#)).count();
    assert_eq!(worked, 32, "{results:?}");
    let (_, refusal) = results.last().unwrap();
    assert!(refusal.contains("of this step only the first 32 are made"), "{refusal}");
    drop(bot);
}

#[tokio::test]
async fn an_answer_without_end_is_ended_whoever_the_provider_is() {
    for name in ["openai", "compatible", "ollama", "gemini"] {
        let world = World::new().await;
        let bot = world.bot_of(name).spawn();
        bot.ready().await;
        let endless = "and so it went on and on. ".repeat(20_000);
        world.when("story", ModelReply::text(&endless).paced(4000, Duration::from_millis(1)));
        world.say(ANN, ANN, "tell me a story");
        let find = |view: &TelegramView<'_>| {
            let messages = view.bot_messages(ANN);
            let last = *messages.last()?;
            last.get("reply_markup")?;
            Some(messages.iter().map(|message| text(message).len()).sum::<usize>())
        };
        let sent = world.see("the button under a cut answer", find).await;
        assert!((110_000..140_000).contains(&sent), "{name}: {sent} bytes of {}", endless.len());
        bot.logged("an answer is longer than it may be").await;
    }
}

#[tokio::test]
async fn a_call_without_end_ends_the_answer() {
    let world = World::new().await;
    let bot = world.bot_of("compatible").spawn();
    bot.ready().await;
    let event = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let piece =
        json!({"index": 0, "id": "a", "function": {"name": "add_note", "arguments": "x".repeat(64 * 1024)}});
    let pieces = event(json!({"tool_calls": [piece]})).repeat(20);
    world.when("note", ModelReply::raw(event(json!({"content": "Well."})) + &pieces));
    let answer = world.told(ANN, ANN, "note it all").await;
    assert_eq!(text(&answer), "Well. …", "it is shown as an answer that was too long");
    bot.ends_well().await;
}

/// So many questions each of the people asks who keep to their share.
const QUESTIONS: usize = 3;

fn ask_in_turn(world: &World, people: &[i64]) {
    for at in 0..QUESTIONS {
        for person in people {
            let question = format!("question {at} of {person}.");
            world.when(&question, ModelReply::text(&format!("answer {at} for {person}")));
            world.say(*person, *person, &question);
        }
    }
}

async fn see_answers_in_order(world: &World, people: &[i64]) {
    for person in people {
        let answers = |view: &TelegramView<'_>| {
            let texts = view.bot_messages(*person).into_iter().map(|message| text(message).to_owned());
            let answers: Vec<String> = texts.filter(|text| text.starts_with("answer")).collect();
            (answers.len() >= QUESTIONS).then_some(answers)
        };
        let expected: Vec<String> = (0..QUESTIONS).map(|at| format!("answer {at} for {person}")).collect();
        assert_eq!(world.see("all answers, in order", answers).await, expected);
    }
}

#[tokio::test]
async fn others_get_their_answers_while_some_take_all_they_can() {
    const FLOODER: i64 = 21;
    const STREAMER: i64 = 22;
    const CALLER: i64 = 23;
    let world = World::new().await;
    let others: Vec<i64> = (31..=40).collect();
    let strangers: Vec<i64> = (5001..=6000).collect();
    for person in others.iter().chain([&FLOODER, &STREAMER, &CALLER]).chain(&strangers) {
        world.person(*person, "Someone", "en");
    }
    let bot = world.bot().spawn();
    bot.ready().await;
    for person in others.iter().chain([&FLOODER, &STREAMER, &CALLER]) {
        world.told(ANN, ANN, &format!("/allow {person}")).await;
    }
    bot.ends_well().await;
    world.telegram.enforce_limits(true);
    let bot = world.bot().set("TELEGRAM_RATES", "telegram").spawn();
    bot.ready().await;

    world.otherwise(ModelReply::text("flooded"));
    let endless = "on and on ".repeat(300_000);
    world.when("without end", ModelReply::text(&endless).paced(2000, Duration::from_millis(5)));
    let calls = (0..5000).map(|at| call("list_notes", json!({"key": format!("k{at}")}))).collect();
    world.when("everything", ModelReply::turn(calls));
    world.say(STREAMER, STREAMER, "write without end");
    world.say(CALLER, CALLER, "everything at once");
    for at in 0..2600 {
        world.say(FLOODER, FLOODER, &format!("flood {at}"));
    }
    for stranger in &strangers {
        world.say(*stranger, *stranger, "hello?");
    }
    let people: Vec<i64> = others.iter().copied().chain([ANN]).collect();
    ask_in_turn(&world, &people);
    world.say(ANN, ANN, &format!("/deny {FLOODER}"));
    let is_denied = |view: &TelegramView<'_>| (count(view, ANN, "may no longer talk") > 0).then_some(());
    world.see("the owner's command", is_denied).await;
    see_answers_in_order(&world, &people).await;
    let told = |view: &TelegramView<'_>, id: i64| view.bot_messages(id).len();
    let (most, some) = world.telegram.view(|view| {
        let times = strangers.iter().map(|id| told(view, *id)).collect::<Vec<_>>();
        (times.iter().copied().max(), times.iter().filter(|times| **times > 0).count())
    });
    assert!(most <= Some(1), "a stranger is told once");
    assert!((1..=600).contains(&some), "{some} strangers were told; notices are bounded");
    // Twenty messages wait. They are told again once all of these have been answered, and once that the whole bot is full.
    let times = |words| world.telegram.view(|view| count(view, FLOODER, words));
    let (told, answered) = (times(NOT_KEPT), times("flooded"));
    assert!((1..=2 + answered / 20).contains(&told), "{told} times, {answered} answers");
    let has_begun = |view: &TelegramView<'_>| (count(view, STREAMER, "on and on") > 0).then_some(());
    world.see("the beginning of the endless answer", has_begun).await;
    let has_ended = |view: &TelegramView<'_>| (count(view, CALLER, "flooded") > 0).then_some(());
    world.see("the answer after very many calls", has_ended).await;
    assert_eq!(world.telegram.updates_pending(), 0, "fetching never stops");
    drop(bot);
}
