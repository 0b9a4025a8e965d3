//! What is called again and what is not, and how calls are spaced.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;

use crate::support::telegram::{self, Shared};
use crate::support::{Bench, OUTSIDE, TOKEN, text};

/// What Telegram's 500 becomes where the call is not repeated.
const INTERNAL: &str = "Internal Server Error";
/// What is said of a failure after a try that may have acted.
const UNCLEAR: &str = " (an earlier try got no answer and may have been carried out)";

/// A port that refuses connections and is nobody else's meanwhile.
fn closed_port() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_for_every_method() {
    for (method, args) in [
        ("sendMessage", text("hi")),
        ("getMe", json!({})),
        ("banChatMember", json!({"chat_id": -5, "user_id": 7})),
    ] {
        let (socket, address) = closed_port();
        let bench = Bench::at(&format!("http://{address}"), &[], &[OUTSIDE]).await;
        let session = bench.open_session().await;
        let seen = Shared::default();
        let opening = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let mut telegram = JoinSet::new();
            telegram.spawn(telegram::serve(socket.listen(16).unwrap(), seen.clone()));
            telegram
        };
        let (_telegram, outcome) = tokio::join!(opening, bench.call(&session, method, args.clone()));
        assert_eq!(outcome, (false, json!({"ok": true, "result": {"message_id": 7, "method": method}})));
        assert_eq!(seen.lock().unwrap().asks.iter().map(|asked| &asked.args).collect::<Vec<_>>(), [&args]);
        bench.stop().await;
    }
}

#[tokio::test]
async fn a_telegram_that_stays_away_is_told_after_three_tries() {
    let (_held, address) = closed_port();
    let bench = Bench::at(&format!("http://{address}"), &[], &[OUTSIDE]).await;
    let session = bench.open_session().await;
    let description = "Telegram can not be reached, nothing was sent: check the network, or try later";
    let start = Instant::now();
    let outcome = bench.call(&session, "sendMessage", text("hi")).await;
    assert_eq!(
        outcome,
        (
            true,
            json!({"ok": false, "error": {"error_code": 503, "description": description, "unsent": true}})
        )
    );
    let waited = start.elapsed();
    assert!(waited >= Duration::from_millis(1500) && waited < Duration::from_secs(20), "{waited:?}");
    bench.stop().await;
}

/// Takes connections, reads, and hangs up without a word; counts them.
async fn hang_up(listener: TcpListener, count: tokio::sync::watch::Sender<usize>) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        count.send_modify(|count| *count += 1);
        assert!(socket.read(&mut [0; 4096]).await.unwrap() > 0);
    }
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_only_where_that_does_no_harm() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (count, counted) = tokio::sync::watch::channel(0);
    let mut telegram = JoinSet::new();
    telegram.spawn(hang_up(listener, count));
    let bench = Bench::at(&address, &[], &[OUTSIDE]).await;
    let session = bench.open_session().await;
    let description =
        "the connection to Telegram broke: the call may have been carried out, so look before repeating it";
    let mut before = 0;
    for (method, args, tries, remark) in
        [("sendMessage", text("hi"), 1, ""), ("getChat", json!({"chat_id": 1}), 3, UNCLEAR)]
    {
        let error = json!({"error_code": 504, "description": format!("{description}{remark}")});
        let outcome = bench.call(&session, method, args).await;
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})), "{method}");
        let count = *counted.borrow();
        assert_eq!(count - before, tries, "{method}");
        before = count;
    }
    bench.stop().await;
}

#[tokio::test]
async fn after_a_failure_of_telegrams_only_what_does_no_harm_twice_is_repeated() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let (unclear, still) = (format!("Bad Request: not modified{UNCLEAR}"), format!("{INTERNAL}{UNCLEAR}"));
    let (unclear, still) = (unclear.as_str(), still.as_str());
    let edit = |text: &str| json!({"chat_id": 1, "message_id": 2, "text": text});
    let cases = [
        ("getChat", json!({"chat_id": "@once"}), None, 2),
        ("setChatTitle", json!({"chat_id": 1, "title": "once"}), None, 2),
        ("editMessageText", edit("once"), None, 2),
        ("sendMessage", text("once"), Some((500, INTERNAL)), 1),
        (
            "forwardMessage",
            json!({"chat_id": "@once", "from_chat_id": 1, "message_id": 2}),
            Some((500, INTERNAL)),
            1,
        ),
        ("banChatMember", json!({"chat_id": "@once", "user_id": 2}), Some((500, INTERNAL)), 1),
        // It is named like what replaces, but each one adds a photo and a notice of it.
        ("setChatPhoto", json!({"chat_id": "@once", "photo": "AgAC"}), Some((500, INTERNAL)), 1),
        ("setChatTitle", json!({"chat_id": 1, "title": "shaky"}), Some((500, still)), 3),
        ("setChatTitle", json!({"chat_id": 1, "title": "then wrong"}), Some((400, unclear)), 2),
        ("editMessageText", edit("then wrong"), Some((400, unclear)), 2),
        ("editMessageText", edit("wrong"), Some((400, "Bad Request: not modified")), 1),
    ];
    for (method, args, error, tries) in cases {
        bench.seen.lock().unwrap().asks.clear();
        let wanted = match error {
            None => json!({"ok": true, "result": {"message_id": 7, "method": method}}),
            Some((code, why)) => json!({"ok": false, "error": {"error_code": code, "description": why}}),
        };
        assert_eq!(bench.call(&session, method, args.clone()).await, (error.is_some(), wanted));
        assert_eq!(bench.requests(), vec![(method.to_owned(), args); tries]);
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_long_flood_is_the_callers_to_wait_out() {
    let (bench, session) = Bench::standalone().await;
    let start = Instant::now();
    let outcome = bench.call(&session, "sendMessage", text("long flood")).await;
    let error =
        json!({"error_code": 429, "description": "Too Many Requests: retry after 30", "retry_after": 30});
    assert_eq!(outcome, (true, json!({"ok": false, "error": error})));
    // Waited out, it would take the 30 seconds.
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(bench.methods(), ["sendMessage"]);
    bench.stop().await;
}

#[tokio::test]
async fn a_chat_that_is_flooded_is_left_alone_and_others_are_not() {
    let (bench, session) = Bench::standalone().await;
    assert!(bench.call(&session, "sendMessage", text("long flood")).await.0);
    for (method, args) in [
        ("sendMessage", text("the next")),
        ("deleteMessage", json!({"chat_id": 1, "message_id": 2})),
        ("sendMessage", json!({"chat_id": "1", "text": "by another name"})),
    ] {
        let (failed, outcome) = bench.call(&session, method, args).await;
        let error = &outcome["error"];
        let wait = error["retry_after"].as_u64().unwrap();
        assert!(failed && error["error_code"] == 429 && (25..=30).contains(&wait), "{outcome}");
    }
    let elsewhere = json!({"chat_id": 2, "text": "to another"});
    let (failed, outcome) = bench.call(&session, "sendMessage", elsewhere.clone()).await;
    assert!(!failed, "{outcome}");
    let asked = [text("long flood"), elsewhere].map(|args| ("sendMessage".to_owned(), args));
    assert_eq!(bench.requests(), asked);
    bench.stop().await;
}

#[tokio::test]
async fn what_waits_for_a_flooded_chat_does_not_overtake_the_call_that_is_repeated() {
    let (bench, session) = Bench::standalone().await;
    let other = bench.open_session().await;
    let start = Instant::now();
    let next = async {
        bench.asked().await;
        bench.call(&other, "sendMessage", text("the next")).await
    };
    let (first, next) = tokio::join!(bench.call(&session, "sendMessage", text("flood")), next);
    assert!(!first.0 && !next.0 && start.elapsed() >= Duration::from_secs(2));
    let asked = ["flood", "flood", "the next"].map(|words| ("sendMessage".to_owned(), text(words)));
    assert_eq!(bench.requests(), asked);
    bench.stop().await;
}

#[tokio::test]
async fn only_harmless_calls_are_repeated() {
    let (bench, session) = Bench::standalone().await;
    let start = Instant::now();
    assert!(!bench.call(&session, "sendMessage", text("flood")).await.0);
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert!(!bench.call(&session, "getChat", json!({"chat_id": "@shaky"})).await.0);
    assert_eq!(bench.methods(), ["sendMessage", "sendMessage", "getChat", "getChat", "getChat"]);
    bench.stop().await;
}

#[tokio::test]
async fn a_supervised_server_leaves_pacing_to_its_parent() {
    let bench = Bench::start(&["--supervised"], &[("FIGARO_MCP_KEY", "outside")]).await;
    let session = bench.open_session().await;
    let (failed, outcome) = bench.call(&session, "sendMessage", text("flood")).await;
    assert_eq!((failed, &outcome["error"]["retry_after"]), (true, &json!(1)));
    let start = Instant::now();
    for _ in 0..11 {
        assert!(!bench.call(&session, "sendMessage", text("more")).await.0);
    }
    // One a second would take ten.
    assert!(start.elapsed() < Duration::from_secs(8));
    bench.stop().await;
}

#[tokio::test]
async fn alone_it_spaces_the_messages_to_a_chat() {
    let (bench, session) = Bench::standalone().await;
    let start = Instant::now();
    for word in ["one", "two"] {
        assert!(!bench.call(&session, "sendMessage", text(word)).await.0);
    }
    assert!(start.elapsed() >= Duration::from_secs(1));
    bench.stop().await;
}

#[tokio::test]
async fn alone_it_counts_the_messages_of_an_album() {
    let (bench, session) = Bench::standalone().await;
    let photo = json!({"type": "photo", "media": "https://example.org/a.jpg"});
    let album = json!({"chat_id": 1, "media": [photo, photo, photo]});
    let start = Instant::now();
    assert!(!bench.call(&session, "sendMediaGroup", album).await.0);
    assert!(!bench.call(&session, "sendMessage", text("after it")).await.0);
    assert!(start.elapsed() >= Duration::from_secs(3));
    assert_eq!(bench.methods(), ["sendMediaGroup", "sendMessage"]);
    bench.stop().await;
}

#[tokio::test]
async fn an_unreachable_telegram_is_told_without_its_address() {
    let (_held, closed) = closed_port();
    let address = format!("http://{closed}");
    let bench = Bench::at(&address, &[], &[OUTSIDE]).await;
    let session = bench.open_session().await;
    let (failed, outcome) = bench.call(&session, "sendMessage", text("hi")).await;
    assert_eq!((failed, &outcome["error"]["error_code"]), (true, &json!(503)));
    for secret in [TOKEN, "SECRET", &closed.to_string()] {
        assert!(!outcome.to_string().contains(secret), "{outcome}");
    }
    bench.stop().await;
}
