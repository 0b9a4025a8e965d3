//! The language that the recipe adds: people whose client speaks it read it.

use serde_json::Value;

use crate::support::World;
use crate::support::scene::{labels, text};

#[tokio::test]
async fn an_added_language_is_spoken() {
    let world = World::new().await;
    world.person(13, "Lidia", "eo");
    let _bot = world.start_open().await;
    assert_eq!(labels(&world.told(13, 13, "/start").await), ["Provi ekzemplon"]);
    let help = world.told(13, 13, "/help").await;
    assert!(text(&help).contains("/notes – viaj listoj"), "{help}");
    world
        .see("the commands in that language", |view| {
            let calls = view.calls_of("setMyCommands");
            let is_its = |language: &Value| language == "eo";
            calls
                .iter()
                .any(|call| call.ok && call.args.get("language_code").is_some_and(is_its))
                .then_some(())
        })
        .await;
}
