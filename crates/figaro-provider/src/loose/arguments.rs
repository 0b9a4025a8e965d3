//! Repairs a call's arguments to the object that was meant. Called by [`super`] only.

use serde_json::{Map, Value};

use super::clean::clean;

type ArgumentObject = Map<String, Value>;

/// Returns the arguments as a JSON object, if only one meaning is possible. Otherwise returns them unchanged, and the
/// caller of the tool tells the model.
pub(crate) fn arguments(text: String) -> String {
    if serde_json::from_str::<ArgumentObject>(&text).is_ok() {
        return text;
    }
    match meant(&text, true) {
        Some(object) => Value::from(object).to_string(),
        None => text,
    }
}

/// Returns the object that a text means. `is_outer` is `true` if the text may hold the object as a string.
fn meant(text: &str, is_outer: bool) -> Option<ArgumentObject> {
    let text = bare(text);
    if text.is_empty() {
        return Some(ArgumentObject::new());
    }
    let values = values(text).or_else(|| values(&clean(text)?))?;
    let mut objects = values.into_iter().map(|value| match value {
        Value::Object(object) => Some(object),
        Value::Null => Some(ArgumentObject::new()),
        Value::Array(mut items) if items.len() <= 1 => match items.pop() {
            None => Some(ArgumentObject::new()),
            Some(Value::Object(object)) => Some(object),
            Some(_) => None,
        },
        Value::String(text) if is_outer => meant(&text, false),
        Value::Array(_) | Value::String(_) | Value::Bool(_) | Value::Number(_) => None,
    });
    let first = objects.next()??;
    // A repetition adds nothing, and neither does an empty object before the real one.
    objects.try_fold(first, |known, next| {
        let next = next?;
        (known.is_empty() || known == next).then_some(next)
    })
}

/// Reads consecutive values. A surplus closing bracket after them is ignored.
fn values(text: &str) -> Option<Vec<Value>> {
    let mut read = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut values = Vec::new();
    loop {
        let at = read.byte_offset();
        match read.next() {
            Some(Ok(value)) => values.push(value),
            Some(Err(_)) => {
                let rest = text.get(at..).unwrap_or_default();
                let is_over = rest.chars().all(|c| c == '}' || c.is_whitespace());
                return (is_over && !values.is_empty()).then_some(values);
            }
            None => return Some(values),
        }
    }
}

/// Strips the code fence around a text, and the tags and marks of a model's template after it.
fn bare(text: &str) -> &str {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let mut text =
        fenced.map_or(text, |inner| inner.trim_start_matches(|c: char| c.is_ascii_alphabetic())).trim();
    while let Some((before, tag)) = text.rsplit_once('<') {
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_:|｜▁-".contains(c));
        let inner = tag.strip_suffix('>').filter(|inner| is_name(inner.trim_start_matches('/')));
        let is_last = inner.is_some_and(|inner| inner.starts_with(['/', '|', '｜']));
        if !is_last {
            break;
        }
        text = before.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_with_one_meaning_are_mended() {
        const WHOLE: &str = "{\"a\":\"b\",\"c\":1}";
        let cases = [
            ("", "{}"),
            (" \n", "{}"),
            ("null", "{}"),
            ("[]", "{}"),
            ("\"\"", "{}"),
            ("\"{\\\"a\\\":\\\"b\\\",\\\"c\\\":1}\"", WHOLE),
            ("[{\"a\":\"b\",\"c\":1}]", WHOLE),
            ("{\"a\":\"b\",\"c\":1}{\"a\":\"b\",\"c\":1}", WHOLE),
            ("{}{\"a\":\"b\",\"c\":1}", WHOLE),
            ("{\"a\":\"b\",\"c\":1}}", WHOLE),
            ("\u{feff}{\"a\":\"b\",\"c\":1}", WHOLE),
            ("```json\n{\"a\":\"b\",\"c\":1}\n```", WHOLE),
            ("```\n{\"a\":\"b\",\"c\":1}```", WHOLE),
            ("{\"a\":\"b\",\"c\":1}<|im_end|>", WHOLE),
            ("{\"a\":\"b\",\"c\":1}\n</tool_call>\n</s>", WHOLE),
            ("{\"a\":\"b\",\"c\":1,}", WHOLE),
            ("{'a':'b','c':1}", WHOLE),
            ("{\"a\":\"b\nd\",\"c\":1}", "{\"a\":\"b\\nd\",\"c\":1}"),
        ];
        for (text, expected) in cases {
            assert_eq!(arguments(text.into()), expected, "{text:?}");
        }
    }

    #[test]
    fn all_others_are_left_as_they_came() {
        let cases = [
            "{ \"a\" : \"</tool_call>\" }",
            "{\"a\":\"{}{}\"}",
            "{\"a\":1}{\"a\":2}",
            "{\"a\":1}{}",
            "[{\"a\":1},{\"a\":2}]",
            "[1]",
            "7",
            "\"b\"",
            "{\"a\":\"b",
            "{\"a\":1} and more",
            "{'a':'it's'}",
            "Two loaves.",
            "\"\\\"{}\\\"\"",
        ];
        for text in cases {
            assert_eq!(arguments(text.into()), text);
        }
    }
}
