//! The answer to `getUpdates`, taken apart update by update, so that one that cannot be read costs none of the others.
//! Used by `api`; pure. Parsed whole, nesting beyond a bound, half a surrogate pair or a number out of range fails the
//! answer. A raw value is only skipped, which none of them stops.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::ApiError;
use figaro_base::ids::UpdateId;
use figaro_store::{RawUpdate, UnreadableUpdate};

/// The longest update that is read, in bytes; Telegram's are far below it.
const MAX_BYTES: usize = 1024 * 1024;
/// The deepest nesting that is read: serde_json stops at 128, also where the update is a part of a stored record.
const MAX_DEPTH: usize = 100;
/// How Telegram begins each update. No text can hold it: quotes within a text are escaped.
const UPDATE_START: &str = r#"{"update_id":"#;

/// One of the updates of an answer.
#[derive(Debug, PartialEq)]
pub enum Received {
    /// An object with an id.
    Readable(RawUpdate),
    /// It has an id and cannot be read, for this reason.
    Unreadable(UnreadableUpdate, &'static str),
    /// It has no id, readable or not; so long is it, in bytes.
    Nameless(usize),
}

#[derive(Deserialize)]
struct Answer<'a> {
    ok: bool,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Numbered {
    update_id: i64,
}

/// Reads an answer with this HTTP status.
///
/// # Errors
/// What Telegram says instead of updates, or that this is no answer of Telegram's.
pub fn read(status: u16, body: &str) -> Result<Vec<Received>, ApiError> {
    let items: Option<Vec<&RawValue>> = match serde_json::from_str(body) {
        Ok(Answer { ok: true, result }) => result.and_then(|list| serde_json::from_str(list.get()).ok()),
        // Malformed JSON in one update must not hold up the others for ever. An answer that was cut off comes again.
        Err(error) if error.is_syntax() && body.contains(UPDATE_START) => return Ok(salvage(body)),
        _ => return Err(ApiError::of_answer(status, body)),
    };
    let items = items.ok_or_else(|| ApiError::Unclear("no list of updates".to_owned()))?;
    Ok(items.into_iter().map(|item| receive(item.get())).collect())
}

/// The updates of an answer that is no JSON, told apart by how they begin.
fn salvage(body: &str) -> Vec<Received> {
    let starts: Vec<usize> = body.match_indices(UPDATE_START).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([body.len()]);
    let texts = starts.iter().zip(ends).filter_map(|(start, end)| body.get(*start..end));
    let one = |text: &str| match serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().next() {
        Some(Ok(whole)) => receive(whole.get()),
        _ => receive(text.trim_end_matches([',', ' ', '\n', '\r', '\t'])),
    };
    texts.map(one).collect()
}

fn receive(text: &str) -> Received {
    let reason = match parse(text) {
        Ok(body) => match body.get("update_id").and_then(Value::as_i64) {
            Some(id) => return Received::Readable(RawUpdate { id: UpdateId(id), body }),
            None => return Received::Nameless(text.len()),
        },
        Err(reason) => reason,
    };
    match id(text) {
        Some(id) => Received::Unreadable(UnreadableUpdate::new(UpdateId(id), text), reason),
        None => Received::Nameless(text.len()),
    }
}

fn parse(text: &str) -> Result<Value, &'static str> {
    if text.len() > MAX_BYTES {
        return Err("too_long");
    }
    match serde_json::from_str(text) {
        Ok(value) if depth(&value) <= MAX_DEPTH => Ok(value),
        Err(error) if !error.to_string().starts_with("recursion limit exceeded") => Err("no_json"),
        _ => Err("nested_too_deep"),
    }
}

/// The id of an update that cannot be read: the parser skips the other members, or the text begins with it.
fn id(text: &str) -> Option<i64> {
    let skipping = serde_json::from_str(text).ok().map(|Numbered { update_id }| update_id);
    skipping.or_else(|| text.strip_prefix(UPDATE_START)?.split([',', '}']).next()?.trim().parse().ok())
}

/// How deep a value is nested.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn batch(items: &[&str]) -> Vec<Received> {
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
            r#"{"update_id":2,"\ud800":1}"#,
        ];
        for text in broken {
            let items = batch(&[&good(1), text, &good(3)]);
            assert!(matches!(&items[0], Received::Readable(RawUpdate { id: UpdateId(1), .. })), "{items:?}");
            let Received::Unreadable(unreadable, _) = &items[1] else { panic!("{text:.50} is read") };
            assert_eq!((unreadable.id, unreadable.bytes), (UpdateId(2), text.len()));
            assert!(
                text.starts_with(&unreadable.text) && unreadable.text.len() <= UnreadableUpdate::KEPT_BYTES
            );
            let body = json!({"update_id": 3, "message": {"text": "a,]}\\\""}});
            assert_eq!(items[2..], [Received::Readable(RawUpdate { id: UpdateId(3), body })]);
        }
    }

    #[test]
    fn nesting_is_told_from_malformed_text() {
        for (depth, wanted) in [(99, None), (100, Some("nested_too_deep")), (5_000, Some("nested_too_deep"))]
        {
            let text = format!(r#"{{"update_id":2,"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
            let reason = match &batch(&[&text])[..] {
                [Received::Unreadable(_, reason)] => Some(*reason),
                _ => None,
            };
            assert_eq!(reason, wanted, "{depth}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_is_an_error() {
        let body = r#"{"ok":true,"result":[{"update_id":1,"message":{"entities":[{}]}"#;
        assert!(read(200, body).is_err());
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
            assert_eq!(batch(&[text]), [Received::Nameless(text.len())], "{text}");
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
            let wanted: Vec<Received> = (0_i64..)
                .zip(bodies)
                .map(|(id, body)| Received::Readable(RawUpdate { id: UpdateId(id), body }))
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
