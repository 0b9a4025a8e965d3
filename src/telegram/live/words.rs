//! What a drawing keeps of the words of a pass: what one message can show of them, however many come, so that drawing
//! them once takes the same time at the end of a long answer as at its beginning. Pure.

use crate::telegram::markup::tail;

/// So many bytes of Markdown are kept at most, but for what came last. A message shows 4096 characters.
const MOST: usize = 32 * 1024;

/// The first or the last words of a pass, in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    markdown: String,
    part: Part,
    /// There are more than are kept.
    is_cut: bool,
    /// How many bytes were read to leave some out.
    #[cfg(test)]
    read: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Last,
}

impl Words {
    /// None so far; of many the first are kept.
    pub(super) fn first() -> Self {
        Self::new(Part::First)
    }

    /// None so far; of many the last are kept.
    pub(super) fn last() -> Self {
        Self::new(Part::Last)
    }

    fn new(part: Part) -> Self {
        Self {
            markdown: String::new(),
            part,
            is_cut: false,
            #[cfg(test)]
            read: 0,
        }
    }

    /// Adds text that has just come from the model; of what is too long only the part that is shown is kept.
    pub(super) fn push(&mut self, more: &str) {
        match self.part {
            Part::First => {
                let room = MOST.saturating_sub(self.markdown.len());
                let fits = if self.is_cut { 0 } else { more.floor_char_boundary(room) };
                self.markdown.push_str(&more[..fits]);
                self.is_cut |= fits < more.len();
            }
            Part::Last => {
                self.markdown.push_str(more);
                if self.markdown.len() > MOST {
                    self.cut();
                }
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.part);
    }

    /// The beginning or the end of the answer so far, whichever is shown, in Markdown.
    pub(super) fn markdown(&self) -> &str {
        &self.markdown
    }

    /// Whether there are more than are kept.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn cut(&mut self) {
        #[cfg(test)]
        {
            self.read += self.markdown.len();
        }
        self.markdown = tail(&self.markdown, MOST / 2);
        self.is_cut = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(mut words: Words, pieces: &[String]) -> Words {
        pieces.iter().for_each(|piece| words.push(piece));
        words
    }

    const UNITS: [&str; 7] = [
        "Some words, and **more** of them.\n\n",
        "one line ",
        "```rust\n",
        "let x = 1;\n",
        "- пункт\n",
        "x",
        "| a | b |\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn a_bounded_part_is_kept_of_any_answer(pieces in prop::collection::vec((0..UNITS.len(), 1..400_usize), 1..40)) {
            let pieces: Vec<String> = pieces.into_iter().map(|(unit, count)| UNITS[unit].repeat(count)).collect();
            let whole = pieces.concat();
            let (first, last) = (all(Words::first(), &pieces), all(Words::last(), &pieces));
            prop_assert!(whole.starts_with(first.markdown()) && first.markdown().len() <= MOST);
            prop_assert_eq!(first.is_cut(), first.markdown() != whole);
            let end = whole.ceil_char_boundary(whole.len().saturating_sub(MOST / 2));
            prop_assert!(last.markdown().ends_with(&whole[end..]) && last.markdown().len() <= MOST);
            if whole.len() <= MOST {
                prop_assert_eq!((last.markdown(), last.is_cut()), (whole.as_str(), false));
            }
        }
    }

    #[test]
    fn an_answer_is_read_a_few_times_however_long_it_is() {
        for unit in UNITS {
            let mut words = Words::last();
            words.push(if unit == UNITS[3] { UNITS[2] } else { "" });
            let mut written = 0;
            while written < 200_000 {
                words.push(unit);
                written += unit.len();
            }
            assert!(words.read <= 5 * written, "{unit:?}: {} bytes were read of {written}", words.read);
        }
    }
}
