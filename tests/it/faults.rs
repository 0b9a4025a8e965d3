//! A Telegram that fails: it asks to wait, breaks off, repeats itself, speaks of things nobody knows, and closes doors.

use std::time::{Duration, Instant};

use figaro::demo::model::{Gate, Reply};
use figaro::demo::telegram::{Failure, Say, Standing, View};
use serde_json::{Value, json};

use crate::support::{ANN, BOB, Bot, PATIENCE, World};

const GROUP: i64 = -500;
const FORUM: i64 = -1_000_600;

async fn until(world: &World, what: &str, mut seen: impl FnMut(&View<'_>) -> bool) {
    let found = world.telegram.wait_until(PATIENCE, |view| seen(view).then_some(())).await;
    found.unwrap_or_else(|| panic!("{what} did not happen"));
}

fn status(status: u16, description: &str) -> Failure {
    Failure::Status { status, description: description.to_owned() }
}

/// The attempts to send a message to a chat, with whether each succeeded.
fn attempts(world: &World, chat: i64) -> Vec<bool> {
    let to = |call: &&figaro::demo::telegram::Call| call.args["chat_id"] == chat;
    world.telegram.view(|view| view.calls_of("sendMessage").into_iter().filter(to).map(|c| c.ok).collect())
}

/// A bot that everybody may talk to.
async fn open(world: &World) -> Bot {
    let bot = world.bot().set("ACCESS", "open").spawn();
    bot.ready().await;
    bot
}

#[tokio::test]
async fn when_telegram_asks_to_wait_the_answer_waits_and_other_chats_do_not() {
    let world = World::new().await;
    world.telegram.fail("sendMessage", Failure::RetryAfter(2), 1);
    let _bot = open(&world).await;
    world.script.push(Reply::text("Worth the wait."));
    world.telegram.say(ANN, ANN, "Now?").unwrap();
    until(&world, "a refusal", |view| !view.calls_of("sendMessage").is_empty()).await;
    let began = Instant::now();
    world.script.push(Reply::text("At once."));
    world.telegram.say(BOB, BOB, "And I?").unwrap();
    assert_eq!(world.answers(BOB, 1).await[0]["text"], "At once.");
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "Worth the wait.");
    assert!(began.elapsed() >= Duration::from_millis(1900), "{:?}", began.elapsed());
    assert_eq!(attempts(&world, ANN), [false, true]);
}

#[tokio::test]
async fn an_answer_outlives_a_broken_connection() {
    let world = World::new().await;
    world.telegram.fail("sendMessage", Failure::DropConnection, 1);
    world.script.push(Reply::text("Second time lucky."));
    let bot = world.start().await;
    assert_eq!(world.ask("Try").await["text"], "Second time lucky.");
    assert!(bot.stop().success());
    assert_eq!(attempts(&world, ANN), [false, true]);
    assert_eq!(world.bot_texts(ANN).len(), 1);
}

/// Each call of unknown outcome may leave a copy, so there are five repeats in all, however often the bot is killed.
#[tokio::test]
async fn an_answer_of_unknown_outcome_is_repeated_five_times_over_restarts_too() {
    let world = World::new().await;
    world.telegram.fail("sendMessage", Failure::DropConnection, 6);
    world.script.push(Reply::text("Here?"));
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Try").unwrap();
    let tried = |times: usize| move |view: &View<'_>| view.calls_of("sendMessage").len() >= times;
    until(&world, "a second repeat", tried(3)).await;
    // The repeat that follows is counted before it is waited for.
    tokio::time::sleep(Duration::from_millis(300)).await;
    bot.kill();
    let before = attempts(&world, ANN).len();
    let bot = world.start().await;
    bot.logged("giving it up").await;
    assert_eq!(attempts(&world, ANN).len(), 6, "{before} of them before the kill");
    world.script.push(Reply::text("Here."));
    assert_eq!(world.ask("Again").await["text"], "Here.");
    assert!(bot.stop().success());
    let bot = world.start().await;
    world.script.push(Reply::text("Still here."));
    assert_eq!(world.ask("And now").await["text"], "Still here.");
    assert!(bot.stop().success());
    assert_eq!(world.bot_texts(ANN), ["Here.", "Still here."]);
}

/// While nothing can be sent, each chat keeps its order, and the owner sees how much waits.
#[tokio::test]
async fn answers_that_could_not_be_sent_for_a_while_all_come_in_their_order() {
    let world = World::new().await;
    let bot = world.bot().set("ACCESS", "open").set("TELEGRAM_RATES", "off").spawn();
    bot.ready().await;
    let people: Vec<i64> = (101..=108).collect();
    for person in &people {
        world.person(*person, "Someone", "en");
        for at in 0..4 {
            world.when(&format!("number {at} of {person}."), Reply::text(&format!("answer {at}")));
        }
    }
    world.telegram.fail("sendMessage", Failure::DropConnection, people.len() * 3);
    for at in 0..4 {
        for person in &people {
            world.telegram.say(*person, *person, &format!("number {at} of {person}.")).unwrap();
        }
    }
    let failed = |view: &View<'_>| view.calls_of("sendMessage").iter().filter(|call| !call.ok).count();
    until(&world, "answers that fail", |view| failed(view) >= people.len() * 2).await;
    for person in &people {
        let answers = world.answers(*person, 4).await;
        let texts: Vec<&str> = answers.iter().filter_map(|answer| answer["text"].as_str()).collect();
        assert_eq!(texts, ["answer 0", "answer 1", "answer 2", "answer 3"]);
    }
    assert!(bot.stop().success());
}

#[tokio::test]
async fn an_answer_that_cannot_be_sent_yet_counts_as_waiting() {
    let world = World::new().await;
    let bot = world.bot().set("ACCESS", "open").spawn();
    bot.ready().await;
    world.telegram.fail("sendMessage", Failure::RetryAfter(3), 1);
    world.script.push(Reply::text("Later."));
    world.telegram.say(BOB, BOB, "Now?").unwrap();
    until(&world, "a refusal", |view| !view.calls_of("sendMessage").is_empty()).await;
    let waiting = |words: Value| words["text"].as_str().is_some_and(|text| text.contains("Waiting: 1\n"));
    assert!(waiting(world.ask("/status").await));
    assert_eq!(world.answers(BOB, 1).await[0]["text"], "Later.");
    assert!(bot.stop().success());
}

#[tokio::test]
async fn an_answer_whose_confirmation_was_lost_stands_twice_at_most() {
    let world = World::new().await;
    world.telegram.fail("sendMessage", Failure::AppliedButDropped, 1);
    world.script.push(Reply::text("Did you get it?"));
    world.script.push(Reply::text("Good."));
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Say").unwrap();
    world.telegram.say(ANN, ANN, "Yes").unwrap();
    until(&world, "the last answer", |view| view.bot_messages(ANN).iter().any(|m| m["text"] == "Good."))
        .await;
    assert!(bot.stop().success());
    let _again = world.start().await;
    world.script.push(Reply::text("All."));
    world.telegram.say(ANN, ANN, "More?").unwrap();
    until(&world, "the last answer", |view| view.bot_messages(ANN).iter().any(|m| m["text"] == "All.")).await;
    assert_eq!(world.bot_texts(ANN), ["Did you get it?", "Did you get it?", "Good.", "All."]);
}

/// Some errors of the server's own, one after the other, are over within seconds: the pauses begin at a tenth of one.
#[tokio::test]
async fn a_telegram_that_is_in_trouble_for_a_moment_is_waited_for() {
    let down = [
        ("getMe", 2, status(502, "Bad Gateway")),
        ("getUpdates", 5, status(500, "Internal Server Error")),
        ("getUpdates", 5, Failure::Answer("<html>".to_owned())),
        ("sendMessage", 3, status(500, "Internal Server Error: restart")),
        ("sendMessage", 3, status(503, "Service Unavailable")),
        ("sendMessageDraft", 5, status(504, "Gateway Timeout")),
    ];
    let cases = down.map(|(method, times, failure)| async move {
        let world = World::new().await;
        world.telegram.fail(method, failure, times);
        world.script.push(Reply::text("Back again."));
        let bot = world.start().await;
        assert_eq!(world.ask("Anyone?").await["text"], "Back again.", "after a bad {method}");
        assert_eq!(world.bot_texts(ANN).len(), 1);
        assert!(bot.stop().success());
    });
    futures::future::join_all(cases).await;
}

#[tokio::test]
async fn updates_are_taken_in_again_after_every_trouble_with_them() {
    let world = World::new().await;
    let conflict =
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    for failure in [
        status(409, conflict),
        Failure::RetryAfter(1),
        status(401, "Unauthorized"),
        Failure::DropConnection,
        Failure::AppliedButDropped,
    ] {
        world.telegram.fail("getUpdates", failure, 1);
    }
    world.script.push(Reply::text("One."));
    let bot = world.start().await;
    assert_eq!(world.ask("First").await["text"], "One.");
    // Its first copy came with a list that was lost.
    world.script.push(Reply::text("Two."));
    assert_eq!(world.ask("Second").await["text"], "Two.");
    assert!(bot.log().contains("another process is getting this bot's updates"), "{}", bot.log());
    assert!(bot.stop().success());
    assert_eq!((world.bot_texts(ANN).len(), world.model.requests().len()), (2, 2));
}

/// The update of a message as Telegram would repeat it.
fn copy_of(world: &World, message_id: i64, update_id: i64) -> Value {
    let message = world.telegram.messages(ANN).into_iter().find(|m| m["message_id"] == message_id).unwrap();
    json!({"update_id": update_id, "message": message})
}

#[tokio::test]
async fn an_update_that_comes_again_is_not_answered_again() {
    let world = World::new().await;
    for answer in ["One.", "Two.", "Three."] {
        world.script.push(Reply::text(answer));
    }
    let first = world.telegram.say(ANN, ANN, "First").unwrap();
    let copy = copy_of(&world, first.message_id, first.update_id.unwrap());
    world.telegram.push_raw(copy.clone());
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    world.telegram.push_raw(copy.clone());
    assert_eq!(world.ask("Second").await["text"], "Two.");
    assert!(bot.stop().success());
    let bot = world.start().await;
    world.telegram.push_raw(copy);
    assert_eq!(world.ask("Third").await["text"], "Three.");
    assert!(bot.stop().success());
    assert_eq!(world.bot_texts(ANN), ["One.", "Two.", "Three."]);
    assert_eq!(world.model.requests().len(), 3);
}

#[tokio::test]
async fn what_nobody_can_read_is_told_to_the_owner_and_holds_nothing_up() {
    let world = World::new().await;
    let ann = json!({"id": ANN, "is_bot": false, "first_name": "Ann"});
    let chat = json!({"id": ANN, "type": "private"});
    let odd = [
        json!({}),
        json!({"poll": {"id": "1", "question": "?"}}),
        json!({"telepathy": {"from": ann, "thought": "hello"}}),
        json!({"message": "hello"}),
        json!({"message": null}),
        json!({"message": {}}),
        json!({"message": {"message_id": 7, "chat": {"id": "here"}, "from": ann, "text": "hello"}}),
        json!({"message": {"message_id": 7, "chat": chat, "from": ann, "date": "today", "text": 42}}),
        json!({"message": {"message_id": 7, "chat": chat, "from": [], "date": 0, "text": "hello"}}),
        json!({"edited_message": 3}),
        json!({"callback_query": {"id": 5}}),
        json!({"callback_query": {"id": "5", "from": ann, "data": "nonsense:\u{0}:1"}}),
        json!({"my_chat_member": []}),
        json!({"stopped_message_generation": {"chat": chat}}),
        json!({"message": {"message_id": "seven", "chat": chat, "from": ann, "text": "hello"}}),
    ];
    for update in odd {
        world.telegram.push_raw(update);
    }
    world.otherwise(Reply::text("I heard you."));
    let bot = world.start().await;
    let heard =
        |view: &View<'_>| view.bot_messages(ANN).iter().filter(|m| m["text"] == "I heard you.").count();
    until(&world, "an answer to the words that can be read", |view| heard(view) == 1).await;
    world.telegram.say(ANN, ANN, "Hello").unwrap();
    until(&world, "the last answer", |view| heard(view) == 2 && view.updates_pending() == 0).await;
    assert!(bot.stop().success());
    let again = world.start().await;
    assert!(again.stop().success());
    // Of each kind the owner is told once, and the words whose message has an odd id are answered.
    let (told, answers): (Vec<String>, Vec<String>) =
        world.bot_texts(ANN).into_iter().partition(|text| text.contains("that I cannot deal with"));
    assert_eq!((answers.len(), world.model.requests().len()), (2, 2), "{answers:?}");
    for kind in ["message", "edited_message", "callback_query", "my_chat_member"] {
        let of_kind = told.iter().filter(|text| text.contains(&format!("({kind})"))).count();
        assert_eq!(of_kind, 1, "{kind}: {told:?}");
    }
    assert_eq!(told.len(), 4, "{told:?}");
}

#[tokio::test]
async fn a_message_with_parts_from_the_future_is_answered() {
    let world = World::new().await;
    world.script.push(Reply::text("Shiny."));
    let _bot = world.start().await;
    let entities = vec![
        json!({"type": "sparkle", "offset": 0, "length": 4, "colour": {"name": "gold"}}),
        json!({"type": "bold", "offset": 900, "length": 7}),
        json!({"type": 9, "offset": -1, "length": "all"}),
        json!({"type": "custom_emoji", "offset": 5, "length": 2, "custom_emoji_id": "1"}),
    ];
    let say =
        Say::new(ANN, ANN, "Look 👀 here").entities(entities).field("hologram", json!({"depth": [1, 2, 3]}));
    world.telegram.send(say).unwrap();
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "Shiny.");
    assert!(world.model.requests()[0].user_text().contains("Look 👀 here"));
}

#[tokio::test]
async fn an_answer_follows_a_group_that_became_a_supergroup() {
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Lunch");
    world.telegram.set_member(GROUP, ANN, Standing::Owner).unwrap();
    let gate = Gate::new();
    world.script.push(Reply::text("Soup.").behind(&gate));
    let _bot = world.start().await;
    world.telegram.say(ANN, GROUP, "@figaro_bot what do we eat?").unwrap();
    world
        .model
        .wait_until(PATIENCE, |requests| requests.first().map(|_| ()))
        .await
        .expect("the model is asked");
    let new = world.telegram.require_migration(GROUP).unwrap();
    gate.open();
    assert_eq!(world.answers(new, 1).await[0]["text"], "Soup.");
    assert_eq!(world.bot_texts(GROUP), Vec::<String>::new());
    world.script.push(Reply::text("At noon."));
    world.telegram.say(ANN, new, "@figaro_bot and when?").unwrap();
    assert_eq!(world.answers(new, 2).await[1]["text"], "At noon.");
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_is_still_allowed() {
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Lunch");
    for user in [ANN, BOB] {
        world.telegram.set_member(GROUP, user, Standing::Member).unwrap();
    }
    let _bot = world.start().await;
    world.telegram.say(ANN, GROUP, "/allow@figaro_bot").unwrap();
    world.answers(GROUP, 1).await;
    let new = world.telegram.migrate(GROUP).unwrap();
    world.script.push(Reply::text("Soup."));
    world.telegram.say(BOB, new, "@figaro_bot what do we eat?").unwrap();
    assert_eq!(world.answers(new, 1).await[0]["text"], "Soup.");
}

#[tokio::test]
async fn a_person_who_blocked_the_bot_is_let_be() {
    let world = World::new().await;
    let gate = Gate::new();
    world.script.push(Reply::text("Too late.").behind(&gate));
    let bot = open(&world).await;
    world.telegram.say(BOB, BOB, "Never mind").unwrap();
    world
        .model
        .wait_until(PATIENCE, |requests| requests.first().map(|_| ()))
        .await
        .expect("the model is asked");
    world.telegram.bot_removed(BOB, BOB).unwrap();
    gate.open();
    until(&world, "a refusal", |view| !view.calls_of("sendMessage").is_empty()).await;
    for (said, answer) in [("Hello", "Hello Ann."), ("Bye", "Bye Ann.")] {
        world.script.push(Reply::text(answer));
        assert_eq!(world.ask(said).await["text"], answer);
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    assert!(bot.stop().success());
    let bot = open(&world).await;
    world.script.push(Reply::text("Good morning."));
    assert_eq!(world.ask("Morning").await["text"], "Good morning.");
    assert!(bot.stop().success());
    assert_eq!(attempts(&world, BOB), [false], "it is not tried again, not even after a restart");
}

#[tokio::test]
async fn drafts_that_fail_never_hold_an_answer_up() {
    let world = World::new().await;
    let _bot = world.start().await;
    let failures = [
        Failure::RetryAfter(30),
        status(400, "Bad Request: TEXTDRAFT_PEER_INVALID"),
        Failure::DropConnection,
        Failure::AppliedButDropped,
        Failure::Hang,
        status(500, "Internal Server Error"),
    ];
    for (n, failure) in failures.into_iter().enumerate() {
        world.telegram.fail("sendMessageDraft", failure.clone(), 1);
        let answer = format!("Answer {n} comes.");
        world.script.push(Reply::text(&answer).paced(0, Duration::from_millis(150)));
        let began = Instant::now();
        assert_eq!(world.ask("Well?").await["text"], answer);
        assert!(began.elapsed() < Duration::from_secs(7), "{failure:?}: {:?}", began.elapsed());
    }
    assert_eq!(world.bot_texts(ANN).len(), 6);
}

#[tokio::test]
async fn a_group_where_typing_cannot_be_shown_gets_its_answer() {
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Lunch");
    world.telegram.set_member(GROUP, ANN, Standing::Owner).unwrap();
    let forbidden = "Bad Request: not enough rights to send text messages to the chat";
    world.telegram.fail("sendChatAction", status(400, forbidden), 1);
    world.telegram.fail("sendChatAction", Failure::RetryAfter(30), 9);
    let _bot = world.start().await;
    for (n, answer) in ["Soup.", "At noon."].into_iter().enumerate() {
        world.script.push(Reply::text(answer));
        world.telegram.say(ANN, GROUP, "@figaro_bot well?").unwrap();
        assert_eq!(world.answers(GROUP, n + 1).await[n]["text"], answer);
    }
}

/// Deletes a topic as its admin would.
async fn delete_topic(world: &World, topic: i64) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let url = format!("{}/bot{}/deleteForumTopic", world.telegram.url(), world.telegram.token());
    world.telegram.set_member(FORUM, world.telegram.bot_id(), Standing::Admin).unwrap();
    let body = json!({"chat_id": FORUM, "message_thread_id": topic});
    let answer = reqwest::Client::builder().build().unwrap().post(url).json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

#[tokio::test]
async fn a_topic_that_was_deleted_meanwhile_costs_no_answer() {
    let world = World::new().await;
    world.telegram.add_forum(FORUM, "Workshop");
    world.telegram.set_member(FORUM, ANN, Standing::Owner).unwrap();
    let topic = world.telegram.add_topic(FORUM, "Ideas").unwrap();
    let gate = Gate::new();
    world.script.push(Reply::text("Paint it blue.").behind(&gate));
    let bot = world.start().await;
    world.telegram.send(Say::new(ANN, FORUM, "@figaro_bot which colour?").topic(topic)).unwrap();
    world
        .model
        .wait_until(PATIENCE, |requests| requests.first().map(|_| ()))
        .await
        .expect("the model is asked");
    delete_topic(&world, topic).await;
    gate.open();
    until(&world, "the answer", |view| {
        view.bot_messages(FORUM)
            .iter()
            .any(|m| m["text"] == "Paint it blue." && m["message_thread_id"].is_null())
    })
    .await;
    assert!(bot.stop().success());
    assert_eq!(attempts(&world, FORUM), [false, true]);
}

#[tokio::test]
async fn a_part_that_telegram_refuses_is_left_out_and_the_rest_is_sent() {
    let world = World::new().await;
    let _bot = world.start().await;
    let entities = "Bad Request: can't parse entities: byte offset 3 is wrong";
    world.telegram.fail("sendMessage", status(400, entities), 1);
    world.script.push(Reply::text("A **bold** word."));
    let answer = world.ask("Format").await;
    assert_eq!((&answer["text"], &answer["entities"]), (&json!("A bold word."), &Value::Null));
    world.telegram.fail("sendMessage", status(400, "Bad Request: chat not found"), 1);
    world.script.push(Reply::text("Lost."));
    world.telegram.say(ANN, ANN, "And this?").unwrap();
    world.script.push(Reply::text("A **bold** end."));
    world.telegram.say(ANN, ANN, "The end").unwrap();
    let end = world.answers(ANN, 2).await[1].clone();
    assert_eq!((&end["text"], &end["entities"][0]["type"]), (&json!("A bold end."), &json!("bold")));
    assert_eq!(attempts(&world, ANN), [false, true, false, true]);
}
