//! Blocks of a rich message, in the form of the Bot API, and their size. Built by [`mod@super::rich`].

use serde::Serialize;

use figaro_base::text::utf16_len;

/// A rich message: the value of `rich_message` in the Bot API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RichMessage {
    /// Blocks from the top, never empty.
    pub blocks: Vec<RichBlock>,
    /// `true` if the text is written from right to left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_rtl: bool,
}

impl RichMessage {
    /// Adds a line of text below.
    #[must_use]
    pub fn with_line(mut self, line: String) -> Self {
        self.blocks.push(RichBlock::Paragraph { text: RichInline::Text(line) });
        self
    }
}

/// An `InputRichBlock` of the Bot API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RichBlock {
    /// Text without a special form.
    Paragraph { text: RichInline },
    /// Heading. The size is its level, from 1 (largest) to 6.
    Heading { text: RichInline, size: u8 },
    /// Block of code, with its language if known.
    Pre {
        text: RichInline,
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// Line between two blocks.
    Divider,
    /// Formula on its own lines, in LaTeX.
    MathematicalExpression { expression: String },
    /// List with marks or numbers, never empty.
    List { items: Vec<RichItem> },
    /// Quoted blocks, shown with a line beside them.
    Blockquote { blocks: Vec<Self> },
    /// Table: rows of cells, all of the same length.
    Table { cells: Vec<Vec<RichCell>>, is_bordered: bool },
    /// Section of which only the summary shows until it is opened.
    Details { summary: RichInline, blocks: Vec<Self> },
}

/// An `InputRichBlockListItem` of the Bot API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RichItem {
    /// Content of the item, never empty.
    pub blocks: Vec<RichBlock>,
    /// `true` for a task, which has a box.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_checkbox: bool,
    /// `true` for a task that is done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_checked: bool,
    /// Number of the item in an ordered list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// Style of the number: `1` in an ordered list.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub style: Option<&'static str>,
}

/// A `RichBlockTableCell` of the Bot API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RichCell {
    /// Content of the cell; `None` if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<RichInline>,
    /// `true` in the first row.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_header: bool,
    /// `left`, `center` or `right`.
    pub align: &'static str,
    /// Always `middle`.
    pub valign: &'static str,
}

/// A `RichText` of the Bot API: formatted text within a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RichInline {
    /// Text without a format.
    Text(String),
    /// Several parts in a row.
    Parts(Vec<Self>),
    /// Text with a format.
    Marked(RichMark),
}

/// A format of text in a rich message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RichMark {
    Bold { text: Box<RichInline> },
    Italic { text: Box<RichInline> },
    Underline { text: Box<RichInline> },
    Strikethrough { text: Box<RichInline> },
    Spoiler { text: Box<RichInline> },
    Code { text: Box<RichInline> },
    Url { text: Box<RichInline>, url: String },
    MathematicalExpression { expression: String },
}

/// Size of a part of a rich message, in the units of Telegram's limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RichExtent {
    /// Length of the text, in UTF-16 units.
    units: usize,
    /// Number of blocks, with those inside of others. Items of lists and rows of tables count.
    blocks: usize,
    /// Nesting depth. Formats of text count.
    depth: usize,
    /// Maximum number of columns of its tables.
    columns: usize,
    /// `true` if a message with entities cannot show it as well: a table, a heading, a formula, a section to open.
    pub(super) is_rich: bool,
}

impl RichExtent {
    /// Limits of one message (Bot API, `InputRichMessage`): UTF-16 units, blocks, depth, columns of a table.
    const MAX: Self = Self { units: 32_768, blocks: 500, depth: 16, columns: 20, is_rich: true };

    fn of_text(text: &str) -> Self {
        Self { units: utf16_len(text), ..Self::default() }
    }

    fn of_formula(expression: &str) -> Self {
        // A single letter between dollar signs reads as well in text.
        Self { is_rich: expression.contains(['\\', '^', '_', '=', '{']), ..Self::of_text(expression) }
    }

    /// Returns the size of two parts in a row.
    pub(super) fn and(self, next: Self) -> Self {
        Self {
            units: self.units + next.units,
            blocks: self.blocks + next.blocks,
            depth: self.depth.max(next.depth),
            columns: self.columns.max(next.columns),
            is_rich: self.is_rich || next.is_rich,
        }
    }

    fn sum(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::default(), Self::and)
    }

    /// Returns the size as part of one more block.
    const fn in_block(self) -> Self {
        Self { blocks: self.blocks + 1, depth: self.depth + 1, ..self }
    }

    /// Returns `true` if Telegram takes a message of this size.
    pub(super) const fn fits(&self) -> bool {
        self.units <= Self::MAX.units
            && self.blocks <= Self::MAX.blocks
            && self.depth <= Self::MAX.depth
            && self.columns <= Self::MAX.columns
    }
}

impl RichBlock {
    pub(super) fn extent(&self) -> RichExtent {
        let all = |blocks: &[Self]| RichExtent::sum(blocks.iter().map(Self::extent));
        let inside = match self {
            Self::Paragraph { text } | Self::Pre { text, .. } => text.extent(),
            Self::Heading { text, .. } => RichExtent { is_rich: true, ..text.extent() },
            Self::Divider => RichExtent::default(),
            Self::MathematicalExpression { expression } => {
                RichExtent { is_rich: true, ..RichExtent::of_text(expression) }
            }
            Self::List { items } => RichExtent::sum(items.iter().map(|item| all(&item.blocks).in_block())),
            Self::Blockquote { blocks } => all(blocks),
            Self::Table { cells, .. } => {
                let row = |row: &Vec<RichCell>| {
                    let texts = row.iter().filter_map(|cell| cell.text.as_ref()).map(RichInline::extent);
                    RichExtent { columns: row.len(), ..RichExtent::sum(texts) }.in_block()
                };
                RichExtent { is_rich: true, ..RichExtent::sum(cells.iter().map(row)) }
            }
            Self::Details { summary, blocks } => {
                RichExtent { is_rich: true, ..summary.extent().and(all(blocks)) }
            }
        };
        inside.in_block()
    }
}

impl RichInline {
    fn extent(&self) -> RichExtent {
        match self {
            Self::Text(text) => RichExtent::of_text(text),
            Self::Parts(parts) => RichExtent::sum(parts.iter().map(Self::extent)),
            Self::Marked(RichMark::MathematicalExpression { expression }) => {
                RichExtent::of_formula(expression)
            }
            Self::Marked(
                RichMark::Bold { text }
                | RichMark::Italic { text }
                | RichMark::Underline { text }
                | RichMark::Strikethrough { text }
                | RichMark::Spoiler { text }
                | RichMark::Code { text }
                | RichMark::Url { text, .. },
            ) => {
                let inside = text.extent();
                RichExtent { depth: inside.depth + 1, ..inside }
            }
        }
    }
}
