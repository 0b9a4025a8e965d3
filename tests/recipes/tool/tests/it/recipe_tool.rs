//! The tool that the recipe adds: the model finds it and calls it.

use serde_json::json;

use crate::support::calls::{error, find_and_call};
use crate::support::{ANN, World};

#[tokio::test]
async fn an_added_tool_is_found_and_called() {
    let world = World::new().await;
    let _bot = world.start().await;
    let said = find_and_call(&world, (ANN, ANN), "say it loudly", ("shout", json!({"text": "olá"}))).await;
    assert_eq!(said["text"], "OLÁ", "{said}");
    let long = json!({"text": "a".repeat(1_001)});
    let refused = find_and_call(&world, (ANN, ANN), "say much of it", ("shout", long)).await;
    assert_eq!(error(&refused), "text takes up to 1000 characters");
}
