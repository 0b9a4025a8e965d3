//! Converts a fragment of text with spans to the text of a rich message.

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;

use super::super::formatted::EntityKind;
use super::super::formulas::{Formula, Formulas};
use super::super::out::{EntityRange, Fragment};
use super::super::rich_block::{RichBlock, RichInline, RichMark};

/// Punctuation that stays with the formula before it.
const CLOSING: [char; 6] = ['.', ',', ';', ':', '!', '?'];

/// Returns the blocks of a paragraph: its text, and each formula on its own lines as a block.
pub(super) fn paragraph(fragment: &Fragment, formulas: &Formulas) -> Vec<RichBlock> {
    let text = fragment.text.as_str();
    if let [EntityRange { kind: EntityKind::Pre { language }, range }] = fragment.spans.as_slice()
        && *range == (0..text.len())
    {
        return vec![RichBlock::Pre { text: RichInline::Text(text.to_owned()), language: language.clone() }];
    }
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some((at, formula)) = display(text, from, formulas) {
        blocks.extend(words(fragment, from..at.start, formulas));
        let behind = text.get(at.end..).unwrap_or_default();
        let closing = behind.len() - behind.trim_start_matches(CLOSING).len();
        from = at.end + closing;
        let expression = format!("{}{}", formula.body().trim(), &text[at.end..from]);
        blocks.push(RichBlock::MathematicalExpression { expression });
    }
    blocks.extend(words(fragment, from..text.len(), formulas));
    blocks
}

/// Returns a whole fragment as text; `None` if it is empty.
pub(super) fn inline(fragment: &Fragment, formulas: &Formulas) -> Option<RichInline> {
    let mut reader = SpanReader { text: &fragment.text, formulas, spans: fragment.spans.iter().peekable() };
    let mut parts = reader.within(0..fragment.text.len());
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(RichInline::Parts(parts)),
    }
}

/// Returns the first formula from `from` on that has its own lines.
fn display<'a>(text: &str, from: usize, formulas: &'a Formulas) -> Option<(Range<usize>, &'a Formula)> {
    let mut from = from;
    loop {
        let (range, formula) = formulas.first(text.get(from..)?)?;
        let range = range.start + from..range.end + from;
        if formula.display {
            return Some((range, formula));
        }
        from = range.end;
    }
}

fn words(fragment: &Fragment, range: Range<usize>, formulas: &Formulas) -> Option<RichBlock> {
    let text = fragment.text.get(range.clone())?;
    let start = range.start + (text.len() - text.trim_start().len());
    let range = start..start + text.trim().len();
    let clipped = fragment.spans.iter().filter_map(|span| {
        let inside = span.range.start.max(range.start)..span.range.end.min(range.end);
        let moved = inside.start.checked_sub(range.start)?..inside.end.checked_sub(range.start)?;
        (!moved.is_empty()).then(|| EntityRange { kind: span.kind.clone(), range: moved })
    });
    let part = Fragment { spans: clipped.collect(), text: fragment.text.get(range.clone())?.to_owned() };
    inline(&part, formulas).map(|text| RichBlock::Paragraph { text })
}

/// Reads nested spans in order.
struct SpanReader<'a> {
    text: &'a str,
    formulas: &'a Formulas,
    spans: Peekable<Iter<'a, EntityRange>>,
}

impl SpanReader<'_> {
    fn within(&mut self, range: Range<usize>) -> Vec<RichInline> {
        let mut parts = Vec::new();
        let mut at = range.start;
        while let Some(span) = self.spans.next_if(|span| span.range.start < range.end) {
            self.plain(at..span.range.start, &mut parts);
            at = span.range.end;
            let inside = self.within(span.range.clone());
            parts.extend(marked(&span.kind, inside));
        }
        self.plain(at..range.end, &mut parts);
        parts
    }

    /// Adds text without spans, in which formulas are replaced.
    fn plain(&self, range: Range<usize>, parts: &mut Vec<RichInline>) {
        let mut rest = self.text.get(range).unwrap_or_default();
        let text = |text: &str| (!text.is_empty()).then(|| RichInline::Text(text.to_owned()));
        while let Some((at, formula)) = self.formulas.first(rest) {
            parts.extend(text(&rest[..at.start]));
            let expression = formula.body().trim().to_owned();
            parts.push(RichInline::Marked(RichMark::MathematicalExpression { expression }));
            rest = &rest[at.end..];
        }
        parts.extend(text(rest));
    }
}

/// Gives text a format. Quotes have none within a text.
fn marked(kind: &EntityKind, inside: Vec<RichInline>) -> Vec<RichInline> {
    if matches!(kind, EntityKind::Blockquote | EntityKind::ExpandableBlockquote) {
        return inside;
    }
    let text = Box::new(match <[RichInline; 1]>::try_from(inside) {
        Ok([one]) => one,
        Err(several) => RichInline::Parts(several),
    });
    vec![RichInline::Marked(match kind {
        EntityKind::Bold => RichMark::Bold { text },
        EntityKind::Italic => RichMark::Italic { text },
        EntityKind::Underline => RichMark::Underline { text },
        EntityKind::Strikethrough => RichMark::Strikethrough { text },
        EntityKind::Spoiler => RichMark::Spoiler { text },
        EntityKind::TextLink { url } => RichMark::Url { text, url: url.clone() },
        EntityKind::Code
        | EntityKind::Pre { .. }
        | EntityKind::Blockquote
        | EntityKind::ExpandableBlockquote => RichMark::Code { text },
    })]
}
