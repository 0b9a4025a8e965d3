//! An edited question: its answer is given again in place, the earlier answers are behind buttons, and nothing that was
//! done is done twice.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

const LATE: &str = "This is no longer up to date.";

/// Words that need three messages.
fn long(word: &str) -> String {
    let part =
        |part: usize| format!("{part}. {}", format!("{word} and so on. ").repeat(3600 / (word.len() + 12)));
    (1..=3).map(part).collect::<Vec<_>>().join("\n\n")
}

/// Beginnings of the bot's messages in a chat.
fn shown(view: &TelegramView<'_>, chat: i64) -> Vec<String> {
    view.bot_messages(chat).into_iter().map(|message| text(message).chars().take(12).collect()).collect()
}

fn of_note(arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: "add_note".to_owned(), arguments }
}

impl World {
    fn edit(&self, chat: i64, message: i64, words: &str) {
        self.telegram.edit(ANN, chat, message, words).unwrap();
    }

    /// Waits until the bot's messages in a chat begin with these.
    async fn stands(&self, chat: i64, wanted: &[&str]) {
        let stands = |view: &TelegramView<'_>| (shown(view, chat) == wanted).then_some(());
        let seen = self.telegram.wait_until(TIMEOUT, stands).await;
        seen.unwrap_or_else(|| {
            panic!("never {wanted:?}: {:?}", self.telegram.view(|view| shown(view, chat)))
        });
    }

    /// Waits until a message has these buttons, and gives it.
    async fn has_buttons(&self, card: &Value, wanted: &[&str]) -> Value {
        let (chat, id) = (number(&card["chat"]["id"]), &card["message_id"]);
        self.see(&format!("the buttons {wanted:?}"), |view| {
            let now = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
            (labels(now) == wanted).then(|| now.clone())
        })
        .await
    }
}

#[tokio::test]
async fn the_answer_to_an_edited_question_takes_the_place_of_the_first() {
    let world = World::new().await;
    for (words, reply) in [("Holland", "Amsterdam."), ("Poland", "Warsaw."), ("Spain", "Madrid.")] {
        world.when(words, ModelReply::text(reply));
    }
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "capital of Holland?").message_id;
    let answer = world.answers(ANN, 1).await.remove(0);
    world.edit(ANN, sent, "capital of Poland?");
    world.shows(ANN, number(&answer["message_id"]), "Warsaw.").await;
    world.has_buttons(&answer, &["◀", "2/2"]).await;
    world.edit(ANN, sent, "capital of Spain?");
    world.shows(ANN, number(&answer["message_id"]), "Madrid.").await;
    world.has_buttons(&answer, &["◀", "3/3"]).await;
    assert_eq!(world.bot_texts(ANN), ["Madrid."]);
    let last = world.asked().pop().unwrap();
    let prompt = last.body.to_string();
    assert!(last.user_text().contains("Spain") && last.input().len() == 1, "{prompt}");
    assert!(!prompt.contains("Holland") && !prompt.contains("Warsaw"), "{prompt}");
    // The chat goes on from there, and the buttons are of the past.
    world.when("and its river?", ModelReply::text("The Manzanares."));
    world.told(ANN, ANN, "and its river?").await;
    let prompt = world.asked().pop().unwrap().body.to_string();
    assert!(prompt.contains("Madrid") && !prompt.contains("Warsaw"), "{prompt}");
    assert_eq!(world.press(ANN, &answer, "◀").await, LATE);
    world.has_buttons(&answer, &[]).await;
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn each_version_can_be_seen_again_and_the_chat_goes_on_from_the_one_that_stands() {
    let world = World::new().await;
    let (first, second) = (long("rain"), "Snow.");
    world.when("weather one", ModelReply::text(&first));
    world.when("weather two", ModelReply::text(second));
    world.when("thanks", ModelReply::text("Any time."));
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "weather one").message_id;
    world.stands(ANN, &["1. rain and ", "2. rain and ", "3. rain and "]).await;
    world.edit(ANN, sent, "weather two");
    world.stands(ANN, &["Snow."]).await;
    let card = world.answers(ANN, 1).await.remove(0);
    let card = world.has_buttons(&card, &["◀", "2/2"]).await;
    world.press(ANN, &card, "◀").await;
    world.stands(ANN, &["1. rain and ", "2. rain and ", "3. rain and "]).await;
    let card = world.answers(ANN, 3).await.pop().unwrap();
    let card = world.has_buttons(&card, &["1/2", "▶"]).await;
    world.press(ANN, &card, "1/2").await;
    world.press(ANN, &card, "▶").await;
    world.stands(ANN, &["Snow."]).await;
    let card = world.answers(ANN, 1).await.remove(0);
    let card = world.has_buttons(&card, &["◀", "2/2"]).await;
    world.press(ANN, &card, "◀").await;
    world.stands(ANN, &["1. rain and ", "2. rain and ", "3. rain and "]).await;
    world.has_buttons(&world.answers(ANN, 3).await[2], &["1/2", "▶"]).await;
    world.told(ANN, ANN, "thanks").await;
    let prompt = world.asked().pop().unwrap().body.to_string();
    assert!(prompt.contains("rain and so on") && !prompt.contains("Snow."), "{prompt}");
    assert!(
        prompt.contains("weather one") && !prompt.contains("weather two"),
        "with its own question: {prompt}"
    );
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn in_a_group_the_quoting_answer_changes_and_only_its_question_counts() {
    let world = World::new().await;
    world.team();
    for (words, reply) in [("one", "First."), ("two", "Second."), ("three", "Third."), ("four", "Fourth.")] {
        world.when(words, ModelReply::text(reply));
    }
    let _bot = world.start_open().await;
    let early = world.say(ANN, TEAM, "@figaro_bot one").message_id;
    world.answers(TEAM, 1).await;
    let sent = world.say(ANN, TEAM, "@figaro_bot two").message_id;
    let answer = world.answers(TEAM, 2).await.pop().unwrap();
    // An older question changes the record and nothing in the chat.
    world.edit(TEAM, early, "@figaro_bot four");
    world.edit(TEAM, sent, "@figaro_bot three");
    let now = world.shows(TEAM, number(&answer["message_id"]), "Third.").await;
    assert_eq!(now["reply_to_message"]["message_id"], json!(sent));
    assert_eq!(world.bot_texts(TEAM), ["First.", "Third."]);
    let prompt = world.asked().pop().unwrap().body.to_string();
    assert!(prompt.contains("four") && !prompt.contains("bot two"), "{prompt}");
    // Telegram reports more than changed words as an edit.
    world.edit(TEAM, sent, "@figaro_bot three");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), ["First.", "Third."]);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_done_for_the_first_wording_is_told_and_not_done_again() {
    let world = World::new().await;
    let _bot = world.start().await;
    let note = json!({"key": "shopping", "content": "milk"});
    world.script.push(ModelReply::call("add_note", note.clone()));
    world.script.push(ModelReply::text("Noted."));
    let sent = world.say(ANN, ANN, "milk, please").message_id;
    let answer = world.answers(ANN, 1).await.remove(0);
    let other = json!({"key": "shopping", "content": "oats"});
    world.script.push(ModelReply::turn(vec![of_note(note), of_note(other)]));
    world.script.push(ModelReply::text("Both are there."));
    world.edit(ANN, sent, "milk and oats, please");
    world.shows(ANN, number(&answer["message_id"]), "Both are there.").await;
    let asked = world.asked();
    assert!(!asked[2].user_text().contains("older_messages"), "its own question is not found for it");
    let told = asked[2].body.to_string();
    assert!(told.contains("these calls were made") && told.contains("add_note"), "{told}");
    let results = asked[3].tool_results();
    assert!(results[0].1.contains("not made again"), "{results:?}");
    assert!(!results[1].1.contains("not made again"), "{results:?}");
    assert_eq!(labels(&world.told(ANN, ANN, "/notes").await), ["shopping (2)"]);
}

#[tokio::test]
async fn a_call_that_was_undone_since_is_made_once_the_model_insists() {
    let world = World::new().await;
    let _bot = world.start().await;
    let note = json!({"key": "shopping", "content": "milk"});
    world.script.push(ModelReply::call("add_note", note.clone()));
    world.script.push(ModelReply::text("Noted."));
    let sent = world.say(ANN, ANN, "milk, please").message_id;
    let answer = world.answers(ANN, 1).await.remove(0);
    for _ in 0..2 {
        world.script.push(ModelReply::call("add_note", note.clone()));
    }
    world.script.push(ModelReply::text("Noted once more."));
    world.edit(ANN, sent, "milk again, please");
    world.shows(ANN, number(&answer["message_id"]), "Noted once more.").await;
    let asked = world.asked();
    assert!(asked[3].tool_results()[0].1.contains("undone since"), "{:?}", asked[3].tool_results());
    assert!(!asked[4].tool_results()[1].1.contains("undone since"), "{:?}", asked[4].tool_results());
}

#[tokio::test]
async fn what_a_child_did_for_the_first_wording_is_not_done_again() {
    let world = World::new().await;
    let folder = world.folder.path().join("prompts/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let file = "type: object\ndescription: Keep the lists.\njson_schema_extra:\n  kind: agent\n  name: keeper\n  \
        version: \"1\"\n  tools:\n    - name: add_note\n";
    std::fs::write(folder.join("keeper.yaml"), file).unwrap();
    let _bot = world.start().await;
    let note = json!({"key": "shopping", "content": "milk"});
    let delegate = |input: &str| {
        let payload = json!({"agent": "keeper", "input": input});
        ModelReply::call("action", json!({"type": "delegate", "payload": payload}))
    };
    let noted =
        |input: &str| [delegate(input), ModelReply::call("add_note", note.clone()), ModelReply::text(input)];
    noted("Keep milk.").into_iter().for_each(|reply| world.script.push(reply));
    let sent = world.say(ANN, ANN, "milk, please").message_id;
    let answer = world.answers(ANN, 1).await.remove(0);
    noted("Keep the milk.").into_iter().for_each(|reply| world.script.push(reply));
    world.edit(ANN, sent, "the milk, please");
    world.shows(ANN, number(&answer["message_id"]), "Keep the milk.").await;
    let asked = world.asked();
    assert!(asked[3].body.to_string().contains("these calls were made"), "{:?}", asked[3].body);
    assert!(asked[5].tool_results()[0].1.contains("not made again"), "{:?}", asked[5].tool_results());
    assert_eq!(labels(&world.told(ANN, ANN, "/notes").await), ["shopping (1)"]);
}

#[tokio::test]
async fn an_edit_while_the_answer_is_written_is_answered_right_after() {
    let world = World::new().await;
    world.script.push(ModelReply::text(&"slow and steady ".repeat(300)).paced(8, Duration::from_millis(20)));
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "tell me of snails").message_id;
    world.see("a draft", |view| view.calls_of("sendMessageDraft").get(1).map(|_| ())).await;
    world.script.push(ModelReply::text("Hares are quick."));
    world.edit(ANN, sent, "tell me of cats");
    world.edit(ANN, sent, "tell me of hares");
    world.stands(ANN, &["Hares are qu"]).await;
    let asked = world.asked();
    assert_eq!(asked.len(), 2, "the edit in between gives way");
    assert!(asked[1].user_text().contains("hares") && !asked[1].body.to_string().contains("snails"));
}

#[tokio::test]
async fn an_answer_that_fails_leaves_the_earlier_one() {
    let world = World::new().await;
    world.when("good", ModelReply::text("Good answer."));
    world.when("bad", ModelReply::status(400, "no"));
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "good").message_id;
    world.answers(ANN, 1).await;
    world.edit(ANN, sent, "bad");
    let all = world.answers(ANN, 2).await;
    assert_eq!(text(&all[0]), "Good answer.");
    assert_eq!(labels(&all[1]), ["Try again"]);
    world.when("better", ModelReply::text("Better answer."));
    world.edit(ANN, sent, "better");
    world
        .see("the answer", |view| {
            view.bot_messages(ANN).into_iter().any(|m| text(m) == "Better answer.").then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_kill_loses_no_edit_and_no_answer() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("one", ModelReply::text("First."));
    world.when("two", ModelReply::text("Second.").behind(&gate));
    let bot = world.start().await;
    let sent = world.say(ANN, ANN, "one").message_id;
    let answer = world.answers(ANN, 1).await.remove(0);
    world.edit(ANN, sent, "two");
    world.asks(2).await;
    bot.kill();
    assert_eq!(world.bot_texts(ANN), ["First."]);
    gate.open();
    world.when("two", ModelReply::text("Second."));
    let _bot = world.start().await;
    world.shows(ANN, number(&answer["message_id"]), "Second.").await;
    world.has_buttons(&answer, &["◀", "2/2"]).await;
    assert_eq!(world.bot_texts(ANN), ["Second."]);
}

#[tokio::test]
async fn a_retry_keeps_the_versions_too() {
    let world = World::new().await;
    let _bot = world.start().await;
    world.script.push(ModelReply::text("Heads."));
    world.told(ANN, ANN, "a coin").await;
    world.script.push(ModelReply::text("Tails."));
    let again = world.told(ANN, ANN, "/retry").await;
    let again = world.has_buttons(&again, &["◀", "2/2"]).await;
    world.press(ANN, &again, "◀").await;
    world.stands(ANN, &["Heads.", "Heads."]).await;
    world.has_buttons(&again, &["1/2", "▶"]).await;
}

#[tokio::test]
async fn commands_and_strangers_ask_nothing_by_an_edit() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "hello").message_id;
    world.answers(ANN, 1).await;
    world.edit(ANN, sent, "/status");
    let stranger = world.telegram.send(Say::new(BOB, BOB, "let me in")).unwrap();
    world.answers(BOB, 1).await;
    world.telegram.edit(BOB, BOB, stranger.message_id, "please").unwrap();
    world.caught_up().await;
    assert_eq!(world.asked().len(), 1);
    assert_eq!(world.bot_texts(BOB).len(), 1);
}
