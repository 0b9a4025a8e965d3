//! What a drawing shows of a turn: the text so far, rendered, with the status line under it, in one message. Pure.

use super::Sketch;
use crate::telegram::markup::{Formatted, MORE, render_partial, split};
use crate::text::utf16_len;

/// The most UTF-16 units of a message, and of a draft.
pub(in crate::telegram) const MESSAGE_UNITS: usize = 4096;

/// For a draft: of a long text the last message, where the words are coming. Of a very long one that may begin elsewhere
/// than the last message of the answer.
pub(super) fn last_part(sketch: &Sketch) -> Formatted {
    let mut whole = render_partial(sketch.words.markdown());
    whole.text += &status_line(sketch, &whole);
    // A draft has no switch for previews.
    let whole = whole.without_links();
    if utf16_len(&whole.text) <= MESSAGE_UNITS {
        return whole;
    }
    split(whole, MESSAGE_UNITS).pop().unwrap_or_default()
}

/// For a message that stays: of a long text the first message, which it will be in the end too.
pub(super) fn first_part(sketch: &Sketch) -> Formatted {
    let whole = render_partial(sketch.words.markdown());
    let line = status_line(sketch, &whole);
    let mut parts = split(whole, MESSAGE_UNITS - utf16_len(MORE) - utf16_len(&line)).into_iter();
    let mut first = parts.next().unwrap_or_default();
    if parts.next().is_some() || sketch.words.is_cut() {
        first.text += MORE;
    }
    first.text += &line;
    first
}

/// The status as it is: it stands outside of any code that the text has left open.
fn status_line(sketch: &Sketch, above: &Formatted) -> String {
    let gap = if above.text.is_empty() { "" } else { "\n\n" };
    sketch.status.as_ref().map_or_else(String::new, |status| format!("{gap}{status}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words::Words;
    use super::*;
    use crate::telegram::markup::render;

    fn sketch(mut words: Words, text: &str, status: Option<&str>) -> Sketch {
        words.push(text);
        Sketch { words, status: status.map(str::to_owned) }
    }

    fn first(text: &str, status: Option<&str>) -> Formatted {
        first_part(&sketch(Words::first(), text, status))
    }

    fn last(text: &str, status: Option<&str>) -> Formatted {
        last_part(&sketch(Words::last(), text, status))
    }

    #[test]
    fn the_status_stands_under_the_text_and_alone() {
        for show in [first, last] {
            let shown = |text, status| show(text, status).text;
            assert_eq!(shown("", None), "");
            assert_eq!(shown("", Some("🔎 *x*")), "🔎 *x*");
            assert_eq!(shown("So **far", Some("🔎 x")), "So far\n\n🔎 x");
            let code = show("```rust\nlet a", Some("🔎 x"));
            assert_eq!((code.text.as_str(), code.entities[0].length), ("let a\n\n🔎 x", 5));
        }
    }

    #[test]
    fn a_long_text_shows_where_it_begins_or_where_it_grows() {
        for count in [900, 20_000] {
            let text: String = (1..=count).map(|n| format!("word{n} ")).collect();
            let (begin, grow) = (first(&text, None), last(&text, None));
            assert!(begin.text.starts_with("word1 ") && begin.text.ends_with(MORE), "{begin:?}");
            assert!(grow.text.ends_with(&format!("word{count}")), "{grow:?}");
            let end = split(render(&text), MESSAGE_UNITS).remove(0).text;
            assert!(end.starts_with(begin.text.trim_end_matches(MORE)), "it becomes the answer's first part");
            let more = first(&format!("{text} and more"), None);
            assert_eq!(begin, more, "what is not seen changes nothing");
        }
    }

    #[test]
    fn a_very_long_text_is_drawn_as_what_it_is() {
        let code = last(&format!("Look:\n\n```rust\n{}", "let a = 1;\n".repeat(9_000)), None);
        assert!(code.text.ends_with("let a = 1;") && code.text.starts_with("let a = 1;"), "{}", code.text);
        assert_eq!(code.entities.iter().map(|e| e.length).collect::<Vec<_>>(), [utf16_len(&code.text)]);
        let list = last(&"- **one** of `many`\n".repeat(5_000), None);
        assert!(list.text.starts_with("• one of many\n• one") && !list.text.contains('*'), "{}", list.text);
        let table = format!("| A | B |\n|---|---|\n{}", "| a | b |\n".repeat(9_000));
        assert!(!last(&table, None).text.starts_with('|'));
        // An address fills what is kept, and shows nothing.
        let links = first(&format!("[a](https://a.example/{}) ", "x".repeat(900)).repeat(90), None);
        assert!(links.text.starts_with("a a a") && links.text.ends_with(MORE), "{}", links.text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn it_fits_one_message_and_shows_no_marker(words in prop::collection::vec("[a-z]{1,9}", 1..1500), cut: prop::sample::Index) {
            let whole = words.iter().enumerate().map(|(n, word)| match n % 7 {
                0 => format!("**{word}** "),
                3 => format!("`{word}` "),
                5 => format!("[{word}](https://a.b) "),
                _ => format!("{word} "),
            });
            let text: String = whole.collect();
            let text = &text[..cut.index(text.len())];
            for shown in [first(text, Some("🔎 looking")), last(text, Some("🔎 looking"))] {
                prop_assert!(utf16_len(&shown.text) <= MESSAGE_UNITS && shown.entities.len() <= 300);
                prop_assert!(!shown.text.contains(['*', '`', '[', ']', '(']), "{}", shown.text);
            }
        }
    }
}
