//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use serde_json::Value;
use tokio::net::TcpListener;

use super::*;
use crate::http::testing::faults::{
    IDLE, MINUTE, StreamEvents, TestedProvider, ask, calls, fault_suite, replying, request, told,
};
use crate::http::testing::{HTTP, StreamEnd, TestReply, TestServer};
use crate::{Event, Finish, Item, MediaPart, ToolSpec};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// As long as any test may wait for a model to be loaded.
const LOAD: Duration = Duration::from_secs(2);

mod models;

struct Native;

fault_suite!(Native);

fn provider(base_url: &str, key: Option<&str>) -> OllamaProvider {
    OllamaProvider::new(HTTP.clone(), base_url, key.map(SecretString::from), MINUTE, MINUTE)
}

/// What `/api/show` tells of a model that can do all there is, with a context of 32768.
fn shown() -> Value {
    let info = json!({"general.architecture": "qwen3", "qwen3.context_length": 32768});
    json!({"model_info": info, "capabilities": ["completion", "tools", "vision", "thinking"]})
}

fn plain(status: &str, body: &Value) -> TestReply {
    TestReply::plain(&format!("{status}\r\ncontent-type: application/json"), &body.to_string())
}

fn lines(pieces: Vec<Vec<u8>>) -> TestReply {
    TestReply { head: "200 OK\r\ncontent-type: application/x-ndjson".into(), ..TestReply::stream(pieces) }
}

fn is_chat(body: &Value) -> bool {
    body["messages"].is_array()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn says(text: &str) -> String {
    line(&json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false}))
}

fn done() -> String {
    line(&json!({
        "model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
        "total_duration": 5, "prompt_eval_count": 9, "eval_count": 3,
    }))
}

impl TestedProvider for Native {
    const MODEL: &'static str = "m";
    const KEY: &'static str = "very-secret-key";
    /// It loads a model before it says anything.
    const BEFORE_THE_FIRST_BYTE: Duration = LOAD;

    fn provider(base_url: &str, key: &str, idle_limit: Duration) -> Box<dyn Provider> {
        Box::new(OllamaProvider::new(HTTP.clone(), base_url, Some(key.into()), idle_limit, LOAD))
    }

    fn reply(pieces: Vec<Vec<u8>>) -> TestReply {
        lines(pieces)
    }

    /// It tells of every model.
    fn aside(body: &Value) -> Option<TestReply> {
        (!is_chat(body)).then(|| plain("200 OK", &shown()))
    }

    fn says(text: &str) -> String {
        says(text)
    }

    fn end() -> String {
        done()
    }

    /// Line ends of both kinds, empty, unknown and broken lines, the same line twice.
    fn rich() -> Vec<String> {
        let thinks =
            json!({"message": {"role": "assistant", "content": "", "thinking": "hm, é"}, "done": false});
        let call =
            |id: Value| json!({"id": id, "function": {"index": 0, "name": "f", "arguments": {"a": "é"}}});
        let calls =
            json!({"message": {"content": "", "tool_calls": [call(json!("call_1")), call(Value::Null)]}});
        let again = json!({"message": {"content": "", "tool_calls": [call(json!("call_1"))]}, "done": false});
        vec![
            line(&thinks),
            says("На здоровье ").replace('\n', "\r\n"),
            "\r\n".into(),
            "this is not JSON\n".into(),
            line(&json!({"status": "not invented yet"})),
            says("👩‍👧!"),
            line(&calls),
            line(&again),
            done(),
        ]
    }

    fn rich_told() -> StreamEvents {
        let call = |id: &str| Call { id: id.into(), name: "f".into(), arguments: "{\"a\":\"é\"}".into() };
        let thoughts = PrivatePart { provider: "ollama".into(), data: json!({"thinking": "hm, é"}) };
        vec![
            Ok(Event::TextDelta("На здоровье ".into())),
            Ok(Event::TextDelta("👩‍👧!".into())),
            Ok(Event::ToolCall(call("call_1"))),
            Ok(Event::ToolCall(call("made"))),
            Ok(Event::Private(thoughts)),
            Ok(Event::Completed {
                finish: Finish::Stop,
                usage: Some(Usage { input: 9, cached: 0, output: 3 }),
            }),
        ]
    }

    /// With `made` in place of ids that were made up.
    fn known(mut told: StreamEvents) -> StreamEvents {
        for event in &mut told {
            if let Ok(Event::ToolCall(call)) = event
                && call.id.len() == 31
            {
                call.id = "made".into();
            }
        }
        told
    }

    fn noise() -> Vec<String> {
        vec!["\r\n".into(), "this is not JSON\n".into(), line(&json!({"status": "not invented yet"}))]
    }

    fn signs_of_life() -> Vec<String> {
        vec![line(&json!({"message": {"content": "", "thinking": "h"}, "done": false}))]
    }

    fn failures() -> Vec<(String, ProviderError)> {
        let error = |told: &str| line(&json!({"error": told}));
        let too_long = "the input length exceeds the context length";
        vec![
            (error("runner stopped"), ProviderError::Unavailable("runner stopped".into())),
            (error(too_long), ProviderError::TooLong(too_long.into())),
        ]
    }

    fn refusal(message: &str) -> String {
        json!({"error": message}).to_string()
    }

    fn refusals() -> Vec<(&'static str, String, ProviderError)> {
        let missing = "model 'm' not found";
        let too_long = "request (9000 tokens) exceeds the available context size (8192 tokens)";
        let refused = |told: &str| ProviderError::Refused(told.into());
        vec![
            (
                "404 Not Found",
                Self::refusal(missing),
                ProviderError::UnknownModel(format!("{missing}; `ollama pull m` fetches it")),
            ),
            ("400 Bad Request", Self::refusal(too_long), ProviderError::TooLong(too_long.into())),
            ("400 Bad Request", Self::refusal("invalid options"), refused("invalid options")),
            (
                "503 Service Unavailable",
                Self::refusal("server busy"),
                ProviderError::Unavailable("server busy".into()),
            ),
        ]
    }

    fn foreign() -> Vec<(&'static str, &'static str)> {
        vec![("text/html; charset=utf-8", "<html></html>")]
    }

    /// An answer that ends with a line is taken for one that was cut by its length; amid a line it has broken off.
    fn may_tell(told: &StreamEvents, at: usize, end: StreamEnd) -> bool {
        let whole = Self::rich().concat();
        let tail = whole.as_bytes()[..at].rsplit(|byte| *byte == b'\n').next().unwrap().trim_ascii();
        let is_broken = !tail.is_empty() && serde_json::from_slice::<Value>(tail).is_err();
        let has_text = matches!(told.first(), Some(Ok(Event::TextDelta(_))));
        let Some((last, rest)) = told.split_last() else { return false };
        let fits = match last {
            // The last line needs no end.
            Ok(Event::Completed { finish: Finish::Stop, .. }) => {
                at + 1 == whole.len() && end == StreamEnd::Finish
            }
            Ok(Event::Completed { finish: Finish::Length, usage: None }) => {
                has_text && !is_broken && at + 1 < whole.len() && end == StreamEnd::Finish
            }
            Err(ProviderError::Cut(_)) => is_broken || !has_text || end == StreamEnd::Break,
            _ => false,
        };
        let rest: StreamEvents =
            rest.iter().filter(|event| !matches!(event, Ok(Event::Private(_)))).cloned().collect();
        fits && rest == Self::rich_told()[..rest.len()]
    }
}

#[tokio::test]
async fn it_is_asked_in_its_own_words_and_told_of_a_model_once() {
    let server = replying::<Native>(lines(vec![Native::rich().concat().into()])).await;
    let provider = provider(&server.base_url, Some(""));
    assert_eq!(ask::<Native>(&provider).await, Native::rich_told());
    assert_eq!(ask::<Native>(&provider).await, Native::rich_told());
    let heard = server.heard.lock().unwrap();
    let expected = json!({
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "stream": true,
        "truncate": false,
        "shift": false,
        "options": {"num_ctx": 8192},
        "think": true,
    });
    let bodies: Vec<&Value> = heard.iter().map(|heard| &heard.body).collect();
    assert_eq!(bodies, [&json!({"model": "m"}), &expected, &expected], "it was asked about once");
    assert!(heard[0].head.starts_with("post /v1/api/show http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[1].head.starts_with("post /v1/api/chat http/1.1\r\n"), "{}", heard[1].head);
    assert!(heard.iter().all(|heard| !heard.head.contains("authorization")));
}

#[tokio::test]
async fn a_server_that_is_no_ollama_is_told_with_advice() {
    let page = TestReply::plain("404 Not Found\r\ncontent-type: text/plain", "404 page not found");
    let html = TestReply::plain("200 OK\r\ncontent-type: text/html; charset=utf-8", "<html></html>");
    for reply in [page, html] {
        let server = TestServer::replying(reply).await;
        let events = ask::<Native>(&provider(&server.base_url, None)).await;
        let [Err(ProviderError::Foreign(advice))] = events.as_slice() else { panic!("{events:?}") };
        assert!(advice.contains("base URL"), "{advice}");
    }
}

#[tokio::test]
async fn the_context_fits_the_request_or_the_request_the_context_or_nothing_is_sent() {
    let server = replying::<Native>(lines(vec![done().into()])).await;
    let provider = provider(&server.base_url, None);
    let told = |words: usize, instructions: &str| {
        let (items, instructions) = (vec![Item::user("word ".repeat(words))], instructions.to_owned());
        let request = Request { items, instructions, ..request::<Native>("Hi") };
        provider.stream(request).collect::<StreamEvents>()
    };
    let asked = |words| told(words, "Be brief.");
    // The thoughts have room too; what was needed is kept for a while.
    for (words, context) in [(10, 8192), (2000, 16384), (10, 16384), (20_000, 32768)] {
        assert_eq!(asked(words).await.len(), 1);
        assert_eq!(calls::<Native>(&server).last().unwrap()["options"]["num_ctx"], context, "{words} words");
    }
    assert_eq!(asked(40_000).await.len(), 1);
    let sent = calls::<Native>(&server).last().unwrap().clone();
    let words = sent["messages"][1]["content"].as_str().unwrap();
    assert!(words.contains("characters of this message are left out"), "{}", words.len());
    assert_eq!(sent["options"]["num_ctx"], 32768);
    let events = told(10, &"word ".repeat(40_000)).await;
    assert!(matches!(events.as_slice(), [Err(ProviderError::TooLong(_))]), "{events:?}");
    assert_eq!(calls::<Native>(&server).len(), 5);
}

#[tokio::test]
async fn an_answer_that_ends_within_a_line_has_broken_off() {
    let cut = ProviderError::Cut("the answer ended within a line".into());
    let reply = lines(vec![[says("a").as_str(), "{\"message\":{\"con"].concat().into()]);
    assert_eq!(told::<Native>(reply).await, [Ok(Event::TextDelta("a".into())), Err(cut)]);
}

#[tokio::test]
async fn what_cannot_be_sent_is_told_with_what_helps() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_port = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let cases = [
        (closed_port.as_str(), Native::KEY, "is Ollama running there?"),
        ("not a url", Native::KEY, "base URL"),
        ("http://127.0.0.1:9", "with\nnewline", "copy it again"),
    ];
    for (base_url, key, hint) in cases {
        let provider = provider(base_url, Some(key));
        let events = ask::<Native>(&provider).await;
        let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
        for error in [error, &provider.models().await.unwrap_err()] {
            assert!(error.to_string().contains(hint), "{error}");
        }
    }
}

/// It loads a model only once it was asked for an answer.
#[tokio::test]
async fn a_server_that_tells_nothing_of_a_model_is_not_waited_for_as_if_it_loaded_it() {
    let silent = TestReply { head: String::new(), end: StreamEnd::Hang, ..lines(Vec::new()) };
    let server = TestServer::replying(silent).await;
    let provider = Native::provider(&server.base_url, Native::KEY, IDLE);
    assert_eq!(ask::<Native>(&*provider).await, [Err(ProviderError::Stalled(IDLE))]);
}
