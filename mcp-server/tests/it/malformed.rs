//! Messages that are not MCP get JSON-RPC errors.

use serde_json::{Value, json};

use crate::support::{Bench, KEY, message, request, send};

/// Posts a body as it is: the HTTP status, and the error's code and id.
async fn posted(bench: &Bench, session: &str, body: &str) -> (u16, Value, Value) {
    let post = bench.http.post(&bench.url).header("accept", "application/json, text/event-stream");
    let post = post.header("content-type", "application/json").body(body.to_owned());
    let response = send(post, &[KEY, ("mcp-session-id", session)]).await;
    let status = response.status().as_u16();
    let answer = message(response).await;
    (status, answer["error"]["code"].clone(), answer["id"].clone())
}

#[tokio::test]
async fn malformed_json_is_a_parse_error_and_other_json_an_invalid_request() {
    let (bench, session) = Bench::standalone().await;
    let long = "x".repeat(100_000);
    let cases = [
        ("hello".to_owned(), -32700, Value::Null),
        (String::new(), -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#.to_owned(), -32700, Value::Null),
        (format!("{{\"a\": \"{long}\","), -32700, Value::Null),
        ("{}".to_owned(), -32600, Value::Null),
        (format!("{{\"a\": \"{long}\"}}"), -32600, Value::Null),
        (r#"{"id":"a","method":"ping"}"#.to_owned(), -32600, json!("a")),
    ];
    for (body, code, id) in cases {
        assert_eq!(posted(&bench, &session, &body).await, (400, json!(code), id), "{body:.50}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn another_content_type_stays_unsupported() {
    let (bench, session) = Bench::standalone().await;
    let post = bench.http.post(&bench.url).header("accept", "application/json, text/event-stream");
    let post = post.header("content-type", "text/plain").body(request("ping", json!({})).to_string());
    assert_eq!(send(post, &[KEY, ("mcp-session-id", &session)]).await.status(), 415);
    bench.stop().await;
}

#[tokio::test]
async fn bad_parameters_of_a_known_request_are_invalid_params() {
    let (bench, session) = Bench::standalone().await;
    let cases = [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 5})),
        ("tools/call", json!({"name": "getMe", "arguments": []})),
        ("resources/read", json!({})),
        ("resources/read", json!({"uri": 5})),
    ];
    for (method, params) in cases {
        let answer = bench.ask(&session, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
    }
    bench.stop().await;
}
