//! Turns that wait for an answer of a person: asked with the tool `action`, answered by a button, by words or by a reply,
//! given up, lived through restarts, and what other turns see of them.

use figaro_offline::model::{Gate, ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, Bot, TIMEOUT, World};

pub const COLOUR: &str = "Which colour?";
pub const LATE: &str = "This is no longer up to date.";
pub const OTHERS: &str = "This question is for somebody else.";

/// A question with two buttons and no other answer.
pub fn buttons_only() -> Value {
    json!({"question": COLOUR, "options": ["Red", "Blue"], "free": false})
}

/// A question that takes any words.
pub fn free() -> Value {
    json!({"question": COLOUR})
}

/// The call that asks a person.
pub fn elicit(payload: Value) -> ReplyPart {
    ReplyPart::Call { name: "action".to_owned(), arguments: json!({"type": "elicit", "payload": payload}) }
}

pub fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// A call that acts.
pub fn poll() -> ReplyPart {
    call("sendPoll", json!({"question": "Where?", "options": [{"text": "here"}, {"text": "there"}]}))
}

impl World {
    /// In the turn about these words, the model makes these calls and ends with `end`.
    pub fn parks(&self, said: &str, calls: Vec<ReplyPart>, end: &str) {
        self.when(said, ModelReply::turn(calls));
        self.when(said, ModelReply::text(end));
    }

    /// Someone says something, the model asks back, and the message with its question is given back.
    pub async fn asked_back(&self, at: (i64, i64), said: &str, payload: Value) -> Value {
        let question = payload["question"].as_str().unwrap().to_owned();
        self.parks(said, vec![elicit(payload)], &format!("End of {said}."));
        self.say(at.0, at.1, &format!("@figaro_bot {said}"));
        self.card_with(at.1, &question).await
    }

    /// Waits for a message of the bot's with these words.
    pub async fn card_with(&self, chat: i64, words: &str) -> Value {
        let find = |view: &TelegramView<'_>| {
            view.bot_messages(chat).into_iter().rev().find(|m| text(m).contains(words)).cloned()
        };
        let found = self.telegram.wait_until(TIMEOUT, find).await;
        found.unwrap_or_else(|| {
            let asked = self.asked();
            let told: Vec<_> = asked.iter().map(ModelRequest::tool_results).collect();
            panic!("never said: {words}; there is {:?}; the model was told {told:?}", self.bot_texts(chat))
        })
    }

    /// The last request of the turn about these words.
    pub fn last_of(&self, said: &str) -> ModelRequest {
        self.asked().into_iter().rev().find(|r| r.user_text().contains(said)).unwrap()
    }

    /// How often the model was asked in the turn about these words.
    pub fn passes(&self, said: &str) -> usize {
        self.asked().iter().filter(|r| r.user_text().contains(said)).count()
    }

    /// What the calls of the turn about these words gave, as the model was last told.
    pub fn told_model(&self, said: &str) -> Vec<Value> {
        let told = self.last_of(said).tool_results().into_iter().map(|(_, told)| told).collect::<Vec<_>>();
        told.iter().map(|told| serde_json::from_str(told).unwrap()).collect()
    }

    /// Waits until a message has no buttons.
    pub async fn without_buttons(&self, message: &Value) {
        let (chat, id) = (number(&message["chat"]["id"]), &message["message_id"]);
        self.see("a message without buttons", |view| {
            let now = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
            labels(now).is_empty().then_some(())
        })
        .await;
    }

    /// Stops the bot and looks at the records of turns that wait.
    pub async fn parked(&self, bot: Bot) -> Vec<Value> {
        bot.ends_well().await;
        let parked = self.records().all("parked");
        parked.into_iter().map(|(_, value)| serde_json::from_slice(&value).unwrap()).collect()
    }

    /// Stops the bot and lets the time of every waiting turn be over.
    pub async fn expire(&self, bot: Bot) {
        bot.ends_well().await;
        let count = self.records().change("parked", |record| {
            let at = record.pointer_mut("/expires_at").unwrap_or_else(|| panic!("no expires_at"));
            *at = if at.is_number() { json!(1_000_000_000) } else { json!("2020-01-01T00:00:00Z") };
        });
        assert!(count > 0, "nothing waits");
    }

    /// Nothing was refused, and the last prompt has no call without a result.
    pub fn all_well(&self) {
        // Of a press that a test forged Telegram knows nothing, nor does its message have buttons to take off.
        let is_forged = |call: &String| call.contains("forged-") || call.contains("message is not modified");
        let refused: Vec<_> = self.refused().into_iter().filter(|call| !is_forged(call)).collect();
        assert_eq!(refused, Vec::<String>::new());
        for request in self.asked() {
            let of = |kind: &str| {
                request
                    .input()
                    .iter()
                    .filter(|i| i["type"] == kind)
                    .map(|i| i["call_id"].clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(of("function_call").len(), of("function_call_output").len(), "{:?}", request.input());
        }
    }
}

/// What the model is told of an answer.
pub fn answered(answer: &str) -> Value {
    json!({"success": true, "answer": answer})
}

/// The data of the button that begins with these words.
pub fn data(message: &Value, label: &str) -> String {
    buttons(message).into_iter().find(|(text, _)| text.starts_with(label)).unwrap().1
}

#[tokio::test]
async fn a_button_answers_once_and_then_it_is_late() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    assert_eq!((text(&card), labels(&card)), (COLOUR, vec!["Red".to_owned(), "Blue".to_owned()]));
    world.caught_up().await;
    assert_eq!(world.passes("paint it"), 1, "it waits");
    let red = data(&card, "Red");
    let (one, two) = tokio::join!(world.press_data(BOB, &card, &red), world.forged(BOB, &card, &red));
    assert!([("", LATE), (LATE, "")].contains(&(one.as_str(), two.as_str())), "{one} / {two}");
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Red")]);
    world.without_buttons(&card).await;
    assert_eq!(world.forged(BOB, &card, &data(&card, "Blue")).await, LATE);
    world.caught_up().await;
    assert_eq!(world.passes("paint it"), 2);
    world.all_well();
    assert_eq!(world.parked(bot).await, Vec::<Value>::new());
}

#[tokio::test]
async fn in_a_private_chat_the_next_words_answer_a_question_that_takes_any() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.asked_back((BOB, BOB), "paint it", free()).await;
    world.say(BOB, BOB, "mauve, \"with\" dots\nand 🎲 stripes & *stars*");
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("mauve, \"with\" dots\nand 🎲 stripes & *stars*")]);
    // With buttons beside the free answer, both ways work.
    let both = json!({"question": "Which size?", "options": ["Small", "Large"], "free": true});
    let card = world.asked_back((BOB, BOB), "cut it", both).await;
    world.say(BOB, BOB, "in between");
    world.card_with(BOB, "End of cut it.").await;
    assert_eq!(world.told_model("cut it"), [answered("in between")]);
    world.without_buttons(&card).await;
    let both = json!({"question": "Which thread?", "options": ["Small", "Large"], "free": true});
    let card = world.asked_back((BOB, BOB), "sew it", both).await;
    world.press(BOB, &card, "Large").await;
    world.card_with(BOB, "End of sew it.").await;
    assert_eq!(world.told_model("sew it"), [answered("Large")]);
    // Nobody waits any more: words are a question again.
    world.when("thanks", ModelReply::text("You are welcome."));
    world.say(BOB, BOB, "thanks");
    world.card_with(BOB, "You are welcome.").await;
    assert_eq!(world.asked().len(), 7);
    world.all_well();
}

#[tokio::test]
async fn the_words_of_a_button_answer_like_the_button() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    world.say(BOB, BOB, "blue!");
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("blue!")]);
    world.without_buttons(&card).await;
    let size = json!({"question": "Which size?", "options": ["Small", "Large"], "free": false});
    let card = world.asked_back((BOB, TEAM), "cut it", size).await;
    world.telegram.send(Say::new(BOB, TEAM, "Large").reply_to(number(&card["message_id"]))).unwrap();
    world.card_with(TEAM, "End of cut it.").await;
    assert_eq!(world.told_model("cut it"), [answered("Large")]);
    world.all_well();
}

#[tokio::test]
async fn where_only_buttons_answer_other_messages_are_answered_meanwhile_and_stand_before_it() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.when("good morning", ModelReply::text("Morning, Bob."));
    world.say(BOB, BOB, "good morning");
    world.card_with(BOB, "Morning, Bob.").await;
    let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    world.when("how late is it", ModelReply::text("Noon."));
    world.say(BOB, BOB, "how late is it?");
    world.card_with(BOB, "Noon.").await;
    let meanwhile = world.last_of("how late is it");
    let whole = meanwhile.body["input"].to_string();
    assert!(whole.contains("paint it") && whole.contains(COLOUR), "what is open is seen: {whole}");
    assert!(!whole.contains("function_call"), "no open call: {whole}");
    world.press(BOB, &card, "Blue").await;
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Blue")]);
    let resumed = world.last_of("paint it").body["input"].to_string();
    assert_eq!(resumed.matches("paint it").count(), 1, "{resumed}");
    assert!(resumed.find("good morning") < resumed.find("how late is it"), "{resumed}");
    assert!(resumed.find("Noon.").is_some() && resumed.find("Noon.") < resumed.find("paint it"), "{resumed}");
    world.when("and now", ModelReply::text("Nothing."));
    world.say(BOB, BOB, "and now?");
    world.card_with(BOB, "Nothing.").await;
    let later = world.last_of("and now").body["input"].to_string();
    assert_eq!(
        (later.matches("paint it").count(), later.matches("how late is it").count()),
        (2, 1),
        "{later}"
    );
    assert!(later.find("Noon.") < later.find("paint it"), "{later}");
    assert!(later.find("paint it") < later.find("End of paint it."), "{later}");
    world.all_well();
}

#[tokio::test]
async fn in_a_group_only_a_reply_of_the_person_asked_answers() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    let card = world.asked_back((BOB, TEAM), "paint it", free()).await;
    let reply = |from: i64, words: &str| Say::new(from, TEAM, words).reply_to(number(&card["message_id"]));
    world.when("why do you ask", ModelReply::text("I have to."));
    world.telegram.send(reply(ANN, "why do you ask")).unwrap();
    world.card_with(TEAM, "I have to.").await;
    world.when("what is for lunch", ModelReply::text("Soup."));
    world.say(BOB, TEAM, "@figaro_bot what is for lunch?");
    world.card_with(TEAM, "Soup.").await;
    world.say(BOB, TEAM, "just talking");
    world.caught_up().await;
    assert_eq!(world.passes("paint it"), 1);
    world.telegram.send(reply(BOB, "Green")).unwrap();
    let end = world.card_with(TEAM, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Green")]);
    assert!(end["reply_to_message"]["message_id"].is_number(), "{end}");
    world.all_well();
}

#[tokio::test]
async fn in_a_group_only_the_person_asked_presses() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    let card = world.asked_back((BOB, TEAM), "paint it", buttons_only()).await;
    assert_eq!(world.press(ANN, &card, "Red").await, OTHERS);
    world.when("who presses", ModelReply::text("Not you."));
    let reply = Say::new(BOB, TEAM, "who presses?").reply_to(number(&card["message_id"]));
    world.telegram.send(reply).unwrap();
    world.card_with(TEAM, "Not you.").await;
    world.caught_up().await;
    assert_eq!(world.passes("paint it"), 1);
    world.press(BOB, &card, "Blue").await;
    world.card_with(TEAM, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Blue")]);
    world.without_buttons(&card).await;
    assert_eq!(world.forged(ANN, &card, &data(&card, "Red")).await, LATE);
    world.all_well();
}

#[tokio::test]
async fn a_reply_to_what_figaro_asked_answers_no_question_of_the_model() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.asked_back((BOB, BOB), "paint it", free()).await;
    let card = world.told(BOB, BOB, "/sessions").await;
    world.press(BOB, &card, "✓ ").await;
    let opened = world.shows(BOB, number(&card["message_id"]), "Messages: ").await;
    world.press(BOB, &opened, "Rename").await;
    let asked = world.card_with(BOB, "Reply to this message with the new name").await;
    let name = Say::new(BOB, BOB, "The fence").reply_to(number(&asked["message_id"]));
    world.telegram.send(name).unwrap();
    world.card_with(BOB, "It is called “The fence” now.").await;
    assert_eq!(world.passes("paint it"), 1, "it waits still");
    world.say(BOB, BOB, "green");
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("green")]);
    world.all_well();
}

#[tokio::test]
async fn of_two_that_wait_each_gets_its_own_answer() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    let first = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    let size = json!({"question": "Which size?", "options": ["Small", "Large"], "free": false});
    let second = world.asked_back((BOB, BOB), "cut it", size).await;
    let third = world.asked_back((BOB, BOB), "name it", json!({"question": "Which name?"})).await;
    assert!(!labels(&first).is_empty() && labels(&third).is_empty());
    world.press(BOB, &second, "Small").await;
    world.card_with(BOB, "End of cut it.").await;
    world.say(BOB, BOB, "Rosina");
    world.card_with(BOB, "End of name it.").await;
    world.press(BOB, &first, "Blue").await;
    world.card_with(BOB, "End of paint it.").await;
    for (said, answer) in [("paint it", "Blue"), ("cut it", "Small"), ("name it", "Rosina")] {
        assert_eq!(world.told_model(said), [answered(answer)], "{said}");
        assert_eq!(world.passes(said), 2, "{said}");
    }
    world.all_well();
}

#[tokio::test]
async fn what_was_said_before_the_question_was_asked_is_no_answer_to_it() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    let gate = Gate::new();
    world.when("paint it", ModelReply::turn(vec![elicit(free())]).behind(&gate));
    world.when("paint it", ModelReply::text("End of paint it."));
    world.when("how late is it", ModelReply::text("Noon."));
    world.say(BOB, BOB, "paint it");
    world.asks(1).await;
    world.say(BOB, BOB, "how late is it?");
    world.caught_up().await;
    gate.open();
    world.card_with(BOB, COLOUR).await;
    world.card_with(BOB, "Noon.").await;
    assert_eq!(world.passes("paint it"), 1);
    world.say(BOB, BOB, "Green");
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Green")]);
    world.all_well();
}

#[tokio::test]
async fn a_reply_says_which_of_two_questions_it_answers() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    let gate = Gate::new();
    world.when("paint it", ModelReply::turn(vec![elicit(free())]).behind(&gate));
    world.when("paint it", ModelReply::text("End of paint it."));
    world.parks("cut it", vec![elicit(json!({"question": "How long?"}))], "End of cut it.");
    world.say(BOB, BOB, "paint it");
    world.asks(1).await;
    world.say(BOB, BOB, "cut it");
    world.caught_up().await;
    gate.open();
    let first = world.card_with(BOB, COLOUR).await;
    world.card_with(BOB, "How long?").await;
    world.telegram.send(Say::new(BOB, BOB, "Green").reply_to(number(&first["message_id"]))).unwrap();
    world.card_with(BOB, "End of paint it.").await;
    world.say(BOB, BOB, "Two metres");
    world.card_with(BOB, "End of cut it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Green")]);
    assert_eq!(world.told_model("cut it"), [answered("Two metres")]);
    world.all_well();
}

#[tokio::test]
async fn two_questions_of_one_pass_leave_no_call_without_a_result() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let size = json!({"question": "Which size?", "options": ["Small", "Large"], "free": false});
    world.parks("paint it", vec![elicit(buttons_only()), elicit(size)], "End of paint it.");
    world.say(BOB, BOB, "paint it");
    let card = world.card_with(BOB, COLOUR).await;
    world.caught_up().await;
    world.press(BOB, &card, "Red").await;
    world.card_with(BOB, "End of paint it.").await;
    let told = world.told_model("paint it");
    assert_eq!(told.len(), 2);
    assert_eq!(told[0], answered("Red"));
    // Of the second question the model is told that it was not asked.
    assert!(
        told[1]["success"] == false && told[1].to_string().contains("one question at a time"),
        "{told:?}"
    );
    assert!(world.bot_texts(BOB).iter().all(|text| !text.contains("Which size?")), "nor was it");
    world.caught_up().await;
    world.all_well();
    assert_eq!(world.parked(bot).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_turn_asks_twice_in_a_row() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.when("paint it", ModelReply::turn(vec![elicit(buttons_only())]));
    world.parks("paint it", vec![elicit(json!({"question": "How bright?"}))], "End of paint it.");
    world.say(BOB, BOB, "paint it");
    let card = world.card_with(BOB, COLOUR).await;
    world.press(BOB, &card, "Red").await;
    world.card_with(BOB, "How bright?").await;
    assert_eq!(world.forged(BOB, &card, &data(&card, "Red")).await, LATE);
    world.say(BOB, BOB, "Very");
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered("Red"), answered("Very")]);
    assert_eq!(world.passes("paint it"), 3);
    world.all_well();
}

#[tokio::test]
async fn the_passes_before_the_question_count() {
    let world = World::new().await;
    let bot = world.bot().set("ACCESS", "open").set("MAX_PASSES", "2").spawn();
    bot.ready().await;
    let card = world.asked_back((BOB, BOB), "paint it", buttons_only()).await;
    world.press(BOB, &card, "Red").await;
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.last_of("paint it").tool_names(), Vec::<&str>::new(), "the last pass has no tools");
    assert_eq!(world.told_model("paint it"), [answered("Red")]);
    world.all_well();
}

#[tokio::test]
async fn a_long_answer_arrives_whole_and_what_is_no_answer_is_none() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.asked_back((BOB, BOB), "paint it", free()).await;
    let sticker = json!({"file_id": "f", "file_unique_id": "u", "type": "regular", "width": 1, "height": 1,
        "is_animated": false, "is_video": false});
    world.telegram.send(Say::new(BOB, BOB, "").field("sticker", sticker)).unwrap();
    world.card_with(BOB, "I cannot read stickers yet.").await;
    world.say(BOB, BOB, "/help");
    world.card_with(BOB, "/stop").await;
    world.say(BOB, BOB, "/nonsense");
    world.card_with(BOB, "I do not know that command.").await;
    world.telegram.send(Say::new(BOB, BOB, "").photo("jpeg")).unwrap();
    world.caught_up().await;
    assert_eq!(world.passes("paint it"), 1);
    let long = "wörds ".repeat(660).trim().to_owned();
    assert!((3900..4000).contains(&long.chars().count()));
    world.say(BOB, BOB, &long);
    world.card_with(BOB, "End of paint it.").await;
    assert_eq!(world.told_model("paint it"), [answered(&long)]);
    world.all_well();
}
