//! Tools of a standalone server: the everyday methods, the search, and the caller for every other method.

use serde_json::{Value, json};

use crate::support::{Bench, names, text};

const CALL: &str = "call_telegram_method";

#[tokio::test]
async fn a_standalone_server_lists_the_everyday_methods() {
    let (bench, session) = Bench::standalone().await;
    let tools = bench.tools(&session).await;
    assert_eq!(names(&tools)[..4], ["find_telegram_methods", CALL, "getMe", "sendMessage"]);
    assert_eq!(tools.len(), 15);
    assert_eq!(tools[3]["inputSchema"]["required"], json!(["chat_id", "text"]));
    let (_, answer) = bench.ask_newest("tools/list", json!({})).await;
    assert_eq!(answer["result"]["tools"], Value::from(tools));
    bench.stop().await;
}

#[tokio::test]
async fn the_caller_checks_and_sends_as_a_direct_call_does() {
    let (bench, session) = Bench::standalone().await;
    let cases = [
        ("sendMessage", text("hi")),
        ("sendDice", json!({"chat_id": 2, "emoji": null})),
        ("getMe", json!({})),
        ("sendMessage", json!({"chat_id": 3})),
        ("sendMessage", json!({"chat_id": 4, "text": "long flood"})),
    ];
    for (method, arguments) in cases {
        let direct = bench.call(&session, method, arguments.clone()).await;
        let called = bench.call(&session, CALL, json!({"method": method, "arguments": arguments})).await;
        let mut wanted = direct.clone();
        // The chat is held for the second call.
        if wanted.1["error"]["retry_after"] == 30 {
            wanted.1["error"]["description"] = called.1["error"]["description"].clone();
        }
        assert_eq!(called, wanted, "{method}");
    }
    assert!(!bench.call(&session, CALL, json!({"method": "getMe"})).await.0);
    bench.stop().await;
}

#[tokio::test]
async fn the_caller_calls_only_what_is_served() {
    let (bench, session) = Bench::with(&["--only", "read"]).await;
    let refusals = [
        (
            json!({"method": "sendMessage", "arguments": text("hi")}),
            "sendMessage is not served here: --only leaves out its class, message",
        ),
        (
            json!({"method": "deletemessage"}),
            "deleteMessage is not served here: --only leaves out its class, delete",
        ),
        (json!({"method": "getUpdates"}), "getUpdates is not served here: `figaro-mcp --with-updates`"),
        (json!({"arguments": {}}), "the arguments do not fit: missing field `method`"),
        (json!({"method": "getMe", "arguments": []}), "the arguments do not fit: invalid type: sequence"),
        (json!({"method": "getMe", "more": 1}), "the arguments do not fit: unknown field `more`"),
    ];
    for (args, why) in refusals {
        let (failed, outcome) = bench.call(&session, CALL, args).await;
        let said = outcome["error"]["description"].as_str().unwrap();
        assert!(failed && said.starts_with(&format!("Bad Request: {why}")), "{said}");
    }
    assert!(bench.methods().is_empty());
    bench.stop().await;
}

#[tokio::test]
async fn the_caller_is_not_needed_when_every_method_is_listed() {
    let (bench, session) = Bench::with(&["--all"]).await;
    let tools = bench.tools(&session).await;
    assert_eq!(tools.len(), 181);
    assert!(!names(&tools).contains(&CALL));
    let call = json!({"name": CALL, "arguments": {"method": "getMe"}});
    assert_eq!(bench.ask(&session, "tools/call", call).await["error"]["code"], -32602);
    bench.stop().await;
}
