//! Validates the arguments of a call against the table, and finds the places of files in them. Used by the server before a
//! call is sent, by Figaro before it judges one, and by Figaro's offline Telegram to reject what Telegram would.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::table::{ApiField, ApiTable, ApiType, Method, TypeDef, Unit};
use crate::wording;

/// Maximum nesting. Rich messages nest 16 levels of four steps each; the limit stops hostile input.
const MAX_DEPTH: usize = 80;
/// Maximum length of a value in an error, in characters.
const MAX_SHOWN_CHARS: usize = 40;

/// A fault in the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentFault {
    /// A required parameter or field is missing or null.
    #[error("{path} is required")]
    Missing {
        /// Path of the field, like `options[0].text`.
        path: String,
    },
    /// The method or type has no field of this name.
    #[error("{path} is not a parameter of {owner}")]
    Unknown {
        /// Path of the unknown field, like `options[0].text`.
        path: String,
        /// Name of the method or type.
        owner: String,
    },
    /// The value has the wrong type.
    #[error("{path} must be {expected}, not {found}")]
    Mistyped {
        /// Path of the value, like `options[0].text`.
        path: String,
        /// Type in the table, or the expected constant.
        expected: String,
        /// Kind of the given value, such as `a string`, or the value itself where others are allowed.
        found: Cow<'static, str>,
        /// The same in plain words, such as `a text, not a number`.
        plain: String,
    },
    /// The nesting is deeper than Telegram allows.
    #[error("{path} is nested too deep")]
    TooDeep {
        /// Path of the nested value, like `options[0].text`.
        path: String,
    },
    /// The value is out of bounds.
    #[error("{path} must have {bounds}")]
    OutOfBounds {
        /// Path of the value, like `options[0].text`.
        path: String,
        /// Description of the bounds, such as `at most 10 items`.
        bounds: String,
    },
}

impl ArgumentFault {
    /// Returns the fault in plain words, without Telegram's names of types.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Mistyped { path, plain, .. } => format!("{path} must be {plain}"),
            Self::Missing { .. } | Self::Unknown { .. } | Self::TooDeep { .. } | Self::OutOfBounds { .. } => {
                self.to_string()
            }
        }
    }
}

/// Place of a file in the arguments: a string, or an object with the file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileArgument {
    /// Path for people, such as `media[0].media`.
    pub(crate) path: String,
    /// JSON Pointer (RFC 6901). Names of the Bot API need no escapes.
    pub pointer: String,
}

/// Validates all arguments of a call and returns the places of its files in the order of the table. An object in such a
/// place counts as file content and is not checked.
///
/// # Errors
/// The first [`ArgumentFault`] in the order of the table; unknown names come last.
pub fn check(method: &Method, args: &Map<String, Value>) -> Result<Vec<FileArgument>, ArgumentFault> {
    let mut files = Vec::new();
    let root = ArgumentPath { text: String::new(), pointer: String::new(), depth: 0 };
    object(&method.name, &method.params, args, root, &mut files)?;
    Ok(files)
}

type CheckResult = Result<(), ArgumentFault>;

#[derive(Clone)]
struct ArgumentPath {
    text: String,
    pointer: String,
    depth: usize,
}

impl ArgumentPath {
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
    fields: &[ApiField],
    given: &Map<String, Value>,
    path: ArgumentPath,
    files: &mut Vec<FileArgument>,
) -> CheckResult {
    for field in fields {
        let at = path.field(&field.name);
        match given.get(&field.name) {
            None | Some(Value::Null) if field.required => {
                return Err(ArgumentFault::Missing { path: at.text });
            }
            None | Some(Value::Null) => {}
            Some(value) => {
                let is_marked =
                    field.parse_mode(fields).and_then(|name| given.get(name)).is_some_and(Value::is_string);
                // Bounds first, so that overlong values are not walked through.
                bounds(field, is_marked, value, &at)?;
                let ty = if field.attach { &ApiType::InputFile } else { &field.ty };
                typed(ty, value, &at, files)?;
                constant(field, value, &at)?;
            }
        }
    }
    match given.keys().find(|key| !fields.iter().any(|f| f.name == **key)) {
        Some(unknown) => {
            Err(ArgumentFault::Unknown { path: path.field(unknown).text, owner: owner.to_owned() })
        }
        None => Ok(()),
    }
}

fn typed(ty: &ApiType, value: &Value, path: &ArgumentPath, files: &mut Vec<FileArgument>) -> CheckResult {
    if path.depth > MAX_DEPTH {
        return Err(ArgumentFault::TooDeep { path: path.text.clone() });
    }
    let fits = match ty {
        ApiType::Integer => value.is_i64() || value.is_u64(),
        ApiType::Float => value.is_number(),
        ApiType::String => value.is_string(),
        ApiType::Boolean => value.is_boolean(),
        ApiType::True => *value == Value::Bool(true),
        ApiType::InputFile => {
            files.push(FileArgument { path: path.text.clone(), pointer: path.pointer.clone() });
            value.is_string() || value.is_object()
        }
        // File content, file id and URL share one place.
        ApiType::Union(types) if types.contains(&ApiType::InputFile) => {
            return typed(&ApiType::InputFile, value, path, files).or(Err(mistyped(ty, value, path)));
        }
        ApiType::Array(inner) => return array(inner, value, path, files),
        ApiType::Named(name) => return named(name, value, path, files),
        ApiType::Union(types) => return any_of(ty, types, value, path, files),
    };
    if fits { Ok(()) } else { Err(mistyped(ty, value, path)) }
}

fn array(inner: &ApiType, value: &Value, path: &ArgumentPath, files: &mut Vec<FileArgument>) -> CheckResult {
    let Value::Array(items) = value else {
        return Err(mistyped(&ApiType::Array(Box::new(inner.clone())), value, path));
    };
    items.iter().enumerate().try_for_each(|(at, item)| typed(inner, item, &path.item(at), files))
}

fn named(name: &str, value: &Value, path: &ArgumentPath, files: &mut Vec<FileArgument>) -> CheckResult {
    let wanted = ApiType::Named(name.to_owned());
    match ApiTable::get().type_def(name) {
        Some(TypeDef::Fields(fields)) => match value {
            Value::Object(map) => object(name, fields, map, path.clone(), files),
            _ => Err(mistyped(&wanted, value, path)),
        },
        Some(TypeDef::Union(types)) => any_of(&wanted, types, value, path, files),
        None => Err(mistyped(&wanted, value, path)),
    }
}

/// Reports the fault of the closest alternative, and that of the discriminator if it fits none.
fn any_of(
    whole: &ApiType,
    types: &[ApiType],
    value: &Value,
    path: &ArgumentPath,
    files: &mut Vec<FileArgument>,
) -> CheckResult {
    let before = files.len();
    let mut closest: Option<(usize, ArgumentFault)> = None;
    for ty in types {
        match typed(ty, value, path, files) {
            Ok(()) => return Ok(()),
            // Too deep for one alternative is too deep for all.
            Err(fault @ ArgumentFault::TooDeep { .. }) => return Err(fault),
            Err(fault) => {
                let likeness = likeness(ty, value);
                if likeness > closest.as_ref().map_or(0, |(best, _)| *best) {
                    closest = Some((likeness, fault));
                }
            }
        }
        files.truncate(before);
    }
    let closest = closest.map(|(_, fault)| fault).or_else(|| bad_discriminator(types, value, path));
    Err(closest.unwrap_or_else(|| mistyped(whole, value, path)))
}

/// Returns how much a value is like an alternative: 0 if it is certainly another, else more for each common field. An
/// alternative with constants is meant if all of them match.
fn likeness(ty: &ApiType, value: &Value) -> usize {
    match (ty, value) {
        (ApiType::Array(_), Value::Array(_)) => 1,
        (ApiType::Named(_), Value::Object(map)) => {
            let fields = fields_of(ty);
            let mut constants = constants(fields).peekable();
            let is_meant = constants.peek().is_some();
            let differs = constants.any(|(name, wanted)| map.get(name) != Some(wanted));
            let common = fields.iter().filter(|field| map.contains_key(&field.name)).count();
            if differs { 0 } else { usize::from(is_meant) + common }
        }
        _ => 0,
    }
}

/// Returns the fault of the first constant field that has none of the alternatives' values.
fn bad_discriminator(types: &[ApiType], value: &Value, path: &ArgumentPath) -> Option<ArgumentFault> {
    let map = value.as_object()?;
    let all = || types.iter().flat_map(|ty| constants(fields_of(ty)));
    let (name, _) = all().find(|(name, _)| {
        let given = map.get(*name);
        !all().any(|(other, wanted)| other == *name && given == Some(wanted))
    })?;
    let path = path.field(name).text;
    let Some(given) = map.get(name).filter(|given| !given.is_null()) else {
        return Some(ArgumentFault::Missing { path });
    };
    let mut values: Vec<String> =
        all().filter(|(other, _)| other == &name).map(|(_, value)| value.to_string()).collect();
    values.dedup();
    Some(wrong_value(path, values.join(" or "), given))
}

fn wrong_value(path: String, expected: String, given: &Value) -> ArgumentFault {
    let found = shown(given);
    let plain = format!("{expected}, not {found}");
    ArgumentFault::Mistyped { path, expected, found, plain }
}

/// Returns a value as JSON, cut after some words.
fn shown(value: &Value) -> Cow<'static, str> {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn fields_of(ty: &ApiType) -> &'static [ApiField] {
    let ApiType::Named(name) = ty else { return &[] };
    match ApiTable::get().type_def(name) {
        Some(TypeDef::Fields(fields)) => fields,
        Some(TypeDef::Union(_)) | None => &[],
    }
}

fn constants(fields: &[ApiField]) -> impl Iterator<Item = (&str, &Value)> {
    fields.iter().filter_map(|field| Some((field.name.as_str(), field.constant.as_ref()?)))
}

fn constant(field: &ApiField, value: &Value, path: &ArgumentPath) -> CheckResult {
    match &field.constant {
        Some(wanted) if wanted != value => Err(wrong_value(path.text.clone(), wanted.to_string(), value)),
        _ => Ok(()),
    }
}

/// Checks the bounds of a value. The upper bound of a text with markup is unchecked: Telegram counts it without the markup.
fn bounds(field: &ApiField, is_marked: bool, value: &Value, path: &ArgumentPath) -> CheckResult {
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
        return Err(ArgumentFault::OutOfBounds {
            path: path.text.clone(),
            bounds: format!("{low}{joint}{high}{what}"),
        });
    }
    Ok(())
}

fn mistyped(ty: &ApiType, value: &Value, path: &ArgumentPath) -> ArgumentFault {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let plain = format!("{}, not {}", wording::expected(ty), wording::found(value));
    ArgumentFault::Mistyped { path: path.text.clone(), expected: ty.to_string(), found: found.into(), plain }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use serde_json::json;

    fn fault(method: &str, args: Value) -> Option<String> {
        let method = ApiTable::get().method(method).unwrap();
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
    fn faults_in_unions_name_the_field() {
        let keyboard = |button: Value| json!({"inline_keyboard": [[button]]});
        let cases = [
            (
                "sendMediaGroup",
                json!({"chat_id": 1, "media": [{"type": "photo", "media": "a"}, {"type": "foto", "media": "b"}]}),
                Some(
                    "media[1].type must be \"audio\" or \"document\" or \"live_photo\" or \"photo\" or \"video\", not \
                     \"foto\"",
                ),
            ),
            (
                "sendMediaGroup",
                json!({"chat_id": 1, "media": [{"type": "photo", "media": "a"}, {"media": "b"}]}),
                Some("media[1].type is required"),
            ),
            (
                "sendMessage",
                json!({"chat_id": 1, "text": "x", "reply_markup": keyboard(json!({"text": 5}))}),
                Some("reply_markup.inline_keyboard[0][0].text must be String, not a number"),
            ),
            (
                "answerWebAppQuery",
                json!({"web_app_query_id": "1", "result": {"type": "photo", "id": "1", "photo_url": "u"}}),
                Some("result.thumbnail_url is required"),
            ),
            (
                "answerWebAppQuery",
                json!({"web_app_query_id": "1", "result": {"type": "article", "id": "1", "title": "t",
                    "input_message_content": {"latitude": 1.5, "longitude": "x"}}}),
                Some("result.input_message_content.longitude must be Float, not a string"),
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
        for method in ApiTable::get().methods() {
            let unions = method.params.iter().map(|param| &param.ty).collect();
            assert_eq!(ambiguous(unions), None, "{}", method.name);
        }
    }

    /// A field that is a file in one alternative of a union without discriminators and none in another.
    fn ambiguous(mut open: Vec<&'static ApiType>) -> Option<String> {
        let table = ApiTable::get();
        let mut seen = std::collections::HashSet::new();
        while let Some(ty) = open.pop() {
            let types: Vec<&'static ApiType> = match ty {
                ApiType::Array(inner) => vec![&**inner],
                ApiType::Union(types) => types.iter().collect(),
                ApiType::Named(name) if seen.insert(name) => match table.type_def(name)? {
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
                let ApiType::Named(name) = ty else { continue };
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
