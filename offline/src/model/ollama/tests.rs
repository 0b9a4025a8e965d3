//! Ollama's API over raw HTTP: what is streamed, refused, and understood.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::request::Picture;
use super::super::tests::{Bed, changed, read};
use super::super::{ModelReply, ReplyPart, ReplyScript};

/// The first bytes of a PNG.
const PNG: &str = "iVBORw0KGgoA";

fn body() -> Value {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
    let call = |name: &str| json!({"function": {"name": name, "arguments": {"a": "b"}}});
    json!({
        "model": "qwen3-vl:8b", "options": {"num_ctx": 8192, "temperature": 0.5}, "keep_alive": "5m",
        "tools": [{"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "look", "images": [PNG]},
            {"role": "assistant", "content": "", "tool_calls": [call("t"), call("u")]},
            {"role": "tool", "tool_name": "t", "content": "one"},
            {"role": "tool", "tool_name": "u", "content": "two"},
        ],
    })
}

fn plain(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "hi"}]})
}

async fn post(bed: &Bed, path: &str, body: &Value) -> reqwest::Response {
    bed.http.post(format!("{}{path}", bed.model.ollama_url())).json(body).send().await.unwrap()
}

async fn lines(bed: &Bed, body: &Value) -> (Vec<Value>, &'static str) {
    let response = post(bed, "/api/chat", body).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let (text, end) = read(response).await;
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), end)
}

#[tokio::test]
async fn text_comes_in_lines_and_calls_come_whole() {
    let parts = vec![
        ReplyPart::Thought("hm".to_owned()),
        ReplyPart::Text("Hello there".to_owned()),
        ReplyPart::Call { name: "t".to_owned(), arguments: json!({"a": "b"}) },
        ReplyPart::Call { name: "t".to_owned(), arguments: json!({}) },
    ];
    let bed =
        Bed::new(ReplyScript::new().then(ModelReply::turn(parts).paced(6, Duration::ZERO).usage(10, 3)))
            .await;
    let (lines, end) = lines(&bed, &body()).await;
    let line = |message: Value| {
        json!({
            "model": "qwen3-vl:8b", "created_at": "2026-03-01T12:00:00.000000000Z", "message": message, "done": false,
        })
    };
    let call = |at: u64, arguments: Value| {
        let call = json!({
            "id": format!("call_1_{at}"), "function": {"index": at, "name": "t", "arguments": arguments},
        });
        line(json!({"role": "assistant", "content": "", "tool_calls": [call]}))
    };
    let wanted = [
        line(json!({"role": "assistant", "content": "", "thinking": "hm"})),
        line(json!({"role": "assistant", "content": "Hello "})),
        line(json!({"role": "assistant", "content": "there"})),
        call(0, json!({"a": "b"})),
        call(1, json!({})),
    ];
    assert_eq!((&lines[..5], end), (&wanted[..], "whole"));
    let last = json!({
        "model": "qwen3-vl:8b", "created_at": "2026-03-01T12:00:00.000000000Z",
        "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
        "total_duration": 174_560_334, "load_duration": 101_397_084, "prompt_eval_duration": 13_074_791,
        "eval_duration": 52_479_709, "prompt_eval_count": 10, "eval_count": 3,
    });
    assert_eq!(lines[5..], [last]);
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn an_answer_ends_in_many_ways() {
    let speech = || ModelReply::text("one two three").paced(0, Duration::ZERO);
    let script = ReplyScript::new()
        .then(speech().cut_by_length())
        .then(speech().without_usage())
        .then(speech().break_after(1))
        .then(speech().hang_after(1))
        .then(speech().fail_after(1, "It broke."))
        .then(ModelReply::call("t", json!("{oops")))
        .then(ModelReply::status(503, "busy").retry_after(3));
    let bed = Bed::new(script).await;
    let (cut, _) = lines(&bed, &body()).await;
    assert_eq!((&cut[3]["done_reason"], &cut[3]["done"]), (&json!("length"), &json!(true)));
    let (uncounted, _) = lines(&bed, &body()).await;
    assert_eq!((uncounted[3].get("eval_count"), &uncounted[3]["done_reason"]), (None, &json!("stop")));
    for wanted in ["broken", "hangs", "whole"] {
        let (lines, end) = lines(&bed, &body()).await;
        assert_eq!((end, &lines[0]["message"]["content"]), (wanted, &json!("one ")));
        let error = json!({"error": "It broke."});
        assert_eq!(lines.get(1), (wanted == "whole").then_some(&error), "{wanted}");
    }
    let (garbled, _) = lines(&bed, &body()).await;
    assert!(garbled[0]["error"].as_str().unwrap().starts_with("error parsing tool call"), "{garbled:?}");
    let busy = post(&bed, "/api/chat", &body()).await;
    assert_eq!((busy.status().as_u16(), busy.headers()["retry-after"].to_str().unwrap()), (503, "3"));
    assert_eq!(busy.json::<Value>().await.unwrap(), json!({"error": "busy"}));
    bed.end().await;
}

#[tokio::test]
async fn each_violation_is_told_and_kept() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    let call = json!({"function": {"name": "v", "arguments": {}}});
    let schema = "/tools/0/function/parameters";
    let property = "/tools/0/function/parameters/properties/a";
    let cases = [
        ("/max_tokens", json!(5), 400, "'max_tokens' is no field of a chat request"),
        ("/stream", json!(false), 400, "stream must be true"),
        ("/shift", json!("no"), 400, "cannot unmarshal shift"),
        ("/format", json!("xml"), 400, "invalid format"),
        ("/keep_alive", json!("soon"), 400, "invalid duration"),
        ("/options/num_ctx", json!("8192"), 400, "\"num_ctx\" must be of type integer"),
        ("/options/temperature", json!("hot"), 400, "\"temperature\" must be of type float32"),
        ("/options/temperature", json!(3), 400, "temperature must be a number between 0 and 2"),
        ("/options/max_tokens", json!(5), 400, "invalid option provided: max_tokens"),
        ("/options/num_ctx", json!(20), 400, "do not fit into num_ctx 20"),
        ("/think", json!("hard"), 400, "invalid think value"),
        ("/messages", json!([]), 400, "only loaded"),
        ("/messages/1/role", json!("developer"), 400, "messages[1]: invalid role"),
        (
            "/messages/1/content",
            json!([{"type": "text", "text": "x"}]),
            400,
            "Message.content of type string",
        ),
        ("/messages/1/images", json!(["data:image/png;base64,AAAA"]), 400, "illegal base64 data"),
        ("/messages/1/images", json!([]), 400, "images must be a list"),
        ("/messages/1/name", json!("x"), 400, "'name' would be passed over"),
        ("/messages/2/tool_calls/0/function/arguments", json!("{}"), 400, "cannot unmarshal arguments"),
        ("/messages/2/tool_calls/-", call, 400, "the call of v has no result yet"),
        ("/messages/3", json!({"role": "tool", "content": "one"}), 400, "names its tool in tool_name"),
        ("/messages/3/tool_name", json!("u2"), 400, "a result of u2, which was not called before"),
        ("/messages/3", json!({"role": "user", "content": "x"}), 400, "the call of t has no result yet"),
        ("/messages/-", json!({"role": "system", "content": "x"}), 400, "the system message comes first"),
        ("/messages/-", json!({"role": "assistant", "content": "x"}), 400, "the last word is the user's"),
        ("/tools/0/function/strict", json!(true), 400, "'strict' would be passed over"),
        ("/tools/0/function/name", json!("a b"), 400, "1 to 64"),
        (schema, json!({"type": "object"}), 400, "type 'object' and properties"),
        (property, json!(true), 400, "cannot unmarshal true"),
        (property, json!({"type": 5}), 400, "a type is a string"),
        (property, json!({"$ref": "#/$defs/x"}), 400, "leads nowhere"),
        ("/model", json!("llama3.2"), 500, "missing data required for image input"),
        ("/model", json!("gemma3:4b"), 400, "library/gemma3:4b does not support tools"),
        ("/model", json!("nomic-embed-text"), 400, "does not support chat"),
    ];
    let count = cases.len();
    for (pointer, value, status, wanted) in cases {
        let response = post(&bed, "/api/chat", &changed(body(), pointer, value)).await;
        assert_eq!(response.status(), status, "{pointer} {wanted}");
        let error = response.json::<Value>().await.unwrap();
        let told = error["error"].as_str().unwrap();
        assert!(told.contains(wanted), "{pointer} {wanted}: {told}");
    }
    let thinking = changed(plain("llama3.2"), "/think", json!(true));
    assert_eq!(post(&bed, "/api/chat", &thinking).await.status(), 400);
    assert_eq!(bed.model.violations().len(), count + 1);
    bed.end().await;
}

#[tokio::test]
async fn models_are_listed_shown_and_gone_without_blame() {
    let bed = Bed::new(ReplyScript::new()).await;
    bed.model.retire("gemma3:4b");
    let tags = bed.http.get(format!("{}/api/tags", bed.model.ollama_url())).send().await.unwrap();
    let tags = tags.json::<Value>().await.unwrap();
    let names: Vec<&str> =
        tags["models"].as_array().unwrap().iter().filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, ["llama3.2:latest", "qwen3-vl:8b", "nomic-embed-text:latest"]);
    let shown = post(&bed, "/api/show", &json!({"model": "llama3.2"})).await.json::<Value>().await.unwrap();
    assert_eq!(shown["capabilities"], json!(["completion", "tools"]));
    let info = json!({"general.architecture": "llama", "llama.context_length": 131_072});
    assert_eq!(shown["model_info"], info);
    for name in ["gemma3:4b", "mistral"] {
        for (path, body) in [("/api/chat", plain(name)), ("/api/show", json!({"model": name}))] {
            let response = post(&bed, path, &body).await;
            assert_eq!(response.status(), 404);
            let error = json!({"error": format!("model '{name}' not found")});
            assert_eq!(response.json::<Value>().await.unwrap(), error);
        }
    }
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    assert_eq!(post(&bed, "/api/show", &json!({"name": "llama3.2"})).await.status(), 400);
    assert_eq!(bed.model.violations(), ["unknown field 'name'"]);
    bed.end().await;
}

#[tokio::test]
async fn a_request_is_understood_like_any_other() {
    let bed = Bed::new(ReplyScript::new().when("look", ModelReply::text("ok"))).await;
    lines(&bed, &changed(body(), "/format", json!("json"))).await;
    let requests = bed.model.requests();
    let request = &requests[0];
    assert_eq!((request.model(), request.instructions()), ("qwen3-vl:8b", "Be brief."));
    assert_eq!(request.user_text(), "look");
    assert_eq!(request.pictures(), [Picture { mime_type: "image/png", base64: PNG }]);
    assert_eq!(request.tool_names(), ["t"]);
    assert_eq!(request.tool_results(), [("t", "one".to_owned()), ("u", "two".to_owned())]);
    assert_eq!((request.offers_search(), request.wants_json()), (false, true));
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}
