//! Chats that change while an answer for them is written.

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{MemberStatus, Say};
use serde_json::json;

use super::Left;
use super::sending::outcomes;
use crate::support::{ANN, BOB, World};

const GROUP: i64 = -500;
const FORUM: i64 = -1_000_600;

async fn world_with_group() -> World {
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Lunch");
    world.join(GROUP);
    world
}

pub async fn a_group_becomes_a_supergroup_while_it_is_answered() -> Left {
    let world = world_with_group().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Soup.").behind(&gate));
    let bot = world.start_open().await;
    world.say(BOB, GROUP, "@figaro_bot what do we eat?");
    world.asks(1).await;
    let new = world.telegram.require_migration(GROUP).unwrap();
    gate.open();
    world.answers(new, 1).await;
    assert_eq!(world.bot_texts(GROUP), Vec::<String>::new());
    world.script.push(ModelReply::text("At noon."));
    world.told(BOB, new, "@figaro_bot and when?").await;
    Left::stopped(&world, new, bot).await
}

/// What was allowed there stays allowed.
pub async fn a_group_that_was_allowed_becomes_a_supergroup() -> Left {
    let world = world_with_group().await;
    let bot = world.start().await;
    world.told(ANN, GROUP, "/allow@figaro_bot").await;
    let new = world.telegram.migrate(GROUP).unwrap();
    world.script.push(ModelReply::text("Soup."));
    world.told(BOB, new, "@figaro_bot what do we eat?").await;
    Left::stopped(&world, new, bot).await
}

/// Deletes a topic as its admin would.
async fn delete_topic(world: &World, topic: i64) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let url = format!("{}/bot{}/deleteForumTopic", world.telegram.url(), world.telegram.token());
    world.telegram.set_member(FORUM, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let body = json!({"chat_id": FORUM, "message_thread_id": topic});
    let answer = reqwest::Client::builder().build().unwrap().post(url).json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

pub async fn a_topic_is_deleted_while_it_is_answered() -> Left {
    let world = World::new().await;
    world.telegram.add_forum(FORUM, "Workshop");
    world.join(FORUM);
    let topic = world.telegram.add_topic(FORUM, "Ideas").unwrap();
    let gate = Gate::new();
    world.script.push(ModelReply::text("Paint it blue.").behind(&gate));
    let bot = world.start_open().await;
    world.telegram.send(Say::new(BOB, FORUM, "@figaro_bot which colour?").topic(topic)).unwrap();
    world.asks(1).await;
    delete_topic(&world, topic).await;
    gate.open();
    let answer = |view: &figaro_offline::telegram::TelegramView<'_>| {
        let mut there = view.bot_messages(FORUM).into_iter();
        there.any(|m| m["text"] == "Paint it blue." && m["message_thread_id"].is_null()).then_some(())
    };
    world.see("the answer outside of any topic", answer).await;
    let left = Left::stopped(&world, FORUM, bot).await;
    assert_eq!(outcomes(&world, FORUM), [false, true]);
    left
}
