//! Reads the JSON files that an owner writes, and tells where each value stands.

use serde_json::Value;

use super::yaml::{Mark, Misfit};

/// A value of a JSON text, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The place of its first character.
    pub at: Mark,
    /// What it is.
    pub kind: Kind,
}

/// What a value of a JSON text is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Keys with values, in their order; a key that stands twice is there twice.
    Object(Vec<Entry>),
    /// A list.
    Array(Vec<Placed>),
    /// A text, a number, `true`, `false` or `null`.
    Plain(Value),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The place of the key.
    pub at: Mark,
    /// The key.
    pub key: String,
    /// What stands behind it.
    pub value: Placed,
}

impl Kind {
    /// What it is, in words that follow "is" and "not".
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

/// Reads a JSON text. A byte order mark before it is passed over.
///
/// # Errors
/// The first thing that is no JSON, with its place.
pub fn parse(text: &str) -> Result<Placed, Misfit> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(Misfit { at: None, words: "the file is empty".to_owned() });
    }
    // Where it ends is where its last character stands.
    let text = text.trim_end();
    if let Err(error) = serde_json::from_str::<Value>(text) {
        let at = Mark { line: number(error.line()), column: number(error.column()) };
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or_default();
        let words = match words.strip_prefix("EOF while parsing ") {
            Some(open) => format!("the file ends in the middle of {open}"),
            None => format!("this is no JSON: {words}"),
        };
        return Err(Misfit { at: Some(at), words });
    }
    let mut scan = Scan { rest: text, at: Mark { line: 1, column: 1 } };
    // It was read once, so it can be read again.
    scan.value().ok_or_else(|| Misfit { at: Some(scan.at), words: "this is no JSON".to_owned() })
}

/// The text behind what was read.
struct Scan<'a> {
    rest: &'a str,
    at: Mark,
}

impl Scan<'_> {
    fn value(&mut self) -> Option<Placed> {
        self.skip_space();
        let at = self.at;
        let kind = match self.rest.chars().next()? {
            '{' => Kind::Object(self.items('}', Self::entry)?),
            '[' => Kind::Array(self.items(']', Self::value)?),
            _ => Kind::Plain(self.plain()?),
        };
        Some(Placed { at, kind })
    }

    /// What stands between brackets, with commas between.
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

    fn entry(&mut self) -> Option<Entry> {
        let at = self.at;
        let key = self.plain()?.as_str()?.to_owned();
        self.skip_space();
        self.take(1);
        Some(Entry { at, key, value: self.value()? })
    }

    /// A value that is neither an object nor a list.
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

    /// Passes over so many bytes.
    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for c in taken.chars() {
            self.at = match c {
                '\n' => Mark { line: self.at.line + 1, column: 1 },
                _ => Mark { column: self.at.column + 1, ..self.at },
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

    fn value_of(placed: &Placed) -> Value {
        match &placed.kind {
            Kind::Object(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), value_of(&entry.value))).collect()
            }
            Kind::Array(items) => items.iter().map(value_of).collect(),
            Kind::Plain(value) => value.clone(),
        }
    }

    #[test]
    fn each_value_has_its_place() {
        let placed = parse("\u{feff}{\n\t\"ä\": [1, \"x\\n\"],\n  \"b\" : {\"c\": null}, \"b\": 2}").unwrap();
        let Kind::Object(entries) = &placed.kind else { panic!() };
        let at = |mark: Mark| (mark.line, mark.column);
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
