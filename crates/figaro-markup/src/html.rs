//! HTML tags that correspond to an entity. Called by [`mod@super::render`]; any other tag stays in the text as
//! written.

use std::ops::Range;

use super::formatted::EntityKind;
use super::link;

/// Effect of a known tag.
#[derive(Debug, PartialEq)]
pub(super) enum Tag {
    Break,
    Open(&'static str, EntityKind),
    Close(&'static str),
}

/// Tags whose attributes do not matter.
const PLAIN: [(&str, EntityKind); 19] = [
    ("b", EntityKind::Bold),
    ("strong", EntityKind::Bold),
    ("summary", EntityKind::Bold),
    ("i", EntityKind::Italic),
    ("em", EntityKind::Italic),
    ("u", EntityKind::Underline),
    ("ins", EntityKind::Underline),
    ("s", EntityKind::Strikethrough),
    ("strike", EntityKind::Strikethrough),
    ("del", EntityKind::Strikethrough),
    ("code", EntityKind::Code),
    ("kbd", EntityKind::Code),
    ("samp", EntityKind::Code),
    ("tt", EntityKind::Code),
    ("pre", EntityKind::Pre { language: None }),
    ("tg-spoiler", EntityKind::Spoiler),
    ("spoiler", EntityKind::Spoiler),
    ("blockquote", EntityKind::Blockquote),
    ("details", EntityKind::ExpandableBlockquote),
];

/// Tags that are read by name and attributes.
const OTHER: [&str; 3] = ["a", "br", "span"];

/// Returns the first known tag and its range.
pub(super) fn next_tag(text: &str) -> Option<(Range<usize>, Tag)> {
    text.match_indices('<').find_map(|(start, _)| {
        let (length, tag) = parse(&text[start..])?;
        Some((start..start + length, tag))
    })
}

/// Returns `true` if `start`, which begins with `<`, can become a known tag or an autolink.
pub(super) fn may_become_tag(start: &str) -> bool {
    let body = start[1..].trim_start_matches('/');
    if body.starts_with("http") || body.starts_with("mailto:") {
        return !body.contains(char::is_whitespace);
    }
    if let Some((name, _)) = body.split_once(char::is_whitespace) {
        return matches!(name, "a" | "span" | "details" | "blockquote" | "code");
    }
    let name = body.trim_end_matches('/').to_ascii_lowercase();
    let names = PLAIN.iter().map(|(name, _)| *name).chain(OTHER).chain(["https://", "mailto:"]);
    names.into_iter().any(|known| known.starts_with(&name))
}

/// Decodes character references in HTML blocks, which the Markdown parser leaves unchanged.
pub(super) fn decode(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let pairs =
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (reference, character)| text.replace(reference, character))
}

fn parse(text: &str) -> Option<(usize, Tag)> {
    let end = 1 + text[1..].find(['<', '>'])?;
    let body = text[1..end].strip_suffix('/').unwrap_or(&text[1..end]);
    if !text[end..].starts_with('>') {
        return None;
    }
    let tag = match body.strip_prefix('/') {
        Some(name) => Tag::Close(closing(name.trim())?),
        None => opening(body)?,
    };
    Some((end + 1, tag))
}

fn opening(body: &str) -> Option<Tag> {
    let (name, attributes) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "br" => return Some(Tag::Break),
        "a" => {
            let url = link::target(&decode(attribute(attributes, "href")?))?;
            return Some(Tag::Open("a", EntityKind::TextLink { url }));
        }
        "span" if attribute(attributes, "class") == Some("tg-spoiler") => {
            return Some(Tag::Open("span", EntityKind::Spoiler));
        }
        "blockquote" if attributes.contains("expandable") => {
            return Some(Tag::Open("blockquote", EntityKind::ExpandableBlockquote));
        }
        _ => {}
    }
    PLAIN.iter().find(|(known, _)| *known == name).map(|(known, kind)| Tag::Open(known, kind.clone()))
}

fn closing(name: &str) -> Option<&'static str> {
    PLAIN.iter().map(|(known, _)| *known).chain(["a", "span"]).find(|known| known.eq_ignore_ascii_case(name))
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = attributes.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tags_are_found() {
        let cases = [
            ("x <b>", 2..5, Tag::Open("b", EntityKind::Bold)),
            ("</STRONG >", 0..10, Tag::Close("strong")),
            ("<br/>", 0..5, Tag::Break),
            ("<br />", 0..6, Tag::Break),
            ("<div><u>", 5..8, Tag::Open("u", EntityKind::Underline)),
            ("<span class=\"tg-spoiler\">", 0..25, Tag::Open("span", EntityKind::Spoiler)),
            ("<details open>", 0..14, Tag::Open("details", EntityKind::ExpandableBlockquote)),
            (
                "<a href='https://a.b/?x=1&amp;y=2'>",
                0..35,
                Tag::Open("a", EntityKind::TextLink { url: "https://a.b/?x=1&y=2".to_owned() }),
            ),
        ];
        for (text, range, tag) in cases {
            assert_eq!(next_tag(text), Some((range, tag)), "{text}");
        }
        for text in [
            "<div>",
            "< b>",
            "<b",
            "<b <",
            "<a>",
            "<a href='javascript:x'>",
            "<span>",
            "<T>",
            "a < b > c",
            "<!-- b -->",
        ] {
            assert_eq!(next_tag(text), None, "{text}");
        }
    }

    #[test]
    fn beginnings_of_tags_are_recognised() {
        for start in ["<", "<b", "</b", "<det", "<a href=\"x", "<https://exam", "<br/", "<tg-sp"] {
            assert!(may_become_tag(start), "{start}");
        }
        for start in ["< b", "<x", "<b and c", "<div", "<http x"] {
            assert!(!may_become_tag(start), "{start}");
        }
    }
}
