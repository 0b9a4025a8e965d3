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

type Told = Vec<Result<Event, ProviderError>>;

fn with_key(base_url: &str, key: Option<&str>) -> OpenAiChat {
    OpenAiChat::new(HTTP.clone(), base_url, key.map(SecretString::from), Duration::from_secs(60))
}

fn provider(base_url: &str) -> OpenAiChat {
    with_key(base_url, Some(KEY))
}

fn request(model: &str) -> Request {
    Request::new(model, "Be brief.", vec![Item::user("Hi")])
}

async fn ask(provider: &OpenAiChat) -> Told {
    provider.stream(request("m")).collect().await
}

fn sse(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: Value) -> Value {
    json!({"id": "chatcmpl-1", "created": 1, "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn words(text: &str) -> Value {
    delta(json!({"content": text}))
}

fn stop() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
}

fn completed(usage: Option<Usage>) -> Result<Event, ProviderError> {
    Ok(Event::Completed { finish: Finish::Stop, usage })
}

fn text(text: &str) -> Result<Event, ProviderError> {
    Ok(Event::TextDelta(text.into()))
}

/// Everything before the end: line ends of both kinds, comments, data on several lines, unknown and broken events,
/// reasoning in three places, a call in fragments and one in a piece, and text that looks like an end.
fn rich_start() -> String {
    let call = |piece: Value| sse(&delta(json!({"tool_calls": [piece]})));
    let detail = |detail: Value| sse(&delta(json!({"reasoning": "hm", "reasoning_details": [detail]})));
    [
        ": OPENROUTER PROCESSING\r\n\r\n".to_owned(),
        sse(&delta(json!({"role": "assistant", "content": ""}))),
        "event: keepalive\ndata: {}\n\n".into(),
        detail(json!({"type": "reasoning.text", "text": "h", "index": 0})),
        detail(json!({"type": "reasoning.text", "text": "m", "signature": "Et8B", "index": 0})),
        sse(&words("<thi")),
        sse(&words("nk>hm</think>\n\nНа здоровье ")).replace('\n', "\r\n"),
        "data: this is not JSON\n\n".into(),
        "id: 7\nretry: 10\ndata: {\"choices\": [{\"delta\":\r\ndata:  {\"content\": \"👩‍👧 \\ndata: [DONE]\\n\"}}]}\n\n".into(),
        sse(&json!({"object": "not.invented.yet", "choices": []})),
        call(json!({"index": 0, "id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{\"a\":"}})),
        call(json!({"index": 0, "function": {"arguments": "\"é\"}"}})),
        call(json!({"function": {"name": "g", "arguments": {"b": 1}}})),
    ]
    .concat()
}

/// The end as most have it: the reason, the count and the word that all is said.
fn rich_end() -> String {
    let usage =
        json!({"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}});
    [sse(&stop()), sse(&json!({"choices": [], "usage": usage})), "data: [DONE]\n\n".into()].concat()
}

fn rich_stream() -> Vec<u8> {
    [rich_start(), rich_end()].concat().into_bytes()
}

fn rich_events(usage: Option<Usage>) -> Told {
    let call = |id: &str, name: &str, arguments: &str| Call {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    let details = json!([{"type": "reasoning.text", "text": "hm", "signature": "Et8B", "index": 0}]);
    let data = json!({"model": "m", "reasoning_details": details});
    vec![
        text("На здоровье "),
        text("👩‍👧 \ndata: [DONE]\n"),
        Ok(Event::Private(PrivatePart { provider: "compatible".into(), data })),
        Ok(Event::ToolCall(call("call_a", "f", "{\"a\":\"é\"}"))),
        Ok(Event::ToolCall(call("call_2", "g", "{\"b\":1}"))),
        completed(usage),
    ]
}

fn counted() -> Option<Usage> {
    Some(Usage { input: 9, cached: 4, output: 3 })
}

/// Asks with each position as the limit on the answer's length, several at a time.
async fn ask_at_each(server: &Server, positions: usize) -> Vec<(usize, Told)> {
    let provider = provider(&server.base_url);
    let calls = (0..=positions).map(|at| {
        let mut request = request("m");
        request.settings.max_tokens = u32::try_from(at).ok();
        let answer = provider.stream(request);
        async move { (at, answer.collect().await) }
    });
    stream::iter(calls).buffer_unordered(8).collect().await
}

fn position(body: &Value) -> usize {
    body["max_tokens"].as_u64().unwrap().try_into().unwrap()
}

#[tokio::test]
async fn a_whole_answer() {
    let server = Server::replying(Reply::stream(vec![rich_stream()])).await;
    assert_eq!(ask(&provider(&server.base_url)).await, rich_events(counted()));
    let heard = server.heard.lock().unwrap();
    assert!(heard[0].head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[0].head.contains(&format!("authorization: bearer {KEY}")), "{}", heard[0].head);
    assert_eq!(heard[0].body, wire::body(&request("m")));
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn a_server_may_want_no_key() {
    let server = Server::replying(Reply::stream(vec![rich_stream()])).await;
    assert_eq!(ask(&with_key(&server.base_url, None)).await, rich_events(counted()));
    assert!(!server.heard.lock().unwrap()[0].head.contains("authorization"));
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
        assert_eq!(events, rich_events(counted()), "cut at byte {at} of {length}");
    }
}

/// Up to its reason an answer has broken off; from there on it is whole, counted or not.
#[tokio::test]
async fn a_stream_that_ends_anywhere_tells_what_came() {
    let whole = rich_stream();
    let reasoned = rich_start().len() + sse(&stop()).len();
    let uncounted = whole.len() - "data: [DONE]\n\n".len();
    for end in [End::Finish, End::Break] {
        let bytes = whole.clone();
        let server =
            Server::start(move |body| Reply { end, ..Reply::stream(vec![bytes[..position(body)].to_vec()]) })
                .await;
        for (at, mut events) in ask_at_each(&server, whole.len()).await {
            if at >= reasoned {
                let usage = if at < uncounted { None } else { counted() };
                assert_eq!(events, rich_events(usage), "ended at byte {at}");
                continue;
            }
            let last = events.pop();
            assert!(matches!(last, Some(Err(ProviderError::Cut(_)))), "ended at byte {at}: {last:?}");
            assert_eq!(events, rich_events(None)[..events.len()], "ended at byte {at}");
            assert!(events.len() <= 2, "ended at byte {at}: {events:?}");
        }
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
            ask(&provider(&server.base_url)).await
        });
        prop_assert_eq!(events, rich_events(counted()));
    }
}

#[tokio::test]
async fn the_word_that_all_is_said_is_an_end() {
    let body = |done: &str| [sse(&words("a")), done.to_owned(), sse(&words("never"))].concat().into_bytes();
    let whole = vec![text("a"), completed(None)];
    let cases = [
        (body("data: [DONE]\n\n"), whole.clone()),
        (body("data:[DONE]\r\n\r\n"), whole.clone()),
        (body("data: [DONE]\n\n").repeat(2), whole),
    ];
    for (bytes, expected) in cases {
        let pieces = bytes.iter().map(|byte| vec![*byte]).collect();
        for pieces in [vec![bytes.clone()], pieces] {
            let server = Server::replying(Reply::stream(pieces)).await;
            assert_eq!(ask(&provider(&server.base_url)).await, expected);
        }
    }
}

#[tokio::test]
async fn a_whole_answer_does_not_wait_for_a_server_that_hangs() {
    let body = [sse(&words("a")), sse(&stop())].concat();
    let server = Server::replying(Reply { end: End::Hang, ..Reply::stream(vec![body.into()]) }).await;
    let events = timeout(Duration::from_secs(30), ask(&provider(&server.base_url))).await.unwrap();
    assert_eq!(events, [text("a"), completed(None)]);
}

#[tokio::test]
async fn refusals_keep_their_meaning() {
    let limited = |seconds| ProviderError::RateLimited {
        retry_after: Some(Duration::from_secs(seconds)),
        message: "m".into(),
    };
    let echo = r#"{"error":{"message":"No auth credentials: sk-very-secret.","code":401}}"#;
    let long =
        r#"{"object":"error","message":"This model's maximum context length is 8192 tokens.","code":400}"#;
    let m = r#"{"error":{"message":"m","code":0}}"#;
    let cases = [
        ("401 Unauthorized", echo, ProviderError::Unauthorized("No auth credentials: [secret].".into())),
        ("402 Payment Required", m, ProviderError::NoQuota("m".into())),
        ("404 Not Found", m, ProviderError::UnknownModel("m".into())),
        ("404 Not Found", r#"{"detail":"Not Found"}"#, ProviderError::UnknownModel("Not Found".into())),
        ("429 Too Many Requests\r\nretry-after: 3600", m, limited(3600)),
        (
            "400 Bad Request",
            long,
            ProviderError::TooLong("This model's maximum context length is 8192 tokens.".into()),
        ),
        ("400 Bad Request", m, ProviderError::Refused("m".into())),
        ("500 Internal Server Error", m, ProviderError::Unavailable("m".into())),
        (
            "503 Service Unavailable",
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            ProviderError::Unavailable("Loading model".into()),
        ),
        (
            "502 Bad Gateway\r\ncontent-type: text/html",
            "<html>no</html>",
            ProviderError::Unavailable("HTTP 502 Bad Gateway".into()),
        ),
    ];
    for (head, body, expected) in cases {
        let server = Server::replying(Reply::plain(head, body)).await;
        assert_eq!(ask(&provider(&server.base_url)).await, [Err(expected)], "{head}");
        assert_eq!(server.heard.lock().unwrap().len(), 1, "{head}: it was sent once");
    }
}

#[tokio::test]
async fn success_that_is_no_stream_is_refused_with_advice() {
    let server = Server::replying(Reply::plain("200 OK\r\ncontent-type: text/html", "<html>")).await;
    let events = ask(&provider(&server.base_url)).await;
    let [Err(ProviderError::Refused(advice))] = events.as_slice() else { panic!("{events:?}") };
    assert!(advice.contains("base URL"), "{advice}");
}

#[tokio::test]
async fn failures_amid_an_answer_come_after_what_was_said() {
    let error = |error: Value| [sse(&words("a")), sse(&error), sse(&words("never")), rich_end()].concat();
    let late = |end| Reply { end, ..Reply::stream(vec![sse(&words("a")).into()]) };
    let down = json!({"id": "gen-1", "error": {"code": 502, "message": "it said sk-very-secret"}, "choices": [
        {"index": 0, "delta": {"content": ""}, "finish_reason": "error"},
    ]});
    let limit = json!({"error": {"code": "rate_limit_exceeded", "message": "m"}});
    let named = format!("{}event: error\n{}", sse(&words("a")), sse(&json!({"error": {"message": "m"}})));
    let cases = [
        (Reply::stream(vec![error(down).into()]), ProviderError::Unavailable("it said [secret]".into())),
        (
            Reply::stream(vec![error(limit).into()]),
            ProviderError::RateLimited { retry_after: None, message: "m".into() },
        ),
        (Reply::stream(vec![named.into()]), ProviderError::Unavailable("m".into())),
        (late(End::Break), ProviderError::Cut("the connection broke".into())),
        (late(End::Finish), ProviderError::Cut("the stream ended early".into())),
    ];
    for (reply, expected) in cases {
        let server = Server::replying(reply).await;
        assert_eq!(ask(&provider(&server.base_url)).await, [text("a"), Err(expected)]);
    }
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
        let provider = with_key(base_url, Some(key));
        let (events, models) = (ask(&provider).await, provider.models().await);
        let ([Err(error)], Err(of_models)) = (events.as_slice(), models) else { panic!("{events:?}") };
        assert_eq!((error.label(), of_models.label()), (label, label), "{error}");
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    }
}

#[tokio::test]
async fn models_are_listed_as_they_are_served() {
    let expected = Ok(vec!["b/two:free".to_owned(), "a".to_owned()]);
    let listed = json!([{"id": "b/two:free", "object": "model"}, {"name": "no id"}, {"id": "a"}]);
    for body in [json!({"object": "list", "data": listed, "models": []}), listed] {
        let reply = Reply::plain("200 OK\r\ncontent-type: application/json", &body.to_string());
        let server = Server::replying(reply).await;
        assert_eq!(provider(&server.base_url).models().await, expected);
        let heard = server.heard.lock().unwrap();
        assert!(heard[0].head.starts_with("get /v1/models http/1.1\r\n"), "{}", heard[0].head);
    }
    let server = Server::replying(Reply::plain("401 Unauthorized", r#"{"error":"no sk-very-secret"}"#)).await;
    let refused = provider(&server.base_url).models().await;
    assert_eq!(refused, Err(ProviderError::Unauthorized("no [secret]".into())));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let silent = Reply { head: String::new(), end: End::Hang, ..Reply::stream(Vec::new()) };
    let open = Reply { end: End::Hang, ..Reply::stream(vec![sse(&words("a")).into()]) };
    for reply in [silent, open] {
        let mut server = Server::replying(reply).await;
        let mut answer = provider(&server.base_url).stream(request("m"));
        drop(timeout(Duration::from_millis(300), answer.next()).await);
        assert!(server.closed.try_recv().is_err(), "it was still open");
        drop(answer);
        assert_eq!(timeout(Duration::from_secs(5), server.closed.recv()).await, Ok(Some(())));
    }
}

#[tokio::test]
async fn silence_is_a_stall_and_signs_of_life_are_not() {
    let limit = Duration::from_millis(400);
    let slow = |server: &Server| OpenAiChat::new(HTTP.clone(), &server.base_url, None, limit);
    let silent = Reply { head: String::new(), end: End::Hang, ..Reply::stream(Vec::new()) };
    let server = Server::replying(silent).await;
    assert_eq!(ask(&slow(&server)).await, [Err(ProviderError::Stalled(limit))]);

    let stuck = Reply { end: End::Hang, ..Reply::stream(vec![sse(&words("a")).into()]) };
    let server = Server::replying(stuck).await;
    assert_eq!(ask(&slow(&server)).await, [text("a"), Err(ProviderError::Stalled(limit))]);

    let mut pieces = vec![b": OPENROUTER PROCESSING\n\n".to_vec(); 8];
    pieces.push([sse(&words("a")), sse(&stop())].concat().into());
    let alive = Reply { pause: Duration::from_millis(100), ..Reply::stream(pieces) };
    let server = Server::replying(alive).await;
    assert_eq!(ask(&slow(&server)).await, [text("a"), completed(None)]);
}

#[test]
fn the_key_is_not_in_the_debug_form() {
    let shown = format!("{:?}", provider("http://127.0.0.1:9"));
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn of_two_measures_against_repetition_one_is_ignored() {
    let provider = provider("http://127.0.0.1:9");
    let repeat = Generation { repeat_penalty: Some(1.1), temperature: Some(1.0), ..Generation::default() };
    let both = Generation { frequency_penalty: Some(0.5), ..repeat };
    assert_eq!(provider.ignored("m", &repeat), Vec::<&str>::new());
    assert_eq!(provider.ignored("m", &both), ["repeat_penalty"]);
    assert!(provider.capabilities("openai/gpt-4o").vision);
    assert!(!provider.capabilities("somebody-elses").vision);
}
