//! Checks shared by all dialects: unknown fields, ranges, base64, JSON Schema, calls and their results.

use serde_json::{Map, Value};

use super::dialect::Validation;

/// Returns the first field of an object that is not in `known`.
pub(super) fn unknown_field<'a>(object: &'a Value, known: &[&str]) -> Option<&'a str> {
    let fields = object.as_object()?;
    fields.keys().map(String::as_str).find(|name| !known.contains(name))
}

/// Returns a string field; `None` if missing or empty.
pub(super) fn non_empty_str<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object[name].as_str().filter(|text| !text.is_empty())
}

/// Checks that a number is missing, or from `least` to `most`.
pub(super) fn within(object: &Value, name: &str, least: f64, most: f64) -> Validation {
    let fits = |number: f64| (least..=most).contains(&number);
    if object[name].is_null() || object[name].as_f64().is_some_and(fits) {
        return Ok(());
    }
    Err(format!("{name} must be a number between {least} and {most}"))
}

/// Checks that a whole number is missing, or at least `least`.
pub(super) fn at_least(object: &Value, name: &str, least: u64) -> Validation {
    if object[name].is_null() || object[name].as_u64().is_some_and(|number| number >= least) {
        return Ok(());
    }
    Err(format!("{name} must be a whole number of at least {least}"))
}

/// Returns `true` for non-empty, padded base64 of the standard alphabet.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !body.is_empty()
        && text.len() - body.len() <= 2
        && text.len().is_multiple_of(4)
        && body.bytes().all(known)
}

/// Returns the MIME type of a base64 picture, from its first bytes.
pub(super) fn picture_type(base64: &str) -> Option<&'static str> {
    let starts = [
        ("/9j/", "image/jpeg"),
        ("iVBORw0KGgo", "image/png"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ];
    starts.iter().find(|(start, _)| base64.starts_with(start)).map(|(_, kind)| *kind)
}

/// Returns `true` if the text (arguments of a call) is a JSON object.
pub(super) fn is_object_text(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// Checks that every array schema, at any depth, has `items`. OpenAI refuses one without.
pub(super) fn arrays(schema: &Value) -> Validation {
    match schema {
        Value::Object(map)
            if map.get("type") == Some(&Value::from("array")) && !map.contains_key("items") =>
        {
            Err("array schema missing items".to_owned())
        }
        Value::Object(map) => map.values().try_for_each(arrays),
        Value::Array(list) => list.iter().try_for_each(arrays),
        _ => Ok(()),
    }
}

/// Checks that every `$ref` resolves within the schema.
pub(super) fn references(schema: &Value) -> Validation {
    fn each(part: &Value, whole: &Value) -> Validation {
        match part {
            Value::Object(map) => {
                let target = map.get("$ref").and_then(Value::as_str);
                let leads = |target: &str| {
                    target.strip_prefix('#').is_some_and(|place| whole.pointer(place).is_some())
                };
                if let Some(lost) = target.filter(|target| !leads(target)) {
                    return Err(format!("$ref '{lost}' leads nowhere"));
                }
                map.values().try_for_each(|value| each(value, whole))
            }
            Value::Array(list) => list.iter().try_for_each(|value| each(value, whole)),
            _ => Ok(()),
        }
    }
    each(schema, schema)
}

/// Call that still needs a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenCall {
    /// Key that is unique in the conversation, also for calls without an id.
    pub(super) key: String,
    pub(super) id: Option<String>,
    pub(super) name: String,
}

/// Calls of a conversation that still need a result. Ids are optional.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    waiting: Vec<OpenCall>,
    made: usize,
}

impl OpenCalls {
    /// Adds a call. Returns its key: the id, or one made from its position and name.
    pub(super) fn call(&mut self, id: Option<&str>, name: &str) -> String {
        self.made += 1;
        let key = id.map_or_else(|| format!("call-{}-{name}", self.made), ToOwned::to_owned);
        let id = id.map(ToOwned::to_owned);
        self.waiting.push(OpenCall { key: key.clone(), id, name: name.to_owned() });
        key
    }

    /// Removes and returns the first call that matches a result with this id and name.
    pub(super) fn answer(&mut self, id: Option<&str>, name: &str) -> Option<OpenCall> {
        let fits = |call: &OpenCall| id.is_none_or(|id| call.id.as_deref() == Some(id)) && call.name == name;
        let at = self.waiting.iter().position(fits)?;
        Some(self.waiting.remove(at))
    }

    /// Returns the oldest call without a result.
    pub(super) fn first(&self) -> Option<&OpenCall> {
        self.waiting.first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn base64_is_known() {
        let cases = [
            ("AAAA", true),
            ("AA==", true),
            ("+/A=", true),
            ("", false),
            ("=", false),
            ("AA", false),
            ("A===", false),
            ("AA-_", false),
            ("data:image/png;base64,AAAA", false),
        ];
        for (text, wanted) in cases {
            assert_eq!(is_base64(text), wanted, "{text}");
        }
    }

    #[test]
    fn results_find_their_calls() {
        let mut open = OpenCalls::default();
        assert_eq!(open.call(Some("a"), "x"), "a");
        assert_eq!(open.call(None, "x"), "call-2-x");
        let key = |found: Option<OpenCall>| found.map(|call| call.key);
        assert_eq!(key(open.answer(Some("b"), "x")), None);
        assert_eq!(key(open.answer(None, "y")), None);
        assert_eq!(key(open.answer(Some("a"), "x")), Some("a".to_owned()));
        assert_eq!(key(open.answer(None, "x")), Some("call-2-x".to_owned()));
        assert_eq!(open.first(), None);
    }

    #[test]
    fn references_lead_somewhere() {
        let found = json!({"$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}});
        let lost = json!({"properties": {"x": {"items": [{"$ref": "#/$defs/a"}]}}});
        assert_eq!(references(&found), Ok(()));
        assert_eq!(references(&lost), Err("$ref '#/$defs/a' leads nowhere".to_owned()));
    }
}
