//! Guards what stands for a file in a call's arguments: a file_id or an http(s) URL, nothing else. Called by the server.
//! A Bot API server of one's own reads `file:` paths from its disk, and `attach:` names parts this call does not have.

use reqwest::Url;
use serde_json::{Map, Value};

use crate::table::{Field, Method, Table, Type, TypeDef};

/// A string that names no file a call may send.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} must be a file_id or an http(s) URL")]
pub(crate) struct BadFile {
    /// Where, like `media[0].media`.
    path: String,
}

/// Checks every place of a call that takes a file. The arguments fit the table already.
pub(crate) fn check(method: &Method, args: &Map<String, Value>) -> Result<(), BadFile> {
    match find(method, args).into_iter().find(|(_, text)| !is_remote(text)) {
        Some((path, _)) => Err(BadFile { path }),
        None => Ok(()),
    }
}

/// Every string of a call that stands for a file, however deep, with its place such as `media[0].media`.
#[must_use]
pub fn find<'a>(method: &Method, args: &'a Map<String, Value>) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    object(&method.params, args, "", &mut found);
    found
}

type Found<'a> = Vec<(String, &'a str)>;

fn object<'a>(fields: &[Field], value: &'a Map<String, Value>, path: &str, found: &mut Found<'a>) {
    let is_another = |field: &Field| {
        let given = value.get(&field.name);
        field.constant.as_ref().is_some_and(|wanted| given.is_some_and(|given| given != wanted))
    };
    // An alternative of a union that this object says it is not.
    if fields.iter().any(is_another) {
        return;
    }
    for field in fields {
        let Some(value) = value.get(&field.name) else {
            continue;
        };
        let at = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        match value {
            Value::String(text) if field.attach => found.push((at, text)),
            _ => typed(&field.ty, value, &at, found),
        }
    }
}

/// Of a union every alternative is looked at: whichever Telegram takes, no file passes unseen.
fn typed<'a>(ty: &Type, value: &'a Value, path: &str, found: &mut Found<'a>) {
    match (ty, value) {
        (Type::InputFile, Value::String(text)) => found.push((path.to_owned(), text)),
        (Type::Union(types), _) => types.iter().for_each(|ty| typed(ty, value, path, found)),
        (Type::Array(inner), Value::Array(items)) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| typed(inner, item, &format!("{path}[{at}]"), found));
        }
        (Type::Named(name), Value::Object(_) | Value::Array(_)) => match (Table::get().type_def(name), value)
        {
            (Some(TypeDef::Union(types)), _) => types.iter().for_each(|ty| typed(ty, value, path, found)),
            (Some(TypeDef::Fields(fields)), Value::Object(map)) => object(fields, map, path, found),
            _ => {}
        },
        _ => {}
    }
}

fn is_remote(text: &str) -> bool {
    let is_id = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    is_id || Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_ids_and_web_addresses_are_files() {
        let cases = [
            ("AgACAgIAAxkBAAIB-x_1", true),
            ("https://example.org/a.jpg?x=1", true),
            ("HTTP://example.org/a.jpg", true),
            ("", false),
            ("file:///etc/passwd", false),
            (" file:///etc/passwd", false),
            ("FILE:/etc/passwd", false),
            ("attach://part", false),
            ("/etc/passwd", false),
            ("data:image/png;base64,AA", false),
            ("ftp://example.org/a", false),
            ("https://", false),
        ];
        for (text, wanted) in cases {
            assert_eq!(is_remote(text), wanted, "{text}");
        }
    }

    #[test]
    fn files_are_found_at_any_depth() {
        let option = |media: &str| json!({"text": "a", "media": {"type": "photo", "media": media}});
        let button = json!({"inline_keyboard": [[{"text": "file:///a", "url": "https://example.org"}]]});
        let cases = [
            ("sendPhoto", json!({"chat_id": 1, "photo": "attach://a", "caption": "x"}), Some("photo")),
            ("sendPhoto", json!({"chat_id": 1, "photo": "AgAC", "caption": "file:///a"}), None),
            ("sendMessage", json!({"chat_id": 1, "text": "file:///a", "reply_markup": button}), None),
            (
                "sendPoll",
                json!({"options": [option("AgAC"), option("file:///a")]}),
                Some("options[1].media.media"),
            ),
            (
                "sendMediaGroup",
                json!({"media": [{"type": "video", "media": "AgAC", "cover": "file:///a"}]}),
                Some("media[0].cover"),
            ),
            (
                "sendMediaGroup",
                json!({"media": [{"type": "video", "media": "AgAC", "thumbnail": "attach://t"}]}),
                Some("media[0].thumbnail"),
            ),
        ];
        for (method, args, wanted) in cases {
            let found = check(Table::get().method(method).unwrap(), args.as_object().unwrap());
            assert_eq!(found.err().map(|bad| bad.path).as_deref(), wanted, "{method} {args}");
        }
    }
}
