//! Bodies as real clients send them: kept in ways of their own, with fields of other services, and with more than Figaro knows.

use figaro_offline::model::ModelReply;
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::said;

/// What a body has to bring before the model: its words, or some of them not.
#[derive(Clone)]
struct Case {
    name: &'static str,
    path: &'static str,
    body: Value,
    reaches: &'static [&'static str],
    stays: &'static [&'static str],
}

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn case(name: &'static str, path: &'static str, body: Value, reaches: &'static [&'static str]) -> Case {
    Case { name, path, body, reaches, stays: &[] }
}

fn count() -> Value {
    json!({"type": "function", "function": {"name": "count", "parameters": {"type": "object", "properties": {}}}})
}

fn chat(messages: Value) -> Value {
    json!({"model": "figaro", "messages": messages, "tools": [count()]})
}

fn called(arguments: Value) -> Value {
    chat(json!([
        {"role": "user", "content": "How many loaves?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "count", "arguments": arguments}}]},
        {"role": "tool", "tool_call_id": "t1", "content": "two loaves"},
        {"role": "user", "content": "And rolls?"},
    ]))
}

fn input(items: Value) -> Value {
    let mut tool = count()["function"].clone();
    tool["type"] = "function".into();
    json!({"model": "figaro", "input": items, "tools": [tool]})
}

fn kept() -> Vec<Case> {
    let mut cases: Vec<Case> =
        [json!({"of": "loaves"}), json!(null), json!(""), json!("{\"of\": \"loaves\"}")]
            .into_iter()
            .map(|arguments| case("arguments", CHAT, called(arguments), &["two loaves", "And rolls?"]))
            .collect();
    let call = |arguments: Value| json!({"type": "function_call", "id": "fc_1", "call_id": "t1", "name": "count", "arguments": arguments, "status": "completed"});
    let output = json!({"type": "function_call_output", "call_id": "t1", "output": "two loaves"});
    let asks = json!({"role": "user", "content": "How many loaves?"});
    let look = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]});
    let thinks =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": null, "encrypted_content": "x"});
    for items in [
        json!([asks, call(json!("{}")), look, output]),
        json!([asks, call(json!("")), thinks, look, output]),
        json!([asks, thinks, call(json!(null)), thinks, output]),
        json!([asks, output, look, call(json!({}))]),
        json!([{"type": "web_search_call", "id": "ws_1", "status": "completed"}, asks, look, call(json!("{}")), output]),
    ] {
        cases.push(case("items between", RESPONSES, input(items), &["two loaves", "How many loaves?"]));
    }
    let parts = json!([{"role": "user", "content": [{"type": "input_text", "text": "Count."}, {"type": "input_video", "video_id": "f1"}]}, call(json!({})),
        {"type": "function_call_output", "call_id": "t1", "output": [{"type": "input_text", "text": "two loaves"}]}]);
    cases.push(case("parts", RESPONSES, input(parts), &["two loaves", "Count.", "input_video"]));
    let custom = json!([asks, {"type": "custom_tool_call", "call_id": "c1", "name": "write_file", "input": "rye"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "written"}]);
    cases.push(case("custom calls", RESPONSES, input(custom), &["rye", "written"]));
    cases.push(case(
        "contents",
        CHAT,
        chat(json!([
            {"role": "developer", "content": [{"type": "text", "text": "You are a baker.", "cache_control": {"type": "ephemeral"}}]},
            {"role": "user", "content": null, "name": "ann"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "a secret"}, {"type": "text", "text": "Hello."}], "name": "figaro"},
            {"role": "assistant", "content": "", "refusal": null, "audio": null, "function_call": null, "tool_calls": null, "annotations": []},
            {"role": "user", "name": "ann", "content": [{"type": "text", "text": "Two loaves?"}, {"type": "video_url", "video_url": {"url": "x"}}]},
        ])),
        &["You are a baker.", "Hello.", "Two loaves?", "video_url"],
    ));
    if let Some(last) = cases.last_mut() {
        last.stays = &["a secret"];
    }
    cases.extend(older());
    cases
}

/// What older clients keep of their calls, and bounds in forms of their own.
fn older() -> Vec<Case> {
    let mut cases = Vec::new();
    let with_call = |call: Value, result: Value| {
        let asks = json!({"role": "user", "content": "How many loaves?"});
        chat(json!([asks, call, result, {"role": "user", "content": "And rolls?"}]))
    };
    cases.push(case(
        "a function's call",
        CHAT,
        with_call(
            json!({"role": "assistant", "content": null, "function_call": {"name": "count", "arguments": "{}"}}),
            json!({"role": "function", "name": "count", "content": "two loaves"}),
        ),
        &["two loaves", "And rolls?"],
    ));
    cases.push(case(
        "a custom call",
        CHAT,
        with_call(
            json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "write", "input": "rye flour"}}]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "two loaves"}),
        ),
        &["two loaves", "rye flour"],
    ));
    let refused = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "refusal": "I would rather not."}, {"role": "user", "content": "And rolls?"}]);
    cases.push(case("a refusal", CHAT, chat(refused), &["I would rather not."]));
    for bound in [json!(256.0), json!(null)] {
        let body =
            with(chat(json!([{"role": "user", "content": "And rolls?"}])), &json!({"max_tokens": bound}));
        cases.push(case("a bound", CHAT, body, &["And rolls?"]));
    }
    cases
}

/// A body with these fields, too.
fn with(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// What clients send where nobody has chosen anything.
fn defaults() -> Vec<Case> {
    let chat = json!({
        "store": false, "metadata": {"a": "b"}, "parallel_tool_calls": true, "service_tier": "auto", "user": "ann",
        "stream_options": null, "n": 1, "logprobs": false, "top_logprobs": 0, "logit_bias": {}, "modalities": ["text"],
        "reasoning_effort": "medium", "prediction": null, "seed": 7, "verbosity": "low", "safety_identifier": "x",
        "prompt_cache_key": "x", "web_search_options": {}, "response_format": {"type": "text"}, "tool_choice": "auto",
        "stop": [], "tools": [], "extra_of_a_proxy": {"drop_params": true},
    });
    let nulls = json!({
        "stream": null, "stream_options": null, "temperature": null, "top_p": null, "n": null, "stop": null,
        "max_tokens": null, "max_completion_tokens": null, "presence_penalty": null, "frequency_penalty": null,
        "logit_bias": null, "logprobs": null, "top_logprobs": null, "user": null, "tools": null, "tool_choice": null,
        "response_format": null, "seed": null, "functions": null, "function_call": null, "audio": null,
        "modalities": null, "metadata": null, "store": null, "figaro": null,
    });
    let responses = json!({
        "model": "figaro", "input": "Say OK.", "store": true, "metadata": {}, "parallel_tool_calls": true,
        "truncation": "disabled", "include": ["reasoning.encrypted_content"], "service_tier": "auto",
        "reasoning": {"effort": "low", "summary": "auto"}, "text": {"format": {"type": "text"}, "verbosity": "low"},
        "background": false, "prompt": null, "previous_response_id": null, "conversation": null,
        "max_tool_calls": null, "tool_choice": "auto", "instructions": null, "top_logprobs": 0, "user": "ann",
    });
    vec![
        case("defaults of chat", CHAT, with(said("Say OK."), &chat), &["Say OK."]),
        case("nulls", CHAT, with(said("Say OK."), &nulls), &["Say OK."]),
        case("defaults of responses", RESPONSES, responses, &["Say OK."]),
    ]
}

/// Tools of a model's own service beside one of the caller's.
fn kinds_of_tools() -> Vec<Case> {
    let kinds = "custom web_search web_search_preview file_search code_interpreter mcp image_generation local_shell \
                 computer_use_preview apply_patch something_new";
    let other = |kind: &str| json!({"type": kind, "name": "other", "server_url": "https://a.example"});
    let beside = |oven: Value| kinds.split_whitespace().map(other).chain([oven]).collect::<Value>();
    let flat =
        json!({"type": "function", "name": "oven", "description": "", "parameters": {}, "strict": null});
    let flat = json!({"model": "figaro", "input": "Say OK.", "tools": beside(flat)});
    let nested = json!({"type": "function", "function": {
        "name": "oven", "description": null, "parameters": null, "strict": true}});
    let nested = with(said("Say OK."), &json!({"tools": beside(nested)}));
    let of = |path, body| Case { stays: &["\"other\""], ..case("kinds of tools", path, body, &["\"oven\""]) };
    vec![of(RESPONSES, flat), of(CHAT, nested)]
}

#[tokio::test]
async fn bodies_are_read_as_clients_send_them() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    for Case { name, path, body, reaches, stays } in [kept(), defaults(), kinds_of_tools()].concat() {
        world.script.push(ModelReply::text("OK."));
        let (status, text) = gateway.post(path, &body).text().await;
        assert_eq!(status, 200, "{name}: {text}\n{body}");
        let asked = world.model.requests().pop().unwrap().body.to_string();
        for words in reaches {
            assert!(asked.contains(words), "{name}: {words} is not in {asked}");
        }
        for words in stays {
            assert!(!asked.contains(words), "{name}: {words} is in {asked}");
        }
    }
    assert_eq!(world.model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_caller_brings_as_many_tools_as_providers_take_and_long_instructions() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let tools = |count: usize| {
        let tool = |at: usize| {
            json!({"type": "function", "function": {
            "name": format!("t{at}"), "description": "x".repeat(10_000), "parameters": {"type": "object", "properties": {}}}})
        };
        let mut body = said("Say OK.");
        body["tools"] = (0..count).map(tool).collect();
        body
    };
    for count in [33, 90, 128] {
        world.script.push(ModelReply::text("OK."));
        assert_eq!(gateway.chat(&tools(count)).words().await, "OK.");
        let request = world.model.requests().pop().unwrap();
        let names = request.tool_names();
        assert!((0..count).all(|at| names.contains(&format!("t{at}").as_str())), "{count}: {names:?}");
        assert!(names.len() <= 128, "{count}: {}", names.len());
    }
    // So are the instructions of an editor.
    let long = format!("{} Be a baker.", "Rule. ".repeat(17_000));
    let asks = json!([{"role": "system", "content": long}, {"role": "user", "content": "Say OK."}]);
    world.script.push(ModelReply::text("OK."));
    assert_eq!(gateway.chat(&json!({"model": "figaro", "messages": asks})).words().await, "OK.");
    assert!(world.model.requests().pop().unwrap().instructions().contains("Be a baker."));
    let (status, error) = gateway.chat(&tools(129)).refused().await;
    assert_eq!((status, &error["param"]), (400, &json!("tools")));
}

#[tokio::test]
async fn what_cannot_be_read_is_named_by_its_place() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let asks = json!({"role": "user", "content": "Hi"});
    let chats = [
        (json!([asks, {"role": "king", "content": "x"}]), "messages[1]"),
        (json!([asks, {"role": "tool", "tool_call_id": "a", "content": "x"}]), "messages[1]"),
        (
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]}]),
            "messages[0]",
        ),
    ];
    let responses = [
        (json!([asks, {"type": "item_reference", "id": "msg_1"}]), "input[1]"),
        (
            json!([{"type": "reasoning", "summary": []}, asks, {"type": "function_call", "call_id": "a", "name": "x"}]),
            "input[2]",
        ),
        (json!([asks, {"type": "function_call_output", "call_id": "a", "output": "x"}]), "input[1]"),
        (json!([asks, {"type": "message", "role": "king", "content": "x"}]), "input[1]"),
        (json!([asks, {"type": "function_call_output", "output": "x"}]), "input[1]"),
        (json!([]), "input"),
    ];
    let chats = chats
        .into_iter()
        .map(|(messages, place)| (CHAT, json!({"model": "figaro", "messages": messages}), place));
    let responses = responses
        .into_iter()
        .map(|(items, place)| (RESPONSES, json!({"model": "figaro", "input": items}), place));
    for (path, body, place) in chats.chain(responses) {
        let (status, error) = gateway.post(path, &body).refused().await;
        assert_eq!((status, &error["param"]), (400, &json!(place)), "{body}: {error}");
    }
    assert!(world.model.requests().is_empty());
}
