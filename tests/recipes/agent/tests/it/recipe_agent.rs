//! The agent that the recipe adds: it comes with Figaro, and a chat chooses it.

use figaro_offline::model::ModelReply;

use crate::support::calls::asked;
use crate::support::{ANN, World};

#[tokio::test]
async fn an_added_agent_is_chosen_and_answers() {
    let world = World::new().await;
    let _bot = world.start().await;
    world.told(ANN, ANN, "/agents proofreader").await;
    let request = asked(&world, "their is a mistake", ModelReply::text("There is a mistake.")).await;
    assert!(request.instructions().contains("You correct the spelling"), "{}", request.instructions());
    assert_eq!(request.tool_names(), Vec::<&str>::new());
}
