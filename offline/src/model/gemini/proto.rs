//! Messages of Gemini's API that the bot may send, and the parser of its JSON: accepts camel case and snake case, ignores
//! nulls, refuses unknown fields.

use serde_json::{Map, Value};

use super::super::checks::is_base64;

/// Message definition: fields by name.
pub(super) type ProtoMessage = &'static [(&'static str, FieldShape)];

/// Type of a field.
pub(super) enum FieldShape {
    Text,
    Texts,
    Number,
    Whole,
    Flag,
    /// Base64, standard or URL-safe.
    Bytes,
    /// JSON object with any content.
    Struct,
    /// Any JSON.
    Json,
    One(ProtoMessage),
    Many(ProtoMessage),
    /// Object with a message per name.
    Map(ProtoMessage),
}

/// `POST /v1beta/models/{model}:generateContent`.
pub(super) static REQUEST: [(&str, FieldShape); 6] = [
    ("contents", FieldShape::Many(&CONTENT)),
    ("systemInstruction", FieldShape::One(&CONTENT)),
    ("tools", FieldShape::Many(&TOOL)),
    ("toolConfig", FieldShape::One(&TOOL_CONFIG)),
    ("generationConfig", FieldShape::One(&GENERATION)),
    ("safetySettings", FieldShape::Many(&SAFETY)),
];

/// `POST /v1beta/models/{model}:batchEmbedContents`.
pub(super) static BATCH_EMBED: [(&str, FieldShape); 1] = [("requests", FieldShape::Many(&EMBED))];

static EMBED: [(&str, FieldShape); 5] = [
    ("model", FieldShape::Text),
    ("content", FieldShape::One(&CONTENT)),
    ("taskType", FieldShape::Text),
    ("title", FieldShape::Text),
    ("outputDimensionality", FieldShape::Whole),
];

static CONTENT: [(&str, FieldShape); 2] = [("role", FieldShape::Text), ("parts", FieldShape::Many(&PART))];

static PART: [(&str, FieldShape); 8] = [
    ("text", FieldShape::Text),
    ("inlineData", FieldShape::One(&BLOB)),
    ("functionCall", FieldShape::One(&CALL)),
    ("functionResponse", FieldShape::One(&RESPONSE)),
    ("toolCall", FieldShape::Struct),
    ("toolResponse", FieldShape::Struct),
    ("thought", FieldShape::Flag),
    ("thoughtSignature", FieldShape::Bytes),
];

static BLOB: [(&str, FieldShape); 2] = [("mimeType", FieldShape::Text), ("data", FieldShape::Bytes)];

static CALL: [(&str, FieldShape); 3] =
    [("id", FieldShape::Text), ("name", FieldShape::Text), ("args", FieldShape::Struct)];

static RESPONSE: [(&str, FieldShape); 3] =
    [("id", FieldShape::Text), ("name", FieldShape::Text), ("response", FieldShape::Struct)];

static TOOL: [(&str, FieldShape); 2] =
    [("functionDeclarations", FieldShape::Many(&DECLARATION)), ("googleSearch", FieldShape::One(&[]))];

static DECLARATION: [(&str, FieldShape); 6] = [
    ("name", FieldShape::Text),
    ("description", FieldShape::Text),
    ("parameters", FieldShape::One(&SCHEMA)),
    ("parametersJsonSchema", FieldShape::Json),
    ("response", FieldShape::One(&SCHEMA)),
    ("responseJsonSchema", FieldShape::Json),
];

static TOOL_CONFIG: [(&str, FieldShape); 2] = [
    ("functionCallingConfig", FieldShape::One(&CALLING)),
    ("includeServerSideToolInvocations", FieldShape::Flag),
];

static CALLING: [(&str, FieldShape); 2] =
    [("mode", FieldShape::Text), ("allowedFunctionNames", FieldShape::Texts)];

static GENERATION: [(&str, FieldShape); 13] = [
    ("temperature", FieldShape::Number),
    ("topP", FieldShape::Number),
    ("topK", FieldShape::Whole),
    ("candidateCount", FieldShape::Whole),
    ("maxOutputTokens", FieldShape::Whole),
    ("stopSequences", FieldShape::Texts),
    ("seed", FieldShape::Whole),
    ("presencePenalty", FieldShape::Number),
    ("frequencyPenalty", FieldShape::Number),
    ("responseMimeType", FieldShape::Text),
    ("responseSchema", FieldShape::One(&SCHEMA)),
    ("responseJsonSchema", FieldShape::Json),
    ("thinkingConfig", FieldShape::One(&THINKING)),
];

static THINKING: [(&str, FieldShape); 3] = [
    ("includeThoughts", FieldShape::Flag),
    ("thinkingBudget", FieldShape::Whole),
    ("thinkingLevel", FieldShape::Text),
];

static SAFETY: [(&str, FieldShape); 2] = [("category", FieldShape::Text), ("threshold", FieldShape::Text)];

/// The part of OpenAPI's schema that Gemini takes: no `$ref`, no `additionalProperties`, no `oneOf`.
static SCHEMA: [(&str, FieldShape); 21] = [
    ("type", FieldShape::Text),
    ("format", FieldShape::Text),
    ("title", FieldShape::Text),
    ("description", FieldShape::Text),
    ("nullable", FieldShape::Flag),
    ("enum", FieldShape::Texts),
    ("items", FieldShape::One(&SCHEMA)),
    ("minItems", FieldShape::Whole),
    ("maxItems", FieldShape::Whole),
    ("properties", FieldShape::Map(&SCHEMA)),
    ("required", FieldShape::Texts),
    ("minProperties", FieldShape::Whole),
    ("maxProperties", FieldShape::Whole),
    ("minimum", FieldShape::Number),
    ("maximum", FieldShape::Number),
    ("minLength", FieldShape::Whole),
    ("maxLength", FieldShape::Whole),
    ("pattern", FieldShape::Text),
    ("default", FieldShape::Json),
    ("anyOf", FieldShape::Many(&SCHEMA)),
    ("propertyOrdering", FieldShape::Texts),
];

/// Returns a message with field names in camel case. The error describes the first violation.
pub(super) fn read(value: &Value, message: ProtoMessage, path: &str) -> Result<Value, String> {
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

fn field(value: &Value, shape: &FieldShape, path: &str) -> Result<Value, String> {
    let fits = match shape {
        FieldShape::One(message) => return read(value, message, path),
        FieldShape::Many(message) => return many(value, message, path),
        FieldShape::Map(message) => return map(value, message, path),
        FieldShape::Text => value.is_string(),
        FieldShape::Texts => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        FieldShape::Number => value.is_number(),
        FieldShape::Whole => value.is_i64() || value.as_str().is_some_and(|text| text.parse::<i64>().is_ok()),
        FieldShape::Flag => value.is_boolean(),
        FieldShape::Bytes => value.as_str().is_some_and(is_bytes),
        FieldShape::Struct => value.is_object(),
        FieldShape::Json => true,
    };
    if fits { Ok(value.clone()) } else { Err(mismatch(path, shape.name(), value)) }
}

fn many(value: &Value, message: ProtoMessage, path: &str) -> Result<Value, String> {
    let Value::Array(all) = value else {
        return Err(mismatch(path, "list", value));
    };
    all.iter().enumerate().map(|(at, one)| read(one, message, &format!("{path}[{at}]"))).collect()
}

fn map(value: &Value, message: ProtoMessage, path: &str) -> Result<Value, String> {
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

/// Converts `function_call` to `functionCall`.
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

impl FieldShape {
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
