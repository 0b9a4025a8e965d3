//! Gemini's API over raw HTTP: what is streamed, refused, and understood.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::request::Picture;
use super::super::tests::{Bed, changed, datas, read};
use super::super::{ModelReply, ReplyPart, ReplyScript};
use super::signature;

mod violations;

const OLD: &str = "gemini-2.5-flash";
const NEW: &str = "gemini-3-flash-preview";

fn declared(name: &str) -> Value {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
    json!({"name": name, "description": "d", "parameters": schema})
}

/// A conversation in which two functions were called at once, as a model of the second generation has it.
fn body() -> Value {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {"a": "b"}}});
    let result = |name: &str, output: &str| json!({"functionResponse": {"name": name, "response": {"output": output}}});
    json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
            {"role": "model", "parts": [{"text": "I do."}, call("t"), call("u")]},
            {"role": "user", "parts": [result("t", "one"), result("u", "two")]},
        ],
        "tools": [{"functionDeclarations": [declared("t"), declared("u")]}],
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100},
    })
}

fn plain() -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": "rain?"}]}]})
}

async fn send(bed: &Bed, target: &str, body: &Value) -> reqwest::Response {
    let url = format!("{}/models/{target}", bed.model.gemini_url());
    bed.http.post(url).header("x-goog-api-key", "key").json(body).send().await.unwrap()
}

async fn stream(bed: &Bed, model: &str, body: &Value) -> reqwest::Response {
    send(bed, &format!("{model}:streamGenerateContent?alt=sse"), body).await
}

/// The chunks of a stream, without what it cost.
async fn chunks(bed: &Bed, model: &str, body: &Value) -> (Vec<Value>, &'static str) {
    let response = stream(bed, model, body).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (text, end) = read(response).await;
    assert!(text.split_inclusive("\r\n\r\n").all(|event| event.starts_with("data: ")), "{text}");
    (datas(&text), end)
}

/// The parts of all chunks.
fn parts(chunks: &[Value]) -> Vec<Value> {
    chunks.iter().flat_map(|c| c["candidates"][0]["content"]["parts"].as_array()).flatten().cloned().collect()
}

fn finish(chunks: &[Value]) -> &Value {
    &chunks.last().unwrap()["candidates"][0]["finishReason"]
}

#[tokio::test]
async fn text_is_streamed_and_calls_are_signed_by_the_third_generation() {
    let call = |name: &str| ReplyPart::Call { name: name.to_owned(), arguments: json!({"a": "b"}) };
    let reply = ModelReply::turn(vec![ReplyPart::Text("Hello there".to_owned()), call("t"), call("u")]);
    let bed = Bed::new(ReplyScript::new().otherwise(reply.paced(6, Duration::ZERO).usage(10, 3))).await;
    let (old, _) = chunks(&bed, OLD, &body()).await;
    let called = |name: &str| json!({"functionCall": {"name": name, "args": {"a": "b"}}});
    let wanted = [json!({"text": "Hello "}), json!({"text": "there"}), called("t"), called("u")];
    assert_eq!(parts(&old), wanted);
    let usage = json!({
        "promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
    });
    let first = json!({
        "candidates": [{"content": {"parts": [{"text": "Hello "}], "role": "model"}, "index": 0}],
        "usageMetadata": usage, "modelVersion": OLD, "responseId": "offline1",
    });
    assert_eq!((&old[0], finish(&old)), (&first, &json!("STOP")));
    let (new, _) = chunks(&bed, NEW, &plain()).await;
    let first = json!({
        "functionCall": {"name": "t", "args": {"a": "b"}, "id": "offline-call-2-0"},
        "thoughtSignature": signature::of("t", 2),
    });
    let second = json!({"functionCall": {"name": "u", "args": {"a": "b"}, "id": "offline-call-2-1"}});
    assert_eq!(parts(&new)[2..], [first, second]);
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn signatures_and_ids_must_come_back() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::call("t", json!({"a": "b"})))).await;
    let (called, _) = chunks(&bed, NEW, &plain()).await;
    let call = parts(&called)[0].clone();
    let result = json!({"id": call["functionCall"]["id"], "name": "t", "response": {"output": "x"}});
    let mut again = plain();
    let contents = again["contents"].as_array_mut().unwrap();
    contents.push(json!({"role": "model", "parts": [call]}));
    contents.push(json!({"role": "user", "parts": [{"functionResponse": result}]}));
    assert_eq!(stream(&bed, NEW, &again).await.status(), 200);
    let signature = "/contents/1/parts/0/thoughtSignature";
    let id = "/contents/2/parts/0/functionResponse/id";
    let cases = [
        (signature, json!(null), "is missing a thought_signature in functionCall parts"),
        (signature, json!("AAAA"), "Corrupted thought signature."),
        (signature, json!(super::signature::of("u", 1)), "Corrupted thought signature."),
        (signature, json!("skip_thought_signature_validator"), "its signature was lost"),
        (id, json!("other"), "functionResponse.id does not match functionCall.id"),
        (id, json!(null), "functionResponse.id is missing"),
    ];
    for (pointer, value, wanted) in cases {
        let response = stream(&bed, NEW, &changed(again.clone(), pointer, value)).await;
        assert_eq!(response.status(), 400, "{wanted}");
        let error = response.json::<Value>().await.unwrap()["error"].clone();
        assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")));
        assert!(error["message"].as_str().unwrap().contains(wanted), "{wanted}: {error}");
    }
    // In a turn that is over nobody asks for them; another model's calls have none.
    let over = changed(again.clone(), signature, json!(null));
    let over = changed(over, "/contents/-", json!({"role": "user", "parts": [{"text": "and now?"}]}));
    assert_eq!(stream(&bed, NEW, &over).await.status(), 200);
    let foreign = changed(again, "/contents/1/parts/0/functionCall/id", json!("call_1"));
    let foreign = changed(foreign, id, json!("call_1"));
    let foreign = changed(foreign, signature, json!("skip_thought_signature_validator"));
    assert_eq!(stream(&bed, NEW, &foreign).await.status(), 200);
    assert_eq!(bed.model.violations().len(), 6);
    bed.end().await;
}

#[tokio::test]
async fn an_answer_ends_in_many_ways() {
    let one = || ModelReply::text("one");
    let cases = [
        (one(), "STOP"),
        (one().cut_by_length(), "MAX_TOKENS"),
        (one().blocked("SAFETY"), "SAFETY"),
        (ModelReply::call("t", json!("{oops")), "MALFORMED_FUNCTION_CALL"),
        (ModelReply::empty(), "STOP"),
    ];
    let script = ReplyScript::new();
    let bed = Bed::new(script.clone()).await;
    for (reply, wanted) in cases {
        script.push(reply);
        assert_eq!(finish(&chunks(&bed, OLD, &body()).await.0), wanted);
    }
    script.push(ModelReply::empty().blocked("PROHIBITED_CONTENT").without_usage());
    let (blocked, _) = chunks(&bed, OLD, &body()).await;
    let wanted = json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": OLD, "responseId": "offline6",
    });
    assert_eq!(blocked, [wanted]);
    script.push(ModelReply::refusal("I would rather not."));
    assert_eq!(parts(&chunks(&bed, OLD, &body()).await.0)[0]["text"], "I would rath");
    bed.end().await;
}

#[tokio::test]
async fn faults_have_the_shape_of_the_dialect() {
    let speech = || ModelReply::text("one two three").paced(0, Duration::ZERO);
    let script = ReplyScript::new()
        .then(ModelReply::status(429, "Quota exceeded").retry_after(7))
        .then(speech().break_after(1))
        .then(speech().hang_after(1))
        .then(speech().fail_after(1, "The model is overloaded."));
    let bed = Bed::new(script).await;
    let limited = stream(&bed, OLD, &body()).await;
    assert_eq!((limited.status().as_u16(), limited.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"});
    let error =
        json!({"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [retry]});
    assert_eq!(limited.json::<Value>().await.unwrap(), json!({"error": error}));
    for wanted in ["broken", "hangs", "whole"] {
        let (chunks, end) = chunks(&bed, OLD, &body()).await;
        assert_eq!((end, &parts(&chunks)[0]), (wanted, &json!({"text": "one "})));
        let error =
            json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
        assert_eq!(chunks.get(1), (wanted == "whole").then_some(&error), "{wanted}");
    }
    bed.end().await;
}

#[tokio::test]
async fn a_search_is_grounded_also_in_one_piece() {
    let found = ModelReply::text("Régen, heavy.").sources(&[("rain.example", "https://rain.example/a")]);
    let bed = Bed::new(ReplyScript::new().otherwise(found)).await;
    let searching = changed(plain(), "/tools", json!([{"google_search": {}}]));
    let response = send(&bed, &format!("{OLD}:generateContent"), &searching).await;
    assert_eq!(response.headers()["content-type"], "application/json; charset=UTF-8");
    let answer = response.json::<Value>().await.unwrap();
    let grounding = json!({
        "webSearchQueries": ["rain?"],
        "searchEntryPoint": {"renderedContent": "<div></div>"},
        "groundingChunks": [{"web": {"uri": "https://rain.example/a", "title": "rain.example"}}],
        "groundingSupports": [{
            "segment": {"startIndex": 0, "endIndex": 14, "text": "Régen, heavy."}, "groundingChunkIndices": [0],
        }],
    });
    let candidate = json!({
        "content": {"role": "model", "parts": [{"text": "Régen, heavy."}]}, "finishReason": "STOP", "index": 0,
        "groundingMetadata": grounding,
    });
    assert_eq!(answer["candidates"], json!([candidate]));
    assert!(bed.model.requests()[0].offers_search());
    let (streamed, _) = chunks(&bed, OLD, &searching).await;
    assert_eq!(streamed.last().unwrap()["candidates"][0]["groundingMetadata"], grounding);
    let (unasked, _) = chunks(&bed, OLD, &plain()).await;
    assert_eq!(unasked.last().unwrap()["candidates"][0].get("groundingMetadata"), None);
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn functions_search_and_json_stand_together_only_in_the_third_generation() {
    let found = ModelReply::text("Rain.").sources(&[("rain.example", "https://rain.example")]);
    let bed = Bed::new(ReplyScript::new().otherwise(found)).await;
    let functions = changed(plain(), "/tools", json!([{"functionDeclarations": [declared("t")]}]));
    let json = |body: Value| {
        let schema = json!({"type": "object", "properties": {}});
        let config = json!({"responseMimeType": "application/json", "responseJsonSchema": schema});
        changed(body, "/generationConfig", config)
    };
    let both = changed(functions.clone(), "/tools/-", json!({"googleSearch": {}}));
    let search = changed(plain(), "/tools", json!([{"googleSearch": {}}]));
    let shown = changed(both.clone(), "/toolConfig", json!({"includeServerSideToolInvocations": true}));
    let cases = [
        (&both, OLD, "Tool use with function calling is unsupported"),
        (&json(functions.clone()), OLD, "Function calling with a response mime type"),
        (&json(search.clone()), OLD, "Tool use with a response mime type"),
        (&shown, OLD, "not enabled for this model"),
        (&both, NEW, "include_server_side_tool_invocations"),
        (&json(plain()), OLD, ""),
        (&json(functions), NEW, ""),
        (&json(search), NEW, ""),
        (&shown, NEW, ""),
    ];
    for (body, model, wanted) in cases {
        let response = stream(&bed, model, body).await;
        let status = response.status();
        let told = response.text().await.unwrap();
        assert_eq!(
            (status.as_u16(), told.contains(wanted)),
            (if wanted.is_empty() { 200 } else { 400 }, true),
            "{told}"
        );
    }
    let (together, _) = chunks(&bed, NEW, &shown).await;
    let kinds: Vec<String> =
        parts(&together).iter().map(|p| p.as_object().unwrap().keys().next().unwrap().clone()).collect();
    assert_eq!(kinds, ["toolCall", "toolResponse", "text", "text"]);
    bed.end().await;
}

#[tokio::test]
async fn methods_and_keys_are_asked_for() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    for target in ["streamGenerateContent", "answer"] {
        assert_eq!(send(&bed, &format!("{OLD}:{target}"), &plain()).await.status(), 400);
    }
    let url = format!("{}/models/{OLD}:generateContent", bed.model.gemini_url());
    let keyless = bed.http.post(url).json(&plain()).send().await.unwrap();
    assert_eq!(keyless.status(), 403);
    assert_eq!(keyless.json::<Value>().await.unwrap()["error"]["status"], "PERMISSION_DENIED");
    assert_eq!(bed.model.violations().len(), 3);
    bed.end().await;
}

#[tokio::test]
async fn models_are_listed_and_gone_without_blame() {
    let bed = Bed::new(ReplyScript::new()).await;
    bed.model.retire("gemini-2.5-pro");
    let url = format!("{}/models?pageSize=1000&key=k", bed.model.gemini_url());
    let models = bed.http.get(url).send().await.unwrap().json::<Value>().await.unwrap();
    let listed: Vec<(&str, &str)> = models["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| {
            (model["name"].as_str().unwrap(), model["supportedGenerationMethods"][0].as_str().unwrap())
        })
        .collect();
    let wanted = [
        ("models/gemini-2.5-flash", "generateContent"),
        ("models/gemini-3-flash-preview", "generateContent"),
        ("models/gemini-3-pro-preview", "generateContent"),
        ("models/gemini-3.5-flash", "generateContent"),
        ("models/gemini-embedding-001", "embedContent"),
    ];
    assert_eq!(listed, wanted);
    for name in ["gemini-2.5-pro", "gemini-1.5-pro"] {
        let response = stream(&bed, name, &plain()).await;
        assert_eq!(response.status(), 404);
        let error = response.json::<Value>().await.unwrap()["error"].clone();
        assert_eq!(error["status"], "NOT_FOUND");
        assert!(
            error["message"].as_str().unwrap().starts_with(&format!("models/{name} is not found")),
            "{error}"
        );
    }
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}

#[tokio::test]
async fn a_request_is_understood_like_any_other() {
    let bed = Bed::new(ReplyScript::new().when("look", ModelReply::text("ok"))).await;
    chunks(&bed, OLD, &body()).await;
    let requests = bed.model.requests();
    let request = &requests[0];
    assert_eq!((request.model(), request.instructions()), (OLD, "Be brief."));
    assert_eq!(request.user_text(), "look");
    assert_eq!(request.pictures(), [Picture { mime_type: "image/png", base64: "AAAA" }]);
    assert_eq!(request.tool_names(), ["t", "u"]);
    assert_eq!(request.tool_results(), [("t", "one".to_owned()), ("u", "two".to_owned())]);
    assert_eq!((request.offers_search(), request.wants_json()), (false, false));
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    bed.end().await;
}
