//! `/why`: what decided about a message, for whoever wrote it and for owners, and nothing of anybody else's memory.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, Say};
use serde_json::json;

use crate::memories::{ON, proposes, remembered};
use crate::support::calls::says;
use crate::support::scene::{TEAM, number, text};
use crate::support::{ANN, BOB, World, listener};
use crate::task_tools::{scene, start};

const CARL: i64 = 13;
const NOT_YOURS: &str = "Only whoever wrote that message, or an owner of this bot, can ask me about it.";
const NEVER: &str = "I know nothing of this message.";
const HIDDEN: &str = "I am no admin here and Telegram’s privacy mode is on";

/// Someone asks about a message, by a reply to it; gives what they are told.
async fn why(world: &World, who: i64, chat: i64, about: i64) -> String {
    let before = world.bot_texts(chat).len();
    world.telegram.send(Say::new(who, chat, "/why@figaro_bot").reply_to(about)).unwrap();
    text(&world.answers(chat, before + 1).await[before]).to_owned()
}

/// Someone says something that gets no answer, and the bot has dealt with it; gives the message.
async fn unanswered(world: &World, say: Say) -> i64 {
    let message = world.telegram.send(say).unwrap().message_id;
    world.caught_up().await;
    message
}

#[tokio::test]
async fn what_a_group_or_an_owner_has_set_decides_and_everybody_there_may_know() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start().await;
    let said = |who, words: &str| unanswered(&world, Say::new(who, TEAM, words));
    let in_closed = said(BOB, "@figaro_bot hello").await;
    assert!(why(&world, ANN, TEAM, in_closed).await.contains("This group may not talk to me."));
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    let forwarded = Say::new(BOB, TEAM, "news").field("is_automatic_forward", json!(true));
    let mut cases = vec![
        (in_closed, "This group may not talk to me."),
        (said(BOB, "lunch at noon?").await, "It did not mention me (@Figaro_Bot) and was no reply to me."),
        (said(BOB, "/weather@other_bot Riga").await, "It is a command for another bot."),
        (unanswered(&world, forwarded).await, "I answer people only"),
    ];
    world.told(ANN, TEAM, "/config@figaro_bot answers off").await;
    cases.push((said(BOB, "@figaro_bot anybody?").await, "Here I answer only commands."));
    let command = world.say(BOB, TEAM, "/help@figaro_bot").message_id;
    says(&world, TEAM, "Things to say").await;
    for (message, words) in cases {
        for who in [ANN, BOB] {
            let told = why(&world, who, TEAM, message).await;
            assert!(told.to_lowercase().contains(&words.to_lowercase()), "{words}: {told}");
            assert!(!told.contains(HIDDEN), "nothing is hidden from this bot: {told}");
        }
    }
    assert!(why(&world, BOB, TEAM, command).await.contains("I took it as a command"));
    let last = world.told(BOB, TEAM, "/why@figaro_bot").await;
    assert!(text(&last).contains("Here I answer only commands."), "the last that is no command: {last}");

    world.told(ANN, ANN, &format!("/deny {BOB}")).await;
    let denied = said(BOB, "@figaro_bot and now?").await;
    assert!(why(&world, ANN, TEAM, denied).await.contains("an owner of this bot shut them out"));
    // Whoever is shut out gets no answer at all.
    let before = world.bot_texts(TEAM).len();
    unanswered(&world, Say::new(BOB, TEAM, "/why@figaro_bot").reply_to(denied)).await;
    assert_eq!(world.bot_texts(TEAM).len(), before);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn what_telegram_hides_is_told_with_the_remedy_where_it_hides_something() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let hidden = unanswered(&world, Say::new(BOB, TEAM, "hello everybody")).await;
    let told = why(&world, BOB, TEAM, hidden).await;
    assert!(told.starts_with(NEVER) && told.contains(HIDDEN) && told.contains("@BotFather"), "{told}");
    let told = world.told(BOB, TEAM, "/why@figaro_bot").await;
    assert!(text(&told).starts_with("I have seen no message of yours here") && text(&told).contains(HIDDEN));
    world.telegram.set_member(TEAM, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let told = why(&world, BOB, TEAM, hidden).await;
    assert!(told.starts_with(NEVER) && !told.contains(HIDDEN), "{told}");
    // A card of the bot's own answers nothing.
    let card = number(&world.told(BOB, BOB, "/help").await["message_id"]);
    assert!(why(&world, BOB, BOB, card).await.starts_with("This message of mine answers no question"));
}

#[tokio::test]
async fn a_stranger_who_was_let_in_since_learns_which_message_had_no_answer() {
    let world = World::new().await;
    let _bot = world.start().await;
    let first = number(&world.told(BOB, BOB, "hello?").await["message_id"]) - 1;
    let second = unanswered(&world, Say::new(BOB, BOB, "hello??")).await;
    let third = unanswered(&world, Say::new(BOB, BOB, "anybody?")).await;
    world.when("hello?", ModelReply::text("Here I am."));
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    // The first question is answered after all, so that nobody has to ask again.
    says(&world, BOB, "Here I am.").await;
    let told = why(&world, BOB, BOB, first).await;
    assert!(told.contains("“hello?”") && !told.contains("was not let in"), "{told}");
    for message in [second, third] {
        let told = why(&world, BOB, BOB, message).await;
        assert!(told.contains("its writer was not let in then"), "{told}");
    }
}

#[tokio::test]
async fn how_a_turn_ended_is_told_and_owners_read_which_error_it_was() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    world.when("fail", ModelReply::status(401, "no"));
    for who in [ANN, BOB] {
        let words = "@figaro_bot fail";
        world.when(words, ModelReply::status(401, "no"));
        let asked = world.say(who, who, words).message_id;
        says(&world, who, "The model's provider rejected my API key.").await;
        let told = why(&world, who, who, asked).await;
        assert!(told.contains("It has no answer: my model cannot be used now"), "{told}");
        assert_eq!(told.contains("In the log: turn "), who == ANN, "{told}");
        if let Some((_, turn)) = told.split_once("In the log: turn ") {
            let turn = turn.split_whitespace().next().unwrap();
            let named = text(&world.told(who, who, &format!("/why {turn}")).await).to_owned();
            assert!(named.contains("It has no answer: my model cannot be used now"), "{named}");
            let unknown = world.told(who, who, "/why yesterday").await;
            assert_eq!(text(&unknown), "I know of no turn with this id: it is not mine, or it was erased.");
        }
    }
    // Of others in a group a member learns nothing, an owner the error.
    world.when("fail here", ModelReply::status(401, "no"));
    let asked = world.say(BOB, TEAM, "@figaro_bot fail here").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    world.person(CARL, "Carl", "en");
    world.telegram.set_member(TEAM, CARL, MemberStatus::Member).unwrap();
    assert_eq!(why(&world, CARL, TEAM, asked).await, NOT_YOURS);
    assert!(why(&world, BOB, TEAM, asked).await.contains("It has no answer"));
    assert!(why(&world, ANN, TEAM, asked).await.contains("In the log: turn "));

    let slow: Vec<String> = (1..=300).map(|n| format!("word{n}")).collect();
    world.when("count", ModelReply::text(&slow.join(" ")).paced(0, Duration::from_millis(100)));
    let asked = world.say(BOB, BOB, "count").message_id;
    let shown = |view: &figaro_offline::telegram::TelegramView<'_>| {
        view.drafts(BOB).iter().any(|draft| draft.text.contains("word3")).then_some(())
    };
    world.see("some words", shown).await;
    assert!(why(&world, BOB, BOB, asked).await.contains("It is being answered now."));
    let later = world.say(BOB, BOB, "and later?").message_id;
    assert!(why(&world, BOB, BOB, later).await.contains("It waits: an answer to an earlier message"));
    world.when("and later?", ModelReply::text("Later."));
    world.say(BOB, BOB, "/stop");
    says(&world, BOB, "— stopped").await;
    says(&world, BOB, "Later.").await;
    assert!(why(&world, BOB, BOB, asked).await.contains("The answer was stopped."));
    assert!(why(&world, BOB, BOB, later).await.contains("It was answered"));
}

#[tokio::test]
async fn owners_alone_read_why_a_model_could_not_be_reached_and_what_to_check() {
    let world = World::new().await;
    world.team();
    let nobody = listener().await.local_addr().unwrap();
    let bot =
        world.bot().set("ACCESS", "open").set("OPENAI_BASE_URL", &format!("http://{nobody}/v1")).spawn();
    bot.ready().await;
    let error = "\nThe error: openai:offline: the provider is not available: check ";
    for who in [ANN, BOB] {
        let asked = world.say(who, who, "hello").message_id;
        says(&world, who, "My model cannot be reached").await;
        let told = why(&world, who, who, asked).await;
        assert!(told.contains("It has no answer: my model could not be reached."), "{told}");
        assert_eq!(told.contains(error), who == ANN, "{told}");
        assert_eq!(
            told.contains(": check OPENAI_BASE_URL, LLM_PROXY and the network\n"),
            who == ANN,
            "{told}"
        );
    }
    let status = world.told(BOB, BOB, "/status").await;
    assert!(text(&status).contains(" My model openai:offline could not be reached (today "), "{status}");
    // In a group everybody would read it.
    let asked = world.say(ANN, TEAM, "@figaro_bot hello").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    let told = why(&world, ANN, TEAM, asked).await;
    assert!(told.contains("In the log: turn ") && !told.contains("The error"), "{told}");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_budget_that_is_used_up_and_too_much_at_once_are_told() {
    let world = World::new().await;
    let bot = world.priced().set("DAILY_TOKENS", "30000").spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello.").usage(29_800, 150));
    world.told(BOB, BOB, "hi").await;
    let asked = world.say(BOB, BOB, "and now?").message_id;
    says(&world, BOB, "I am over my budget").await;
    let told = why(&world, BOB, BOB, asked).await;
    assert!(told.contains("It has no answer: the budget is used up until 00:00"), "{told}");
    bot.ends_well().await;

    let _bot = world.start_open().await;
    let gate = Gate::new();
    world.when("number 0.", ModelReply::text("answer 0").behind(&gate));
    world.otherwise(ModelReply::text("Yes."));
    world.say(BOB, BOB, "number 0.");
    world
        .see("the model is asked", |_| {
            world
                .model
                .requests()
                .iter()
                .any(|request| request.user_text().contains("number 0."))
                .then_some(())
        })
        .await;
    let said: Vec<i64> =
        (1..=25).map(|at| world.say(BOB, BOB, &format!("number {at}.")).message_id).collect();
    says(&world, BOB, "so this one is not kept").await;
    world.caught_up().await;
    gate.open();
    says(&world, BOB, "answer 0").await;
    // It is seen before its place is free: until then a command finds none.
    says(&world, BOB, "Yes.").await;
    // Answers to the others come in between.
    world.telegram.send(Say::new(BOB, BOB, "/why@figaro_bot").reply_to(said[24])).unwrap();
    world.card_with(BOB, "Too much was waiting for an answer").await;
}

#[tokio::test]
async fn of_an_answer_its_tools_memories_pins_rules_and_cost_are_told_to_whoever_asked() {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let _bot = start(&world, &[ON, ("OPENAI_MODEL", "gpt-4.1-mini")]).await;
    world.script.extract_when("I live in Riga.", proposes(&[("I live in Riga", "Lives in Riga")]));
    world.when("I live in Riga.", ModelReply::text("Noted."));
    world.say(BOB, BOB, "I live in Riga.");
    remembered(&world, BOB, "Lives in Riga").await;
    world.told(BOB, BOB, "/pin the door code is on the fridge").await;
    world.told(BOB, TEAM, "/pin@figaro_bot the team meets on Mondays").await;
    for chat in [BOB, TEAM] {
        let photo = json!({"photo": "http://127.0.0.1/x.png", "caption": "x"});
        let words = format!("what do you know {chat}?");
        let used = ReplyPart::Call { name: "use_memories".into(), arguments: json!({"labels": ["M1"]}) };
        world.when(&words, ModelReply::call("add_note", json!({"key": "places", "content": "Riga"})));
        world.when(&words, ModelReply::call("sendPhoto", photo));
        let last = if chat == BOB {
            vec![ReplyPart::Text("All of it.".into()), used]
        } else {
            vec![ReplyPart::Text("All of it.".into())]
        };
        world.when(&words, ModelReply::turn(last));
        let asked = world.say(BOB, chat, &format!("@figaro_bot {words}")).message_id;
        let answer = number(&says(&world, chat, "All of it.").await["message_id"]);
        // The bot records a message when Telegram has confirmed it, a moment after it shows.
        world.caught_up().await;
        for about in [asked, answer] {
            let told = why(&world, BOB, chat, about).await;
            for part in [
                if chat == BOB {
                    "It was answered, as is every message here."
                } else {
                    "since it mentioned me"
                },
                "looking at notes: done",
                "Send a photo: refused",
                "refused: Send a photo",
            ] {
                assert!(told.contains(part), "{part}: {told}");
            }
            assert!(told.contains("gpt-4.1-mini · ") && told.contains("$"), "{told}");
            assert!(!told.contains("public web"), "no rule for members: {told}");
            assert_eq!(told.contains("• Lives in Riga"), chat == BOB, "{told}");
            assert!(told.contains(if chat == BOB { "door code" } else { "team meets" }), "{told}");
        }
        if chat == TEAM {
            let told = why(&world, ANN, TEAM, answer).await;
            assert!(
                told.contains("refused: Send a photo (it opens an address that is not on the public web)"),
                "{told}"
            );
            assert!(!told.contains("Riga"), "another person's memory: {told}");
            assert_eq!(why(&world, crate::task_tools::CAROL, TEAM, answer).await, NOT_YOURS);
        }
    }
}

#[tokio::test]
async fn what_is_noted_has_no_words_survives_a_restart_and_goes_with_what_is_forgotten() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("Yes."));
    let bot = world.start_open().await;
    let aside = unanswered(&world, Say::new(BOB, TEAM, "zanzibar at noon")).await;
    let asked = number(&world.told(BOB, BOB, "zanzibar?").await["message_id"]) - 1;
    world.caught_up().await;
    bot.ends_well().await;
    let noted = world.records().all("received");
    assert!(noted.len() >= 3, "{}", noted.len());
    assert!(noted.iter().all(|(_, value)| !String::from_utf8_lossy(value).contains("zanzibar")));
    let bot = world.start_open().await;
    assert!(why(&world, BOB, TEAM, aside).await.contains("It did not mention me"));
    assert!(why(&world, BOB, BOB, asked).await.contains("It was answered"));
    let card = world.told(BOB, BOB, "/forget").await;
    world.press(BOB, &card, "Everything about me here").await;
    let card = world.shows(BOB, number(&card["message_id"]), "Forget everything about you").await;
    world.press(BOB, &card, "Forget").await;
    world.shows(BOB, number(&card["message_id"]), "Forgotten").await;
    assert!(why(&world, BOB, BOB, asked).await.starts_with(NEVER));
    let card = world.told(BOB, TEAM, "/forget@figaro_bot").await;
    world.press(BOB, &card, "Everything about me here").await;
    let card = world.shows(TEAM, number(&card["message_id"]), "Forget for good what you said").await;
    world.press(BOB, &card, "Forget").await;
    world.shows(TEAM, number(&card["message_id"]), "Forgotten").await;
    assert!(why(&world, BOB, TEAM, aside).await.starts_with(NEVER));
    bot.ends_well().await;
}
