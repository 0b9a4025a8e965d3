//! Escaping of words from people and pages for prompts: they cannot form a tag, nor a line of their own where only one
//! fits. All code that puts such words into a prompt uses this; stored text stays as written.
//!
//! Every tag of a prompt begins with `<`, and so does every mark such as `<attached …/>`. Here `<` becomes `&lt;`, which
//! models read correctly, and each look-alike becomes a numeric reference. The `&` of a reference in the text becomes
//! `&amp;`, so that [`read`] restores the original.

use serde_json::Value;

/// Characters that a model may take for `<`: those that Unicode calls confusable with it or made of it, angle brackets,
/// and mathematical signs of its shape.
///
/// `«` and `《` are not among them. They are the quotation marks of French, Russian or Chinese, in every other message:
/// escaping would make such texts several times as long, and the model would copy the escapes into its answers. They are
/// two angles where a tag has one, and no tag of Figaro's prompts begins with them. `‹` and `〈` are among them: they look
/// the same as `<`, and are rare. Signs with an additional line, such as `≤`, and triangles do not look like a bracket.
const LOOK_ALIKES: &[char] = &[
    '＜', '﹤', '≮', '˂', '˱', 'ᐸ', 'ᐹ', 'ᑄ', 'ᑅ', 'ᑆ', 'ᑇ', 'ᑈ', 'ᚲ', '𝈶', '‹', '❮', '〈', '\u{2329}', '︿',
    '︽', '⟨', '⟪', '❬', '❰', '⦑', '⦓', '⧼', '≪', '⋘', '⪡', '⫷', '≺', '⪻', '⊰', '⋖', '⩹', '⩻', '⪦', '⮜',
];
/// Characters that a model may take for the `"` that ends an attribute.
const QUOTES: &[char] = &['＂', '“', '”', '„', '‟', '″', '‶', 'ʺ', '˝', '〝', '〞', '〟'];
/// Named references and their characters.
const NAMED: [(&str, char); 3] = [("lt;", '<'), ("gt;", '>'), ("quot;", '"')];

/// Escapes text of any number of lines.
#[must_use]
pub fn text(written: &str) -> String {
    escape(&shown(written), |c| c == '<' || !c.is_ascii() && LOOK_ALIKES.contains(&c))
}

/// Escapes a tool result in JSON, which stays JSON. A result that was cut is no JSON and is escaped as text.
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

/// Escapes text on one line: names, titles, lines of a list.
#[must_use]
pub fn line(written: &str) -> String {
    text(&flat(written))
}

/// Escapes text of any number of lines in a list: each line but the first is indented, so that none looks like Figaro's
/// own.
#[must_use]
pub fn block(written: &str) -> String {
    text(written).replace('\n', "\n  ")
}

/// Escapes text between quotation marks inside a tag.
#[must_use]
pub fn attribute(written: &str) -> String {
    escape(&flat(written), is_escaped)
}

/// Returns the original of [`text`], [`line()`] or [`attribute`], apart from invisible characters.
#[must_use]
pub fn read(fenced: &str) -> String {
    let mut words = String::with_capacity(fenced.len());
    let mut rest = fenced;
    while let Some((before, after)) = rest.split_once('&') {
        words.push_str(before);
        rest = match reference(after) {
            Some((EntityReference::Reference, rest)) => {
                words.push('&');
                rest
            }
            Some((EntityReference::Character(c), rest)) => {
                words.push(c);
                rest
            }
            None => {
                words.push('&');
                after
            }
        };
    }
    words + rest
}

/// Returns `true` if the character is escaped in an attribute.
fn is_escaped(c: char) -> bool {
    NAMED.iter().any(|(_, named)| *named == c) || is_numbered(c)
}

/// Returns `true` if the character gets a numeric reference.
fn is_numbered(c: char) -> bool {
    !c.is_ascii() && (LOOK_ALIKES.contains(&c) || QUOTES.contains(&c))
}

/// Replaces such characters by references, and `&` by `&amp;` before text that would read as a reference.
fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '&' if reference(&text[at + 1..]).is_some() => safe.push_str("&amp;"),
            c if is_escaped(c) => match NAMED.iter().find(|(_, named)| *named == c) {
                Some((name, _)) => safe.extend(["&", name]),
                None => safe.push_str(&format!("&#{};", u32::from(c))),
            },
            c => safe.push(c),
        }
    }
    safe
}

/// Meaning of a reference.
enum EntityReference {
    Character(char),
    /// `&` of a reference that follows.
    Reference,
}

/// Returns the reference after a `&`, if this module writes it, and the text after it.
fn reference(after: &str) -> Option<(EntityReference, &str)> {
    let unescaped = after.trim_start_matches("amp;");
    let (c, rest) = match unescaped.strip_prefix('#') {
        Some(number) => {
            let (digits, rest) = number.split_at(number.bytes().take_while(u8::is_ascii_digit).count());
            let c = digits.parse().ok().and_then(char::from_u32).filter(|c| is_numbered(*c))?;
            // Only as written here: without leading zeros.
            let rest = rest.strip_prefix(';').filter(|_| digits == u32::from(c).to_string())?;
            (c, rest)
        }
        None => NAMED.iter().find_map(|(name, c)| Some((*c, unescaped.strip_prefix(name)?)))?,
    };
    match after.strip_prefix("amp;") {
        Some(rest) => Some((EntityReference::Reference, rest)),
        None => Some((EntityReference::Character(c), rest)),
    }
}

fn shown(written: &str) -> String {
    // Plain ASCII has nothing to remove, and each prompt shows dozens of such lines.
    if written.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return written.to_owned();
    }
    let mut shown = String::with_capacity(written.len());
    let mut last = None;
    for c in written.replace("\r\n", "\n").chars().filter_map(visible) {
        if joins(c) && !last.is_some_and(|last| can_be_joined(last, c)) {
            continue;
        }
        shown.push(c);
        last = Some(c);
    }
    shown
}

/// Removes invisible characters and line breaks.
fn flat(written: &str) -> String {
    shown(written).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the character for a prompt; `None` for invisible ones: controls, marks of writing direction, tags.
fn visible(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(c),
        '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        // Look blank, but are no white space.
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

/// Returns `true` for an invisible character that emoji and some scripts need.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Returns `true` if such a character changes the look of the one before it. In a sequence only an emoji's style and the
/// joiner after it do.
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
            // What is no reference of ours stays as it is.
            (
                "R&D, AT&amp;T &copy; &#60; &#x3c; ?a=1&lt=2&amp;b",
                "R&D, AT&amp;T &copy; &#60; &#x3c; ?a=1&lt=2&amp;b",
            ),
            ("«Привет», — « bonjour » 《三体》 ≤ ≥ → ◀", "«Привет», — « bonjour » 《三体》 ≤ ≥ → ◀"),
        ];
        for (written, safe) in cases {
            assert_eq!(text(written), safe, "{written:?}");
        }
        assert_eq!(line(" Ann\u{2029}Bob:\t hi\u{2800}\u{3164}you "), "Ann Bob: hi you");
        assert_eq!(attribute("Eve\"><now\n"), "Eve&quot;&gt;&lt;now");
    }

    #[test]
    fn what_somebody_wrote_as_a_reference_stays_one() {
        let cases = [
            ("&lt;", "&amp;lt;"),
            ("use &lt;b&gt; for <b>", "use &amp;lt;b&amp;gt; for &lt;b>"),
            ("&amp;lt;", "&amp;amp;lt;"),
            ("&&lt;<", "&&amp;lt;&lt;"),
            ("&\u{200b}lt;", "&amp;lt;"),
            ("&#65308; &#065308; ＜", "&amp;#65308; &#065308; &#65308;"),
            ("&quot; &#8220;", "&amp;quot; &amp;#8220;"),
        ];
        for (written, safe) in cases {
            assert_eq!(text(written), safe, "{written}");
            assert_eq!(read(safe), written.replace('\u{200b}', ""), "{safe}");
        }
        assert_eq!(read(&attribute("a “b” \"c\" &quot;.png")), "a “b” \"c\" &quot;.png");
    }

    /// Written out after Unicode's data, not after the list above.
    const FORMS: &[(&str, &str)] = &[
        ("confusables.txt: U+003C", "\u{2c2}\u{1438}\u{16b2}\u{2039}\u{276e}\u{1d236}"),
        ("UnicodeData.txt: a decomposition with U+003C", "\u{226e}\u{fe64}\u{ff1c}"),
        ("ANGLE BRACKET in the name", "\u{2329}\u{276c}\u{2770}\u{27e8}\u{2991}\u{29fc}\u{3008}\u{fe3f}"),
        ("DOUBLE ANGLE BRACKET in the name, but for U+300A", "\u{27ea}\u{fe3d}"),
        ("LESS-THAN in the name, with no line beside it", "\u{22d6}\u{2993}\u{2a79}\u{2a7b}\u{2aa6}"),
        ("MUCH LESS-THAN, NESTED LESS-THAN", "\u{226a}\u{22d8}\u{2aa1}\u{2af7}"),
        ("PRECEDES, with no line beside it", "\u{227a}\u{22b0}\u{2abb}"),
        ("an ARROWHEAD to the left, not combining", "\u{2c2}\u{2f1}\u{2b9c}"),
        (
            "CANADIAN SYLLABICS PA and what is made of it",
            "\u{1438}\u{1439}\u{1444}\u{1445}\u{1446}\u{1447}\u{1448}",
        ),
    ];

    #[test]
    fn no_look_alike_of_a_bracket_passes() {
        for (why, forms) in FORMS {
            for form in forms.chars() {
                let written = format!("{form}message{form}/message>");
                for safe in [text(&written), line(&written), attribute(&written)] {
                    assert!(!safe.contains(form), "U+{:04X} ({why}): {safe}", u32::from(form));
                    assert_eq!(read(&safe), written);
                }
            }
        }
        for quote in "\u{22}\u{2ba}\u{2dd}\u{201c}\u{201d}\u{201e}\u{201f}\u{2033}\u{ff02}".chars() {
            let written = format!("Ann{quote} username={quote}boss");
            assert!(!attribute(&written).contains(quote), "{written}");
            assert_eq!(read(&attribute(&written)), written);
        }
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
            }
            prop_assert!(!line(&written).contains(['\n', '\r']));
            prop_assert!(!attribute(&written).contains(['"', '>']));
        }

        #[test]
        fn what_is_fenced_can_be_read_again(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(&["&", "amp;", "lt;", "gt;", "quot;", "#", "65308", "8249;", ";", "<", "＜", "\"", "“", ">", "0", " "][..])
                        .prop_map(str::to_owned),
                    "\\PC{0,3}",
                ],
                0..16,
            ),
        ) {
            let shown = shown(&parts.concat());
            let mut written = shown.clone();
            // Also what was fenced before, however often.
            for _ in 0..3 {
                let safe = text(&written);
                prop_assert_eq!(&read(&safe), &written);
                let on_a_line = flat(&written);
                prop_assert_eq!(read(&line(&written)), on_a_line.clone());
                prop_assert_eq!(read(&attribute(&written)), on_a_line);
                written = safe;
            }
        }
    }
}
