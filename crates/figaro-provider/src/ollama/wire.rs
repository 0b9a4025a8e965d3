//! Request in the format of Ollama's chat API. Called by [`super`] only.

use serde_json::{Map, Value, json};

use super::name::NAME;
use crate::beside::put_back;
use crate::{Item, MediaPart, Request, ToolSpec};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::generation::OutputFormat;
use figaro_domain::tool::Call;

/// Features that a request may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Able {
    pub(super) tools: bool,
    pub(super) vision: bool,
    pub(super) thinking: bool,
}

/// Builds the body of `POST /api/chat`, without the size of the context.
///
/// A conversation that is too long is to be refused rather than cut. An answer is to end at the end of the context
/// rather than push out the beginning. Servers before 0.13 know neither option.
pub(super) fn body(request: &Request, able: Able) -> Value {
    let mut body = json!({
        "model": request.model,
        "messages": messages(request, able),
        "stream": true,
        "truncate": false,
        "shift": false,
        "options": options(request),
    });
    if able.thinking {
        // Older servers leave the thoughts in the text unless asked for them.
        body["think"] = true.into();
    }
    if able.tools && !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(|spec| tool(spec)).collect();
    } else if let Some(format) = format(request) {
        // A format constrains every word, so no tool could be called.
        body["format"] = format;
    }
    body
}

fn format(request: &Request) -> Option<Value> {
    match &request.schema {
        Some(answer) => Some(answer.schema.clone()),
        None => (request.settings.output_format == Some(OutputFormat::Json)).then(|| "json".into()),
    }
}

fn options(request: &Request) -> Value {
    let (settings, mut options) = (&request.settings, Map::new());
    if !request.options.stop.is_empty() {
        options.insert("stop".into(), json!(request.options.stop));
    }
    if let Some(most) = settings.max_tokens {
        options.insert("num_predict".into(), most.into());
    }
    let numbers = [
        ("temperature", settings.temperature),
        ("top_p", settings.top_p),
        ("repeat_penalty", settings.repeat_penalty),
        ("frequency_penalty", settings.frequency_penalty),
        ("presence_penalty", settings.presence_penalty),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            options.insert(name.into(), value.into());
        }
    }
    options.into()
}

/// Converts the conversation. Thoughts go back only within their turn; later, templates leave them out anyway.
fn messages(request: &Request, able: Able) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.instructions.is_empty() {
        messages.push(json!({"role": "system", "content": request.instructions}));
    }
    let asked = request.items.iter().rposition(|item| matches!(item, Item::User { .. }));
    for (at, item) in request.items.iter().enumerate() {
        messages.extend(match item {
            Item::User { text, media } => Some(user(text, media, able)),
            Item::Assistant { text, calls, private } => {
                let thinks = able.thinking && asked.is_none_or(|asked| at > asked);
                assistant(text, if able.tools { calls } else { &[] }, private, thinks)
            }
            Item::ToolResult { call_id, name, output, media } if able.tools => {
                let message =
                    json!({"role": "tool", "content": output, "tool_name": name, "tool_call_id": call_id});
                Some(with_images(message, media, able))
            }
            // Templates of models without tools lack this role, and the result would be lost.
            Item::ToolResult { name, output, media, .. } => {
                Some(user(&format!("[Result of the tool {name}]\n{output}"), media, able))
            }
        });
    }
    messages
}

fn user(text: &str, media: &[MediaPart], able: Able) -> Value {
    with_images(json!({"role": "user", "content": text}), media, able)
}

fn with_images(mut message: Value, media: &[MediaPart], able: Able) -> Value {
    if able.vision && !media.is_empty() {
        message["images"] = media.iter().map(|image| Value::from(&*image.base64)).collect();
    }
    message
}

fn assistant(text: &str, calls: &[Call], private: &[PrivatePart], thinks: bool) -> Option<Value> {
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": text});
    let own = || private.iter().filter(|part| part.provider == NAME);
    let thoughts: String = own().filter_map(|part| part.data["thinking"].as_str()).collect();
    if thinks && !thoughts.is_empty() {
        message["thinking"] = thoughts.into();
    }
    if !calls.is_empty() {
        let kept = |id: &str| own().filter_map(|part| part.data["calls"].get(id)).collect::<Vec<_>>();
        let with_kept = |sent: &Call| {
            let mut call = call(sent);
            kept(&sent.id).into_iter().for_each(|kept| put_back(&mut call, kept));
            call
        };
        message["tool_calls"] = calls.iter().map(with_kept).collect();
    }
    Some(message)
}

/// Converts a call. Arguments that are no JSON object would be refused with the whole request, so they are dropped;
/// the call's result explains the fault.
fn call(call: &Call) -> Value {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap_or_default();
    json!({"id": call.id, "function": {"name": call.name, "arguments": arguments}})
}

fn tool(tool: &ToolSpec) -> Value {
    let mut parameters = typed(&tool.parameters);
    if let Some(fields) = parameters.as_object_mut() {
        // Templates iterate over both without checking that they exist.
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    })
}

/// Replaces a property's schema by an object where Ollama requires one. It would refuse a mere `true`.
fn typed(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return json!({}) };
    let part = |(name, value): (&String, &Value)| {
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, schema)| (name.clone(), typed(schema))).collect()
            }
            ("anyOf", Value::Array(choices)) => choices.iter().map(typed).collect(),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    fields.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::AnswerSchema;
    use figaro_domain::generation::Generation;

    const ALL: Able = Able { tools: true, vision: true, thinking: true };
    const NONE: Able = Able { tools: false, vision: false, thinking: false };

    fn image() -> MediaPart {
        MediaPart { mime_type: "image/jpeg".into(), seconds: 0, base64: "aGk=".into() }
    }

    fn spec(parameters: Value) -> Arc<ToolSpec> {
        Arc::new(ToolSpec::new("add_note", "Adds.", parameters))
    }

    fn thought(provider: &str, thinking: &str) -> PrivatePart {
        PrivatePart { provider: provider.into(), data: json!({"thinking": thinking}) }
    }

    /// A turn that is over, and one in which a tool was called.
    fn conversation() -> Vec<Item> {
        let call = |id: &str, arguments: &str| Call {
            id: id.into(),
            name: "add_note".into(),
            arguments: arguments.into(),
        };
        let result = |id: &str, output: &str| Item::ToolResult {
            call_id: id.into(),
            name: "add_note".into(),
            output: output.into(),
            media: Vec::new(),
        };
        vec![
            Item::user("Hi"),
            Item::Assistant {
                text: "Hello".into(),
                calls: Vec::new(),
                private: vec![thought("ollama", "old")],
            },
            Item::User { text: "Note it".into(), media: vec![image()] },
            Item::Assistant {
                text: String::new(),
                calls: vec![call("a", "{\"z\":1,\"b\":[]}"), call("b", "{\"key\"")],
                private: vec![thought("gemini", "other"), thought("ollama", "hm")],
            },
            result("a", "{\"success\":true}"),
            result("b", "{\"success\":false}"),
            Item::Assistant { text: String::new(), calls: Vec::new(), private: vec![thought("ollama", "x")] },
        ]
    }

    #[test]
    fn a_whole_request() {
        let settings = Generation {
            temperature: Some(0.5),
            max_tokens: Some(100),
            top_p: Some(0.9),
            frequency_penalty: Some(-1.0),
            presence_penalty: Some(1.0),
            repeat_penalty: Some(1.25),
            output_format: Some(OutputFormat::Json),
        };
        let schema = json!({"type": "object", "properties": {"key": {"type": "string"}}});
        let tools = vec![spec(schema.clone())];
        let request = Request {
            tools,
            settings,
            web_search: true,
            ..Request::new("qwen3:4b", "Be brief.", conversation())
        };
        let expected = json!({
            "model": "qwen3:4b",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": "Note it", "images": ["aGk="]},
                {
                    "role": "assistant",
                    "content": "",
                    "thinking": "hm",
                    "tool_calls": [
                        {"id": "a", "function": {"name": "add_note", "arguments": {"z": 1, "b": []}}},
                        {"id": "b", "function": {"name": "add_note", "arguments": {}}},
                    ],
                },
                {"role": "tool", "content": "{\"success\":true}", "tool_name": "add_note", "tool_call_id": "a"},
                {"role": "tool", "content": "{\"success\":false}", "tool_name": "add_note", "tool_call_id": "b"},
            ],
            "stream": true,
            "truncate": false,
            "shift": false,
            "options": {
                "num_predict": 100,
                "temperature": 0.5,
                "top_p": 0.9,
                "repeat_penalty": 1.25,
                "frequency_penalty": -1.0,
                "presence_penalty": 1.0,
            },
            "think": true,
            "tools": [{
                "type": "function",
                "function": {"name": "add_note", "description": "Adds.", "parameters": schema},
            }],
        });
        assert_eq!(body(&request, ALL), expected);
    }

    #[test]
    fn pictures_of_a_result_go_with_it_to_a_model_that_sees() {
        let picture = || MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "AA==".into() };
        let result = Item::ToolResult {
            call_id: "a".into(),
            name: "draw".into(),
            output: "{}".into(),
            media: vec![picture(), picture()],
        };
        let request = Request::new("m", "", vec![result]);
        let of = |able| body(&request, able)["messages"][0]["images"].clone();
        assert_eq!(of(ALL), json!(["AA==", "AA=="]));
        assert_eq!(of(Able { tools: false, ..ALL }), json!(["AA==", "AA=="]), "as words of a person");
        assert_eq!(of(Able { vision: false, ..ALL }), Value::Null);
    }

    #[test]
    fn a_model_that_can_do_nothing_gets_only_words() {
        let tools = vec![spec(json!({"type": "object"}))];
        let request = Request { tools, ..Request::new("gemma2", "", conversation()) };
        let expected = json!({
            "model": "gemma2",
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": "Note it"},
                {"role": "user", "content": "[Result of the tool add_note]\n{\"success\":true}"},
                {"role": "user", "content": "[Result of the tool add_note]\n{\"success\":false}"},
            ],
            "stream": true,
            "truncate": false,
            "shift": false,
            "options": {},
        });
        assert_eq!(body(&request, NONE), expected);
    }

    #[test]
    fn a_form_is_asked_for_where_no_tool_can_be_called() {
        let schema = json!({"type": "object", "properties": {"response": {"type": "string"}}});
        let answer = AnswerSchema { name: "answer".into(), schema: schema.clone() };
        let format = |schema, output_format, tools, able| {
            let settings = Generation { output_format, ..Generation::default() };
            let request = Request { schema, settings, tools, ..Request::new("m", "", Vec::new()) };
            body(&request, able).get("format").cloned()
        };
        let tools = || vec![spec(json!({"type": "object"}))];
        let json_wanted = Some(OutputFormat::Json);
        assert_eq!(format(Some(answer.clone()), json_wanted, Vec::new(), ALL), Some(schema.clone()));
        assert_eq!(format(Some(answer.clone()), None, tools(), ALL), None);
        assert_eq!(format(Some(answer), None, tools(), NONE), Some(schema));
        assert_eq!(format(None, json_wanted, Vec::new(), ALL), Some(json!("json")));
        assert_eq!(format(None, json_wanted, tools(), ALL), None);
        assert_eq!(format(None, Some(OutputFormat::Text), Vec::new(), ALL), None);
    }

    #[test]
    fn a_tool_without_parameters_has_none() {
        let sent = |parameters| tool(&spec(parameters))["function"]["parameters"].clone();
        let none = json!({"type": "object", "properties": {}});
        assert_eq!(sent(json!({"type": "object"})), none);
        assert_eq!(sent(json!({})), none);
        assert_eq!(sent(json!(true)), none);
    }

    #[test]
    fn schemas_that_are_no_objects_are_made_objects() {
        let cases = [
            (json!({"type": "object"}), json!({"type": "object"})),
            (
                json!({"type": "object", "properties": {"a": true, "b": {"anyOf": [{"type": "null"}, true]}},
                    "additionalProperties": false, "required": ["a"]}),
                json!({"type": "object", "properties": {"a": {}, "b": {"anyOf": [{"type": "null"}, {}]}},
                    "additionalProperties": false, "required": ["a"]}),
            ),
            (
                json!({"properties": {"properties": {"type": "object", "properties": {"x": false}}}}),
                json!({"properties": {"properties": {"type": "object", "properties": {"x": {}}}}}),
            ),
            (json!(true), json!({})),
        ];
        for (schema, expected) in cases {
            assert_eq!(typed(&schema), expected, "{schema}");
        }
    }
}
