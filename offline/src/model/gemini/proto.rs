//! The messages of Gemini's API as far as we may send them, and the way its JSON is read: names in either case, nulls as
//! if they were not there, nothing unknown.

use serde_json::{Map, Value};

use super::super::checks::is_base64;

/// A message: its fields by name.
pub(super) type Message = &'static [(&'static str, Shape)];

/// What a field holds.
pub(super) enum Shape {
    Text,
    Texts,
    Number,
    Whole,
    Flag,
    /// Base64, of either alphabet.
    Bytes,
    /// A JSON object, whatever is in it.
    Struct,
    /// Any JSON.
    Json,
    One(Message),
    Many(Message),
    /// An object of messages by name.
    Map(Message),
}

/// `POST /v1beta/models/{model}:generateContent`.
pub(super) static REQUEST: [(&str, Shape); 6] = [
    ("contents", Shape::Many(&CONTENT)),
    ("systemInstruction", Shape::One(&CONTENT)),
    ("tools", Shape::Many(&TOOL)),
    ("toolConfig", Shape::One(&TOOL_CONFIG)),
    ("generationConfig", Shape::One(&GENERATION)),
    ("safetySettings", Shape::Many(&SAFETY)),
];

/// `POST /v1beta/models/{model}:batchEmbedContents`.
pub(super) static BATCH_EMBED: [(&str, Shape); 1] = [("requests", Shape::Many(&EMBED))];

static EMBED: [(&str, Shape); 5] = [
    ("model", Shape::Text),
    ("content", Shape::One(&CONTENT)),
    ("taskType", Shape::Text),
    ("title", Shape::Text),
    ("outputDimensionality", Shape::Whole),
];

static CONTENT: [(&str, Shape); 2] = [("role", Shape::Text), ("parts", Shape::Many(&PART))];

static PART: [(&str, Shape); 8] = [
    ("text", Shape::Text),
    ("inlineData", Shape::One(&BLOB)),
    ("functionCall", Shape::One(&CALL)),
    ("functionResponse", Shape::One(&RESPONSE)),
    ("toolCall", Shape::Struct),
    ("toolResponse", Shape::Struct),
    ("thought", Shape::Flag),
    ("thoughtSignature", Shape::Bytes),
];

static BLOB: [(&str, Shape); 2] = [("mimeType", Shape::Text), ("data", Shape::Bytes)];

static CALL: [(&str, Shape); 3] = [("id", Shape::Text), ("name", Shape::Text), ("args", Shape::Struct)];

static RESPONSE: [(&str, Shape); 3] =
    [("id", Shape::Text), ("name", Shape::Text), ("response", Shape::Struct)];

static TOOL: [(&str, Shape); 2] =
    [("functionDeclarations", Shape::Many(&DECLARATION)), ("googleSearch", Shape::One(&[]))];

static DECLARATION: [(&str, Shape); 6] = [
    ("name", Shape::Text),
    ("description", Shape::Text),
    ("parameters", Shape::One(&SCHEMA)),
    ("parametersJsonSchema", Shape::Json),
    ("response", Shape::One(&SCHEMA)),
    ("responseJsonSchema", Shape::Json),
];

static TOOL_CONFIG: [(&str, Shape); 2] =
    [("functionCallingConfig", Shape::One(&CALLING)), ("includeServerSideToolInvocations", Shape::Flag)];

static CALLING: [(&str, Shape); 2] = [("mode", Shape::Text), ("allowedFunctionNames", Shape::Texts)];

static GENERATION: [(&str, Shape); 13] = [
    ("temperature", Shape::Number),
    ("topP", Shape::Number),
    ("topK", Shape::Whole),
    ("candidateCount", Shape::Whole),
    ("maxOutputTokens", Shape::Whole),
    ("stopSequences", Shape::Texts),
    ("seed", Shape::Whole),
    ("presencePenalty", Shape::Number),
    ("frequencyPenalty", Shape::Number),
    ("responseMimeType", Shape::Text),
    ("responseSchema", Shape::One(&SCHEMA)),
    ("responseJsonSchema", Shape::Json),
    ("thinkingConfig", Shape::One(&THINKING)),
];

static THINKING: [(&str, Shape); 3] =
    [("includeThoughts", Shape::Flag), ("thinkingBudget", Shape::Whole), ("thinkingLevel", Shape::Text)];

static SAFETY: [(&str, Shape); 2] = [("category", Shape::Text), ("threshold", Shape::Text)];

/// The part of OpenAPI's schema that Gemini takes: no `$ref`, no `additionalProperties`, no `oneOf`.
static SCHEMA: [(&str, Shape); 21] = [
    ("type", Shape::Text),
    ("format", Shape::Text),
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("nullable", Shape::Flag),
    ("enum", Shape::Texts),
    ("items", Shape::One(&SCHEMA)),
    ("minItems", Shape::Whole),
    ("maxItems", Shape::Whole),
    ("properties", Shape::Map(&SCHEMA)),
    ("required", Shape::Texts),
    ("minProperties", Shape::Whole),
    ("maxProperties", Shape::Whole),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("minLength", Shape::Whole),
    ("maxLength", Shape::Whole),
    ("pattern", Shape::Text),
    ("default", Shape::Json),
    ("anyOf", Shape::Many(&SCHEMA)),
    ("propertyOrdering", Shape::Texts),
];

/// A message with its fields in camel case, or what is wrong with it.
pub(super) fn read(value: &Value, message: Message, path: &str) -> Result<Value, String> {
    let Value::Object(fields) = value else {
        return Err(mismatch(path, "message", value));
    };
    let mut known = Map::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let camel = camel(name);
        let Some((_, shape)) = message.iter().find(|(field, _)| *field == camel) else {
            return Err(unknown(name, path));
        };
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if known.insert(camel, field(value, shape, &path)?).is_some() {
            return Err(format!("Invalid value at '{path}': the field is there twice."));
        }
    }
    Ok(Value::Object(known))
}

fn unknown(name: &str, path: &str) -> String {
    let place = if path.is_empty() { String::new() } else { format!(" at '{path}'") };
    format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.")
}

fn field(value: &Value, shape: &Shape, path: &str) -> Result<Value, String> {
    let fits = match shape {
        Shape::One(message) => return read(value, message, path),
        Shape::Many(message) => return many(value, message, path),
        Shape::Map(message) => return map(value, message, path),
        Shape::Text => value.is_string(),
        Shape::Texts => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        Shape::Number => value.is_number(),
        Shape::Whole => value.is_i64() || value.as_str().is_some_and(|text| text.parse::<i64>().is_ok()),
        Shape::Flag => value.is_boolean(),
        Shape::Bytes => value.as_str().is_some_and(is_bytes),
        Shape::Struct => value.is_object(),
        Shape::Json => true,
    };
    if fits { Ok(value.clone()) } else { Err(mismatch(path, shape.name(), value)) }
}

fn many(value: &Value, message: Message, path: &str) -> Result<Value, String> {
    let Value::Array(all) = value else {
        return Err(mismatch(path, "list", value));
    };
    all.iter().enumerate().map(|(at, one)| read(one, message, &format!("{path}[{at}]"))).collect()
}

fn map(value: &Value, message: Message, path: &str) -> Result<Value, String> {
    let Value::Object(all) = value else {
        return Err(mismatch(path, "map", value));
    };
    let read =
        |(name, one): (&String, &Value)| Ok((name.clone(), read(one, message, &format!("{path}.{name}"))?));
    Ok(Value::Object(all.iter().map(read).collect::<Result<Map<_, _>, String>>()?))
}

fn is_bytes(text: &str) -> bool {
    is_base64(&text.replace('-', "+").replace('_', "/"))
}

fn mismatch(path: &str, wanted: &str, value: &Value) -> String {
    if value.is_array() {
        return format!("Invalid value at '{path}': Proto field is not repeating, cannot start list.");
    }
    format!("Invalid value at '{path}' ({wanted}), {value}")
}

/// `function_call` is another way to write `functionCall`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

impl Shape {
    fn name(&self) -> &'static str {
        match self {
            Self::Text => "TYPE_STRING",
            Self::Texts => "a list of TYPE_STRING",
            Self::Number => "TYPE_DOUBLE",
            Self::Whole => "TYPE_INT64",
            Self::Flag => "TYPE_BOOL",
            Self::Bytes => "TYPE_BYTES",
            Self::Struct | Self::Json | Self::One(_) | Self::Many(_) | Self::Map(_) => "message",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_read_in_either_case_and_nulls_not_at_all() {
        let sent = json!({
            "contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AA-_"}}]}],
            "system_instruction": null,
            "tools": [{"function_declarations": [{"name": "a", "parameters": {"properties": {"my_name": {}}}}]}],
        });
        let wanted = json!({
            "contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA-_"}}]}],
            "tools": [{"functionDeclarations": [{"name": "a", "parameters": {"properties": {"my_name": {}}}}]}],
        });
        assert_eq!(read(&sent, &REQUEST, ""), Ok(wanted));
    }

    #[test]
    fn what_is_unknown_or_of_another_type_is_told() {
        let declared = |schema: Value| json!({"tools": [{"functionDeclarations": [{"parameters": schema}]}]});
        let at = "tools[0].functionDeclarations[0].parameters";
        let cases = [
            (json!([]), "Invalid value at '': Proto field is not repeating".to_owned()),
            (json!({"prompt": 1}), "Unknown name \"prompt\": Cannot find field.".to_owned()),
            (json!({"contents": {}}), "Invalid value at 'contents' (list), {}".to_owned()),
            (
                json!({"contents": [{"parts": [{"text": 1}]}]}),
                "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 1".to_owned(),
            ),
            (
                json!({"contents": [{"parts": [{"function_response": {"response": ["a"]}}]}]}),
                "'contents[0].parts[0].function_response.response': Proto field is not repeating".to_owned(),
            ),
            (declared(json!({"$ref": "#/a"})), format!("Unknown name \"$ref\" at '{at}'")),
            (
                declared(json!({"additionalProperties": false})),
                format!("Unknown name \"additionalProperties\" at '{at}'"),
            ),
            (
                declared(json!({"properties": {"a": {"oneOf": []}}})),
                format!("Unknown name \"oneOf\" at '{at}.properties.a'"),
            ),
            (
                declared(json!({"type": ["string", "null"]})),
                format!("Invalid value at '{at}.type': Proto field is not repeating"),
            ),
            (declared(json!({"enum": [1]})), format!("Invalid value at '{at}.enum'")),
        ];
        for (sent, wanted) in cases {
            let told = read(&sent, &REQUEST, "").unwrap_err();
            assert!(told.contains(&wanted), "{sent}: {told}");
        }
    }
}
