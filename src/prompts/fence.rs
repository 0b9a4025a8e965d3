//! What people and pages wrote, as it goes into a prompt: it cannot make a tag, nor a line of its own where there is room
//! for one only. Whatever puts such words into a prompt uses this; what is stored stays as it was written.
//!
//! Every tag of a prompt begins with `<`, and so does every mark in it such as `<attached …/>`. Here `<` becomes `&lt;`,
//! which models read as what it was, and each character that looks like it becomes a numeric reference.

use serde_json::Value;

/// Characters that a model may take for `<`.
const LOOK_ALIKES: &[char] = &[
    '＜', '﹤', '‹', '〈', '⟨', '\u{2329}', '❬', '❮', '❰', '˂', 'ᐸ', 'ᚲ', '𝈶', '⦑', '⧼', '≺', '⊰', '≮', '⋖',
    '⩹', '︿',
];

/// Words of any number of lines.
#[must_use]
pub fn text(written: &str) -> String {
    let mut safe = String::with_capacity(written.len());
    let mut last = None;
    for c in written.replace("\r\n", "\n").chars().filter_map(visible) {
        if joins(c) && !last.is_some_and(|last| can_be_joined(last, c)) {
            continue;
        }
        match c {
            '<' => safe.push_str("&lt;"),
            c if LOOK_ALIKES.contains(&c) => safe.push_str(&format!("&#{};", u32::from(c))),
            c => safe.push(c),
        }
        last = Some(c);
    }
    safe
}

/// A result of a tool, in JSON, that may hold such words anywhere: it stays JSON. One that was cut is none and is taken for
/// words.
#[must_use]
pub fn result(json: &str) -> String {
    serde_json::from_str(json).map_or_else(|_| text(json), |value| inside(value).to_string())
}

fn inside(value: Value) -> Value {
    match value {
        Value::String(words) => text(&words).into(),
        Value::Array(items) => items.into_iter().map(inside).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (text(&name), inside(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Words on one line: names, titles, lines of a list.
#[must_use]
pub fn line(written: &str) -> String {
    text(written).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words between quotation marks inside a tag.
#[must_use]
pub fn attribute(written: &str) -> String {
    line(written).replace(['"', '＂'], "'").replace('>', "&gt;")
}

/// The character as it may stand in a prompt; `None` for what nobody sees: controls, marks of writing direction, tags.
fn visible(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(c),
        '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        // Blank, and no white space.
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => Some(' '),
        c if c.is_control() => None,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => None,
        c => Some(c),
    }
}

/// Characters nobody sees that emoji and some scripts are written with.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Whether such a character changes how the one before it looks. Of several in a row only an emoji's style and the joiner
/// behind it do.
fn can_be_joined(last: char, c: char) -> bool {
    match last {
        '\u{fe0e}' | '\u{fe0f}' => c == '\u{200d}',
        '\u{200c}' | '\u{200d}' => false,
        '0'..='9' | '#' | '*' => c == '\u{fe0f}',
        last => !last.is_ascii() && !last.is_whitespace() && !LOOK_ALIKES.contains(&last),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_stay_readable_and_make_no_tag() {
        let cases = [
            ("if a < b && b > c { x(\"<div>\") }", "if a &lt; b && b > c { x(\"&lt;div>\") }"),
            (
                "</message>\r\n< /message>\u{2028}<\n/message>",
                "&lt;/message>\n&lt; /message>\n&lt;\n/message>",
            ),
            ("＜message＞ ‹now› 〈notes〉", "&#65308;message＞ &#8249;now› &#12296;notes〉"),
            ("<\u{200b}mess\u{ad}age\u{202e}>", "&lt;message>"),
            ("a\0b\u{1b}[0mc\tд", "ab[0mc\tд"),
            ("👨‍👩‍👧 ❤️ 1️⃣ می‌خواهم", "👨‍👩‍👧 ❤️ 1️⃣ می‌خواهم"),
            ("x\u{200d}y \u{200d}\u{200c}", "xy "),
            ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴"),
        ];
        for (written, safe) in cases {
            assert_eq!(text(written), safe, "{written:?}");
        }
        assert_eq!(line(" Ann\u{2029}Bob:\t hi\u{2800}\u{3164}you "), "Ann Bob: hi you");
        assert_eq!(attribute("Eve\"><now\n"), "Eve'&gt;&lt;now");
    }

    #[test]
    fn a_result_stays_json() {
        let cases = [
            (
                r#"{"a":["<b>\u2028c",1,null,true],"<d>":"e"}"#,
                r#"{"a":["&lt;b>\nc",1,null,true],"&lt;d>":"e"}"#,
            ),
            (r#"{"a":"b","c":[1.5]}"#, r#"{"a":"b","c":[1.5]}"#),
            (r#"{"a":"<b … [cut]"#, r#"{"a":"&lt;b … [cut]"#),
        ];
        for (json, safe) in cases {
            assert_eq!(result(json), safe);
        }
    }

    proptest! {
        #[test]
        fn any_result_stays_json_without_a_tag(words in "(\\PC|[<＜\"\\\\\r\n\u{85}\u{2028}\u{202e}\u{0}]){0,40}") {
            let safe = result(&serde_json::json!({"a": [words.as_str()], words.as_str(): 1}).to_string());
            prop_assert!(serde_json::from_str::<Value>(&safe).is_ok(), "{safe}");
            prop_assert!(!safe.contains(['<', '＜']), "{safe}");
        }

        #[test]
        fn nothing_opens_a_tag_or_a_line(written in "(\\PC|[<>＜‹〈\"\r\n\u{85}\u{2028}\u{200b}\u{202e}\u{0}]){0,40}") {
            let opens = |c: char| c == '<' || LOOK_ALIKES.contains(&c);
            for safe in [text(&written), line(&written), attribute(&written)] {
                prop_assert!(!safe.contains(opens), "{safe:?}");
                prop_assert_eq!(&text(&safe), &safe, "it is done once");
            }
            prop_assert!(!line(&written).contains(['\n', '\r']));
            prop_assert!(!attribute(&written).contains(['"', '>']));
        }
    }
}
