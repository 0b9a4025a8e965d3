//! The record that the recipe adds: people export it, and it is forgotten with its question.

use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::conversation::ConversationId;
use figaro_domain::motto::Motto;
use figaro_offline::model::ModelReply;

use crate::forgetting::{files, pressed};
use crate::support::scene::text;
use crate::support::{BOB, World};

#[tokio::test]
async fn an_added_record_is_exported_and_forgotten_with_its_question() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Done."));
    let bot = world.start_open().await;
    world.told(BOB, BOB, "find us a slogan").await;
    bot.ends_well().await;

    let (store, chat) = (world.stored().await, ChatId(BOB));
    let here = ConversationId { chat, topic: None };
    let session = store.conversations().session(here, Clock::system().now()).unwrap();
    let turn = store.conversations().recent(session.id, 9).unwrap()[0].turn.unwrap();
    let motto = Motto { chat, turn, author: UserId::telegram(BOB), words: "Step by step".to_owned() };
    store.mottos().put(motto).await.unwrap();
    drop(store);

    let bot = world.start_open().await;
    let card = world.told(BOB, BOB, "/export").await;
    world.press(BOB, &card, "Everything").await;
    for (name, content) in files(&world, BOB, 2).await {
        assert!(content.contains("Step by step"), "{name}: {content}");
    }
    let card = world.told(BOB, BOB, "/forget slogan").await;
    pressed(&world, BOB, &card, "find us", "Forget this message").await;
    let done = pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    assert!(text(&done).contains("• mottos: 1"), "{done}");
    bot.ends_well().await;
    assert_eq!(world.stored().await.mottos().of_chat(chat).unwrap(), []);
}
