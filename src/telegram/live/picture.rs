//! What a drawing shows of a turn: the text so far, rendered, with the status line under it, in one message. Pure.

use super::Sketch;
use crate::telegram::markup::{Formatted, MORE, render_partial, split};
use crate::text::utf16_len;

/// The most UTF-16 units of a message, and of a draft.
pub(in crate::telegram) const MESSAGE_UNITS: usize = 4096;

/// For a draft: of a long text the last message, where the words are coming.
pub(super) fn last_part(sketch: &Sketch) -> Formatted {
    let mut whole = render_partial(&sketch.text);
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
    let whole = render_partial(&sketch.text);
    let line = status_line(sketch, &whole);
    let mut parts = split(whole, MESSAGE_UNITS - utf16_len(MORE) - utf16_len(&line)).into_iter();
    let mut first = parts.next().unwrap_or_default();
    if parts.next().is_some() {
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

    use super::*;
    use crate::telegram::markup::render;

    fn sketch(text: &str, status: Option<&str>) -> Sketch {
        Sketch { text: text.to_owned(), status: status.map(str::to_owned) }
    }

    #[test]
    fn the_status_stands_under_the_text_and_alone() {
        for show in [first_part, last_part] {
            let shown = |text, status| show(&sketch(text, status)).text;
            assert_eq!(shown("", None), "");
            assert_eq!(shown("", Some("🔎 *x*")), "🔎 *x*");
            assert_eq!(shown("So **far", Some("🔎 x")), "So far\n\n🔎 x");
            let code = show(&sketch("```rust\nlet a", Some("🔎 x")));
            assert_eq!((code.text.as_str(), code.entities[0].length), ("let a\n\n🔎 x", 5));
        }
    }

    #[test]
    fn a_long_text_shows_where_it_begins_or_where_it_grows() {
        let text: String = (1..=900).map(|n| format!("word{n} ")).collect();
        let (first, last) = (first_part(&sketch(&text, None)), last_part(&sketch(&text, None)));
        assert!(first.text.starts_with("word1 ") && first.text.ends_with(MORE), "{first:?}");
        assert!(last.text.ends_with("word900"), "{last:?}");
        let end = split(render(&text), MESSAGE_UNITS).remove(0).text;
        assert!(end.starts_with(first.text.trim_end_matches(MORE)), "it becomes the answer's first part");
        let more = first_part(&sketch(&format!("{text} and more"), None));
        assert_eq!(first, more, "what is not seen changes nothing");
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
            let sketch = sketch(&text[..cut.index(text.len())], Some("🔎 looking"));
            for shown in [first_part(&sketch), last_part(&sketch)] {
                prop_assert!(utf16_len(&shown.text) <= MESSAGE_UNITS && shown.entities.len() <= 300);
                prop_assert!(!shown.text.contains(['*', '`', '[', ']', '(']), "{}", shown.text);
            }
        }
    }
}
