//! Cuts the end off Markdown that is too long to be rendered whole, so that it reads as it does in the whole. Called
//! for drafts.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::options::options;

/// Maximum length of a repeated opening of code or a table, in bytes.
const MAX_OPENING: usize = 512;

/// Returns the last part of Markdown: at least `keep` bytes if available, and up to half as many more to begin with a
/// block or an item of a list. If it begins within code or a table, it continues as one.
pub(super) fn tail(markdown: &str, keep: usize) -> String {
    let Some(latest) = markdown.len().checked_sub(keep) else { return markdown.to_owned() };
    let latest = markdown.floor_char_boundary(latest);
    let earliest = latest.saturating_sub(keep / 2);
    let place = Surroundings::of(markdown, latest);
    match place.start.filter(|start| *start >= earliest) {
        Some(start) => markdown[start..].to_owned(),
        None => place.opening.unwrap_or_default() + &markdown[word_before(markdown, latest, earliest)..],
    }
}

/// Returns the start of the last line, or else word, before a position and not before `earliest`; else the position
/// itself.
fn word_before(markdown: &str, latest: usize, earliest: usize) -> usize {
    let near = &markdown[markdown.floor_char_boundary(earliest)..latest];
    let found = near.rfind('\n').or_else(|| near.rfind(' '));
    found.map_or(latest, |at| latest - near.len() + at + 1)
}

/// Blocks around a position in Markdown.
#[derive(Debug, Default)]
struct Surroundings {
    /// Start of the last block or list item at or before the position.
    start: Option<usize>,
    /// Lines that open the code or table around it.
    opening: Option<String>,
}

impl Surroundings {
    fn of(markdown: &str, place: usize) -> Self {
        let mut around = Self::default();
        let (mut depth, mut in_list) = (0_usize, false);
        let events = Parser::new_ext(markdown, options(markdown)).into_offset_iter();
        for (event, range) in events.take_while(|(_, range)| range.start <= place) {
            match event {
                Event::Start(tag) => {
                    if depth == 0 || (depth == 1 && in_list) {
                        around.start = Some(line_start(markdown, range.start));
                    }
                    if depth == 0 {
                        in_list = matches!(tag, Tag::List(_));
                    }
                    if place < range.end {
                        around.opening = opening(&tag, &markdown[range.start..]).or(around.opening);
                    }
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        around
    }
}

/// Returns the start of the line that a block begins, if only white space precedes it; else the start of the block.
fn line_start(markdown: &str, block: usize) -> usize {
    let line = markdown[..block].rfind('\n').map_or(0, |at| at + 1);
    if markdown[line..block].trim().is_empty() { line } else { block }
}

/// Returns the opening lines of a block, which its later parts lack.
fn opening(tag: &Tag<'_>, block: &str) -> Option<String> {
    let lines = match tag {
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => 1,
        Tag::Table(_) => 2,
        _ => return None,
    };
    let lines: String = block.split_inclusive('\n').take(lines).collect();
    (lines.len() <= MAX_OPENING && lines.ends_with('\n')).then_some(lines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::markdown;
    use super::*;

    #[test]
    fn it_begins_where_something_begins() {
        let text = "0123456789 ".repeat(4);
        let (items, rows) = ("- abcdefghij\n".repeat(20), "| abcdefghi |\n".repeat(20));
        let (code, inner) = ("let abcdefg;\n".repeat(20), "   let abcdefg;\n".repeat(20));
        let titled = format!("# Title\n\n{}", &text[..40]);
        let cases: [(String, String); 9] = [
            ("short".into(), "short".into()),
            (format!("{text}\n\n{titled}"), titled),
            (text.repeat(3), text.clone()),
            (items.clone(), items[..52].to_owned()),
            (format!("Look:\n\n```rust\n{code}"), format!("```rust\n{}", &code[..52])),
            (format!("Look:\n\n```rust\n{code}```\n\n{text}"), text),
            (format!("1. Look:\n   ~~~\n{inner}"), format!("~~~\n{}", &inner[..48])),
            (format!("| A |\n|---|\n{rows}"), format!("| A |\n|---|\n{}", &rows[..56])),
            (format!("```{}\n{code}", "x".repeat(600)), code[..52].to_owned()),
        ];
        for (markdown, expected) in cases {
            assert_eq!(tail(&markdown, 44), expected, "{markdown:?}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_end_and_no_longer_than_it_may_be(source in prop::collection::vec(markdown(), 1..6), keep in 1..400_usize) {
            let source = source.join("\n\n");
            let last = tail(&source, keep);
            let kept = source.ceil_char_boundary(source.len().saturating_sub(keep));
            prop_assert!(last.ends_with(&source[kept..]), "{source:?}: {last:?}");
            prop_assert!(last.len() <= keep + keep / 2 + MAX_OPENING + 8);
        }
    }
}
