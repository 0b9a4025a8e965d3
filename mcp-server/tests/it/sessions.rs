//! Sessions, calls that are given up, and how the server ends.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde_json::json;

use crate::support::{Bench, KEY, OUTSIDE, initialize, request, send, text};

/// As the README says.
const MAX_SESSIONS: usize = 256;

async fn ping(bench: &Bench, session: &str) -> StatusCode {
    bench.post(&[KEY, ("mcp-session-id", session)], &request("ping", json!({}))).await.status()
}

/// A stream for messages of the server's own.
async fn open_stream(bench: &Bench, session: &str) -> reqwest::Response {
    let get = bench.http.get(&bench.url).header("accept", "text/event-stream");
    let stream = send(get, &[KEY, ("mcp-session-id", session)]).await;
    assert_eq!(stream.status(), StatusCode::OK);
    stream
}

/// A call of which only the beginning of the answer was read.
async fn open_call(bench: &Bench, session: &str, cue: &str) -> reqwest::Response {
    let call = request("tools/call", json!({"name": "sendMessage", "arguments": text(cue)}));
    bench.post(&[KEY, ("mcp-session-id", session)], &call).await
}

#[tokio::test]
async fn of_many_sessions_the_unused_ones_end() {
    let (bench, kept) = Bench::standalone().await;
    let forgotten = bench.open_session().await;
    let hangs = bench.open_session().await;
    let hanging = open_call(&bench, &hangs, "never").await;
    let listens = bench.open_session().await;
    let listening = open_stream(&bench, &listens).await;
    for _ in 0..MAX_SESSIONS - 4 {
        bench.open_session().await;
    }
    assert_eq!(ping(&bench, &forgotten).await, StatusCode::OK);
    assert_eq!(ping(&bench, &kept).await, StatusCode::OK);
    for _ in 0..MAX_SESSIONS - 3 {
        bench.open_session().await;
    }
    for (session, status) in [(&forgotten, 404), (&kept, 200), (&hangs, 200), (&listens, 200)] {
        assert_eq!(ping(&bench, session).await, status);
    }
    drop((hanging, listening));
    bench.stop().await;
}

#[tokio::test]
async fn a_call_whose_client_hung_up_still_holds_its_session() {
    let (bench, session) = Bench::standalone().await;
    let call = open_call(&bench, &session, "never").await;
    bench.asked().await;
    drop(call);
    for _ in 0..MAX_SESSIONS + 1 {
        bench.open_session().await;
    }
    assert_eq!(ping(&bench, &session).await, StatusCode::OK);
    bench.stop().await;
}

#[tokio::test]
async fn where_all_sessions_are_in_use_a_new_client_is_told_to_come_back() {
    let (bench, first) = Bench::standalone().await;
    let mut streams = vec![open_stream(&bench, &first).await];
    for _ in 1..MAX_SESSIONS {
        let session = bench.open_session().await;
        streams.push(open_stream(&bench, &session).await);
    }
    let refused = bench.post(&[KEY], &initialize()).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "10");
    assert_eq!(refused.text().await.unwrap(), "all MCP sessions are in use: end one, or try again later\n");
    // Who needs no session is served all the same.
    assert_eq!(bench.ask_newest("tools/list", json!({})).await.0, 200);
    assert_eq!(ping(&bench, &first).await, StatusCode::OK);
    drop(streams.pop());
    let start = Instant::now();
    while bench.post(&[KEY], &initialize()).await.status() != StatusCode::OK {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "the place of a client that left is not given away"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(streams);
    bench.stop().await;
}

#[tokio::test]
async fn a_hundred_clients_lose_no_call() {
    let (bench, _) = Bench::unpaced(&[]).await;
    let client = async |chat: usize| {
        let session = bench.open_session().await;
        for _ in 0..5 {
            let args = json!({"chat_id": chat, "text": "hi"});
            let (failed, outcome) = bench.call(&session, "sendMessage", args).await;
            assert!(!failed, "{outcome}");
        }
    };
    futures::future::join_all((1..=100).map(client)).await;
    assert_eq!(bench.requests().len(), 500);
    bench.stop().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_the_call_to_telegram() {
    let (bench, session) = Bench::standalone().await;
    let headers = [KEY, ("mcp-session-id", session.as_str())];
    let params = json!({"name": "sendMessage", "arguments": text("never")});
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let open = bench.post(&headers, &call).await;
    bench.asked().await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    bench.post(&headers, &cancel).await;
    bench.aborted().await;
    drop(open);
    bench.stop().await;
}

#[tokio::test]
async fn the_newest_protocol_needs_no_session_and_hanging_up_cancels() {
    let bench = Bench::start(&[], &[OUTSIDE]).await;
    let call = |cue: &str| json!({"name": "sendMessage", "arguments": text(cue)});
    let (_, answer) = bench.ask_newest("tools/call", call("hi")).await;
    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
    bench.seen.lock().unwrap().asks.clear();
    tokio::select! {
        _ = bench.ask_newest("tools/call", call("never")) => panic!("answered"),
        () = bench.asked() => {}
    }
    bench.aborted().await;
    bench.stop().await;
}

#[tokio::test]
async fn a_stop_lets_a_call_finish_and_cuts_what_hangs() {
    let (bench, session) = Bench::standalone().await;
    let mut standing = open_stream(&bench, &session).await;
    let stopping = async {
        bench.asked().await;
        bench.shutdown.cancel();
    };
    let call = bench.call(&session, "sendMessage", text("half a second"));
    let ((), (failed, _)) = tokio::join!(stopping, call);
    assert!(!failed);
    bench.stop().await;
    while let Ok(Some(_)) = standing.chunk().await {}
}
