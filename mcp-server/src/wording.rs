//! Types and values in plain words, for errors of `check`.

use std::borrow::Cow;

use serde_json::Value;

use crate::table::{ApiTable, ApiType, TypeDef};

/// Values in the place of a file.
const FILE: &str = "a file_id, an http(s) URL, or an object with name and base64 or text";

/// Describes a value of a type, such as "a whole number or a text".
pub(crate) fn expected(ty: &ApiType) -> Cow<'static, str> {
    match ty {
        ApiType::Integer => "a whole number".into(),
        ApiType::Float => "a number".into(),
        ApiType::String => "a text".into(),
        ApiType::Boolean => "true or false".into(),
        ApiType::True => "true".into(),
        ApiType::InputFile => FILE.into(),
        ApiType::Named(name) => match ApiTable::get().type_def(name) {
            Some(TypeDef::Union(types)) => any_of(types),
            Some(TypeDef::Fields(_)) | None => "an object".into(),
        },
        ApiType::Array(inner) => format!("a list of {}", several(inner)).into(),
        ApiType::Union(types) if types.contains(&ApiType::InputFile) => FILE.into(),
        ApiType::Union(types) => any_of(types),
    }
}

/// Describes a value that does not fit.
pub(crate) fn found(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Number(number) if number.is_f64() => number.to_string().into(),
        Value::Null | Value::Bool(_) => value.to_string().into(),
        Value::Number(_) => "a number".into(),
        Value::String(_) => "a text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// Joins alternatives; all objects count as one.
fn any_of(types: &[ApiType]) -> Cow<'static, str> {
    let mut words: Vec<Cow<'static, str>> = Vec::new();
    for ty in types {
        let word = if matches!(ty, ApiType::Named(_)) { "an object".into() } else { expected(ty) };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" or ").into()
}

/// Describes the items of a list.
fn several(ty: &ApiType) -> Cow<'static, str> {
    match ty {
        ApiType::Integer => "whole numbers".into(),
        ApiType::Float => "numbers".into(),
        ApiType::String => "texts".into(),
        ApiType::Boolean | ApiType::True => "true or false".into(),
        ApiType::InputFile => "files".into(),
        ApiType::Named(name) => format!("{name} objects").into(),
        // One "objects" for all of them.
        ApiType::Union(types) if types.iter().all(|ty| matches!(ty, ApiType::Named(_))) => {
            format!("{ty} objects").into()
        }
        ApiType::Array(inner) => format!("lists of {}", several(inner)).into(),
        ApiType::Union(types) => {
            let words: Vec<Cow<'static, str>> = types.iter().map(several).collect();
            words.join(" or ").into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_told_in_plain_words() {
        let cases = [
            ("Integer|String", "a whole number or a text"),
            ("InputFile|String", FILE),
            ("Boolean", "true or false"),
            ("InputPollOption", "an object"),
            ("ReactionType", "an object"),
            ("RichText", "a text or a list of RichText objects or an object"),
            ("Array<Integer>", "a list of whole numbers"),
            ("Array<MessageEntity>", "a list of MessageEntity objects"),
            ("Array<Array<KeyboardButton>>", "a list of lists of KeyboardButton objects"),
            (
                "Array<InputMediaPhoto|InputMediaVideo>",
                "a list of InputMediaPhoto or InputMediaVideo objects",
            ),
        ];
        for (ty, wanted) in cases {
            assert_eq!(expected(&ApiType::parse(ty)), wanted, "{ty}");
        }
    }

    #[test]
    fn values_are_told_by_their_kind() {
        let cases =
            [(json!(5), "a number"), (json!(1.5), "1.5"), (json!(false), "false"), (json!(["a"]), "a list")];
        for (value, wanted) in cases {
            assert_eq!(found(&value), wanted);
        }
    }
}
