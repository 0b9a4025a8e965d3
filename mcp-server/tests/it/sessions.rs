//! Sessions, calls that are given up, and how the server ends.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::{Bench, KEY, OUTSIDE, send, text};

#[tokio::test]
async fn of_many_sessions_the_unused_ones_end() {
    let (bench, kept) = Bench::standalone().await;
    let forgotten = bench.open_session().await;
    for _ in 0..40 {
        bench.open_session().await;
        assert!(bench.ask(&kept, "tools/list", json!({})).await["result"].is_object());
    }
    let list = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"});
    let response = bench.post(&[KEY, ("mcp-session-id", &forgotten)], &list).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
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
    let get = bench.http.get(&bench.url).header("accept", "text/event-stream");
    let mut standing = send(get, &[KEY, ("mcp-session-id", &session)]).await;
    assert_eq!(standing.status(), StatusCode::OK);
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
