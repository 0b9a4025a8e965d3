//! What the tests share: a server under test with its Telegram, and the messages of MCP.

pub(crate) mod samples;
pub(crate) mod telegram;

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use figaro_mcp::{Settings, VERSION, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use telegram::{Asked, Shared};

pub(crate) const TOKEN: &str = "12345:SECRET-token_x";
pub(crate) const KEY: (&str, &str) = ("authorization", "Bearer outside");
/// What makes a server ask for that key.
pub(crate) const OUTSIDE: (&str, &str) = ("MCP_API_KEY", "outside");
/// Value that a call needs in the place of a file, as errors describe it.
pub(crate) const FILE_NEEDED: &str = "must be a file_id, an http(s) URL, or an object with name and base64 or text; this \
                                      server reads no files of its machine";
/// The newest revision; it has no sessions.
pub(crate) const NEWEST: &str = "2026-07-28";

/// A server under test with its Telegram; nothing of it outlives the value.
pub(crate) struct Bench {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) seen: Shared,
    pub(crate) shutdown: CancellationToken,
    server: JoinSet<()>,
    _telegram: JoinSet<()>,
}

impl Bench {
    pub(crate) async fn start(args: &[&str], keys: &[(&str, &str)]) -> Self {
        let (api_url, seen, telegram) = telegram::start().await;
        Self { seen, _telegram: telegram, ..Self::at(&api_url, args, keys).await }
    }

    /// With a Telegram that is the test's own business.
    pub(crate) async fn at(api_url: &str, args: &[&str], keys: &[(&str, &str)]) -> Self {
        let mut env: HashMap<&str, &str> = HashMap::from_iter(keys.iter().copied());
        env.extend([("TELEGRAM_BOT_TOKEN", TOKEN), ("TELEGRAM_API_URL", api_url)]);
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
        Self { http, url, seen: Shared::default(), shutdown, server, _telegram: JoinSet::new() }
    }

    /// Standalone, with a key for outside clients, and a session.
    pub(crate) async fn standalone() -> (Self, String) {
        Self::with(&[]).await
    }

    /// The same with flags.
    pub(crate) async fn with(args: &[&str]) -> (Self, String) {
        let bench = Self::start(args, &[OUTSIDE]).await;
        let session = bench.open_session().await;
        (bench, session)
    }

    /// Under a parent, so without pacing, and with flags.
    pub(crate) async fn unpaced(args: &[&str]) -> (Self, String) {
        let args: Vec<&str> = ["--supervised"].iter().chain(args).copied().collect();
        let bench = Self::start(&args, &[("FIGARO_MCP_KEY", "outside")]).await;
        let session = bench.open_session().await;
        (bench, session)
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: &Value) -> reqwest::Response {
        let request =
            self.http.post(&self.url).header("accept", "application/json, text/event-stream").json(body);
        send(request, headers).await
    }

    pub(crate) async fn open_session(&self) -> String {
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

    /// The whole text of an answer.
    pub(crate) async fn text(&self, session: &str, method: &str, params: Value) -> String {
        let body = request(method, params);
        self.post(&[KEY, ("mcp-session-id", session)], &body).await.text().await.unwrap()
    }

    pub(crate) async fn ask(&self, session: &str, method: &str, params: Value) -> Value {
        parse(&self.text(session, method, params).await)
    }

    /// Asks in the newest revision: the HTTP status, and the message.
    pub(crate) async fn ask_newest(&self, method: &str, params: Value) -> (u16, Value) {
        let name = ["name", "uri"].iter().find_map(|key| params[*key].as_str()).map(ToOwned::to_owned);
        let mut headers = vec![KEY, ("mcp-protocol-version", NEWEST), ("mcp-method", method)];
        headers.extend(name.iter().map(|name| ("mcp-name", name.as_str())));
        let response = self.post(&headers, &request(method, newest(params))).await;
        (response.status().as_u16(), message(response).await)
    }

    /// Calls a tool: whether it failed, and its structured content.
    pub(crate) async fn call(&self, session: &str, tool: &str, args: Value) -> (bool, Value) {
        let answer = self.ask(session, "tools/call", json!({"name": tool, "arguments": args})).await;
        let result = &answer["result"];
        assert_eq!(result["content"][0]["text"], result["structuredContent"].to_string(), "{answer}");
        (result["isError"] == true, result["structuredContent"].clone())
    }

    /// Every tool that is listed, over all pages.
    pub(crate) async fn tools(&self, session: &str) -> Vec<Value> {
        let (mut tools, mut cursor) = (Vec::new(), json!({}));
        while !cursor.is_null() {
            let page = self.ask(session, "tools/list", cursor).await["result"].clone();
            tools.extend(page["tools"].as_array().unwrap().clone());
            cursor = page.get("nextCursor").map_or(Value::Null, |next| json!({"cursor": next}));
        }
        tools
    }

    /// What Telegram was asked, files left out.
    pub(crate) fn requests(&self) -> Vec<(String, Value)> {
        self.asks().into_iter().map(|asked| (asked.method, asked.args)).collect()
    }

    /// What Telegram was asked, whole.
    pub(crate) fn asks(&self) -> Vec<Asked> {
        self.seen.lock().unwrap().asks.clone()
    }

    /// The methods that Telegram was asked for.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.asks().into_iter().map(|asked| asked.method).collect()
    }

    /// Resolves once Telegram was asked something.
    pub(crate) async fn asked(&self) {
        while self.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Resolves once a request to Telegram was given up.
    pub(crate) async fn aborted(&self) {
        let start = Instant::now();
        while self.seen.lock().unwrap().aborted == 0 {
            assert!(start.elapsed() < Duration::from_secs(2), "Telegram is still being asked");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Stops the server; it has to end well and within its two seconds.
    pub(crate) async fn stop(mut self) {
        let start = Instant::now();
        self.shutdown.cancel();
        self.server.join_next().await.unwrap().unwrap();
        assert!(start.elapsed() < Duration::from_millis(2300), "{:?}", start.elapsed());
    }
}

pub(crate) async fn send(request: reqwest::RequestBuilder, headers: &[(&str, &str)]) -> reqwest::Response {
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
}

pub(crate) fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params})
}

pub(crate) fn initialize() -> Value {
    handshake("2025-06-18")
}

/// What opens a session in a revision.
pub(crate) fn handshake(revision: &str) -> Value {
    let params = json!({
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// Parameters as the newest revision wants them.
pub(crate) fn newest(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
    });
    params
}

/// The one message of an answer, sent as JSON or as an event.
pub(crate) async fn message(response: reqwest::Response) -> Value {
    parse(&response.text().await.unwrap())
}

/// The same of its text.
pub(crate) fn parse(text: &str) -> Value {
    let data = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim)
        .rfind(|data| !data.is_empty());
    serde_json::from_str(data.unwrap_or(text)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The arguments of a message to a chat.
pub(crate) fn text(text: &str) -> Value {
    json!({"chat_id": 1, "text": text})
}

/// The names of tools or methods.
pub(crate) fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}
