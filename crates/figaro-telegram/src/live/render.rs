//! Renders the preview of a turn: the text after the sent parts with the status line below, in one message. Pure.

use super::state::PreviewState;
use crate::outgoing::MESSAGE_UNITS;
use figaro_base::text::utf16_len;
use figaro_markup::{Formatted, MORE, Piece, RichMessage, rich_draft, split, window};

/// Marks the omitted beginning of a block.
const LESS: &str = "… ";

/// Maximum size of the Markdown that is rendered, in bytes, so that updates of a long text do not get slower.
const KEPT: usize = 32 * 1024;

/// Maximum length of a text that is hidden after its beginning, in UTF-16 units: a paragraph that is soon complete.
const HIDDEN: usize = 512;

/// Renders the first message of the text, as it will also be in the answer.
pub(super) fn first_part(state: &PreviewState) -> Formatted {
    let (text, goes_on) = state.parts.left(KEPT);
    beginning(state, text, goes_on)
}

/// Renders the content of a draft after the sent parts. Links are removed, because drafts have no option to turn link
/// previews off. A block longer than a message is shown by its end, which is being written.
pub(super) fn newest_part(state: &PreviewState) -> Formatted {
    let is_waiting = !state.has_given_up;
    if let Some(Piece::Text(text)) = state.ready.front().filter(|_| is_waiting) {
        return beginning(state, text.clone().without_links(), true);
    }
    let (rest, is_whole) = state.parts.end(KEPT);
    let unsent = state.ready.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.clone()),
        Piece::File(_) | Piece::Whole(..) | Piece::Rich(_) => None,
    });
    let text = unsent.chain([rest]).reduce(Formatted::followed_by).unwrap_or_default().without_links();
    let line = status_line(state, &text);
    let room = MESSAGE_UNITS - utf16_len(&line);
    if is_whole && utf16_len(&text.text) <= room + HIDDEN {
        return beginning(state, text, false);
    }
    let begin = Formatted { text: LESS.to_owned(), entities: Vec::new() };
    let mut end = begin.with(window(text, room - utf16_len(LESS)));
    end.text += &line;
    end
}

/// Renders the content of a draft as a rich message; `None` if text shows it as well.
pub(super) fn newest_rich(state: &PreviewState) -> Option<RichMessage> {
    let markdown = state.parts.markdown();
    let is_whole = state.sent == 0 && state.ready.is_empty() && markdown.len() <= KEPT;
    if !state.may_be_rich || !is_whole {
        return None;
    }
    let message = rich_draft(markdown)?;
    Some(match &state.status {
        Some(status) => message.with_line(status.clone()),
        None => message,
    })
}

/// Renders the first message of a text, with the status below.
fn beginning(state: &PreviewState, text: Formatted, goes_on: bool) -> Formatted {
    let line = status_line(state, &text);
    let mut parts = split(text, MESSAGE_UNITS - utf16_len(MORE) - utf16_len(&line)).into_iter();
    let mut first = parts.next().unwrap_or_default();
    if parts.next().is_some() || goes_on {
        first.text += MORE;
    }
    first.text += &line;
    first
}

/// Returns the status line as plain text, outside of code that the text has left open.
fn status_line(state: &PreviewState, above: &Formatted) -> String {
    let gap = if above.text.is_empty() { "" } else { "\n\n" };
    state.status.as_ref().map_or_else(String::new, |status| format!("{gap}{status}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use figaro_markup::render;

    fn state_of(text: &str, status: Option<&str>) -> PreviewState {
        let mut state = PreviewState::new();
        state.push(0, text, status.map(str::to_owned));
        state
    }

    fn first(text: &str, status: Option<&str>) -> Formatted {
        first_part(&state_of(text, status))
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
        let mut state = state_of(&(1..=20).map(paragraph).collect::<String>(), None);
        let (index, piece) = state.full_part().expect("a full part");
        let (at, Piece::Text(part)) = (index, piece.clone()) else { panic!("no text") };
        let waiting = newest_part(&state);
        let shown = waiting.text.trim_end_matches(MORE);
        assert!(at == 0 && part.text.starts_with(shown) && waiting.text.ends_with(MORE), "it waits");
        let before = state.version();
        state.part_sent();
        assert!(state.version() != before && state.sent == 1);
        let rest = newest_part(&state);
        let last = part.text.matches("Paragraph").count();
        assert!(rest.text.starts_with(&format!("Paragraph {} of many words", last + 1)), "{rest:?}");
        assert!(rest.text.ends_with("words end."), "{rest:?}");
        state.push(1, "Anew", None);
        assert_eq!((newest_part(&state).text.as_str(), state.sent), ("Anew", 0));
    }

    #[test]
    fn of_a_block_longer_than_a_message_the_end_shows() {
        let code = "let answer = 42;\n".repeat(60 * 60);
        let table = format!("| A | B |\n|---|---|\n{}", "| some | words |\n".repeat(3_000));
        let paragraph: String = (0..9_000).map(|n| format!("word{n} ")).collect();
        for (block, name) in
            [(format!("```rust\n{code}"), "code"), (table, "table"), (paragraph, "paragraph")]
        {
            let mut state = state_of("", None);
            let (mut last, mut seen) = (String::new(), 0);
            for (at, line) in block.split_inclusive([' ', '\n']).enumerate() {
                state.push(0, line, None);
                if at % 401 != 400 {
                    continue;
                }
                assert!(state.full_part().is_none());
                let content = newest_part(&state);
                assert!(utf16_len(&content.text) <= MESSAGE_UNITS, "{name}");
                if state.parts.markdown().len() > 3 * MESSAGE_UNITS {
                    assert!(content.text.starts_with(LESS) && content.text != last, "{name} stands still");
                    assert!(utf16_len(&content.text) > MESSAGE_UNITS / 2, "{name}: {}", content.text.len());
                    assert!(
                        name == "paragraph" || content.entities.len() == 1,
                        "{name}: {:?}",
                        content.entities
                    );
                    seen += 1;
                }
                last = content.text;
            }
            assert!(seen > 10, "{name}");
            assert!(first_part(&state).text.ends_with(MORE), "a group shows the beginning");
        }
    }

    #[test]
    fn what_could_not_be_sent_shows_before_the_rest() {
        let text =
            |from: usize, to: usize| (from..to).map(|n| format!("Word {n} of many.\n\n")).collect::<String>();
        let mut state = state_of(&text(0, 260), None);
        assert!(state.full_part().is_some());
        state.give_up();
        state.push(0, &text(260, 600), None);
        let shown = newest_part(&state).text;
        assert!(shown.starts_with(LESS) && shown.ends_with("Word 599 of many."), "{shown}");
        let numbers: Vec<usize> = shown.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]) && numbers.len() > 150, "{numbers:?}");
        state.push(1, "Anew", None);
        assert!(!state.has_given_up, "another pass may be sent");
    }

    #[test]
    fn what_may_become_code_waits() {
        let list = format!("[\n\n{}", "1,\n\n".repeat(2_000));
        assert!(state_of(&list, None).full_part().is_none());
        assert!(state_of(&format!("{list} and words"), None).full_part().is_some());
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
            let state = state_of(&text[..cut.index(text.len())], Some("🔎 looking"));
            for shown in [first_part(&state), newest_part(&state)] {
                prop_assert!(utf16_len(&shown.text) <= MESSAGE_UNITS && shown.entities.len() <= 300);
                prop_assert!(!shown.text.contains(['*', '`', '[', ']', '(']), "{}", shown.text);
            }
        }
    }
}
