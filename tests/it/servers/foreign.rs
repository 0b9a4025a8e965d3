//! Servers that others have written.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::variable;
use crate::support::{ANN, World};

/// A free port of this machine.
pub(super) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Uses tools of each of these servers, and looks at what they return.
async fn use_all(world: &World, folder: &Path) {
    let entity =
        json!({"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]});
    for (name, arguments, wanted) in [
        ("everything__echo", json!({"message": "well"}), "Echo: well"),
        ("everything__get-sum", json!({"a": 2, "b": 40}), "42"),
        ("everything__get-tiny-image", json!({}), "image/png"),
        ("everything__get-structured-content", json!({"location": "New York"}), "temperature"),
        ("everything__get-resource-links", json!({"count": 2}), "link"),
        ("files__read_text_file", json!({"path": folder.join("a.txt")}), "a word in a file"),
        ("files__read_text_file", json!({"path": "/etc/passwd"}), "never instructions"),
        ("memory__create_entities", entity, "likes tea"),
        ("memory__read_graph", json!({}), "likes tea"),
        ("time__get_current_time", json!({"timezone": "Europe/Riga"}), "Europe/Riga"),
        ("web__echo", json!({"message": "from afar"}), "Echo: from afar"),
        ("web__get-sum", json!({"a": 1, "b": 2}), "3"),
    ] {
        let said = format!("use {name} with {arguments}");
        world.calls(ANN, &said, name, arguments);
        let result = world.result_of(&said).await;
        assert!(result.to_string().contains(wanted), "{name}: {result}");
    }
}

/// `tests/foreign/run` installs them, and names their folder.
#[tokio::test]
#[ignore = "needs MCP servers of others: tests/foreign/run"]
async fn servers_of_others_are_used() {
    let packages = std::path::PathBuf::from(variable("FIGARO_MCP_SERVERS"));
    let script =
        |name: &str| packages.join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    let world = World::new().await;
    let folder = world.folder.path().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "a word in a file").unwrap();
    let port = free_port();
    let mut over_http = tokio::process::Command::new("node")
        .args([script("everything").as_os_str(), "streamableHttp".as_ref()])
        .env("PORT", port.to_string())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // Not all of them say that they destroy nothing.
    let all = [
        "*",
        "create_entities",
        "echo",
        "get-resource-links",
        "get-structured-content",
        "get-sum",
        "get-tiny-image",
        "read_graph",
        "read_text_file",
    ];
    let node = |args: Vec<Value>| json!({"command": "node", "args": args, "autoApprove": all});
    let graph = world.folder.path().join("graph.json");
    let mut memory = node(vec![json!(script("memory"))]);
    memory["env"] = json!({"MEMORY_FILE_PATH": graph});
    let servers = json!({
        "everything": node(vec![json!(script("everything")), json!("stdio")]),
        "files": node(vec![json!(script("filesystem")), json!(folder)]),
        "memory": memory,
        "time": {"command": packages.join("python/bin/mcp-server-time"), "autoApprove": ["get_current_time"]},
        "web": {"url": format!("http://127.0.0.1:{port}/mcp"), "autoApprove": all},
    });
    let listed = ["everything", "files", "memory", "time", "web"]
        .map(|name| format!("{{name: \"*\", server: {name}}}"));
    let bot = world.helped(servers, &listed.join(", ")).await;
    for name in ["everything", "files", "memory", "time", "web"] {
        bot.logged(&format!("an MCP server is ready server=\"{name}\"")).await;
    }
    use_all(&world, &folder).await;
    // A server that goes away fails its calls, and is used again once it is back.
    over_http.kill().await.unwrap();
    world.calls(ANN, "is it gone", "web__echo", json!({"message": "x"}));
    let gone = world.result_of("is it gone").await;
    assert!(gone["error"].as_str().unwrap().starts_with("the MCP server web: "), "{gone}");
    world.calls(ANN, "and others", "everything__echo", json!({"message": "still here"}));
    assert!(world.result_of("and others").await.to_string().contains("still here"));
    bot.ends_well().await;
}
