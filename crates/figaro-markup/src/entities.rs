//! Turns loose byte spans into entities that Telegram accepts. Called at the end of rendering and of splitting.
//!
//! Its rules: quotes never nest; links, code and preformatted text exclude each other; styles nest in anything but
//! code; two entities are apart or one holds the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::formatted::{Entity, Formatted, Kind};
use super::out::{Fragment, Span};

const STYLES: [Kind; 5] = [Kind::Bold, Kind::Italic, Kind::Underline, Kind::Strikethrough, Kind::Spoiler];

/// Trims the text and makes its entities valid.
pub(super) fn resolve(fragment: Fragment) -> Formatted {
    let Fragment { text, mut spans } = fragment;
    let blanks = Blanks::of(&text);
    let starts = settle_pres(&blanks, &mut spans);
    for span in &mut spans {
        span.range = trim(&blanks, span.range.clone(), &starts);
    }
    spans.retain(|span| !span.range.is_empty());
    let quotes = quotes(&spans);
    let exclusives = exclusives(&spans, &quotes);
    let styles = styles(&spans, &quotes, &exclusives);
    let starts: Vec<_> =
        exclusives.iter().filter(|span| is_pre(&span.kind)).map(|span| span.range.start).collect();
    let mut nested = nest(quotes.into_iter().chain(exclusives).chain(styles));
    for span in &mut nested {
        span.range = trim(&blanks, span.range.clone(), &starts);
    }
    nested.retain(|span| !span.range.is_empty());
    nested.sort_by_key(order);

    let body = trim(&blanks, 0..text.len(), &starts);
    for span in &mut nested {
        span.range = span.range.start - body.start..span.range.end - body.start;
    }
    let text = text[body].to_owned();
    let entities = in_utf16(&text, nested);
    Formatted { text, entities }
}

/// Units of UTF-16 before each byte of the text, and behind it.
pub(super) fn utf16_offsets(text: &str) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(text.len() + 1);
    let mut units = 0;
    for c in text.chars() {
        offsets.extend(std::iter::repeat_n(units, c.len_utf8()));
        units += c.len_utf16();
    }
    offsets.push(units);
    offsets
}

fn in_utf16(text: &str, spans: Vec<Span>) -> Vec<Entity> {
    let offsets = utf16_offsets(text);
    let entity = |Span { kind, range }: Span| {
        let offset = offsets[range.start];
        Entity { kind, offset, length: offsets[range.end] - offset }
    };
    spans.into_iter().map(entity).collect()
}

/// The white space of a text, in its order: no run of it is read again for every span that begins or ends in it.
struct Blanks(Vec<Blank>);

/// A run of white space.
struct Blank {
    start: usize,
    end: usize,
    /// Behind its last line end.
    line: Option<usize>,
}

impl Blanks {
    fn of(text: &str) -> Self {
        let mut runs: Vec<Blank> = Vec::new();
        for (at, c) in text.char_indices().filter(|(_, c)| c.is_whitespace()) {
            let end = at + c.len_utf8();
            let line = (c == '\n').then_some(end);
            match runs.last_mut().filter(|run| run.end == at) {
                Some(run) => (run.end, run.line) = (end, line.or(run.line)),
                None => runs.push(Blank { start: at, end, line }),
            }
        }
        Self(runs)
    }

    /// The run that goes on or begins here.
    fn from(&self, at: usize) -> Option<&Blank> {
        let next = self.0.partition_point(|run| run.end <= at);
        self.0.get(next).filter(|run| run.start <= at)
    }

    /// Where the white space before this place begins.
    fn before(&self, at: usize) -> usize {
        let next = self.0.partition_point(|run| run.end < at);
        self.0.get(next).filter(|run| run.start < at).map_or(at, |run| run.start)
    }
}

/// Drops blank lines around preformatted spans and tells where these start: their first line keeps its indent, so
/// trimming stops there. Telegram's does as well.
fn settle_pres(blanks: &Blanks, spans: &mut [Span]) -> Vec<usize> {
    let mut starts = Vec::new();
    for span in spans.iter_mut().filter(|span| is_pre(&span.kind)) {
        let Range { start, end } = span.range;
        let blank = blanks.from(start);
        let first = match blank {
            Some(blank) if blank.end >= end => end,
            Some(blank) => blank.line.map_or(start, |line| line.max(start)),
            None => start,
        };
        span.range = first..blanks.before(end).max(first);
        if !span.range.is_empty() {
            starts.push(first);
        }
    }
    starts.sort_unstable();
    starts
}

/// The range without white space at its ends; `starts` of preformatted text are not passed.
fn trim(blanks: &Blanks, range: Range<usize>, starts: &[usize]) -> Range<usize> {
    let end = blanks.before(range.end).max(range.start);
    let mut start = blanks.from(range.start).map_or(range.start, |run| run.end).min(end);
    let next = starts.partition_point(|at| *at < range.start);
    if let Some(kept) = starts.get(next) {
        start = start.min(*kept);
    }
    start..end.max(start)
}

fn is_pre(kind: &Kind) -> bool {
    matches!(kind, Kind::Pre { .. })
}

/// The place among entities with the same start.
fn rank(kind: &Kind) -> usize {
    match kind {
        Kind::Blockquote | Kind::ExpandableBlockquote => 0,
        Kind::TextLink { .. } => 1,
        Kind::Pre { .. } => 2,
        Kind::Code => 3,
        Kind::Bold => 4,
        Kind::Italic => 5,
        Kind::Underline => 6,
        Kind::Strikethrough => 7,
        Kind::Spoiler => 8,
    }
}

fn order(span: &Span) -> (usize, Reverse<usize>, usize) {
    (span.range.start, Reverse(span.range.end), rank(&span.kind))
}

/// Quotes, the overlapping ones made one.
fn quotes(spans: &[Span]) -> Vec<Span> {
    let mut found: Vec<Span> = spans.iter().filter(|span| rank(&span.kind) == 0).cloned().collect();
    found.sort_by_key(order);
    let mut merged: Vec<Span> = Vec::new();
    for span in found {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end)
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Links, code and preformatted text: the outer one wins, and none crosses the border of a quote.
fn exclusives(spans: &[Span], quotes: &[Span]) -> Vec<Span> {
    let mut found = Vec::new();
    for span in spans.iter().filter(|span| (1..=3).contains(&rank(&span.kind))) {
        let parts = cut_at_borders(span.range.clone(), quotes);
        found.extend(parts.into_iter().map(|range| Span { kind: span.kind.clone(), range }));
    }
    found.sort_by_key(order);
    let mut end = 0;
    found.retain(|span| {
        let free = span.range.start >= end;
        if free {
            end = span.range.end;
        }
        free
    });
    found
}

/// Styles, each kind merged, cut out of code and cut where they cross a border.
fn styles(spans: &[Span], quotes: &[Span], exclusives: &[Span]) -> Vec<Span> {
    let mut made = Vec::new();
    for kind in STYLES {
        let mut ranges: Vec<_> =
            spans.iter().filter(|span| span.kind == kind).map(|span| span.range.clone()).collect();
        ranges.sort_by_key(|range| range.start);
        for range in merge(ranges) {
            for part in without_code(range, exclusives) {
                for part in cut_at_borders(part, quotes) {
                    let parts = cut_at_borders(part, exclusives);
                    made.extend(parts.into_iter().map(|range| Span { kind: kind.clone(), range }));
                }
            }
        }
    }
    made
}

fn merge(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn without_code(range: Range<usize>, exclusives: &[Span]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    let first = exclusives.partition_point(|span| span.range.end <= range.start);
    let inside = exclusives[first..].iter().take_while(|span| span.range.start < range.end);
    for code in inside.filter(|span| matches!(span.kind, Kind::Code | Kind::Pre { .. })) {
        if start < code.range.start {
            parts.push(start..code.range.start);
        }
        start = code.range.end;
    }
    if start < range.end {
        parts.push(start..range.end);
    }
    parts
}

/// Cuts a range where it crosses the border of one of the disjoint, sorted spans; inside or around one it is whole.
fn cut_at_borders(range: Range<usize>, spans: &[Span]) -> Vec<Range<usize>> {
    let holding = |at: usize| {
        let next = spans.partition_point(|span| span.range.end <= at);
        spans.get(next).map(|span| span.range.clone()).filter(|span| span.start < at)
    };
    let head = holding(range.start).map(|span| span.end).filter(|end| *end < range.end);
    let tail = holding(range.end).map(|span| span.start).filter(|start| *start > range.start);
    let mut parts = Vec::new();
    let mut start = range.start;
    for at in head.into_iter().chain(tail) {
        if at > start {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..range.end);
    parts
}

/// Cuts spans that cross an earlier one at its end. Only styles still can.
fn nest(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut kinds = Vec::new();
    let mut waiting = BinaryHeap::new();
    for span in spans {
        waiting.push(Reverse((order(&span), kinds.len())));
        kinds.push(span.kind);
    }
    let mut nested = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    while let Some(Reverse(((start, Reverse(end), rank), at))) = waiting.pop() {
        while open.last().is_some_and(|end| *end <= start) {
            open.pop();
        }
        let stop = open.last().map_or(end, |outer| end.min(*outer));
        if stop < end {
            waiting.push(Reverse(((stop, Reverse(end), rank), at)));
        }
        open.push(stop);
        nested.push(Span { kind: kinds[at].clone(), range: start..stop });
    }
    nested
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As if each span were read by itself.
        #[test]
        fn ranges_are_trimmed_as_their_text_is(text in "[ab \n\t\u{a0}]{0,30}", cut: (prop::sample::Index, prop::sample::Index)) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (one, other) = (*cut.0.get(&places), *cut.1.get(&places));
            let range = one.min(other)..one.max(other);
            let (blanks, body) = (Blanks::of(&text), &text[range.clone()]);
            let trimmed = trim(&blanks, range.clone(), &[]);
            prop_assert_eq!(&text[trimmed.clone()], body.trim());
            prop_assert!(range.start <= trimmed.start && trimmed.end <= range.end);

            let lines = body.split_inclusive('\n').take_while(|line| line.trim().is_empty());
            let blank: usize = lines.map(str::len).sum();
            let wanted = body[blank..].trim_end();
            let mut spans = [Span { kind: Kind::Pre { language: None }, range }];
            let starts = settle_pres(&blanks, &mut spans);
            prop_assert_eq!(&text[spans[0].range.clone()], wanted);
            prop_assert_eq!(starts.len(), usize::from(!wanted.is_empty()));
        }
    }

    #[test]
    fn white_space_is_read_once_for_all_spans() {
        let text = format!("{}x{}", " ".repeat(1000), "\n".repeat(1000));
        let spans = vec![Span { kind: Kind::Bold, range: 0..text.len() }; 1000];
        assert_eq!(Blanks::of(&text).0.len(), 2, "two runs, however many spans begin in them");
        let resolved = resolve(Fragment { text, spans });
        assert_eq!((resolved.text.as_str(), resolved.entities.len()), ("x", 1));
    }
}
