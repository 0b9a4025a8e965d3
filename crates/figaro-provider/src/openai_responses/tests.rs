//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use serde_json::{Value, json};

use super::*;
use crate::http::testing::faults::{StreamEvents, TestedProvider, ask, fault_suite, replying, request, told};
use crate::http::testing::{HTTP, StreamEnd, TestReply};
use crate::{Event, Finish};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

struct Responses;

fault_suite!(Responses);

fn sse(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

fn delta(text: &str) -> Value {
    json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": text})
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"})
}

impl TestedProvider for Responses {
    const MODEL: &'static str = "m";
    const KEY: &'static str = "sk-very-secret";

    fn provider(base_url: &str, key: &str, idle_limit: Duration) -> Box<dyn Provider> {
        Box::new(OpenAiResponses::new(HTTP.clone(), base_url, key.into(), idle_limit))
    }

    fn says(text: &str) -> String {
        sse(&delta(text))
    }

    fn end() -> String {
        let usage =
            json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3});
        let response = json!({"status": "completed", "output": [], "usage": usage});
        sse(&json!({"type": "response.completed", "response": response}))
    }

    /// Line ends of both kinds, comments, data on several lines, unknown and broken events.
    fn rich() -> Vec<String> {
        let call =
            json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{\"a\":\"é\"}"});
        let done = |item: &Value| sse(&json!({"type": "response.output_item.done", "item": item}));
        vec![
            ": hello\r\n\r\n".to_owned(),
            sse(&json!({"type": "response.created", "response": {"id": "resp_1"}})),
            done(&thought()),
            "event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n".into(),
            sse(&delta("На здоровье ")).replace('\n', "\r\n"),
            "data: this is not JSON\n\n".into(),
            "id: 7\nretry: 10\ndata: {\"type\": \"response.output_text.delta\",\r\ndata:  \"delta\": \"👩‍👧!\"}\n\n".into(),
            sse(&json!({"type": "response.not_invented_yet", "delta": "?"})),
            done(&call),
            Self::end(),
        ]
    }

    fn rich_told() -> StreamEvents {
        let call = Call { id: "call_1".into(), name: "f".into(), arguments: "{\"a\":\"é\"}".into() };
        let usage = Some(Usage { input: 9, cached: 4, output: 3 });
        vec![
            Ok(Event::Private(PrivatePart { provider: "openai".into(), data: thought() })),
            Ok(Event::TextDelta("На здоровье ".into())),
            Ok(Event::TextDelta("👩‍👧!".into())),
            Ok(Event::ToolCall(call)),
            Ok(Event::Completed { finish: Finish::Stop, usage }),
        ]
    }

    fn noise() -> Vec<String> {
        vec![
            ": thinking\n\n".into(),
            "data: this is not JSON\n\n".into(),
            sse(&json!({"type": "response.not_invented_yet", "delta": "?"})),
        ]
    }

    fn signs_of_life() -> Vec<String> {
        vec![": thinking\n\n".into()]
    }

    fn failures() -> Vec<(String, ProviderError)> {
        let overloaded = json!({"type": "error", "code": "server_error", "message": "overloaded"});
        let error = json!({"code": "rate_limit_exceeded", "message": "m"});
        let limited = json!({"type": "response.failed", "response": {"error": error}});
        vec![
            (sse(&overloaded), ProviderError::Unavailable("overloaded".into())),
            (sse(&limited), ProviderError::RateLimited { retry_after: None, message: "m".into() }),
        ]
    }

    fn refusal(message: &str) -> String {
        json!({"error": {"message": message}}).to_string()
    }

    fn refusals() -> Vec<(&'static str, String, ProviderError)> {
        let said = |message: &str, code: &str| {
            json!({"error": {"message": message, "type": code, "code": code}}).to_string()
        };
        let quota = "You exceeded your quota";
        vec![
            ("404 Not Found", Self::refusal("m"), ProviderError::UnknownModel("m".into())),
            (
                "401 Unauthorized",
                said("Incorrect API key provided: sk-very-secret.", "invalid_api_key"),
                ProviderError::Unauthorized("Incorrect API key provided: [secret].".into()),
            ),
            (
                "429 Too Many Requests",
                said(quota, "insufficient_quota"),
                ProviderError::NoQuota(quota.into()),
            ),
        ]
    }

    /// What came, and that it broke off; between two events of an answer, that it is whole. The last event may lack the empty
    /// line behind it.
    fn may_tell(told: &StreamEvents, at: usize, end: StreamEnd) -> bool {
        let whole = Self::rich_told();
        if *told == whole {
            return at >= Self::rich().concat().trim_ascii_end().len();
        }
        let Some((last, rest)) = told.split_last() else { return false };
        let is_answer = rest.iter().any(|event| !matches!(event, Ok(Event::Private(_))));
        let fits = match last {
            Err(ProviderError::Cut(_)) => true,
            Ok(Event::Completed { finish: Finish::Stop, usage: None }) => {
                is_answer && end == StreamEnd::Finish
            }
            _ => false,
        };
        fits && rest.len() < whole.len() && *rest == whole[..rest.len()]
    }
}

#[tokio::test]
async fn it_is_asked_in_its_own_words() {
    let server = replying::<Responses>(TestReply::stream(vec![Responses::rich().concat().into()])).await;
    let provider = Responses::provider(&server.base_url, Responses::KEY, Duration::from_secs(60));
    assert_eq!(ask::<Responses>(&*provider).await, Responses::rich_told());
    let heard = server.heard.lock().unwrap();
    assert!(heard[0].head.starts_with("post /v1/responses http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[0].head.contains("authorization: bearer sk-very-secret"), "{}", heard[0].head);
    assert!(!heard[0].head.contains("openai-organization"), "{}", heard[0].head);
    assert_eq!(heard[0].body, wire::body(&request::<Responses>("Hi")));
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn an_answer_without_a_word_of_its_end_is_whole_if_the_connection_was_closed_in_good_order() {
    let said = || Ok(Event::TextDelta("a".into()));
    for end in ["", "data: [DONE]\n\n"] {
        let reply = TestReply::stream(vec![Responses::says("a").into(), end.into()]);
        let whole = Ok(Event::Completed { finish: Finish::Stop, usage: None });
        assert_eq!(told::<Responses>(reply.clone()).await, [said(), whole]);
        let cut = Err(ProviderError::Cut("the connection broke".into()));
        assert_eq!(told::<Responses>(TestReply { end: StreamEnd::Break, ..reply }).await, [said(), cut]);
    }
}

#[test]
fn it_does_not_search_for_json_of_no_certain_form() {
    let provider = Responses::provider("http://127.0.0.1:9", Responses::KEY, Duration::from_secs(60));
    let can = provider.capabilities("gpt-4.1-mini");
    assert!(can.web_search && !can.search_with_json);
}
