//! The real `figaro-mcp` alone: on standard input and output as a client's child, and over HTTP as a server of its own.

use std::collections::BTreeMap;
use std::process::ExitStatus;

use figaro_mcp::VERSION;
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::support::server::{Pipes, Server, environment};
use crate::support::{ANN, World, proc};

/// A client that speaks with the server by its pipes.
struct Client {
    pipes: Pipes,
    last: u64,
}

impl Client {
    /// Starts a server for this client alone; nothing is said yet.
    fn start(world: &World) -> Self {
        Self { pipes: Pipes::start(&["--stdio"], &environment(&world.telegram)), last: 0 }
    }

    /// Starts one and begins as MCP does.
    async fn open(world: &World) -> Self {
        Self::open_with(world, &[]).await
    }

    /// The same with flags.
    async fn open_with(world: &World, flags: &[&str]) -> Self {
        let args = [&["--stdio"], flags].concat();
        let mut client = Self { pipes: Pipes::start(&args, &environment(&world.telegram)), last: 0 };
        let result = client.greet().await;
        assert_eq!(result["serverInfo"]["version"], VERSION, "{result}");
        client
    }

    async fn greet(&mut self) -> Value {
        let info = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        let result = self.ask("initialize", hello).await["result"].clone();
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        result
    }

    async fn write(&mut self, line: &str) {
        let stdin = self.pipes.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
    }

    async fn send(&mut self, method: &str, params: Value) {
        self.last += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.write(&request.to_string()).await;
    }

    /// Asks, and gives the answer; every line on the way is a message of JSON-RPC.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params).await;
        loop {
            let line = self.pipes.line().await.unwrap_or_else(|| panic!("no answer to {method}"));
            let message = json_rpc(&line);
            if message["id"] == self.last {
                return message;
            }
        }
    }

    /// All pages of tools.
    async fn tools(&mut self) -> Vec<Value> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.ask("tools/list", params).await["result"].clone();
            tools.extend(page["tools"].as_array().unwrap().iter().cloned());
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return tools,
            }
        }
    }

    async fn say(&mut self, text: &str) -> Value {
        let arguments = json!({"chat_id": ANN, "text": text});
        let answer = self.ask("tools/call", json!({"name": "sendMessage", "arguments": arguments})).await;
        answer["result"].clone()
    }
}

fn json_rpc(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

/// It ended well, said nothing more but JSON-RPC, and has logged on standard error, without the token.
fn ended_well(world: &World, (status, rest, errors): (ExitStatus, Vec<String>, String)) -> String {
    assert_eq!(status.code(), Some(0), "{errors}");
    rest.iter().for_each(|line| drop(json_rpc(line)));
    assert!(!errors.contains(world.telegram.token()), "{errors}");
    errors
}

#[tokio::test]
async fn a_client_lists_calls_and_closes() {
    let world = World::new().await;
    let mut client = Client::open(&world).await;
    assert_eq!(client.tools().await.len(), 15);
    let result = client.say("over a pipe\nin two lines").await;
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["ok"]),
        (&json!(false), &json!(true)),
        "{result}"
    );
    assert_eq!(world.bot_texts(ANN), ["over a pipe\nin two lines"]);
    client.pipes.stdin = None;
    let log = ended_well(&world, client.pipes.ended().await);
    assert!(
        log.contains("call ended") && log.contains("sendMessage") && !log.contains("over a pipe"),
        "{log}"
    );
}

#[tokio::test]
async fn everyday_tools_cost_a_tenth_of_all() {
    let world = World::new().await;
    let words = tiktoken_rs::o200k_base().unwrap();
    let mut tokens = Vec::new();
    for flags in [&[][..], &["--all"][..]] {
        let mut client = Client::open_with(&world, flags).await;
        let tools = client.tools().await;
        let as_function = |tool: &Value| {
            json!({"type": "function", "name": tool["name"], "description": tool["description"],
                   "parameters": tool["inputSchema"]})
        };
        let functions: Value = tools.iter().map(as_function).collect();
        tokens.push(words.encode_ordinary(&functions.to_string()).len());
        println!("{} tools {flags:?}: {} tokens", tools.len(), tokens[tokens.len() - 1]);
        client.pipes.stdin = None;
        ended_well(&world, client.pipes.ended().await);
    }
    assert!(tokens[0] * 10 < tokens[1], "{tokens:?}");
}

#[tokio::test]
async fn incoming_messages_are_read_and_announced() {
    let world = World::new().await;
    let mut client = Client::open_with(&world, &["--with-updates"]).await;
    let uri = json!({"uri": "telegram://updates"});
    assert!(client.ask("resources/subscribe", uri.clone()).await["result"].is_object());
    world.telegram.say(ANN, ANN, "are you there?").unwrap();
    let line = json_rpc(&client.pipes.line().await.unwrap());
    assert_eq!((&line["method"], &line["params"]), (&json!("notifications/resources/updated"), &uri));
    let read = client.ask("resources/read", uri).await;
    let contents: Value =
        serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let message = &contents["updates"][0]["message"];
    assert_eq!((&message["text"], &message["chat"]["id"]), (&json!("are you there?"), &json!(ANN)));
    client.pipes.stdin = None;
    ended_well(&world, client.pipes.ended().await);
}

#[tokio::test]
async fn a_signal_ends_it_well_before_and_after_the_first_word() {
    let world = World::new().await;
    for name in ["TERM", "INT"] {
        let client = Client::open(&world).await;
        proc::signal(client.pipes.pid(), name);
        ended_well(&world, client.pipes.ended().await);
    }
    // What is on its way when the signal comes gets no answer in time; the end is no failure all the same.
    let mut client = Client::open(&world).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    let arguments = json!({"chat_id": ANN, "text": "never"});
    client.send("tools/call", json!({"name": "sendMessage", "arguments": arguments})).await;
    let called = |view: &TelegramView<'_>| (!view.calls_of("sendMessage").is_empty()).then_some(());
    world.see("the call", called).await;
    proc::signal(client.pipes.pid(), "TERM");
    let log = ended_well(&world, client.pipes.ended().await);
    assert!(log.contains("still under way"), "{log}");
}

#[tokio::test]
async fn a_client_that_goes_without_a_word_has_done_nothing_wrong() {
    let world = World::new().await;
    let mut client = Client::start(&world);
    client.pipes.stdin = None;
    assert_eq!(ended_well(&world, client.pipes.ended().await), "");
}

#[tokio::test]
async fn each_line_that_is_no_message_gets_its_error() {
    let world = World::new().await;
    let (parse, request, params) = (-32700, -32600, -32602);
    let garbage = [
        ("hello?", parse, Value::Null),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", parse, Value::Null),
        ("[1, 2", parse, Value::Null),
        ("\u{0}\u{1}", parse, Value::Null),
        ("{}", request, Value::Null),
        ("\"text\"", request, Value::Null),
        ("{\"id\": 77, \"method\": \"ping\"}", request, json!(77)),
        ("{\"jsonrpc\": \"2.0\", \"id\": 78, \"method\": \"tools/call\", \"params\": {}}", params, json!(78)),
    ];
    let mut client = Client::open(&world).await;
    client.write("").await;
    for (line, code, id) in garbage {
        client.write(line).await;
        let answer = json_rpc(&client.pipes.line().await.unwrap());
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
    }
    assert_eq!(client.say("still here").await["isError"], false);
    let stdin = client.pipes.stdin.as_mut().unwrap();
    stdin.write_all(b"\xff\xfe not UTF-8\n").await.unwrap();
    assert_eq!(client.say("here too").await["isError"], false);
    client.pipes.stdin = None;
    ended_well(&world, client.pipes.ended().await);
    assert_eq!(world.bot_texts(ANN), ["still here", "here too"]);
}

#[tokio::test]
async fn who_begins_otherwise_than_mcp_does_is_told_so() {
    let world = World::new().await;
    let mut early = Client::start(&world);
    early.write("GET / HTTP/1.1").await;
    assert!(early.greet().await["capabilities"]["tools"].is_object(), "garbage before the first word");
    early.pipes.stdin = None;
    ended_well(&world, early.pipes.ended().await);

    let mut hasty = Client::start(&world);
    let refused = hasty.ask("tools/call", json!({"name": "getMe", "arguments": {}})).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(world.telegram.calls().is_empty());
    assert!(hasty.greet().await["capabilities"]["tools"].is_object(), "it may still begin");
    hasty.pipes.stdin = None;
    ended_well(&world, hasty.pipes.ended().await);

    let mut client = Client::start(&world);
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
    let (status, rest, errors) = client.pipes.ended().await;
    assert_eq!((status.code(), rest), (Some(1), Vec::new()), "{errors}");
    assert!(
        errors.lines().any(|line| line.starts_with("figaro-mcp: the client did not begin as MCP does")),
        "{errors}"
    );
}

#[tokio::test]
async fn the_newest_protocol_needs_no_first_word() {
    let world = World::new().await;
    let mut client = Client::start(&world);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
    });
    let arguments = json!({"chat_id": ANN, "text": "at once"});
    let params = json!({"name": "sendMessage", "arguments": arguments, "_meta": meta});
    let answer = client.ask("tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
    assert_eq!(world.bot_texts(ANN), ["at once"]);
    client.pipes.stdin = None;
    ended_well(&world, client.pipes.ended().await);
}

#[tokio::test]
async fn mistakes_of_its_owner_are_told_on_standard_error_only() {
    let world = World::new().await;
    let whole = environment(&world.telegram);
    let without = |name: &str| {
        let mut fewer = whole.clone();
        fewer.remove(name);
        fewer
    };
    let wrong = BTreeMap::from([("TELEGRAM_BOT_TOKEN", "sesame".to_owned())]);
    let missing = "figaro-mcp: TELEGRAM_BOT_TOKEN is missing: set it to the token @BotFather gave you, like 123456:ABC-def\n";
    let cases = [
        (vec!["--stdio", "--supervised"], whole.clone(), "'--stdio' cannot be used with '--supervised'"),
        (vec!["--stdio"], without("TELEGRAM_BOT_TOKEN"), missing),
        (vec![], without("TELEGRAM_BOT_TOKEN"), missing),
        (vec!["--stdio"], wrong, "TELEGRAM_BOT_TOKEN is not a token"),
        (vec!["--stdio", "--only", "nothing"], whole.clone(), "--only"),
    ];
    for (args, environment, words) in cases {
        let (status, rest, errors) = Pipes::start(&args, &environment).ended().await;
        assert_eq!((status.code(), rest), (Some(2), Vec::new()), "{args:?}: {errors}");
        assert!(errors.contains(words) && !errors.contains("sesame"), "{args:?}: {errors}");
    }
}

#[tokio::test]
async fn with_a_token_alone_it_serves_over_http_until_it_is_told_to_end() {
    let world = World::new().await;
    let server = Server::start(&[], &environment(&world.telegram)).await;
    let sent = server.call("sendMessage", &json!({"chat_id": ANN, "text": "by myself"})).await;
    assert_eq!((sent.is_error, &sent.content["ok"]), (false, &json!(true)));
    assert_eq!(world.bot_texts(ANN), ["by myself"]);
    proc::signal(server.pipes.pid(), "TERM");
    let log = ended_well(&world, server.pipes.ended().await);
    assert!(log.contains("call ended"), "{log}");
}
