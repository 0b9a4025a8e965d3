//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::*;
use crate::domain::conversation::PrivatePart;
use crate::domain::source::Source;
use crate::domain::tool::Call;
use crate::domain::usage::Usage;
use crate::provider::http::testing::{End, HTTP, Reply, Server};
use crate::provider::{Event, Finish, Item};

const KEY: &str = "AIza-very-secret";
const MODEL: &str = "gemini-3.5-flash";

type Told = Vec<Result<Event, ProviderError>>;

fn provider(base_url: &str, key: &str) -> Gemini {
    Gemini::new(HTTP.clone(), base_url, key.into(), Duration::from_secs(60))
}

fn request(text: &str) -> Request {
    Request::new(MODEL, "Be brief.", vec![Item::user(text)])
}

async fn ask(provider: &Gemini) -> Told {
    provider.stream(request("Hi")).collect().await
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

/// Everything a stream may hold: comments, line ends of both kinds, data on several lines, unknown and broken events,
/// and pieces that the library cannot read.
fn rich_stream() -> Vec<u8> {
    let call =
        json!({"functionCall": {"id": "c1", "name": "f", "args": {"a": "é"}}, "thoughtSignature": "S1"});
    let page = json!({"web": {"uri": "https://example.com/a", "title": "A"}});
    let grounding = json!({"webSearchQueries": ["q"], "groundingChunks": [page]});
    [
        ": hello\r\n\r\n".to_owned(),
        sse(&json!({"usageMetadata": {"promptTokenCount": 9}, "responseId": "r"})),
        sse(&parts(json!([{"text": "Hm.", "thought": true}]))),
        sse(&text("На здоровье ")),
        "data: this is not JSON\r\n\r\n".into(),
        format!("event: message\nid: 7\ndata: {{\"candidates\":\ndata:  {}}}\n\n", text("👩‍👧!")["candidates"]),
        sse(&json!({"candidates": [{"groundingMetadata": grounding}]})),
        sse(&json!({"notInventedYet": [1, 2]})),
        sse(&parts(json!([call]))),
        sse(&stop()),
    ]
    .concat()
    .into_bytes()
}

fn rich_events() -> Told {
    let kept = json!([
        {"text": "На здоровье 👩‍👧!".len()},
        {"functionCall": "c1", "thoughtSignature": "S1"},
        {"text": 0, "thoughtSignature": "S2"},
    ]);
    let data = json!({"model": MODEL, "parts": kept});
    vec![
        said("На здоровье "),
        said("👩‍👧!"),
        Ok(Event::Hosted("web_search".into())),
        Ok(Event::Source(Source { title: "A".into(), url: "https://example.com/a".into() })),
        Ok(Event::ToolCall(Call { id: "c1".into(), name: "f".into(), arguments: "{\"a\":\"é\"}".into() })),
        Ok(Event::Private(PrivatePart { provider: "gemini".into(), data })),
        Ok(Event::Completed { finish: Finish::Stop, usage: Some(Usage { input: 9, cached: 4, output: 3 }) }),
    ]
}

/// Asks with each position as the question, several at a time.
async fn ask_at_each(server: &Server, positions: usize) -> Vec<(usize, Told)> {
    let provider = provider(&server.base_url, KEY);
    let calls = (0..=positions).map(|at| {
        let answer = provider.stream(request(&at.to_string()));
        async move { (at, answer.collect().await) }
    });
    stream::iter(calls).buffer_unordered(8).collect().await
}

fn position(body: &Value) -> usize {
    body["contents"][0]["parts"][0]["text"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_whole_answer() {
    let server = Server::replying(Reply::stream(vec![rich_stream()])).await;
    assert_eq!(ask(&provider(&server.base_url, KEY)).await, rich_events());
    let heard = server.heard.lock().unwrap();
    let line = "post /v1/models/gemini-3.5-flash:streamgeneratecontent?alt=sse http/1.1\r\n";
    assert!(heard[0].head.starts_with(line), "{}", heard[0].head);
    assert!(heard[0].head.contains(&format!("x-goog-api-key: {}", KEY.to_lowercase())), "{}", heard[0].head);
    assert_eq!(heard[0].body, wire::body(&request("Hi"), Signatures::Kept));
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
    // The last event may lack the empty line behind it.
    let length = whole.trim_ascii_end().len();
    let first = ": hello\r\n\r\ndata: ".len();
    let server = Server::start(move |body| Reply::stream(vec![whole[..position(body)].to_vec()])).await;
    for (at, mut events) in ask_at_each(&server, length).await {
        if at < length {
            let end = events.pop();
            let is_cut = matches!(end, Some(Err(ProviderError::Cut(_))));
            // What is nothing but a comment is not told from a page of another service.
            let is_foreign = (1..=first).contains(&at) && matches!(end, Some(Err(ProviderError::Refused(_))));
            assert!(is_cut || is_foreign, "ended at byte {at} of {length}: {end:?}");
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

/// A refusal as Google words it.
fn refusal(code: u16, details: Value) -> String {
    json!({"error": {"code": code, "message": "m", "status": "S", "details": details}}).to_string()
}

#[tokio::test]
async fn refusals_keep_their_meaning() {
    let limited = |seconds| ProviderError::RateLimited { retry_after: seconds, message: "m".into() };
    let plain = |code| refusal(code, json!([]));
    let wait = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]);
    let day = json!([{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]);
    let cases = [
        ("401 Unauthorized", plain(401), ProviderError::Unauthorized("m".into())),
        ("403 Forbidden", plain(403), ProviderError::Unauthorized("m".into())),
        (
            "400 Bad Request",
            refusal(400, json!([{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}])),
            ProviderError::Unauthorized("m".into()),
        ),
        ("400 Bad Request", plain(400), ProviderError::Refused("m".into())),
        ("404 Not Found", plain(404), ProviderError::UnknownModel("m".into())),
        ("429 Too Many Requests\r\nretry-after: 7", plain(429), limited(Some(Duration::from_secs(7)))),
        ("429 Too Many Requests", refusal(429, wait), limited(Some(Duration::from_secs(34)))),
        ("429 Too Many Requests", plain(429), limited(None)),
        ("429 Too Many Requests", refusal(429, day), ProviderError::NoQuota("m".into())),
        ("500 Internal Server Error", plain(500), ProviderError::Unavailable("m".into())),
        (
            "503 Service Unavailable",
            String::new(),
            ProviderError::Unavailable("HTTP 503 Service Unavailable".into()),
        ),
        (
            "502 Bad Gateway\r\ncontent-type: text/html",
            "<html>no</html>".into(),
            ProviderError::Unavailable("HTTP 502 Bad Gateway".into()),
        ),
    ];
    for (head, body, expected) in cases {
        let server = Server::replying(Reply::plain(head, &body)).await;
        assert_eq!(ask(&provider(&server.base_url, KEY)).await, [Err(expected)], "{head} {body}");
        assert_eq!(server.heard.lock().unwrap().len(), 1, "{head}: it was sent once");
    }
}

#[tokio::test]
async fn success_that_is_no_stream_is_refused_with_advice() {
    for (kind, body) in
        [("text/html; charset=utf-8", "<html>\n\n<b>Hi</b></html>"), ("application/json", "[{}]")]
    {
        let server = Server::replying(Reply::plain(&format!("200 OK\r\ncontent-type: {kind}"), body)).await;
        let events = ask(&provider(&server.base_url, KEY)).await;
        let [Err(ProviderError::Refused(advice))] = events.as_slice() else { panic!("{events:?}") };
        assert!(advice.contains("base URL"), "{advice}");
    }
}

#[tokio::test]
async fn failures_amid_an_answer_come_after_what_was_said() {
    let late = |end| Reply { end, ..Reply::stream(vec![sse(&text("a")).into()]) };
    let then =
        |piece: &str| Reply::stream(vec![[sse(&text("a")).as_str(), piece, &sse(&stop())].concat().into()]);
    let failed = |code: u16| sse(&json!({"error": {"code": code, "message": "m", "status": "S"}}));
    let broken_off = || ProviderError::Cut("the stream ended early".into());
    let cases = [
        (then(&failed(503)), ProviderError::Unavailable("m".into())),
        (then(&failed(429)), ProviderError::RateLimited { retry_after: None, message: "m".into() }),
        (then(&failed(400)), ProviderError::Refused("m".into())),
        (late(End::Break), ProviderError::Cut("the connection broke".into())),
        (late(End::Finish), broken_off()),
        (Reply::stream(vec![sse(&text("a")).into(), "data: [DONE]\n\n".into()]), broken_off()),
        (
            Reply::stream(vec![sse(&text("a")).into(), b"data: \xff\xff\n\n".to_vec()]),
            ProviderError::Cut("the answer is not text".into()),
        ),
    ];
    for (reply, expected) in cases {
        let server = Server::replying(reply).await;
        assert_eq!(ask(&provider(&server.base_url, KEY)).await, [said("a"), Err(expected)]);
    }
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let body = [sse(&text("a")), sse(&stop()), sse(&text("b")), sse(&stop())].concat();
    let server = Server::replying(Reply { end: End::Hang, ..Reply::stream(vec![body.into()]) }).await;
    let events = timeout(Duration::from_secs(5), ask(&provider(&server.base_url, KEY))).await.unwrap();
    assert_eq!(events.len(), 3, "{events:?}");
}

/// Though the library has no event for it.
#[tokio::test]
async fn what_is_known_is_told_at_once() {
    let search = parts(json!([{"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s"}}]));
    let server = Server::replying(Reply { end: End::Hang, ..Reply::stream(vec![sse(&search).into()]) }).await;
    let mut answer = provider(&server.base_url, KEY).stream(request("Hi"));
    let first = timeout(Duration::from_secs(5), answer.next()).await;
    assert_eq!(first, Ok(Some(Ok(Event::Hosted("web_search".into())))));
}

#[tokio::test]
async fn calls_without_ids_get_ids_of_their_own() {
    let calls = parts(json!([{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}]));
    let server = Server::replying(Reply::stream(vec![[sse(&calls), sse(&stop())].concat().into()])).await;
    let provider = provider(&server.base_url, KEY);
    let mut ids = std::collections::HashSet::new();
    for event in [ask(&provider).await, ask(&provider).await].concat() {
        if let Ok(Event::ToolCall(call)) = event {
            assert!(ids.insert(call.id.clone()), "{}", call.id);
        }
    }
    assert_eq!(ids.len(), 4);
}

#[tokio::test]
async fn a_signature_that_is_not_accepted_is_left_out_and_the_rest_asked_again() {
    let refused = |words: &str| {
        Reply::plain("400 Bad Request", &json!({"error": {"code": 400, "message": words}}).to_string())
    };
    for words in [
        "Corrupted thought signature.",
        "Function call is missing a thought_signature in functionCall parts.",
    ] {
        let refusal = refused(words);
        let server = Server::start(move |body| match body.to_string().contains("\"kept\"") {
            true => refusal.clone(),
            false => Reply::stream(vec![sse(&stop()).into()]),
        })
        .await;
        let data = json!({"model": MODEL, "parts": [{"text": 1, "thoughtSignature": "kept"}]});
        let private = vec![PrivatePart { provider: NAME.into(), data }];
        let items = vec![Item::Assistant { text: "a".into(), calls: Vec::new(), private }, Item::user("b")];
        let request = Request::new(MODEL, "", items);
        let events: Told = provider(&server.base_url, KEY).stream(request).collect().await;
        assert!(matches!(events.last(), Some(Ok(Event::Completed { .. }))), "{events:?}");
        assert_eq!(server.heard.lock().unwrap().len(), 2);
    }
    let server = Server::replying(refused("Corrupted thought signature.")).await;
    let expected = ProviderError::Refused("Corrupted thought signature.".into());
    assert_eq!(ask(&provider(&server.base_url, KEY)).await, [Err(expected)]);
    assert_eq!(server.heard.lock().unwrap().len(), 2, "it is asked again once");
}

#[tokio::test]
async fn what_cannot_be_sent_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_port = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let cases = [
        (closed_port.as_str(), KEY, MODEL, "unavailable"),
        ("not a url", KEY, MODEL, "refused"),
        ("http://127.0.0.1:9", "AIza-with\nnewline", MODEL, "unauthorized"),
        ("http://127.0.0.1:9", KEY, "../../secret?", "unknown_model"),
        ("http://127.0.0.1:9", KEY, "", "unknown_model"),
    ];
    for (base_url, key, model, label) in cases {
        let request = Request::new(model, "", vec![Item::user("Hi")]);
        let events: Told = provider(base_url, key).stream(request).collect().await;
        let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(error.label(), label, "{error}");
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    }
}

#[tokio::test]
async fn a_name_goes_out_as_it_is() {
    for (model, sent) in [("gemini-3.8-flash-high", "gemini-3.8-flash-high"), ("models/gemini-x", "gemini-x")]
    {
        let server = Server::replying(Reply::stream(vec![sse(&stop()).into()])).await;
        let request = Request::new(model, "", vec![Item::user("Hi")]);
        let expected = wire::body(&request, Signatures::Kept);
        let _events: Told = provider(&server.base_url, KEY).stream(request).collect().await;
        let heard = server.heard.lock().unwrap();
        assert!(heard[0].head.starts_with(&format!("post /v1/models/{sent}:stream")), "{}", heard[0].head);
        assert_eq!(heard[0].body, expected);
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let silent = Reply { head: String::new(), end: End::Hang, ..Reply::stream(Vec::new()) };
    let open = Reply { end: End::Hang, ..Reply::stream(vec![sse(&text("a")).into()]) };
    for reply in [silent, open] {
        let mut server = Server::replying(reply).await;
        let mut answer = provider(&server.base_url, KEY).stream(request("Hi"));
        drop(timeout(Duration::from_millis(300), answer.next()).await);
        assert!(server.closed.try_recv().is_err(), "it was still open");
        drop(answer);
        assert_eq!(timeout(Duration::from_secs(5), server.closed.recv()).await, Ok(Some(())));
    }
}

#[tokio::test]
async fn silence_is_a_stall_and_signs_of_life_are_not() {
    let limit = Duration::from_millis(400);
    let slow = |server: &Server| Gemini::new(HTTP.clone(), &server.base_url, KEY.into(), limit);
    let silent = Reply { head: String::new(), end: End::Hang, ..Reply::stream(Vec::new()) };
    let server = Server::replying(silent).await;
    assert_eq!(ask(&slow(&server)).await, [Err(ProviderError::Stalled(limit))]);

    let stuck = Reply { end: End::Hang, ..Reply::stream(vec![sse(&text("a")).into()]) };
    let server = Server::replying(stuck).await;
    assert_eq!(ask(&slow(&server)).await, [said("a"), Err(ProviderError::Stalled(limit))]);

    let thought = sse(&parts(json!([{"text": "Hm.", "thought": true}])));
    for sign in [thought.as_bytes(), b": thinking\r\n\r\n"] {
        let mut pieces = vec![sign.to_vec(); 8];
        pieces.push([sse(&text("a")), sse(&stop())].concat().into());
        let alive = Reply { pause: Duration::from_millis(100), ..Reply::stream(pieces) };
        let server = Server::replying(alive).await;
        let events = ask(&slow(&server)).await;
        assert_eq!((&events[0], events.len()), (&said("a"), 3), "{events:?}");
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
    let server = Server::replying(Reply::plain("200 OK", &models.to_string())).await;
    let listed = provider(&server.base_url, KEY).models().await;
    assert_eq!(listed, Ok(vec!["gemini-3.5-flash".to_owned(), "gemma-4-31b-it".to_owned()]));
    let heard = server.heard.lock().unwrap();
    assert!(heard[0].head.starts_with("get /v1/models?pagesize=1000 http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[0].head.contains(&format!("x-goog-api-key: {}", KEY.to_lowercase())), "{}", heard[0].head);
}

#[tokio::test]
async fn the_key_is_never_shown() {
    let shown = format!("{:?}", provider("http://127.0.0.1:9", KEY));
    assert!(!shown.contains(KEY), "{shown}");
    let server = Server::replying(Reply::plain("400 Bad Request", &format!("the key {KEY} is bad"))).await;
    let provider = provider(&server.base_url, KEY);
    let expected = ProviderError::Refused("HTTP 400 Bad Request: the key [secret] is bad".into());
    assert_eq!(ask(&provider).await, [Err(expected.clone())]);
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
    let gemini = provider("http://127.0.0.1:9", KEY);
    let penalties = ["frequency_penalty", "presence_penalty", "repeat_penalty"];
    assert_eq!(gemini.ignored("gemini-2.5-flash", &settings), penalties);
    assert_eq!(gemini.ignored(MODEL, &settings)[..3], penalties);
    assert_eq!(gemini.ignored(MODEL, &settings)[3..], ["temperature", "top_p"]);
}
