//! The bot's updates as a resource, with `--with-updates`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::support::{Bench, KEY, OUTSIDE, handshake, message, names, parse, send};

const URI: &str = "telegram://updates";
const TOOL: &str = "read_incoming_messages";
const CALL: &str = "call_telegram_method";

/// Lets messages with these ids arrive.
fn arrive(bench: &Bench, ids: impl Iterator<Item = i64>) {
    let update =
        |id: i64| json!({"update_id": id, "message": {"message_id": id, "chat": {"id": 1}, "text": "hi"}});
    bench.seen.lock().unwrap().updates.extend(ids.map(update));
}

async fn description(bench: &Bench, session: &str, tool: &str, args: Value) -> String {
    let (failed, outcome) = bench.call(session, tool, args).await;
    assert!(failed, "{outcome}");
    outcome["error"]["description"].as_str().unwrap().to_owned()
}

async fn read(bench: &Bench, session: &str) -> Value {
    let answer = bench.ask(session, "resources/read", json!({"uri": URI})).await;
    let contents = &answer["result"]["contents"][0];
    assert_eq!(
        (&contents["uri"], &contents["mimeType"]),
        (&json!(URI), &json!("application/json")),
        "{answer}"
    );
    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
}

/// The next notification of a stream, within three seconds.
async fn next(stream: &mut reqwest::Response) -> Option<Value> {
    let mut text = String::new();
    let reading = async {
        loop {
            text += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
            if text.ends_with("\n\n") && text.contains("data: {") {
                return parse(&text);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(3), reading).await.ok()
}

async fn listen(bench: &Bench, session: &str) -> reqwest::Response {
    let get = bench.http.get(&bench.url).header("accept", "text/event-stream");
    send(get, &[KEY, ("mcp-session-id", session)]).await
}

#[tokio::test]
async fn subscribers_hear_of_new_updates_and_read_the_newest() {
    let (bench, session) = Bench::with(&["--with-updates"]).await;
    let other = bench.open_session().await;
    let listed = bench.ask(&session, "resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], URI);
    assert_eq!(read(&bench, &session).await, json!({"updates": []}));
    for client in [&session, &other] {
        let answer = bench.ask(client, "resources/subscribe", json!({"uri": URI})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let answer = bench.ask(&other, "resources/unsubscribe", json!({"uri": URI})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let (mut stream, mut others) = (listen(&bench, &session).await, listen(&bench, &other).await);
    arrive(&bench, 1..151);
    let updated =
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": URI}});
    assert_eq!(next(&mut stream).await, Some(updated));
    let updates = read(&bench, &session).await["updates"].as_array().unwrap().clone();
    assert_eq!((updates.len(), &updates[0]["update_id"]), (100, &json!(51)));
    assert_eq!(updates[99]["message"], json!({"message_id": 150, "chat": {"id": 1}, "text": "hi"}));
    assert_eq!(next(&mut others).await, None, "it unsubscribed");
    let (_, offsets) = bench.requests().pop().unwrap();
    assert_eq!(offsets["offset"], 151);
    drop((stream, others));
    bench.stop().await;
}

#[tokio::test]
async fn a_conflict_is_told() {
    let (bench, session) = Bench::with(&["--with-updates"]).await;
    bench.seen.lock().unwrap().is_polled = true;
    let mut told = Value::Null;
    for _ in 0..100 {
        told = read(&bench, &session).await["error"].clone();
        if !told.is_null() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(told, "another process reads this bot's updates: stop it, or leave out --with-updates");
    bench.stop().await;
}

#[tokio::test]
async fn only_updates_can_be_subscribed_to_and_only_with_the_flag() {
    let (bench, session) = Bench::with(&["--with-updates"]).await;
    let file = bench.ask(&session, "resources/subscribe", json!({"uri": "telegram-file:///note"})).await;
    assert_eq!(file["error"]["code"], -32002, "{file}");
    let bad = bench.ask(&session, "resources/subscribe", json!({"uri": 5})).await;
    assert_eq!(bad["error"]["code"], -32602, "{bad}");
    bench.stop().await;
    let (bench, session) = Bench::standalone().await;
    let listed = bench.ask(&session, "resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"], json!([]));
    assert!(bench.methods().is_empty(), "nothing is polled");
    bench.stop().await;
}

#[tokio::test]
async fn a_tool_reads_the_newest_messages() {
    let (bench, session) = Bench::with(&["--with-updates"]).await;
    let tools = bench.tools(&session).await;
    assert_eq!(names(&tools)[..3], ["find_telegram_methods", TOOL, "call_telegram_method"]);
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], true);
    arrive(&bench, 1..151);
    let newest = |outcome: &(bool, Value)| -> Vec<i64> {
        let updates = outcome.1["updates"].as_array().unwrap().iter();
        updates.map(|update| update["update_id"].as_i64().unwrap()).collect()
    };
    while read(&bench, &session).await["updates"] == json!([]) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for (args, from) in [(json!({}), 131), (json!({"limit": 2}), 149), (json!({"limit": 100}), 51)] {
        let outcome = bench.call(&session, TOOL, args.clone()).await;
        assert_eq!((outcome.0, newest(&outcome)), (false, (from..151).collect()), "{args}");
    }
    for limit in [json!(0), json!(101), json!(-1), json!("5")] {
        let why = description(&bench, &session, TOOL, json!({"limit": limit})).await;
        assert_eq!(why, "Bad Request: limit must be a whole number from 1 to 100");
    }
    bench.stop().await;
    let (bench, session) = Bench::with(&["--with-updates", "--all"]).await;
    let tools = bench.tools(&session).await;
    assert_eq!((tools.len(), names(&tools)[1]), (182, TOOL));
    bench.stop().await;
}

#[tokio::test]
async fn an_early_reader_waits_for_the_first_messages() {
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(400)).await;
        axum::Json(json!({"ok": true, "result": [{"update_id": 1, "message": {"message_id": 7}}]}))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut telegram = JoinSet::new();
    telegram.spawn(async move { axum::serve(listener, axum::Router::new().fallback(slow)).await.unwrap() });
    let bench = Bench::at(&url, &["--with-updates"], &[OUTSIDE]).await;
    let session = bench.open_session().await;
    let (failed, outcome) = bench.call(&session, TOOL, json!({})).await;
    assert!(!failed && outcome["updates"][0]["message"]["message_id"] == 7, "{outcome}");
    bench.stop().await;
}

#[tokio::test]
async fn the_tool_tells_a_conflict() {
    let (bench, session) = Bench::with(&["--with-updates"]).await;
    bench.seen.lock().unwrap().is_polled = true;
    let mut outcome = (false, Value::Null);
    for _ in 0..100 {
        outcome = bench.call(&session, TOOL, json!({})).await;
        if outcome.0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let error = "another process reads this bot's updates: stop it, or leave out --with-updates";
    assert_eq!(outcome, (true, json!({"updates": [], "error": error})));
    bench.stop().await;
}

#[tokio::test]
async fn without_the_flag_the_way_to_incoming_messages_is_told() {
    let (bench, session) = Bench::standalone().await;
    assert!(!names(&bench.tools(&session).await).contains(&TOOL));
    let way = "`figaro-mcp --with-updates` reads incoming messages, `--with-lifecycle` serves getUpdates, setWebhook, \
               deleteWebhook, logOut and close";
    let refusal = format!("getUpdates is not served here: {way}");
    let call = |method: &str| json!({"method": method});
    for (tool, args, why) in [
        (CALL, call("getUpdates"), refusal.as_str()),
        (CALL, call("close"), "close is not served here: `figaro-mcp --with-lifecycle` serves it"),
    ] {
        assert_eq!(description(&bench, &session, tool, args).await, format!("Bad Request: {why}"));
    }
    for query in ["getUpdates", "read incoming messages", "receive new messages"] {
        let (failed, outcome) = bench.call(&session, "find_telegram_methods", json!({"query": query})).await;
        assert_eq!((failed, &outcome["note"]), (false, &json!(refusal)), "{query}: {outcome}");
    }
    let answer = bench.ask(&session, "tools/call", json!({"name": "getUpdates"})).await;
    assert_eq!(answer["error"], json!({"code": -32602, "message": refusal}));
    for (method, params) in
        [("resources/read", json!({"uri": URI})), ("tools/call", json!({"name": TOOL, "arguments": {}}))]
    {
        let told = bench.ask(&session, method, params).await["error"]["message"].clone();
        let wanted = "is not served here: `figaro-mcp --with-updates` serves it";
        assert!(told.as_str().unwrap().ends_with(wanted), "{told}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn the_instructions_tell_of_incoming_messages_and_files() {
    let cases: [(&[&str], &str); 3] = [
        (&[], "Incoming messages are not served: `figaro-mcp --with-updates` reads them."),
        (&["--with-updates"], "read_incoming_messages returns the newest messages sent to the bot."),
        (&["--with-lifecycle"], "getUpdates returns messages sent to the bot."),
    ];
    for (args, wanted) in cases {
        let bench = Bench::start(args, &[OUTSIDE]).await;
        let answer = message(bench.post(&[KEY], &handshake("2025-06-18")).await).await;
        let told = answer["result"]["instructions"].as_str().unwrap();
        assert!(told.ends_with(wanted) && told.contains("paths of this machine are not read"), "{told}");
        bench.stop().await;
    }
}
