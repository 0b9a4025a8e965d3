//! JSON Schema 2020-12 of a method's arguments, made from the table. The catalog calls it for every tool it shows.
//! A schema never refuses what Telegram would take: lengths count differently there, so bounds are the widest that hold.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value, json};

use crate::table::{Field, Method, Table, Type, TypeDef, Unit};

/// What a string that stands for a file may hold.
const FILE_HINT: &str = "file_id of a file Telegram already has, or an http(s) URL";

/// The schema of a method's arguments; `line` gives the one-line description of a parameter, if there is one.
#[must_use]
pub fn of_method<'a>(method: &'a Method, line: impl Fn(&str) -> Option<&'a str>) -> Map<String, Value> {
    let mut reached = Reached::default();
    let mut schema = object(&method.params, line, &mut reached);
    let mut defs = Map::new();
    while let Some(name) = reached.queue.pop_front() {
        let def = match Table::get().type_def(name) {
            Some(TypeDef::Fields(fields)) => Value::Object(object(fields, |_| None, &mut reached)),
            Some(TypeDef::Union(types)) => Value::Object(any_of(types, &mut reached)),
            // Not in the table, so nothing is known to hold for it; a test keeps this from happening.
            None => Value::Bool(true),
        };
        defs.insert(name.to_owned(), def);
    }
    if !defs.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(defs));
    }
    schema
}

/// The named types met so far: each is defined once, so types that contain themselves come to an end.
#[derive(Default)]
struct Reached<'a> {
    seen: HashSet<&'a str>,
    queue: VecDeque<&'a str>,
}

impl<'a> Reached<'a> {
    fn add(&mut self, name: &'a str) {
        if self.seen.insert(name) {
            self.queue.push_back(name);
        }
    }
}

fn object<'a>(
    fields: &'a [Field],
    line: impl Fn(&str) -> Option<&'a str>,
    reached: &mut Reached<'a>,
) -> Map<String, Value> {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = property(field, reached);
        if let Some(line) = line(&field.name) {
            schema.insert("description".to_owned(), line.into());
        }
        properties.insert(field.name.clone(), Value::Object(schema));
    }
    let required: Vec<&str> = fields.iter().filter(|f| f.required).map(|f| f.name.as_str()).collect();
    let mut schema = entries(json!({"type": "object", "properties": properties}));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema
}

fn property<'a>(field: &'a Field, reached: &mut Reached<'a>) -> Map<String, Value> {
    let mut schema = of_type(&field.ty, reached);
    if field.attach {
        schema.insert("description".to_owned(), FILE_HINT.into());
    }
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

/// A character of JSON Schema is up to two of Telegram's UTF-16 units and up to four bytes.
fn bounds(field: &Field, unit: Unit, schema: &mut Map<String, Value>) {
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

fn of_type<'a>(ty: &'a Type, reached: &mut Reached<'a>) -> Map<String, Value> {
    entries(match ty {
        Type::Integer => json!({"type": "integer"}),
        Type::Float => json!({"type": "number"}),
        Type::String => json!({"type": "string"}),
        Type::Boolean => json!({"type": "boolean"}),
        Type::True => json!({"type": "boolean", "const": true}),
        Type::InputFile => json!({"type": "string", "description": FILE_HINT}),
        Type::Named(name) => {
            reached.add(name);
            json!({"$ref": format!("#/$defs/{name}")})
        }
        Type::Array(inner) => json!({"type": "array", "items": of_type(inner, reached)}),
        // A file's content and its id or URL are one string here.
        Type::Union(types) if types.contains(&Type::InputFile) => return of_type(&Type::InputFile, reached),
        Type::Union(types) => return any_of(types, reached),
    })
}

fn any_of<'a>(types: &'a [Type], reached: &mut Reached<'a>) -> Map<String, Value> {
    let alternatives: Vec<_> = types.iter().map(|ty| Value::Object(of_type(ty, reached))).collect();
    entries(json!({"anyOf": alternatives}))
}

fn entries(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(method: &str) -> Value {
        let method = Table::get().method(method).unwrap();
        Value::Object(of_method(method, |name| (name == "chat_id").then_some("the chat")))
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
                "chat_id": {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "the chat"},
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
            ("sendMessage", "/properties/text", json!({"type": "string", "minLength": 1, "maxLength": 4096})),
            ("sendPhoto", "/properties/caption", json!({"type": "string", "maxLength": 1024})),
            ("sendPhoto", "/properties/photo", json!({"type": "string", "description": FILE_HINT})),
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
                json!({"type": "string", "description": FILE_HINT}),
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
        for method in Table::get().methods() {
            let schema = schema(&method.name);
            let mut wanted = HashSet::new();
            references(&schema, &mut wanted);
            let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
            assert!(defs.values().all(Value::is_object), "{}", method.name);
            assert_eq!(defs.keys().cloned().collect::<HashSet<_>>(), wanted, "{}", method.name);
        }
    }
}
