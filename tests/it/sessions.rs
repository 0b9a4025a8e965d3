//! Sessions as people see them: listed, gone on with, named, saved, deleted, with a model of their own; and how they and
//! their topics get names.

use std::time::Duration;

use figaro_base::ids::{ChatId, TopicId};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use super::task_tools::{now, scene, start};
use crate::support::calls::says;
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::wait::eventually;
use crate::support::wait::recorded;
use crate::support::{ANN, BOB, TIMEOUT, World};

const GONE: &str = "This is no longer up to date.";
const ADMINS: &str = "Only an admin of this chat can do that.";

fn here(chat: i64) -> ConversationId {
    ConversationId { chat: ChatId(chat), topic: None }
}

/// Someone asks in their own chat, and gets this answer.
async fn asks(world: &World, who: i64, words: &str) -> ModelRequest {
    let answer = format!("Answer to {words}");
    world.when(words, ModelReply::text(&answer));
    world.say(who, who, words);
    says(world, who, &answer).await;
    world.asked().into_iter().rev().find(|request| request.user_text().contains(words)).unwrap()
}

/// Row labels without their dates: the mark and the name.
fn rows(card: &Value) -> Vec<String> {
    let row = |label: &String| {
        let parts: Vec<&str> = label.split(" · ").collect();
        (parts.len() == 2).then(|| parts[0].to_owned())
    };
    labels(card).iter().filter_map(row).collect()
}

async fn list(world: &World, who: i64, chat: i64) -> Value {
    world.told(who, chat, "/sessions@figaro_bot").await
}

#[tokio::test]
async fn a_session_is_listed_gone_on_with_named_saved_and_deleted() {
    let (world, _bot) = scene().await;
    let empty = list(&world, BOB, BOB).await;
    assert!(text(&empty).starts_with("Nothing was said here yet."), "{empty}");
    asks(&world, BOB, "what is Riga like?").await;
    let told = world.told(BOB, BOB, "/new  Trip to\nRome ").await;
    assert!(text(&told).starts_with("New conversation: “Trip to Rome”."), "{told}");
    let request = asks(&world, BOB, "what of Rome?").await;
    assert!(!request.body.to_string().contains("Riga"), "{request:?}");

    let card = list(&world, BOB, BOB).await;
    assert_eq!(rows(&card), ["✓ Trip to Rome", "what is Riga like?"]);
    world.press(BOB, &card, "what is Riga like?").await;
    let id = number(&card["message_id"]);
    let opened = world.shows(BOB, id, "Messages: 2\nModel: ").await;
    let wanted = ["Continue", "Rename", "Model", "Save as a file", "Delete", "‹ Back"];
    assert_eq!(labels(&opened), wanted);
    assert_eq!(world.press(BOB, &card, "Continue").await, "“what is Riga like?” is open again.");
    let opened = world.shows(BOB, id, "It goes on here").await;
    assert!(!labels(&opened).contains(&"Continue".to_owned()), "{opened}");
    let request = asks(&world, BOB, "and in winter?").await;
    let all = request.body.to_string();
    assert!(all.contains("what is Riga like?") && !all.contains("Rome"), "{all}");

    // The new name is a reply to the question for it.
    world.press(BOB, &card, "Rename").await;
    let question = says(&world, BOB, "What should I call").await;
    let asks_reply = |view: &TelegramView<'_>| {
        let last = view.calls_of("sendMessage").into_iter().last()?;
        (last.args["reply_markup"]["force_reply"] == true).then_some(())
    };
    world.see("that it asks for a reply", asks_reply).await;
    let reply = Say::new(BOB, BOB, " My  Riga\nnotes ").reply_to(number(&question["message_id"]));
    world.telegram.send(reply).unwrap();
    says(&world, BOB, "It is called “My Riga notes” now.").await;

    assert_eq!(world.press(BOB, &card, "Save as a file").await, "Here it is, as a file.");
    let file = world.see("the file", |view| {
        let sent = view.bot_messages(BOB).into_iter().find(|m| m["document"].is_object())?;
        let content = view.file(sent["document"]["file_id"].as_str()?)?;
        Some((sent["document"]["file_name"].clone(), String::from_utf8(content.to_vec()).unwrap()))
    });
    let (name, content) = file.await;
    assert!(name.as_str().unwrap().starts_with("conversation-"), "{name}");
    assert!(content.starts_with("# My Riga notes\n"), "{content}");
    for part in ["## Bob · ", "what is Riga like?", "## Figaro · ", "Answer to and in winter?"] {
        assert!(content.contains(part), "{part} is not in {content}");
    }
    assert!(!content.contains("Rome"), "{content}");

    world.press(BOB, &card, "Delete").await;
    let asked = world.shows(BOB, id, "Delete “My Riga notes” for good?").await;
    assert!(text(&asked).contains("its 4 messages"), "{asked}");
    assert_eq!(world.press(BOB, &card, "Delete").await, "I deleted “My Riga notes” and its 4 messages.");
    let left = world.shows(BOB, id, "Conversations").await;
    assert_eq!(rows(&left), ["Trip to Rome"]);
    let request = asks(&world, BOB, "a new start").await;
    assert_eq!(request.input().len(), 1, "neither the deleted one nor the other: {request:?}");
}

#[tokio::test]
async fn many_sessions_are_paged_and_a_running_one_is_not_deleted() {
    let (world, bot) = scene().await;
    for number in 0..10 {
        asks(&world, BOB, &format!("talk number {number}")).await;
        world.told(BOB, BOB, "/new").await;
        // One that nothing is said in is not listed.
        world.told(BOB, BOB, "/NEW").await;
    }
    let card = list(&world, BOB, BOB).await;
    assert_eq!(rows(&card).len(), 8, "{:?}", labels(&card));
    assert_eq!(rows(&card)[..2], ["✓ New conversation", "talk number 9"]);
    world.press(BOB, &card, "Next ▶").await;
    let find = |view: &TelegramView<'_>| {
        let now = view.messages(BOB).into_iter().find(|m| m["message_id"] == card["message_id"])?;
        labels(now).contains(&"◀ Previous".to_owned()).then(|| now.clone())
    };
    let second = world.see("the second page", find).await;
    assert_eq!(rows(&second), ["talk number 2", "talk number 1", "talk number 0"]);

    let gate = Gate::new();
    world.when("takes long", ModelReply::text("At last.").behind(&gate));
    world.say(BOB, BOB, "this takes long");
    let find = |asked: &[ModelRequest]| {
        asked.iter().any(|request| request.user_text().contains("takes long")).then_some(())
    };
    world.model.wait_until(TIMEOUT, find).await.unwrap();
    let card = list(&world, BOB, BOB).await;
    world.press(BOB, &card, "✓ this takes long").await;
    world.shows(BOB, number(&card["message_id"]), "Messages: 1").await;
    world.press(BOB, &card, "Delete").await;
    world.shows(BOB, number(&card["message_id"]), "for good?").await;
    let busy = "An answer is being written in it. Wait for it, or end it with /stop.";
    assert_eq!(world.press(BOB, &card, "Delete").await, busy);
    gate.open();
    says(&world, BOB, "At last.").await;
    world.caught_up().await;
    assert_eq!(world.press(BOB, &card, "Delete").await, "I deleted “this takes long” and its 2 messages.");
    drop(bot);
}

#[tokio::test]
async fn in_a_group_members_go_on_and_admins_do_the_rest() {
    let (world, _bot) = scene().await;
    world.when("lunch", ModelReply::text("At noon."));
    world.say(BOB, TEAM, "@figaro_bot lunch");
    says(&world, TEAM, "At noon.").await;
    world.told(BOB, TEAM, "/new@figaro_bot").await;
    let card = list(&world, BOB, TEAM).await;
    assert_eq!(rows(&card), ["✓ New conversation", "@figaro_bot lunch"]);
    world.press(BOB, &card, "@figaro_bot lunch").await;
    let opened = world.shows(TEAM, number(&card["message_id"]), "Messages: 2").await;
    assert_eq!(labels(&opened), ["Continue", "‹ Back"]);
    assert_eq!(world.press(BOB, &card, "Continue").await, "“@figaro_bot lunch” is open again.");
    let card = list(&world, ANN, TEAM).await;
    world.press(ANN, &card, "✓ @figaro_bot lunch").await;
    let opened = world.shows(TEAM, number(&card["message_id"]), "Messages: 2").await;
    for label in ["Rename", "Model", "Save as a file", "Delete"] {
        assert_eq!(world.press(BOB, &card, label).await, ADMINS, "{label}");
    }
    let delete = buttons(&opened).into_iter().find(|(label, _)| label == "Delete").unwrap().1;
    let really = delete.replace(":ask:", ":drop:");
    assert_eq!(world.forged(BOB, &opened, &really).await, ADMINS);

    // A reply of a member to the question of an owner names nothing.
    world.press(ANN, &card, "Rename").await;
    let question = says(&world, TEAM, "What should I call").await;
    assert!(text(&question).starts_with("@ann "), "{question}");
    let reply = |who| Say::new(who, TEAM, "Food").reply_to(number(&question["message_id"]));
    world.telegram.send(reply(BOB)).unwrap();
    says(&world, TEAM, ADMINS).await;
    world.telegram.send(reply(ANN)).unwrap();
    says(&world, TEAM, "It is called “Food” now.").await;

    // Buttons of another chat do nothing here.
    asks(&world, BOB, "a secret").await;
    let own = list(&world, BOB, BOB).await;
    let data = buttons(&own)[0].1.clone();
    for verb in ["open", "use", "save", "drop"] {
        let toast = world.forged(ANN, &opened, &data.replace(":open:", &format!(":{verb}:"))).await;
        assert_eq!(toast, GONE, "{verb}");
    }
    assert!(!world.bot_texts(TEAM).iter().any(|text| text.contains("a secret")));
    assert_eq!(rows(&list(&world, BOB, BOB).await), ["✓ a secret"]);
}

#[tokio::test]
async fn a_session_has_a_model_of_its_own() {
    let world = World::new().await;
    let bot = world.many().spawn();
    bot.ready().await;
    asks(&world, BOB, "the usual one").await;
    let card = list(&world, BOB, BOB).await;
    world.press(BOB, &card, "✓ the usual one").await;
    let id = number(&card["message_id"]);
    world.shows(BOB, id, "Model: openai:gpt-4.1-mini, as everywhere in this chat").await;
    world.press(BOB, &card, "Model").await;
    world.shows(BOB, id, "answers in this conversation only").await;
    assert_eq!(world.press(BOB, &card, "compatible:offline-text").await, "Saved.");
    world.shows(BOB, id, "Model: compatible:offline-text, in this conversation only").await;
    assert_eq!(asks(&world, BOB, "another one").await.model(), "offline-text");
    // The chat's own choice counts behind it.
    world.told(BOB, BOB, "/model gemini:gemini-2.5-flash").await;
    assert_eq!(asks(&world, BOB, "once more").await.model(), "offline-text");
    world.told(BOB, BOB, "/new").await;
    assert_eq!(asks(&world, BOB, "elsewhere").await.model(), "gemini-2.5-flash");
    let card = list(&world, BOB, BOB).await;
    world.press(BOB, &card, "the usual one").await;
    let id = number(&card["message_id"]);
    world.shows(BOB, id, "Messages: 6").await;
    world.press(BOB, &card, "Continue").await;
    world.press(BOB, &card, "Model").await;
    world.shows(BOB, id, "answers in this conversation only").await;
    assert_eq!(world.press(BOB, &card, "The bot's own").await, "Saved.");
    assert_eq!(asks(&world, BOB, "back again").await.model(), "gemini-2.5-flash");
}

#[tokio::test]
async fn topics_of_a_private_chat_are_conversations_of_their_own() {
    let (world, _bot) = scene().await;
    let topic = world.telegram.add_topic(BOB, "Garden").unwrap();
    let before = world.bot_texts(BOB).len();
    world.when("roses", ModelReply::text("Water them."));
    world.telegram.send(Say::new(BOB, BOB, "my roses").topic(topic)).unwrap();
    let answer = says(&world, BOB, "Water them.").await;
    assert_eq!(answer["message_thread_id"], topic);
    let request = asks(&world, BOB, "outside of it").await;
    assert_eq!(request.input().len(), 1, "it does not see the topic");
    world.telegram.send(Say::new(BOB, BOB, "/sessions").topic(topic)).unwrap();
    let card = says(&world, BOB, "Conversations").await;
    assert_eq!((rows(&card), &card["message_thread_id"]), (vec!["✓ my roses".to_owned()], &json!(topic)));
    assert_eq!(rows(&list(&world, BOB, BOB).await), ["✓ outside of it"]);
    assert_eq!(world.bot_texts(BOB).len(), before + 4);
    assert_eq!(world.refused(), Vec::<String>::new());
}

/// Waits until the current session of a chat is listed by this name.
async fn named(world: &World, who: i64, name: &str) {
    eventually(
        || format!("no session is called {name}; asked: {:?}", world.model.naming_requests()),
        async || {
            let card = list(world, who, who).await;
            labels(&card).iter().any(|label| label.contains(name)).then_some(())
        },
    )
    .await;
}

/// Waits until the model was asked for so many names.
async fn names_asked(world: &World, count: usize) -> Vec<ModelRequest> {
    world.asked_for(OfflineModel::naming_requests, "", count).await
}

#[tokio::test]
async fn a_session_is_named_after_its_first_exchange_and_once() {
    let world = World::new().await;
    let bot = start(&world, &[("SESSION_NAMES", "on")]).await;
    world.script.name_next(ModelReply::text("\"**Winter in Riga**.\"\nBecause it fits"));
    asks(&world, BOB, "is Riga cold?").await;
    named(&world, BOB, "✓ Winter in Riga · ").await;
    let asked = names_asked(&world, 1).await.remove(0);
    assert!(asked.tool_names().is_empty() && !asked.offers_search());
    let said = asked.user_text();
    assert!(said.contains("<said by=\"person\">is Riga cold?</said>"), "{said}");
    assert!(said.contains("<said by=\"assistant\">Answer to is Riga cold?</said>"), "{said}");
    asks(&world, BOB, "and Rome?").await;
    world.caught_up().await;
    // Only the marker's own conversation was named since.
    let names = |who: &str| {
        let asked = world.model.naming_requests();
        asked.iter().filter(|request| request.user_text().contains(who)).count()
    };
    assert_eq!(names("Riga"), 1);

    // Whoever names it has the last word, and nobody is asked for what has a name.
    world.told(BOB, BOB, "/new Rome").await;
    asks(&world, BOB, "what of Rome?").await;
    world.caught_up().await;
    assert_eq!(names("what of Rome?"), 0);

    // The language that the chat has set counts.
    world.told(BOB, BOB, "/config language Portuguese").await;
    world.told(BOB, BOB, "/new").await;
    asks(&world, BOB, "one more talk").await;
    named(&world, BOB, "One more talk").await;
    let asked = world.model.naming_requests();
    let last = asked.iter().rev().find(|request| request.user_text().contains("one more talk")).unwrap();
    assert!(last.instructions().contains("Portuguese"), "{}", last.instructions());
    bot.ends_well().await;
}

#[tokio::test]
async fn a_name_that_fails_is_tried_again_with_later_exchanges_and_not_for_ever() {
    let world = World::new().await;
    let settings = [("SESSION_NAMES", "on")];
    let bot = start(&world, &settings).await;
    let gate = Gate::new();
    world.script.name_next(ModelReply::status(400, "no"));
    world.script.name_next(ModelReply::text("Never seen").behind(&gate));
    world.script.name_next(ModelReply::text("***"));
    asks(&world, BOB, "first words").await;
    names_asked(&world, 1).await;
    bot.logged("a session could not be named").await;
    asks(&world, BOB, "second words").await;
    names_asked(&world, 2).await;
    // The bot is killed while it is asked for; the next exchange is the last that asks.
    recorded().await;
    bot.kill();
    let bot = start(&world, &settings).await;
    gate.open();
    asks(&world, BOB, "third words").await;
    names_asked(&world, 3).await;
    asks(&world, BOB, "fourth words").await;
    asks(&world, BOB, "fifth words").await;
    world.caught_up().await;
    bot.ends_well().await;
    let asked = world.model.naming_requests();
    let own = asked.iter().filter(|request| request.user_text().contains("first words")).count();
    assert_eq!(own, 3);
    let store = world.stored().await;
    let session = store.sessions().of_conversation(here(BOB)).unwrap().remove(0);
    assert_eq!((session.name, session.naming_tries), (None, 3));
}

#[tokio::test]
async fn a_name_costs_no_turn_its_time_and_counts_to_the_caps() {
    let world = World::new().await;
    let settings = [("SESSION_NAMES", "on"), ("DAILY_TOKENS", "40000")];
    let bot = start(&world, &settings).await;
    let gate = Gate::new();
    world.script.name_next(ModelReply::text("Slow name").usage(300, 50).behind(&gate));
    asks(&world, BOB, "quick question").await;
    names_asked(&world, 1).await;
    asks(&world, BOB, "the next one is answered meanwhile").await;
    gate.open();
    named(&world, BOB, "Slow name").await;
    // Less than a tenth of the day is left for what nobody waits for.
    world.script.push(ModelReply::text("Thrifty.").usage(36_500, 50));
    world.told(BOB, BOB, "/new").await;
    world.say(BOB, BOB, "a last question");
    says(&world, BOB, "Thrifty.").await;
    let usage = world.told(BOB, BOB, "/usage").await;
    assert!(text(&usage).contains("in the background (names, summaries, memory): 350 tokens · "), "{usage}");
    bot.ends_well().await;
    let asked = world.model.naming_requests();
    assert!(!asked.iter().any(|request| request.user_text().contains("a last question")), "{asked:?}");
}

#[tokio::test]
async fn a_topic_without_a_title_gets_the_name_of_its_first_session() {
    let world = World::new().await;
    let bot = start(&world, &[("SESSION_NAMES", "on")]).await;
    let [made_up, chosen, renamed] =
        ["New", "Garden", "New"].map(|name| world.telegram.add_topic(BOB, name).unwrap());
    let note = |topic: i64, extra: Value| {
        let mut message = json!({
            "message_id": topic, "message_thread_id": topic, "is_topic_message": true, "date": 1_780_000_000,
            "chat": {"id": BOB, "type": "private"}, "from": {"id": BOB, "is_bot": false, "first_name": "Bob"},
        });
        message.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        world.telegram.push_raw(json!({"message": message}));
    };
    let created = |implicit: bool| json!({"forum_topic_created": {"name": "New", "icon_color": 1, "is_name_implicit": implicit}});
    note(made_up, created(true));
    note(chosen, json!({"forum_topic_created": {"name": "Garden", "icon_color": 1}}));
    note(renamed, created(true));
    note(renamed, json!({"forum_topic_edited": {"name": "Mine"}}));
    for (topic, words) in [(made_up, "watering roses"), (chosen, "cutting trees"), (renamed, "digging holes")]
    {
        world.when(words, ModelReply::text(&format!("Answer to {words}")));
        world.telegram.send(Say::new(BOB, BOB, words).topic(topic)).unwrap();
        says(&world, BOB, &format!("Answer to {words}")).await;
    }
    names_asked(&world, 3).await;
    let titles = |view: &TelegramView<'_>| -> Vec<(i64, String)> {
        let of =
            |args: &Value| (number(&args["message_thread_id"]), args["name"].as_str().unwrap().to_owned());
        view.calls_of("editForumTopic").into_iter().map(|call| of(&json!(call.args))).collect()
    };
    world.see("the title", |view| (!titles(view).is_empty()).then_some(())).await;
    // A second session of the topic leaves the title as it is.
    world.telegram.send(Say::new(BOB, BOB, "/new").topic(made_up)).unwrap();
    says(&world, BOB, "New conversation.").await;
    world.when("planting trees", ModelReply::text("Answer to planting trees"));
    world.telegram.send(Say::new(BOB, BOB, "planting trees").topic(made_up)).unwrap();
    says(&world, BOB, "Answer to planting trees").await;
    names_asked(&world, 4).await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(world.telegram.view(titles), [(made_up, "Watering roses".to_owned())]);
    let store = world.stored().await;
    let of_topic = |topic| ConversationId { chat: ChatId(BOB), topic: Some(TopicId(topic)) };
    for (topic, name) in [(chosen, "Cutting trees"), (renamed, "Digging holes")] {
        let session = store.sessions().of_conversation(of_topic(topic)).unwrap().remove(0);
        assert_eq!(session.name.unwrap().text, name);
    }
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_kill_while_a_session_is_deleted_leaves_all_of_it_or_nothing() {
    let world = World::new().await;
    let (mut whole, mut gone) = (0, 0);
    for delay in [0, 2, 5, 10, 20, 40] {
        let store = world.stored().await;
        let session = store.conversations().new_session(here(BOB), now()).await.unwrap();
        for number in 0..400 {
            let words = format!("message {number} {}", "of many words ".repeat(10));
            store.conversations().append(Message::new(session.id, MessageRole::User, words, now())).unwrap();
        }
        drop(store);
        let bot = start(&world, &[]).await;
        let card = list(&world, BOB, BOB).await;
        world.press(BOB, &card, "✓ message 0").await;
        world.shows(BOB, number(&card["message_id"]), "Messages: 400").await;
        world.press(BOB, &card, "Delete").await;
        let asked = world.shows(BOB, number(&card["message_id"]), "for good?").await;
        let data = buttons(&asked).into_iter().find(|(label, _)| label == "Delete").unwrap().1;
        world.telegram.press(BOB, BOB, number(&card["message_id"]), &data).unwrap();
        tokio::time::sleep(Duration::from_millis(delay)).await;
        bot.kill();
        let store = world.stored().await;
        let left = store.conversations().recent(session.id, usize::MAX).unwrap().len();
        let known = store.sessions().find(session.id).unwrap();
        let listed =
            store.sessions().of_conversation(here(BOB)).unwrap().iter().any(|one| one.id == session.id);
        match known {
            Some(_) => assert!(left == 400 && listed, "{left} messages are left"),
            None => assert!(left == 0 && !listed, "{left} messages are left"),
        }
        whole += usize::from(left == 400);
        gone += usize::from(left == 0);
        drop(store);
        // What was pressed is done, if not before then by the next start.
        let bot = start(&world, &[]).await;
        world.shows(BOB, number(&card["message_id"]), "").await;
        world.caught_up().await;
        bot.ends_well().await;
        assert_eq!(world.stored().await.sessions().find(session.id).unwrap(), None, "after {delay} ms");
    }
    assert_eq!(whole + gone, 6);
}
