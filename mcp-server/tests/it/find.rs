//! The search as a tool: what it answers, and what it refuses.

use serde_json::{Value, json};

use crate::support::{Bench, names, text};

const FIND: &str = "find_telegram_methods";

/// The names of the methods that a request finds.
async fn found(bench: &Bench, session: &str, query: &str) -> Vec<String> {
    let (failed, outcome) = bench.call(session, FIND, json!({"query": query})).await;
    assert!(!failed, "{query}: {outcome}");
    names(outcome["methods"].as_array().unwrap()).into_iter().map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn a_request_in_words_brings_methods_with_their_parameters() {
    let (bench, session) = Bench::with(&["--all"]).await;
    let (failed, outcome) = bench.call(&session, FIND, json!({"query": "pin a message"})).await;
    assert!(!failed && outcome.get("types").is_none(), "{outcome}");
    let methods = outcome["methods"].as_array().unwrap();
    assert!((1..=4).contains(&methods.len()), "{outcome}");
    let tools = bench.tools(&session).await;
    for method in methods {
        let keys: Vec<&str> = method.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["name", "description", "class", "inputSchema"]);
        let tool = tools.iter().find(|tool| tool["name"] == method["name"]).unwrap();
        assert_eq!(method["description"], tool["description"]);
        assert_eq!(method["class"], tool["_meta"]["class"]);
        assert_eq!(method["inputSchema"]["properties"], tool["inputSchema"]["properties"]);
    }
    assert_eq!(methods[0]["name"], "pinChatMessage");
    assert_eq!(bench.requests(), [], "a search asks Telegram for nothing");
    bench.stop().await;
}

#[tokio::test]
async fn names_of_methods_and_types_bring_exactly_these() {
    let (bench, session) = Bench::standalone().await;
    assert_eq!(found(&bench, &session, "sendPoll, getChat").await, ["sendPoll", "getChat"]);
    assert_eq!(found(&bench, &session, "SENDPOLL").await, ["sendPoll"]);
    assert_eq!(found(&bench, &session, "sendPoll to ask what people want").await, ["sendPoll"]);
    let many = "getMe getChat getFile sendDice sendPoll";
    assert_eq!(found(&bench, &session, many).await, ["getMe", "getChat", "getFile", "sendDice"]);
    let many = json!({"query": "InlineKeyboardButton LinkPreviewOptions ForceReply"});
    let (_, outcome) = bench.call(&session, FIND, many).await;
    let types: Vec<&str> = outcome["types"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        (&outcome["methods"], types),
        (&json!([]), vec!["InlineKeyboardButton", "LinkPreviewOptions"])
    );
    let (failed, outcome) = bench.call(&session, FIND, json!({"query": "InlineKeyboardButton"})).await;
    let button = &outcome["types"]["InlineKeyboardButton"];
    assert!(!failed && button["properties"]["callback_data"].is_object(), "{outcome}");
    assert_eq!(button["required"], json!(["text"]));
    bench.stop().await;
}

#[tokio::test]
async fn what_is_no_request_is_a_tool_error() {
    let (bench, session) = Bench::standalone().await;
    let length = "query must be a text of 1 to 300 characters";
    let nothing = "nothing fits: say it in other words, like \"pin a message\"";
    let cases = [
        (json!({"query": ""}), length),
        (json!({"query": " \n\t"}), length),
        (json!({"query": "ä".repeat(301)}), length),
        (json!({"query": "qqqqqqqqqqqqqqqqqq"}), nothing),
        (json!({"query": "?!"}), nothing),
        (json!({}), "the arguments do not fit: missing field `query`"),
        (json!({"query": 5}), "the arguments do not fit: invalid type: integer `5`, expected a string"),
        (
            json!({"query": "pin", "limit": 3}),
            "the arguments do not fit: unknown field `limit`, expected `query`",
        ),
    ];
    for (args, why) in cases {
        let outcome = bench.call(&session, FIND, args).await;
        let error = json!({"error_code": 400, "description": format!("Bad Request: {why}")});
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})));
    }
    let longest = json!({"query": format!("pin {}", "ä".repeat(296))});
    assert!(!bench.call(&session, FIND, longest).await.0);
    bench.stop().await;
}

#[tokio::test]
async fn only_chosen_classes_are_listed_found_and_called() {
    let (bench, session) = Bench::unpaced(&["--only", "read"]).await;
    let tools = bench.tools(&session).await;
    assert_eq!((tools.len(), &tools[0]["name"]), (31, &json!(FIND)));
    assert!(tools[1..].iter().all(|tool| tool["_meta"]["class"] == "read"));
    let reads = names(&tools);
    for query in ["pin a message", "ban someone", "sendMessage getChat", "send a photo to the chat"] {
        let (_, outcome) = bench.call(&session, FIND, json!({"query": query})).await;
        let methods = outcome["methods"].as_array().cloned().unwrap_or_default();
        assert!(names(&methods).iter().all(|name| reads.contains(name)), "{query}: {outcome}");
    }
    assert_eq!(found(&bench, &session, "sendMessage getChat").await, ["getChat"]);
    for (query, note) in [
        ("banChatMember", "banChatMember fits, but --only leaves it out"),
        ("ban someone", "banChatMember fits, but --only leaves it out"),
        ("getChat sendMessage", "sendMessage fits, but --only leaves it out"),
        (
            "sendDice sendPoll",
            "sendDice fits, but --only leaves it out; sendPoll fits, but --only leaves it out",
        ),
        ("who is admin here", ""),
    ] {
        let (failed, outcome) = bench.call(&session, FIND, json!({"query": query})).await;
        assert_eq!((failed, outcome["note"].as_str().unwrap_or_default()), (false, note), "{query}");
    }
    assert!(!bench.call(&session, "getChat", json!({"chat_id": 1})).await.0);
    let send = json!({"name": "sendMessage", "arguments": text("hi")});
    let answer = bench.ask(&session, "tools/call", send).await;
    let message = "sendMessage is not served here: --only leaves out its class, message";
    assert_eq!(answer["error"], json!({"code": -32602, "message": message}));
    assert_eq!(bench.methods(), ["getChat"]);
    bench.stop().await;
}

#[tokio::test]
async fn several_classes_are_served_together() {
    let (bench, session) = Bench::unpaced(&["--only", "delete,lifecycle", "--with-lifecycle"]).await;
    let tools = bench.tools(&session).await;
    let classes: Vec<&Value> = tools[1..].iter().map(|tool| &tool["_meta"]["class"]).collect();
    assert_eq!(classes.iter().filter(|class| **class == "delete").count(), 5);
    assert_eq!(classes.iter().filter(|class| **class == "lifecycle").count(), 5);
    assert_eq!(classes.len(), 10);
    bench.stop().await;
}
