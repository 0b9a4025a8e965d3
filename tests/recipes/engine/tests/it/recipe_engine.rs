//! The engine that the recipe adds: a bot keeps what it is told, over a restart.

use serde_json::json;

use crate::support::calls::call;
use crate::support::scene::labels;
use crate::support::{ANN, World};

#[tokio::test]
async fn an_added_engine_keeps_what_a_bot_stores() {
    let world = World::new().await;
    let recipe = world.bot().set("STORE_URL", "plain:./data");
    let bot = recipe.spawn();
    bot.ready().await;
    let milk = json!({"key": "shopping", "content": "milk"});
    let added = call(&world, (ANN, ANN), "remember the milk", "add_note", milk).await;
    assert_eq!(added["success"], true, "{added}");
    bot.ends_well().await;
    assert!(world.folder.path().join("data/store.plain").is_file());
    let again = recipe.spawn();
    again.ready().await;
    assert_eq!(labels(&world.told(ANN, ANN, "/notes").await), ["shopping (1)"]);
}
