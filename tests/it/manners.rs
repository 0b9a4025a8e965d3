//! What members see in everyday use: examples one can tap, short cards, answers that say what they answer, and nothing said
//! twice.

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

/// The lines of a message that are shown bold.
fn bold(message: &Value) -> Vec<String> {
    let units: Vec<u16> = text(message).encode_utf16().collect();
    let entities = message["entities"].as_array().cloned().unwrap_or_default();
    let bold = entities.iter().filter(|entity| entity["type"] == "bold");
    bold.map(|entity| {
        let (from, length) = (number(&entity["offset"]), number(&entity["length"]));
        let range = usize::try_from(from).unwrap()..usize::try_from(from + length).unwrap();
        String::from_utf16(&units[range]).unwrap()
    })
    .collect()
}

#[tokio::test]
async fn help_has_examples_to_tap_and_bold_headings() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    let help = world.told(BOB, BOB, "/help").await;
    assert_eq!(bold(&help), ["Things to say", "Chat", "Remember", "Schedule", "Settings"]);
    let examples = labels(&help);
    assert!(examples.len() >= 4, "{examples:?}");
    for example in &examples {
        assert!(!text(&help).contains(example.as_str()), "said once: {example}");
        world.when(example, ModelReply::text(&format!("Dealt with: {example}")));
        assert_eq!(&world.press(BOB, &help, example).await, example);
        let answer = format!("Dealt with: {example}");
        let came =
            |view: &TelegramView<'_>| view.bot_messages(BOB).iter().any(|m| text(m) == answer).then_some(());
        world.see(&answer, came).await;
    }
    assert_eq!(world.forged(BOB, &help, "help:99").await, "This is no longer up to date.");
}

#[tokio::test]
async fn a_sticker_is_read_as_its_emoji() {
    let world = World::new().await;
    world.when("😂", ModelReply::text("What is so funny?"));
    let _bot = world.start().await;
    let sticker = |id: i64| {
        json!({"message": {"message_id": id, "date": 1_700_000_000, "chat": {"id": ANN, "type": "private"},
            "from": {"id": ANN, "is_bot": false, "first_name": "Ann"}, "sticker": {"file_id": "s", "emoji": "😂"}}})
    };
    world.telegram.push_raw(sticker(4000));
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "What is so funny?");
}

#[tokio::test]
async fn the_card_of_models_is_short_and_how_it_writes_stands_behind_a_button() {
    let world = World::new().await;
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/model").await;
    assert!(text(&card).lines().count() <= 4 && !text(&card).contains("temperature"), "{card}");
    assert_eq!(world.press(ANN, &card, "How it writes").await, "");
    let writing = world.shows(ANN, number(&card["message_id"]), "temperature").await;
    assert_eq!(labels(&writing), ["Edit", "‹ Back"]);
    let set = world.told(ANN, ANN, "/model temperature 0.3").await;
    assert_eq!(
        (text(&set).lines().nth(1), labels(&set)),
        (
            Some("It writes with: freedom of wording 0.3 (temperature)."),
            vec!["Edit".into(), "Clear".into(), "‹ Back".into()]
        )
    );
    assert_eq!(world.press(ANN, &set, "Clear").await, "Saved.");
    let id = number(&set["message_id"]);
    let plain = |view: &TelegramView<'_>| {
        let now = view.messages(ANN).into_iter().find(|m| m["message_id"] == id)?;
        (!text(now).contains("It writes with")).then(|| now.clone())
    };
    let plain = world.see("no parameters", plain).await;
    assert_eq!(labels(&plain), ["Edit", "‹ Back"]);
    assert_eq!(world.press(ANN, &plain, "‹ Back").await, "");
    world.shows(ANN, id, "answers here").await;
}

#[tokio::test]
async fn an_answer_in_private_quotes_its_question_only_where_others_came_between() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("first?", ModelReply::text("To the first.").behind(&gate));
    world.when("second?", ModelReply::text("To the second."));
    world.when("third?", ModelReply::text("To the third."));
    let _bot = world.start().await;
    let first = world.say(ANN, ANN, "first?").message_id;
    world.asks(1).await;
    let second = world.say(ANN, ANN, "second?").message_id;
    gate.open();
    let answers = world.answers(ANN, 2).await;
    let quoted = |message: &Value| message["reply_to_message"]["message_id"].as_i64();
    assert_eq!(
        answers.iter().map(|one| (text(one).to_owned(), quoted(one))).collect::<Vec<_>>(),
        [("To the first.".to_owned(), Some(first)), ("To the second.".to_owned(), Some(second)),]
    );
    assert_eq!(quoted(&world.ask("third?").await), None);
}

#[tokio::test]
async fn messages_of_a_private_chat_follow_each_other_and_no_limit_is_met() {
    let world = World::paced().await;
    world.telegram.enforce_limits(true);
    let _bot = world.start().await;
    for _ in 0..15 {
        world.say(ANN, ANN, "/stop");
    }
    let all = |view: &TelegramView<'_>| {
        (view.bot_messages(ANN).len() >= 15).then(|| {
            let times: Vec<_> = view.calls_of("sendMessage").iter().map(|call| call.at).collect();
            (times, view.calls().iter().filter(|call| !call.ok).count())
        })
    };
    let (times, refused) = world.telegram.wait_until(TIMEOUT, all).await.unwrap();
    let took = *times.last().unwrap() - times[0];
    println!("15 messages of a private chat left within {took}, {refused} were refused");
    assert_eq!(refused, 0);
}
