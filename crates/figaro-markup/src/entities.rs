//! Turns loose byte spans into entities that Telegram accepts. Called at the end of rendering and of splitting.
//!
//! Rules: quotes never nest; links, code and preformatted text exclude each other; styles nest in anything except
//! code; two entities are disjoint, or one contains the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::formatted::{Entity, EntityKind, Formatted};
use super::out::{EntityRange, Fragment};

const STYLES: [EntityKind; 5] = [
    EntityKind::Bold,
    EntityKind::Italic,
    EntityKind::Underline,
    EntityKind::Strikethrough,
    EntityKind::Spoiler,
];

/// Trims the text and makes its entities valid.
pub(super) fn resolve(fragment: Fragment) -> Formatted {
    let Fragment { text, spans } = settle(fragment);
    let entities = in_utf16(&text, spans);
    Formatted { text, entities }
}

/// Trims the text and makes its spans valid, in the order of entities.
pub(super) fn settle(fragment: Fragment) -> Fragment {
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
    Fragment { text: text[body].to_owned(), spans: nested }
}

/// Returns the number of UTF-16 units before each byte of the text, and at its end.
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

fn in_utf16(text: &str, spans: Vec<EntityRange>) -> Vec<Entity> {
    let offsets = utf16_offsets(text);
    let entity = |EntityRange { kind, range }: EntityRange| {
        let offset = offsets[range.start];
        Entity { kind, offset, length: offsets[range.end] - offset }
    };
    spans.into_iter().map(entity).collect()
}

/// Runs of white space of a text, in order. Each run is found once, not for every span that begins or ends in it.
struct Blanks(Vec<Blank>);

/// Run of white space.
struct Blank {
    start: usize,
    end: usize,
    /// Position after its last line end; `None` without one.
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

    /// Returns the run that covers or begins at this position.
    fn from(&self, at: usize) -> Option<&Blank> {
        let next = self.0.partition_point(|run| run.end <= at);
        self.0.get(next).filter(|run| run.start <= at)
    }

    /// Returns the start of the white space before this position.
    fn before(&self, at: usize) -> usize {
        let next = self.0.partition_point(|run| run.end < at);
        self.0.get(next).filter(|run| run.start < at).map_or(at, |run| run.start)
    }
}

/// Drops blank lines around preformatted spans and returns the starts of these spans. Trimming stops there, because
/// their first line keeps its indent, as it does in Telegram.
fn settle_pres(blanks: &Blanks, spans: &mut [EntityRange]) -> Vec<usize> {
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

/// Trims white space at both ends of a range, but not past the `starts` of preformatted text.
fn trim(blanks: &Blanks, range: Range<usize>, starts: &[usize]) -> Range<usize> {
    let end = blanks.before(range.end).max(range.start);
    let mut start = blanks.from(range.start).map_or(range.start, |run| run.end).min(end);
    let next = starts.partition_point(|at| *at < range.start);
    if let Some(kept) = starts.get(next) {
        start = start.min(*kept);
    }
    start..end.max(start)
}

fn is_pre(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Pre { .. })
}

/// Returns the order among entities with the same start.
fn rank(kind: &EntityKind) -> usize {
    match kind {
        EntityKind::Blockquote | EntityKind::ExpandableBlockquote => 0,
        EntityKind::TextLink { .. } => 1,
        EntityKind::Pre { .. } => 2,
        EntityKind::Code => 3,
        EntityKind::Bold => 4,
        EntityKind::Italic => 5,
        EntityKind::Underline => 6,
        EntityKind::Strikethrough => 7,
        EntityKind::Spoiler => 8,
    }
}

fn order(span: &EntityRange) -> (usize, Reverse<usize>, usize) {
    (span.range.start, Reverse(span.range.end), rank(&span.kind))
}

/// Returns the quotes, with overlapping ones merged.
fn quotes(spans: &[EntityRange]) -> Vec<EntityRange> {
    let mut found: Vec<EntityRange> = spans.iter().filter(|span| rank(&span.kind) == 0).cloned().collect();
    found.sort_by_key(order);
    let mut merged: Vec<EntityRange> = Vec::new();
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

/// Returns links, code and preformatted text. Of nested ones the outer wins, and none crosses the border of a quote.
fn exclusives(spans: &[EntityRange], quotes: &[EntityRange]) -> Vec<EntityRange> {
    let mut found = Vec::new();
    for span in spans.iter().filter(|span| (1..=3).contains(&rank(&span.kind))) {
        let parts = cut_at_borders(span.range.clone(), quotes);
        found.extend(parts.into_iter().map(|range| EntityRange { kind: span.kind.clone(), range }));
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

/// Returns the styles: merged by kind, removed within code, and cut where they cross a border.
fn styles(spans: &[EntityRange], quotes: &[EntityRange], exclusives: &[EntityRange]) -> Vec<EntityRange> {
    let mut made = Vec::new();
    for kind in STYLES {
        let mut ranges: Vec<_> =
            spans.iter().filter(|span| span.kind == kind).map(|span| span.range.clone()).collect();
        ranges.sort_by_key(|range| range.start);
        for range in merge(ranges) {
            for part in without_code(range, exclusives) {
                for part in cut_at_borders(part, quotes) {
                    let parts = cut_at_borders(part, exclusives);
                    made.extend(parts.into_iter().map(|range| EntityRange { kind: kind.clone(), range }));
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

fn without_code(range: Range<usize>, exclusives: &[EntityRange]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    let first = exclusives.partition_point(|span| span.range.end <= range.start);
    let inside = exclusives[first..].iter().take_while(|span| span.range.start < range.end);
    for code in inside.filter(|span| matches!(span.kind, EntityKind::Code | EntityKind::Pre { .. })) {
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

/// Cuts a range where it crosses the border of one of the disjoint, sorted spans. A range inside or around a span
/// stays whole.
fn cut_at_borders(range: Range<usize>, spans: &[EntityRange]) -> Vec<Range<usize>> {
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

/// Cuts spans that cross the end of an earlier one. Only styles still can.
fn nest(spans: impl Iterator<Item = EntityRange>) -> Vec<EntityRange> {
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
        nested.push(EntityRange { kind: kinds[at].clone(), range: start..stop });
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
            let mut spans = [EntityRange { kind: EntityKind::Pre { language: None }, range }];
            let starts = settle_pres(&blanks, &mut spans);
            prop_assert_eq!(&text[spans[0].range.clone()], wanted);
            prop_assert_eq!(starts.len(), usize::from(!wanted.is_empty()));
        }
    }

    #[test]
    fn white_space_is_read_once_for_all_spans() {
        let text = format!("{}x{}", " ".repeat(1000), "\n".repeat(1000));
        let spans = vec![EntityRange { kind: EntityKind::Bold, range: 0..text.len() }; 1000];
        assert_eq!(Blanks::of(&text).0.len(), 2, "two runs, however many spans begin in them");
        let resolved = resolve(Fragment { text, spans });
        assert_eq!((resolved.text.as_str(), resolved.entities.len()), ("x", 1));
    }
}
