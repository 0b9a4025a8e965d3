//! Request in the format of the Responses API. Called by [`super`] only.

use serde_json::{Map, Value, json};

use super::decoder::CALLS;
use super::name::NAME;
use crate::beside::put_back;
use crate::{AnswerSchema, Item, MediaPart, Request, ToolChoice, ToolSpec};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::generation::OutputFormat;
use figaro_domain::tool::Call;

/// Minimum limit on an answer, in tokens. A lower one is refused.
const MIN_TOKENS: u32 = 16;

pub(super) fn body(request: &Request) -> Value {
    let reasons = reasons(&request.model);
    let input: Vec<Value> = request.items.iter().flat_map(|item| input(item, reasons)).collect();
    let mut body = json!({
        "model": request.model,
        "instructions": request.instructions,
        "input": input,
        "stream": true,
        "store": false,
    });
    let wanted =
        [(reasons, "reasoning.encrypted_content"), (request.web_search, "web_search_call.action.sources")];
    let included: Vec<&str> = wanted.into_iter().filter_map(|(is, what)| is.then_some(what)).collect();
    if !included.is_empty() {
        body["include"] = json!(included);
    }
    let mut tools: Vec<Value> = request.tools.iter().map(|spec| tool(spec)).collect();
    if request.web_search {
        tools.push(json!({"type": "web_search"}));
    }
    if !tools.is_empty() {
        body["tools"] = tools.into();
        body["parallel_tool_calls"] = true.into();
        match &request.options.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Required => body["tool_choice"] = "required".into(),
            ToolChoice::Named(name) => body["tool_choice"] = json!({"type": "function", "name": name}),
        }
    }
    settings(request, reasons, &mut body);
    body
}

/// Adds the settings. A reasoning model refuses sampling parameters.
fn settings(request: &Request, reasons: bool, body: &mut Value) {
    let settings = &request.settings;
    if let Some(most) = settings.max_tokens {
        body["max_output_tokens"] = most.max(MIN_TOKENS).into();
    }
    if let (Some(temperature), false) = (settings.temperature, reasons) {
        body["temperature"] = temperature.into();
    }
    if let (Some(top_p), false) = (settings.top_p, reasons) {
        body["top_p"] = top_p.into();
    }
    let format = match &request.schema {
        Some(AnswerSchema { name, schema }) => {
            json!({"type": "json_schema", "name": name, "schema": schema, "strict": false})
        }
        None if settings.output_format == Some(OutputFormat::Json) => json!({"type": "json_object"}),
        None => return,
    };
    body["text"] = json!({"format": format});
}

/// Returns `true` if a model thinks before it answers, by OpenAI's names: `o3`, `gpt-5-mini` and later ones.
///
/// Asking any other model for its reasoning, or sending it some, is an error.
pub(super) fn reasons(model: &str) -> bool {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    if let Some(rest) = model.strip_prefix("gpt-") {
        return digits(rest).parse::<u32>().is_ok_and(|version| version >= 5) && !rest.contains("-chat");
    }
    model.strip_prefix('o').is_some_and(|rest| !digits(rest).is_empty())
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

fn input(item: &Item, reasons: bool) -> Vec<Value> {
    match item {
        Item::User { text, media } => vec![user(text, media)],
        Item::Assistant { text, calls, private } => assistant(text, calls, private, reasons),
        Item::ToolResult { call_id, output, media, .. } => {
            let output: Value = match media.iter().map(picture).collect::<Vec<_>>() {
                pictures if pictures.is_empty() => output.as_str().into(),
                pictures => {
                    std::iter::once(json!({"type": "input_text", "text": output})).chain(pictures).collect()
                }
            };
            vec![json!({"type": "function_call_output", "call_id": call_id, "output": output})]
        }
    }
}

/// Converts an answer. Reasoning goes before what it led to; alone it would be refused.
fn assistant(text: &str, calls: &[Call], private: &[PrivatePart], reasons: bool) -> Vec<Value> {
    let mut items = Vec::new();
    if !text.is_empty() {
        items.push(message("assistant", "output_text", text));
    }
    let own = || private.iter().filter(|part| part.provider == NAME).map(|part| &part.data);
    items.extend(calls.iter().map(|sent| {
        let mut call = call(sent);
        own().filter_map(|data| data["calls"].get(&sent.id)).for_each(|kept| put_back(&mut call, kept));
        call
    }));
    if items.is_empty() {
        return items;
    }
    let items_of_theirs = own().filter(|data| data["type"] != CALLS);
    let kept = items_of_theirs.filter(|data| reasons || data["encrypted_content"].is_null());
    items.splice(0..0, kept.cloned());
    items
}

fn user(text: &str, media: &[MediaPart]) -> Value {
    let mut message = message("user", "input_text", text);
    if let Some(content) = message["content"].as_array_mut() {
        content.extend(media.iter().map(picture));
    }
    message
}

fn picture(image: &MediaPart) -> Value {
    json!({"type": "input_image", "image_url": image.data_url()})
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// Converts a call. Arguments that are no JSON object would be refused with the whole request, so they are dropped;
/// the call's result explains the fault.
fn call(call: &Call) -> Value {
    let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object { call.arguments.as_str() } else { "{}" };
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use figaro_domain::generation::Generation;

    fn private(provider: &str, data: Value) -> PrivatePart {
        PrivatePart { provider: provider.into(), data }
    }

    fn ask(model: &str, items: Vec<Item>, tools: Vec<Arc<ToolSpec>>) -> Value {
        body(&Request { tools, ..Request::new(model, "Be brief.", items) })
    }

    #[test]
    fn models_that_reason_are_known_by_name() {
        let cases = [
            ("o1", true),
            ("o4-mini", true),
            ("gpt-5", true),
            ("gpt-5.1-codex", true),
            ("gpt-6-mini", true),
            ("gpt-10", true),
            ("gpt-5-chat-latest", false),
            ("gpt-4.1-mini", false),
            ("gpt-4o", false),
            ("gpt-oss:20b", false),
            ("omni", false),
            ("", false),
        ];
        for (model, expected) in cases {
            assert_eq!(reasons(model), expected, "{model}");
        }
    }

    #[test]
    fn a_call_goes_back_with_all_that_it_came_with() {
        let call = Call { id: "call_1".into(), name: "f".into(), arguments: "{}".into() };
        let data = json!({"type": "figaro.calls", "calls": {"call_1": {"signature": "S", "name": "other"}}});
        let private = vec![private("openai", data)];
        let items = vec![Item::Assistant { text: String::new(), calls: vec![call], private }];
        let expected = json!([{"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}", "signature": "S"}]);
        assert_eq!(ask("gpt-4.1-mini", items, Vec::new())["input"], expected);
    }

    #[test]
    fn a_whole_conversation_keeps_its_order() {
        let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
        let call = Call { id: "call_1".into(), name: "add_note".into(), arguments: "{\"key\":\"a\"}".into() };
        let items = vec![
            Item::user("Note it"),
            Item::Assistant {
                text: "Gladly.".into(),
                calls: vec![call],
                private: vec![private("gemini", json!({"sig": 1})), private("openai", thought.clone())],
            },
            Item::ToolResult {
                call_id: "call_1".into(),
                name: "add_note".into(),
                output: "{\"success\":true}".into(),
                media: Vec::new(),
            },
        ];
        let schema = json!({"type": "object", "properties": {"key": {"type": "string"}}});
        let spec = Arc::new(ToolSpec::new("add_note", "Adds.", schema.clone()));
        let expected = json!({
            "model": "gpt-5-mini",
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Note it"}]},
                thought,
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Gladly."}]},
                {"type": "function_call", "call_id": "call_1", "name": "add_note", "arguments": "{\"key\":\"a\"}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "{\"success\":true}"},
            ],
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "tools": [{
                "type": "function", "name": "add_note", "description": "Adds.", "parameters": schema, "strict": false,
            }],
            "parallel_tool_calls": true,
        });
        assert_eq!(ask("gpt-5-mini", items, vec![spec]), expected);
    }

    #[test]
    fn pictures_of_a_result_go_with_it() {
        let result = Item::ToolResult {
            call_id: "c".into(),
            name: "draw".into(),
            output: "{}".into(),
            media: vec![MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "AA==".into() }],
        };
        let expected = json!([
            {"type": "input_text", "text": "{}"},
            {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        ]);
        assert_eq!(ask("gpt-4.1-mini", vec![result], Vec::new())["input"][0]["output"], expected);
    }

    #[test]
    fn without_tools_and_reasoning_nothing_speaks_of_them() {
        let body = ask("gpt-4.1-mini", vec![Item::user("Hi")], Vec::new());
        for absent in ["tools", "parallel_tool_calls", "include"] {
            assert_eq!(body.get(absent), None, "{absent}");
        }
    }

    #[test]
    fn reasoning_is_sent_only_where_it_is_taken() {
        let sealed = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA"});
        let open =
            json!({"type": "reasoning", "id": "rs_2", "content": [{"type": "reasoning_text", "text": "hm"}]});
        let parts = vec![private("openai", sealed.clone()), private("openai", open.clone())];
        let said = |text: &str| {
            vec![Item::Assistant { text: text.into(), calls: Vec::new(), private: parts.clone() }]
        };
        let words = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]});
        assert_eq!(ask("o3", said("a"), Vec::new())["input"], json!([sealed, open, words]));
        assert_eq!(ask("gpt-4.1", said("a"), Vec::new())["input"], json!([open, words]));
        // Reasoning that led to nothing.
        assert_eq!(ask("o3", said(""), Vec::new())["input"], json!([]));
    }

    #[test]
    fn settings_go_where_they_are_taken() {
        let all = Generation {
            temperature: Some(0.5),
            max_tokens: Some(100),
            top_p: Some(0.25),
            frequency_penalty: Some(1.0),
            presence_penalty: Some(1.0),
            repeat_penalty: Some(1.5),
            output_format: Some(OutputFormat::Json),
        };
        let words = Generation { output_format: Some(OutputFormat::Text), ..Generation::default() };
        let json_too = Generation { output_format: Some(OutputFormat::Json), ..Generation::default() };
        let answer = || AnswerSchema { name: "answer".into(), schema: json!({"type": "object"}) };
        let free = json!({"format": {"type": "json_object"}});
        let held = json!({"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": false}});
        let sent = json!({"temperature": 0.5, "top_p": 0.25, "max_output_tokens": 100, "text": free});
        let cases = [
            ("gpt-4.1-mini", Generation::default(), None, json!({})),
            ("gpt-4.1-mini", words, None, json!({})),
            ("gpt-4.1-mini", all, None, sent),
            (
                "o3",
                all,
                None,
                json!({"max_output_tokens": 100, "text": free, "include": ["reasoning.encrypted_content"]}),
            ),
            ("gpt-4.1-mini", words, Some(answer()), json!({"text": held})),
            ("gpt-4.1-mini", json_too, Some(answer()), json!({"text": held})),
        ];
        for (model, settings, schema, more) in cases {
            let mut expected = json!({
                "model": model,
                "instructions": "",
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
                "stream": true,
                "store": false,
            });
            expected.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let request = Request { settings, schema, ..Request::new(model, "", vec![Item::user("Hi")]) };
            assert_eq!(body(&request), expected, "{model} {settings:?}");
        }
    }

    #[test]
    fn pictures_stand_behind_their_words() {
        let image =
            |base64: &str| MediaPart { mime_type: "image/png".into(), seconds: 0, base64: base64.into() };
        let items = vec![Item::User { text: "Look".into(), media: vec![image("AA=="), image("BB==")] }];
        let words = json!({"type": "input_text", "text": "Look"});
        let url = |base64: &str| json!({"type": "input_image", "image_url": format!("data:image/png;base64,{base64}")});
        let input = |parts: Value| json!([{"type": "message", "role": "user", "content": parts}]);
        assert_eq!(
            ask("gpt-4.1-mini", items, Vec::new())["input"],
            input(json!([words, url("AA=="), url("BB==")]))
        );
    }

    #[test]
    fn the_hosted_search_is_one_tool_more() {
        let spec = Arc::new(ToolSpec::new("f", "F.", json!({"type": "object"})));
        let own = json!({
            "type": "function", "name": "f", "description": "F.", "parameters": {"type": "object"}, "strict": false,
        });
        let search = json!({"type": "web_search"});
        for (tools, web_search, expected) in [
            (vec![spec.clone()], true, json!([own, search])),
            (Vec::new(), true, json!([search])),
            (vec![spec], false, json!([own])),
        ] {
            let request = Request { tools, web_search, ..Request::new("gpt-4.1-mini", "", Vec::new()) };
            let body = body(&request);
            assert_eq!((&body["tools"], &body["parallel_tool_calls"]), (&expected, &json!(true)));
        }
    }
}
