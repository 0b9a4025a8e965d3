//! Calls over a real loopback connection: a hand-made server sends chosen bytes in chosen pieces.

use proptest::prelude::*;
use serde_json::Value;
use tokio::net::TcpListener;

use super::*;
use crate::domain::conversation::PrivatePart;
use crate::domain::tool::Call;
use crate::domain::usage::Usage;
use crate::provider::http::testing::{End, HTTP, Reply, Server};
use crate::provider::{Event, Finish, Image, Item, ToolSpec};

const KEY: &str = "very-secret-key";
const MINUTE: Duration = Duration::from_secs(60);

type Told = Vec<Result<Event, ProviderError>>;

fn provider(base_url: &str) -> Ollama {
    Ollama::new(HTTP.clone(), base_url, None, MINUTE, MINUTE)
}

fn request(model: &str) -> Request {
    Request::new(model, "Be brief.", vec![Item::user("Hi")])
}

fn with_tools(model: &str) -> Request {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools = vec![ToolSpec { name: "f".into(), description: "Does.".into(), parameters }];
    Request { tools, ..request(model) }
}

async fn ask(provider: &Ollama) -> Told {
    provider.stream(request("m")).collect().await
}

/// What `/api/show` tells of a model that can do all there is, with a context of 32768.
fn shown() -> Value {
    let info = json!({"general.architecture": "qwen3", "qwen3.context_length": 32768});
    json!({"model_info": info, "capabilities": ["completion", "tools", "vision", "thinking"]})
}

fn plain(status: &str, body: &Value) -> Reply {
    Reply::plain(&format!("{status}\r\ncontent-type: application/json"), &body.to_string())
}

fn lines(pieces: Vec<Vec<u8>>) -> Reply {
    Reply { head: "200 OK\r\ncontent-type: application/x-ndjson".into(), ..Reply::stream(pieces) }
}

fn is_chat(body: &Value) -> bool {
    body["messages"].is_array()
}

/// A server that tells of every model and gives each chat this answer.
async fn chatting(answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |body| if is_chat(body) { answer(body) } else { plain("200 OK", &shown()) }).await
}

async fn replying(reply: Reply) -> Server {
    chatting(move |_| reply.clone()).await
}

/// The chats that a server was asked for.
fn chats(server: &Server) -> Vec<Value> {
    let heard = server.heard.lock().unwrap();
    heard.iter().map(|heard| heard.body.clone()).filter(is_chat).collect()
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

/// Everything a stream may hold: line ends of both kinds, empty, unknown and broken lines, the same line twice.
fn rich_stream() -> Vec<u8> {
    let thinks = json!({"message": {"role": "assistant", "content": "", "thinking": "hm, é"}, "done": false});
    let call = |id: Value| json!({"id": id, "function": {"index": 0, "name": "f", "arguments": {"a": "é"}}});
    let calls = json!({"message": {"content": "", "tool_calls": [call(json!("call_1")), call(Value::Null)]}});
    let again = json!({"message": {"content": "", "tool_calls": [call(json!("call_1"))]}, "done": false});
    [
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
    .concat()
    .into_bytes()
}

fn rich_events() -> Told {
    let call = |id: &str| Call { id: id.into(), name: "f".into(), arguments: "{\"a\":\"é\"}".into() };
    let thoughts = PrivatePart { provider: "ollama".into(), data: json!({"thinking": "hm, é"}) };
    vec![
        Ok(Event::TextDelta("На здоровье ".into())),
        Ok(Event::TextDelta("👩‍👧!".into())),
        Ok(Event::ToolCall(call("call_1"))),
        Ok(Event::ToolCall(call("made"))),
        Ok(Event::Private(thoughts)),
        Ok(Event::Completed { finish: Finish::Stop, usage: Some(Usage { input: 9, cached: 0, output: 3 }) }),
    ]
}

/// The events with `made` in place of ids that were made up.
fn known(events: Told) -> Told {
    let mut events = events;
    for event in &mut events {
        if let Ok(Event::ToolCall(call)) = event
            && call.id.len() == 31
        {
            call.id = "made".into();
        }
    }
    events
}

/// Asks with each position as the model's name, several at a time.
async fn ask_at_each(server: &Server, positions: usize) -> Vec<(usize, Told)> {
    let provider = provider(&server.base_url);
    let calls = (0..=positions).map(|at| {
        let answer = provider.stream(request(&at.to_string()));
        async move { (at, known(answer.collect().await)) }
    });
    stream::iter(calls).buffer_unordered(8).collect().await
}

fn position(body: &Value) -> usize {
    body["model"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_whole_answer() {
    let server = replying(lines(vec![rich_stream()])).await;
    let provider = Ollama::new(HTTP.clone(), &server.base_url, Some("".into()), MINUTE, MINUTE);
    assert_eq!(known(ask(&provider).await), rich_events());
    assert_eq!(known(ask(&provider).await), rich_events());
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
async fn a_stream_cut_in_two_anywhere_tells_the_same() {
    let whole = rich_stream();
    let length = whole.len();
    let server = chatting(move |body| {
        let (start, end) = whole.split_at(position(body));
        lines(vec![start.to_vec(), end.to_vec()])
    })
    .await;
    for (at, events) in ask_at_each(&server, length).await {
        assert_eq!(events, rich_events(), "cut at byte {at} of {length}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_tells_what_came_and_how_it_ended() {
    let whole = rich_stream();
    let length = whole.len();
    let sent = whole.clone();
    let server = chatting(move |body| lines(vec![sent[..position(body)].to_vec()])).await;
    for (at, mut events) in ask_at_each(&server, length).await {
        let case = format!("ended at byte {at} of {length}: {events:?}");
        let tail = whole[..at].rsplit(|byte| *byte == b'\n').next().unwrap().trim_ascii();
        let is_broken = !tail.is_empty() && serde_json::from_slice::<Value>(tail).is_err();
        let has_text = matches!(events.first(), Some(Ok(Event::TextDelta(_))));
        match events.pop() {
            // The last line needs no end.
            Some(Ok(Event::Completed { finish: Finish::Stop, .. })) => assert!(at + 1 >= length, "{case}"),
            Some(Ok(Event::Completed { finish: Finish::Length, usage: None })) => {
                assert!(has_text && !is_broken && at + 1 < length, "{case}");
            }
            Some(Err(ProviderError::Cut(_))) => assert!(is_broken || !has_text, "{case}"),
            _ => panic!("{case}"),
        }
        events.retain(|event| !matches!(event, Ok(Event::Private(_))));
        assert_eq!(events, rich_events()[..events.len()], "{case}");
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
            let server = replying(lines(pieces)).await;
            ask(&provider(&server.base_url)).await
        });
        prop_assert_eq!(known(events), rich_events());
    }
}

#[tokio::test]
async fn refusals_keep_their_meaning() {
    let error = |told: &str| json!({"error": told});
    let missing = "model 'm' not found";
    let too_long = "request (9000 tokens) exceeds the available context size (8192 tokens)";
    let cases = [
        ("401 Unauthorized", error("unauthorized"), ProviderError::Unauthorized("unauthorized".into())),
        (
            "404 Not Found",
            error(missing),
            ProviderError::UnknownModel(format!("{missing}; `ollama pull m` fetches it")),
        ),
        (
            "429 Too Many Requests\r\nretry-after: 3600",
            error("m"),
            ProviderError::RateLimited { retry_after: Some(MINUTE * 60), message: "m".into() },
        ),
        ("400 Bad Request", error(too_long), ProviderError::TooLong(too_long.into())),
        ("400 Bad Request", error("invalid options"), ProviderError::Refused("invalid options".into())),
        ("500 Internal Server Error", error("m"), ProviderError::Unavailable("m".into())),
        ("503 Service Unavailable", error("server busy"), ProviderError::Unavailable("server busy".into())),
    ];
    for (head, body, expected) in cases {
        let server = replying(plain(head, &body)).await;
        assert_eq!(ask(&provider(&server.base_url)).await, [Err(expected)], "{head}");
        assert_eq!(chats(&server).len(), 1, "{head}: it was sent once");
    }
    let page = Reply::plain("404 Not Found\r\ncontent-type: text/plain", "404 page not found");
    let html = Reply::plain("200 OK\r\ncontent-type: text/html; charset=utf-8", "<html></html>");
    for reply in [page, html] {
        let server = Server::replying(reply).await;
        let events = ask(&provider(&server.base_url)).await;
        let [Err(ProviderError::Refused(advice))] = events.as_slice() else { panic!("{events:?}") };
        assert!(advice.contains("base URL"), "{advice}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_not_sent_anything() {
    let server = Server::replying(plain("404 Not Found", &json!({"error": "model 'm' not found"}))).await;
    let told = "model 'm' not found; `ollama pull m` fetches it";
    let provider = provider(&server.base_url);
    for asked in 1..=2 {
        assert_eq!(ask(&provider).await, [Err(ProviderError::UnknownModel(told.into()))]);
        assert_eq!(server.heard.lock().unwrap().len(), asked, "it may come back");
    }
    assert_eq!(chats(&server).len(), 0);
}

#[tokio::test]
async fn a_model_that_goes_is_asked_about_anew() {
    let server = Server::start(|body| match is_chat(body) {
        true => plain("404 Not Found", &json!({"error": "model 'm' not found"})),
        false => plain("200 OK", &shown()),
    })
    .await;
    let provider = provider(&server.base_url);
    ask(&provider).await;
    assert!(!provider.capabilities("m").vision, "what was told holds no more");
    ask(&provider).await;
    assert_eq!(server.heard.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_server_that_tells_nothing_still_answers() {
    for head in ["404 Not Found", "405 Method Not Allowed", "400 Bad Request"] {
        let server = Server::start(move |body| match is_chat(body) {
            true => lines(vec![[says("a"), done()].concat().into()]),
            false => Reply::plain(head, "no such thing"),
        })
        .await;
        let events = ask(&provider(&server.base_url)).await;
        assert_eq!((&events[0], events.len()), (&Ok(Event::TextDelta("a".into())), 2), "{head}");
        let body = &chats(&server)[0];
        assert_eq!((&body["options"], body.get("think")), (&json!({"num_ctx": 4096}), None), "{head}");
    }
}

#[tokio::test]
async fn refused_tools_are_left_out_and_stay_out() {
    let refusal = json!({"error": "registry.ollama.ai/library/m:latest does not support tools"});
    let server = Server::start(move |body| match (is_chat(body), body["tools"].is_array()) {
        (true, true) => plain("400 Bad Request", &refusal),
        (true, false) => lines(vec![[says("a"), done()].concat().into()]),
        // An old server: it does not tell what a model can do.
        (false, _) => plain("200 OK", &json!({"model_info": {}})),
    })
    .await;
    let provider = provider(&server.base_url);
    assert!(provider.capabilities("m").tools);
    for (asked, chats_so_far) in [(1, 2), (2, 3)] {
        let events: Told = provider.stream(with_tools("m")).collect().await;
        assert_eq!((&events[0], events.len()), (&Ok(Event::TextDelta("a".into())), 2), "{asked}");
        assert_eq!(chats(&server).len(), chats_so_far);
        assert!(!provider.capabilities("m:latest").tools);
    }
    let sent: Vec<bool> = chats(&server).iter().map(|body| body["tools"].is_array()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_refusal_of_tools_that_were_not_sent_is_an_error() {
    let server = replying(plain("400 Bad Request", &json!({"error": "m does not support tools"}))).await;
    let expected = ProviderError::Refused("m does not support tools".into());
    assert_eq!(ask(&provider(&server.base_url)).await, [Err(expected.clone())]);
    assert_eq!(chats(&server).len(), 1);
    let events: Told = provider(&server.base_url).stream(with_tools("m")).collect().await;
    assert_eq!(events, [Err(expected)]);
    assert_eq!(chats(&server).len(), 3, "it was sent again once");
}

#[tokio::test]
async fn what_a_model_cannot_do_is_left_out() {
    let told = json!({"model_info": {}, "capabilities": ["completion"]});
    let server = Server::start(move |body| match is_chat(body) {
        true => lines(vec![done().into()]),
        false => plain("200 OK", &told),
    })
    .await;
    let image = Image { mime_type: "image/png".into(), base64: "aGk=".into() };
    let items = vec![Item::User { text: "Look".into(), images: vec![image] }];
    let provider = provider(&server.base_url);
    let events: Told = provider.stream(Request { items, ..with_tools("llava") }).collect().await;
    assert_eq!(events.len(), 1, "{events:?}");
    let body = &chats(&server)[0];
    assert_eq!((body.get("tools"), body.get("think")), (None, None));
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "Look"}));
}

#[tokio::test]
async fn the_context_fits_the_request_or_nothing_is_sent() {
    let server = replying(lines(vec![done().into()])).await;
    let provider = provider(&server.base_url);
    let asked = |words: usize| {
        let items = vec![Item::user("word ".repeat(words))];
        provider.stream(Request { items, ..request("m") }).collect::<Told>()
    };
    // The thoughts have room too; what was needed is kept for a while.
    for (words, context) in [(10, 8192), (2000, 16384), (10, 16384), (20_000, 32768)] {
        assert_eq!(asked(words).await.len(), 1);
        assert_eq!(chats(&server).last().unwrap()["options"]["num_ctx"], context, "{words} words");
    }
    let events = asked(40_000).await;
    assert!(matches!(events.as_slice(), [Err(ProviderError::TooLong(_))]), "{events:?}");
    assert_eq!(chats(&server).len(), 4);
}

#[tokio::test]
async fn the_models_that_answer_are_listed_and_known() {
    let details = json!({"family": "x", "context_length": 2048});
    let new = json!({"name": "new:1b", "details": details, "capabilities": ["completion", "vision"]});
    let embeds = json!({"name": "embeds:latest", "details": details, "capabilities": ["embedding"]});
    let old = |name: &str| json!({"name": name, "details": {"family": "x"}});
    let tags = json!({"models": [new, embeds, old("old:latest"), {"model": "broken:latest"}, {"size": 3}]});
    let server = Server::start(move |body| match body["model"].as_str() {
        None => plain("200 OK", &tags),
        Some("old:latest") => plain("200 OK", &shown()),
        Some(_) => plain("500 Internal Server Error", &json!({"error": "no such file"})),
    })
    .await;
    let provider = provider(&server.base_url);
    assert_eq!(
        provider.models().await,
        Ok(vec!["new:1b".into(), "old:latest".into(), "broken:latest".into()])
    );
    let can = |model: &str| {
        let can = provider.capabilities(model);
        (can.context_window, can.tools, can.vision)
    };
    assert_eq!(can("new:1b"), (2048, false, true));
    assert_eq!(can("old"), (32768, true, true));
    assert_eq!(can("broken"), (8192, true, false));
    let heads: Vec<String> = server.heard.lock().unwrap().iter().map(|heard| heard.head.clone()).collect();
    assert!(heads[0].starts_with("get /v1/api/tags http/1.1\r\n"), "{}", heads[0]);
    assert_eq!(heads.len(), 3);
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_an_error() {
    let cases = [
        (plain("401 Unauthorized", &json!({"error": "no"})), "unauthorized"),
        (Reply::plain("404 Not Found", "404 page not found"), "refused"),
        (Reply::plain("200 OK", "Ollama is running"), "refused"),
        (Reply { head: String::new(), end: End::Hang, ..lines(Vec::new()) }, "stalled"),
    ];
    for (reply, label) in cases {
        let server = Server::replying(reply).await;
        let limit = Duration::from_millis(300);
        let provider = Ollama::new(HTTP.clone(), &server.base_url, None, limit, MINUTE);
        assert_eq!(provider.models().await.unwrap_err().label(), label);
    }
    let server = Server::replying(plain("200 OK", &json!({"models": null}))).await;
    assert_eq!(provider(&server.base_url).models().await, Ok(Vec::new()));
}

#[tokio::test]
async fn failures_amid_an_answer_come_after_what_was_said() {
    let error = |told: &str| {
        let lines = [says("a"), line(&json!({"error": told})), says("never"), done()];
        lines.concat().into_bytes()
    };
    let too_long = "the input length exceeds the context length";
    let cases = [
        (lines(vec![error("runner stopped")]), ProviderError::Unavailable("runner stopped".into())),
        (lines(vec![error(too_long)]), ProviderError::TooLong(too_long.into())),
        (
            Reply { end: End::Break, ..lines(vec![says("a").into()]) },
            ProviderError::Cut("the connection broke".into()),
        ),
        (
            lines(vec![[says("a").as_str(), "{\"message\":{\"con"].concat().into()]),
            ProviderError::Cut("the answer ended within a line".into()),
        ),
    ];
    for (reply, expected) in cases {
        let server = replying(reply).await;
        let events = ask(&provider(&server.base_url)).await;
        assert_eq!(events, [Ok(Event::TextDelta("a".into())), Err(expected)]);
    }
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let body = [says("a"), done(), says("b"), done()].concat();
    let server = replying(Reply { end: End::Hang, ..lines(vec![body.into()]) }).await;
    let events = timeout(Duration::from_secs(5), ask(&provider(&server.base_url))).await.unwrap();
    assert_eq!(events.len(), 2, "{events:?}");
}

#[tokio::test]
async fn what_cannot_be_sent_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_port = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let cases = [
        (closed_port.as_str(), KEY, "unavailable", "is Ollama running there?"),
        ("not a url", KEY, "refused", "base URL"),
        ("http://127.0.0.1:9", "with\nnewline", "unauthorized", "copy it again"),
    ];
    for (base_url, key, label, hint) in cases {
        let provider = Ollama::new(HTTP.clone(), base_url, Some(key.into()), MINUTE, MINUTE);
        let events = ask(&provider).await;
        let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
        for error in [error, &provider.models().await.unwrap_err()] {
            let told = error.to_string();
            assert!(error.label() == label && told.contains(hint) && !told.contains("127.0.0.1"), "{told}");
        }
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let silent = Reply { head: String::new(), end: End::Hang, ..lines(Vec::new()) };
    let open = Reply { end: End::Hang, ..lines(vec![says("a").into()]) };
    for reply in [silent, open] {
        let mut server = replying(reply).await;
        let mut answer = provider(&server.base_url).stream(request("m"));
        drop(timeout(Duration::from_millis(500), answer.next()).await);
        assert_eq!(chats(&server).len(), 1);
        assert!(server.closed.try_recv().is_err(), "it was still open");
        drop(answer);
        assert_eq!(timeout(Duration::from_secs(5), server.closed.recv()).await, Ok(Some(())));
    }
}

#[tokio::test]
async fn silence_is_a_stall_once_the_answer_has_begun_and_loading_is_not() {
    let (idle, load) = (Duration::from_millis(300), Duration::from_millis(1200));
    let patient = |server: &Server| Ollama::new(HTTP.clone(), &server.base_url, None, idle, load);
    let silent = || Reply { head: String::new(), end: End::Hang, ..lines(Vec::new()) };
    let server = replying(silent()).await;
    let begun = Instant::now();
    assert_eq!(ask(&patient(&server)).await, [Err(ProviderError::Stalled(load))]);
    assert!(begun.elapsed() >= load);

    // It loads a model only once it was asked for an answer.
    let server = Server::replying(silent()).await;
    assert_eq!(ask(&patient(&server)).await, [Err(ProviderError::Stalled(idle))]);

    let stuck = Reply { end: End::Hang, ..lines(vec![says("a").into()]) };
    let server = replying(stuck).await;
    let said = || Ok(Event::TextDelta("a".into()));
    assert_eq!(ask(&patient(&server)).await, [said(), Err(ProviderError::Stalled(idle))]);

    let thinks = line(&json!({"message": {"content": "", "thinking": "h"}, "done": false}));
    let mut pieces = vec![thinks.into_bytes(); 8];
    pieces.push([says("a"), done()].concat().into());
    let server = replying(Reply { pause: Duration::from_millis(100), ..lines(pieces) }).await;
    let events = ask(&patient(&server)).await;
    assert_eq!((&events[0], events.len()), (&said(), 2), "{events:?}");
}

#[tokio::test]
async fn a_key_is_sent_and_never_shown() {
    let echo = json!({"error": format!("wrong key {KEY}")});
    let server = Server::replying(plain("401 Unauthorized", &echo)).await;
    let provider = Ollama::new(HTTP.clone(), &server.base_url, Some(KEY.into()), MINUTE, MINUTE);
    let expected = ProviderError::Unauthorized("wrong key [secret]".into());
    assert_eq!(ask(&provider).await, [Err(expected.clone())]);
    assert_eq!(provider.models().await, Err(expected));
    let heard = server.heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    assert!(heard.iter().all(|heard| heard.head.contains(&format!("authorization: bearer {KEY}"))));
    assert!(!format!("{provider:?}").contains(KEY));
}
