//! `parse_mode=HTML`: Telegram's tags, four named character references and numeric ones.

use serde_json::{Value, json};

use super::plain::TextBuilder;

struct OpenHtmlTag {
    tag: String,
    start: usize,
    entity: Option<Value>,
}

pub(super) fn parse(markup: &str) -> Result<TextBuilder, String> {
    let mut plain = TextBuilder::default();
    let mut open: Vec<OpenHtmlTag> = Vec::new();
    let mut at = 0;
    while let Some(c) = markup[at..].chars().next() {
        match c {
            '<' => at = tag(markup, at, &mut plain, &mut open)?,
            '&' => at = reference(markup, at, &mut plain),
            other => {
                plain.push(other);
                at += other.len_utf8();
            }
        }
    }
    match open.pop() {
        Some(left) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", left.tag)),
        None => Ok(plain),
    }
}

/// Reads the tag at `at`. Returns the position after it.
fn tag(
    markup: &str,
    at: usize,
    plain: &mut TextBuilder,
    open: &mut Vec<OpenHtmlTag>,
) -> Result<usize, String> {
    let Some(length) = markup[at..].find('>') else {
        return Err(format!("Unclosed start tag at byte offset {at}"));
    };
    let inner = &markup[at + 1..at + length];
    let next = at + length + 1;
    if let Some(name) = inner.strip_prefix('/') {
        end_tag(name.trim(), at, plain, open)?;
        return Ok(next);
    }
    let (name, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    let name = name.to_ascii_lowercase();
    let entity = start_tag(&name, attributes, open)
        .map_err(|()| format!("Unsupported start tag \"{name}\" at byte offset {at}"))?;
    open.push(OpenHtmlTag { tag: name, start: plain.units, entity });
    Ok(next)
}

fn end_tag(
    name: &str,
    at: usize,
    plain: &mut TextBuilder,
    open: &mut Vec<OpenHtmlTag>,
) -> Result<(), String> {
    let Some(OpenHtmlTag { tag, start, entity }) = open.pop() else {
        return Err(format!("Unexpected end tag at byte offset {at}"));
    };
    if !name.is_empty() && !name.eq_ignore_ascii_case(&tag) {
        return Err(format!(
            "Unmatched end tag at byte offset {at}, expected \"</{tag}>\", found \"</{name}>\""
        ));
    }
    if let Some(entity) = entity {
        plain.close(start, entity);
    }
    Ok(())
}

/// Returns the entity that a tag opens; `None` for `code` inside `pre`, which only names the language.
fn start_tag(name: &str, attributes: &str, open: &mut [OpenHtmlTag]) -> Result<Option<Value>, ()> {
    let kind = match name {
        "b" | "strong" => "bold",
        "i" | "em" => "italic",
        "u" | "ins" => "underline",
        "s" | "strike" | "del" => "strikethrough",
        "tg-spoiler" => "spoiler",
        "span" if attribute(attributes, "class").as_deref() == Some("tg-spoiler") => "spoiler",
        "blockquote" if attributes.contains("expandable") => "expandable_blockquote",
        "blockquote" => "blockquote",
        "pre" => "pre",
        "code" => return Ok(code(attributes, open)),
        "a" => return Ok(attribute(attributes, "href").map(|url| json!({"type": "text_link", "url": url}))),
        "tg-emoji" => {
            let id = attribute(attributes, "emoji-id").ok_or(())?;
            return Ok(Some(json!({"type": "custom_emoji", "custom_emoji_id": id})));
        }
        _ => return Err(()),
    };
    Ok(Some(json!({"type": kind})))
}

fn code(attributes: &str, open: &mut [OpenHtmlTag]) -> Option<Value> {
    let Some(pre) = open.last_mut().filter(|o| o.tag == "pre") else {
        return Some(json!({"type": "code"}));
    };
    let class = attribute(attributes, "class");
    if let (Some(language), Some(entity)) =
        (class.as_deref().and_then(|c| c.strip_prefix("language-")), pre.entity.as_mut())
    {
        entity["language"] = json!(language);
    }
    None
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, rest) = attributes.split_once(&format!("{name}="))?;
    let quote = rest.chars().next()?;
    let value = match quote {
        '"' | '\'' => rest[1..].split(quote).next()?,
        _ => rest.split_whitespace().next()?,
    };
    let mut plain = TextBuilder::default();
    let mut at = 0;
    while let Some(c) = value[at..].chars().next() {
        if c == '&' {
            at = reference(value, at, &mut plain);
        } else {
            plain.push(c);
            at += c.len_utf8();
        }
    }
    Some(plain.text)
}

/// Writes the character of a reference. Anything else is written as text.
fn reference(markup: &str, at: usize, plain: &mut TextBuilder) -> usize {
    let rest = &markup[at + 1..];
    let named = rest.split_once(';').and_then(|(name, _)| Some((name, character(name)?)));
    match named {
        Some((name, c)) => {
            plain.push(c);
            at + name.len() + 2
        }
        None => {
            plain.push('&');
            at + 1
        }
    }
}

fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_become_entities() {
        let (text, entities) = parse(
            "<b>a<i>😀</i></b> &lt;&amp;&#33; <a href=\"https://x.dev/?a=1&amp;b=2\">l</a><pre><code class=\"language-rust\">f()</code></pre>",
        )
        .unwrap()
        .finish();
        assert_eq!(text, "a😀 <&! lf()");
        let wanted = json!([
            {"type": "bold", "offset": 0, "length": 3},
            {"type": "italic", "offset": 1, "length": 2},
            {"type": "text_link", "url": "https://x.dev/?a=1&b=2", "offset": 8, "length": 1},
            {"type": "pre", "language": "rust", "offset": 9, "length": 3},
        ]);
        assert_eq!(Value::Array(entities), wanted);
    }

    #[test]
    fn bad_tags_are_refused() {
        let cases = [
            ("a <p>b</p>", "Unsupported start tag \"p\" at byte offset 2"),
            ("<b>a", "Can't find end tag corresponding to start tag \"b\""),
            ("<b>a</i>", "Unmatched end tag at byte offset 4, expected \"</b>\", found \"</i>\""),
            ("a</b>", "Unexpected end tag at byte offset 1"),
            ("1 < 2", "Unclosed start tag at byte offset 2"),
        ];
        for (markup, wanted) in cases {
            assert_eq!(parse(markup).err().as_deref(), Some(wanted), "{markup}");
        }
    }
}
