//! Turns that wait for an answer of a person: how the waiting ends without one, and what it lives through.

use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use figaro_offline::telegram::PlannedFailure;
use serde_json::{Value, json};

use super::parking::{COLOUR, LATE, answered, buttons_only, call, data, elicit, free, poll};
use super::task_tools::{LEAP, recurring};
use crate::support::calls::calls;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

#[tokio::test]
async fn stop_and_new_give_the_question_up() {
    for command in ["/stop", "/new"] {
        let world = World::new().await;
        let bot = world.start_open().await;
        let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
        // Also where the command comes before the bot knows which message that is.
        let told = world.told(BOB, BOB, command).await;
        assert_ne!(text(&told), "Nothing is running.", "{command}");
        let shown = world.shows(BOB, number(&card["message_id"]), "✗ Called off by Bob").await;
        assert!(text(&shown).starts_with(COLOUR) && labels(&shown).is_empty(), "{shown}");
        assert_eq!(world.forged(BOB, &card, &data(&card, "Red")).await, LATE, "{command}");
        world.asked_back((BOB, BOB), "cut it", json!({"question": "How long?"})).await;
        let told = world.told(BOB, BOB, command).await;
        assert_ne!(text(&told), "Nothing is running.", "{command}");
        world.when("two metres", ModelReply::text("Two metres of what?"));
        world.say(BOB, BOB, "two metres");
        world.card_with(BOB, "Two metres of what?").await;
        assert_eq!((world.passes("paint it"), world.passes("cut it")), (1, 1), "{command}");
        world.caught_up().await;
        world.all_well();
        assert_eq!(world.parked(bot).await, Vec::<Value>::new(), "{command}");
    }
}

#[tokio::test]
async fn where_the_buttons_stay_a_press_is_late_and_takes_them_off() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.telegram.fail("editMessageReplyMarkup", PlannedFailure::DropConnection, 1);
    let both = json!({"question": "Which size?", "options": ["Small", "Large"], "free": true});
    let card = world.asked_back((BOB, BOB), "cut it", both).await;
    world.say(BOB, BOB, "neither of them");
    world.card_with(BOB, "End of cut it.").await;
    world
        .see("the call that fails", |view| view.calls_of("editMessageReplyMarkup").first().map(|_| ()))
        .await;
    assert_eq!(world.press(BOB, &card, "Small").await, LATE);
    world.without_buttons(&card).await;
    assert_eq!(world.told_model("cut it"), [answered("neither of them")]);
}

#[tokio::test]
async fn retry_asks_the_same_again_and_the_old_question_is_late() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    // Never given: the first waiting ends before.
    let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    world.say(BOB, BOB, "/retry");
    world.card_with(BOB, "End of paint it.").await;
    let again = world.last_of("paint it");
    assert_eq!((again.input().len(), again.tool_results().len()), (1, 0), "nothing of the first try");
    world.without_buttons(&card).await;
    assert_eq!(world.forged(BOB, &card, &data(&card, "Red")).await, LATE);
    world.when("and now", ModelReply::text("Nothing."));
    world.say(BOB, BOB, "and now?");
    world.card_with(BOB, "Nothing.").await;
    let later = world.last_of("and now").body["input"].to_string();
    assert!(!later.contains(COLOUR) && later.matches("End of paint it.").count() == 1, "{later}");
    world.all_well();
}

#[tokio::test]
async fn it_goes_on_after_a_kill_and_writes_once() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let gate = Gate::new();
    world.when(
        "paint it",
        ModelReply::turn(vec![
            poll(),
            elicit(buttons_only()),
            call("add_note", json!({"key": "k", "content": "c"})),
        ]),
    );
    world.when("paint it", ModelReply::text("never seen").behind(&gate));
    world.say(BOB, BOB, "paint it");
    let card = world.card_with(BOB, COLOUR).await;
    world.caught_up().await;
    bot.kill();
    let bot = world.start_open().await;
    world.press(BOB, &card, "Red").await;
    let find = |requests: &[ModelRequest]| {
        (requests.iter().filter(|r| r.user_text().contains("paint it")).count() == 2).then_some(())
    };
    world.model.wait_until(TIMEOUT, find).await.expect("the second pass");
    bot.kill();
    world.when("paint it", ModelReply::text("End of paint it."));
    let bot = world.start_open().await;
    world.card_with(BOB, "End of paint it.").await;
    let told = world.last_of("paint it");
    let names: Vec<_> = told.tool_results().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["sendPoll", "action", "add_note"]);
    let results = world.told_model("paint it");
    assert!(results.iter().all(|result| result["success"] == true), "{results:?}");
    assert_eq!(results[1], answered("Red"));
    world.caught_up().await;
    let polls = world.telegram.view(|view| view.calls_of("sendPoll").len());
    let cards = world.bot_texts(BOB).iter().filter(|text| text.starts_with(COLOUR)).count();
    assert_eq!((polls, cards, world.passes("paint it")), (1, 1, 3));
    world.all_well();
    assert_eq!(world.parked(bot).await, Vec::<Value>::new());
}

#[tokio::test]
async fn words_answer_after_a_kill_too() {
    let world = World::new().await;
    let bot = world.start_open().await;
    world.asked_back((BOB, BOB), "paint it", free()).await;
    // A question whose delivery is not confirmed is sent again, and only words behind that answer it.
    world.caught_up().await;
    bot.kill();
    world.say(BOB, BOB, "said while nobody listened");
    let _bot = world.start_open().await;
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("said while nobody listened")]);
    world.caught_up().await;
    assert_eq!(world.asked().len(), 2);
    world.all_well();
}

#[tokio::test]
async fn odd_questions_are_shown_as_they_are_or_refused() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let long = "a very long choice with ünïcode 😀 ".repeat(6).chars().take(64).collect::<String>();
    let odd = json!({"question": "1 < 2 & *one_of* [these](x)?", "options": [long, "Red", "Red:2|x"], "minutes": 1});
    world.parks("odd one", vec![elicit(odd)], "End of odd one.");
    world.say(BOB, BOB, "odd one");
    let card = world.card_with(BOB, "1 < 2 & one_of").await;
    world.press(BOB, &card, "a very long").await;
    world.card_with(BOB, "End of odd one.").await;
    assert_eq!(world.told_model("odd one"), [answered(&long)]);
    let many: Vec<String> = (0..200).map(|n| format!("choice {n}")).collect();
    let refused = [
        json!({}),
        json!({"question": ""}),
        json!({"question": "   "}),
        json!({"question": "x".repeat(5000)}),
        json!({"question": "Which?", "options": ["", "b"]}),
        json!({"question": "Which?", "options": many}),
        json!({"question": "Which?", "minutes": 0}),
        json!({"question": "Which?", "minutes": -5}),
        json!({"question": "Which?", "minutes": 9_000_000_000_000_000_i64}),
        json!({"question": "Which?", "colour": "red"}),
        json!("Which?"),
    ];
    for (n, payload) in refused.into_iter().enumerate() {
        let (said, end) = (format!("bad one {n} here"), format!("End of bad one {n}."));
        world.parks(&said, vec![elicit(payload)], &end);
        world.say(BOB, BOB, &said);
        world.card_with(BOB, &end).await;
        assert_eq!(world.told_model(&said)[0]["success"], false, "{said}");
    }
    world.caught_up().await;
    assert_eq!(world.refused(), Vec::<String>::new());
    bot.ends_well().await;
}

#[tokio::test]
async fn a_question_moves_with_its_group() {
    const GROUP: i64 = -500;
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Team");
    world.join(GROUP);
    let _bot = world.start_open().await;
    let card = world.asked_back((BOB, GROUP), "paint it", buttons_only()).await;
    let new = world.telegram.migrate(GROUP).unwrap();
    world.caught_up().await;
    world.press(BOB, &card, "Red").await;
    world.card_with(new, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Red")]);
    world.when("and now", ModelReply::text("Nothing."));
    world.say(BOB, new, "@figaro_bot and now?");
    world.card_with(new, "Nothing.").await;
    let later = world.last_of("and now").body["input"].to_string();
    assert!(later.contains("End of paint it."), "{later}");
    let refused = world.refused();
    assert!(refused.iter().all(|call| call.contains("upgraded")), "{refused:?}");
}

#[tokio::test]
async fn who_lost_access_answers_no_more_until_it_is_given_back() {
    let world = World::new().await;
    let bot = world.start().await;
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    let free_card = world.asked_back((BOB, BOB), "cut it", json!({"question": "How long?"})).await;
    world.told(ANN, ANN, &format!("/deny {BOB}")).await;
    world.press(BOB, &card, "Red").await;
    world.say(BOB, BOB, "two metres");
    world.caught_up().await;
    assert_eq!((world.passes("paint it"), world.passes("cut it")), (1, 1));
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    assert!(text(&free_card).contains("How long?"));
    world.press(BOB, &card, "Red").await;
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Red")]);
    world.all_well();
    bot.ends_well().await;
}

#[tokio::test]
async fn when_its_time_is_over_the_person_is_told_and_a_press_is_late() {
    let world = World::without_privacy().await;
    world.team();
    let bot = world.start_open().await;
    let cards = [
        world.asked_back((BOB, BOB), "paint it", buttons_only()).await,
        world
            .asked_back(
                (BOB, TEAM),
                "cut it",
                json!({"question": "How long?", "options": ["Long", "Short"], "free": true, "minutes": 5}),
            )
            .await,
    ];
    world.expire(bot).await;
    let bot = world.start_open().await;
    let word = world.card_with(BOB, "I no longer wait for an answer to: “Which colour?”").await;
    assert!(labels(&word).is_empty(), "{word}");
    world.card_with(TEAM, "I no longer wait for an answer to: “How long?”").await;
    for (card, label) in cards.iter().zip(["Red", "Long"]) {
        world.without_buttons(card).await;
        assert_eq!(world.forged(BOB, card, &data(card, label)).await, LATE);
    }
    world.when("still there", ModelReply::text("Yes."));
    world.say(BOB, BOB, "still there?");
    world.card_with(BOB, "Yes.").await;
    let whole = world.last_of("still there").body["input"].to_string();
    assert!(!whole.contains("function_call"), "{whole}");
    assert_eq!((world.passes("paint it"), world.passes("cut it")), (1, 1));
    world.all_well();
    assert_eq!(world.parked(bot).await, Vec::<Value>::new());
    let bot = world.start_open().await;
    world.caught_up().await;
    let words = world.bot_texts(BOB).iter().filter(|text| text.contains("no longer wait")).count();
    assert_eq!(words, 1, "it is said once");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_task_asks_nobody() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let task = recurring("Say what is new.", LEAP);
    let made = calls(&world, (BOB, BOB), "the news, please", vec![("schedule_task", task)]).await;
    assert_eq!(made[0]["success"], true, "{made:?}");
    world.parks("Say what is new.", vec![elicit(buttons_only())], "Nothing new.");
    let is_card = |m: &&&Value| text(m).contains("⏰ Say what is new") && !labels(m).is_empty();
    let card =
        world.see("the card", |view| view.bot_messages(BOB).iter().find(is_card).map(|m| (*m).clone())).await;
    world.press(BOB, &card, "Run now").await;
    world.card_with(BOB, "Nothing new.").await;
    assert_eq!(world.told_model("Say what is new.")[0]["success"], false);
    assert!(!world.bot_texts(BOB).iter().any(|text| text.contains(COLOUR)));
    world.all_well();
    assert_eq!(world.parked(bot).await, Vec::<Value>::new());
}

#[tokio::test]
async fn stopped_while_the_question_is_being_sent_it_waits_for_nothing() {
    let world = World::new().await;
    let bot = world.start_open().await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    world.parks("paint it", vec![elicit(free())], "never seen");
    world.say(BOB, BOB, "paint it");
    world.see("the question on its way", |view| view.calls_of("sendMessage").first().map(|_| ())).await;
    world.say(BOB, BOB, "/stop");
    world.card_with(BOB, "Called off: Which colour?").await;
    assert_eq!(world.parked(bot).await, Vec::<Value>::new());
    let _bot = world.start_open().await;
    world.when("Green", ModelReply::text("A fine colour."));
    world.say(BOB, BOB, "Green");
    world.card_with(BOB, "A fine colour.").await;
    assert_eq!(world.passes("paint it"), 1);
}

#[tokio::test]
async fn a_question_that_was_being_sent_when_the_bot_was_killed_is_sent_once() {
    let world = World::new().await;
    let bot = world.start_open().await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    world.parks("paint it", vec![elicit(buttons_only())], "End of paint it.");
    world.say(BOB, BOB, "paint it");
    world.see("the question on its way", |view| view.calls_of("sendMessage").first().map(|_| ())).await;
    bot.kill();
    let _bot = world.start_open().await;
    let card = world.card_with(BOB, COLOUR).await;
    assert_eq!(labels(&card), ["Red", "Blue"]);
    world.press(BOB, &card, "Blue").await;
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Blue")]);
    assert_eq!((world.bot_texts(BOB).len(), world.passes("paint it")), (2, 2));
}

#[tokio::test]
async fn an_edit_comes_too_late_for_a_turn_that_waits() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.parks("paint it", vec![elicit(buttons_only())], "End of paint it.");
    let sent = world.say(BOB, BOB, "paint it");
    let card = world.card_with(BOB, COLOUR).await;
    world.telegram.edit(BOB, BOB, sent.message_id, "burn it").unwrap();
    world.caught_up().await;
    world.press(BOB, &card, "Red").await;
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!((world.passes("paint it"), world.passes("burn it")), (2, 0));
    world.all_well();
}

#[tokio::test]
async fn three_questions_wait_for_a_person_in_a_conversation_and_no_more() {
    let world = World::new().await;
    let bot = world.start_open().await;
    for n in 1..=3 {
        let question = json!({"question": format!("Colour {n}?"), "options": ["Red", "Blue"]});
        world.asked_back((BOB, BOB), &format!("paint {n}"), question).await;
    }
    world.parks("paint 4", vec![elicit(buttons_only())], "Too many.");
    world.say(BOB, BOB, "paint 4");
    world.card_with(BOB, "Too many.").await;
    assert_eq!(world.told_model("paint 4")[0]["success"], false);
    let first = world.card_with(BOB, "Colour 1?").await;
    world.press(BOB, &first, "Blue").await;
    world.card_with(BOB, "End of paint 1.").await;
    world.asked_back((BOB, BOB), "paint 5", buttons_only()).await;
    world.all_well();
    assert_eq!(world.parked(bot).await.len(), 3);
}

#[tokio::test]
async fn every_kind_of_provider_takes_what_a_turn_goes_on_with() {
    for provider in ["openai", "compatible", "ollama", "gemini"] {
        let world = World::new().await;
        let bot = world.bot_of(provider).set("ACCESS", "open").spawn();
        bot.ready().await;
        world.parks(
            "paint it",
            vec![poll(), elicit(buttons_only()), call("add_note", json!({"key": "k", "content": "c"}))],
            "End of paint it.",
        );
        world.say(BOB, BOB, "paint it");
        let card = world.card_with(BOB, COLOUR).await;
        world.when("how late is it", ModelReply::text("Noon."));
        world.say(BOB, BOB, "how late is it?");
        world.card_with(BOB, "Noon.").await;
        world.press(BOB, &card, "Red").await;
        world.card_with(BOB, "End of paint it.").await;
        assert_eq!(world.told_model("paint it")[1], answered("Red"), "{provider}");
        world.when("and now", ModelReply::text("Nothing."));
        world.say(BOB, BOB, "and now?");
        world.card_with(BOB, "Nothing.").await;
        assert_eq!(world.refused(), Vec::<String>::new());
        assert_eq!(world.model.violations(), Vec::<String>::new(), "{provider}");
    }
}
