//! Where the bot, other clients and strangers meet the server of tools: ports that are taken, and proxies that are not
//! asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::process::{talkative, tools_work};
use crate::support::server::{Pipes, Server, environment};
use crate::support::wait::eventually;
use crate::support::{ANN, Bot, TIMEOUT, World, listener, proc};

/// A process that waits at a port for what is not its own; it notes what comes and answers nothing of use.
struct Squatter {
    port: u16,
    heard: Arc<Mutex<String>>,
    _task: JoinSet<()>,
}

impl Squatter {
    fn on(listener: TcpListener) -> Self {
        let (port, heard) = (listener.local_addr().unwrap().port(), Arc::<Mutex<String>>::default());
        let mut task = JoinSet::new();
        task.spawn(listen(listener, Arc::clone(&heard)));
        Self { port, heard, _task: task }
    }

    fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

async fn listen(listener: TcpListener, heard: Arc<Mutex<String>>) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 16 * 1024];
        let count = socket.read(&mut bytes).await.unwrap_or_default();
        heard.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
        drop(socket.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").await);
    }
}

/// Takes a port as soon as it is free.
async fn take(port: u16) -> TcpListener {
    let taking = async {
        loop {
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
                return listener;
            }
            // Hardly a pause: it has to be faster than the server that is started anew.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, taking).await.expect("the port is freed")
}

/// What the server says to another client at this port: an HTTP status, or `None` where nobody listens.
async fn knock(port: u16, key: &str) -> Option<u16> {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let info = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    let request = http.post(format!("http://127.0.0.1:{port}/mcp")).bearer_auth(key);
    let request = request.header("accept", "application/json, text/event-stream");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
    Some(request.json(&message).send().await.ok()?.status().as_u16())
}

fn child(bot: &Bot) -> u32 {
    bot.children()[0]
}

#[tokio::test]
async fn a_squatter_on_the_port_for_others_keeps_no_tools_from_the_bot() {
    let world = World::new().await;
    let squatter = Squatter::on(listener().await);
    let bot = world.bot().set("MCP_HTTP_PORT", &squatter.port.to_string()).spawn();
    bot.ready().await;
    tools_work(&world).await;
    assert_eq!(squatter.heard(), "");
    bot.ends_well().await;
}

#[tokio::test]
async fn other_clients_come_in_by_their_port_with_their_key_only() {
    let world = World::new().await;
    let port = listener().await.local_addr().unwrap().port();
    let bot = world.bot().set("MCP_HTTP_PORT", &port.to_string());
    let closed = bot.spawn();
    closed.ready().await;
    assert_eq!(knock(port, "for-other-clients").await, None);
    closed.ends_well().await;
    let open = bot.set("MCP_API_KEY", "for-other-clients").spawn();
    open.ready().await;
    assert_eq!(knock(port, "for-other-clients").await, Some(200));
    assert_eq!(knock(port, "guessed").await, Some(401));
    tools_work(&world).await;
    open.ends_well().await;
}

#[tokio::test]
async fn a_port_that_was_lost_in_a_restart_costs_no_tools_and_is_taken_again() {
    let world = World::new().await;
    let port = listener().await.local_addr().unwrap().port();
    let bot = world.bot().set("MCP_HTTP_PORT", &port.to_string()).set("MCP_API_KEY", "for-other-clients");
    let bot = bot.spawn();
    bot.ready().await;
    proc::signal(child(&bot), "KILL");
    let squatter = Squatter::on(take(port).await);
    tools_work(&world).await;
    bot.logged(&format!("port {port} is taken")).await;
    assert_eq!(squatter.heard(), "", "the squatter hears nothing");
    drop(squatter);
    let again = async || (knock(port, "for-other-clients").await == Some(200)).then_some(());
    eventually(|| format!("other clients do not get in again; the log:\n{}", bot.log()), again).await;
    assert_eq!(bot.log().matches(&format!("served at http://127.0.0.1:{port}/mcp")).count(), 2);
    assert_eq!(bot.log().matches("is taken").count(), 1, "once: {}", bot.log());
    bot.ends_well().await;
}

#[tokio::test]
async fn no_proxy_sees_what_stays_on_this_machine() {
    let world = World::new().await;
    let proxy = Squatter::on(listener().await);
    let through = |mut variables: BTreeMap<&'static str, String>| {
        variables.extend(["HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(|name| (name, proxy.url())));
        variables
    };
    // The server, with a Telegram of this machine.
    let mut variables = through(environment(&world.telegram));
    variables.insert("FIGARO_MCP_KEY", "the-key-of-this-parent".to_owned());
    variables.insert("RUST_LOG", "error".to_owned());
    let server = Server::start(&["--supervised"], &variables).await;
    let answer = server.call("sendMessage", &json!({"chat_id": ANN, "text": "straight"})).await;
    assert!(!answer.is_error, "{answer:?}");
    assert_eq!(proxy.heard(), "");
    drop(server);
    // The bot, with the server.
    let bot = through(BTreeMap::new()).iter().fold(world.bot(), |bot, (name, value)| bot.set(name, value));
    let bot = bot.set("RUST_LOG", "info").spawn();
    bot.logged("create new session").await;
    let heard = proxy.heard();
    assert!(!heard.contains("/mcp") && !heard.to_lowercase().contains("bearer"), "{heard}");
}

#[tokio::test]
async fn a_telegram_elsewhere_is_reached_by_the_proxy() {
    let world = World::new().await;
    let proxy = Squatter::on(listener().await);
    let mut variables = environment(&world.telegram);
    variables.insert("TELEGRAM_API_URL", "http://telegram.example:8081".to_owned());
    variables.insert("HTTP_PROXY", proxy.url());
    variables.insert("FIGARO_MCP_KEY", "the-key-of-this-parent".to_owned());
    variables.insert("RUST_LOG", "error".to_owned());
    let server = Server::start(&["--supervised"], &variables).await;
    let answer = server.call("sendMessage", &json!({"chat_id": ANN, "text": "around"})).await;
    assert!(answer.is_error, "{answer:?}");
    assert!(proxy.heard().starts_with("POST http://telegram.example:8081/bot"), "{}", proxy.heard());
}

#[tokio::test]
async fn alone_the_server_refuses_a_port_that_is_taken() {
    let world = World::new().await;
    let squatter = Squatter::on(listener().await);
    let mut variables = environment(&world.telegram);
    variables.insert("MCP_HTTP_PORT", squatter.port.to_string());
    let (status, rest, errors) = Pipes::start(&[], &variables).ended().await;
    assert!(status.code() == Some(2) && rest.is_empty(), "{errors}");
    let wanted = format!("figaro-mcp: port {} is taken", squatter.port);
    assert!(errors.starts_with(&wanted) && errors.lines().count() == 1, "{errors}");
}

#[tokio::test]
async fn a_server_that_names_another_machine_is_not_handed_the_key() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    for host in ["localhost", "127.0.0.1:80@localhost"] {
        let squatter = Squatter::on(listener().await);
        let words = format!("echo READY http://{host}:{}/mcp\nsleep 1", squatter.port);
        let output = world.bot().set("MCP_SERVER_BIN", &talkative(&folder, &words)).run().await;
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && errors.contains("MCP_SERVER_BIN"), "{errors}");
        assert_eq!(squatter.heard(), "");
    }
}
