//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;
use crate::http::testing::faults::{
    MINUTE, StreamEvents, TestedProvider, ask, fault_suite, replying, request, told,
};
use crate::http::testing::{HTTP, StreamEnd, TestReply, TestServer};
use crate::{Event, Finish};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

struct Chat;

fault_suite!(Chat);

fn provider(base_url: &str, key: Option<&str>) -> OpenAiChat {
    OpenAiChat::new(HTTP.clone(), base_url, key.map(SecretString::from), MINUTE)
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
fn rich_start() -> Vec<String> {
    let call = |piece: Value| sse(&delta(json!({"tool_calls": [piece]})));
    let detail = |detail: Value| sse(&delta(json!({"reasoning": "hm", "reasoning_details": [detail]})));
    vec![
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
}

/// The end as most have it: the reason, the count and the word that all is said.
fn rich_end() -> Vec<String> {
    let usage =
        json!({"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}});
    vec![sse(&stop()), sse(&json!({"choices": [], "usage": usage})), "data: [DONE]\n\n".into()]
}

fn rich_events(usage: Option<Usage>) -> StreamEvents {
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

impl TestedProvider for Chat {
    const MODEL: &'static str = "m";
    const KEY: &'static str = "sk-very-secret";

    fn provider(base_url: &str, key: &str, idle_limit: Duration) -> Box<dyn Provider> {
        Box::new(OpenAiChat::new(HTTP.clone(), base_url, Some(key.into()), idle_limit))
    }

    fn says(text: &str) -> String {
        sse(&words(text))
    }

    fn end() -> String {
        rich_end().concat()
    }

    fn rich() -> Vec<String> {
        [rich_start(), rich_end()].concat()
    }

    fn rich_told() -> StreamEvents {
        rich_events(counted())
    }

    fn noise() -> Vec<String> {
        vec![
            ": OPENROUTER PROCESSING\n\n".into(),
            "data: this is not JSON\n\n".into(),
            sse(&json!({"object": "not.invented.yet", "choices": []})),
        ]
    }

    fn signs_of_life() -> Vec<String> {
        vec![": OPENROUTER PROCESSING\n\n".into()]
    }

    fn failures() -> Vec<(String, ProviderError)> {
        let down = json!({"id": "gen-1", "error": {"code": 502, "message": "it said sk-very-secret"}, "choices": [
            {"index": 0, "delta": {"content": ""}, "finish_reason": "error"},
        ]});
        let limit = json!({"error": {"code": "rate_limit_exceeded", "message": "m"}});
        let named = format!("event: error\n{}", sse(&json!({"error": {"message": "m"}})));
        vec![
            (sse(&down), ProviderError::Unavailable("it said [secret]".into())),
            (sse(&limit), ProviderError::RateLimited { retry_after: None, message: "m".into() }),
            (named, ProviderError::Unavailable("m".into())),
        ]
    }

    fn refusal(message: &str) -> String {
        json!({"error": {"message": message, "code": 0}}).to_string()
    }

    fn refusals() -> Vec<(&'static str, String, ProviderError)> {
        let too_long = "This model's maximum context length is 8192 tokens.";
        vec![
            (
                "401 Unauthorized",
                json!({"error": {"message": "No auth credentials: sk-very-secret.", "code": 401}})
                    .to_string(),
                ProviderError::Unauthorized("No auth credentials: [secret].".into()),
            ),
            ("402 Payment Required", Self::refusal("m"), ProviderError::NoQuota("m".into())),
            ("404 Not Found", Self::refusal("m"), ProviderError::UnknownModel("m".into())),
            (
                "404 Not Found",
                json!({"detail": "Not Found"}).to_string(),
                ProviderError::WrongAddress("Not Found".into()),
            ),
            (
                "400 Bad Request",
                json!({"object": "error", "message": too_long, "code": 400}).to_string(),
                ProviderError::TooLong(too_long.into()),
            ),
            (
                "503 Service Unavailable",
                json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
                    .to_string(),
                ProviderError::Unavailable("Loading model".into()),
            ),
        ]
    }

    /// Up to its reason an answer has broken off, unless it was closed in good order between two events; from there on it is whole,
    /// counted or not. The last event may lack the empty line behind it.
    fn may_tell(told: &StreamEvents, at: usize, end: StreamEnd) -> bool {
        if at >= rich_start().concat().len() + sse(&stop()).len() {
            let uncounted = Self::rich().concat().len() - "data: [DONE]\n\n".len();
            let is_counted = at >= uncounted || (end == StreamEnd::Finish && at + 2 >= uncounted);
            return *told == rich_events(if is_counted { counted() } else { None });
        }
        if *told == [text("<thi"), completed(None)] {
            return end == StreamEnd::Finish;
        }
        let Some((last, rest)) = told.split_last() else { return false };
        let said = rest.iter().filter(|event| matches!(event, Ok(Event::TextDelta(_)))).count();
        let fits = match last {
            Err(ProviderError::Cut(_)) => rest.len() == said,
            Ok(Event::Completed { finish: Finish::Stop, usage: None }) => {
                said > 0 && end == StreamEnd::Finish
            }
            _ => false,
        };
        fits && rest[..said] == rich_events(None)[..said]
    }
}

fn counted() -> Option<Usage> {
    Some(Usage { input: 9, cached: 4, output: 3 })
}

#[tokio::test]
async fn it_is_asked_in_its_own_words_with_a_key_or_without() {
    for key in [Some(Chat::KEY), None] {
        let server = replying::<Chat>(TestReply::stream(vec![Chat::rich().concat().into()])).await;
        assert_eq!(ask::<Chat>(&provider(&server.base_url, key)).await, Chat::rich_told());
        let heard = server.heard.lock().unwrap();
        assert!(heard[0].head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{}", heard[0].head);
        let shown = heard[0].head.lines().find(|line| line.starts_with("authorization"));
        assert_eq!(shown, key.map(|key| format!("authorization: bearer {key}")).as_deref());
        assert_eq!(heard[0].body, serde_json::to_value(wire::body(&request::<Chat>("Hi"))).unwrap());
        assert_eq!(heard.len(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_a_word_of_its_end_is_whole_if_the_connection_was_closed_in_good_order() {
    let count = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}});
    let bytes = [Chat::says("a"), sse(&count)].concat();
    let usage = Some(Usage { input: 9, cached: 0, output: 3 });
    let reply = TestReply::stream(vec![bytes.into()]);
    assert_eq!(told::<Chat>(reply.clone()).await, [text("a"), completed(usage)]);
    let cut = Err(ProviderError::Cut("the connection broke".into()));
    assert_eq!(told::<Chat>(TestReply { end: StreamEnd::Break, ..reply }).await, [text("a"), cut]);
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_read_all_the_same() {
    let whole = json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]});
    let failed = json!({"error": {"message": "m", "code": 429}});
    let limited = || vec![Err(ProviderError::RateLimited { retry_after: None, message: "m".into() })];
    for kind in ["application/json", "text/event-stream", "text/plain"] {
        let head = format!("200 OK\r\ncontent-type: {kind}");
        for body in [whole.to_string(), format!("{whole:#}\n")] {
            assert_eq!(
                told::<Chat>(TestReply::plain(&head, &body)).await,
                [text("a"), completed(None)],
                "{body}"
            );
        }
        for body in [failed.to_string(), format!("[{failed:#}]"), format!("event: error\ndata: {failed}\n\n")]
        {
            assert_eq!(told::<Chat>(TestReply::plain(&head, &body)).await, limited(), "{body}");
        }
    }
}

#[tokio::test]
async fn a_byte_order_mark_does_no_harm() {
    let bytes = ["\u{feff}".to_owned(), sse(&words("a")), "\u{feff}".into(), sse(&stop())].concat();
    assert_eq!(
        told::<Chat>(TestReply::stream(vec![bytes.clone().into()])).await,
        [text("a"), completed(None)]
    );
    let pieces = bytes.bytes().map(|byte| vec![byte]).collect();
    assert_eq!(told::<Chat>(TestReply::stream(pieces)).await, [text("a"), completed(None)]);
}

/// Once a model was seen to begin so, its next answer shows nothing of it.
#[tokio::test]
async fn a_model_that_begins_its_reasoning_unmarked_is_known_by_it() {
    let mut sent: Vec<Vec<&str>> = vec![vec!["hm", "</think>\nTwo"]; 2];
    sent.extend([vec!["One", " loaf"], vec!["Three", "."]]);
    let bodies: Vec<Vec<Vec<u8>>> = sent
        .iter()
        .map(|pieces| {
            pieces.iter().map(|piece| sse(&words(piece)).into()).chain([sse(&stop()).into()]).collect()
        })
        .collect();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = TestServer::start(move |_| {
        let pieces = bodies[asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed)].clone();
        TestReply { pause: Duration::from_millis(100), ..TestReply::stream(pieces) }
    })
    .await;
    let provider = provider(&server.base_url, None);
    let end = || completed(None);
    let expected = [
        vec![text("hm"), Ok(Event::Reasoned), text("Two"), end()],
        vec![text("Two"), end()],
        // It does so no more.
        vec![text("One loaf"), end()],
        vec![text("Three"), text("."), end()],
    ];
    for expected in expected {
        assert_eq!(ask::<Chat>(&provider).await, expected);
    }
}

/// What comes at once is not even told; what has been told is taken back.
#[tokio::test]
async fn reasoning_in_the_text_is_told_apart_from_the_answer() {
    let reasoned = || Ok(Event::Reasoned);
    let cases = [
        (vec!["<think>h", "m</think>Two"], vec![], vec![text("Two")]),
        (vec!["hm", "\n</thi", "nk>\n\nTwo"], vec![text("hm"), text("\n"), reasoned()], vec![text("Two")]),
        (vec!["<think>hm"], vec![], vec![reasoned()]),
        (vec!["hm</think>"], vec![text("hm")], vec![reasoned()]),
    ];
    for (pieces, before, end) in cases {
        let events: Vec<Vec<u8>> =
            pieces.iter().map(|piece| sse(&words(piece)).into()).chain([sse(&stop()).into()]).collect();
        let at_once = TestReply::stream(vec![[events.concat(), b"data: [DONE]\n\n".to_vec()].concat()]);
        let end = [end, vec![completed(None)]].concat();
        assert_eq!(told::<Chat>(at_once).await, end, "{pieces:?}");
        let paced = TestReply { pause: Duration::from_millis(100), ..TestReply::stream(events) };
        assert_eq!(told::<Chat>(paced).await, [before, end].concat(), "{pieces:?}, paced");
    }
    let apart = sse(&delta(json!({"reasoning": "hm"}))) + &sse(&stop());
    assert_eq!(told::<Chat>(TestReply::stream(vec![apart.into()])).await, [reasoned(), completed(None)]);
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
            assert_eq!(told::<Chat>(TestReply::stream(pieces)).await, expected);
        }
    }
}

#[tokio::test]
async fn a_whole_answer_does_not_wait_for_a_server_that_hangs() {
    let body = [sse(&words("a")), sse(&stop())].concat();
    let hanging = TestReply { end: StreamEnd::Hang, ..TestReply::stream(vec![body.into()]) };
    assert_eq!(timeout(MINUTE / 2, told::<Chat>(hanging)).await, Ok(vec![text("a"), completed(None)]));
}

#[tokio::test]
async fn models_are_listed_as_they_are_served() {
    let expected = Ok(vec!["b/two:free".to_owned(), "a".to_owned()]);
    let listed = json!([{"id": "b/two:free", "object": "model"}, {"name": "no id"}, {"id": "a"}]);
    for body in [json!({"object": "list", "data": listed, "models": []}), listed] {
        let reply = TestReply::plain("200 OK\r\ncontent-type: application/json", &body.to_string());
        let server = TestServer::replying(reply).await;
        assert_eq!(provider(&server.base_url, Some(Chat::KEY)).models().await, expected);
        let heard = server.heard.lock().unwrap();
        assert!(heard[0].head.starts_with("get /v1/models http/1.1\r\n"), "{}", heard[0].head);
    }
    let server =
        TestServer::replying(TestReply::plain("401 Unauthorized", r#"{"error":"no sk-very-secret"}"#)).await;
    let refused = provider(&server.base_url, Some(Chat::KEY)).models().await;
    assert_eq!(refused, Err(ProviderError::Unauthorized("no [secret]".into())));
}

#[test]
fn of_two_measures_against_repetition_one_is_ignored() {
    let provider = provider("http://127.0.0.1:9", None);
    let repeat = Generation { repeat_penalty: Some(1.1), temperature: Some(1.0), ..Generation::default() };
    let both = Generation { frequency_penalty: Some(0.5), ..repeat };
    assert_eq!(provider.ignored("m", &repeat), Vec::<&str>::new());
    assert_eq!(provider.ignored("m", &both), ["repeat_penalty"]);
    assert!(provider.capabilities("openai/gpt-4o").vision);
    assert!(provider.capabilities("somebody-elses").vision, "until it refuses a picture");
}
