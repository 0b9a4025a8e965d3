//! Deep trees within small budgets of a day: they never take more, and the person gets an answer or hears why not.

use figaro_ledger::sum;
use figaro_offline::model::{ModelReply, ModelRequest};

use super::{Scene, agent, asks, is_of};
use crate::support::scene::text;
use crate::support::{ANN, World};

fn cast(world: &World) {
    agent(world, "boss", &["agents: [left, right]", "tools: [{name: ask_agent}]"]);
    agent(world, "left", &["agents: [right]", "tools: [{name: ask_agent}]"]);
    agent(world, "right", &["agents: [left]", "tools: [{name: ask_agent}]"]);
}

/// Everybody asks as many as they can, and takes as much as the bound on the answer lets them.
fn greedy(request: &ModelRequest) -> ModelReply {
    let most = request.body["max_output_tokens"].as_u64().unwrap_or(8_192);
    let other = if is_of(request, "left") { "right" } else { "left" };
    let may_ask = request.tool_names().contains(&"ask_agent");
    match (request.tool_results().is_empty(), may_ask) {
        (true, true) => {
            ModelReply::turn((0..4).map(|n| asks(other, &format!("Part {n}."))).collect()).usage(900, 200)
        }
        _ if is_of(request, "boss") => ModelReply::text("As far as it went.").usage(900, 60),
        _ => ModelReply::text("A part.").usage(900, most),
    }
}

async fn stays_within(variable: &str, cap: &str, is_within: impl Fn(u64, u64) -> bool) {
    let world = World::new().await;
    cast(&world);
    let recipe = world.priced();
    let mut scene = Scene::new(world, greedy).await;
    scene.recipe = recipe.set("OPENAI_BASE_URL", scene.model.url()).set(variable, cap);
    let bot = scene.led().await;
    let before = scene.world.bot_texts(ANN).len();
    scene.world.say(ANN, ANN, "Have everybody work");
    let told = scene.world.answers(ANN, before + 1).await[before].clone();
    let is_clear = text(&told).contains("As far as it went.") || text(&told).contains("over my budget");
    let texts = scene.world.bot_texts(ANN);
    assert!(is_clear || texts.iter().any(|t| t.contains("As far as")), "{variable}={cap}: {texts:?}");
    scene.is_quiet(&[]).await;
    bot.ends_well().await;
    let spent = sum(&scene.world.books().await);
    assert!(
        is_within(spent.tokens, spent.nano_usd),
        "{variable}={cap}: {} tokens, {} nano$",
        spent.tokens,
        spent.nano_usd
    );
    let children = scene.children().await;
    assert!(children.len() <= 20, "{}", children.len());
    assert!(children.iter().all(|c| c.outcome.is_some() && c.depth <= 3), "{children:?}");
}

#[tokio::test]
async fn a_deep_tree_stays_within_the_tokens_of_the_day() {
    for cap in [12_000, 30_000, 90_000] {
        stays_within("DAILY_TOKENS", &cap.to_string(), |tokens, _| tokens <= cap).await;
    }
}

#[tokio::test]
async fn a_deep_tree_stays_within_the_money_of_the_day() {
    for (cap, nano) in [("0.01", 10_000_000), ("0.03", 30_000_000), ("0.08", 80_000_000)] {
        stays_within("DAILY_USD", cap, |_, spent| spent <= nano).await;
    }
}
