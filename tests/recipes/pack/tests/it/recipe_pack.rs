//! The context pack that the recipe adds: it comes with Figaro, a chat chooses it, and the model saves in its forms.

use serde_json::json;

use crate::records::{HERE, choose, save};
use crate::support::World;

#[tokio::test]
async fn an_added_pack_is_chosen_and_has_its_forms() {
    let world = World::new().await;
    let _bot = world.start().await;
    choose(&world, HERE, "Library").await;
    let book = json!({"name": "Emma", "borrower": "Bob"});
    let saved = save(&world, "Bob has borrowed Emma", "book", book).await;
    assert_eq!((&saved["saved"], &saved["fields"]["borrower"]), (&json!(true), &json!("Bob")), "{saved}");
}
