//! Removes paragraphs from the text of a model that a child has already said to the person, also while the text is
//! being written. Pure.

/// Filters a text as it arrives, and returns the parts that were not said before.
#[derive(Debug)]
pub(in crate::turn) struct Unrepeated {
    /// Paragraphs that were said before, normalised for comparison.
    said: Vec<String>,
    /// Text of the paragraph in progress.
    current: String,
    /// Number of its bytes that are shown already. If above 0, the paragraph repeats none.
    shown: usize,
}

impl Unrepeated {
    /// Creates a filter for a text that follows `said`.
    pub(in crate::turn) fn after(said: &str) -> Self {
        let mut paragraphs = Vec::new();
        let mut rest = said;
        while !rest.is_empty() {
            let end = end_of_paragraph(rest).unwrap_or(rest.len());
            let paragraph = comparable(&rest[..end]);
            if !paragraph.is_empty() {
                paragraphs.push(paragraph);
            }
            rest = &rest[end..];
        }
        Self { said: paragraphs, current: String::new(), shown: 0 }
    }

    /// Adds more text. Returns the part that can be shown now.
    pub(in crate::turn) fn push(&mut self, text: &str) -> String {
        self.current.push_str(text);
        let mut shown = String::new();
        while let Some(end) = end_of_paragraph(&self.current) {
            let rest = self.current.split_off(end);
            shown.push_str(self.rest_of_paragraph());
            (self.current, self.shown) = (rest, 0);
        }
        if !self.may_repeat() {
            shown.push_str(self.current.get(self.shown..).unwrap_or_default());
            self.shown = self.current.len();
        }
        shown
    }

    /// Ends the text. Returns the rest to show.
    pub(in crate::turn) fn end(self) -> String {
        self.rest_of_paragraph().to_owned()
    }

    /// Returns the rest to show of the finished paragraph.
    fn rest_of_paragraph(&self) -> &str {
        let was_said = self.shown == 0 && self.was_said(&self.current);
        if was_said { "" } else { self.current.get(self.shown..).unwrap_or_default() }
    }

    fn was_said(&self, paragraph: &str) -> bool {
        self.said.contains(&comparable(paragraph))
    }

    /// Returns `true` if the paragraph in progress may become one that was said before.
    fn may_repeat(&self) -> bool {
        let so_far = comparable(&self.current);
        self.shown == 0 && self.said.iter().any(|said| said.starts_with(&so_far))
    }
}

/// Returns the text without the paragraphs that were said before.
pub(in crate::turn) fn without(text: &str, said: &str) -> String {
    if said.is_empty() {
        return text.to_owned();
    }
    let mut filter = Unrepeated::after(said);
    let shown = filter.push(text);
    (shown + &filter.end()).trim().to_owned()
}

/// Normalises white space, so that paragraphs can be compared.
fn comparable(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the end of the first paragraph, after the blank line that follows it; `None` if it may continue. A fenced
/// block is one paragraph.
fn end_of_paragraph(text: &str) -> Option<usize> {
    let (mut at, mut is_fenced, mut has_words) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let is_blank = words.is_empty() && line.ends_with('\n');
        at += line.len();
        if words.starts_with("```") {
            is_fenced = !is_fenced;
        }
        has_words |= !words.is_empty();
        if is_blank && !is_fenced && has_words {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paragraphs_that_were_said_are_left_out() {
        let said = "The sky is blue.\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\nIt rains.";
        let cases = [
            ("", ""),
            ("New words.", "New words."),
            ("The sky is blue.", ""),
            ("The  sky\nis blue.\n\nAnd more.", "And more."),
            ("First.\n\nThe sky is blue.\n\nLast.", "First.\n\nLast."),
            ("The sky is blue today.", "The sky is blue today."),
            ("```rust\nlet a = 1;\n\nlet b = 2;\n```\n\nSee?", "See?"),
            ("```rust\nlet a = 1;\n\nIt rains.\n```", "```rust\nlet a = 1;\n\nIt rains.\n```"),
            (said, ""),
        ];
        for (text, wanted) in cases {
            assert_eq!(without(text, said), wanted, "{text}");
        }
        assert_eq!(without(" as it is ", ""), " as it is ");
    }

    proptest! {
        #[test]
        fn it_is_the_same_however_the_text_is_cut(
            words in prop::collection::vec(prop::sample::select(vec!["a b", "c", "\n\n", "\n", "```", "x y z", " "]), 0..24),
            said in prop::collection::vec(prop::sample::select(vec!["a b", "c", "x y z", "```\nc\n```"]), 0..4),
            step in 1usize..5,
        ) {
            let (text, said) = (words.concat(), said.join("\n\n"));
            let mut filter = Unrepeated::after(&said);
            let mut shown = String::new();
            let chars: Vec<char> = text.chars().collect();
            for part in chars.chunks(step) {
                shown += &filter.push(&part.iter().collect::<String>());
            }
            shown += &filter.end();
            let mut whole = Unrepeated::after(&said);
            let at_once = whole.push(&text) + &whole.end();
            prop_assert_eq!(comparable(&shown), comparable(&at_once));
        }
    }
}
