//! Splits the answer to `getUpdates` into single updates, so that one unreadable update does not cost the others.
//! Used by `api`; pure. A JSON parser rejects the whole answer for too deep nesting, half a surrogate pair or a
//! number out of range, so the split looks only at brackets, commas and quotes.

use serde_json::Value;

use super::error::ApiError;
use figaro_base::ids::UpdateId;
use figaro_store::{RawUpdate, UnreadableUpdate};

/// Maximum size of an update, in bytes. Telegram's updates are far smaller.
const MAX_BYTES: usize = 1024 * 1024;
/// Maximum nesting of an update. serde_json stops at 128, which must also be enough for the stored record around the
/// update.
const MAX_DEPTH: usize = 100;

/// One update of a `getUpdates` answer.
#[derive(Debug, PartialEq)]
pub(crate) enum BatchUpdate {
    Readable(RawUpdate),
    /// Has an id but cannot be parsed, for this reason.
    Unreadable(UnreadableUpdate, &'static str),
    /// Has no id, whether it can be parsed or not; holds its length in bytes.
    Nameless(usize),
}

/// Parses an answer with this HTTP status.
///
/// # Errors
/// Telegram's error, or [`ApiError::Unclear`] if the answer has no list of updates.
pub(crate) fn read(status: u16, body: &str) -> Result<Vec<BatchUpdate>, ApiError> {
    let members = parts(body, '{').unwrap_or_default();
    if member(&members, "ok") != Some("true") {
        return Err(ApiError::of_answer(status, body));
    }
    let items = member(&members, "result").and_then(|result| parts(result, '['));
    let items = items.ok_or_else(|| ApiError::Unclear("no list of updates".to_owned()))?;
    Ok(items.into_iter().map(receive).collect())
}

fn receive(text: &str) -> BatchUpdate {
    let reason = match parse(text) {
        Ok(body) => match body.get("update_id").and_then(Value::as_i64) {
            Some(id) => return BatchUpdate::Readable(RawUpdate { id: UpdateId(id), body }),
            None => return BatchUpdate::Nameless(text.len()),
        },
        Err(reason) => reason,
    };
    let members = parts(text, '{').unwrap_or_default();
    match member(&members, "update_id").and_then(|id| id.parse().ok()) {
        Some(id) => BatchUpdate::Unreadable(UnreadableUpdate::new(UpdateId(id), text), reason),
        None => BatchUpdate::Nameless(text.len()),
    }
}

fn parse(text: &str) -> Result<Value, &'static str> {
    if text.len() > MAX_BYTES {
        return Err("too_long");
    }
    if depth(text) > MAX_DEPTH {
        return Err("nested_too_deep");
    }
    // The parser's message may quote the text.
    serde_json::from_str(text).map_err(|_words| "no_json")
}

/// Returns the value of a member of an object. Keys with escapes are not found; Telegram uses none.
fn member<'a>(members: &[&'a str], key: &str) -> Option<&'a str> {
    members.iter().find_map(|member| {
        let rest = member.strip_prefix('"')?.strip_prefix(key)?.strip_prefix('"')?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    })
}

/// Returns the items of a list (`[`) or the members of an object (`{`); `None` if the text is not one or is
/// incomplete.
fn parts(text: &str, opening: char) -> Option<Vec<&str>> {
    let text = text.trim();
    let mut start = text.starts_with(opening).then_some(1)?;
    let mut parts = Vec::new();
    let mut end = None;
    structure(text, |at, byte, depth| match (byte, depth) {
        (b',', 1) => {
            parts.extend(text.get(start..at).map(str::trim));
            start = at + 1;
        }
        (b']' | b'}', 0) => end = end.or(Some(at)),
        _ => {}
    });
    let end = end.filter(|end| end + 1 == text.len())?;
    parts.extend(text.get(start..end).map(str::trim).filter(|last| !last.is_empty()));
    Some(parts)
}

/// Returns the maximum nesting of a JSON text.
fn depth(text: &str) -> usize {
    let mut deepest = 0;
    structure(text, |_, _, depth| deepest = deepest.max(depth));
    deepest
}

/// Calls `see` for every bracket and comma outside of strings, with its position, the byte and the number of brackets
/// that are open after it.
fn structure(text: &str, mut see: impl FnMut(usize, u8, usize)) {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                depth += 1;
                see(at, byte, depth);
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                see(at, byte, depth);
            }
            b',' => see(at, byte, depth),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn batch(items: &[&str]) -> Vec<BatchUpdate> {
        read(200, &format!(r#" {{"ok" : true, "result": [{}]}} "#, items.join(" ,\n"))).unwrap()
    }

    #[test]
    fn what_cannot_be_read_costs_no_other() {
        let good = |id: i64| format!(r#"{{"update_id":{id},"message":{{"text":"a,]}}\\\""}}}}"#);
        let deep = format!(r#"{{"update_id":2,"message":{}1{}}}"#, "[".repeat(500), "]".repeat(500));
        let long = format!(r#"{{"message":"{}","update_id":2}}"#, "ā".repeat(800_000));
        let broken = [
            deep.as_str(),
            &long,
            r#"{"update_id":2,"message":{"text":"\ud800"}}"#,
            r#"{"message":{"date":1e999},"update_id" : 2}"#,
            r#"{"update_id":2,"message":{"date":NaN,,}}"#,
            "{\"update_id\":2,\"message\":\"a\u{1}b\"}",
            r#"{"\ud800":1,"update_id":2}"#,
        ];
        for text in broken {
            let items = batch(&[&good(1), text, &good(3)]);
            assert!(
                matches!(&items[0], BatchUpdate::Readable(RawUpdate { id: UpdateId(1), .. })),
                "{items:?}"
            );
            let BatchUpdate::Unreadable(unreadable, _) = &items[1] else { panic!("{text:.50} is read") };
            assert_eq!((unreadable.id, unreadable.bytes), (UpdateId(2), text.len()));
            assert!(
                text.starts_with(&unreadable.text) && unreadable.text.len() <= UnreadableUpdate::KEPT_BYTES
            );
            let body = json!({"update_id": 3, "message": {"text": "a,]}\\\""}});
            assert_eq!(items[2..], [BatchUpdate::Readable(RawUpdate { id: UpdateId(3), body })]);
        }
    }

    #[test]
    fn what_has_no_id_is_counted() {
        let nameless = [
            "42",
            "null",
            r#""update_id""#,
            "[]",
            "{}",
            r#"{"update_id":"7"}"#,
            r#"{"update_id":1e999}"#,
            r#"{"update_id":99999999999999999999}"#,
            r#"[{"update_id":7,"x":1e999}]"#,
            r#"{"message":{"update_id":7,"x":1e999}}"#,
            r#"{"text":"\"update_id\":7","x":1e999}"#,
        ];
        for text in nameless {
            assert_eq!(batch(&[text]), [BatchUpdate::Nameless(text.len())], "{text}");
        }
        assert_eq!(batch(&[]), []);
    }

    #[test]
    fn an_answer_without_a_list_is_an_error() {
        let list = "no list of updates";
        let other = "the answer is none of Telegram's";
        let cases = [
            (r#"{"ok":true,"result":{"a":1}}"#, list),
            (r#"{"ok":true,"result":7}"#, list),
            (r#"{"ok":true}"#, list),
            (r#"{"ok":true,"result":[{"update_id":1}"#, other),
            (r#"{"ok":true,"result":[]}]"#, other),
            ("", other),
            ("[]", other),
            ("{}", other),
        ];
        for (body, words) in cases {
            assert_eq!(read(200, body), Err(ApiError::Unclear(words.to_owned())), "{body}");
        }
        let stop = r#"{"ok":false,"error_code":409,"description":"x"}"#;
        assert_eq!(read(409, stop), Err(ApiError::Conflict));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<Option<bool>>().prop_map(|value| json!(value)),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn updates_come_out_as_they_went_in(values in prop::collection::vec(json_value(), 0..5), pretty: bool) {
            let bodies: Vec<Value> =
                values.iter().enumerate().map(|(id, value)| json!({"message": value, "update_id": id})).collect();
            let answer = json!({"ok": true, "result": bodies});
            let text = if pretty { serde_json::to_string_pretty(&answer) } else { serde_json::to_string(&answer) };
            let wanted: Vec<BatchUpdate> = (0_i64..)
                .zip(bodies)
                .map(|(id, body)| BatchUpdate::Readable(RawUpdate { id: UpdateId(id), body }))
                .collect();
            prop_assert_eq!(read(200, &text.unwrap()).unwrap(), wanted);
        }

        #[test]
        fn no_text_breaks_it(text in any::<String>(), status: u16) {
            drop(read(status, &text));
            drop(read(status, &format!(r#"{{"ok":true,"result":[{text}]}}"#)));
        }
    }
}
