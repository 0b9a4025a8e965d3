//! The provider that the recipe adds: settings name it, and its model answers.

use figaro_offline::model::ModelReply;

use crate::support::World;
use crate::support::output::refused;
use crate::support::scene::text;

#[tokio::test]
async fn an_added_provider_answers() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("By the light."));
    let recipe = world.bot().unset("OPENAI_API_KEY").unset("OPENAI_BASE_URL").unset("OPENAI_MODEL");
    let recipe = recipe
        .set("LLM_PROVIDER", "lantern")
        .set("LANTERN_BASE_URL", world.model.url())
        .set("LANTERN_API_KEY", "sk-offline-key");
    let message = refused(&world, &recipe).await;
    assert!(message.contains("LANTERN_MODEL"), "{message}");
    let bot = recipe.set("LANTERN_MODEL", "offline-text").spawn();
    bot.ready().await;
    assert_eq!(text(&world.ask("How do you see?").await), "By the light.");
    assert_eq!(world.asks(1).await.model(), "offline-text");
}
