//! Cuts a long answer into messages at the best borders. Called by the reply path for every answer it sends.

use super::chars::is_extender;
use super::entities;
use super::formatted::{Entity, EntityKind, Formatted};
use super::out::{EntityRange, Fragment};

/// Maximum number of entities of a message. Telegram ignores further ones, so a message ends before it has more.
const MAX_ENTITIES: usize = 100;
/// Divisor of the limit: minimum fill of a message before a good border.
const MIN_FILL: usize = 3;

/// Cuts a text into pieces of at most `limit` UTF-16 units (at least 2) and at most 100 entities each.
///
/// The last border of the best kind wins: paragraph, line, sentence, word; words inside code and links come last.
/// Code that is cut continues as code of the same language. Only white space at the borders is lost, and no piece is
/// empty.
#[must_use]
pub fn split(formatted: Formatted, limit: usize) -> Vec<Formatted> {
    split_from(formatted, 0, limit).0
}

/// Cuts the text after its first `start` bytes like `split`. Also returns the start of the last piece, in bytes.
pub(super) fn split_from(
    formatted: Formatted,
    start: usize,
    limit: usize,
) -> (Vec<Formatted>, Option<usize>) {
    let offsets = entities::utf16_offsets(&formatted.text);
    let limit = limit.max(2);
    let mut start = formatted.text.floor_char_boundary(start);
    if formatted.text[start..].trim().is_empty() {
        return (Vec::new(), None);
    }
    if start == 0 && offsets[formatted.text.len()] <= limit && formatted.entities.len() <= MAX_ENTITIES {
        return (vec![formatted], Some(0));
    }
    let mut source = SplitSource::new(formatted, offsets);
    source.enter(start);
    let (mut pieces, mut last) = (Vec::new(), None);
    while let Some(from) = source.next_start(start, limit) {
        let end = source.cut(from, limit);
        let mut piece = source.piece(from, end);
        piece.entities.truncate(MAX_ENTITIES);
        pieces.push(piece);
        (start, last) = (end, Some(from));
    }
    (pieces, last)
}

/// Returns the text after its first `start` bytes.
#[must_use]
pub(super) fn behind(formatted: Formatted, start: usize) -> Formatted {
    let offsets = entities::utf16_offsets(&formatted.text);
    let (start, end) = (formatted.text.floor_char_boundary(start), formatted.text.len());
    let mut source = SplitSource::new(formatted, offsets);
    source.enter(start);
    source.piece(start, end)
}

/// Returns the end of a text, with at most `limit` UTF-16 units and 100 entities. If something is left out, it begins
/// at a line or a word. As text is added, the beginning stays until another quarter is left out at once.
#[must_use]
pub fn window(formatted: Formatted, limit: usize) -> Formatted {
    let offsets = entities::utf16_offsets(&formatted.text);
    let Some(over) = offsets[formatted.text.len()].checked_sub(limit).filter(|over| *over > 0) else {
        return latest(formatted);
    };
    let step = (limit / WINDOW_STEPS).max(1);
    let least = over.div_ceil(step) * step;
    let at = |units: usize| offsets.partition_point(|before| *before < units).min(formatted.text.len());
    let near = formatted.text.get(at(least)..at(least + step / 2)).unwrap_or_default();
    let found = near.find('\n').or_else(|| near.find(' '));
    let from = at(least) + found.map_or(0, |found| found + 1);
    latest(behind(formatted, from))
}

/// Drops the first of too many entities.
fn latest(mut formatted: Formatted) -> Formatted {
    let surplus = formatted.entities.len().saturating_sub(MAX_ENTITIES);
    formatted.entities.drain(..surplus);
    formatted
}

/// Cuts at every `mark`, which is dropped, and keeps the entities on both sides. Sections may be empty.
pub(super) fn sections(formatted: Formatted, mark: char) -> Vec<Formatted> {
    let offsets = entities::utf16_offsets(&formatted.text);
    let mut source = SplitSource::new(formatted, offsets);
    let mut ends: Vec<usize> = source.text.match_indices(mark).map(|(at, _)| at).collect();
    ends.push(source.text.len());
    let mut start = 0;
    let mut sections = Vec::with_capacity(ends.len());
    for end in ends {
        sections.push(source.piece(start, end));
        start = (end + mark.len_utf8()).min(source.text.len());
    }
    sections
}

/// Divisor of the window's size: the step by which a window moves.
const WINDOW_STEPS: usize = 4;

/// Quality of a border, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BreakQuality {
    Character,
    Grapheme,
    WordInside,
    Word,
    Sentence,
    Line,
    Paragraph,
}

/// Context of a byte of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteContext {
    Text,
    Pre,
    /// Code or a link, better kept whole.
    Inline,
}

#[derive(Debug)]
struct SplitSource {
    text: String,
    offsets: Vec<usize>,
    /// Entities as byte ranges, sorted by start.
    spans: Vec<EntityRange>,
    within: Vec<ByteContext>,
    /// Index of the next span. Earlier ones are open or done.
    next: usize,
    /// Spans that extend past the last cut.
    open: Vec<usize>,
}

impl SplitSource {
    fn new(formatted: Formatted, offsets: Vec<usize>) -> Self {
        let Formatted { text, mut entities } = formatted;
        entities.sort_by_key(|entity| entity.offset);
        let byte = |unit: usize| offsets.partition_point(|before| *before < unit).min(text.len());
        let span = |Entity { kind, offset, length }| EntityRange {
            kind,
            range: byte(offset)..byte(offset + length),
        };
        let spans: Vec<EntityRange> = entities.into_iter().map(span).collect();
        let mut within = vec![ByteContext::Text; text.len() + 1];
        for span in &spans {
            let state = match span.kind {
                EntityKind::Pre { .. } => ByteContext::Pre,
                EntityKind::Code | EntityKind::TextLink { .. } => ByteContext::Inline,
                _ => continue,
            };
            within[span.range.clone()].fill(state);
        }
        Self { text, offsets, spans, within, next: 0, open: Vec::new() }
    }

    /// Returns the start of the next piece: after white space, but code keeps the indent of its line if it fits.
    fn next_start(&self, start: usize, limit: usize) -> Option<usize> {
        let rest = &self.text[start..];
        let first = start + rest.len() - rest.trim_start().len();
        if first == self.text.len() {
            return None;
        }
        let line = self.text[start..first].rfind('\n').map_or(start, |at| start + at + 1);
        let mut from = first;
        while from > line && self.within[from - 1] == ByteContext::Pre {
            from -= 1;
            while !self.text.is_char_boundary(from) {
                from -= 1;
            }
        }
        let fits = self.offsets[first] - self.offsets[from] <= (limit - 2) / 2;
        Some(if fits { from } else { first })
    }

    /// Returns the end of the piece that starts at `from`.
    fn cut(&mut self, from: usize, limit: usize) -> usize {
        let rest = &self.text[from..];
        let first = from + rest.len() - rest.trim_start().len();
        let last = self.window(from, first, limit);
        if last == self.text.len() {
            return last;
        }
        let good = self.offsets[from] + limit.min(self.offsets[last] - self.offsets[from]) / MIN_FILL;
        let mut best: Option<(bool, BreakQuality, usize)> = None;
        let ends = self.text[from..last].char_indices().map(|(at, _)| from + at);
        for end in ends.chain([last]).filter(|end| *end > first) {
            let candidate = (self.offsets[end] >= good, self.border(end), end);
            best = best.max(Some(candidate));
        }
        best.map_or(last, |(_, _, end)| end)
    }

    /// Returns the furthest end within both limits; always after `first`, the first visible character.
    fn window(&mut self, from: usize, first: usize, limit: usize) -> usize {
        let most = self.offsets[from] + limit;
        let mut last = self.offsets.partition_point(|units| *units <= most) - 1;
        while !self.text.is_char_boundary(last) {
            last -= 1;
        }
        self.close(from);
        let mut count = self.open.len();
        for span in &self.spans[self.next..] {
            if span.range.start >= last {
                break;
            }
            count += 1;
            if count > MAX_ENTITIES && span.range.start > first {
                return span.range.start;
            }
        }
        last
    }

    /// Closes spans that end before this position.
    fn close(&mut self, from: usize) {
        self.open.retain(|at| self.spans[*at].range.end > from);
    }

    fn border(&self, end: usize) -> BreakQuality {
        let (before, after) = self.text.split_at(end);
        let mut previous = before.chars().rev();
        let (last, next) = (previous.next().unwrap_or(' '), after.chars().next().unwrap_or(' '));
        let within =
            if self.within[end - 1] == self.within[end] { self.within[end] } else { ByteContext::Text };
        if last == '\n' || next == '\n' {
            let blank = (last == '\n' && (next == '\n' || previous.next() == Some('\n')))
                || after.starts_with("\n\n");
            return if blank && within != ByteContext::Pre {
                BreakQuality::Paragraph
            } else {
                BreakQuality::Line
            };
        }
        if last.is_whitespace() || next.is_whitespace() {
            let stops = ['.', '!', '?', '…', ':', ';', '。', '！', '？', '؟', '۔'];
            return match within {
                ByteContext::Text if next.is_whitespace() && stops.contains(&last) => BreakQuality::Sentence,
                ByteContext::Text => BreakQuality::Word,
                ByteContext::Pre | ByteContext::Inline => BreakQuality::WordInside,
            };
        }
        if last == '。' || last == '！' || last == '？' {
            return BreakQuality::Sentence;
        }
        let is_flag = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
        let flags = before.chars().rev().take(64).take_while(|c| is_flag(*c)).count();
        let joined = is_extender(next) || last == '\u{200d}' || (is_flag(next) && flags % 2 == 1);
        if joined { BreakQuality::Character } else { BreakQuality::Grapheme }
    }

    /// Advances to a position and opens the spans that begin before it.
    fn enter(&mut self, at: usize) {
        while self.spans.get(self.next).is_some_and(|span| span.range.start < at) {
            self.open.push(self.next);
            self.next += 1;
        }
    }

    fn piece(&mut self, from: usize, end: usize) -> Formatted {
        self.close(from);
        self.enter(end);
        let clipped = |at: &usize| {
            let EntityRange { kind, range } = &self.spans[*at];
            EntityRange {
                kind: kind.clone(),
                range: range.start.max(from) - from..range.end.clamp(from, end) - from,
            }
        };
        let spans = self.open.iter().map(clipped).collect();
        entities::resolve(Fragment { text: self.text[from..end].to_owned(), spans })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::render::render;
    use super::super::tests::{assert_valid, markdown, tagged};
    use super::*;

    #[test]
    fn borders_are_taken_by_rank() {
        let cases: [(&str, usize, &[&str]); 14] = [
            ("", 10, &[]),
            ("short", 10, &["short"]),
            ("one two\n\nthree four five", 16, &["one two", "three four five"]),
            ("one two\nthree four five", 16, &["one two", "three four five"]),
            ("One two. Three four five", 16, &["One two.", "Three four five"]),
            ("one two three four", 10, &["one two", "three four"]),
            ("**one two three four**", 10, &["{b:one two}", "{b:three four}"]),
            ("abcdefghijkl", 5, &["abcde", "fghij", "kl"]),
            ("😀😀😀", 3, &["😀", "😀", "😀"]),
            ("ab👨‍👩‍👧cd", 9, &["ab", "👨‍👩‍👧c", "d"]),
            ("aae\u{301}e\u{301}", 5, &["aae\u{301}", "e\u{301}"]),
            ("🇩🇪🇫🇷🇮🇹", 7, &["🇩🇪", "🇫🇷", "🇮🇹"]),
            ("see `ab cd` ef", 8, &["see", "{c:ab cd} ef"]),
            (
                "```rust\nfn a() {\n    b\n    c\n}\n```",
                14,
                &["{pre=rust:fn a() {\n    b}", "{pre=rust:    c\n}}"],
            ),
        ];
        for (source, limit, expected) in cases {
            let pieces: Vec<String> = split(render(source), limit).iter().map(tagged).collect();
            assert_eq!(pieces, expected, "{source:?}");
        }
    }

    #[test]
    fn a_message_has_at_most_a_hundred_entities() {
        let pieces = split(render(&"`a` ".repeat(250)), 4096);
        let counts: Vec<usize> = pieces.iter().map(|piece| piece.entities.len()).collect();
        assert_eq!(counts, [100, 100, 50]);
    }

    #[test]
    fn a_long_run_of_joined_characters_is_cut_between_characters() {
        let text = format!("a{}", "\u{301}".repeat(20));
        let pieces = split(Formatted { text, entities: Vec::new() }, 8);
        assert_eq!(pieces.iter().map(|piece| piece.text.chars().count()).collect::<Vec<_>>(), [8, 8, 5]);
    }

    #[test]
    fn sections_carry_on_only_what_reaches_into_them() {
        let text = "ab\n".repeat(1000);
        let bold = |offset: usize, length: usize| Entity { kind: EntityKind::Bold, offset, length };
        let mut entities = vec![bold(0, 3000)];
        entities.extend((0..1000).map(|line| Entity { kind: EntityKind::Italic, ..bold(line * 3, 2) }));
        let offsets = entities::utf16_offsets(&text);
        let mut source = SplitSource::new(Formatted { text, entities }, offsets);
        for line in 0..1000 {
            let piece = source.piece(line * 3, line * 3 + 2);
            assert_eq!((tagged(&piece).as_str(), source.open.len()), ("{b:{i:ab}}", 2));
        }
    }

    fn assert_pieces(formatted: Formatted, limit: usize) {
        let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let whole = squeezed(&formatted.text);
        let pieces = split(formatted, limit);
        for piece in &pieces {
            assert_valid(piece);
            assert!(piece.text.encode_utf16().count() <= limit && !piece.text.trim().is_empty(), "{piece:?}");
            assert!(piece.entities.len() <= MAX_ENTITIES);
        }
        assert_eq!(pieces.iter().map(|piece| squeezed(&piece.text)).collect::<String>(), whole);
    }

    proptest! {
        #[test]
        fn pieces_keep_the_text_and_the_limit(source in markdown(), limit in 2..120_usize) {
            assert_pieces(render(&source), limit);
        }

        #[test]
        fn pieces_of_any_text_keep_the_limit(source in "[\\PC\n]{0,300}", limit in 2..40_usize) {
            assert_pieces(render(&source), limit);
        }
    }
}
