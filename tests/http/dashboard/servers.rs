//! Other MCP servers: their tools are shown, and an owner starts one again.

use std::path::Path;

use serde_json::json;

use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World, proc};

/// A variable of the environment of the tests.
#[expect(clippy::disallowed_methods, reason = "where programs are is known to the machine alone")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_unset| panic!("{name} is not set"))
}

#[tokio::test]
async fn an_owner_sees_the_tools_of_a_server_and_starts_it_again() {
    let world = World::new().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/servers/server.py");
    let mark = world.folder.path().join("box");
    let servers = json!({"mcpServers": {"box": {"command": "python3", "args": [script, "plain", mark]}}});
    std::fs::write(world.folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let recipe = world.bot().set("ACCESS", "open").set("PATH", &variable("PATH"));
    let dashboard = world.dashboard_of(recipe).await;
    dashboard.bot().logged("an MCP server is ready").await;
    let processes = || proc::with_words(mark.to_str().unwrap());
    let (owner, member) = (world.browser(&dashboard, ANN).await, world.browser(&dashboard, BOB).await);
    let page = owner.reads("servers").await;
    assert!(page.contains("box") && page.contains("echo"), "{page}");
    let before = processes();
    assert!(!before.is_empty());
    assert_eq!(member.post("servers/box", &[("now", "1")]).await.status, 404);
    for name in ["none", "telegram", "box%20", "%2e%2e", "Box"] {
        let page = owner.post(&format!("servers/{name}"), &[("now", "1")]).await;
        assert!(page.status < 500, "{name}: {}", page.whole());
    }
    assert_eq!(processes(), before);
    assert_eq!(owner.post("servers/box", &[("now", "1")]).await.status, 303);
    dashboard.bot().logged_times("an MCP server is ready", 2).await;
    let is_new = async || {
        let now = processes();
        (!now.is_empty() && now.iter().all(|pid| !before.contains(pid))).then_some(())
    };
    eventually(|| format!("{before:?} and now {:?}", processes()), is_new).await;
    assert!(owner.reads("servers").await.contains("echo"));
    dashboard.gateway.bot.ends_well().await;
    proc::none_has(mark.to_str().unwrap()).await;
}
