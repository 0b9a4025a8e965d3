//! With `--discover` clients are shown the search alone, and then what any of them found; who found it hears of that.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Bench, KEY, handshake, initialize, message, names, parse, send, text};

const FIND: &str = "find_telegram_methods";
const CHANGED: &str = "notifications/tools/list_changed";

async fn find(bench: &Bench, session: &str, query: &str) {
    let (failed, outcome) = bench.call(session, FIND, json!({"query": query})).await;
    assert!(!failed, "{outcome}");
}

/// The standing stream of a session, on which it hears what it did not ask for.
async fn listen(bench: &Bench, session: &str) -> reqwest::Response {
    let get = bench.http.get(&bench.url).header("accept", "text/event-stream");
    let stream = send(get, &[KEY, ("mcp-session-id", session)]).await;
    assert_eq!(stream.status(), 200);
    stream
}

/// The next message of a stream; `None` if none comes within half a second.
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
    tokio::time::timeout(Duration::from_millis(500), reading).await.ok()
}

#[tokio::test]
async fn every_client_is_shown_what_any_of_them_found() {
    let (bench, session) = Bench::unpaced(&["--discover"]).await;
    let other = bench.open_session().await;
    assert_eq!(names(&bench.tools(&session).await), [FIND]);
    find(&bench, &session, "sendPoll getChat").await;
    assert_eq!(names(&bench.tools(&session).await), [FIND, "sendPoll", "getChat"]);
    find(&bench, &other, "getChat sendDice").await;
    let tools = bench.tools(&session).await;
    assert_eq!(names(&tools), [FIND, "sendPoll", "getChat", "sendDice"]);
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["chat_id", "question", "options"]));
    // What is found again was found last.
    find(&bench, &session, "sendPoll").await;
    let shown = [FIND, "getChat", "sendDice", "sendPoll"];
    for client in [&session, &other, &bench.open_session().await] {
        assert_eq!(names(&bench.tools(client).await), shown);
    }
    let (_, answer) = bench.ask_newest("tools/list", json!({})).await;
    assert_eq!(names(answer["result"]["tools"].as_array().unwrap()), shown);
    bench.stop().await;
}

#[tokio::test]
async fn a_method_that_was_not_found_can_be_called_all_the_same() {
    let (bench, session) = Bench::unpaced(&["--discover"]).await;
    assert!(!bench.call(&session, "sendMessage", text("hi")).await.0);
    assert_eq!(bench.methods(), ["sendMessage"]);
    assert_eq!(names(&bench.tools(&session).await), [FIND]);
    let unknown = json!({"name": "getUpdates", "arguments": {}});
    assert_eq!(bench.ask(&session, "tools/call", unknown).await["error"]["code"], -32602);
    bench.stop().await;
}

#[tokio::test]
async fn a_session_hears_of_its_new_tools_and_only_of_these() {
    let (bench, session) = Bench::unpaced(&["--discover"]).await;
    let other = bench.open_session().await;
    let (mut stream, mut others) = (listen(&bench, &session).await, listen(&bench, &other).await);
    let changed = json!({"jsonrpc": "2.0", "method": CHANGED});
    find(&bench, &session, "sendPoll").await;
    assert_eq!(next(&mut stream).await, Some(changed.clone()));
    find(&bench, &session, "sendPoll").await;
    assert_eq!(next(&mut stream).await, None, "nothing is new");
    find(&bench, &session, "sendDice").await;
    assert_eq!(next(&mut stream).await, Some(changed));
    assert_eq!(next(&mut others).await, None, "another session found it");
    bench.stop().await;
}

#[tokio::test]
async fn of_many_searches_without_a_listener_the_last_stay() {
    let (bench, session) = Bench::unpaced(&["--discover"]).await;
    let (whole, listed) = Bench::unpaced(&[]).await;
    let all = whole.tools(&listed).await;
    let known: Vec<&str> = names(&all).into_iter().filter(|name| *name != FIND).take(60).collect();
    for name in &known {
        find(&bench, &session, name).await;
    }
    let wanted: Vec<&str> = [FIND].into_iter().chain(known[28..].iter().copied()).collect();
    assert_eq!(names(&bench.tools(&session).await), wanted);
    bench.stop().await;
    whole.stop().await;
}

#[tokio::test]
async fn a_changing_list_is_declared_only_with_the_flag() {
    for (flags, tools) in [(&[][..], json!({})), (&["--discover"][..], json!({"listChanged": true}))] {
        let (bench, _) = Bench::unpaced(flags).await;
        let answer = message(bench.post(&[KEY], &initialize()).await).await;
        assert_eq!(answer["result"]["capabilities"], json!({"tools": tools, "resources": {}}), "{flags:?}");
        bench.stop().await;
    }
}

#[tokio::test]
async fn without_the_flag_nobody_hears_of_tools() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let mut stream = listen(&bench, &session).await;
    find(&bench, &session, "sendPoll").await;
    assert_eq!(next(&mut stream).await, None);
    bench.stop().await;
}

#[tokio::test]
async fn a_client_without_sessions_finds_and_calls() {
    let (bench, _) = Bench::unpaced(&["--discover"]).await;
    let (status, answer) = bench.ask_newest("tools/list", json!({})).await;
    assert_eq!((status, names(answer["result"]["tools"].as_array().unwrap())), (200, vec![FIND]));
    let search = json!({"name": FIND, "arguments": {"query": "sendDice"}});
    let (status, answer) = bench.ask_newest("tools/call", search).await;
    let methods = answer["result"]["structuredContent"]["methods"].as_array().unwrap();
    assert_eq!((status, names(methods)), (200, vec!["sendDice"]));
    let dice = json!({"name": "sendDice", "arguments": {"chat_id": 1}});
    let (status, answer) = bench.ask_newest("tools/call", dice).await;
    assert_eq!((status, &answer["result"]["structuredContent"]["ok"]), (200, &json!(true)));
    let (_, answer) = bench.ask_newest("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(names(tools), [FIND, "sendDice"]);
    bench.stop().await;
}

#[tokio::test]
async fn what_a_session_found_outlives_it() {
    let (bench, session) = Bench::unpaced(&["--discover"]).await;
    find(&bench, &session, "sendPoll").await;
    let delete = send(bench.http.delete(&bench.url), &[KEY, ("mcp-session-id", &session)]).await;
    assert!(delete.status().is_success());
    let again = bench.post(&[KEY, ("mcp-session-id", &session)], &handshake("2025-06-18")).await;
    assert_eq!(again.status(), 404);
    let next = bench.open_session().await;
    assert_eq!(names(&bench.tools(&next).await), [FIND, "sendPoll"]);
    bench.stop().await;
}
