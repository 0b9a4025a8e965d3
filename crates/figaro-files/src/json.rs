//! Reads JSON files written by an owner, with the position of each value.

use serde_json::Value;

use super::yaml::{Misfit, TextPosition};

/// A JSON value with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonNode {
    /// Position of its first character.
    pub at: TextPosition,
    /// The value, by kind.
    pub kind: JsonKind,
}

/// Kind and content of a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonKind {
    /// Entries of an object in source order. Duplicate keys are kept.
    Object(Vec<JsonEntry>),
    /// Items of a list, in source order.
    Array(Vec<JsonNode>),
    /// A string, number, `true`, `false` or `null`.
    Plain(Value),
}

/// A key of an object and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonEntry {
    /// Position of the key.
    pub at: TextPosition,
    /// The key, unescaped.
    pub key: String,
    /// The value, with its own position.
    pub value: JsonNode,
}

impl JsonKind {
    /// Returns the name of the kind, to follow "is" or "not" in a sentence.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Object(_) => "an object",
            Self::Array(_) => "a list",
            Self::Plain(Value::String(_)) => "a text",
            Self::Plain(Value::Number(_)) => "a number",
            Self::Plain(Value::Bool(_)) => "true or false",
            Self::Plain(_) => "null",
        }
    }
}

/// Parses a JSON text. Skips a leading byte order mark.
///
/// # Errors
/// The first syntax error, with its position.
pub fn parse(text: &str) -> Result<JsonNode, Misfit> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(Misfit { at: None, words: "the file is empty".to_owned() });
    }
    // An error at the end of the text is reported at its last visible character.
    let text = text.trim_end();
    if let Err(error) = serde_json::from_str::<Value>(text) {
        let at = TextPosition { line: number(error.line()), column: number(error.column()) };
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or_default();
        let words = match words.strip_prefix("EOF while parsing ") {
            Some(open) => format!("the file ends in the middle of {open}"),
            None => format!("this is no JSON: {words}"),
        };
        return Err(Misfit { at: Some(at), words });
    }
    let mut scan = JsonScanner { rest: text, at: TextPosition { line: 1, column: 1 } };
    // Cannot fail: the text was parsed once already.
    scan.value().ok_or_else(|| Misfit { at: Some(scan.at), words: "this is no JSON".to_owned() })
}

/// Rest of the text to scan, and its position.
struct JsonScanner<'a> {
    rest: &'a str,
    at: TextPosition,
}

impl JsonScanner<'_> {
    fn value(&mut self) -> Option<JsonNode> {
        self.skip_space();
        let at = self.at;
        let kind = match self.rest.chars().next()? {
            '{' => JsonKind::Object(self.items('}', Self::entry)?),
            '[' => JsonKind::Array(self.items(']', Self::value)?),
            _ => JsonKind::Plain(self.plain()?),
        };
        Some(JsonNode { at, kind })
    }

    /// Reads comma-separated items up to the closing bracket.
    fn items<T>(&mut self, end: char, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.take(1);
        loop {
            self.skip_space();
            match self.rest.chars().next()? {
                next if next == end => {
                    self.take(1);
                    return Some(items);
                }
                ',' => self.take(1),
                _ => items.push(item(self)?),
            }
        }
    }

    fn entry(&mut self) -> Option<JsonEntry> {
        let at = self.at;
        let key = self.plain()?.as_str()?.to_owned();
        self.skip_space();
        self.take(1);
        Some(JsonEntry { at, key, value: self.value()? })
    }

    /// Reads a value that is neither an object nor a list.
    fn plain(&mut self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let length = values.byte_offset();
        self.take(length);
        Some(value)
    }

    fn skip_space(&mut self) {
        let space = self.rest.len() - self.rest.trim_start().len();
        self.take(space);
    }

    /// Skips `bytes` bytes and advances the position.
    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for c in taken.chars() {
            self.at = match c {
                '\n' => TextPosition { line: self.at.line + 1, column: 1 },
                _ => TextPosition { column: self.at.column + 1, ..self.at },
            };
        }
        self.rest = rest;
    }
}

fn number(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value_of(placed: &JsonNode) -> Value {
        match &placed.kind {
            JsonKind::Object(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), value_of(&entry.value))).collect()
            }
            JsonKind::Array(items) => items.iter().map(value_of).collect(),
            JsonKind::Plain(value) => value.clone(),
        }
    }

    #[test]
    fn each_value_has_its_place() {
        let placed = parse("\u{feff}{\n\t\"ä\": [1, \"x\\n\"],\n  \"b\" : {\"c\": null}, \"b\": 2}").unwrap();
        let JsonKind::Object(entries) = &placed.kind else { panic!() };
        let at = |mark: TextPosition| (mark.line, mark.column);
        let places: Vec<_> =
            entries.iter().map(|entry| (entry.key.as_str(), at(entry.at), at(entry.value.at))).collect();
        assert_eq!(places, [("ä", (2, 2), (2, 7)), ("b", (3, 3), (3, 9)), ("b", (3, 22), (3, 27))]);
        assert_eq!(value_of(&placed), json!({"ä": [1, "x\n"], "b": 2}));
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        let cases = [
            ("", None, "the file is empty"),
            ("{\"a\": 1,}", Some((1, 9)), "this is no JSON: trailing comma"),
            ("{\n  // a note\n}", Some((2, 3)), "this is no JSON: key must be a string"),
            ("{\"a\": 1", Some((1, 7)), "the file ends in the middle of an object"),
            ("{\n  \"a\": [\n\n", Some((2, 8)), "the file ends in the middle of a list"),
        ];
        for (text, at, words) in cases {
            let misfit = parse(text).unwrap_err();
            assert_eq!((misfit.at.map(|at| (at.line, at.column)), misfit.words.as_str()), (at, words));
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        plain.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..4)
                    .prop_map(|pairs| pairs.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_is_written(value in any_json()) {
            for text in [value.to_string(), format!("{value:#}")] {
                prop_assert_eq!(value_of(&parse(&text).unwrap()), value.clone());
            }
        }
    }
}
