//! What a drawing shows of a turn: the text behind the parts that were sent, with the status line under it, in one
//! message. Pure.

use super::sketch::Sketch;
use crate::telegram::markup::{Formatted, MORE, Piece, split};
use crate::text::utf16_len;

/// The most UTF-16 units of a message, and of a draft.
pub(in crate::telegram) const MESSAGE_UNITS: usize = 4096;

/// So many bytes of Markdown are looked at: drawing a long text once takes the same time at its end as at its beginning.
pub(super) const KEPT: usize = 32 * 1024;

/// Of a long text the first message, which it will be in the end too.
pub(super) fn first_part(sketch: &Sketch) -> Formatted {
    drawn(sketch, |whole| whole)
}

/// The same for a draft, which has no switch for previews.
pub(super) fn first_part_without_links(sketch: &Sketch) -> Formatted {
    drawn(sketch, Formatted::without_links)
}

fn drawn(sketch: &Sketch, change: impl FnOnce(Formatted) -> Formatted) -> Formatted {
    let (text, goes_on) = match sketch.ready.front() {
        // It could not be sent so far.
        Some(Piece::Text(text)) => (text.clone(), true),
        _ => sketch.parts.left(KEPT),
    };
    let text = change(text);
    let line = status_line(sketch, &text);
    let mut parts = split(text, MESSAGE_UNITS - utf16_len(MORE) - utf16_len(&line)).into_iter();
    let mut first = parts.next().unwrap_or_default();
    if parts.next().is_some() || goes_on {
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
        let mut sketch = Sketch::new();
        sketch.hear(0, text, status.map(str::to_owned));
        sketch
    }

    fn first(text: &str, status: Option<&str>) -> Formatted {
        first_part(&sketch(text, status))
    }

    #[test]
    fn the_status_stands_under_the_text_and_alone() {
        let shown = |text, status| first(text, status).text;
        assert_eq!(shown("", None), "");
        assert_eq!(shown("", Some("🔎 *x*")), "🔎 *x*");
        assert_eq!(shown("So **far", Some("🔎 x")), "So far\n\n🔎 x");
        let code = first("```rust\nlet a", Some("🔎 x"));
        assert_eq!((code.text.as_str(), code.entities[0].length), ("let a\n\n🔎 x", 5));
    }

    #[test]
    fn a_long_text_shows_where_it_begins() {
        for count in [900, 20_000] {
            let text: String = (1..=count).map(|n| format!("word{n} ")).collect();
            let begin = first(&text, None);
            assert!(begin.text.starts_with("word1 ") && begin.text.ends_with(MORE), "{begin:?}");
            let end = split(render(&text), MESSAGE_UNITS).remove(0).text;
            assert!(end.starts_with(begin.text.trim_end_matches(MORE)), "it becomes the answer's first part");
            let more = first(&format!("{text} and more"), None);
            assert_eq!(begin, more, "what is not seen changes nothing");
        }
        // An address fills what is kept, and shows nothing.
        let links = first(&format!("[a](https://a.example/{}) ", "x".repeat(900)).repeat(90), None);
        assert!(links.text.starts_with("a a a") && links.text.ends_with(MORE), "{}", links.text);
    }

    #[test]
    fn behind_the_parts_that_were_sent_the_rest_shows() {
        let paragraph = |n: usize| format!("Paragraph {n} **of** {}end.\n\n", "many words ".repeat(26));
        let mut sketch = sketch(&(1..=20).map(paragraph).collect::<String>(), None);
        let (index, piece) = sketch.full_part().expect("a full part");
        let (at, Piece::Text(part)) = (index, piece.clone()) else { panic!("no text") };
        let waiting = first_part(&sketch);
        let shown = waiting.text.trim_end_matches(MORE);
        assert!(at == 0 && part.text.starts_with(shown) && waiting.text.ends_with(MORE), "it waits");
        let before = sketch.version();
        sketch.part_sent();
        assert!(sketch.version() != before && sketch.sent == 1);
        let rest = first_part(&sketch);
        let last = part.text.matches("Paragraph").count();
        assert!(rest.text.starts_with(&format!("Paragraph {} of many words", last + 1)), "{rest:?}");
        assert!(rest.text.ends_with("words end."), "{rest:?}");
        sketch.hear(1, "Anew", None);
        assert_eq!((first_part(&sketch).text.as_str(), sketch.sent), ("Anew", 0));
    }

    #[test]
    fn what_may_become_code_waits() {
        let list = format!("[\n\n{}", "1,\n\n".repeat(2_000));
        assert!(sketch(&list, None).full_part().is_none());
        assert!(sketch(&format!("{list} and words"), None).full_part().is_some());
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
            for shown in [first_part(&sketch), first_part_without_links(&sketch)] {
                prop_assert!(utf16_len(&shown.text) <= MESSAGE_UNITS && shown.entities.len() <= 300);
                prop_assert!(!shown.text.contains(['*', '`', '[', ']', '(']), "{}", shown.text);
            }
        }
    }
}
