//! Cuts text into passages. Used by every reader.

use figaro_domain::document::{MAX_TEXT_BYTES, Passage, Unreadable};

/// Length of a passage in bytes at which the next paragraph begins another one.
const FULL: usize = 1_000;
/// Maximum length of a passage, in bytes. A longer paragraph is cut at the end of a sentence or word.
const MAX: usize = 1_600;

/// Maximum indent of a line, in columns.
const MAX_INDENT: usize = 24;

/// Result of a reader: the title that the file states.
pub(super) type Title = Result<Option<String>, Unreadable>;

/// Passages of a file, in its order.
#[derive(Debug, Default)]
pub(super) struct Passages {
    done: Vec<Passage>,
    current: Passage,
    /// Number of parts so far.
    parts: u32,
    /// Name of the file in an archive that is read now. Its places are within it.
    within: Option<String>,
    bytes: usize,
    is_cut: bool,
    keeps_indents: bool,
}

impl Passages {
    /// Begins the next part of the file, such as a page, under this name.
    pub(super) fn begin(&mut self, place: impl Into<String>) {
        if self.within.is_some() {
            return self.at(place);
        }
        self.end();
        self.parts += 1;
        (self.current.place, self.current.part) = (place.into(), self.parts);
    }

    /// Reads a file of an archive, which is one part.
    pub(super) fn within<T>(&mut self, file: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within = Some(file.to_owned());
        let read = read(self);
        self.within = None;
        read
    }

    /// Keeps the indents of lines from now on, for text that may have code.
    pub(super) const fn keep_indents(&mut self) {
        self.keeps_indents = true;
    }

    /// Begins a passage of the same part at another place.
    pub(super) fn at(&mut self, place: impl Into<String>) {
        self.end();
        let place = place.into();
        self.current.place = match &self.within {
            Some(file) => format!("{file}, {place}"),
            None => place,
        };
    }

    /// Returns `true` if there is no text yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns `true` once there is as much text as is stored. Readers can stop then.
    pub(super) const fn is_full(&self) -> bool {
        self.is_cut
    }

    /// Adds paragraphs, separated by empty lines or not.
    pub(super) fn add(&mut self, text: &str) {
        let mut paragraph = String::new();
        let most = if self.keeps_indents { MAX_INDENT } else { 0 };
        for line in text.lines().map(|line| tidy(line, most)).chain([String::new()]) {
            if line.is_empty() || paragraph.len() + line.len() > FULL {
                self.paragraph(&paragraph);
                paragraph.clear();
            }
            if !line.is_empty() {
                paragraph.push_str(if paragraph.is_empty() { "" } else { "\n" });
                paragraph.push_str(&line);
            }
        }
    }

    fn paragraph(&mut self, mut text: &str) {
        // An empty line stands between them.
        if self.current.text.len() + 2 + text.len() > MAX || self.current.text.len() > FULL {
            self.end();
        }
        while text.len() > MAX {
            let (now, rest) = text.split_at(cut(text));
            self.push(now.trim_end());
            self.end();
            text = rest.trim_start();
        }
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() || self.is_cut {
            return;
        }
        if self.bytes + text.len() > MAX_TEXT_BYTES {
            self.is_cut = true;
            return;
        }
        self.bytes += text.len();
        let text_so_far = &mut self.current.text;
        text_so_far.push_str(if text_so_far.is_empty() { "" } else { "\n\n" });
        text_so_far.push_str(text);
    }

    /// Ends the passage; the next one is at the same place.
    fn end(&mut self) {
        let next = Passage { text: String::new(), ..self.current.clone() };
        let done = std::mem::replace(&mut self.current, next);
        if !done.text.is_empty() {
            self.done.push(done);
        }
    }

    /// Returns the number of parts, the passages, and `true` if text was left out.
    pub(super) fn finish(mut self) -> (u32, Vec<Passage>, bool) {
        self.end();
        (self.parts, self.done, self.is_cut)
    }
}

/// Returns a line without characters that say nothing: control characters, soft hyphens, runs of blanks. Of its indent at most
/// this many columns stay.
fn tidy(line: &str, most: usize) -> String {
    let indent = line.chars().map_while(|c| [(' ', 1), ('\t', 4)].iter().find(|(blank, _)| *blank == c));
    let indent: usize = indent.map(|(_, columns)| columns).sum();
    let mut tidy = " ".repeat(if line.trim().is_empty() { 0 } else { indent.min(most) });
    for c in line.trim().chars() {
        match c {
            '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{fffd}' => {}
            // Nobody searches for the joined letters of a typeface.
            'ﬀ' => tidy.push_str("ff"),
            'ﬁ' => tidy.push_str("fi"),
            'ﬂ' => tidy.push_str("fl"),
            'ﬃ' => tidy.push_str("ffi"),
            'ﬄ' => tidy.push_str("ffl"),
            'ﬅ' | 'ﬆ' => tidy.push_str("st"),
            c if c.is_whitespace() || c.is_control() => {
                if !tidy.ends_with(' ') {
                    tidy.push(' ');
                }
            }
            c => tidy.push(c),
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

/// Returns the place within the first [`MAX`] bytes where a long text is cut best.
fn cut(text: &str) -> usize {
    let head = &text[..text.floor_char_boundary(MAX)];
    let late = |found: Option<usize>| found.filter(|at| *at > FULL / 2);
    let sentence =
        head.rmatch_indices(['.', '!', '?', '。', '！', '？', '\n']).map(|(at, end)| at + end.len()).next();
    late(sentence).or_else(|| late(head.rfind(' '))).unwrap_or(head.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut_up(text: &str) -> Vec<Passage> {
        let mut passages = Passages::default();
        passages.begin("page 1");
        passages.add(text);
        passages.finish().1
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

        #[test]
        fn every_word_is_in_one_passage_and_none_is_too_long(text in "([a-zäж語]{1,12}[ .\n]{1,2}){0,900}") {
            let passages = cut_up(&text);
            let words: Vec<&str> = passages.iter().flat_map(|passage| passage.text.split_whitespace()).collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
            prop_assert!(passages.iter().all(|passage| passage.text.len() <= MAX && passage.place == "page 1"));
        }
    }

    #[test]
    fn what_says_nothing_is_left_out_and_long_texts_are_cut_with_a_word() {
        let mut passages = Passages::default();
        passages.add("  so\u{ad}ft \u{0}\t hyphen \n\n\n  ");
        assert_eq!(passages.finish().1[0].text, "soft hyphen");
        let mut passages = Passages::default();
        for _ in 0..5_000 {
            passages.add(&"word ".repeat(200));
        }
        assert!(passages.is_full());
        let (_, passages, is_cut) = passages.finish();
        let bytes: usize = passages.iter().map(|passage| passage.text.len()).sum();
        assert!(
            is_cut && (MAX_TEXT_BYTES - MAX..=MAX_TEXT_BYTES + passages.len() * 2).contains(&bytes),
            "{bytes}"
        );
    }
}
