//! Converts a model's Markdown to Telegram text with message entities: [`messages()`] for a whole answer,
//! [`AnswerSplitter`] for the settled part of a streaming one and `render_partial` for the rest, [`split()`] to fit
//! text into messages. Called by the reply path; does no I/O.
//!
//! Entities are sent instead of `parse_mode`, so no text can ever be refused for its markup.

mod chars;
mod code;
mod emphasis;
mod entities;
mod fences;
mod formatted;
mod formulas;
mod html;
mod inline;
mod link;
mod math;
mod messages;
mod options;
mod out;
mod partial;
mod parts;
mod piece;
mod render;
mod rich;
mod rich_block;
mod split;
mod table;
mod tail;

pub use self::formatted::{Entity, EntityKind, Formatted};
pub use self::messages::{MORE, at_most, cut, messages};
pub use self::parts::AnswerSplitter;
pub use self::piece::{CodeFile, Piece, RichPart};
pub use self::render::render;
pub use self::rich::{is_rich, rich_draft, rich_messages};
pub use self::rich_block::{RichBlock, RichCell, RichInline, RichItem, RichMark, RichMessage};
pub use self::split::{split, window};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::formatted::{RangeCursor, WORD_JOINER};
    use super::partial::render_partial;
    use super::*;
    use figaro_base::text::as_markdown;

    #[test]
    fn entities_serialise_as_in_the_bot_api() {
        let entity = |kind| Entity { kind, offset: 1, length: 2 };
        let cases = [
            (entity(EntityKind::Bold), json!({"type": "bold", "offset": 1, "length": 2})),
            (
                entity(EntityKind::ExpandableBlockquote),
                json!({"type": "expandable_blockquote", "offset": 1, "length": 2}),
            ),
            (entity(EntityKind::Pre { language: None }), json!({"type": "pre", "offset": 1, "length": 2})),
            (
                entity(EntityKind::Pre { language: Some("rust".to_owned()) }),
                json!({"type": "pre", "language": "rust", "offset": 1, "length": 2}),
            ),
            (
                entity(EntityKind::TextLink { url: "https://a.b".to_owned() }),
                json!({"type": "text_link", "url": "https://a.b", "offset": 1, "length": 2}),
            ),
        ];
        for (entity, expected) in cases {
            assert_eq!(serde_json::to_value(entity).unwrap(), expected);
        }
    }

    #[test]
    fn without_links_words_stay_and_no_address_is_one() {
        let source =
            "**See** [this](https://a.example/x), evil.example/?d=1 and `a.b`, _3.5_ **http://c.example** …";
        let formatted = render(source).without_links();
        assert_eq!(
            tagged(&formatted).replace(WORD_JOINER, "~"),
            "{b:See} this, evil.~example/?d=1 and {c:a.b}, {i:3.~5} {b:http://~c.~example} …"
        );
        assert!(render(source).shows("https://a.example/x") && render(source).shows("http://c.example"));
        assert!(!formatted.shows("https://a.example/x"));
    }

    #[test]
    fn each_range_is_looked_at_once() {
        let mut looked = 0;
        let ranges = (0..10_000).map(|n| n * 10 + 3..n * 10 + 6).inspect(|_| looked += 1);
        let mut within = RangeCursor::new(ranges);
        let held = (0..100_000).filter(|at| within.hold(*at)).collect::<Vec<_>>();
        assert!(held.len() == 30_000 && held.iter().all(|at| (3..6).contains(&(at % 10))));
        assert_eq!(looked, 10_000);
        let apart = [0..2, 2..3, 7..9];
        let mut within = RangeCursor::new(apart.clone().into_iter());
        for at in [0, 1, 1, 2, 3, 6, 8, 9, 100] {
            assert_eq!(within.hold(at), apart.iter().any(|range| range.contains(&at)), "{at}");
        }
    }

    #[test]
    fn text_that_is_no_markup_arrives_as_it_stands() {
        let texts = [
            "[Confirm](https://evil.example)",
            "![x](https://evil.example/a.png)",
            "[x][y] [1] [^1]",
            "[y]: https://evil.example",
            "<https://evil.example> <a href=\"https://evil.example\">x</a> <b>x</b>",
            "*a* **b** _c_ __d__ ~~e~~ ||f|| ***g***",
            "`a` ``b`` ```c",
            "\\*a\\* \\[x\\] \\(y\\) $$z$$ $x^2$ \\begin{a}b\\end{a}",
            "&lt;b&gt; &amp; &#42;",
            "1. a",
            "12) a",
            "# a",
            "> a",
            "- a",
            "- [ ] a",
            "+ a",
            "---",
            "===",
            "| a | b |",
            "https://a.b/c_d_e?f=g&h=i#j (see *it*): 2*3, snake_case.py!",
            "the provider said: \"404 Not Found\"",
        ];
        for text in texts {
            for text in [text.to_owned(), format!("“{text}” failed")] {
                let shown = Formatted { text: text.clone(), entities: Vec::new() };
                assert_eq!(render(&as_markdown(&text)), shown, "{}", as_markdown(&text));
            }
            // Behind the bot's own words, and with its words behind it.
            let shown = render(&format!("⏰ “{}” failed", as_markdown(text)));
            assert_eq!(shown, Formatted { text: format!("⏰ “{text}” failed"), entities: Vec::new() });
        }
        assert_eq!(render(&as_markdown("a\n\n    b\n1. c")).text, "a b 1. c");
    }

    proptest! {
        #[test]
        fn nothing_people_write_is_markup(source in "[ab1 \n*_~`|<>/!()\\[\\]#.\\\\${}:=&;+-]{0,60}") {
            let line = source.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(render(&as_markdown(&source)), Formatted { text: line, entities: Vec::new() });
        }

        #[test]
        fn any_text_renders_valid(source in "\\PC*") {
            assert_valid(&render(&source));
        }

        #[test]
        fn any_markers_render_valid(source in "[ab1 \n*_~`|<>/!()\\[\\]#.\\\\-]{0,80}") {
            assert_valid(&render(&source));
            assert_valid(&render_partial(&source));
        }

        #[test]
        fn markdown_renders_valid(source in markdown()) {
            assert_valid(&render(&source));
        }

        #[test]
        fn without_links_it_is_as_valid_and_says_the_same(source in markdown()) {
            let (whole, bare) = (render(&source), render(&source).without_links());
            assert_valid(&bare);
            prop_assert_eq!(bare.text.replace(WORD_JOINER, ""), whole.text.replace(WORD_JOINER, ""));
            let links = whole.entities.iter().filter(|entity| matches!(entity.kind, EntityKind::TextLink { .. })).count();
            prop_assert_eq!(bare.entities.len() + links, whole.entities.len());
        }

        #[test]
        fn a_literal_stays_as_it_is(text in "[ -~äß“”🌹]{1,60}") {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let wanted = Formatted { text: format!("“{text}”"), entities: Vec::new() };
            prop_assert_eq!(render(&format!("“{}”", figaro_base::text::as_markdown(&text))), wanted);
        }

        #[test]
        fn no_word_is_lost(source in markdown()) {
            // The syntax itself drops cells beyond the header's and what follows an opening fence.
            if source.contains("|---|") || source.contains("~~~") {
                return Ok(());
            }
            let words = |text: &str| text.matches("слово").count() + text.matches("日本").count();
            prop_assert_eq!(words(&render(&source).text), words(&source));
        }
    }

    /// What Telegram asks of a message's entities.
    pub(super) fn assert_valid(formatted: &Formatted) {
        let Formatted { text, entities } = formatted;
        let units: Vec<u16> = text.encode_utf16().collect();
        let starts_in_pre = entities.first().is_some_and(|first| first.offset == 0);
        assert!(starts_in_pre || text.trim_start() == text, "{formatted:?}");
        assert_eq!(text.trim_end(), text);
        let mut open: Vec<&Entity> = Vec::new();
        for (at, entity) in entities.iter().enumerate() {
            let end = entity.offset + entity.length;
            assert!(entity.length > 0 && end <= units.len(), "{formatted:?}");
            let covered = String::from_utf16(&units[entity.offset..end]).unwrap();
            assert_eq!(covered.trim_end(), covered, "{formatted:?}");
            let is_pre = |other: &Entity| {
                other.offset == entity.offset && matches!(other.kind, EntityKind::Pre { .. })
            };
            let may_indent = entities.iter().any(is_pre);
            assert!(
                covered.trim_start() == covered || (may_indent && !covered.starts_with('\n')),
                "{formatted:?}"
            );
            if let Some(before) = at.checked_sub(1).map(|at| &entities[at]) {
                assert!(
                    (before.offset, units.len() - before.length)
                        <= (entity.offset, units.len() - entity.length)
                );
            }
            open.retain(|outer| outer.offset + outer.length > entity.offset);
            for outer in &open {
                assert!(end <= outer.offset + outer.length, "crossing: {formatted:?}");
                assert!(may_hold(&outer.kind, &entity.kind), "{outer:?} holds {entity:?} in {formatted:?}");
            }
            open.push(entity);
        }
    }

    fn may_hold(outer: &EntityKind, inner: &EntityKind) -> bool {
        let is_quote =
            |kind: &EntityKind| matches!(kind, EntityKind::Blockquote | EntityKind::ExpandableBlockquote);
        let is_code = |kind: &EntityKind| matches!(kind, EntityKind::Code | EntityKind::Pre { .. });
        match (outer, inner) {
            (outer, _) if is_code(outer) => false,
            (outer, inner) if is_quote(outer) => !is_quote(inner),
            (_, inner) if is_code(inner) => false,
            (EntityKind::TextLink { .. }, EntityKind::TextLink { .. }) => false,
            (outer, inner) => outer != inner,
        }
    }

    /// Each of these comes out so, valid and with its entities as [`tagged`] shows them.
    pub(super) fn check(cases: &[(&str, &str)]) {
        for (source, expected) in cases {
            let formatted = render(source);
            assert_valid(&formatted);
            assert_eq!(tagged(&formatted), *expected, "{source:?}");
        }
    }

    /// The text with its entities as `{name:covered}`.
    pub(super) fn tagged(formatted: &Formatted) -> String {
        let mut tagged = String::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut entities = formatted.entities.iter().peekable();
        let mut units = 0;
        for c in formatted.text.chars().map(Some).chain([None]) {
            while ends.pop_if(|end| *end <= units).is_some() {
                tagged.push('}');
            }
            while let Some(entity) = entities.next_if(|entity| entity.offset <= units) {
                tagged.push_str(&format!("{{{}:", name(&entity.kind)));
                ends.push(entity.offset + entity.length);
            }
            units += c.map_or(0, char::len_utf16);
            tagged.extend(c);
        }
        tagged
    }

    fn name(kind: &EntityKind) -> String {
        match kind {
            EntityKind::Bold => "b".to_owned(),
            EntityKind::Italic => "i".to_owned(),
            EntityKind::Underline => "u".to_owned(),
            EntityKind::Strikethrough => "s".to_owned(),
            EntityKind::Spoiler => "sp".to_owned(),
            EntityKind::Blockquote => "q".to_owned(),
            EntityKind::ExpandableBlockquote => "eq".to_owned(),
            EntityKind::Code => "c".to_owned(),
            EntityKind::Pre { language: None } => "pre".to_owned(),
            EntityKind::Pre { language: Some(language) } => format!("pre={language}"),
            EntityKind::TextLink { url } => format!("link={url}"),
        }
    }

    /// Markdown as models write it, blocks of all sorts put together at random.
    pub(super) fn markdown() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("word".to_owned()),
            Just("слово".to_owned()),
            Just("שלום".to_owned()),
            Just("日本".to_owned()),
            Just("👨‍👩‍👧 🇩🇪".to_owned()),
            Just("e\u{301}".to_owned()),
            Just("snake_case".to_owned()),
            Just("<br>".to_owned()),
            Just("a || b".to_owned()),
            Just("\\(\\frac{a}{b^2}\\)".to_owned()),
            Just("$x_1 * y$ costs $5".to_owned()),
            "[a-z*_`~\\[\\]]{1,6}",
        ];
        let inline = word.prop_recursive(3, 12, 4, |inner| {
            let several = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.join(" "));
            (several, 0..11_usize).prop_map(|(text, shape)| match shape {
                0 => format!("**{text}**"),
                1 => format!("*{text}*"),
                2 => format!("__{text}__"),
                3 => format!("~~{text}~~"),
                4 => format!("`{text}`"),
                5 => format!("||{text}||"),
                6 => format!("<u>{text}</u>"),
                7 => format!("[{text}](https://a.b/c_d)"),
                8 => format!("<i>{text} <b>x</i> y</b>"),
                9 => format!("![{text}](pic.png)"),
                _ => text,
            })
        });
        let block = (prop::collection::vec(inline, 1..4), 0..15_usize).prop_map(|(lines, shape)| {
            let text = lines.join(" ");
            match shape {
                0 => format!("## {text}"),
                1 => lines.iter().map(|line| format!("- {line}\n")).collect(),
                2 => lines
                    .iter()
                    .enumerate()
                    .map(|(n, line)| format!("{}. {line}\n   - [x] sub\n", n + 1))
                    .collect(),
                3 => lines.iter().map(|line| format!("> {line}\n")).collect(),
                4 => format!("> > {text}\n\n> ```\n>   code\n> ```"),
                5 => format!("```rust\n  fn\t{text}\n\n\n}}\n```"),
                6 => format!("| H | {text} |\n|---|--:|\n| {text} | v |"),
                7 => format!("<details>\n<summary>{text}</summary>\n\n{text}\n\n</details>"),
                8 => format!("- item\n\n      indented {text}\n\n  > in a list {text}"),
                9 => "---".to_owned(),
                10 => format!("```\n{text}"),
                12 => format!("{text} [Guide] [1] [{text}][b]"),
                13 => "[Guide]: https://a.b/c\n[1]: https://d.e\n\n[b]: https://f.g".to_owned(),
                11 => format!(
                    "{text}\n\\[\n\\begin{{bmatrix}} 1 & \\frac12 \\\\ x & y \\end{{bmatrix}}\n\\]\n{text}"
                ),
                _ => text,
            }
        });
        (prop::collection::vec(block, 1..5), "\n{1,3}").prop_map(|(blocks, gap)| blocks.join(&gap))
    }
}
