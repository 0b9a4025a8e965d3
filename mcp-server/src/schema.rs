//! JSON Schema 2020-12 of a method's arguments, generated from the table. The catalog calls it for every tool. A schema
//! never rejects what Telegram accepts: lengths count differently there, so bounds are the widest that hold.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::lines::TableLines;
use crate::table::{ApiField, ApiTable, ApiType, Method, TypeDef, Unit};

/// Description of a string that stands for a file.
const FILE_HINT: &str = "file_id of a file Telegram already has, or an http(s) URL";
/// Definition of a file sent with the call; a named type in the table.
const UPLOAD: &str = "InputFile";
/// Placeholder of a cut definition.
const CUT: &str = "Cut for size: a search for this name gives it";
/// Approximate size of a cut definition, in bytes.
const CUT_BYTES: usize = CUT.len() + 40;

/// Returns the full schema of a method's arguments.
pub(crate) fn of_method(method: &Method, lines: &TableLines) -> Map<String, Value> {
    within(method, lines, usize::MAX)
}

/// Returns the schema of a method's arguments in about `bound` bytes of JSON, or the size of its parameters alone. All
/// parameters are kept; type definitions only if they fit, required and near ones first. A cut type accepts anything and
/// says how to request it.
pub(crate) fn within(method: &Method, lines: &TableLines, bound: usize) -> Map<String, Value> {
    let mut root = SchemaPart::default();
    let mut needed = SchemaPart::default();
    for field in method.params.iter().filter(|field| field.required) {
        drop(needed.property(field));
    }
    root.object(&method.params, |name| lines.parameter(&method.name, name));
    root.with_definitions(lines, &needed.types, bound)
}

/// Returns the schema of a named type, bounded like [`within`]; `None` for an unknown name.
pub(crate) fn of_type(name: &str, lines: &TableLines, bound: usize) -> Option<Map<String, Value>> {
    ApiTable::get().type_def(name)?;
    Some(SchemaPart::definition(name, lines).with_definitions(lines, &[], bound))
}

/// A part of a schema and the named types it refers to, each once and in order.
#[derive(Default)]
struct SchemaPart<'a> {
    schema: Map<String, Value>,
    types: Vec<&'a str>,
}

impl<'a> SchemaPart<'a> {
    /// Makes the definition of a named type.
    fn definition(name: &str, lines: &TableLines) -> SchemaPart<'static> {
        let mut part = SchemaPart::default();
        match ApiTable::get().type_def(name) {
            // Telegram documents no fields for an upload; these are the ones this server accepts.
            _ if name == UPLOAD => part.schema = upload(),
            Some(TypeDef::Fields(fields)) => part.object(fields, |field| lines.field(name, field)),
            Some(TypeDef::Union(types)) => part.schema = part.any_of(types),
            None => {}
        }
        part
    }

    fn object(&mut self, fields: &'a [ApiField], line: impl Fn(&str) -> Option<&'static str>) {
        let mut properties = Map::new();
        for field in fields {
            let mut schema = self.property(field);
            if field.parse_mode(fields).is_some() {
                schema.remove("maxLength");
            }
            if let Some(line) = line(&field.name).filter(|_| field.constant.is_none()) {
                schema.insert("description".to_owned(), line.into());
            }
            properties.insert(field.name.clone(), Value::Object(schema));
        }
        let required: Vec<&str> = fields.iter().filter(|f| f.required).map(|f| f.name.as_str()).collect();
        self.schema = entries(json!({"type": "object", "properties": properties}));
        if !required.is_empty() {
            self.schema.insert("required".to_owned(), json!(required));
        }
        self.schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }

    fn property(&mut self, field: &'a ApiField) -> Map<String, Value> {
        let mut schema = if field.attach { self.file() } else { self.of(&field.ty) };
        if let Some(constant) = &field.constant {
            schema.insert("const".to_owned(), constant.clone());
        }
        if !field.one_of.is_empty() {
            schema.insert("enum".to_owned(), Value::Array(field.one_of.clone()));
        }
        if let Some(unit) = field.unit {
            bounds(field, unit, &mut schema);
        }
        schema
    }

    fn of(&mut self, ty: &'a ApiType) -> Map<String, Value> {
        entries(match ty {
            ApiType::Integer => json!({"type": "integer"}),
            ApiType::Float => json!({"type": "number"}),
            ApiType::String => json!({"type": "string"}),
            ApiType::Boolean => json!({"type": "boolean"}),
            ApiType::True => json!({"type": "boolean", "const": true}),
            ApiType::InputFile => self.reference(UPLOAD),
            ApiType::Named(name) => self.reference(name),
            ApiType::Array(inner) => json!({"type": "array", "items": self.of(inner)}),
            ApiType::Union(types) if types.contains(&ApiType::InputFile) => return self.file(),
            ApiType::Union(types) => return self.any_of(types),
        })
    }

    fn any_of(&mut self, types: &'a [ApiType]) -> Map<String, Value> {
        let alternatives: Vec<_> = types.iter().map(|ty| Value::Object(self.of(ty))).collect();
        entries(json!({"anyOf": alternatives}))
    }

    /// Makes the schema of a file: one that Telegram has or fetches, or one sent with the call.
    fn file(&mut self) -> Map<String, Value> {
        let known = json!({"type": "string", "description": FILE_HINT});
        entries(json!({"anyOf": [known, self.reference(UPLOAD)]}))
    }

    fn reference(&mut self, name: &'a str) -> Value {
        if !self.types.contains(&name) {
            self.types.push(name);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// Adds the definitions of all referenced types, layer by layer. Each type is defined once, so recursive types
    /// terminate.
    fn with_definitions(self, lines: &TableLines, needed: &[&str], bound: usize) -> Map<String, Value> {
        let SchemaPart { mut schema, types } = self;
        // Without a bound, sizes need not be measured.
        let bytes = |schema: &Map<String, Value>| if bound == usize::MAX { 0 } else { bytes(schema) };
        let mut size = bytes(&schema) + types.len() * CUT_BYTES;
        let mut seen: HashSet<&str> = types.iter().copied().collect();
        let mut defs = Map::new();
        let mut layer = types;
        while !layer.is_empty() {
            let parts = layer.iter().map(|name| (*name, SchemaPart::definition(name, lines)));
            let mut parts: Vec<_> = parts.map(|(name, part)| (name, bytes(&part.schema), part)).collect();
            parts.sort_by_key(|(name, bytes, _)| (!needed.contains(name), *bytes));
            layer = Vec::new();
            for (name, bytes, part) in parts {
                let new: Vec<&str> = part.types.into_iter().filter(|name| !seen.contains(name)).collect();
                let whole = size.saturating_add(bytes + new.len() * CUT_BYTES);
                if whole > bound {
                    defs.insert(name.to_owned(), json!({"description": CUT}));
                    continue;
                }
                size = whole;
                seen.extend(&new);
                layer.extend(new);
                defs.insert(name.to_owned(), Value::Object(part.schema));
            }
        }
        if !defs.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(defs));
        }
        schema
    }
}

/// Makes the schema of a file's content within the arguments.
fn upload() -> Map<String, Value> {
    entries(json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 255, "description": "File name with extension"},
            "base64": {"type": "string", "description": "Content in base64"},
            "text": {"type": "string", "description": "Content of a text file, instead of base64"}
        },
        "required": ["name"],
        "additionalProperties": false
    }))
}

fn bytes(schema: &Map<String, Value>) -> usize {
    serde_json::to_string(schema).map_or(0, |json| json.len())
}

/// Converts bounds to JSON Schema. One of its characters is up to two UTF-16 units of Telegram's and up to four bytes.
fn bounds(field: &ApiField, unit: Unit, schema: &mut Map<String, Value>) {
    let (low_name, high_name, low) = match unit {
        Unit::Chars => ("minLength", "maxLength", field.min.map(|min| (min + 1) / 2)),
        Unit::Bytes => ("minLength", "maxLength", field.min.map(|min| (min + 3) / 4)),
        Unit::Items => ("minItems", "maxItems", field.min),
        Unit::Value => ("minimum", "maximum", field.min),
    };
    if let Some(low) = low.filter(|low| *low != 0 || unit == Unit::Value) {
        schema.insert(low_name.to_owned(), low.into());
    }
    if let Some(high) = field.max {
        schema.insert(high_name.to_owned(), high.into());
    }
}

pub(crate) fn entries(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(method: &str) -> Value {
        let method = ApiTable::get().method(method).unwrap();
        without_lines(Value::Object(of_method(method, &TableLines::embedded())))
    }

    /// What is described where is the business of `lines`.
    fn without_lines(value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let is_line = |key: &str, value: &Value| key == "description" && value.is_string();
                let kept = map.into_iter().filter(|(key, value)| !is_line(key, value));
                Value::Object(kept.map(|(key, value)| (key, without_lines(value))).collect())
            }
            Value::Array(items) => items.into_iter().map(without_lines).collect(),
            plain => plain,
        }
    }

    #[test]
    fn a_schema_in_full() {
        let mut made = schema("setMessageReaction");
        let emojis = made.pointer_mut("/$defs/ReactionTypeEmoji/properties/emoji/enum").unwrap();
        assert_eq!(emojis.as_array().unwrap().len(), 73);
        *emojis = json!(["👍"]);
        let wanted = json!({
            "type": "object",
            "properties": {
                "chat_id": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "message_id": {"type": "integer"},
                "reaction": {"type": "array", "items": {"$ref": "#/$defs/ReactionType"}},
                "is_big": {"type": "boolean"}
            },
            "required": ["chat_id", "message_id"],
            "additionalProperties": false,
            "$defs": {
                "ReactionType": {"anyOf": [
                    {"$ref": "#/$defs/ReactionTypeEmoji"},
                    {"$ref": "#/$defs/ReactionTypeCustomEmoji"},
                    {"$ref": "#/$defs/ReactionTypePaid"}
                ]},
                "ReactionTypeEmoji": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "const": "emoji"},
                        "emoji": {"type": "string", "enum": ["👍"]}
                    },
                    "required": ["type", "emoji"],
                    "additionalProperties": false
                },
                "ReactionTypeCustomEmoji": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "const": "custom_emoji"},
                        "custom_emoji_id": {"type": "string"}
                    },
                    "required": ["type", "custom_emoji_id"],
                    "additionalProperties": false
                },
                "ReactionTypePaid": {
                    "type": "object",
                    "properties": {"type": {"type": "string", "const": "paid"}},
                    "required": ["type"],
                    "additionalProperties": false
                }
            }
        });
        assert_eq!(made, wanted);
    }

    #[test]
    fn bounds_go_by_their_unit() {
        let cases = [
            ("sendMessage", "/properties/text", json!({"type": "string", "minLength": 1})),
            (
                "setChatTitle",
                "/properties/title",
                json!({"type": "string", "minLength": 1, "maxLength": 128}),
            ),
            ("sendPhoto", "/properties/caption", json!({"type": "string"})),
            (
                "sendPhoto",
                "/properties/photo",
                json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/InputFile"}]}),
            ),
            ("setChatPhoto", "/properties/photo", json!({"$ref": "#/$defs/InputFile"})),
            (
                "sendPoll",
                "/properties/open_period",
                json!({"type": "integer", "minimum": 5, "maximum": 2_628_000}),
            ),
            (
                "sendPoll",
                "/properties/options",
                json!({"type": "array", "items": {"$ref": "#/$defs/InputPollOption"}, "minItems": 1, "maxItems": 12}),
            ),
            (
                "sendPoll",
                "/$defs/InputMediaPhoto/properties/media",
                json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/InputFile"}]}),
            ),
            (
                "sendMessage",
                "/$defs/InlineKeyboardButton/properties/callback_data",
                json!({"type": "string", "minLength": 1, "maxLength": 64}),
            ),
        ];
        for (method, pointer, wanted) in cases {
            assert_eq!(schema(method).pointer(pointer), Some(&wanted), "{method} {pointer}");
        }
    }

    #[test]
    fn lines_stand_beside_what_they_describe() {
        let made = of_method(ApiTable::get().method("sendMessage").unwrap(), &TableLines::embedded());
        let line = |pointer: &str| Value::Object(made.clone()).pointer(pointer).cloned();
        assert_eq!(
            line("/properties/chat_id/description"),
            Some(json!(TableLines::embedded().parameter("", "chat_id")))
        );
        assert!(line("/$defs/LinkPreviewOptions/properties/is_disabled/description").is_some());
        assert!(line("/$defs/InputFile").is_none(), "a definition nobody refers to");
    }

    #[test]
    fn every_reference_has_its_definition_and_every_definition_its_reference() {
        fn references(value: &Value, out: &mut HashSet<String>) {
            match value {
                Value::Object(map) => map.iter().for_each(|(key, value)| match value {
                    Value::String(target) if key == "$ref" => {
                        out.insert(target.trim_start_matches("#/$defs/").to_owned());
                    }
                    _ => references(value, out),
                }),
                Value::Array(items) => items.iter().for_each(|item| references(item, out)),
                _ => {}
            }
        }
        for method in ApiTable::get().methods() {
            let schema = schema(&method.name);
            let mut wanted = HashSet::new();
            references(&schema, &mut wanted);
            let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
            assert!(defs.values().all(Value::is_object), "{}", method.name);
            assert_eq!(defs.keys().cloned().collect::<HashSet<_>>(), wanted, "{}", method.name);
        }
    }
}
