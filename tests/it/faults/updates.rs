//! Updates that are JSON and yet not what they were, or not what anybody knows.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use super::Left;
use crate::support::scene::text;
use crate::support::{ANN, BOB, World};

/// Updates of which some have a message with words and an odd id: these are answered. Of the others that are of a kind
/// the bot asks for, the owner is told, of each kind once.
fn odd() -> [Value; 15] {
    let bob = json!({"id": BOB, "is_bot": false, "first_name": "Bob"});
    let chat = json!({"id": BOB, "type": "private"});
    [
        json!({}),
        json!({"poll": {"id": "1", "question": "?"}}),
        json!({"telepathy": {"from": bob, "thought": "hello"}}),
        json!({"message": "hello"}),
        json!({"message": null}),
        json!({"message": {}}),
        json!({"message": {"message_id": 7, "chat": {"id": "here"}, "from": bob, "text": "hello"}}),
        json!({"message": {"message_id": 7, "chat": chat, "from": bob, "date": "today", "text": 42}}),
        json!({"message": {"message_id": 7, "chat": chat, "from": [], "date": 0, "text": "hello"}}),
        json!({"edited_message": 3}),
        json!({"callback_query": {"id": 5}}),
        json!({"callback_query": {"id": "5", "from": bob, "data": "nonsense:\u{0}:1"}}),
        json!({"my_chat_member": []}),
        json!({"stopped_message_generation": {"chat": chat}}),
        json!({"message": {"message_id": "seven", "chat": chat, "from": bob, "text": "hello"}}),
    ]
}

pub async fn updates_are_not_what_they_were() -> Left {
    let world = World::new().await;
    for update in odd() {
        world.telegram.push_raw(update);
    }
    world.otherwise(ModelReply::text("I heard you."));
    let bot = world.start_open().await;
    let heard =
        |view: &TelegramView<'_>| view.bot_messages(BOB).iter().filter(|m| text(m) == "I heard you.").count();
    world.see("an answer to what can be read", |view| (heard(view) == 1).then_some(())).await;
    world.say(BOB, BOB, "Hello");
    let done = |view: &TelegramView<'_>| (heard(view) == 2 && view.updates_pending() == 0).then_some(());
    world.see("the last answer", done).await;
    // Each kind is told by itself, and waits for nothing.
    world.answers(ANN, 4).await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.caught_up().await;
    assert_eq!(world.asked().len(), 2);
    let mut left = Left::stopped(&world, BOB, bot).await;
    left.owner.sort();
    left
}

pub async fn a_message_has_parts_from_the_future() -> Left {
    let world = World::new().await;
    world.script.push(ModelReply::text("Shiny."));
    let bot = world.start_open().await;
    let entities = vec![
        json!({"type": "sparkle", "offset": 0, "length": 4, "colour": {"name": "gold"}}),
        json!({"type": "bold", "offset": 900, "length": 7}),
        json!({"type": 9, "offset": -1, "length": "all"}),
        json!({"type": "custom_emoji", "offset": 5, "length": 2, "custom_emoji_id": "1"}),
    ];
    let say =
        Say::new(BOB, BOB, "Look 👀 here").entities(entities).field("hologram", json!({"depth": [1, 2, 3]}));
    world.telegram.send(say).unwrap();
    world.answers(BOB, 1).await;
    assert!(world.model.requests()[0].user_text().contains("Look 👀 here"));
    Left::stopped(&world, BOB, bot).await
}
