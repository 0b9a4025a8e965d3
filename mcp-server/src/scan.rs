//! Counts the JSON of a body as it passes, without parsing it. Used by `body` for calls, by `telegram` for answers.

/// Minimum depth of file contents: in an object within the arguments within the parameters of a message.
const FILE_DEPTH: usize = 4;
/// Fields with the content of a file.
const FILE_FIELDS: [&[u8]; 2] = [b"base64", b"text"];

/// Counts so far. Invalid JSON is counted too; the parser rejects it later.
#[derive(Debug, Default)]
pub(crate) struct BodyScan {
    /// Bytes outside of file contents.
    pub(crate) json_bytes: usize,
    /// Number of keys and values.
    pub(crate) parts: usize,
    depth: usize,
    within: JsonContext,
    /// Start of the last string, long enough to recognise the file fields.
    name: Vec<u8>,
    /// `true` if the next value belongs to a file field.
    names_file: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum JsonContext {
    #[default]
    Nothing,
    /// A number, `true`, `false` or `null`.
    Word,
    Text {
        /// `true` if it is the content of a file.
        is_file: bool,
        /// `true` if the last byte was a backslash.
        escaped: bool,
    },
}

impl BodyScan {
    /// Counts the next bytes of the body.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            let used = match self.within {
                JsonContext::Text { is_file, escaped } => self.text(bytes, is_file, escaped),
                JsonContext::Nothing | JsonContext::Word => {
                    self.json_bytes += 1;
                    self.within = self.outside(*first);
                    1
                }
            };
            bytes = bytes.get(used..).unwrap_or_default();
        }
    }

    /// Returns the context after a byte outside of strings.
    fn outside(&mut self, byte: u8) -> JsonContext {
        let names_file = std::mem::take(&mut self.names_file);
        match byte {
            b'"' => {
                self.parts += 1;
                self.name.clear();
                JsonContext::Text { is_file: names_file && self.depth >= FILE_DEPTH, escaped: false }
            }
            b'{' | b'[' => {
                self.parts += 1;
                self.depth += 1;
                JsonContext::Nothing
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                JsonContext::Nothing
            }
            b':' => {
                self.names_file = FILE_FIELDS.contains(&self.name.as_slice());
                JsonContext::Nothing
            }
            b',' => JsonContext::Nothing,
            b' ' | b'\t' | b'\r' | b'\n' => {
                self.names_file = names_file;
                JsonContext::Nothing
            }
            _ if self.within == JsonContext::Word => JsonContext::Word,
            _ => {
                self.parts += 1;
                JsonContext::Word
            }
        }
    }

    /// Continues in a string up to and including the next special byte. Returns the number of bytes used.
    fn text(&mut self, bytes: &[u8], is_file: bool, escaped: bool) -> usize {
        let plain = if escaped { 0 } else { bytes.iter().take_while(|b| !matches!(b, b'"' | b'\\')).count() };
        let used = (plain + 1).min(bytes.len());
        self.within = match bytes.get(plain) {
            Some(b'"') if !escaped => JsonContext::Nothing,
            byte => JsonContext::Text { is_file, escaped: !escaped && byte == Some(&b'\\') },
        };
        let ends = self.within == JsonContext::Nothing;
        if !is_file {
            self.json_bytes += used;
            // One byte more than the longest field name reveals longer names. An escape changes the name.
            let room = (FILE_FIELDS[0].len() + 1).saturating_sub(self.name.len());
            let seen = bytes.get(..used - usize::from(ends)).unwrap_or_default();
            self.name.extend(seen.iter().take(room));
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn scanned(text: &str) -> (usize, usize) {
        let mut scan = BodyScan::default();
        scan.feed(text.as_bytes());
        (scan.json_bytes, scan.parts)
    }

    fn call(arguments: &Value) -> String {
        json!({"params": {"name": "x", "arguments": arguments}}).to_string()
    }

    /// Keys and values.
    fn parts(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(parts).sum(),
            Value::Object(fields) => fields.values().map(|value| 1 + parts(value)).sum(),
            _ => 0,
        }
    }

    #[test]
    fn only_the_contents_of_files_are_left_out() {
        let long = "x\\\"\u{e9}".repeat(250);
        let whole = serde_json::to_string(&long).unwrap().len() - 1;
        let cases = [
            (json!({"document": {"name": "a", "text": long}}), whole),
            (json!({"media": [{"media": {"base64": long, "name": "a"}}]}), whole),
            (json!({"document": {"name": long, "text": "a"}}), 2),
            (json!({"document": {"text": "a", "name": long}}), 2),
            (json!({"text": long}), 0),
            (json!({"document": {"texts": long}}), 0),
            (json!({"document": {"base6": long}}), 0),
            (json!({"document": {"text": [long]}}), 0),
            (json!({"document": {"text": {"a": long}}}), 0),
            (json!({"document": {long.as_str(): "text"}}), 0),
            (json!({"document": ["text", long]}), 0),
        ];
        for (arguments, left_out) in cases {
            let text = call(&arguments);
            assert_eq!(scanned(&text).0, text.len() - left_out, "{}", &text[..60]);
        }
        let spaced = "{\"a\" : {\"a\":{\"a\":{\"text\"\n :\t \"0123456789\"}}}}";
        assert_eq!(scanned(spaced).0, spaced.len() - 11);
        let escaped = "{\"a\":{\"a\":{\"a\":{\"te\\u0078t\":\"0123456789\"}}}}";
        assert_eq!(scanned(escaped).0, escaped.len());
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,9}".prop_map(Value::from),
            "[\\\\\"{:,\\[]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            let key = prop_oneof![Just("text".to_owned()), Just("base64".to_owned()), ".{0,9}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_key_and_value_counts_however_it_is_cut_and_spaced(tree in tree(), pretty: bool, cut in 1..20_usize) {
            let text = if pretty { serde_json::to_string_pretty(&tree) } else { serde_json::to_string(&tree) }.unwrap();
            let mut scan = BodyScan::default();
            text.as_bytes().chunks(cut).for_each(|piece| scan.feed(piece));
            prop_assert_eq!(scan.parts, parts(&tree));
            prop_assert_eq!((scan.json_bytes, scan.parts), scanned(&text));
            prop_assert_eq!(scan.depth, 0);
        }

        #[test]
        fn whatever_comes_is_counted(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut scan = BodyScan::default();
            scan.feed(&bytes);
            prop_assert!(scan.json_bytes <= bytes.len() && scan.parts <= bytes.len());
        }
    }
}
