//! Secrets of the settings and of other files stand on no page.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::TelegramOptions;
use serde_json::json;

use crate::support::calls::says;
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

/// Values of secret settings. Those with an address are one part of it.
const SECRETS: [(&str, &str); 9] = [
    ("OPENAI_API_KEY", "sk-secret-of-openai-0001"),
    ("COMPATIBLE_API_KEY", "sk-secret-of-compatible-02"),
    ("GEMINI_API_KEY", "secret-of-gemini-000003"),
    ("TAVILY_API_KEY", "tvly-secret-of-tavily-04"),
    ("MCP_API_KEY", "secret-of-mcp-00000005-00000005"),
    ("API_KEYS", "app:secret-of-the-app-0006,other:secret-of-other-0007;owner"),
    ("JWT_SECRET", "secret-of-tokens-00000008-00000008-00000008"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer secret-of-otel-0009"),
    ("TELEGRAM_PROXY", "http://name:secret-of-proxy-10@127.0.0.1:9"),
];
/// Where other secrets stand: descriptions of servers, and addresses with a name and a password.
const OTHERS: [&str; 5] = [
    "secret-of-header-11",
    "secret-of-env-12",
    "secret-of-query-13",
    "secret-of-args-15",
    "secret-of-base-16",
];

/// Every secret by itself.
fn all(world: &World) -> Vec<String> {
    let mut all: Vec<String> = OTHERS.map(str::to_owned).to_vec();
    for (_, value) in SECRETS {
        let words =
            value.split([':', ',', ';', ' ', '=', '@', '/']).filter(|word| word.contains("secret-of"));
        all.extend(words.map(str::to_owned));
    }
    all.push(world.telegram.token().split(':').nth(1).unwrap().to_owned());
    all
}

#[tokio::test]
async fn no_page_has_a_secret() {
    // What the test starts its servers with comes first.
    drop(World::new().await);
    let token = "7000000001:secret-of-telegram-00".to_owned();
    let world = World::with(TelegramOptions { token, ..TelegramOptions::default() }).await;
    world.otherwise(ModelReply::text("Hello."));
    let servers = json!({"mcpServers": {
        "far": {"url": "http://127.0.0.1:9/mcp?key=${FAR_KEY}", "headers": {"Authorization": "Bearer ${FAR_TOKEN}"}},
        "near": {"command": "false", "args": ["--token", "${NEAR_TOKEN}"], "env": {"KEY": "secret-of-env-12"}},
    }});
    std::fs::write(world.folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let mut recipe = world.bot().set("ACCESS", "open").set("FAR_TOKEN", "secret-of-header-11");
    recipe = recipe.set("FAR_KEY", "secret-of-query-13").set("NEAR_TOKEN", "secret-of-args-15");
    for (name, value) in SECRETS {
        recipe = recipe.set(name, value);
    }
    let recipe = recipe
        .set("COMPATIBLE_MODEL", "offline")
        .set("COMPATIBLE_BASE_URL", &world.model.url().replace("http://", "http://name:secret-of-base-16@"))
        .set("NO_PROXY", "127.0.0.1");
    let dashboard = world.dashboard_of(recipe).await;
    world.told(BOB, BOB, "hello").await;
    // A provider may tell the key that it refuses.
    world.when(
        "what is wrong",
        ModelReply::status(401, "Incorrect API key provided: sk-secret-of-openai-0001."),
    );
    world.say(BOB, BOB, "what is wrong?");
    says(&world, BOB, "key").await;
    world.when("tell me", ModelReply::text("Yes."));
    let owner = world.browser(&dashboard, ANN).await;
    // Both servers fail, and the page says why.
    let failed = async || (owner.reads("servers").await.matches("class=\"bad\"").count() >= 2).then_some(());
    eventually(|| "that the servers fail is not shown", failed).await;
    let pages = owner.finds().await.pages;
    assert!(
        pages
            .iter()
            .any(|page| page.url.path().ends_with("/settings") && page.body.contains("OPENAI_API_KEY"))
    );
    for page in &pages {
        for secret in all(&world) {
            assert!(!page.whole().contains(&secret), "{}: {}", page.url, page.around(&secret));
        }
    }
    // Those of other variables are shown.
    assert!(pages.iter().any(|page| page.body.contains("allowlist") || page.body.contains("open")));
}

#[tokio::test]
async fn the_cookie_and_the_ticket_stand_on_no_page() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let mut browser = dashboard.nobody();
    let link = world.link(ANN).await;
    browser.signs_in(&link).await;
    let cookie = browser.cookie.clone().unwrap();
    let (ticket, value) = (link.rsplit('/').next().unwrap(), cookie.split('=').nth(1).unwrap());
    world.caught_up().await;
    for page in browser.finds().await.pages {
        assert!(!page.whole().contains(ticket) && !page.whole().contains(value), "{}", page.url);
    }
    let records = format!("{:?}", world.telegram.calls());
    assert!(!records.contains(value), "nobody is sent it");
}

#[tokio::test]
async fn a_key_in_the_address_of_a_server_stands_on_no_page() {
    let world = World::new().await;
    let servers = json!({"mcpServers": {"far": {"url": "http://127.0.0.1:9/mcp?key=secret-of-far-17"}}});
    std::fs::write(world.folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let dashboard = world.dashboard().await;
    let owner = world.browser(&dashboard, ANN).await;
    let failed = async || owner.reads("servers").await.contains("class=\"bad\"").then_some(());
    eventually(|| "that the server fails is not shown", failed).await;
    for page in owner.finds().await.pages {
        assert!(!page.body.contains("secret-of-far-17"), "{}: {}", page.url, page.around("secret-of-far-17"));
    }
}
