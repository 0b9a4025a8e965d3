//! Text as Telegram takes it: words, and the entities over them.

use std::iter::Peekable;
use std::ops::Range;

use serde::Serialize;

use figaro_base::text::utf16_len;

/// Text with the entities over it: sorted by offset, the longer first, properly nested, none empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Formatted {
    pub text: String,
    pub entities: Vec<Entity>,
}

impl Formatted {
    /// This, and more as a paragraph behind it.
    #[must_use]
    pub fn followed_by(mut self, more: Self) -> Self {
        if !self.text.is_empty() && !more.text.is_empty() {
            self.text += "\n\n";
        }
        self.with(more)
    }

    /// This, and more right behind it.
    #[must_use]
    pub fn with(mut self, more: Self) -> Self {
        let offset = utf16_len(&self.text);
        self.text += &more.text;
        let moved = |entity: Entity| Entity { offset: entity.offset + offset, ..entity };
        self.entities.extend(more.entities.into_iter().map(moved));
        self
    }

    /// Whether this address stands in the text, or under it as a link.
    #[must_use]
    pub fn shows(&self, address: &str) -> bool {
        let links = self.entities.iter();
        let mut urls = links.filter_map(|entity| match &entity.kind {
            Kind::TextLink { url } => Some(url),
            _ => None,
        });
        self.text.contains(address) || urls.any(|url| url == address)
    }

    /// The same without links: where Telegram cannot be told to show no preview. Addresses stay readable, with a character
    /// nobody sees in them so that they do not become links by themselves.
    #[must_use]
    pub fn without_links(self) -> Self {
        let mut text = String::with_capacity(self.text.len());
        // Where the character is put in, in UTF-16 units of the text as it was.
        let (mut breaks, mut units) = (Vec::new(), 0);
        let mut chars = self.text.chars().peekable();
        let mut last = ' ';
        let codes = self.entities.iter().filter(|e| matches!(e.kind, Kind::Code | Kind::Pre { .. }));
        let mut codes = Within::new(codes.map(|e| e.offset..e.offset + e.length));
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
            self.entities.into_iter().filter(|entity| !matches!(entity.kind, Kind::TextLink { .. }));
        let entities = entities.map(|entity| {
            let start = moved(entity.offset);
            Entity { offset: start, length: moved(entity.offset + entity.length) - start, ..entity }
        });
        Self { entities: entities.collect(), text }
    }
}

/// Ranges in their order, apart from each other, that are asked for positions in their order: each is looked at once.
pub(super) struct Within<I: Iterator<Item = Range<usize>>>(Peekable<I>);

impl<I: Iterator<Item = Range<usize>>> Within<I> {
    pub(super) fn new(ranges: I) -> Self {
        Self(ranges.peekable())
    }

    /// Whether one of them holds this position, which is not before the last one asked for.
    pub(super) fn hold(&mut self, at: usize) -> bool {
        while self.0.next_if(|range| range.end <= at).is_some() {}
        self.0.peek().is_some_and(|range| range.start <= at)
    }
}

/// Takes no room, and ends what Telegram takes for an address.
pub(super) const WORD_JOINER: char = '\u{2060}';

/// Whether it divides the parts of a host's name, as browsers read it.
fn is_dot(c: char) -> bool {
    matches!(c, '.' | '。' | '．' | '｡')
}

/// One `MessageEntity`; offset and length count UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entity {
    #[serde(flatten)]
    pub kind: Kind,
    pub offset: usize,
    pub length: usize,
}

/// The types of `MessageEntity` that an answer can need; the rest Telegram finds by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Kind {
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
