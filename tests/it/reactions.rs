//! Reactions to answers: they are counted, offer another try, and pin.

use std::time::Duration;

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, Say, TelegramView};
use serde_json::Value;

use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

impl World {
    fn reacts(&self, who: i64, message: &Value, emoji: Option<&str>) {
        let (chat, id) = (number(&message["chat"]["id"]), number(&message["message_id"]));
        self.telegram.react(who, chat, id, emoji).unwrap();
    }

    /// Reacts, once more if need be, until the bot has written so many messages, and gives the last. Nobody reacts to an
    /// answer in the moment between its arrival and its record.
    async fn gets(&self, message: &Value, emoji: &str, count: usize) -> Value {
        let chat = number(&message["chat"]["id"]);
        // A reaction that comes too early counts for nothing, and counts when it is taken back.
        tokio::time::sleep(Duration::from_millis(800)).await;
        for _ in 0..20 {
            self.reacts(ANN, message, None);
            self.reacts(ANN, message, Some(emoji));
            let find = |view: &TelegramView<'_>| view.bot_messages(chat).get(count - 1).copied().cloned();
            if let Some(found) = self.telegram.wait_until(Duration::from_secs(1), find).await {
                return found;
            }
        }
        panic!("nothing comes of {emoji}: {:?}", self.bot_texts(chat));
    }
}

#[tokio::test]
async fn a_bad_answer_can_be_tried_again_or_explained() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Perhaps."));
    let _bot = world.start().await;
    let answer = world.told(ANN, ANN, "is it so?").await;
    let offer = world.gets(&answer, "👎", 2).await;
    assert_eq!(labels(&offer), ["Try again", "Why?"], "{offer}");
    world.press(ANN, &offer, "Why?").await;
    world.shows(ANN, number(&offer["message_id"]), "About the message of").await;
    // Taken back and given once more, it is offered once more; the same again is no news.
    world.reacts(ANN, &answer, None);
    world.reacts(ANN, &answer, Some("👎"));
    let offer = world.answers(ANN, 3).await.pop().unwrap();
    world.script.push(ModelReply::text("Certainly."));
    world.press(ANN, &offer, "Try again").await;
    assert_eq!(text(&world.answers(ANN, 4).await[3]), "Certainly.");
    let usage = world.told(ANN, ANN, "/usage").await;
    assert!(text(&usage).contains("👎 1") && !text(&usage).contains('👍'), "{usage}");
}

#[tokio::test]
async fn what_people_think_is_counted_by_model_and_day() {
    let world = World::new().await;
    world.team();
    world.telegram.set_member(TEAM, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    world.otherwise(ModelReply::text("An answer."));
    let _bot = world.start_open().await;
    let answer = world.told(ANN, TEAM, "@figaro_bot one").await;
    world.caught_up().await;
    world.reacts(ANN, &answer, Some("👍"));
    world.reacts(BOB, &answer, Some("👎"));
    world.answers(TEAM, 2).await;
    world.reacts(BOB, &answer, Some("👍"));
    world.caught_up().await;
    let usage = world.told(ANN, ANN, "/usage").await;
    assert!(text(&usage).contains("👍 2") && !text(&usage).contains('👎'), "{usage}");
    world.press(ANN, &usage, "By model").await;
    let now = world.shows(ANN, number(&usage["message_id"]), "openai:offline").await;
    assert!(text(&now).contains("👍 2"), "{now}");
}

#[tokio::test]
async fn a_heart_pins_an_answer_and_other_messages_are_not_meant() {
    let world = World::new().await;
    world.when("code", ModelReply::text("The code of the door is 4711."));
    let _bot = world.start().await;
    let answer = world.told(ANN, ANN, "the code, please").await;
    let pinned = world.gets(&answer, "❤", 2).await;
    assert!(text(&pinned).contains("Pinned: The code of the door is 4711."), "{pinned}");
    assert_eq!(labels(&pinned), ["Undo"]);
    let before = world.bot_texts(ANN).len();
    for emoji in ["👎", "❤", "🔥"] {
        world.reacts(ANN, &pinned, Some(emoji));
    }
    world.reacts(ANN, &answer, Some("🔥"));
    world.caught_up().await;
    assert_eq!(world.bot_texts(ANN).len(), before + 1, "only the marker is answered");
}

#[tokio::test]
async fn in_a_topic_the_offer_comes_there_and_in_the_language_of_the_chat() {
    const CLUB: i64 = -1009;
    let world = World::new().await;
    world.telegram.add_forum(CLUB, "Club");
    for member in [ANN, BOB] {
        world.telegram.set_member(CLUB, member, MemberStatus::Admin).unwrap();
    }
    world.telegram.set_member(CLUB, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let garden = world.telegram.add_topic(CLUB, "Garden").unwrap();
    world.otherwise(ModelReply::text("Perhaps."));
    let _bot = world.start_open().await;
    world.telegram.send(Say::new(ANN, CLUB, "/config@figaro_bot language German").topic(garden)).unwrap();
    world
        .see("the settings", |view| {
            view.bot_messages(CLUB).iter().any(|message| text(message).contains("Deutsch")).then_some(())
        })
        .await;
    let before = world.bot_texts(CLUB).len();
    world.telegram.send(Say::new(ANN, CLUB, "@figaro_bot is it so?").topic(garden)).unwrap();
    let answer = world.answers(CLUB, before + 1).await.pop().unwrap();
    let offer = world.gets(&answer, "👎", before + 2).await;
    assert_eq!(number(&offer["message_thread_id"]), garden, "{offer}");
    assert_eq!(labels(&offer), ["Noch einmal", "Warum?"], "{offer}");
}

#[tokio::test]
async fn a_reaction_that_the_agents_file_names_is_a_message_to_it() {
    let world = World::new().await;
    let folder = world.folder.path().join("prompts/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let file = "type: object\ndescription: Look after the plants.\njson_schema_extra:\n  kind: agent\n  name: gardener\n  \
        version: \"1\"\n  reactions: {\"🌭\": Water this plant., \"👎\": That was wrong.}\n";
    std::fs::write(folder.join("gardener.yaml"), file).unwrap();
    world.when("the fern", ModelReply::text("The fern is thirsty."));
    world.when("Water this plant.", ModelReply::text("Watered."));
    world.when("That was wrong.", ModelReply::text("I am sorry."));
    let _bot = world.start().await;
    world.told(ANN, ANN, "/config agent gardener").await;
    let answer = world.told(ANN, ANN, "how is the fern?").await;
    let before = world.bot_texts(ANN).len();
    assert_eq!(text(&world.gets(&answer, "🌭", before + 1).await), "Watered.");
    let asked = world.asked().pop().unwrap();
    assert!(
        asked.user_text().contains("The fern is thirsty."),
        "the answer is quoted: {}",
        asked.user_text()
    );
    world.reacts(ANN, &answer, Some("👎"));
    assert_eq!(text(&world.answers(ANN, before + 2).await[before + 1]), "I am sorry.");
}
