//! Output buffer of [`mod@super::render`]: text with byte spans, and the gaps between blocks.
//!
//! A tag or `||` is written literally and cut out once its partner is found, so that one without a partner stays
//! visible as text.

use std::ops::Range;

use super::formatted::EntityKind;
use super::piece::CUT;

/// Maximum number of marks searched for an opening tag. Keeps hostile input linear.
const MARKS_SEARCHED: usize = 64;

/// Future entity, as a byte range.
#[derive(Debug, Clone)]
pub(super) struct EntityRange {
    pub(super) kind: EntityKind,
    pub(super) range: Range<usize>,
}

/// Finished piece of text with its spans.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) text: String,
    pub(super) spans: Vec<EntityRange>,
}

/// Gap required between the text so far and the next text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Gap {
    #[default]
    None,
    /// After a list marker.
    Space,
    Lines(usize),
}

/// Opening tag that waits for its partner.
#[derive(Debug)]
struct OpenTag {
    name: &'static str,
    kind: EntityKind,
    literal: Range<usize>,
    block: usize,
}

fn holds_blocks(tag: &str) -> bool {
    matches!(tag, "details" | "blockquote" | "pre")
}

#[derive(Debug, Default)]
pub(super) struct Out {
    body: Fragment,
    gap: Gap,
    /// Number of spaces at the start of each new line, by the depth of lists.
    pub(super) indent: usize,
    marks: Vec<OpenTag>,
    cuts: Vec<Range<usize>>,
    block: usize,
}

impl Out {
    pub(super) fn len(&self) -> usize {
        self.body.text.len()
    }

    pub(super) fn since(&self, start: usize) -> &str {
        &self.body.text[start..]
    }

    /// Returns the character before the next one written. A pending gap counts as a space.
    pub(super) fn last_char(&self) -> Option<char> {
        if self.gap == Gap::None { self.body.text.chars().next_back() } else { Some(' ') }
    }

    /// Requires at least `count` line ends before the next text.
    pub(super) fn lines(&mut self, count: usize) {
        if self.body.text.is_empty() {
            return;
        }
        self.gap = match self.gap {
            Gap::Lines(n) => Gap::Lines(n.max(count)),
            Gap::None | Gap::Space => Gap::Lines(count),
        };
    }

    /// Adds a line break inside a block. Two make a blank line.
    pub(super) fn line_break(&mut self) {
        let Gap::Lines(n) = self.gap else {
            return self.lines(1);
        };
        self.gap = Gap::Lines((n + 1).min(2));
    }

    /// Returns `true` if a list marker was written and nothing after it.
    pub(super) fn after_marker(&self) -> bool {
        self.gap == Gap::Space
    }

    /// Writes a list marker. Text follows it after a space.
    pub(super) fn marker(&mut self, marker: &str) {
        self.push(marker);
        self.gap = Gap::Space;
    }

    /// Turns the bullet just written into a check box, or adds one after a number.
    pub(super) fn task(&mut self, done: bool) {
        let symbol = if done { "☑" } else { "☐" };
        if self.after_marker() && self.body.text.ends_with('•') {
            self.body.text.pop();
            self.gap = Gap::None;
        }
        self.marker(symbol);
    }

    /// Begins the next block. Marks from earlier blocks are not closed by the end of a half-written answer.
    pub(super) fn next_block(&mut self) {
        self.block += 1;
    }

    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.flush(self.indent);
        // Telegram drops these or replaces them by spaces. Dropping them here keeps the offsets right.
        let refused =
            |c: char| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c) || c == CUT;
        self.body.text.extend(text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !refused(*c)));
    }

    /// Writes the mark for the end of a section.
    pub(super) fn cut(&mut self, mark: char) {
        self.body.text.push(mark);
    }

    /// Writes a block of preformatted text on its own lines.
    pub(super) fn push_pre(&mut self, text: &str, language: Option<String>) {
        // Telegram would show a tab as one space.
        let text = text.replace('\t', "    ");
        let first = text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
        let text = text[first..].trim_end();
        if text.is_empty() {
            return;
        }
        self.lines(1);
        self.flush(0);
        let start = self.len();
        self.push(text);
        self.span(EntityKind::Pre { language }, start);
        self.lines(1);
    }

    pub(super) fn append(&mut self, fragment: Fragment) {
        self.flush(self.indent);
        let base = self.len();
        self.body.text.push_str(&fragment.text);
        let moved =
            |span: EntityRange| EntityRange { range: span.range.start + base..span.range.end + base, ..span };
        self.body.spans.extend(fragment.spans.into_iter().map(moved));
    }

    /// Adds a span from `start` to the current position.
    pub(super) fn span(&mut self, kind: EntityKind, start: usize) {
        self.body.spans.push(EntityRange { kind, range: start..self.len() });
    }

    pub(super) fn open_mark(&mut self, name: &'static str, kind: EntityKind, literal: &str) {
        let literal = self.literal(literal);
        self.marks.push(OpenTag { name, kind, literal, block: self.block });
    }

    /// Closes the last open mark of that name. Without one, the literal stays as text.
    pub(super) fn close_mark(&mut self, name: &'static str, literal: &str) {
        let closing = self.literal(literal);
        let Some(at) = self.find_mark(name) else { return };
        let Some(mark) = self.marks.drain(at..).next() else {
            return;
        };
        self.body.spans.push(EntityRange { kind: mark.kind, range: mark.literal.end..closing.start });
        self.cuts.extend([mark.literal, closing]);
    }

    pub(super) fn is_open(&self, name: &'static str) -> bool {
        self.find_mark(name).is_some()
    }

    /// Returns `true` if a tag waits for its partner. Spoilers do not count; they end with their paragraph.
    pub(super) fn has_open_tags(&self) -> bool {
        self.marks.iter().any(|mark| mark.name != "||")
    }

    /// Returns `true` if an open tag may contain blocks.
    pub(super) fn has_open_blocks(&self) -> bool {
        self.marks.iter().any(|mark| holds_blocks(mark.name))
    }

    /// Returns the fragment with matched marks cut out. `open_end` is `true` if the source is half-written; marks
    /// left open in its last block then extend to its end.
    pub(super) fn finish(mut self, open_end: bool) -> Fragment {
        if open_end {
            let end = self.len();
            let open = |mark: &OpenTag| mark.block == self.block || holds_blocks(mark.name);
            for mark in self.marks.into_iter().filter(open) {
                self.body.spans.push(EntityRange { kind: mark.kind, range: mark.literal.end..end });
                self.cuts.push(mark.literal);
            }
        }
        self.body.remove(self.cuts);
        let extra = self.body.extra_lines();
        self.body.remove(extra);
        self.body
    }

    fn find_mark(&self, name: &'static str) -> Option<usize> {
        // A spoiler ends with its paragraph; a tag may span several.
        let matches = |mark: &OpenTag| mark.name == name && (name != "||" || mark.block == self.block);
        let start = self.marks.len().saturating_sub(MARKS_SEARCHED);
        self.marks[start..].iter().rposition(matches).map(|at| at + start)
    }

    fn literal(&mut self, literal: &str) -> Range<usize> {
        self.flush(self.indent);
        let start = self.len();
        self.push(literal);
        start..self.len()
    }

    fn flush(&mut self, indent: usize) {
        match std::mem::take(&mut self.gap) {
            Gap::None => {}
            Gap::Space => self.body.text.push(' '),
            Gap::Lines(count) => {
                self.body.text.extend(std::iter::repeat_n('\n', count));
                self.body.text.extend(std::iter::repeat_n(' ', indent));
            }
        }
    }
}

impl Fragment {
    /// Removes disjoint byte ranges and moves the spans with the text.
    fn remove(&mut self, mut cuts: Vec<Range<usize>>) {
        if cuts.is_empty() {
            return;
        }
        cuts.sort_by_key(|cut| cut.start);
        let mut kept = String::with_capacity(self.text.len());
        let mut removed = vec![0];
        let (mut at, mut total) = (0, 0);
        for cut in &cuts {
            kept.push_str(&self.text[at..cut.start]);
            at = cut.end;
            total += cut.len();
            removed.push(total);
        }
        kept.push_str(&self.text[at..]);
        self.text = kept;
        let moved = |position: usize| {
            let before = cuts.partition_point(|cut| cut.start < position);
            let inside = cuts[..before].last().map_or(0, |cut| cut.end.saturating_sub(position));
            position - (removed[before] - inside)
        };
        for span in &mut self.spans {
            span.range = moved(span.range.start)..moved(span.range.end);
        }
    }

    /// Returns line ends beyond two in a row, left where tags were cut. Code keeps its own.
    fn extra_lines(&self) -> Vec<Range<usize>> {
        let is_pre = |span: &&EntityRange| matches!(span.kind, EntityKind::Pre { .. });
        let mut pres: Vec<_> = self.spans.iter().filter(is_pre).map(|span| span.range.clone()).collect();
        pres.sort_by_key(|range| range.start);
        let mut extra = Vec::new();
        let mut from = 0;
        while let Some(at) = self.text[from..].find("\n\n\n").map(|found| found + from) {
            let end = at + self.text[at..].bytes().take_while(|b| *b == b'\n').count();
            let before = pres.partition_point(|range| range.start <= at);
            let in_code = pres[..before].last().is_some_and(|range| at < range.end);
            if !in_code {
                extra.push(at + 2..end);
            }
            from = end;
        }
        extra
    }
}
