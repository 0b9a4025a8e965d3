//! Request in the format of `streamGenerateContent`. Called by [`super`] only.

use serde_json::{Map, Value, json};

use super::name::NAME;
use super::{schema, signed};
use crate::{Capabilities, Item, MediaPart, Request, ToolChoice, ToolSpec};
use figaro_domain::generation::OutputFormat;
use figaro_domain::tool::Call;

/// Treatment of the signatures of earlier answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signatures {
    /// All are sent back.
    Kept,
    /// None is sent, because Gemini refuses one of them.
    Dropped,
}

/// Placeholder that Gemini accepts for a call without a signature, such as another provider's.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &Request, signatures: Signatures) -> Value {
    let can = Capabilities::of(NAME, &request.model);
    let with_tools = !request.tools.is_empty();
    let wants_json = request.schema.is_some() || request.settings.output_format == Some(OutputFormat::Json);
    let is_json = wants_json && can.structured_output && (can.schema_with_tools || !with_tools);
    let search = request.web_search
        && can.web_search
        && (can.search_with_tools || !with_tools)
        && (can.schema_with_tools || !is_json);

    let mixed = with_tools && search;

    let mut body = json!({"contents": contents(request, mixed, signatures)});
    if !request.instructions.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": request.instructions}]});
    }
    let mut tools = Vec::new();
    if with_tools {
        let declarations: Vec<Value> = request.tools.iter().map(|spec| declaration(spec)).collect();
        tools.push(json!({"functionDeclarations": declarations}));
    }
    if search {
        tools.push(json!({"googleSearch": {}}));
    }
    let tool_config = tool_config(request, mixed);
    if !tool_config.is_empty() {
        body["toolConfig"] = tool_config.into();
    }
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    let config = config(request, is_json);
    if !config.is_empty() {
        body["generationConfig"] = config.into();
    }
    body
}

/// Returns `true` if a model accepts sampling parameters, by Google's names. Models after 3.1 do not.
pub(super) fn samples(model: &str) -> bool {
    ["gemini-1", "gemini-2", "gemini-3-", "gemini-3.1", "gemma"].iter().any(|name| model.starts_with(name))
}

/// Returns `true` if a model refuses calls without a signature, by Google's names. Models before Gemini 3 do not.
fn needs_signatures(model: &str) -> bool {
    !["gemini-1", "gemini-2", "gemma"].iter().any(|name| model.starts_with(name))
}

/// Returns `true` if a model can stream its thoughts. Without them it is silent for minutes, like a dead one.
fn thinks(model: &str) -> bool {
    ["gemini-2.5", "gemini-3"].iter().any(|name| model.starts_with(name))
}

/// Returns how tools are called, if the model does not decide alone or both kinds of tools are `mixed`.
fn tool_config(request: &Request, mixed: bool) -> Map<String, Value> {
    let mut config = Map::new();
    if mixed {
        config.insert("includeServerSideToolInvocations".into(), true.into());
    }
    let calling = match &request.options.tool_choice {
        _ if request.tools.is_empty() => return config,
        ToolChoice::Auto => return config,
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    config.insert("functionCallingConfig".into(), calling);
    config
}

fn config(request: &Request, is_json: bool) -> Map<String, Value> {
    let settings = &request.settings;
    let mut config = Map::new();
    if let Some(most) = settings.max_tokens {
        config.insert("maxOutputTokens".into(), most.into());
    }
    if let (Some(temperature), true) = (settings.temperature, samples(&request.model)) {
        config.insert("temperature".into(), temperature.into());
    }
    if let (Some(top_p), true) = (settings.top_p, samples(&request.model)) {
        config.insert("topP".into(), top_p.into());
    }
    if !request.options.stop.is_empty() {
        config.insert("stopSequences".into(), json!(request.options.stop));
    }
    if thinks(&request.model) {
        config.insert("thinkingConfig".into(), json!({"includeThoughts": true}));
    }
    if is_json {
        config.insert("responseMimeType".into(), "application/json".into());
        if let Some(answer) = &request.schema {
            config.insert("responseJsonSchema".into(), schema::fitted(&answer.schema));
        }
    }
    config
}

fn declaration(tool: &ToolSpec) -> Value {
    let mut declaration = json!({"name": tool.name, "description": tool.description});
    let parameters = schema::fitted(&tool.parameters);
    // Gemini refuses an object without properties.
    if parameters["properties"].as_object().is_some_and(|properties| !properties.is_empty()) {
        declaration["parametersJsonSchema"] = parameters;
    }
    declaration
}

/// Converts the conversation to alternating turns. Consecutive passes of a model form one turn, and so do results:
/// Gemini refuses calls and results that are not adjacent. It accepts calls of Google's own tools only if both kinds
/// of tools are `mixed`.
fn contents(request: &Request, mixed: bool, signatures: Signatures) -> Vec<Value> {
    let mut turns: Vec<(GeminiTurnKind, Vec<Value>)> = Vec::new();
    for item in &request.items {
        let (kind, parts) = match item {
            Item::User { text, media } => (GeminiTurnKind::Asked, user(text, media)),
            Item::Assistant { text, calls, private } => {
                let told = match signatures {
                    Signatures::Kept => signed::parts(private, &request.model),
                    Signatures::Dropped => &[],
                };
                let told: Vec<&Value> =
                    told.iter().filter(|kept| mixed || !signed::is_hosted(kept)).collect();
                (GeminiTurnKind::Said, signed::rebuilt(text, &called(calls), &told))
            }
            Item::ToolResult { call_id, name, output, media } => {
                let pictures = media.iter().map(picture);
                (
                    GeminiTurnKind::Given,
                    std::iter::once(result(call_id, name, output)).chain(pictures).collect(),
                )
            }
        };
        match turns.last_mut() {
            Some((last, have)) if *last == kind && kind != GeminiTurnKind::Asked => have.extend(parts),
            _ if parts.is_empty() => {}
            _ => turns.push((kind, parts)),
        }
    }
    let is_strict = signatures == Signatures::Dropped || needs_signatures(&request.model);
    let turns = turns.into_iter().map(|(kind, mut parts)| {
        if is_strict && kind == GeminiTurnKind::Said {
            sign_first_call(&mut parts);
        }
        json!({"role": if kind == GeminiTurnKind::Said { "model" } else { "user" }, "parts": parts})
    });
    turns.collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GeminiTurnKind {
    Asked,
    Said,
    Given,
}

/// Adds a placeholder signature to the first call of a turn, which needs one. The others have none.
fn sign_first_call(parts: &mut [Value]) {
    let call = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(call) = call.filter(|call| call.get("thoughtSignature").is_none()) {
        call["thoughtSignature"] = NO_SIGNATURE.into();
    }
}

fn user(text: &str, media: &[MediaPart]) -> Vec<Value> {
    let text = (!text.is_empty()).then(|| json!({"text": text}));
    let hint = MediaPart::hint(media).map(|hint| json!({"text": hint}));
    text.into_iter().chain(media.iter().map(picture)).chain(hint).collect()
}

fn picture(MediaPart { mime_type, base64, .. }: &MediaPart) -> Value {
    json!({"inlineData": {"mimeType": mime_type, "data": base64.as_ref()}})
}

/// Converts calls. Arguments that are no JSON object would be refused with the whole request, so they are dropped;
/// the call's result explains the fault.
fn called(calls: &[Call]) -> Vec<(&str, Value)> {
    let part = |call: &Call| {
        let arguments = serde_json::from_str::<Map<String, Value>>(&call.arguments).unwrap_or_default();
        json!({"functionCall": {"id": call.id, "name": call.name, "args": arguments}})
    };
    calls.iter().map(|call| (call.id.as_str(), part(call))).collect()
}

/// Converts a result to text. In an object Gemini would look for references of its own, and refuse a result that
/// holds a schema.
fn result(call_id: &str, name: &str, output: &str) -> Value {
    json!({"functionResponse": {"id": call_id, "name": name, "response": {"output": output}}})
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::AnswerSchema;
    use figaro_domain::conversation::PrivatePart;
    use figaro_domain::generation::Generation;

    const MODEL: &str = "gemini-3.5-flash";

    fn call(id: &str, arguments: &str) -> Call {
        Call { id: id.into(), name: "add_note".into(), arguments: arguments.into() }
    }

    fn said(text: &str, calls: Vec<Call>, private: Vec<PrivatePart>) -> Item {
        Item::Assistant { text: text.into(), calls, private }
    }

    fn given(id: &str, output: &str) -> Item {
        Item::ToolResult {
            call_id: id.into(),
            name: "add_note".into(),
            output: output.into(),
            media: Vec::new(),
        }
    }

    fn private(model: &str, parts: Value) -> PrivatePart {
        PrivatePart { provider: NAME.into(), data: json!({"model": model, "parts": parts}) }
    }

    fn contents_of(model: &str, items: Vec<Item>) -> Value {
        body(&Request::new(model, "", items), Signatures::Kept)["contents"].take()
    }

    fn add_note() -> Arc<ToolSpec> {
        let parameters = json!({"type": "object", "properties": {"key": {"type": "string", "maxLength": 9}}});
        Arc::new(ToolSpec::new("add_note", "Adds.", parameters))
    }

    #[test]
    fn pictures_of_a_result_stand_behind_it() {
        let media = vec![MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "AA==".into() }];
        let drawn =
            Item::ToolResult { call_id: "c1".into(), name: "draw".into(), output: "{}".into(), media };
        let parts = &contents_of(MODEL, vec![Item::user("Draw"), drawn])[1]["parts"];
        assert!(parts[0].get("functionResponse").is_some(), "{parts}");
        assert_eq!(parts[1], json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}}));
    }

    #[test]
    fn a_whole_conversation_keeps_its_order() {
        let image = MediaPart { mime_type: "image/jpeg".into(), seconds: 0, base64: "/9j/".into() };
        let items = vec![
            Item::User { text: "Note it".into(), media: vec![image] },
            said(
                "Gladly.",
                vec![call("c1", "{\"key\":\"a\"}"), call("c2", "{}")],
                vec![private(
                    MODEL,
                    json!([{"text": 7}, {"functionCall": "c1", "thoughtSignature": "S1"}, {"functionCall": "c2"}]),
                )],
            ),
            given("c1", "{\"$ref\":\"#/a\"}"),
            given("c2", "{}"),
            said(
                "Done.",
                Vec::new(),
                vec![private(MODEL, json!([{"text": 5}, {"text": 0, "thoughtSignature": "S2"}]))],
            ),
            Item::user("Thanks"),
        ];
        let request =
            Request { tools: vec![add_note()], web_search: true, ..Request::new(MODEL, "Be brief.", items) };
        let result = |id: &str, output: &str| json!({"functionResponse": {"id": id, "name": "add_note", "response": {"output": output}}});
        let expected = json!({
            "contents": [
                {"role": "user", "parts": [
                    {"text": "Note it"},
                    {"inlineData": {"mimeType": "image/jpeg", "data": "/9j/"}},
                ]},
                {"role": "model", "parts": [
                    {"text": "Gladly."},
                    {"functionCall": {"id": "c1", "name": "add_note", "args": {"key": "a"}}, "thoughtSignature": "S1"},
                    {"functionCall": {"id": "c2", "name": "add_note", "args": {}}},
                ]},
                {"role": "user", "parts": [result("c1", "{\"$ref\":\"#/a\"}"), result("c2", "{}")]},
                {"role": "model", "parts": [{"text": "Done."}, {"text": "", "thoughtSignature": "S2"}]},
                {"role": "user", "parts": [{"text": "Thanks"}]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [
                {"functionDeclarations": [{
                    "name": "add_note",
                    "description": "Adds.",
                    "parametersJsonSchema": {"type": "object", "properties": {"key": {"type": "string"}}},
                }]},
                {"googleSearch": {}},
            ],
            "toolConfig": {"includeServerSideToolInvocations": true},
            "generationConfig": {"thinkingConfig": {"includeThoughts": true}},
        });
        assert_eq!(body(&request, Signatures::Kept), expected);
    }

    #[test]
    fn the_least_is_only_contents() {
        let body = body(&Request::new("gemini-4-argon", "", vec![Item::user("Hi")]), Signatures::Kept);
        assert_eq!(body, json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}));
    }

    #[test]
    fn what_a_model_does_not_combine_is_left_out() {
        let tools = || vec![add_note()];
        let schema =
            || Some(AnswerSchema { name: "a".into(), schema: json!({"type": "object", "properties": {}}) });
        let cases = [
            // tools, search, schema → search, mixed, schema
            ("gemini-3.5-flash", true, true, true, (true, true, true)),
            ("gemini-3.5-flash", false, true, true, (true, false, true)),
            ("gemini-2.5-flash", true, true, true, (false, false, false)),
            ("gemini-2.5-flash", true, false, true, (false, false, false)),
            ("gemini-2.5-flash", false, true, false, (true, false, false)),
            ("gemini-2.5-flash", false, false, true, (false, false, true)),
            ("gemini-2.5-flash", false, true, true, (false, false, true)),
            ("gemma-3-27b-it", false, true, true, (false, false, false)),
        ];
        for (model, with_tools, web_search, with_schema, expected) in cases {
            let request = Request {
                tools: if with_tools { tools() } else { Vec::new() },
                web_search,
                schema: schema().filter(|_| with_schema),
                ..Request::new(model, "", vec![Item::user("Hi")])
            };
            let body = body(&request, Signatures::Kept);
            let search =
                body["tools"].as_array().is_some_and(|tools| tools.contains(&json!({"googleSearch": {}})));
            let mixed = body["toolConfig"]["includeServerSideToolInvocations"] == true;
            let schema = body["generationConfig"].get("responseJsonSchema").is_some();
            assert_eq!((search, mixed, schema), expected, "{model} {with_tools} {web_search} {with_schema}");
        }
    }

    #[test]
    fn settings_go_to_models_that_take_them() {
        let settings = Generation {
            temperature: Some(0.5),
            max_tokens: Some(100),
            top_p: Some(0.25),
            frequency_penalty: Some(1.0),
            output_format: Some(OutputFormat::Json),
            ..Generation::default()
        };
        let config = |model: &str, tools: Vec<Arc<ToolSpec>>| {
            let request = Request { settings, tools, ..Request::new(model, "", vec![Item::user("Hi")]) };
            body(&request, Signatures::Kept)["generationConfig"].take()
        };
        let aloud = json!({"includeThoughts": true});
        let json = "application/json";
        assert_eq!(
            config("gemini-3.8-flash", vec![add_note()]),
            json!({"maxOutputTokens": 100, "thinkingConfig": aloud, "responseMimeType": json})
        );
        assert_eq!(
            config("gemini-3.1-pro-preview", Vec::new()),
            json!({
                "maxOutputTokens": 100, "temperature": 0.5, "topP": 0.25, "thinkingConfig": aloud, "responseMimeType": json,
            })
        );
        assert_eq!(
            config("gemini-2.5-flash", vec![add_note()]),
            json!({"maxOutputTokens": 100, "temperature": 0.5, "topP": 0.25, "thinkingConfig": aloud})
        );
    }

    #[test]
    fn an_answer_is_held_to_a_schema_that_fits() {
        let schema = json!({
            "type": "object",
            "properties": {"mood": {"$ref": "#/$defs/Mood"}},
            "$defs": {"Mood": {"const": "good"}},
        });
        let schema = Some(AnswerSchema { name: "answer".into(), schema });
        let request = Request { schema, ..Request::new("gemini-flash-latest", "", vec![Item::user("Hi")]) };
        assert_eq!(
            body(&request, Signatures::Kept)["generationConfig"],
            json!({
                "responseMimeType": "application/json",
                "responseJsonSchema": {"type": "object", "properties": {"mood": {"enum": ["good"]}}},
            })
        );
    }

    #[test]
    fn a_call_that_never_had_a_signature_is_marked_where_one_is_needed() {
        let signature = |model: &str, private: Vec<PrivatePart>| {
            let items = vec![Item::user("Hi"), said("", vec![call("a", "{}"), call("b", "{}")], private)];
            let contents = contents_of(model, items);
            let parts = contents[1]["parts"].as_array().unwrap();
            parts.iter().map(|part| part["thoughtSignature"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let signed = |model: &str| private(model, json!([{"functionCall": "a", "thoughtSignature": "S"}]));
        let marked = || vec![Some(NO_SIGNATURE.to_owned()), None];
        let others = PrivatePart { provider: "openai".into(), data: signed(MODEL).data };
        assert_eq!(signature(MODEL, vec![signed(MODEL)]), [Some("S".to_owned()), None]);
        assert_eq!(signature(MODEL, vec![others]), marked());
        assert_eq!(signature(MODEL, vec![signed("gemini-2.5-pro")]), marked());
        assert_eq!(signature("gemini-2.5-pro", Vec::new()), [None, None]);
    }

    #[test]
    fn without_signatures_nothing_of_them_is_left() {
        let kept = private(
            MODEL,
            json!([{"text": 1, "thoughtSignature": "T"}, {"functionCall": "a", "thoughtSignature": "S"}]),
        );
        let request = Request::new("gemini-2.5-pro", "", vec![said("x", vec![call("a", "{}")], vec![kept])]);
        let sent = body(&request, Signatures::Dropped)["contents"].take();
        let call = json!({"functionCall": {"id": "a", "name": "add_note", "args": {}}, "thoughtSignature": NO_SIGNATURE});
        assert_eq!(sent, json!([{"role": "model", "parts": [{"text": "x"}, call]}]));
    }

    #[test]
    fn googles_own_calls_go_back_only_where_both_kinds_of_tool_are_mixed() {
        let search =
            json!({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s"}, "thoughtSignature": "S"});
        let thought = json!({"text": "Hm.", "thought": true, "thoughtSignature": "T"});
        let kept = private(MODEL, json!([{"part": search}, {"part": thought}, {"text": 1}]));
        let request = |web_search| Request {
            tools: vec![add_note()],
            web_search,
            ..Request::new(MODEL, "", vec![said("x", Vec::new(), vec![kept.clone()])])
        };
        let parts = |web_search| body(&request(web_search), Signatures::Kept)["contents"][0]["parts"].take();
        assert_eq!(parts(true), json!([search, thought, {"text": "x"}]));
        assert_eq!(parts(false), json!([thought, {"text": "x"}]));
    }

    #[test]
    fn turns_are_as_gemini_wants_them() {
        let items = vec![
            Item::user(""),
            Item::user("a"),
            Item::user("b"),
            said("", Vec::new(), Vec::new()),
            said("c", Vec::new(), Vec::new()),
            said("", vec![call("1", "not JSON"), call("2", "[1]")], Vec::new()),
            given("1", "x"),
            given("2", "y"),
            Item::user("d"),
        ];
        let part = |id: &str| json!({"functionCall": {"id": id, "name": "add_note", "args": {}}});
        let result = |id: &str, output: &str| json!({"functionResponse": {"id": id, "name": "add_note", "response": {"output": output}}});
        assert_eq!(
            contents_of("gemini-2.5-flash", items),
            json!([
                {"role": "user", "parts": [{"text": "a"}]},
                {"role": "user", "parts": [{"text": "b"}]},
                {"role": "model", "parts": [{"text": "c"}, part("1"), part("2")]},
                {"role": "user", "parts": [result("1", "x"), result("2", "y")]},
                {"role": "user", "parts": [{"text": "d"}]},
            ])
        );
    }

    #[test]
    fn a_tool_without_parameters_has_none() {
        let tool = ToolSpec::new("add_note", "Adds.", json!({"type": "object", "properties": {}}));
        assert_eq!(declaration(&tool), json!({"name": "add_note", "description": "Adds."}));
    }

    #[test]
    fn a_picture_may_stand_alone() {
        let image = MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "AAAA".into() };
        let items = vec![Item::User { text: String::new(), media: vec![image] }];
        let seen =
            json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}]);
        assert_eq!(contents_of(MODEL, items), seen);
    }
}
