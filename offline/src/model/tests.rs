//! The offline model, tested through its door in the dialect of the Responses API: streams, violations, faults, the
//! show. The other dialects have tests of their own, which stand on the same bed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_openai::types::responses::ResponseStreamEvent;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Brain, DemoModel, Gate, ModelReply, OfflineModel, ReplyPart, ReplyScript};
use crate::Runtime;

/// A running offline model, and a way to speak to it.
pub(super) struct Bed {
    pub(super) model: OfflineModel,
    runtime: Runtime,
    pub(super) http: reqwest::Client,
}

impl Bed {
    pub(super) async fn new(brain: impl Brain + 'static) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10)).build().unwrap();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let runtime = Runtime::new(move || now);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = OfflineModel::start(listener, Arc::new(brain), &runtime).unwrap();
        Self { model, runtime, http }
    }

    fn post(&self, body: &Value) -> reqwest::RequestBuilder {
        self.http.post(format!("{}/responses", self.model.url())).bearer_auth("key").json(body)
    }

    /// The events of an answer; each must be one the OpenAI client library reads.
    async fn ask(&self, body: &Value) -> Vec<Value> {
        let response = self.post(body).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        let text = response.text().await.unwrap();
        let event = |block: &str| {
            let (name, data) = block.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
            serde_json::from_value::<ResponseStreamEvent>(data.clone()).unwrap();
            data
        };
        text.split_terminator("\n\n").map(event).collect()
    }

    pub(super) async fn end(self) {
        self.runtime.stop();
        assert!(self.runtime.finish(Duration::from_secs(5)).await, "the server still runs");
    }
}

/// The body with another value at this place.
pub(super) fn changed(mut body: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Array(items) if name == "-" => items.push(value),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        object => object[name] = value,
    }
    body
}

/// What the events of a stream hold, the last of which may be `[DONE]`.
pub(super) fn datas(stream: &str) -> Vec<Value> {
    let lines = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Reads an answer until it ends, breaks or hangs.
pub(super) async fn read(mut response: reqwest::Response) -> (String, &'static str) {
    let mut received = Vec::new();
    let end = loop {
        match tokio::time::timeout(Duration::from_millis(300), response.chunk()).await {
            Ok(Ok(Some(bytes))) => received.extend_from_slice(&bytes),
            Ok(Ok(None)) => break "whole",
            Ok(Err(_)) => break "broken",
            Err(_) => break "hangs",
        }
    };
    (String::from_utf8(received).unwrap(), end)
}

fn body(text: &str) -> Value {
    let tool = |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}});
    let tools = ["sendPoll", "list_notes"].map(tool);
    let input = json!([{"role": "user", "content": text}]);
    json!({"model": "m", "instructions": "i", "stream": true, "store": false, "tools": tools, "input": input})
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|e| e["type"].as_str()).collect()
}

#[tokio::test]
async fn text_and_calls_are_streamed_in_the_shapes_of_the_api() {
    let call = ReplyPart::Call { name: "sendPoll".to_owned(), arguments: json!({"chat_id": 5}) };
    let reply = ModelReply::turn(vec![ReplyPart::Text("Hello there".to_owned()), call])
        .paced(6, Duration::ZERO)
        .usage(10, 3);
    let bed = Bed::new(ReplyScript::new().then(reply)).await;
    let events = bed.ask(&body("hi")).await;
    let wanted = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds(&events), wanted);
    let numbers: Vec<u64> = events.iter().filter_map(|e| e["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..14).collect::<Vec<_>>());
    assert_eq!((&events[4]["delta"], &events[5]["delta"]), (&json!("Hello "), &json!("there")));
    let response = &events[13]["response"];
    let wanted = json!({
        "id": "fc_offline_1_1", "type": "function_call", "status": "completed",
        "arguments": "{\"chat_id\":5}", "call_id": "call_offline_1_1", "name": "sendPoll",
    });
    assert_eq!(response["output"][1], wanted);
    assert_eq!(response["output"][0]["content"][0]["text"], "Hello there");
    assert_eq!((&response["usage"]["total_tokens"], &response["status"]), (&json!(13), &json!("completed")));
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn violations_are_refused_and_kept() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    let mut stored = body("hi");
    stored["store"] = json!(true);
    let response = bed.post(&stored).send().await.unwrap();
    assert_eq!(response.status(), 400);
    let error: Value = response.json().await.unwrap();
    assert_eq!(error["error"]["type"], "invalid_request_error");
    let url = format!("{}/responses", bed.model.url());
    let keyless = bed.http.post(&url).json(&body("hi")).send().await.unwrap();
    assert_eq!(keyless.status(), 401);
    let broken = bed.http.post(&url).bearer_auth("key").body("{").send().await.unwrap();
    assert_eq!(broken.status(), 400);
    let violations = bed.model.violations();
    let starts = ["store must be false", "You didn't provide an API key", "could not parse the JSON"];
    assert!(violations.iter().zip(starts).all(|(v, start)| v.starts_with(start)), "{violations:?}");
    assert_eq!((violations.len(), bed.model.requests().len()), (3, 3));
    let models = bed.http.get(format!("{}/models", bed.model.url())).bearer_auth("key").send().await.unwrap();
    assert_eq!(models.json::<Value>().await.unwrap()["data"][0]["id"], "offline");
    bed.end().await;
}

#[tokio::test]
async fn faults_happen_as_scripted() {
    let script = ReplyScript::new()
        .then(ModelReply::status(429, "slow down").retry_after(2))
        .then(ModelReply::empty())
        .then(ModelReply::raw("data: {oops\n\n"))
        .then(ModelReply::text("never whole").cut_after(5))
        .then(ModelReply::silence())
        .then(ModelReply::no_headers());
    let bed = Bed::new(script.clone()).await;
    let limited = bed.post(&body("x")).send().await.unwrap();
    assert_eq!(limited.status(), 429);
    assert_eq!(limited.headers()["retry-after"], "2");
    assert_eq!(limited.json::<Value>().await.unwrap()["error"]["message"], "slow down");
    let empty = bed.ask(&body("x")).await;
    assert_eq!(kinds(&empty), ["response.created", "response.in_progress", "response.completed"]);
    assert_eq!(bed.post(&body("x")).send().await.unwrap().text().await.unwrap(), "data: {oops\n\n");
    let mut cut = bed.post(&body("x")).send().await.unwrap();
    let mut received = String::new();
    let error = loop {
        match cut.chunk().await {
            Ok(Some(bytes)) => received += std::str::from_utf8(&bytes).unwrap(),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(error.is_some(), "the stream ended well");
    assert_eq!(received.matches("event: ").count(), 5);
    let mut silent = bed.post(&body("x")).send().await.unwrap();
    assert_eq!(silent.status(), 200);
    assert!(tokio::time::timeout(Duration::from_millis(50), silent.chunk()).await.is_err());
    let hung = bed.post(&body("x")).timeout(Duration::from_millis(50)).send().await;
    assert!(hung.unwrap_err().is_timeout());
    assert_eq!(script.left(), 0);
    let over = bed.post(&body("x")).send().await.unwrap();
    assert_eq!(over.status(), 500);
    bed.end().await;
}

#[tokio::test]
async fn an_answer_ends_in_many_ways() {
    let speech = |text: &str| ModelReply::text(text).paced(0, Duration::ZERO);
    let script = ReplyScript::new()
        .then(ModelReply::refusal("I would rather not."))
        .then(speech("Cut short").cut_by_length())
        .then(ModelReply::empty().blocked("SAFETY"))
        .then(ModelReply::text("Free").without_usage());
    let bed = Bed::new(script).await;
    let last = |events: &[Value]| events.last().unwrap().clone();
    let refused = bed.ask(&body("x")).await;
    assert_eq!(kinds(&refused)[4], "response.refusal.delta");
    let said = last(&refused)["response"]["output"][0]["content"].clone();
    assert_eq!(said, json!([{"type": "refusal", "refusal": "I would rather not."}]));
    let cut = last(&bed.ask(&body("x")).await);
    assert_eq!(
        (&cut["type"], &cut["response"]["status"]),
        (&json!("response.incomplete"), &json!("incomplete"))
    );
    assert_eq!(cut["response"]["incomplete_details"]["reason"], "max_output_tokens");
    let blocked = last(&bed.ask(&body("x")).await);
    assert_eq!(blocked["response"]["incomplete_details"]["reason"], "content_filter");
    assert_eq!(last(&bed.ask(&body("x")).await)["response"]["usage"], Value::Null);
    bed.end().await;
}

#[tokio::test]
async fn a_stream_fails_or_hangs_in_the_middle() {
    let speech = || ModelReply::text("one two three").paced(0, Duration::ZERO);
    let bed =
        Bed::new(ReplyScript::new().then(speech().fail_after(1, "It broke.")).then(speech().hang_after(1)))
            .await;
    let failed = bed.ask(&body("x")).await;
    assert_eq!(kinds(&failed)[4..], ["response.output_text.delta", "error", "response.failed"]);
    assert_eq!((&failed[5]["message"], &failed[5]["sequence_number"]), (&json!("It broke."), &json!(5)));
    assert_eq!(failed[6]["response"]["error"], json!({"code": "server_error", "message": "It broke."}));
    let (received, end) = read(bed.post(&body("x")).send().await.unwrap()).await;
    assert_eq!((received.matches("event: ").count(), end), (5, "hangs"));
    bed.end().await;
}

#[tokio::test]
async fn a_search_shows_and_is_cited_where_it_is_offered() {
    let found = ModelReply::text("It rains, says https://rain.example today.")
        .sources(&[("Rain", "https://rain.example")]);
    let bed = Bed::new(ReplyScript::new().otherwise(found)).await;
    let plain = bed.ask(&body("x")).await;
    assert!(!kinds(&plain).iter().any(|kind| kind.contains("search") || kind.contains("annotation")));
    let searching = changed(body("rain?"), "/tools/-", json!({"type": "web_search"}));
    let searching = changed(searching, "/model", json!("gpt-4.1"));
    let events = bed.ask(&searching).await;
    let wanted = [
        "response.output_item.added",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
        "response.web_search_call.completed",
        "response.output_item.done",
    ];
    assert_eq!(kinds(&events)[2..7], wanted);
    let output = &events.last().unwrap()["response"]["output"];
    let action = json!({"type": "search", "query": "rain?", "queries": ["rain?"]});
    assert_eq!(output[0]["action"], action);
    let citation = json!({
        "type": "url_citation", "start_index": 15, "end_index": 35, "title": "Rain", "url": "https://rain.example",
    });
    assert_eq!(output[1]["content"][0]["annotations"], json!([citation]));
    let added = events.iter().find(|e| e["type"] == "response.output_text.annotation.added").unwrap();
    assert_eq!(added["annotation"], citation);
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn thoughts_are_sealed_and_come_back() {
    let reply =
        ModelReply::turn(vec![ReplyPart::Thought("hm".to_owned()), ReplyPart::Text("Yes.".to_owned())]);
    let bed = Bed::new(ReplyScript::new().otherwise(reply)).await;
    let asked = changed(body("x"), "/model", json!("gpt-5-mini"));
    let asked = changed(asked, "/include", json!(["reasoning.encrypted_content"]));
    let events = bed.ask(&asked).await;
    let output = events.last().unwrap()["response"]["output"].clone();
    let sealed = json!({
        "id": "rs_offline_1_0", "type": "reasoning", "summary": [], "encrypted_content": "sealed-rs_offline_1_0",
    });
    assert_eq!((&output[0], &output[1]["type"]), (&sealed, &json!("message")));
    let mut again = asked.clone();
    let input = again["input"].as_array_mut().unwrap();
    input.extend(output.as_array().unwrap().iter().cloned());
    input.push(json!({"role": "user", "content": "y"}));
    bed.ask(&again).await;
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn a_retired_model_is_gone_without_blame_and_an_unknown_path_is_not() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    bed.model.retire("offline");
    let models = bed.http.get(format!("{}/models", bed.model.url())).bearer_auth("key").send().await.unwrap();
    let models = models.json::<Value>().await.unwrap();
    assert_eq!(
        (models["data"].as_array().unwrap().len(), &models["data"][0]["id"]),
        (1, &json!("offline-text"))
    );
    let response = bed.post(&changed(body("x"), "/model", json!("offline"))).send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["code"], "model_not_found");
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    let nowhere = bed.http.get(format!("{}/nowhere", bed.model.url())).send().await.unwrap();
    assert_eq!(nowhere.status(), 404);
    assert_eq!(bed.model.violations(), ["there is no GET /v1/nowhere"]);
    bed.end().await;
}

#[tokio::test]
async fn replies_are_matched_gated_and_paced() {
    let gate = Gate::new();
    let slow = ModelReply::text("four words in all").paced(0, Duration::from_millis(10));
    let script = ReplyScript::new()
        .then(slow)
        .when("apple", ModelReply::text("pie").behind(&gate))
        .when("apple", ModelReply::text("juice"))
        .when("pear", ModelReply::text("tart"));
    let bed = Bed::new(script).await;
    let said =
        |events: &[Value]| events.last().unwrap()["response"]["output"][0]["content"][0]["text"].clone();
    let apple = body("an apple");
    let (first, ()) = tokio::join!(bed.ask(&apple), async {
        let arrived =
            bed.model.wait_until(Duration::from_secs(5), |requests| requests.first().cloned()).await;
        assert_eq!(arrived.unwrap().user_text(), "an apple");
        assert_eq!(said(&bed.ask(&body("a pear")).await), "tart");
        gate.open();
    });
    assert_eq!(said(&first), "pie");
    assert_eq!(said(&bed.ask(&apple).await), "juice");
    let started = Instant::now();
    let paced = bed.ask(&body("anything")).await;
    assert_eq!(kinds(&paced).iter().filter(|k| **k == "response.output_text.delta").count(), 4);
    assert!(started.elapsed() >= Duration::from_millis(40));
    bed.end().await;
}

#[tokio::test]
async fn the_demo_model_calls_offered_tools_and_concludes() {
    let bed = Bed::new(DemoModel { unescape: str::to_owned, word_pause: Duration::ZERO }).await;
    let mut poll = body("<message chat_id=\"5\" message_id=\"7\">\nmake a poll\n</message>");
    let events = bed.ask(&poll).await;
    let item = events.last().unwrap()["response"]["output"][0].clone();
    assert_eq!((&item["type"], &item["name"]), (&json!("function_call"), &json!("sendPoll")));
    let input = poll["input"].as_array_mut().unwrap();
    let output =
        json!({"type": "function_call_output", "call_id": item["call_id"], "output": "{\"ok\":true}"});
    input.extend([item, output]);
    let events = bed.ask(&poll).await;
    let said = &events.last().unwrap()["response"]["output"][0]["content"][0]["text"];
    assert_eq!(said, "There is the poll.");
    let events = bed.ask(&body("<message chat_id=\"5\" message_id=\"7\">\nsend a photo\n</message>")).await;
    let said = &events.last().unwrap()["response"]["output"][0]["content"][0]["text"];
    assert!(said.as_str().unwrap().contains("a tool for that which is not given to me"), "{said}");
    let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let parts = json!([{"type": "input_text", "text": "look"}, picture]);
    let events = bed.ask(&changed(body("x"), "/input/0/content", parts)).await;
    let said = &events.last().unwrap()["response"]["output"][0]["content"][0]["text"];
    assert!(said.as_str().unwrap().starts_with("I was sent a picture, but"), "{said}");
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn open_streams_do_not_hold_the_end_up() {
    let bed = Bed::new(|_: &super::ModelRequest| ModelReply::silence()).await;
    let open = bed.post(&body("x")).send().await.unwrap();
    bed.end().await;
    drop(open);
}
