//! The server through its door: MCP over HTTP on one side, a small Telegram on the other that records what it is asked.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use figaro_mcp::{Settings, VERSION, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "12345:SECRET-token_x";
const KEY: (&str, &str) = ("authorization", "Bearer outside");

/// What the fake Telegram saw.
#[derive(Debug, Default)]
struct Seen {
    /// Method and arguments of each request.
    requests: Vec<(String, Value)>,
    /// Requests whose connection closed before their answer.
    aborted: usize,
}

type Shared = Arc<Mutex<Seen>>;

/// A server under test with its Telegram; nothing of it outlives the value.
struct Bench {
    http: reqwest::Client,
    url: String,
    seen: Shared,
    shutdown: CancellationToken,
    server: JoinSet<()>,
    _telegram: JoinSet<()>,
}

impl Bench {
    async fn start(args: &[&str], keys: &[(&str, &str)]) -> Self {
        let seen = Shared::default();
        let telegram = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api_url = format!("http://{}", telegram.local_addr().unwrap());
        let app = Router::new().fallback(fake_telegram).with_state(seen.clone());
        let mut telegram_task = JoinSet::new();
        telegram_task.spawn(async move { axum::serve(telegram, app).await.unwrap() });

        let mut env: HashMap<&str, &str> = HashMap::from_iter(keys.iter().copied());
        env.extend([("TELEGRAM_BOT_TOKEN", TOKEN), ("TELEGRAM_API_URL", &api_url)]);
        let settings =
            Settings::parse(args.iter().map(OsString::from), |name| env.get(name).map(OsString::from))
                .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let stopped = shutdown.clone().cancelled_owned();
        let mut server = JoinSet::new();
        server.spawn(async move { serve(listener, settings, stopped).await.unwrap() });
        // A server installs it too; whichever comes second finds it there.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self { http, url, seen, shutdown, server, _telegram: telegram_task }
    }

    /// Standalone, with a key for outside clients, and a session.
    async fn standalone() -> (Self, String) {
        let bench = Self::start(&[], &[("MCP_API_KEY", "outside")]).await;
        let session = bench.open_session().await;
        (bench, session)
    }

    async fn post(&self, headers: &[(&str, &str)], body: &Value) -> reqwest::Response {
        let request =
            self.http.post(&self.url).header("accept", "application/json, text/event-stream").json(body);
        send(request, headers).await
    }

    async fn open_session(&self) -> String {
        let response = self.post(&[KEY], &initialize()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(message(response).await["result"]["serverInfo"]["version"], VERSION);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(
            self.post(&[KEY, ("mcp-session-id", &session)], &ready).await.status(),
            StatusCode::ACCEPTED
        );
        session
    }

    async fn ask(&self, session: &str, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
        message(self.post(&[KEY, ("mcp-session-id", session)], &body).await).await
    }

    /// Calls a tool: whether it failed, and its structured content.
    async fn call(&self, session: &str, tool: &str, args: Value) -> (bool, Value) {
        let answer = self.ask(session, "tools/call", json!({"name": tool, "arguments": args})).await;
        let result = &answer["result"];
        assert_eq!(result["content"][0]["text"], result["structuredContent"].to_string(), "{answer}");
        (result["isError"] == true, result["structuredContent"].clone())
    }

    fn requests(&self) -> Vec<(String, Value)> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// Resolves once Telegram was asked something.
    async fn asked(&self) {
        while self.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Resolves once a request to Telegram was given up.
    async fn aborted(&self) {
        let start = Instant::now();
        while self.seen.lock().unwrap().aborted == 0 {
            assert!(start.elapsed() < Duration::from_secs(2), "Telegram is still being asked");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Stops the server; it has to end well and within its two seconds.
    async fn stop(mut self) {
        let start = Instant::now();
        self.shutdown.cancel();
        self.server.join_next().await.unwrap().unwrap();
        assert!(start.elapsed() < Duration::from_millis(2300), "{:?}", start.elapsed());
    }
}

async fn send(request: reqwest::RequestBuilder, headers: &[(&str, &str)]) -> reqwest::Response {
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }})
}

/// The one message of an answer, sent as JSON or as an event.
async fn message(response: reqwest::Response) -> Value {
    let text = response.text().await.unwrap();
    let data = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim)
        .rfind(|data| !data.is_empty());
    serde_json::from_str(data.unwrap_or(&text)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Counts a request that is dropped before its answer.
struct Unanswered(Shared);

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.lock().unwrap().aborted += 1;
    }
}

/// Answers by the text of the message, or else the chat, so that a test says in the call what is to happen.
async fn fake_telegram(State(seen): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let method =
        path.strip_prefix(&format!("/bot{TOKEN}/")).unwrap_or_else(|| panic!("path {path}")).to_owned();
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    let args: Value = serde_json::from_slice(&body).unwrap();
    let cue = args["text"].as_str().or(args["chat_id"].as_str()).unwrap_or_default().to_owned();
    let times = {
        let mut seen = seen.lock().unwrap();
        seen.requests.push((method.clone(), args.clone()));
        seen.requests.iter().filter(|(_, earlier)| *earlier == args).count()
    };
    let refusal = |code: u16, description: &str, parameters: Value| {
        let body =
            json!({"ok": false, "error_code": code, "description": description, "parameters": parameters});
        (StatusCode::from_u16(code).unwrap(), axum::Json(body)).into_response()
    };
    match (cue.as_str(), times) {
        ("never", _) => {
            let _unanswered = Unanswered(seen);
            std::future::pending().await
        }
        ("half a second", _) => tokio::time::sleep(Duration::from_millis(500)).await,
        ("flood", 1) => return refusal(429, "Too Many Requests: retry after 1", json!({"retry_after": 1})),
        ("long flood", _) => {
            return refusal(429, "Too Many Requests: retry after 30", json!({"retry_after": 30}));
        }
        ("moved", _) => return refusal(400, "Bad Request: upgraded", json!({"migrate_to_chat_id": -1005})),
        ("parrot", _) => return refusal(404, &format!("Not Found: {path}"), json!({})),
        ("@shaky", 1..=2) | ("shaky", _) => return refusal(500, "Internal Server Error", json!({})),
        ("proxy", _) => return (StatusCode::BAD_GATEWAY, format!("<html>{path}</html>")).into_response(),
        ("elsewhere", _) => return (StatusCode::FOUND, [(header::LOCATION, "/trap")]).into_response(),
        _ => {}
    }
    axum::Json(json!({"ok": true, "result": {"message_id": 7, "method": method}})).into_response()
}

fn text(text: &str) -> Value {
    json!({"chat_id": 1, "text": text})
}

#[tokio::test]
async fn tools_are_listed_and_odd_cursors_refused() {
    let (bench, session) = Bench::standalone().await;
    let (mut tools, mut cursor) = (Vec::new(), json!({}));
    while !cursor.is_null() {
        let page = bench.ask(&session, "tools/list", cursor).await["result"].clone();
        tools.extend(page["tools"].as_array().unwrap().clone());
        cursor = page.get("nextCursor").map_or(Value::Null, |next| json!({"cursor": next}));
    }
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0]), (181, "find_telegram_methods"));
    assert!(!names.contains(&"getUpdates"));
    let tool = tools.iter().find(|tool| tool["name"] == "deleteMessage").unwrap();
    assert_eq!(tool["title"], "Delete message");
    assert_eq!(tool["_meta"], json!({"class": "delete", "returns": "True"}));
    assert_eq!(tool["annotations"]["destructiveHint"], true);
    assert_eq!(tool["inputSchema"]["required"], json!(["chat_id", "message_id"]));
    let odd = bench.ask(&session, "tools/list", json!({"cursor": "odd"})).await;
    assert_eq!(odd["error"]["code"], -32602);
    bench.stop().await;
}

#[tokio::test]
async fn a_call_reaches_telegram_and_brings_its_result() {
    let (bench, session) = Bench::standalone().await;
    let args = json!({"chat_id": 1, "text": "hi", "parse_mode": null});
    let outcome = bench.call(&session, "sendMessage", args).await;
    assert_eq!(outcome, (false, json!({"ok": true, "result": {"message_id": 7, "method": "sendMessage"}})));
    assert_eq!(bench.requests(), [("sendMessage".to_owned(), text("hi"))]);
    bench.stop().await;
}

#[tokio::test]
async fn telegrams_refusals_are_tool_errors_without_the_token() {
    let (bench, session) = Bench::standalone().await;
    let redirect = "302 Found without a Bot API answer: check TELEGRAM_API_URL, or try again later";
    let gateway = "502 Bad Gateway without a Bot API answer: check TELEGRAM_API_URL, or try again later";
    let flood = "Too Many Requests: retry after 30";
    let cases = [
        (
            "moved",
            json!({"error_code": 400, "description": "Bad Request: upgraded", "migrate_to_chat_id": -1005}),
        ),
        ("long flood", json!({"error_code": 429, "description": flood, "retry_after": 30})),
        ("parrot", json!({"error_code": 404, "description": "Not Found: /bot[token]/sendMessage"})),
        ("shaky", json!({"error_code": 500, "description": "Internal Server Error"})),
        ("proxy", json!({"error_code": 502, "description": gateway})),
        ("elsewhere", json!({"error_code": 302, "description": redirect})),
    ];
    for (at, (cue, error)) in cases.into_iter().enumerate() {
        let outcome = bench.call(&session, "sendMessage", json!({"chat_id": at, "text": cue})).await;
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})), "{cue}");
    }
    assert_eq!(bench.requests().len(), 6, "a call that may have acted was repeated");
    bench.stop().await;
}

#[tokio::test]
async fn only_harmless_calls_are_repeated() {
    let (bench, session) = Bench::standalone().await;
    let start = Instant::now();
    assert!(!bench.call(&session, "sendMessage", text("flood")).await.0);
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert!(!bench.call(&session, "getChat", json!({"chat_id": "@shaky"})).await.0);
    let methods: Vec<_> = bench.requests().into_iter().map(|(method, _)| method).collect();
    assert_eq!(methods, ["sendMessage", "sendMessage", "getChat", "getChat", "getChat"]);
    bench.stop().await;
}

#[tokio::test]
async fn a_supervised_server_leaves_pacing_to_its_parent() {
    let bench = Bench::start(&["--supervised"], &[("FIGARO_MCP_KEY", "outside")]).await;
    let session = bench.open_session().await;
    let (failed, outcome) = bench.call(&session, "sendMessage", text("flood")).await;
    assert_eq!((failed, &outcome["error"]["retry_after"]), (true, &json!(1)));
    let start = Instant::now();
    for word in ["one", "two", "three"] {
        assert!(!bench.call(&session, "sendMessage", text(word)).await.0);
    }
    assert!(start.elapsed() < Duration::from_secs(1));
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
async fn what_can_not_be_called_never_leaves() {
    let (bench, session) = Bench::standalone().await;
    for tool in ["sendmessage", "getUpdates", "../getMe", ""] {
        let answer = bench.ask(&session, "tools/call", json!({"name": tool, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
    let cases = [
        ("sendMessage", json!({"chat_id": 1}), "Bad Request: text is required"),
        ("sendMessage", json!({"chat_id": 1, "text": null}), "Bad Request: text is required"),
        ("getChat", json!({"chat_id": 1, "x": 2}), "Bad Request: x is not a parameter of getChat"),
        (
            "sendPhoto",
            json!({"chat_id": 1, "photo": "file:///etc/passwd"}),
            "Bad Request: photo must be a file_id, an http(s) URL, or an object with name and base64",
        ),
    ];
    for (tool, args, description) in cases {
        let outcome = bench.call(&session, tool, args).await;
        let error = json!({"error_code": 400, "description": description});
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})));
    }
    assert_eq!(bench.requests(), []);
    bench.stop().await;
}

#[tokio::test]
async fn the_door_opens_to_its_keys_only() {
    let bench = Bench::start(&[], &[("MCP_API_KEY", "outside"), ("FIGARO_MCP_KEY", "parent")]).await;
    let cases = [
        (None, 401),
        (Some("Bearer wrong"), 401),
        (Some("Bearer outsid"), 401),
        (Some("Bearer outside2"), 401),
        (Some("Bearer "), 401),
        (Some("Basic outside"), 401),
        (Some("outside"), 401),
        (Some("Bearer outside"), 200),
        (Some("bearer parent"), 200),
    ];
    for (key, status) in cases {
        let headers: Vec<_> = key.map(|key| ("authorization", key)).into_iter().collect();
        let response = bench.post(&headers, &initialize()).await;
        assert_eq!(response.status(), status, "{key:?}");
        let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap());
        assert_eq!(challenge, (status == 401).then_some("Bearer"), "{key:?}");
    }
    bench.stop().await;
    let open = Bench::start(&[], &[]).await;
    assert_eq!(open.post(&[], &initialize()).await.status(), 200);
    open.stop().await;
}

#[tokio::test]
async fn strange_hosts_origins_and_sizes_are_refused() {
    let (bench, _) = Bench::standalone().await;
    let port = bench.url.trim_start_matches("http://127.0.0.1:").trim_end_matches("/mcp").to_owned();
    let (local, own) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    let cases = [
        ("host", "evil.example", 403),
        ("host", "evil.example:80", 403),
        ("host", "127.0.0.1:1", 403),
        ("host", local.as_str(), 200),
        ("origin", "https://evil.example", 403),
        ("origin", "http://localhost:1", 403),
        ("origin", "null", 403),
        ("origin", own.as_str(), 200),
    ];
    for (name, value, status) in cases {
        assert_eq!(
            bench.post(&[KEY, (name, value)], &initialize()).await.status(),
            status,
            "{name}: {value}"
        );
    }
    let mut large = initialize();
    large["params"]["clientInfo"]["name"] = "x".repeat(16 * 1024 * 1024).into();
    assert_eq!(bench.post(&[KEY], &large).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    bench.stop().await;
}

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
    let bench = Bench::start(&[], &[("MCP_API_KEY", "outside")]).await;
    let call = |cue: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
        });
        let params = json!({"name": "sendMessage", "arguments": text(cue), "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params})
    };
    let version = ("mcp-protocol-version", "2026-07-28");
    let headers = [KEY, version, ("mcp-method", "tools/call"), ("mcp-name", "sendMessage")];
    let answer = message(bench.post(&headers, &call("hi")).await).await;
    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
    bench.seen.lock().unwrap().requests.clear();
    let body = call("never");
    tokio::select! {
        _ = bench.post(&headers, &body) => panic!("answered"),
        () = bench.asked() => {}
    }
    bench.aborted().await;
    bench.stop().await;
}

#[tokio::test]
async fn an_unreachable_telegram_is_told_without_its_address() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let address = format!("http://{closed}");
    let env = [("TELEGRAM_BOT_TOKEN", TOKEN), ("TELEGRAM_API_URL", address.as_str())];
    let settings =
        Settings::parse([], |name| env.iter().find(|(key, _)| *key == name).map(|(_, v)| v.into())).unwrap();
    let mut bench = Bench::start(&[], &[("MCP_API_KEY", "outside")]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    bench.url = format!("http://{}/mcp", listener.local_addr().unwrap());
    bench.server.spawn(async move { serve(listener, settings, std::future::pending()).await.unwrap() });
    let session = bench.open_session().await;
    let (failed, outcome) = bench.call(&session, "sendMessage", text("hi")).await;
    assert_eq!((failed, &outcome["error"]["error_code"]), (true, &json!(503)));
    for secret in [TOKEN, "SECRET", &closed.to_string()] {
        assert!(!outcome.to_string().contains(secret), "{outcome}");
    }
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
