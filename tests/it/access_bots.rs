//! Other bots: nobody hears them but in a group where an owner allowed them by name, and a loop of two bots ends.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, Person, Say};
use serde_json::json;

use crate::support::calls::says;
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, World};

const OTHER: i64 = 77;
const LOOP: &str = "I have stopped answering @Weather_Bot: we were only answering each other.";

/// A group that is let in, with another bot.
async fn with_bot() -> World {
    let world = World::without_privacy().await;
    world.team();
    world.telegram.add_user(Person::new(OTHER, "Weather").username("weather_bot"));
    world.telegram.set_member(TEAM, OTHER, MemberStatus::Member).unwrap();
    world.otherwise(ModelReply::text("Thank you."));
    world
}

fn bot_says(world: &World, words: &str) {
    let from = json!({"id": OTHER, "is_bot": true, "first_name": "Weather", "username": "Weather_Bot"});
    world.telegram.send(Say::new(OTHER, TEAM, words).field("from", from)).unwrap();
}

/// What the bot said in the group since so many messages.
async fn said(world: &World, before: usize) -> Vec<String> {
    world.caught_up().await;
    // Turns of the group may still run.
    let asked = world.asked().len();
    world.say(ANN, TEAM, "@figaro_bot last words?");
    world.asks_about(asked + 1).await;
    let all = world.bot_texts(TEAM);
    all[before..all.len() - 1].to_vec()
}

impl World {
    /// Waits until the model was asked so often and the group has got its answer.
    async fn asks_about(&self, count: usize) {
        let words = "last words?";
        self.see("the last answer", |view| {
            let quoted = |m: &&serde_json::Value| {
                m["reply_to_message"]["text"].as_str().is_some_and(|t| t.contains(words))
            };
            let answered = view.bot_messages(TEAM).into_iter().filter(quoted).count();
            let asked = view
                .messages(TEAM)
                .into_iter()
                .filter(|m| m["from"]["id"] == ANN && m["text"].as_str().is_some_and(|t| t.contains(words)))
                .count();
            (answered == asked).then_some(())
        })
        .await;
        assert!(self.asked().len() >= count);
    }
}

#[tokio::test]
async fn a_bot_is_heard_only_where_an_owner_allowed_it_by_name() {
    let world = with_bot().await;
    let bot = world.start().await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    bot_says(&world, "@figaro_bot rain at noon");
    assert_eq!(said(&world, 1).await, [""; 0], "nobody allowed it");
    assert!(text(&world.told(ANN, ANN, "/allow @weather_bot").await).starts_with("Send that in the group"));
    let told = world.told(BOB, TEAM, "/allow@figaro_bot @weather_bot").await;
    assert_eq!(text(&told), "Only an owner of the bot can do that.");
    let told = world.told(ANN, TEAM, "/allow@figaro_bot @Weather_Bot").await;
    assert!(text(&told).starts_with("I answer @weather_bot in this group now"), "{told}");
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(text(&list).contains("Bots: @weather_bot (Team)"), "{list}");
    let before = world.bot_texts(TEAM).len();
    bot_says(&world, "rain at noon");
    bot_says(&world, "/help@figaro_bot");
    bot_says(&world, "/new");
    assert_eq!(said(&world, before).await, [""; 0], "it did not speak to this one, or gave a command");
    bot.ends_well().await;
    let _bot = world.start().await;
    let before = world.bot_texts(TEAM).len();
    bot_says(&world, "@figaro_bot sun at noon");
    says(&world, TEAM, "Thank you.").await;
    assert_eq!(said(&world, before).await, ["Thank you."]);
    assert!(
        text(&world.told(ANN, TEAM, "/deny@figaro_bot @weather_bot").await).starts_with("I no longer answer")
    );
    let before = world.bot_texts(TEAM).len();
    bot_says(&world, "@figaro_bot snow at noon");
    assert_eq!(said(&world, before).await, [""; 0]);
}

#[tokio::test]
async fn two_bots_that_answer_each_other_stop_and_it_is_said_once() {
    let world = with_bot().await;
    let _bot = world.start().await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    world.told(ANN, TEAM, "/allow@figaro_bot @weather_bot").await;
    for words in ["one", "two", "three", "four", "five", "six"] {
        bot_says(&world, &format!("@figaro_bot {words}"));
    }
    let heard = said(&world, 2).await;
    let answers = heard.iter().filter(|text| *text == "Thank you.").count();
    let told = heard.iter().filter(|text| text.starts_with(LOOP)).count();
    assert_eq!((answers, told, heard.len()), (3, 1, 4), "{heard:?}");
    // A person has written since: it goes on, and the same words twice are one loop more, which is not said again.
    let before = world.bot_texts(TEAM).len();
    for number in 7..10 {
        bot_says(&world, &format!("@figaro_bot sorry, error {number}"));
    }
    assert_eq!(said(&world, before).await, ["Thank you."]);
}
