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
        (
            json!({"method": "getMe", "arguments": []}),
            "the arguments do not fit: `arguments` must be an object",
        ),
        (
            json!({"method": "getMe", "arguments": "x"}),
            "the arguments do not fit: `arguments` must be an object",
        ),
        (
            json!({"method": "getMe", "arguments": "[]"}),
            "the arguments do not fit: `arguments` must be an object",
        ),
        (
            json!({"method": "getMe", "arguments": format!("{{\"a\":[{}0]}}", "0,".repeat(3000))}),
            "the arguments do not fit: `arguments` as a text has at most 2621 keys and values",
        ),
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

#[tokio::test]
async fn the_caller_takes_arguments_as_a_text() {
    let (bench, session) = Bench::standalone().await;
    let args = json!({"method": "sendMessage", "arguments": text("hi").to_string()});
    assert!(!bench.call(&session, CALL, args).await.0);
    assert!(!bench.call(&session, CALL, json!({"method": "getMe", "arguments": null})).await.0);
    let wanted = [("sendMessage".to_owned(), text("hi")), ("getMe".to_owned(), json!({}))];
    assert_eq!(bench.requests(), wanted);
    bench.stop().await;
}

#[tokio::test]
async fn misspelt_methods_get_the_nearest_name() {
    let (bench, session) = Bench::standalone().await;
    let found = "find_telegram_methods finds one";
    let long = "sendMessage".repeat(10_000);
    let cases = [
        ("sendmessage", "did you mean sendMessage?"),
        ("send_message", "did you mean sendMessage?"),
        ("sendMesage", "did you mean sendMessage?"),
        ("banChatMembr", "did you mean banChatMember?"),
        ("orderPizza", found),
        ("", found),
        (&long, found),
    ];
    for (method, remedy) in cases {
        let (failed, outcome) = bench.call(&session, CALL, json!({"method": method})).await;
        let description = format!("Bad Request: unknown method {method:?}: {remedy}");
        assert_eq!((failed, &outcome["error"]["description"]), (true, &json!(description)));
    }
    for (tool, message) in [
        (
            "senddice",
            "unknown tool \"senddice\": did you mean sendDice? call_telegram_method calls every method",
        ),
        ("orderPizza", "unknown tool \"orderPizza\": tools/list names those there are"),
    ] {
        let answer = bench.ask(&session, "tools/call", json!({"name": tool})).await;
        assert_eq!(answer["error"], json!({"code": -32602, "message": message}));
    }
    assert!(bench.methods().is_empty());
    bench.stop().await;
}
