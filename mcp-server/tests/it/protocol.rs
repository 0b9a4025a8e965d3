//! The revisions of MCP that clients speak, and what is answered to what the server does not have.

use serde_json::{Value, json};

use crate::support::{Bench, KEY, NEWEST, OUTSIDE, handshake, message, parse, request, text};

/// The revisions with a handshake.
const WITH_SESSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A client of one revision, which names it in every request.
struct Client<'a> {
    bench: &'a Bench,
    revision: &'a str,
    session: String,
}

impl<'a> Client<'a> {
    /// Opens a session, and returns what the server says of itself.
    async fn new(bench: &'a Bench, revision: &'a str) -> (Self, Value) {
        let response = bench.post(&[KEY], &handshake(revision)).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let info = message(response).await["result"].clone();
        let client = Self { bench, revision, session };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&ready).await.status(), 202, "{revision}");
        (client, info)
    }

    async fn post(&self, body: &Value) -> reqwest::Response {
        let headers =
            [KEY, ("mcp-session-id", self.session.as_str()), ("mcp-protocol-version", self.revision)];
        self.bench.post(&headers, body).await
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        message(self.post(&request(method, params)).await).await
    }
}

#[tokio::test]
async fn a_session_that_ends_is_answered_without_content_and_is_gone() {
    let (bench, session) = Bench::standalone().await;
    let end = async |session: &str| {
        let request = bench.http.delete(&bench.url).header("mcp-session-id", session);
        request.header(KEY.0, KEY.1).send().await.unwrap().status().as_u16()
    };
    assert_eq!(end(&session).await, 204);
    let asked = bench.post(&[KEY, ("mcp-session-id", &session)], &request("ping", json!({}))).await;
    assert_eq!(asked.status(), 404);
    bench.stop().await;
}

#[tokio::test]
async fn every_revision_with_sessions_is_spoken() {
    let (bench, _) = Bench::unpaced(&[]).await;
    for revision in WITH_SESSIONS {
        bench.seen.lock().unwrap().asks.clear();
        let (client, info) = Client::new(&bench, revision).await;
        assert_eq!(info["protocolVersion"], revision);
        assert_eq!(info["capabilities"], json!({"tools": {}, "resources": {}}), "{revision}");
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "{revision}");
        let page = client.ask("tools/list", json!({})).await["result"].clone();
        assert_eq!(page["tools"].as_array().unwrap().len(), 11, "{revision}");
        let page = client.ask("tools/list", json!({"cursor": page["nextCursor"]})).await;
        assert_eq!(page["result"]["tools"].as_array().unwrap().len(), 10, "{revision}");
        let called =
            client.ask("tools/call", json!({"name": "sendMessage", "arguments": text(revision)})).await;
        let ok = json!({"ok": true, "result": {"message_id": 7, "method": "sendMessage"}});
        assert_eq!(called["result"]["structuredContent"], ok, "{revision}");
        assert_eq!(called["result"].get("resultType"), None, "{revision}");
        let templates = client.ask("resources/templates/list", json!({})).await;
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 1, "{revision}");
        assert_eq!(bench.requests(), [("sendMessage".to_owned(), text(revision))]);
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_handshake_of_another_revision_ends_at_one_that_has_it() {
    let (bench, _) = Bench::unpaced(&[]).await;
    for revision in [NEWEST, "2099-01-01", "1.0", ""] {
        let answer = message(bench.post(&[KEY], &handshake(revision)).await).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{revision}: {answer}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn the_newest_revision_needs_no_handshake() {
    let bench = Bench::start(&["--all"], &[OUTSIDE]).await;
    let (status, answer) = bench.ask_newest("server/discover", json!({})).await;
    assert_eq!(status, 200, "{answer}");
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    for revision in WITH_SESSIONS.into_iter().chain([NEWEST]) {
        assert!(versions.contains(&json!(revision)), "{revision} in {versions:?}");
    }
    assert_eq!(answer["result"]["capabilities"], json!({"tools": {}, "resources": {}}));
    let (mut count, mut cursor) = (0, json!({}));
    while !cursor.is_null() {
        let (status, answer) = bench.ask_newest("tools/list", cursor).await;
        assert_eq!((status, &answer["result"]["resultType"]), (200, &json!("complete")));
        count += answer["result"]["tools"].as_array().unwrap().len();
        cursor = answer["result"].get("nextCursor").map_or(Value::Null, |next| json!({"cursor": next}));
    }
    assert_eq!(count, 181);
    let call = |args: Value| json!({"name": "sendMessage", "arguments": args});
    let (status, answer) = bench.ask_newest("tools/call", call(text("hi"))).await;
    assert_eq!((status, &answer["result"]["structuredContent"]["ok"]), (200, &json!(true)));
    let (status, answer) = bench.ask_newest("tools/call", call(json!({"chat_id": 1}))).await;
    assert_eq!((status, &answer["result"]["isError"]), (200, &json!(true)));
    let (status, answer) = bench.ask_newest("resources/read", json!({"uri": "telegram-file:///note"})).await;
    assert_eq!((status, &answer["result"]["contents"][0]["text"]), (200, &json!("hello\nworld")));
    assert_eq!(bench.methods(), ["sendMessage", "getFile"]);
    bench.stop().await;
}

#[tokio::test]
async fn headers_of_the_newest_revision_have_to_fit_the_request() {
    let bench = Bench::start(&[], &[OUTSIDE]).await;
    let version = ("mcp-protocol-version", NEWEST);
    let body = request("tools/list", crate::support::newest(json!({})));
    let cases = [
        (vec![KEY, version, ("mcp-method", "tools/list")], 200),
        (vec![KEY, version], 400),
        (vec![KEY, version, ("mcp-method", "tools/call")], 400),
        (vec![KEY, ("mcp-method", "tools/list")], 400),
        (vec![KEY, ("mcp-protocol-version", "2025-06-18"), ("mcp-method", "tools/list")], 400),
    ];
    for (headers, status) in cases {
        assert_eq!(bench.post(&headers, &body).await.status(), status, "{headers:?}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn what_is_not_declared_is_not_found() {
    let (bench, _) = Bench::unpaced(&[]).await;
    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}});
    let cases = [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "x"})),
        ("completion/complete", complete),
        ("logging/setLevel", json!({"level": "debug"})),
        ("resources/subscribe", json!({"uri": "telegram-file:///x"})),
        ("no/such", json!({})),
    ];
    for revision in WITH_SESSIONS {
        let (client, _) = Client::new(&bench, revision).await;
        for (method, params) in &cases {
            let answer = client.ask(method, params.clone()).await;
            assert_eq!(answer["error"]["code"], -32601, "{revision} {method}: {answer}");
        }
    }
    for (method, params) in cases {
        let (status, answer) = bench.ask_newest(method, params).await;
        assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32601)), "{method}: {answer}");
    }
    bench.stop().await;
}

/// The kinds of the blocks that show a file.
fn kinds(result: &Value) -> Vec<&str> {
    result["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn links_go_only_to_clients_that_know_them() {
    let (bench, _) = Bench::standalone().await;
    let get = json!({"name": "getFile", "arguments": {"file_id": "picture"}});
    for revision in WITH_SESSIONS {
        let (client, _) = Client::new(&bench, revision).await;
        let result = client.ask("tools/call", get.clone()).await["result"].clone();
        let wanted = match revision {
            "2024-11-05" | "2025-03-26" => vec!["text", "image"],
            _ => vec!["text", "resource_link", "image"],
        };
        assert_eq!(kinds(&result), wanted, "{revision}");
        let uri = &result["structuredContent"]["result"]["uri"];
        assert_eq!(uri, "telegram-file:///picture", "{revision}");
        let read = client.ask("resources/read", json!({"uri": uri})).await;
        assert!(read["result"]["contents"][0]["blob"].is_string(), "{revision}: {read}");
    }
    let (_, answer) = bench.ask_newest("tools/call", get).await;
    assert_eq!(kinds(&answer["result"]), ["text", "resource_link", "image"]);
    bench.stop().await;
}

#[tokio::test]
async fn without_get_file_there_are_no_resources() {
    for (classes, capabilities, code) in [
        ("message", json!({"tools": {}}), json!(-32601)),
        ("message,read", json!({"tools": {}, "resources": {}}), Value::Null),
    ] {
        let (bench, _) = Bench::unpaced(&["--only", classes]).await;
        let uri = json!({"uri": "telegram-file:///note"});
        for revision in WITH_SESSIONS {
            let (client, info) = Client::new(&bench, revision).await;
            assert_eq!(info["capabilities"], capabilities, "{classes} {revision}");
            let answer = client.ask("resources/read", uri.clone()).await;
            assert_eq!(answer["error"]["code"], code, "{classes} {revision}: {answer}");
            let listed = client.ask("resources/templates/list", json!({})).await;
            let templates = listed["result"]["resourceTemplates"].as_array().unwrap();
            assert_eq!(templates.is_empty(), classes == "message", "{classes} {revision}");
        }
        let (_, answer) = bench.ask_newest("server/discover", json!({})).await;
        assert_eq!(answer["result"]["capabilities"], capabilities, "{classes}");
        let (_, answer) = bench.ask_newest("resources/read", uri).await;
        assert_eq!(answer["error"]["code"], code, "{classes}: {answer}");
        assert_eq!(bench.methods().is_empty(), classes == "message", "{classes}");
        bench.stop().await;
    }
}

#[tokio::test]
async fn a_request_of_no_known_revision_is_refused() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let headers = [KEY, ("mcp-session-id", session.as_str()), ("mcp-protocol-version", "1999-01-01")];
    let response = bench.post(&headers, &request("tools/list", json!({}))).await;
    assert_eq!(response.status(), 400);
    let whole = bench.text(&session, "ping", json!({})).await;
    assert_eq!(parse(&whole)["result"], json!({}));
    bench.stop().await;
}
