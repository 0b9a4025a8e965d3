//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use futures::{StreamExt, stream};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::*;
use crate::domain::conversation::PrivatePart;
use crate::domain::tool::Call;
use crate::domain::usage::Usage;
use crate::provider::http::testing::{End, HTTP, Reply, Server};
use crate::provider::{Event, Finish, Item, ProviderError};

const KEY: &str = "sk-very-secret";

fn provider(base_url: &str, key: &str) -> OpenAiResponses {
    OpenAiResponses::new(HTTP.clone(), base_url, key.into(), Duration::from_secs(60))
}

fn request(model: &str) -> Request {
    let items = vec![Item::user("Hi")];
    Request::new(model, "Be brief.", items)
}

async fn ask(provider: &OpenAiResponses) -> Vec<Result<Event, ProviderError>> {
    provider.stream(request("m")).collect().await
}

fn sse(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

fn delta(text: &str) -> Value {
    json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": text})
}

fn completed() -> Value {
    let usage = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3});
    json!({"type": "response.completed", "response": {"status": "completed", "output": [], "usage": usage}})
}

/// Everything a stream may hold: line ends of both kinds, comments, data on several lines, unknown and broken events.
fn rich_stream() -> Vec<u8> {
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let call =
        json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{\"a\":\"é\"}"});
    let done = |item: &Value| sse(&json!({"type": "response.output_item.done", "item": item}));
    [
        ": hello\r\n\r\n".to_owned(),
        sse(&json!({"type": "response.created", "response": {"id": "resp_1"}})),
        done(&thought),
        "event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n".into(),
        sse(&delta("На здоровье ")).replace('\n', "\r\n"),
        "data: this is not JSON\n\n".into(),
        "id: 7\nretry: 10\ndata: {\"type\": \"response.output_text.delta\",\r\ndata:  \"delta\": \"👩‍👧!\"}\n\n".into(),
        sse(&json!({"type": "response.not_invented_yet", "delta": "?"})),
        done(&call),
        sse(&completed()),
    ]
    .concat()
    .into_bytes()
}

fn rich_events() -> Vec<Result<Event, ProviderError>> {
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let call = Call { id: "call_1".into(), name: "f".into(), arguments: "{\"a\":\"é\"}".into() };
    vec![
        Ok(Event::Private(PrivatePart { provider: "openai".into(), data: thought })),
        Ok(Event::TextDelta("На здоровье ".into())),
        Ok(Event::TextDelta("👩‍👧!".into())),
        Ok(Event::ToolCall(call)),
        Ok(Event::Completed { finish: Finish::Stop, usage: Some(Usage { input: 9, cached: 4, output: 3 }) }),
    ]
}

/// Asks with each position as the model's name, several at a time.
async fn ask_at_each(server: &Server, positions: usize) -> Vec<(usize, Vec<Result<Event, ProviderError>>)> {
    let provider = provider(&server.base_url, KEY);
    let calls = (0..=positions).map(|at| {
        let answer = provider.stream(request(&at.to_string()));
        async move { (at, answer.collect().await) }
    });
    stream::iter(calls).buffer_unordered(8).collect().await
}

fn position(body: &Value) -> usize {
    body["model"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_whole_answer() {
    let server = Server::replying(Reply::stream(vec![rich_stream()])).await;
    assert_eq!(ask(&provider(&server.base_url, KEY)).await, rich_events());
    let heard = server.heard.lock().unwrap();
    assert!(heard[0].head.starts_with("post /v1/responses http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[0].head.contains(&format!("authorization: bearer {KEY}")), "{}", heard[0].head);
    assert!(!heard[0].head.contains("openai-organization"), "{}", heard[0].head);
    assert_eq!(heard[0].body, wire::body(&request("m")));
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn a_stream_cut_in_two_anywhere_tells_the_same() {
    let whole = rich_stream();
    let length = whole.len();
    let server = Server::start(move |body| {
        let (start, end) = whole.split_at(position(body));
        Reply::stream(vec![start.to_vec(), end.to_vec()])
    })
    .await;
    for (at, events) in ask_at_each(&server, length).await {
        assert_eq!(events, rich_events(), "cut at byte {at} of {length}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_tells_what_came_and_that_it_broke_off() {
    let whole = rich_stream();
    let length = whole.len();
    let server = Server::start(move |body| Reply::stream(vec![whole[..position(body)].to_vec()])).await;
    for (at, mut events) in ask_at_each(&server, length).await {
        if at < length {
            assert!(
                matches!(events.pop(), Some(Err(ProviderError::Cut(_)))),
                "ended at byte {at} of {length}"
            );
        }
        assert_eq!(events, rich_events()[..events.len()], "ended at byte {at} of {length}");
        assert_eq!(events.len() == rich_events().len(), at == length, "ended at byte {at} of {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_stream_in_any_pieces_tells_the_same(sizes in prop::collection::vec(1_usize..40, 0..200)) {
        let mut rest = rich_stream();
        let mut pieces = Vec::new();
        for size in sizes {
            let tail = rest.split_off(size.min(rest.len()));
            pieces.push(std::mem::replace(&mut rest, tail));
        }
        pieces.push(rest);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let events = runtime.block_on(async {
            let server = Server::replying(Reply::stream(pieces)).await;
            ask(&provider(&server.base_url, KEY)).await
        });
        prop_assert_eq!(events, rich_events());
    }
}

#[tokio::test]
async fn refusals_keep_their_meaning() {
    let limited = |seconds| ProviderError::RateLimited {
        retry_after: Some(Duration::from_secs(seconds)),
        message: "m".into(),
    };
    let quota = r#"{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let echo =
        r#"{"error":{"message":"Incorrect API key provided: sk-very-secret.","code":"invalid_api_key"}}"#;
    let m = r#"{"error":{"message":"m"}}"#;
    let cases = [
        (
            "401 Unauthorized",
            echo,
            ProviderError::Unauthorized("Incorrect API key provided: [secret].".into()),
        ),
        ("404 Not Found", m, ProviderError::UnknownModel("m".into())),
        ("413 Payload Too Large", m, ProviderError::TooLong("m".into())),
        ("429 Too Many Requests\r\nretry-after: 3600", m, limited(3600)),
        ("429 Too Many Requests\r\nretry-after-ms: 2000", m, limited(2)),
        ("429 Too Many Requests", quota, ProviderError::NoQuota("You exceeded your quota".into())),
        ("400 Bad Request", m, ProviderError::Refused("m".into())),
        ("500 Internal Server Error", m, ProviderError::Unavailable("m".into())),
        ("503 Service Unavailable", "", ProviderError::Unavailable("HTTP 503 Service Unavailable".into())),
        (
            "502 Bad Gateway\r\ncontent-type: text/html",
            "<html>no</html>",
            ProviderError::Unavailable("HTTP 502 Bad Gateway".into()),
        ),
    ];
    for (head, body, expected) in cases {
        let server = Server::replying(Reply::plain(head, body)).await;
        assert_eq!(ask(&provider(&server.base_url, KEY)).await, [Err(expected)], "{head}");
        assert_eq!(server.heard.lock().unwrap().len(), 1, "{head}: it was sent once");
    }
}

#[tokio::test]
async fn success_that_is_no_stream_is_refused_with_advice() {
    for kind in ["text/html; charset=utf-8", "application/json"] {
        let server = Server::replying(Reply::plain(&format!("200 OK\r\ncontent-type: {kind}"), "{}")).await;
        let events = ask(&provider(&server.base_url, KEY)).await;
        let [Err(ProviderError::Refused(advice))] = events.as_slice() else { panic!("{events:?}") };
        assert!(advice.contains("base URL"), "{advice}");
    }
}

#[tokio::test]
async fn failures_amid_an_answer_come_after_what_was_said() {
    let error =
        |error: Value| [sse(&delta("a")), sse(&error), sse(&delta("never")), sse(&completed())].concat();
    let late = |end| Reply { end, ..Reply::stream(vec![sse(&delta("a")).into()]) };
    let overloaded = json!({"type": "error", "code": "server_error", "message": "overloaded"});
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "m"}}});
    let cases = [
        (Reply::stream(vec![error(overloaded).into()]), ProviderError::Unavailable("overloaded".into())),
        (
            Reply::stream(vec![error(failed).into()]),
            ProviderError::RateLimited { retry_after: None, message: "m".into() },
        ),
        (late(End::Break), ProviderError::Cut("the connection broke".into())),
        (late(End::Finish), ProviderError::Cut("the stream ended early".into())),
        (
            Reply::stream(vec![[sse(&delta("a")).as_str(), "data: [DONE]\n\n"].concat().into()]),
            ProviderError::Cut("the stream ended early".into()),
        ),
    ];
    for (reply, expected) in cases {
        let server = Server::replying(reply).await;
        assert_eq!(
            ask(&provider(&server.base_url, KEY)).await,
            [Ok(Event::TextDelta("a".into())), Err(expected)]
        );
    }
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let body = [sse(&delta("a")), sse(&completed()), sse(&delta("b")), sse(&completed())].concat();
    let server = Server::replying(Reply { end: End::Hang, ..Reply::stream(vec![body.into()]) }).await;
    let events = timeout(Duration::from_secs(5), ask(&provider(&server.base_url, KEY))).await.unwrap();
    assert_eq!(events.len(), 2, "{events:?}");
}

#[tokio::test]
async fn what_cannot_be_sent_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_port = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let cases = [
        (closed_port.as_str(), KEY, "unavailable"),
        ("not a url", KEY, "refused"),
        ("http://127.0.0.1:9", "sk-with\nnewline", "unauthorized"),
    ];
    for (base_url, key, label) in cases {
        let events = ask(&provider(base_url, key)).await;
        let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(error.label(), label, "{error}");
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let silent = Reply { head: String::new(), end: End::Hang, ..Reply::stream(Vec::new()) };
    let open = Reply { end: End::Hang, ..Reply::stream(vec![sse(&delta("a")).into()]) };
    for reply in [silent, open] {
        let mut server = Server::replying(reply).await;
        let mut answer = provider(&server.base_url, KEY).stream(request("m"));
        drop(timeout(Duration::from_millis(300), answer.next()).await);
        assert!(server.closed.try_recv().is_err(), "it was still open");
        drop(answer);
        assert_eq!(timeout(Duration::from_secs(5), server.closed.recv()).await, Ok(Some(())));
    }
}

#[tokio::test]
async fn silence_is_a_stall_and_signs_of_life_are_not() {
    let limit = Duration::from_millis(400);
    let slow = |server: &Server| OpenAiResponses::new(HTTP.clone(), &server.base_url, KEY.into(), limit);
    let silent = Reply { head: String::new(), end: End::Hang, ..Reply::stream(Vec::new()) };
    let server = Server::replying(silent).await;
    assert_eq!(ask(&slow(&server)).await, [Err(ProviderError::Stalled(limit))]);

    let stuck = Reply { end: End::Hang, ..Reply::stream(vec![sse(&delta("a")).into()]) };
    let server = Server::replying(stuck).await;
    let said = || Ok(Event::TextDelta("a".into()));
    assert_eq!(ask(&slow(&server)).await, [said(), Err(ProviderError::Stalled(limit))]);

    let mut pieces = vec![b": thinking\n\n".to_vec(); 8];
    pieces.push([sse(&delta("a")), sse(&completed())].concat().into());
    let alive = Reply { pause: Duration::from_millis(100), ..Reply::stream(pieces) };
    let server = Server::replying(alive).await;
    let events = ask(&slow(&server)).await;
    assert_eq!((&events[0], events.len()), (&said(), 2), "{events:?}");
}

#[test]
fn the_key_is_not_in_the_debug_form() {
    let shown = format!("{:?}", provider("http://127.0.0.1:9", KEY));
    assert!(!shown.contains(KEY), "{shown}");
}
