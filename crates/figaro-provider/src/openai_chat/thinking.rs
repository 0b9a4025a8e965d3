//! Takes the `<think>` blocks that an answer begins with out of its text, however the stream cuts them. Used by the
//! decoder, for servers that leave this to their clients.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Text on its way through.
#[derive(Debug, Default)]
pub(super) struct Thinking {
    place: Place,
    /// What cannot be told yet: it may belong to a tag.
    held: String,
    /// How many bytes of space it begins with, as far as that was looked at.
    space: usize,
}

#[derive(Debug, Default, Clone, Copy)]
enum Place {
    /// Nothing but space has come.
    #[default]
    Start,
    /// Within a block.
    Inside,
    /// Behind a block, where another one may follow.
    Behind,
    /// In the answer, where a tag is a word like any other.
    Answer,
}

impl Thinking {
    /// What can be told of the text so far and not told yet.
    pub(super) fn pass(&mut self, text: &str) -> String {
        self.held.push_str(text);
        loop {
            match self.place {
                Place::Answer => return std::mem::take(&mut self.held),
                Place::Inside => {
                    let Some((_, behind)) = self.held.split_once(CLOSE) else {
                        self.held = start_of_close(&self.held).to_owned();
                        return String::new();
                    };
                    self.held = behind.to_owned();
                    self.space = 0;
                    self.place = Place::Behind;
                }
                Place::Start | Place::Behind => {
                    let begun = self.held.get(self.space..).unwrap_or_default().trim_start();
                    self.space = self.held.len() - begun.len();
                    if let Some(inside) = begun.strip_prefix(OPEN) {
                        self.held = inside.to_owned();
                        self.place = Place::Inside;
                        continue;
                    }
                    if OPEN.starts_with(begun) {
                        return String::new();
                    }
                    if matches!(self.place, Place::Behind) {
                        self.held = begun.to_owned();
                    }
                    self.place = Place::Answer;
                }
            }
        }
    }

    /// What was held back and turned out to be text. A block that was never closed is none.
    pub(super) fn end(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Inside => String::new(),
            Place::Start | Place::Behind | Place::Answer => held.trim_start().to_owned(),
        }
    }
}

/// The end of a text that may be the start of the closing tag.
fn start_of_close(text: &str) -> &str {
    let starts = CLOSE.char_indices().map(|(at, _)| CLOSE.split_at(at).0);
    let found = starts.rev().find(|start| text.ends_with(start)).unwrap_or_default();
    text.split_at(text.len() - found.len()).1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text that is left of pieces.
    fn left<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut thinking = Thinking::default();
        let mut told: String = pieces.into_iter().map(|piece| thinking.pass(piece)).collect();
        told.push_str(&thinking.end());
        told
    }

    const CASES: [(&str, &str); 16] = [
        ("Hello", "Hello"),
        (" Hello", " Hello"),
        ("<think>hm</think>Hello", "Hello"),
        ("\n<think>\nhm < 3 </thin k></think>\n\nHello <think>", "Hello <think>"),
        ("<think></think>\n\n<think>é</think> Hello", "Hello"),
        ("<think>hm</think>", ""),
        ("<think>hm", ""),
        ("<think>hm</thi", ""),
        ("<thi", "<thi"),
        ("<think>a</think>\n<thi", "<thi"),
        ("<thinking>no</thinking>", "<thinking>no</thinking>"),
        ("a <think>b</think>", "a <think>b</think>"),
        ("</think>a", "</think>a"),
        ("<think><think>a</think>b", "b"),
        ("<think><</</t</think>b</think>", "b</think>"),
        (" \n", ""),
    ];

    #[test]
    fn blocks_at_the_start_are_taken_out_wherever_they_are_cut() {
        for (text, expected) in CASES {
            assert_eq!(left([text]), expected, "{text:?}");
            for (at, _) in text.char_indices() {
                let (start, end) = text.split_at(at);
                assert_eq!(left([start, end]), expected, "{text:?} cut at {at}");
            }
            let letters: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(left(letters.iter().map(String::as_str)), expected, "{text:?} in letters");
        }
    }

    #[test]
    fn text_is_told_at_once_and_a_block_is_not_kept() {
        let mut thinking = Thinking::default();
        assert_eq!(thinking.pass("<think>"), "");
        for _ in 0..100 {
            assert_eq!(thinking.pass("a long thought "), "");
            assert!(thinking.held.len() < CLOSE.len(), "{}", thinking.held);
        }
        assert_eq!(thinking.pass("</think>Yes"), "Yes");
        assert_eq!(thinking.pass(", <"), ", <");
    }

    #[test]
    fn space_is_looked_at_once() {
        let mut thinking = Thinking::default();
        for count in 1..=1000 {
            assert_eq!(thinking.pass(" "), "");
            assert_eq!(thinking.space, count, "none of it is looked at again");
        }
        assert_eq!(thinking.pass("<think>a</think>"), "");
        assert_eq!((thinking.pass("\n\n"), thinking.space), (String::new(), 2));
        assert_eq!(thinking.pass("b "), "b ");
    }

    proptest! {
        #[test]
        fn any_cuts_leave_the_same(text in "[<>/a ]{0,3}(<think>|)[<>/thinkaé ]{0,12}(</think>|)[<thinka ]{0,8}", cuts in prop::collection::vec(1_usize..6, 0..30)) {
            let letters: Vec<char> = text.chars().collect();
            let mut rest = letters.as_slice();
            let mut pieces = Vec::new();
            for cut in cuts {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece.iter().collect::<String>());
                rest = tail;
            }
            pieces.push(rest.iter().collect());
            prop_assert_eq!(left(pieces.iter().map(String::as_str)), left([text.as_str()]));
        }
    }
}
