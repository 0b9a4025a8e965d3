//! Walks the Markdown of an answer and builds the blocks of a rich message, each with its position in the source.

use std::ops::Range;

use pulldown_cmark::{Alignment, Event, Parser, Tag, TagEnd};

use super::super::code::{Code, FileNames};
use super::super::emphasis::bare;
use super::super::entities;
use super::super::formatted::EntityKind;
use super::super::formulas::Formulas;
use super::super::html::{self, Tag as HtmlTag};
use super::super::inline::Inline;
use super::super::options::options;
use super::super::out::Fragment;
use super::super::piece::CodeFile;
use super::super::rich_block::{RichBlock, RichCell, RichInline, RichItem};
use super::text::{inline, paragraph};

/// Maximum number of open containers. Telegram takes no deeper nesting, and hostile input must not exhaust the stack.
const MAX_OPEN: usize = 16;
/// Summary of a section without one.
const NO_SUMMARY: &str = "…";

/// A block that is in no other.
#[derive(Debug)]
pub(super) struct TopBlock {
    /// Start in the source, in bytes.
    pub(super) start: usize,
    pub(super) content: TopContent,
}

#[derive(Debug)]
pub(super) enum TopContent {
    Block(RichBlock),
    /// Code that is too long for a message.
    File(CodeFile),
}

/// Blocks of a source.
#[derive(Debug)]
pub(super) struct BuiltBlocks {
    pub(super) blocks: Vec<TopBlock>,
    /// `true` if the source defines links, which other parts of it may need.
    pub(super) has_definitions: bool,
}

/// Builds the blocks of a source whose formulas are taken out; `None` if it is nested too deeply.
pub(super) fn build(source: &str, formulas: &Formulas) -> Option<BuiltBlocks> {
    let mut builder = RichBuilder {
        inline: Inline::with_formulas_kept(source, formulas),
        open: Vec::new(),
        done: Vec::new(),
        start: 0,
        code: None,
        names: FileNames::default(),
        label: None,
    };
    let parser = Parser::new_ext(source, options(source)).into_offset_iter();
    let definitions = parser.reference_definitions().iter();
    let mut definitions: Vec<_> =
        definitions.map(|(label, def)| (def.span.start, label.to_owned(), def.dest.to_string())).collect();
    definitions.sort();
    for (event, range) in parser {
        builder.event(event, range);
        if builder.open.len() >= MAX_OPEN {
            return None;
        }
    }
    builder.close_html();
    for (_, label, address) in &definitions {
        builder.definition(label, address);
    }
    builder.flush();
    Some(BuiltBlocks { blocks: builder.done, has_definitions: !definitions.is_empty() })
}

/// Block that is not complete yet.
#[derive(Debug)]
enum OpenBlock {
    /// List with the next number; `None` for bullets.
    List(Option<u64>, Vec<RichItem>),
    Item(RichItem),
    Quote(Vec<RichBlock>),
    /// Quote written as an HTML element, which ends at its closing tag.
    HtmlQuote(Vec<RichBlock>),
    Details(Option<RichInline>, Vec<RichBlock>),
    Table(Vec<Alignment>, Vec<Vec<RichCell>>),
}

#[derive(Debug)]
struct RichBuilder<'a> {
    inline: Inline<'a>,
    open: Vec<OpenBlock>,
    done: Vec<TopBlock>,
    /// Start of the current block that is in no other.
    start: usize,
    code: Option<Code>,
    names: FileNames,
    /// Label of a footnote whose text follows.
    label: Option<String>,
}

impl RichBuilder<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range.start),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&self.inline.formulas.restored(&text)),
                None => self.inline.text(&bare(&text), range.start),
            },
            Event::Code(code) => {
                let start = self.inline.out.len();
                self.inline.out.push(&self.inline.formulas.restored(&code));
                self.inline.out.span(EntityKind::Code, start);
            }
            Event::InlineHtml(text) => self.inline.html(&self.inline.formulas.restored(&text)),
            Event::Html(text) => self.html(&self.inline.formulas.restored(&text)),
            Event::SoftBreak | Event::HardBreak => self.inline.line_break(range.end),
            Event::Rule => {
                self.block(range.start);
                self.put(RichBlock::Divider);
            }
            Event::TaskListMarker(done) => {
                if let Some(OpenBlock::Item(item)) = self.open.last_mut() {
                    (item.has_checkbox, item.is_checked) = (true, done);
                }
            }
            Event::FootnoteReference(label) => self.inline.out.push(&format!("[{}]", bare(&label))),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.inline.out.push(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>, start: usize) {
        match tag {
            Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. } => {
                let url = self.inline.formulas.restored(&dest_url);
                return self.inline.start_link(link_type, &url, &id);
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => {
                return self.inline.start_style(&tag, start);
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(OpenBlock::Table(_, rows)) = self.open.last_mut() {
                    rows.push(Vec::new());
                }
                return;
            }
            Tag::TableCell => return self.inline.in_cell = true,
            _ => self.block(start),
        }
        match tag {
            Tag::BlockQuote(_) => self.open.push(OpenBlock::Quote(Vec::new())),
            Tag::CodeBlock(kind) => self.code = Some(Code::new(&kind)),
            Tag::List(first) => self.open.push(OpenBlock::List(first, Vec::new())),
            Tag::Item => self.start_item(),
            Tag::FootnoteDefinition(label) => self.label = Some(bare(&label).into_owned()),
            Tag::Paragraph => self.push_label(),
            Tag::Table(alignments) => self.open.push(OpenBlock::Table(alignments, Vec::new())),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis => self.inline.end_style(EntityKind::Italic),
            TagEnd::Strong => self.inline.end_style(EntityKind::Bold),
            TagEnd::Strikethrough => self.inline.end_style(EntityKind::Strikethrough),
            TagEnd::Link | TagEnd::Image => self.inline.end_link(),
            TagEnd::Heading(level) => {
                if let Some(text) = self.text() {
                    self.put(RichBlock::Heading { text, size: level as u8 });
                }
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::TableCell => self.end_cell(),
            TagEnd::FootnoteDefinition => {
                self.push_label();
                self.flush();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::Table => {
                self.close_html();
                self.close();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            _ => {}
        }
    }

    /// Begins a block. Text of a list item may stand before it.
    fn block(&mut self, start: usize) {
        self.flush();
        self.inline.start_block();
        if self.open.is_empty() {
            self.start = start;
        }
    }

    fn start_item(&mut self) {
        let Some(OpenBlock::List(next, _)) = self.open.last_mut() else { return };
        let value = *next;
        *next = next.map(|number| number + 1);
        let style = value.map(|_| "1");
        self.open.push(OpenBlock::Item(RichItem { value, style, ..RichItem::default() }));
    }

    fn push_label(&mut self) {
        if let Some(label) = self.label.take() {
            self.inline.out.push(&format!("[{label}] "));
        }
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        if !self.open.is_empty() || !code.is_long() {
            self.inline.out.push_pre(&code.text, code.language());
            return self.flush();
        }
        let content = TopContent::File(code.into_file(&mut self.names));
        self.done.push(TopBlock { start: self.start, content });
    }

    fn end_cell(&mut self) {
        let text = self.text();
        self.inline.in_cell = false;
        let Some(OpenBlock::Table(alignments, rows)) = self.open.last_mut() else { return };
        let is_header = rows.len() == 1;
        let Some(row) = rows.last_mut() else { return };
        let align = match alignments.get(row.len()) {
            Some(Alignment::Center) => "center",
            Some(Alignment::Right) => "right",
            Some(Alignment::Left | Alignment::None) | None => "left",
        };
        row.push(RichCell { text, is_header, align, valign: "middle" });
    }

    /// Shows a link definition that nothing refers to, as in a list of sources.
    fn definition(&mut self, label: &str, address: &str) {
        if !self.inline.is_used(label) {
            let line = format!("[{label}]: {address}");
            self.inline.out.lines(1);
            self.inline.out.push(&self.inline.formulas.restored(&line));
        }
    }

    /// Reads HTML between blocks, in which some tags hold blocks.
    fn html(&mut self, text: &str) {
        let (mut rest, mut from) = (text, 0);
        while let Some((range, tag)) = rest.get(from..).and_then(html::next_tag) {
            let range = range.start + from..range.end + from;
            from = range.end;
            let (HtmlTag::Open(name, _) | HtmlTag::Close(name)) = tag else { continue };
            if !matches!(name, "details" | "summary" | "blockquote") {
                continue;
            }
            self.inline.html(&rest[..range.start]);
            let is_known = match tag {
                HtmlTag::Open(..) => self.open_tag(name),
                HtmlTag::Close(_) | HtmlTag::Break => self.close_tag(name),
            };
            if !is_known {
                self.inline.html(&rest[range.clone()]);
            }
            (rest, from) = (&rest[range.end..], 0);
        }
        self.inline.html(rest);
    }

    fn open_tag(&mut self, name: &str) -> bool {
        self.flush();
        match name {
            "details" => self.open.push(OpenBlock::Details(None, Vec::new())),
            "blockquote" => self.open.push(OpenBlock::HtmlQuote(Vec::new())),
            _ => {}
        }
        true
    }

    fn close_tag(&mut self, name: &str) -> bool {
        match (name, self.open.last()) {
            ("summary", Some(OpenBlock::Details(None, _))) => {
                let text = self.text();
                if let Some(OpenBlock::Details(summary, _)) = self.open.last_mut() {
                    *summary = text;
                }
            }
            ("details", Some(OpenBlock::Details(..))) | ("blockquote", Some(OpenBlock::HtmlQuote(_))) => {
                self.flush();
                self.close();
            }
            _ => return false,
        }
        true
    }

    /// Ends HTML containers that were not closed within the block around them.
    fn close_html(&mut self) {
        self.flush();
        while matches!(self.open.last(), Some(OpenBlock::Details(..) | OpenBlock::HtmlQuote(_))) {
            self.close();
        }
    }

    /// Ends the innermost container. One without content is left out.
    fn close(&mut self) {
        match self.open.pop() {
            Some(OpenBlock::Item(item)) if !item.blocks.is_empty() => {
                if let Some(OpenBlock::List(_, items)) = self.open.last_mut() {
                    items.push(item);
                }
            }
            Some(OpenBlock::List(_, items)) if !items.is_empty() => self.put(RichBlock::List { items }),
            Some(OpenBlock::Quote(blocks) | OpenBlock::HtmlQuote(blocks)) if !blocks.is_empty() => {
                self.put(RichBlock::Blockquote { blocks });
            }
            Some(OpenBlock::Details(summary, blocks)) if !blocks.is_empty() => {
                let summary = summary.unwrap_or_else(|| RichInline::Text(NO_SUMMARY.to_owned()));
                self.put(RichBlock::Details { summary, blocks });
            }
            Some(OpenBlock::Details(Some(text), _)) => self.put(RichBlock::Paragraph { text }),
            Some(OpenBlock::Table(_, cells)) => self.put(RichBlock::Table { cells, is_bordered: true }),
            _ => {}
        }
    }

    /// Adds a complete block to the container around it.
    fn put(&mut self, block: RichBlock) {
        match self.open.last_mut() {
            Some(OpenBlock::Item(RichItem { blocks, .. }))
            | Some(OpenBlock::Quote(blocks) | OpenBlock::HtmlQuote(blocks) | OpenBlock::Details(_, blocks)) =>
            {
                blocks.push(block);
            }
            Some(OpenBlock::List(..) | OpenBlock::Table(..)) | None => {
                self.done.push(TopBlock { start: self.start, content: TopContent::Block(block) });
            }
        }
    }

    fn flush(&mut self) {
        let fragment = self.fragment();
        for block in paragraph(&fragment, self.inline.formulas) {
            self.put(block);
        }
    }

    fn text(&mut self) -> Option<RichInline> {
        inline(&self.fragment(), self.inline.formulas)
    }

    fn fragment(&mut self) -> Fragment {
        entities::settle(std::mem::take(&mut self.inline.out).finish(false))
    }
}
