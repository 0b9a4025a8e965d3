//! Checks the arguments of a call against the table, and says what is wrong where.
//! The server uses it before a call leaves; Figaro's offline Telegram uses it to refuse what Telegram would.

use serde_json::{Map, Value};

use crate::table::{Field, Method, Table, Type, TypeDef, Unit};

/// Nesting deeper than Telegram's own types ever go; stops hostile input.
const MAX_DEPTH: usize = 24;

/// One thing wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A required parameter or field is absent or null.
    #[error("{path} is required")]
    Missing {
        /// Where, like `options[0].text`.
        path: String,
    },
    /// A name that the method or type does not have.
    #[error("{path} is not a parameter of {owner}")]
    Unknown {
        /// Where.
        path: String,
        /// The method or type.
        owner: String,
    },
    /// A value of another type.
    #[error("{path} must be {expected}, not {found}")]
    Mistyped {
        /// Where.
        path: String,
        /// The type the table names.
        expected: String,
        /// The kind of value that was given.
        found: &'static str,
    },
    /// A value outside its bounds.
    #[error("{path} must have {bounds}")]
    OutOfBounds {
        /// Where.
        path: String,
        /// The bounds in words.
        bounds: String,
    },
}

/// Checks all arguments of a call.
///
/// # Errors
/// The first [`Fault`] in the order of the table; unknown names come last.
pub fn check(method: &Method, args: &Map<String, Value>) -> Result<(), Fault> {
    object(&method.name, &method.params, args, Path { text: String::new(), depth: 0 })
}

#[derive(Clone)]
struct Path {
    text: String,
    depth: usize,
}

impl Path {
    fn field(&self, name: &str) -> Self {
        let text = if self.text.is_empty() { name.to_owned() } else { format!("{}.{name}", self.text) };
        Self { text, depth: self.depth + 1 }
    }

    fn item(&self, index: usize) -> Self {
        Self { text: format!("{}[{index}]", self.text), depth: self.depth + 1 }
    }
}

fn object(owner: &str, fields: &[Field], given: &Map<String, Value>, path: Path) -> Result<(), Fault> {
    for field in fields {
        let at = path.field(&field.name);
        match given.get(&field.name) {
            None | Some(Value::Null) if field.required => return Err(Fault::Missing { path: at.text }),
            None | Some(Value::Null) => {}
            Some(value) => {
                typed(&field.ty, value, &at)?;
                constant(field, value, &at)?;
                let is_marked =
                    field.parse_mode(fields).and_then(|name| given.get(name)).is_some_and(Value::is_string);
                bounds(field, is_marked, value, &at)?;
            }
        }
    }
    match given.keys().find(|key| !fields.iter().any(|f| f.name == **key)) {
        Some(unknown) => Err(Fault::Unknown { path: path.field(unknown).text, owner: owner.to_owned() }),
        None => Ok(()),
    }
}

fn typed(ty: &Type, value: &Value, path: &Path) -> Result<(), Fault> {
    let fits = match ty {
        Type::Integer => value.is_i64() || value.is_u64(),
        Type::Float => value.is_number(),
        Type::String | Type::InputFile => value.is_string(),
        Type::Boolean => value.is_boolean(),
        Type::True => *value == Value::Bool(true),
        Type::Array(inner) => return array(inner, value, path),
        Type::Named(name) => return named(name, value, path),
        Type::Union(types) => return any_of(ty, types, value, path),
    };
    if fits { Ok(()) } else { Err(mistyped(ty, value, path)) }
}

fn array(inner: &Type, value: &Value, path: &Path) -> Result<(), Fault> {
    let Value::Array(items) = value else {
        return Err(mistyped(&Type::Array(Box::new(inner.clone())), value, path));
    };
    items.iter().enumerate().try_for_each(|(at, item)| typed(inner, item, &path.item(at)))
}

fn named(name: &str, value: &Value, path: &Path) -> Result<(), Fault> {
    let wanted = Type::Named(name.to_owned());
    if path.depth > MAX_DEPTH {
        return Err(mistyped(&wanted, value, path));
    }
    match Table::get().type_def(name) {
        Some(TypeDef::Fields(fields)) => match value {
            Value::Object(map) => object(name, fields, map, path.clone()),
            _ => Err(mistyped(&wanted, value, path)),
        },
        Some(TypeDef::Union(types)) => any_of(&wanted, types, value, path),
        None => Err(mistyped(&wanted, value, path)),
    }
}

/// The fault of the alternative that got furthest is the one worth telling: a union of objects is told apart by its
/// discriminator, so the first alternative whose constants fit decides.
fn any_of(whole: &Type, types: &[Type], value: &Value, path: &Path) -> Result<(), Fault> {
    let mut closest = None;
    for ty in types {
        match typed(ty, value, path) {
            Ok(()) => return Ok(()),
            Err(fault) if discriminated(ty, value) => closest = closest.or(Some(fault)),
            Err(_) => {}
        }
    }
    Err(closest.unwrap_or_else(|| mistyped(whole, value, path)))
}

fn discriminated(ty: &Type, value: &Value) -> bool {
    let (Type::Named(name), Value::Object(map)) = (ty, value) else {
        return false;
    };
    let Some(TypeDef::Fields(fields)) = Table::get().type_def(name) else {
        return false;
    };
    let mut constants = fields.iter().filter_map(|f| Some((&f.name, f.constant.as_ref()?))).peekable();
    constants.peek().is_some() && constants.all(|(name, wanted)| map.get(name) == Some(wanted))
}

fn constant(field: &Field, value: &Value, path: &Path) -> Result<(), Fault> {
    match &field.constant {
        Some(wanted) if wanted != value => Err(Fault::Mistyped {
            path: path.text.clone(),
            expected: wanted.to_string(),
            found: "another value",
        }),
        _ => Ok(()),
    }
}

/// Of a text with marks the upper bound can not be known here: it counts without them.
fn bounds(field: &Field, is_marked: bool, value: &Value, path: &Path) -> Result<(), Fault> {
    let Some(unit) = field.unit else { return Ok(()) };
    let max = field.max.filter(|_| !(is_marked && unit == Unit::Chars));
    let (count, what) = match (unit, value) {
        (Unit::Chars, Value::String(text)) => (text.encode_utf16().count() as i64, "characters"),
        (Unit::Bytes, Value::String(text)) => (text.len() as i64, "bytes"),
        (Unit::Items, Value::Array(items)) => (items.len() as i64, "items"),
        (Unit::Value, Value::Number(number)) => (number.as_i64().unwrap_or(i64::MAX), "as its value"),
        _ => return Ok(()),
    };
    if field.min.is_some_and(|min| count < min) || max.is_some_and(|max| count > max) {
        let low = field.min.map_or_else(String::new, |min| format!("at least {min} "));
        let high = field.max.map_or_else(String::new, |max| format!("at most {max} "));
        let joint = if low.is_empty() || high.is_empty() { "" } else { "and " };
        return Err(Fault::OutOfBounds {
            path: path.text.clone(),
            bounds: format!("{low}{joint}{high}{what}"),
        });
    }
    Ok(())
}

fn mistyped(ty: &Type, value: &Value, path: &Path) -> Fault {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Fault::Mistyped { path: path.text.clone(), expected: ty.to_string(), found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(method: &str, args: Value) -> Option<String> {
        let method = Table::get().method(method).unwrap();
        check(method, args.as_object().unwrap()).err().map(|f| f.to_string())
    }

    #[test]
    fn faults_name_the_place_and_the_remedy() {
        let keyboard = |button: Value| json!({"inline_keyboard": [[button]]});
        let cases = [
            ("sendMessage", json!({"chat_id": 1, "text": "hi"}), None),
            ("sendMessage", json!({"chat_id": "@name", "text": "hi"}), None),
            ("sendMessage", json!({"chat_id": 1}), Some("text is required")),
            ("sendMessage", json!({"chat_id": 1, "text": 5}), Some("text must be String, not a number")),
            (
                "sendMessage",
                json!({"chat_id": 1, "text": ""}),
                Some("text must have at least 1 and at most 4096 characters"),
            ),
            (
                "sendMessage",
                json!({"chat_id": 1, "text": "x".repeat(4097)}),
                Some("text must have at least 1 and at most 4096 characters"),
            ),
            // Of marks Telegram counts nothing.
            (
                "sendMessage",
                json!({"chat_id": 1, "text": format!("<b>{}</b>", "x".repeat(4096)), "parse_mode": "HTML"}),
                None,
            ),
            (
                "sendMessage",
                json!({"chat_id": 1, "text": "x", "oops": 1}),
                Some("oops is not a parameter of sendMessage"),
            ),
            (
                "sendMessage",
                json!({"chat_id": true, "text": "x"}),
                Some("chat_id must be Integer or String, not a boolean"),
            ),
            (
                "sendMessage",
                json!({"chat_id": 1, "text": "x", "reply_markup": keyboard(json!({"text": "a", "callback_data": "x"}))}),
                None,
            ),
            (
                "setMessageReaction",
                json!({"chat_id": 1, "message_id": 2, "reaction": [{"type": "emoji"}]}),
                Some("reaction[0].emoji is required"),
            ),
            (
                "sendPoll",
                json!({"chat_id": 1, "question": "q", "options": [{"text": "a"}, {"text": "b"}]}),
                None,
            ),
            (
                "sendPoll",
                json!({"chat_id": 1, "question": "q", "options": ["a"]}),
                Some("options[0] must be InputPollOption, not a string"),
            ),
        ];
        for (method, args, wanted) in cases {
            assert_eq!(fault(method, args.clone()).as_deref(), wanted, "{method} {args}");
        }
    }

    #[test]
    fn endless_nesting_is_refused() {
        let mut quote = json!("x");
        for _ in 0..200 {
            quote = json!({"type": "bold", "text": quote});
        }
        let args = json!({"chat_id": 1, "rich_message": {"blocks": [{"type": "paragraph", "text": quote}]}});
        assert!(fault("sendRichMessage", args).is_some());
    }
}
