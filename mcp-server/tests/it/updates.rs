//! The bot's updates as a resource, with `--with-updates`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Bench, KEY, parse, send};

const URI: &str = "telegram://updates";

/// Lets messages with these ids arrive.
fn arrive(bench: &Bench, ids: impl Iterator<Item = i64>) {
    let update =
        |id: i64| json!({"update_id": id, "message": {"message_id": id, "chat": {"id": 1}, "text": "hi"}});
    bench.seen.lock().unwrap().updates.extend(ids.map(update));
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
