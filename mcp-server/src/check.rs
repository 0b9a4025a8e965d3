//! Checks the arguments of a call against the table, says what is wrong where, and finds the places of files on the way.
//! The server uses it before a call leaves, Figaro before it decides about one; Figaro's offline Telegram refuses by it
//! what Telegram would.

use serde_json::{Map, Value};

use crate::table::{Field, Method, Table, Type, TypeDef, Unit};

/// Rich messages nest 16 levels of four steps each; more stops hostile input.
const MAX_DEPTH: usize = 80;

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
    /// Nesting deeper than Telegram takes.
    #[error("{path} is nested too deep")]
    TooDeep {
        /// Where.
        path: String,
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

/// A place of a call's arguments that stands for a file: a string, or an object with the file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// As a person reads it, such as `media[0].media`.
    pub(crate) path: String,
    /// As JSON Pointer (RFC 6901); the names of the Bot API need no escapes.
    pub pointer: String,
}

/// Checks all arguments of a call, and returns the places of its files in the order of the table. An object in such a
/// place is taken for a file's content and is not looked into.
///
/// # Errors
/// The first [`Fault`] in the order of the table; unknown names come last.
pub fn check(method: &Method, args: &Map<String, Value>) -> Result<Vec<Place>, Fault> {
    let mut files = Vec::new();
    let root = Path { text: String::new(), pointer: String::new(), depth: 0 };
    object(&method.name, &method.params, args, root, &mut files)?;
    Ok(files)
}

type Checked = Result<(), Fault>;

#[derive(Clone)]
struct Path {
    text: String,
    pointer: String,
    depth: usize,
}

impl Path {
    fn field(&self, name: &str) -> Self {
        let text = if self.text.is_empty() { name.to_owned() } else { format!("{}.{name}", self.text) };
        Self { text, pointer: format!("{}/{name}", self.pointer), depth: self.depth + 1 }
    }

    fn item(&self, index: usize) -> Self {
        Self {
            text: format!("{}[{index}]", self.text),
            pointer: format!("{}/{index}", self.pointer),
            depth: self.depth + 1,
        }
    }
}

fn object(
    owner: &str,
    fields: &[Field],
    given: &Map<String, Value>,
    path: Path,
    files: &mut Vec<Place>,
) -> Checked {
    for field in fields {
        let at = path.field(&field.name);
        match given.get(&field.name) {
            None | Some(Value::Null) if field.required => return Err(Fault::Missing { path: at.text }),
            None | Some(Value::Null) => {}
            Some(value) => {
                let is_marked =
                    field.parse_mode(fields).and_then(|name| given.get(name)).is_some_and(Value::is_string);
                // First, so that nobody walks through what is too long.
                bounds(field, is_marked, value, &at)?;
                let ty = if field.attach { &Type::InputFile } else { &field.ty };
                typed(ty, value, &at, files)?;
                constant(field, value, &at)?;
            }
        }
    }
    match given.keys().find(|key| !fields.iter().any(|f| f.name == **key)) {
        Some(unknown) => Err(Fault::Unknown { path: path.field(unknown).text, owner: owner.to_owned() }),
        None => Ok(()),
    }
}

fn typed(ty: &Type, value: &Value, path: &Path, files: &mut Vec<Place>) -> Checked {
    if path.depth > MAX_DEPTH {
        return Err(Fault::TooDeep { path: path.text.clone() });
    }
    let fits = match ty {
        Type::Integer => value.is_i64() || value.is_u64(),
        Type::Float => value.is_number(),
        Type::String => value.is_string(),
        Type::Boolean => value.is_boolean(),
        Type::True => *value == Value::Bool(true),
        Type::InputFile => {
            files.push(Place { path: path.text.clone(), pointer: path.pointer.clone() });
            value.is_string() || value.is_object()
        }
        // A file's content or its id or URL are one place.
        Type::Union(types) if types.contains(&Type::InputFile) => {
            return typed(&Type::InputFile, value, path, files).or(Err(mistyped(ty, value, path)));
        }
        Type::Array(inner) => return array(inner, value, path, files),
        Type::Named(name) => return named(name, value, path, files),
        Type::Union(types) => return any_of(ty, types, value, path, files),
    };
    if fits { Ok(()) } else { Err(mistyped(ty, value, path)) }
}

fn array(inner: &Type, value: &Value, path: &Path, files: &mut Vec<Place>) -> Checked {
    let Value::Array(items) = value else {
        return Err(mistyped(&Type::Array(Box::new(inner.clone())), value, path));
    };
    items.iter().enumerate().try_for_each(|(at, item)| typed(inner, item, &path.item(at), files))
}

fn named(name: &str, value: &Value, path: &Path, files: &mut Vec<Place>) -> Checked {
    let wanted = Type::Named(name.to_owned());
    match Table::get().type_def(name) {
        Some(TypeDef::Fields(fields)) => match value {
            Value::Object(map) => object(name, fields, map, path.clone(), files),
            _ => Err(mistyped(&wanted, value, path)),
        },
        Some(TypeDef::Union(types)) => any_of(&wanted, types, value, path, files),
        None => Err(mistyped(&wanted, value, path)),
    }
}

/// The fault of the alternative that got furthest is the one worth telling: a union of objects is told apart by its
/// discriminator, so the first alternative whose constants fit decides.
fn any_of(whole: &Type, types: &[Type], value: &Value, path: &Path, files: &mut Vec<Place>) -> Checked {
    let before = files.len();
    let mut closest = None;
    for ty in types {
        match typed(ty, value, path, files) {
            Ok(()) => return Ok(()),
            // No alternative takes what is nested too deep.
            Err(fault @ Fault::TooDeep { .. }) => return Err(fault),
            Err(fault) if discriminated(ty, value) => closest = closest.or(Some(fault)),
            Err(_) => {}
        }
        files.truncate(before);
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

fn constant(field: &Field, value: &Value, path: &Path) -> Checked {
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
fn bounds(field: &Field, is_marked: bool, value: &Value, path: &Path) -> Checked {
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
    use std::collections::HashMap;

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

    fn nested(levels: usize, inner: Value) -> Value {
        let text = (0..levels).fold(inner, |text, _| json!({"type": "bold", "text": text}));
        json!({"chat_id": 1, "rich_message": {"blocks": [{"type": "paragraph", "text": text}]}})
    }

    #[test]
    fn endless_nesting_is_refused_and_telegrams_own_depth_is_not() {
        assert_eq!(fault("sendRichMessage", nested(16, json!("x"))), None);
        let refused = fault("sendRichMessage", nested(200, json!("x"))).unwrap();
        assert!(refused.ends_with("is nested too deep"), "{refused}");
        let lists = (0..16).fold(
            json!({"type": "paragraph", "text": "x"}),
            |block, _| json!({"type": "list", "items": [{"blocks": [block]}]}),
        );
        let args = json!({"chat_id": 1, "rich_message": {"blocks": [lists]}});
        assert_eq!(fault("sendRichMessage", args), None);
    }

    #[test]
    fn what_says_not_what_it_is_costs_no_more_than_it_is_long() {
        // Each level fits many alternatives of a union by its field alone.
        let vague = (0..60).fold(json!("x"), |text, _| json!({"text": text}));
        assert!(fault("sendRichMessage", nested(0, vague)).is_some());
        let many = vec![json!({"media": "a"}); 100_000];
        assert!(fault("sendMediaGroup", json!({"chat_id": 1, "media": many})).is_some());
    }

    #[test]
    fn of_two_alternatives_that_fit_none_hides_a_file() {
        for method in Table::get().methods() {
            let unions = method.params.iter().map(|param| &param.ty).collect();
            assert_eq!(ambiguous(unions), None, "{}", method.name);
        }
    }

    /// A field that is a file in one alternative of a union without discriminators and none in another.
    fn ambiguous(mut open: Vec<&'static Type>) -> Option<String> {
        let table = Table::get();
        let mut seen = std::collections::HashSet::new();
        while let Some(ty) = open.pop() {
            let types: Vec<&'static Type> = match ty {
                Type::Array(inner) => vec![&**inner],
                Type::Union(types) => types.iter().collect(),
                Type::Named(name) if seen.insert(name) => match table.type_def(name)? {
                    TypeDef::Union(types) => types.iter().collect(),
                    TypeDef::Fields(fields) => {
                        open.extend(fields.iter().map(|field| &field.ty));
                        continue;
                    }
                },
                _ => continue,
            };
            let mut vague = HashMap::new();
            for ty in &types {
                let Type::Named(name) = ty else { continue };
                let Some(TypeDef::Fields(fields)) = table.type_def(name) else { continue };
                if fields.iter().any(|field| field.constant.is_some()) {
                    continue;
                }
                for field in fields {
                    if *vague.entry(&field.name).or_insert(field.attach) != field.attach {
                        return Some(format!("{name}.{}", field.name));
                    }
                }
            }
            open.extend(types);
        }
        None
    }
}
