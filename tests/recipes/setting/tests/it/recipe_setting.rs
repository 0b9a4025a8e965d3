//! The setting that the recipe adds: it bounds the notes of a chat, and a wrong value stops the start.

use serde_json::json;

use crate::support::calls::{call, error};
use crate::support::output::refused;
use crate::support::{ANN, World};

#[tokio::test]
async fn an_added_setting_holds_and_a_wrong_value_is_refused() {
    let world = World::new().await;
    let message = refused(&world, &world.bot().set("NOTES_PER_CHAT", "0")).await;
    assert!(message.contains("NOTES_PER_CHAT (`0`) is not a whole number from 1 to 10000"), "{message}");
    let bot = world.bot().set("NOTES_PER_CHAT", "1").spawn();
    bot.ready().await;
    let note = |content: &str| json!({"key": "shopping", "content": content});
    let first = call(&world, (ANN, ANN), "remember the milk", "add_note", note("milk")).await;
    assert_eq!(first["success"], true, "{first}");
    let second = call(&world, (ANN, ANN), "remember the bread", "add_note", note("bread")).await;
    assert_eq!(error(&second), "this chat has 1 notes; remove some first");
}
