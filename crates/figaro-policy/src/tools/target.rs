//! Chats that a call names.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use figaro_base::ids::ChatId;

/// Maximum chats that a call may name.
const MAX_CHATS: usize = 50;
/// Maximum characters of a username, without the `@`.
const MAX_USERNAME: usize = 64;

/// A chat that a call names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Number(ChatId),
    /// A username in lower case, without the `@`.
    Username(String),
}

/// A chat argument that cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OddTarget {
    /// The value is neither a number nor a username.
    #[error("`{0}` names a chat by neither its number nor its @username")]
    Unknown(String),
    #[error("it names more than {MAX_CHATS} chats. Make several calls of it")]
    TooMany,
}

/// Parses the number of a chat, given as a number or a string; `None` for a `@username`.
#[must_use]
pub fn chat_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns all chats that the arguments of a call name, each once: every field whose name ends in `chat_id`, at any
/// depth.
///
/// # Errors
/// When a field does not name a chat, or when there are too many.
pub(crate) fn targets(args: &Map<String, Value>) -> Result<BTreeSet<Target>, OddTarget> {
    let mut found = BTreeSet::new();
    collect(args, &mut found)?;
    Ok(found)
}

fn collect(args: &Map<String, Value>, found: &mut BTreeSet<Target>) -> Result<(), OddTarget> {
    for (key, value) in args {
        if key.ends_with("chat_id") && !value.is_null() {
            found.insert(read(key, value)?);
            if found.len() > MAX_CHATS {
                return Err(OddTarget::TooMany);
            }
        } else {
            inside(value, found)?;
        }
    }
    Ok(())
}

fn inside(value: &Value, found: &mut BTreeSet<Target>) -> Result<(), OddTarget> {
    match value {
        Value::Object(inner) => collect(inner, found),
        Value::Array(items) => items.iter().try_for_each(|item| inside(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn read(key: &str, value: &Value) -> Result<Target, OddTarget> {
    target(value).ok_or_else(|| OddTarget::Unknown(key.to_owned()))
}

/// Parses the chat that a value names.
pub(super) fn target(value: &Value) -> Option<Target> {
    let number = chat_number(value).map(|number| Target::Number(ChatId(number)));
    number.or_else(|| value.as_str().and_then(username).map(Target::Username))
}

/// Returns the username after the `@` in lower case; `None` if it is not a valid one.
pub(super) fn username(text: &str) -> Option<String> {
    let name = text.strip_prefix('@')?;
    let fits = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (fits && (1..=MAX_USERNAME).contains(&name.len())).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use figaro_mcp::table::{ApiTable, ApiType};
    use serde_json::json;

    use super::*;

    fn of(args: &Value) -> Result<Vec<Target>, OddTarget> {
        targets(args.as_object().unwrap()).map(|found| found.into_iter().collect())
    }

    fn number(number: i64) -> Target {
        Target::Number(ChatId(number))
    }

    #[test]
    fn chats_are_found_however_deep_and_however_written() {
        let name = |name: &str| Target::Username(name.to_owned());
        let cases = [
            (json!({}), vec![]),
            (json!({"chat_id": null, "user_id": 7}), vec![]),
            (json!({"chat_id": -5, "from_chat_id": "-5"}), vec![number(-5)]),
            (json!({"chat_id": "@News", "a": [{"b": {"actor_chat_id": 7}}]}), vec![number(7), name("news")]),
            (json!({"reply_parameters": {"chat_id": "@NEWS"}, "chat_id": "@news"}), vec![name("news")]),
            (
                json!({"x": [[{"new_owner_chat_id": 1}, {"scope": {"chat_id": 2}}]]}),
                vec![number(1), number(2)],
            ),
        ];
        for (args, wanted) in cases {
            assert_eq!(of(&args), Ok(wanted), "{args}");
        }
    }

    #[test]
    fn what_is_no_chat_is_not_guessed_at() {
        let long = "9".repeat(30);
        for odd in [
            json!("news"),
            json!("@"),
            json!("@a b"),
            json!(""),
            json!(1.5),
            json!([1]),
            json!({}),
            json!(true),
            json!(long),
        ] {
            assert_eq!(
                of(&json!({"a": {"chat_id": odd}})),
                Err(OddTarget::Unknown("chat_id".into())),
                "{odd}"
            );
        }
        let many: Vec<Value> = (0..51).map(|at| json!({"chat_id": at})).collect();
        assert_eq!(of(&json!({"a": many})), Err(OddTarget::TooMany));
        assert_eq!(of(&json!({"a": many[1..]})).map(|found| found.len()), Ok(50));
    }

    #[test]
    fn no_parameter_that_names_a_chat_has_another_name() {
        for method in ApiTable::get().methods() {
            for param in &method.params {
                let named = param.name.contains("chat") && !param.name.ends_with("chat_id");
                let is_id = matches!(param.ty, ApiType::Integer | ApiType::Union(_));
                assert!(!(named && is_id), "{}.{}", method.name, param.name);
            }
        }
    }
}
