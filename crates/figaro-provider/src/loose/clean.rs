//! Cleans JSON text of everything that parsers refuse: control characters in strings, lone surrogates, `NaN`, numbers
//! out of range, too deep nesting, trailing commas, and keywords and quotes of Python. Called by [`super`] only.

/// Maximum nesting that is kept. Deeper values are left out; parsers accept 128 levels.
const MAX_DEPTH: usize = 100;
/// Keywords in place of values, with their JSON equivalents.
const WORDS: [(&str, &str); 6] = [
    ("NaN", "null"),
    ("Infinity", "null"),
    ("-Infinity", "null"),
    ("None", "null"),
    ("True", "true"),
    ("False", "false"),
];

/// State of a text being cleaned.
struct Cleaner<'a> {
    left: &'a str,
    clean: String,
    depth: usize,
}

/// Cleans a text into JSON; `None` if it breaks off within a string. The result may still be invalid.
pub(super) fn clean(text: &str) -> Option<String> {
    let mut cleaner = Cleaner { left: text, clean: String::with_capacity(text.len()), depth: 0 };
    while let Some(first) = cleaner.left.chars().next() {
        match first {
            '"' | '\'' => cleaner.string(first)?,
            '{' | '[' => cleaner.open(first),
            '}' | ']' => cleaner.close(first),
            '-' | '+' | '.' | '0'..='9' | 'A'..='Z' | 'a'..='z' => cleaner.word(),
            other => cleaner.take(other),
        }
    }
    Some(cleaner.clean)
}

impl Cleaner<'_> {
    /// Takes the next character and writes `this` in its place.
    fn take(&mut self, this: char) {
        let length = self.left.chars().next().map_or(0, char::len_utf8);
        self.left = self.left.split_at(length).1;
        self.keep(this);
    }

    fn keep(&mut self, this: char) {
        if self.depth <= MAX_DEPTH {
            self.clean.push(this);
        }
    }

    fn keep_all(&mut self, text: &str) {
        text.chars().for_each(|c| self.keep(c));
    }

    fn open(&mut self, bracket: char) {
        if self.depth == MAX_DEPTH {
            self.keep_all("null");
        }
        self.depth += 1;
        self.take(bracket);
    }

    fn close(&mut self, bracket: char) {
        let is_kept = self.depth <= MAX_DEPTH;
        if is_kept && self.clean.trim_end().ends_with(',') {
            self.clean.truncate(self.clean.trim_end().len() - 1);
        }
        self.take(bracket);
        self.depth = self.depth.saturating_sub(1);
    }

    /// Takes a number or a keyword.
    fn word(&mut self) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        let length = self.left.find(|c| !is_part(c)).unwrap_or(self.left.len());
        let (word, left) = self.left.split_at(length);
        self.left = left;
        let known = WORDS.iter().find(|(name, _)| *name == word).map(|(_, stands_for)| *stands_for);
        let is_beyond = word.parse::<f64>().is_ok_and(f64::is_infinite);
        self.keep_all(known.unwrap_or(if is_beyond { "null" } else { word }));
    }

    /// Takes a string up to its closing quote.
    fn string(&mut self, quote: char) -> Option<()> {
        self.take('"');
        loop {
            match self.left.chars().next()? {
                c if c == quote => {
                    self.take('"');
                    return Some(());
                }
                '"' => {
                    self.keep('\\');
                    self.take('"');
                }
                '\\' => self.escape()?,
                c if c.is_ascii_control() => {
                    self.keep_all(&format!("\\u{:04x}", u32::from(c)));
                    self.left = self.left.split_at(1).1;
                }
                c => self.take(c),
            }
        }
    }

    /// Takes an escape. A surrogate counts only with its other half.
    fn escape(&mut self) -> Option<()> {
        let length = match (unit(self.left), self.left.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                self.left = self.left.split_at(6).1;
                self.keep(char::REPLACEMENT_CHARACTER);
                return Some(());
            }
            _ if self.left.starts_with("\\'") => {
                self.left = self.left.split_at(1).1;
                self.take('\'');
                return Some(());
            }
            _ => 1 + self.left.chars().nth(1)?.len_utf8(),
        };
        let (escape, left) = self.left.split_at_checked(length)?;
        self.left = left;
        self.keep_all(escape);
        Some(())
    }
}

/// Parses a `\uXXXX` at the start of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::value;

    #[test]
    fn what_is_nearly_json_is_read() {
        let deep = |levels: usize| format!("{{\"x\":{}{},\"a\":1}}", "[".repeat(levels), "]".repeat(levels));
        let cases = [
            ("not a number", "{\"a\":[NaN,Infinity,-Infinity]}".to_owned(), json!({"a": [null, null, null]})),
            ("the word within a string", "{\"a\":\"NaN\",\"b\":NaN}".into(), json!({"a": "NaN", "b": null})),
            ("too large", "{\"a\":1e400,\"b\":-1e400}".into(), json!({"a": null, "b": null})),
            ("raw control characters", "{\"a\":\"b\nc\td\"}".into(), json!({"a": "b\nc\td"})),
            ("half a character", "{\"a\":\"b\\ud83d c\"}".into(), json!({"a": "b\u{fffd} c"})),
            ("the other half", "{\"a\":\"\\udd56\"}".into(), json!({"a": "\u{fffd}"})),
            ("half and whole", "{\"a\":\"\\ud83d\\ud83e\\udd56\"}".into(), json!({"a": "\u{fffd}🥖"})),
            (
                "commas at an end",
                "{\"a\":[1,2,],\"b\":{\"c\":1, } ,\n}".into(),
                json!({"a": [1, 2], "b": {"c": 1}}),
            ),
            (
                "single quotes",
                "{'a':'say \"b\"','c':'it\\'s'}".into(),
                json!({"a": "say \"b\"", "c": "it's"}),
            ),
            (
                "Python's words",
                "{'a':True,'b':False,'c':None}".into(),
                json!({"a": true, "b": false, "c": null}),
            ),
        ];
        for (name, text, expected) in cases {
            assert_eq!(value(&text), Some(expected), "{name}");
        }
        for levels in [99, 127, 200, 100_000] {
            assert_eq!(value(&deep(levels)).unwrap()["a"], 1, "{levels} levels");
        }
    }

    #[test]
    fn what_has_no_plain_meaning_is_not_read() {
        let cases = [
            "{\"a\":\"b",
            "{\"a\"",
            "{'a':'it's'}",
            "{\"a\":b}",
            "{\"a\":\"\\",
            "{\"a\":\"\\x\"}",
            "<b>",
            "{\"a\" 1}",
        ];
        for text in cases {
            assert_eq!(value(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_valid_keeps_its_meaning(text in "[{}\\[\\]\",:'a\\\\1.e\\-é\nuN ]{0,24}") {
            if let Ok(read) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(value(&text), Some(read));
            }
            drop(value(&text));
        }
    }
}
