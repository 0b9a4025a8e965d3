//! What every turn pays for before anything is asked: the system prompt and the tools, as the real bot sends them to each
//! kind of provider, counted with the product's own estimate, which is never below o200k_base.

use figaro_base::text::estimate_tokens;
use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::tavily::KEY;

use crate::support::scene::TEAM;
use crate::support::{ANN, BOB, World};

/// The most tokens that the system prompt and the tools of a plain turn may take.
const BUDGET: usize = 2_500;

/// The tokens of the system prompt and of the tools.
fn cost(request: &ModelRequest) -> (usize, usize) {
    (estimate_tokens(request.instructions()), estimate_tokens(&request.body["tools"].to_string()))
}

#[tokio::test]
async fn a_plain_turn_pays_at_most_2500_tokens_before_anything_is_asked() {
    for provider in ["openai", "compatible", "ollama", "gemini"] {
        let world = World::new().await;
        world.team();
        // With a search of its own the bot offers every tool it has, where no provider searches.
        let bot = world.bot_of(provider).set("ACCESS", "open");
        let bot = bot.set("TAVILY_API_KEY", KEY).set("TAVILY_BASE_URL", world.tavily.url());
        let bot =
            bot.set("PAINTER", "openai:gpt-image-1-mini").set("OPENAI_API_KEY", "sk-offline-key").spawn();
        bot.ready().await;
        world.otherwise(ModelReply::text("Fine."));
        world.told(ANN, ANN, "how are you?").await;
        world.told(BOB, TEAM, "@figaro_bot how are you?").await;
        world.told(ANN, ANN, "and now?").await;
        let requests = world.asked();
        for (request, whose) in requests.iter().zip(["an owner", "a member in a group"]) {
            let (system, tools) = cost(request);
            println!("{provider}, {whose}: {system} + {tools} = {} tokens", system + tools);
            assert!(
                system + tools <= BUDGET,
                "{provider}, {whose}: {system} + {tools}: {}",
                request.body["tools"]
            );
        }
        // What stands first is the same in every turn, or no provider's cache would know it again.
        let prefix =
            |request: &ModelRequest| (request.instructions().to_owned(), request.body["tools"].to_string());
        assert!(requests.iter().all(|request| prefix(request) == prefix(&requests[0])), "{provider}");
    }
}
