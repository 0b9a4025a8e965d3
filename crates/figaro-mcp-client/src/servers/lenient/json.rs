//! Reads JSON written by hand or by languages with more kinds of numbers.

use std::borrow::Cow;

use serde_json::Value;

/// Number literals that JSON does not have.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// Reads a text as JSON. Tolerates a byte order mark, the literals above, lone surrogates and line breaks in strings.
pub(super) fn parse(text: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start_matches('\u{feff}').trim();
    serde_json::from_str(text).or_else(|_odd| serde_json::from_str(&mended(text))).ok()
}

fn mended(text: &str) -> String {
    let (mut whole, mut rest, mut is_string) = (String::with_capacity(text.len()), text, false);
    while let Some(first) = rest.chars().next() {
        let (put, length) = match first {
            '\\' if is_string => escape(rest),
            control if is_string && control.is_control() => {
                (Cow::Owned(format!("\\u{:04x}", u32::from(control))), control.len_utf8())
            }
            _ => match NO_NUMBERS.iter().find(|word| !is_string && rest.starts_with(**word)) {
                Some(word) => ("null".into(), word.len()),
                None => (rest.get(..first.len_utf8()).unwrap_or_default().into(), first.len_utf8()),
            },
        };
        is_string ^= first == '"';
        whole.push_str(&put);
        rest = rest.get(length..).unwrap_or_default();
    }
    whole
}

/// Returns the replacement of the escape at the start of a text, and the length of the escape. A lone surrogate
/// becomes the replacement character.
fn escape(text: &str) -> (Cow<'_, str>, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let length = match (unit(0), unit(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
        (Some(0xD800..=0xDFFF), _) => return ("\\ufffd".into(), 6),
        _ => 1 + text.chars().nth(1).map_or(0, char::len_utf8),
    };
    (text.get(..length).unwrap_or_default().into(), length)
}
