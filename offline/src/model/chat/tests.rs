//! Chat Completions over raw HTTP: what is streamed, refused, and understood.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::request::Picture;
use super::super::tests::{Bed, changed, datas, read};
use super::super::{ModelReply, ReplyPart, ReplyScript};

fn body() -> Value {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
    json!({
        "model": "offline", "stream": true, "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}},
                {"id": "c2", "type": "function", "function": {"name": "t", "arguments": "{\"a\":\"b\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "c2", "content": "two"},
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
        ],
    })
}

async fn send(bed: &Bed, body: &Value) -> reqwest::Response {
    let url = format!("{}/chat/completions", bed.model.url());
    bed.http.post(url).bearer_auth("key").json(body).send().await.unwrap()
}

async fn chunks(bed: &Bed, body: &Value) -> Vec<Value> {
    let response = send(bed, body).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    let (text, end) = read(response).await;
    assert_eq!(end, "whole");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    datas(&text)
}

/// The deltas of a stream, and why it ended.
fn told(chunks: &[Value]) -> (Vec<Value>, Value) {
    let choices: Vec<&Value> = chunks.iter().map(|c| &c["choices"][0]).filter(|c| c.is_object()).collect();
    let deltas = choices.iter().map(|c| c["delta"].clone()).filter(|d| d != &json!({})).collect();
    (deltas, choices.last().unwrap()["finish_reason"].clone())
}

#[tokio::test]
async fn text_and_calls_are_streamed_in_fragments() {
    let call = |arguments: Value| ReplyPart::Call { name: "t".to_owned(), arguments };
    let parts = vec![
        ReplyPart::Thought("hm".to_owned()),
        ReplyPart::Text("Hello there".to_owned()),
        call(json!({"a": "a long text"})),
        call(json!("{oops")),
    ];
    let bed =
        Bed::new(ReplyScript::new().then(ModelReply::turn(parts).paced(6, Duration::ZERO).usage(10, 3)))
            .await;
    let chunks = chunks(&bed, &body()).await;
    let fragment =
        |at: u64, text: &str| json!({"tool_calls": [{"index": at, "function": {"arguments": text}}]});
    let begun = |at: u64| {
        let function = json!({"name": "t", "arguments": ""});
        let id = format!("call_offline_1_{at}");
        json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": function}]})
    };
    let wanted = vec![
        json!({"role": "assistant", "content": ""}),
        json!({"reasoning": "hm"}),
        json!({"content": "Hello "}),
        json!({"content": "there"}),
        begun(0),
        fragment(0, "{\"a\":\"a long tex"),
        fragment(0, "t\"}"),
        begun(1),
        fragment(1, "{oops"),
    ];
    assert_eq!(told(&chunks), (wanted, json!("tool_calls")));
    let first = json!({
        "id": "chatcmpl-offline-1", "object": "chat.completion.chunk", "created": 1_772_366_400, "model": "offline",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}],
        "usage": null,
    });
    assert_eq!(chunks[0], first);
    let last = chunks.last().unwrap();
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(13)));
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn an_answer_ends_in_many_ways() {
    let one = || ModelReply::text("one");
    let searching = changed(body(), "/web_search_options", json!({}));
    let cited = json!([{
        "type": "url_citation",
        "url_citation": {"start_index": 0, "end_index": 0, "title": "T", "url": "https://t.example"},
    }]);
    let cases = [
        (one(), body(), json!({"content": "one"}), "stop"),
        (one().cut_by_length(), body(), json!({"content": "one"}), "length"),
        (one().blocked("SAFETY"), body(), json!({"content": "one"}), "content_filter"),
        (ModelReply::refusal("no"), body(), json!({"refusal": "no"}), "stop"),
        (one().sources(&[("T", "https://t.example")]), body(), json!({"content": "one"}), "stop"),
        (one().sources(&[("T", "https://t.example")]), searching, json!({"annotations": cited}), "stop"),
    ];
    let script = ReplyScript::new();
    let bed = Bed::new(script.clone()).await;
    for (reply, body, wanted, finish) in cases {
        script.push(reply);
        let (deltas, told) = told(&chunks(&bed, &body).await);
        assert_eq!((deltas.last(), told), (Some(&wanted), json!(finish)));
    }
    script.push(one().without_usage());
    assert!(chunks(&bed, &body()).await.iter().all(|chunk| chunk["usage"].is_null()));
    script.push(one());
    let uncounted = chunks(&bed, &changed(body(), "/stream_options", Value::Null)).await;
    assert!(uncounted.iter().all(|chunk| chunk.get("usage").is_none()));
    bed.end().await;
}

#[tokio::test]
async fn faults_have_the_shape_of_the_dialect() {
    let speech = || ModelReply::text("one two three").paced(0, Duration::ZERO);
    let script = ReplyScript::new()
        .then(ModelReply::status(429, "slow down").retry_after(7))
        .then(speech().break_after(1))
        .then(speech().hang_after(1))
        .then(speech().fail_after(1, "It broke."));
    let bed = Bed::new(script).await;
    let limited = send(&bed, &body()).await;
    assert_eq!((limited.status().as_u16(), limited.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    let error = json!({"message": "slow down", "type": "rate_limit_error", "param": null, "code": null});
    assert_eq!(limited.json::<Value>().await.unwrap(), json!({"error": error}));
    for wanted in ["broken", "hangs", "whole"] {
        let (text, end) = read(send(&bed, &body()).await).await;
        let chunks = datas(&text);
        assert_eq!((end, &chunks[1]["choices"][0]["delta"]), (wanted, &json!({"content": "one "})));
        let error =
            json!({"error": {"message": "It broke.", "type": "server_error", "param": null, "code": null}});
        assert_eq!(chunks.get(2), (wanted == "whole").then_some(&error), "{wanted}");
    }
    bed.end().await;
}

#[tokio::test]
async fn each_violation_is_told_and_kept() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
    let named = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}});
    let user = json!({"role": "user", "content": "x"});
    let image = "/messages/1/content/1";
    let cases = [
        ("/model", json!(""), "you must provide a model"),
        ("/stream", json!(false), "stream must be true"),
        ("/stream_options", json!({"x": true}), "Invalid 'stream_options'"),
        ("/repeat_penalty", json!(1.1), "Unrecognized request argument supplied: repeat_penalty"),
        ("/temperature", json!(3), "temperature must be a number between 0 and 2"),
        ("/presence_penalty", json!(-3), "presence_penalty must be a number between -2 and 2"),
        ("/max_tokens", json!(0), "max_tokens must be a whole number of at least 1"),
        ("/messages", json!([]), "[] is too short - 'messages'"),
        ("/messages/1/role", json!("robot"), "Invalid 'messages[1]': role must be one of"),
        ("/messages/1/content", json!(""), "Invalid 'messages[1]': content must be text"),
        ("/messages/1/foo", json!(1), "('foo' was unexpected)"),
        ("/messages/0/content", json!([{"type": "image_url"}]), "not for this role"),
        ("/messages/1/content/1/image_url/url", json!("https://example.com/a.png"), "must be a data URL"),
        ("/messages/1/content/1/image_url/url", json!("data:image/tiff;base64,AAAA"), "Invalid image data"),
        ("/messages/1/content/1/image_url/url", json!("data:image/png;base64,A"), "Invalid image data"),
        (image, json!({"type": "input_image", "image_url": "x"}), "a part of type 'input_image' is unknown"),
        ("/model", json!("offline-text"), "Images are not supported by the model 'offline-text'"),
        ("/messages/2/tool_calls", json!([]), "[] is too short - 'tool_calls'"),
        ("/messages/2", json!({"role": "assistant", "content": null}), "has content or tool_calls"),
        ("/messages/2/tool_calls/0/id", json!(""), "a tool call has an id"),
        ("/messages/2/tool_calls/0/function/arguments", json!({}), "arguments must be a JSON object written"),
        ("/messages/2/tool_calls/1", call("c1"), "the tool call id c1 is used twice"),
        ("/messages/2/tool_calls/-", call("c3"), "did not have response messages: c3"),
        ("/messages/3", user.clone(), "did not have response messages: c1"),
        ("/messages/3/tool_call_id", json!("c9"), "must be a response to a preceding message"),
        ("/messages/-", json!({"role": "system", "content": "x"}), "System message must be at the beginning"),
        ("/messages/-", json!({"role": "assistant", "content": "x"}), "Expected last role User or Tool"),
        ("/tools", json!([]), "[] is too short - 'tools'"),
        ("/tools/-", named("t"), "the name t is used twice"),
        ("/tools/-", named("a b"), "1 to 64"),
        ("/tools/0/name", json!("t"), "Unknown parameter: 'tools[0].name'"),
        ("/tools/0/function/parameters/properties/a", json!({"type": "array"}), "array schema missing items"),
        ("/tools/0/function/parameters/properties/a", json!({"$ref": "#/$defs/x"}), "leads nowhere"),
        ("/response_format", json!({"type": "json_object"}), "must contain the word 'json'"),
        ("/response_format", json!({"type": "json_schema", "json_schema": {"schema": {}}}), "needs a name"),
    ];
    let count = cases.len();
    for (pointer, value, wanted) in cases {
        let response = send(&bed, &changed(body(), pointer, value)).await;
        assert_eq!(response.status(), 400, "{pointer} {wanted}");
        let error = response.json::<Value>().await.unwrap()["error"].clone();
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(wanted), "{pointer} {wanted}: {told}");
        assert_eq!(error["type"], "invalid_request_error");
    }
    let needless = json!({"model": "m", "stream": true, "messages": [user], "parallel_tool_calls": true});
    assert_eq!(send(&bed, &needless).await.status(), 400);
    let url = format!("{}/chat/completions", bed.model.url());
    assert_eq!(bed.http.post(url).json(&body()).send().await.unwrap().status(), 401);
    assert_eq!(bed.model.violations().len(), count + 2);
    bed.end().await;
}

#[tokio::test]
async fn reasoning_goes_back_only_where_it_is_wanted_and_then_with_every_call() {
    let thought = ModelReply::turn(vec![ReplyPart::Thought("hm".to_owned())]);
    let bed = Bed::new(ReplyScript::new().otherwise(thought)).await;
    let body = changed(body(), "/messages/1/content", json!("x"));
    let other = changed(body.clone(), "/messages/2/reasoning_content", json!("hm"));
    let asked = changed(other.clone(), "/model", json!("deepseek-reasoner"));
    let (deltas, _) = told(&chunks(&bed, &asked).await);
    assert_eq!(deltas[1], json!({"reasoning_content": "hm"}));
    let calls = body["messages"][2]["tool_calls"].clone();
    let calls = changed(json!({"a": calls}), "/a/0/id", json!("c3"));
    let calls = changed(calls, "/a/1/id", json!("c4"))["a"].clone();
    let more =
        changed(asked, "/messages/-", json!({"role": "assistant", "content": null, "tool_calls": calls}));
    let more = changed(more, "/messages/-", json!({"role": "tool", "tool_call_id": "c3", "content": "x"}));
    let more = changed(more, "/messages/-", json!({"role": "tool", "tool_call_id": "c4", "content": "x"}));
    for (body, wanted) in [(other, "('reasoning_content' was unexpected)"), (more, "at message index 5")] {
        let response = send(&bed, &body).await;
        assert_eq!(response.status(), 400, "{wanted}");
        let error = response.json::<Value>().await.unwrap();
        assert!(error["error"]["message"].as_str().unwrap().contains(wanted), "{wanted}: {error}");
    }
    bed.end().await;
}

#[tokio::test]
async fn a_request_is_understood_like_any_other() {
    let bed = Bed::new(ReplyScript::new().when("look", ModelReply::text("ok"))).await;
    chunks(&bed, &body()).await;
    let requests = bed.model.requests();
    let request = &requests[0];
    assert_eq!((request.model(), request.instructions()), ("offline", "Be brief."));
    assert_eq!(request.user_text(), "look");
    assert_eq!(request.pictures(), [Picture { mime_type: "image/png", base64: "AAAA" }]);
    assert_eq!(request.tool_names(), ["t"]);
    assert_eq!(request.tool_results(), [("t", "two".to_owned()), ("t", "one".to_owned())]);
    assert_eq!((request.offers_search(), request.wants_json()), (false, false));
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}
