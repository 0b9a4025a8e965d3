//! Text in Telegram's form: plain text with entities.

use std::iter::Peekable;
use std::ops::Range;

use serde::Serialize;

use figaro_base::text::utf16_len;

/// Text with its entities: sorted by offset, longer ones first, properly nested, none empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Formatted {
    pub text: String,
    pub entities: Vec<Entity>,
}

impl Formatted {
    /// Appends another text as a new paragraph.
    #[must_use]
    pub fn followed_by(mut self, more: Self) -> Self {
        if !self.text.is_empty() && !more.text.is_empty() {
            self.text += "\n\n";
        }
        self.with(more)
    }

    /// Appends another text directly.
    #[must_use]
    pub fn with(mut self, more: Self) -> Self {
        let offset = utf16_len(&self.text);
        self.text += &more.text;
        let moved = |entity: Entity| Entity { offset: entity.offset + offset, ..entity };
        self.entities.extend(more.entities.into_iter().map(moved));
        self
    }

    /// Returns `true` if this address is in the text, or is the target of a link.
    #[must_use]
    pub fn shows(&self, address: &str) -> bool {
        let links = self.entities.iter();
        let mut urls = links.filter_map(|entity| match &entity.kind {
            EntityKind::TextLink { url } => Some(url),
            _ => None,
        });
        self.text.contains(address) || urls.any(|url| url == address)
    }

    /// Removes links, for places where previews cannot be turned off. Addresses stay readable, with an invisible
    /// character that keeps Telegram from linking them.
    #[must_use]
    pub fn without_links(self) -> Self {
        let mut text = String::with_capacity(self.text.len());
        // Positions of the inserted characters, in UTF-16 units of the original text.
        let (mut breaks, mut units) = (Vec::new(), 0);
        let mut chars = self.text.chars().peekable();
        let mut last = ' ';
        let codes =
            self.entities.iter().filter(|e| matches!(e.kind, EntityKind::Code | EntityKind::Pre { .. }));
        let mut codes = RangeCursor::new(codes.map(|e| e.offset..e.offset + e.length));
        while let Some(c) = chars.next() {
            text.push(c);
            let at = units;
            units += c.len_utf16();
            let is_inside = !last.is_whitespace() && chars.peek().is_some_and(|next| !next.is_whitespace());
            if is_inside && (is_dot(c) || (last, c) == ('/', '/')) && !codes.hold(at) {
                text.push(WORD_JOINER);
                breaks.push(units);
            }
            last = c;
        }
        let moved = |at: usize| at + breaks.partition_point(|position| *position <= at);
        let entities =
            self.entities.into_iter().filter(|entity| !matches!(entity.kind, EntityKind::TextLink { .. }));
        let entities = entities.map(|entity| {
            let start = moved(entity.offset);
            Entity { offset: start, length: moved(entity.offset + entity.length) - start, ..entity }
        });
        Self { entities: entities.collect(), text }
    }
}

/// Cursor over sorted, disjoint ranges for ascending positions. It visits each range once.
pub(super) struct RangeCursor<I: Iterator<Item = Range<usize>>>(Peekable<I>);

impl<I: Iterator<Item = Range<usize>>> RangeCursor<I> {
    pub(super) fn new(ranges: I) -> Self {
        Self(ranges.peekable())
    }

    /// Returns `true` if some range contains this position. Positions must not descend between calls.
    pub(super) fn hold(&mut self, at: usize) -> bool {
        while self.0.next_if(|range| range.end <= at).is_some() {}
        self.0.peek().is_some_and(|range| range.start <= at)
    }
}

/// Takes no space, and ends what Telegram would recognise as an address.
pub(super) const WORD_JOINER: char = '\u{2060}';

/// Returns `true` if the character separates labels of a host name, as browsers read it.
fn is_dot(c: char) -> bool {
    matches!(c, '.' | '。' | '．' | '｡')
}

/// One `MessageEntity`. Offset and length count UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entity {
    #[serde(flatten)]
    pub kind: EntityKind,
    pub offset: usize,
    pub length: usize,
}

/// Types of `MessageEntity` that an answer can need. Telegram detects the others by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntityKind {
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    Blockquote,
    ExpandableBlockquote,
    Code,
    Pre {
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    TextLink {
        url: String,
    },
}
