//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;
use crate::http::testing::faults::{
    MINUTE, StreamEvents, TestedProvider, ask, fault_suite, replying, request, told,
};
use crate::http::testing::{HTTP, StreamEnd, TestReply, TestServer};
use crate::{Event, Finish, HostedSearch, Item};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::source::Source;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

const MODEL: &str = "gemini-3.5-flash";

struct Google;

fault_suite!(Google);

fn provider(base_url: &str) -> Box<dyn Provider> {
    Google::provider(base_url, Google::KEY, MINUTE)
}

/// As Google sends it.
fn sse(piece: &Value) -> String {
    format!("data: {piece}\r\n\r\n")
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": MODEL})
}

fn text(text: &str) -> Value {
    parts(json!([{"text": text}]))
}

fn stop() -> Value {
    let usage = json!({"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3});
    let content = json!({"role": "model", "parts": [{"text": "", "thoughtSignature": "S2"}]});
    json!({"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage})
}

fn said(text: &str) -> Result<Event, ProviderError> {
    Ok(Event::TextDelta(text.into()))
}

/// A refusal as Google words it.
fn refusal(code: u16, details: Value) -> String {
    json!({"error": {"code": code, "message": "m", "status": "S", "details": details}}).to_string()
}

impl TestedProvider for Google {
    const MODEL: &'static str = MODEL;
    const KEY: &'static str = "AIza-very-secret";
    const GOES_ON_BEHIND_ITS_END: bool = true;

    fn provider(base_url: &str, key: &str, idle_limit: Duration) -> Box<dyn Provider> {
        Box::new(GeminiProvider::new(HTTP.clone(), base_url, key.into(), idle_limit))
    }

    fn says(words: &str) -> String {
        sse(&text(words))
    }

    fn end() -> String {
        sse(&stop())
    }

    /// Comments, line ends of both kinds, data on several lines, unknown and broken events, and pieces that the library
    /// cannot read.
    fn rich() -> Vec<String> {
        let call =
            json!({"functionCall": {"id": "c1", "name": "f", "args": {"a": "é"}}, "thoughtSignature": "S1"});
        let page = json!({"web": {"uri": "https://example.com/a", "title": "A"}});
        let grounding = json!({"webSearchQueries": ["q"], "groundingChunks": [page]});
        vec![
            ": hello\r\n\r\n".to_owned(),
            sse(&json!({"usageMetadata": {"promptTokenCount": 9}, "responseId": "r"})),
            sse(&parts(json!([{"text": "Hm.", "thought": true}]))),
            sse(&text("На здоровье ")),
            "data: this is not JSON\r\n\r\n".into(),
            format!(
                "event: message\nid: 7\ndata: {{\"candidates\":\ndata:  {}}}\n\n",
                text("👩‍👧!")["candidates"]
            ),
            sse(&json!({"candidates": [{"groundingMetadata": grounding}]})),
            sse(&json!({"notInventedYet": [1, 2]})),
            sse(&parts(json!([call]))),
            sse(&stop()),
        ]
    }

    fn rich_told() -> StreamEvents {
        let kept = json!([
            {"text": "На здоровье 👩‍👧!".len()},
            {"functionCall": "c1", "thoughtSignature": "S1"},
            {"text": 0, "thoughtSignature": "S2"},
        ]);
        let data = json!({"model": MODEL, "parts": kept});
        vec![
            said("На здоровье "),
            said("👩‍👧!"),
            Ok(Event::Searched),
            Ok(Event::Found(HostedSearch {
                queries: vec!["q".into()],
                sources: vec![Source { title: "A".into(), url: "https://example.com/a".into() }],
            })),
            Ok(Event::Source(Source { title: "A".into(), url: "https://example.com/a".into() })),
            Ok(Event::ToolCall(Call {
                id: "c1".into(),
                name: "f".into(),
                arguments: "{\"a\":\"é\"}".into(),
            })),
            Ok(Event::Private(PrivatePart { provider: "gemini".into(), data })),
            Ok(Event::Completed {
                finish: Finish::Stop,
                usage: Some(Usage { input: 9, cached: 4, output: 3 }),
            }),
        ]
    }

    fn noise() -> Vec<String> {
        vec![
            ": thinking\r\n\r\n".into(),
            "data: this is not JSON\r\n\r\n".into(),
            sse(&json!({"notInventedYet": [1, 2]})),
        ]
    }

    fn signs_of_life() -> Vec<String> {
        let thought = parts(json!([{"text": "Hm.", "thought": true}]));
        vec![sse(&thought), ": thinking\r\n\r\n".into()]
    }

    fn failures() -> Vec<(String, ProviderError)> {
        let failed = |code: u16| sse(&json!({"error": {"code": code, "message": "m", "status": "S"}}));
        vec![
            (failed(503), ProviderError::Unavailable("m".into())),
            (failed(429), ProviderError::RateLimited { retry_after: None, message: "m".into() }),
            (failed(400), ProviderError::Refused("m".into())),
        ]
    }

    fn refusal(message: &str) -> String {
        json!({"error": {"message": message, "status": "S", "details": []}}).to_string()
    }

    fn refusals() -> Vec<(&'static str, String, ProviderError)> {
        let wait = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]);
        let waits = Some(Duration::from_secs(34));
        let day = json!([{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]);
        let bad_key = json!([{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}]);
        let m = || "m".to_owned();
        vec![
            ("400 Bad Request", refusal(400, bad_key), ProviderError::Unauthorized(m())),
            ("401 Unauthorized", refusal(401, json!([])), ProviderError::Unauthorized(m())),
            ("403 Forbidden", refusal(403, json!([])), ProviderError::Unauthorized(m())),
            ("400 Bad Request", refusal(400, json!([])), ProviderError::Refused(m())),
            ("404 Not Found", refusal(404, json!([])), ProviderError::UnknownModel(m())),
            (
                "429 Too Many Requests",
                refusal(429, wait),
                ProviderError::RateLimited { retry_after: waits, message: m() },
            ),
            ("429 Too Many Requests", refusal(429, day), ProviderError::NoQuota(m())),
            ("500 Internal Server Error", refusal(500, json!([])), ProviderError::Unavailable(m())),
        ]
    }

    fn foreign() -> Vec<(&'static str, &'static str)> {
        vec![("text/html; charset=utf-8", "<html>\n\n<b>Hi</b></html>"), ("application/json", "[{}]")]
    }

    /// What came, and that it broke off; between two events of an answer, that it is whole. The last event may lack the empty
    /// line behind it.
    fn may_tell(told: &StreamEvents, at: usize, end: StreamEnd) -> bool {
        let whole = Self::rich_told();
        if *told == whole {
            return at >= Self::rich().concat().trim_ascii_end().len();
        }
        let Some((last, rest)) = told.split_last() else { return false };
        let rest: StreamEvents =
            rest.iter().filter(|event| !matches!(event, Ok(Event::Private(_)))).cloned().collect();
        let is_answer = !rest.is_empty();
        let fits = match last {
            Err(ProviderError::Cut(_)) => true,
            Ok(Event::Completed { finish: Finish::Stop, usage: Some(_) }) => {
                is_answer && end == StreamEnd::Finish
            }
            _ => false,
        };
        fits && rest == whole[..rest.len()]
    }
}

#[tokio::test]
async fn it_is_asked_in_its_own_words() {
    let server = replying::<Google>(TestReply::stream(vec![Google::rich().concat().into()])).await;
    assert_eq!(ask::<Google>(&*provider(&server.base_url)).await, Google::rich_told());
    let heard = server.heard.lock().unwrap();
    let line = "post /v1/models/gemini-3.5-flash:streamgeneratecontent?alt=sse http/1.1\r\n";
    assert!(heard[0].head.starts_with(line), "{}", heard[0].head);
    assert!(heard[0].head.contains("x-goog-api-key: aiza-very-secret"), "{}", heard[0].head);
    assert_eq!(heard[0].body, wire::body(&request::<Google>("Hi"), Signatures::Kept));
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn an_answer_without_a_word_of_its_end_is_whole_if_the_connection_was_closed_in_good_order() {
    let whole = || Ok(Event::Completed { finish: Finish::Stop, usage: None });
    for end in [b"".as_slice(), b"data: [DONE]\n\n", b"data: \xff\xff\n\n"] {
        let reply = TestReply::stream(vec![Google::says("a").into(), end.to_vec()]);
        assert_eq!(told::<Google>(reply.clone()).await, [said("a"), whole()]);
        let cut = Err(ProviderError::Cut("the connection broke".into()));
        assert_eq!(told::<Google>(TestReply { end: StreamEnd::Break, ..reply }).await, [said("a"), cut]);
    }
}

#[tokio::test]
async fn an_answer_is_read_behind_a_byte_order_mark_and_as_a_list() {
    let marked = format!("\u{feff}{}{}", sse(&text("a")), sse(&stop()));
    let list = format!("\u{feff}[{:#},\n{:#}]", text("a"), stop());
    for body in [marked, list] {
        let told = told::<Google>(TestReply::stream(vec![body.clone().into()])).await;
        assert!(
            told.first() == Some(&said("a")) && matches!(told.last(), Some(Ok(Event::Completed { .. }))),
            "{body}: {told:?}"
        );
    }
    let failed = json!([{"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}]);
    let told =
        told::<Google>(TestReply::plain("200 OK\r\ncontent-type: application/json", &failed.to_string()))
            .await;
    assert_eq!(told, [Err(ProviderError::Unavailable("m".into()))]);
}

#[tokio::test]
async fn reasoning_in_the_text_is_no_part_of_the_answer() {
    let pieces = vec![
        sse(&text("<think>They ask.</thi")).into(),
        sse(&text("nk>Two loaves.")).into(),
        sse(&stop()).into(),
    ];
    let server = TestServer::replying(TestReply::stream(pieces)).await;
    let events: StreamEvents = ask::<Google>(&*provider(&server.base_url)).await;
    assert_eq!(events[0], said("Two loaves."), "{events:?}");
}

#[tokio::test]
async fn what_is_known_is_told_at_once() {
    let search = parts(json!([{"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s"}}]));
    let server = TestServer::replying(TestReply {
        end: StreamEnd::Hang,
        ..TestReply::stream(vec![sse(&search).into()])
    })
    .await;
    let mut answer = provider(&server.base_url).stream(request::<Google>("Hi"));
    let first = timeout(Duration::from_secs(5), answer.next()).await;
    assert_eq!(first, Ok(Some(Ok(Event::Searched))));
}

#[tokio::test]
async fn calls_without_ids_get_ids_of_their_own() {
    let calls = parts(json!([{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}]));
    let server =
        TestServer::replying(TestReply::stream(vec![[sse(&calls), sse(&stop())].concat().into()])).await;
    let provider = provider(&server.base_url);
    let mut ids = std::collections::HashSet::new();
    for event in [ask::<Google>(&*provider).await, ask::<Google>(&*provider).await].concat() {
        if let Ok(Event::ToolCall(call)) = event {
            assert!(ids.insert(call.id.clone()), "{}", call.id);
        }
    }
    assert_eq!(ids.len(), 4);
}

#[tokio::test]
async fn a_signature_that_is_not_accepted_is_left_out_and_the_rest_asked_again() {
    let refused = |words: &str| {
        TestReply::plain("400 Bad Request", &json!({"error": {"code": 400, "message": words}}).to_string())
    };
    for words in [
        "Corrupted thought signature.",
        "Function call is missing a thought_signature in functionCall parts.",
    ] {
        let refusal = refused(words);
        let server = TestServer::start(move |body| match body.to_string().contains("\"kept\"") {
            true => refusal.clone(),
            false => TestReply::stream(vec![sse(&text("b")).into(), sse(&stop()).into()]),
        })
        .await;
        let data = json!({"model": MODEL, "parts": [{"text": 1, "thoughtSignature": "kept"}]});
        let private = vec![PrivatePart { provider: NAME.into(), data }];
        let items = vec![Item::Assistant { text: "a".into(), calls: Vec::new(), private }, Item::user("b")];
        let request = Request::new(MODEL, "", items);
        let events: StreamEvents = provider(&server.base_url).stream(request).collect().await;
        assert!(matches!(events.last(), Some(Ok(Event::Completed { .. }))), "{events:?}");
        assert_eq!(server.heard.lock().unwrap().len(), 2);
    }
    let server = TestServer::replying(refused("Corrupted thought signature.")).await;
    let expected = ProviderError::Refused("Corrupted thought signature.".into());
    assert_eq!(ask::<Google>(&*provider(&server.base_url)).await, [Err(expected)]);
    assert_eq!(server.heard.lock().unwrap().len(), 2, "it is asked again once");
}

#[tokio::test]
async fn a_name_that_no_model_has_is_not_asked_for() {
    for model in ["../../secret?", ""] {
        let request = Request::new(model, "", vec![Item::user("Hi")]);
        let events: StreamEvents = provider("http://127.0.0.1:9").stream(request).collect().await;
        let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
        assert!(error.label() == "unknown_model" && !error.to_string().contains("127.0.0.1"), "{error}");
    }
}

#[tokio::test]
async fn a_name_goes_out_as_it_is() {
    for (model, sent) in [("gemini-3.8-flash-high", "gemini-3.8-flash-high"), ("models/gemini-x", "gemini-x")]
    {
        let server = TestServer::replying(TestReply::stream(vec![sse(&stop()).into()])).await;
        let request = Request::new(model, "", vec![Item::user("Hi")]);
        let expected = wire::body(&request, Signatures::Kept);
        let _events: StreamEvents = provider(&server.base_url).stream(request).collect().await;
        let heard = server.heard.lock().unwrap();
        assert!(heard[0].head.starts_with(&format!("post /v1/models/{sent}:stream")), "{}", heard[0].head);
        assert_eq!(heard[0].body, expected);
    }
}

#[tokio::test]
async fn models_that_answer_are_listed() {
    let model = |name: &str, methods: &[&str]| json!({"name": name, "supportedGenerationMethods": methods});
    let models = json!({"models": [
        model("models/gemini-3.5-flash", &["generateContent", "countTokens"]),
        model("models/gemini-embedding-001", &["embedContent"]),
        model("models/gemma-4-31b-it", &["generateContent"]),
        {"name": "models/unclear"},
    ]});
    let server = TestServer::replying(TestReply::plain("200 OK", &models.to_string())).await;
    let listed = provider(&server.base_url).models().await;
    assert_eq!(listed, Ok(vec!["gemini-3.5-flash".to_owned(), "gemma-4-31b-it".to_owned()]));
    let heard = server.heard.lock().unwrap();
    assert!(heard[0].head.starts_with("get /v1/models?pagesize=1000 http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[0].head.contains("x-goog-api-key: aiza-very-secret"), "{}", heard[0].head);
}

#[tokio::test]
async fn a_key_is_not_shown_in_what_is_not_understood() {
    let told = format!("the key {} is bad", Google::KEY);
    let server = TestServer::replying(TestReply::plain("400 Bad Request", &told)).await;
    let provider = provider(&server.base_url);
    let expected = ProviderError::Refused("HTTP 400 Bad Request: the key [secret] is bad".into());
    assert_eq!(ask::<Google>(&*provider).await, [Err(expected.clone())]);
    assert_eq!(provider.models().await, Err(expected));
}

#[test]
fn settings_that_no_model_or_not_this_one_has_are_told() {
    let settings = Generation {
        temperature: Some(1.0),
        top_p: Some(1.0),
        frequency_penalty: Some(1.0),
        presence_penalty: Some(1.0),
        repeat_penalty: Some(1.0),
        ..Generation::default()
    };
    let gemini = provider("http://127.0.0.1:9");
    let penalties = ["frequency_penalty", "presence_penalty", "repeat_penalty"];
    assert_eq!(gemini.ignored("gemini-2.5-flash", &settings), penalties);
    assert_eq!(gemini.ignored(MODEL, &settings)[..3], penalties);
    assert_eq!(gemini.ignored(MODEL, &settings)[3..], ["temperature", "top_p"]);
}
