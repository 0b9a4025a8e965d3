//! Walks the Markdown of a whole answer and writes it as text with spans. Called for [`super::render()`] and, with
//! the source prepared, for [`super::render_partial()`].

use std::cell::Cell;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, Event, LinkType, Parser, Tag, TagEnd};

use super::code::{Code, FileNames};
use super::emphasis::{bare, guarded};
use super::entities;
use super::formatted::{EntityKind, Formatted};
use super::formulas::{Formulas, take_out};
use super::inline::{Inline, MAX_INDENT};
use super::options::options;
use super::out::Out;
use super::piece::{CLIP, CUT, CodeFile};
use super::table::{MarkdownTable, TableLayout};

/// Renders a complete Markdown answer as text with entities.
#[must_use]
pub fn render(markdown: &str) -> Formatted {
    let (text, formulas) = take_out(markdown, false);
    walk(&guarded(text), &formulas, false)
}

/// Rendered Markdown with its long code taken out.
#[derive(Debug)]
pub(super) struct RenderedMarkdown {
    /// Text with [`CUT`] in place of each file.
    pub(super) text: Formatted,
    pub(super) files: Vec<CodeFile>,
    /// Names that are taken now.
    pub(super) names: FileNames,
    /// Kind of later text that may still change it.
    pub(super) waits: Waits,
}

/// Kind of later text that a text waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waits {
    /// Nothing can change the text.
    Nothing,
    /// A reference waits for its address or note, or a tag for its partner. Mostly there is none, and the text reads
    /// well as it is.
    Words,
    /// A quote or code waits for its end, or a link definition for its references.
    Blocks,
}

/// Renders Markdown after files with these names.
pub(super) fn render_with_files(markdown: &str, names: FileNames) -> RenderedMarkdown {
    let (text, formulas) = take_out(markdown, false);
    let text = guarded(text);
    let mut walker = Walker { files: Some(Vec::new()), names, ..Walker::new(&text, &formulas, false) };
    let text = walker.walk();
    let Walker { files, names, waits, .. } = walker;
    RenderedMarkdown { text, files: files.unwrap_or_default(), names, waits }
}

/// Renders prepared source. `open_end` is `true` if it is half-written; tags and spoilers left open then extend to
/// its end.
pub(super) fn walk(source: &str, formulas: &Formulas, open_end: bool) -> Formatted {
    Walker::new(source, formulas, open_end).walk()
}

/// Returns `true` if a reference is probably a link. `[1]` alone and `a[i][j]` often are not, and read well without
/// an address.
fn waits_for_definition(source: &str, link: &BrokenLink<'_>) -> bool {
    let is_reference = matches!(link.link_type, LinkType::Reference | LinkType::Collapsed);
    let before = source.get(..link.span.start).and_then(|before| before.chars().next_back());
    let is_index = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'));
    let is_number = link.reference.bytes().all(|b| b.is_ascii_digit());
    (is_reference && !is_index && !is_number) || link.reference.starts_with('^')
}

#[derive(Debug)]
struct Walker<'a> {
    inline: Inline<'a>,
    open_end: bool,
    /// End of the source without trailing white space.
    end: usize,
    lines: SourceLines,
    /// Next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    quotes: usize,
    quote_start: usize,
    code: Option<Code>,
    /// Long code taken out so far; `None` if code stays in the text.
    files: Option<Vec<CodeFile>>,
    names: FileNames,
    table: Option<MarkdownTable>,
    /// Buffer around the current table cell.
    around: Option<Out>,
    waits: Waits,
}

impl<'a> Walker<'a> {
    fn new(source: &'a str, formulas: &'a Formulas, open_end: bool) -> Self {
        Self {
            inline: Inline::new(source, formulas),
            open_end,
            end: source.trim_end().len(),
            lines: SourceLines::new(source),
            lists: Vec::new(),
            quotes: 0,
            quote_start: 0,
            code: None,
            files: None,
            names: FileNames::default(),
            table: None,
            around: None,
            waits: Waits::Nothing,
        }
    }

    fn walk(&mut self) -> Formatted {
        let source = self.inline.source;
        let waits = Cell::new(false);
        let unknown = |link: BrokenLink<'_>| {
            waits.set(waits.get() || waits_for_definition(source, &link));
            None
        };
        let parser = Parser::new_with_broken_link_callback(source, options(source), Some(unknown));
        let parser = parser.into_offset_iter();
        let definitions = parser.reference_definitions().iter();
        let mut definitions: Vec<_> = definitions
            .map(|(label, def)| (def.span.start, label.to_owned(), def.dest.to_string()))
            .collect();
        definitions.sort();
        for (event, range) in parser {
            self.event(event, range);
        }
        self.wait(waits.get() || self.inline.out.has_open_tags(), Waits::Words);
        self.wait(!definitions.is_empty() || self.inline.out.has_open_blocks(), Waits::Blocks);
        for (start, label, address) in definitions {
            self.definition(start, &label, &address);
        }
        entities::resolve(std::mem::take(&mut self.inline.out).finish(self.open_end))
    }

    fn wait(&mut self, does: bool, what: Waits) {
        self.waits = self.waits.max(if does { what } else { Waits::Nothing });
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.end(tag, &range),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&self.inline.formulas.restored(&text)),
                None => {
                    // Footnote without a definition so far.
                    let is_note = self.inline.source[range.end..].starts_with('^') && text.ends_with('[');
                    self.wait(is_note || text.contains("[^"), Waits::Words);
                    self.inline.text(&bare(&text), range.start);
                }
            },
            Event::Code(code) => {
                let start = self.inline.out.len();
                self.inline.out.push(&self.inline.formulas.restored(&code));
                self.inline.out.span(EntityKind::Code, start);
            }
            Event::InlineHtml(text) | Event::Html(text) => {
                self.inline.html(&self.inline.formulas.restored(&text));
            }
            Event::SoftBreak | Event::HardBreak => self.inline.line_break(range.end),
            Event::Rule => {
                self.block(range.start);
                self.inline.out.push("———");
                self.inline.out.lines(1);
            }
            Event::TaskListMarker(done) => self.inline.out.task(done),
            Event::FootnoteReference(label) => self.inline.out.push(&format!("[{}]", bare(&label))),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.inline.out.push(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Heading { .. } => {
                self.block(range.start);
                if !self.inline.out.after_marker() {
                    self.inline.out.lines(2);
                }
                self.inline.start_heading();
            }
            Tag::BlockQuote(_) => self.start_quote(range.start),
            Tag::CodeBlock(kind) => {
                self.block(range.start);
                self.code = Some(Code::new(&kind));
            }
            Tag::List(first) => self.lists.push(first),
            Tag::Item => self.start_item(range.start),
            Tag::FootnoteDefinition(label) => {
                self.wait(true, Waits::Words);
                self.block(range.start);
                self.inline.out.marker(&format!("[{}]", bare(&label)));
            }
            Tag::Paragraph | Tag::HtmlBlock => self.block(range.start),
            Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell => {
                self.start_table(tag, range.start)
            }
            Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. } => {
                let url = self.inline.formulas.restored(&dest_url);
                self.inline.start_link(link_type, &url, &id);
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => self.inline.start_style(&tag, range.start),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Emphasis => self.inline.end_style(EntityKind::Italic),
            TagEnd::Strong => self.inline.end_style(EntityKind::Bold),
            TagEnd::Strikethrough => self.inline.end_style(EntityKind::Strikethrough),
            TagEnd::Heading(_) => {
                self.inline.end_style(EntityKind::Bold);
                self.inline.out.lines(2);
            }
            TagEnd::Link | TagEnd::Image => self.inline.end_link(),
            TagEnd::BlockQuote(_) => {
                self.quotes -= 1;
                if self.quotes == 0 {
                    self.inline.out.span(EntityKind::Blockquote, self.quote_start);
                }
                self.inline.out.lines(1);
            }
            TagEnd::CodeBlock => {
                if let Some(code) = self.code.take() {
                    self.end_code(code);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.set_indent(self.lists.len());
                self.inline.out.lines(1);
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.inline.out.lines(1)
            }
            TagEnd::TableCell => self.end_cell(range.end),
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    /// Begins a block: after a blank line if the author left one, else on a new line; directly after a list marker.
    fn block(&mut self, start: usize) {
        self.inline.start_block();
        if !self.inline.out.after_marker() {
            self.inline.out.lines(if self.lines.blank_before(start) { 2 } else { 1 });
        }
    }

    /// Ends a code block. Long code is named in the text and taken out of it.
    fn end_code(&mut self, code: Code) {
        let Some(files) = self.files.as_mut().filter(|_| code.is_long()) else {
            return self.inline.out.push_pre(&code.text, code.language());
        };
        let file = code.into_file(&mut self.names);
        self.inline.out.push(CLIP);
        let start = self.inline.out.len();
        self.inline.out.push(&file.name);
        // Shown as code, because Telegram would take `main.py` for an address in Paraguay.
        self.inline.out.span(EntityKind::Code, start);
        self.inline.out.cut(CUT);
        self.inline.out.lines(1);
        files.push(file);
    }

    fn start_quote(&mut self, start: usize) {
        self.block(start);
        self.inline.out.lines(1);
        if self.quotes == 0 {
            self.quote_start = self.inline.out.len();
        }
        self.quotes += 1;
    }

    fn start_item(&mut self, start: usize) {
        let depth = self.lists.len();
        self.set_indent(depth.saturating_sub(1));
        self.block(start);
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}.");
                *number += 1;
                marker
            }
            _ => "•".to_owned(),
        };
        self.inline.out.marker(&marker);
        self.set_indent(depth);
    }

    fn set_indent(&mut self, depth: usize) {
        self.inline.out.indent = (depth * 2).min(MAX_INDENT);
    }

    /// Shows a link definition that nothing refers to, as in a list of sources. Otherwise it would be lost.
    fn definition(&mut self, start: usize, label: &str, address: &str) {
        if !self.inline.is_used(label) {
            self.block(start);
            let line = format!("[{label}]: {address}");
            self.inline.out.push(&self.inline.formulas.restored(&line));
        }
    }

    fn start_table(&mut self, tag: Tag<'_>, start: usize) {
        match tag {
            Tag::Table(alignments) => {
                self.block(start);
                self.inline.out.lines(1);
                self.table = Some(MarkdownTable::new(alignments));
            }
            Tag::TableCell => {
                self.around = Some(std::mem::take(&mut self.inline.out));
                self.inline.in_cell = true;
            }
            _ => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
        }
    }

    fn end_cell(&mut self, end: usize) {
        let Some(around) = self.around.take() else { return };
        self.inline.in_cell = false;
        let is_last = end >= self.end;
        let cell = std::mem::replace(&mut self.inline.out, around).finish(self.open_end && is_last);
        if let Some(table) = &mut self.table {
            table.push_cell(cell);
        }
    }

    fn end_table(&mut self) {
        match self.table.take().map(MarkdownTable::layout) {
            Some(TableLayout::Columns(text)) => self.inline.out.push_pre(&text, None),
            Some(TableLayout::List(list)) => self.inline.out.append(list),
            None => {}
        }
        self.inline.out.lines(1);
    }
}

/// Lines of the source, with marks for those after a blank one.
#[derive(Debug)]
struct SourceLines {
    starts: Vec<usize>,
    blank: Vec<bool>,
}

impl SourceLines {
    fn new(source: &str) -> Self {
        let mut lines = Self { starts: Vec::new(), blank: Vec::new() };
        let mut start = 0;
        for line in source.split_inclusive('\n') {
            lines.starts.push(start);
            // A line with nothing but quote marks is blank inside the quote.
            lines.blank.push(line.chars().all(|c| c.is_whitespace() || c == '>'));
            start += line.len();
        }
        lines
    }

    fn blank_before(&self, offset: usize) -> bool {
        let line = self.starts.partition_point(|start| *start <= offset);
        line >= 2 && self.blank[line - 2]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Entity, EntityKind};
    use super::*;

    #[test]
    fn inline_styles() {
        check(&[
            ("", ""),
            (" \n\n ", ""),
            ("plain", "plain"),
            ("**b** *i* _i_ __b__", "{b:b} {i:i} {i:i} {b:b}"),
            ("***both***", "{b:{i:both}}"),
            ("**a *b* c**", "{b:a {i:b} c}"),
            ("~~gone~~", "{s:gone}"),
            ("~5 and 6~7, 8~9", "~5 and 6~7, 8~9"),
            ("2*3*4 and 2 * 3", "2*3*4 and 2 * 3"),
            ("snake_case_word __init__.py", "snake_case_word {b:init}.py"),
            ("это**важно**да", "это{b:важно}да"),
            ("**👍🏽 да** *شكرا*", "{b:👍🏽 да} {i:شكرا}"),
            ("a `code *x*` b", "a {c:code *x*} b"),
            ("**a `b` c**", "{b:a} {c:b} {b:c}"),
            ("a\nb  \nc\\\nd", "a\nb\nc\nd"),
            ("\\*a\\* \\_b\\_", "*a* _b_"),
            ("&lt;b&gt; &amp; &copy; AT&T", "<b> & © AT&T"),
            ("**unclosed *text", "**unclosed *text"),
            ("||secret|| x", "{sp:secret} x"),
            ("||a **b**||", "{sp:a {b:b}}"),
            ("**x ||y** z||", "{b:x {sp:y}} {sp:z}"),
            ("a || b || c", "a || b || c"),
            ("if a||b and c||d", "if a||b and c||d"),
            ("||open", "||open"),
            ("\\||a||", "||a||"),
            ("\\(x^2\\) and $a_1 + b_2$", "x² and a₁ + b₂"),
        ]);
    }

    #[test]
    fn links() {
        check(&[
            ("[t](https://a.b/x_y)", "{link=https://a.b/x_y:t}"),
            ("[**t** x](https://a.b)", "{link=https://a.b:{b:t} x}"),
            ("**[t](https://a.b)**", "{link=https://a.b:{b:t}}"),
            ("[`t`](https://a.b)", "{link=https://a.b:t}"),
            ("[t](tg://user?id=1)", "{link=tg://user?id=1:t}"),
            ("[t](mailto:a@b.c)", "t (a@b.c)"),
            ("[a@b.c](mailto:a@b.c)", "a@b.c"),
            ("[t](/rel)", "t (/rel)"),
            ("[t](javascript:x)", "t (javascript:x)"),
            ("[t](http://localhost:80)", "t (http://localhost:80)"),
            ("[t](#part)", "t"),
            ("[](https://a.b)", "https://a.b"),
            ("[https://a.b](https://a.b)", "https://a.b"),
            ("https://a.b/c_d_e <https://a.b>", "https://a.b/c_d_e https://a.b"),
            ("![alt](https://a.b/c.png)", "{link=https://a.b/c.png:alt}"),
            ("![](https://a.b/c.png)", "https://a.b/c.png"),
            ("[![alt](https://a.b/c.png)](https://d.e)", "{link=https://d.e:alt}"),
            ("see [1].\n\n[1]: https://a.b", "see {link=https://a.b:[1]}."),
            ("see [x][y].\n\n[y]: https://a.b", "see {link=https://a.b:x}."),
            (
                "Sources:\n\n[1]: https://a.b\n[2]: https://c.d",
                "Sources:\n\n[1]: https://a.b\n[2]: https://c.d",
            ),
            ("a[^1]\n\n[^1]: Note.", "a[1]\n\n[1] Note."),
            ("arr[0] [not a link]", "arr[0] [not a link]"),
        ]);
    }

    #[test]
    fn blocks() {
        check(&[
            ("# T\ntext\n## S **x**\nmore", "{b:T}\n\ntext\n\n{b:S x}\n\nmore"),
            ("a\n\nb\n\n\n\nc", "a\n\nb\n\nc"),
            ("a\n\n---\n\nb", "a\n\n———\n\nb"),
            ("```rust\nfn x() {}\n```", "{pre=rust:fn x() {}}"),
            ("```rust,ignore title=\"x\"\nx\n```", "{pre=rust:x}"),
            ("```c++\nx\n```", "{pre=c++:x}"),
            ("```<script>\nx\n```", "{pre:x}"),
            ("```\n\n  a **b**\n\n\n\n\tc\n\n```", "{pre:  a **b**\n\n\n\n    c}"),
            ("text:\n```\nx", "text:\n{pre:x}"),
            ("text\n\n    indented\n      more", "text\n\n{pre:indented\n  more}"),
            ("```\n```", ""),
            ("> a\n> b", "{q:a\nb}"),
            ("> a\n>\n> > b\n\nc", "{q:a\n\nb}\n\nc"),
            ("> a **b** `c`\n> ```\n>   x\n> ```", "{q:a {b:b} {c:c}\n{pre:  x}}"),
            ("**a**\n\n> q\n\n> r", "{b:a}\n\n{q:q}\n\n{q:r}"),
        ]);
    }

    #[test]
    fn lists() {
        check(&[
            ("- a\n- b", "• a\n• b"),
            ("* a\n+ b", "• a\n• b"),
            ("Items:\n- a\n\nafter", "Items:\n• a\n\nafter"),
            ("- a\n  - b\n    - c\n- d", "• a\n  • b\n    • c\n• d"),
            ("3. a\n4. b", "3. a\n4. b"),
            ("1. a\n\n   b\n\n2. c", "1. a\n\n  b\n\n2. c"),
            ("1. a\n   - b", "1. a\n  • b"),
            ("- [ ] a\n- [x] **b**", "☐ a\n☑ {b:b}"),
            ("1. [x] a", "1. ☑ a"),
            ("- a\n  ```py\n  x\n    y\n  ```\n- b", "• a\n{pre=py:x\n  y}\n• b"),
            ("- ```\n  x\n  ```", "•\n{pre:x}"),
            ("- > q", "•\n  {q:q}"),
            ("- a\n  b", "• a\n  b"),
            ("-\n- a", "•\n• a"),
            ("• a\n  • b\n• c", "• a\n  • b\n• c"),
            ("- # H\n- b", "• {b:H}\n\n• b"),
        ]);
    }

    #[test]
    fn formulas() {
        check(&[
            ("Euler: $e^{i\\pi} + 1 = 0$.", "Euler: e^(iπ) + 1 = 0."),
            ("**\\(a_1*b_1*c_1\\)** and *$x$*", "{b:a₁ * b₁ * c₁} and {i:x}"),
            ("so\n\\[ x = 1 \\]\nholds", "so\nx = 1\nholds"),
            ("so $$x = 1$$, which holds", "so\nx = 1,\nwhich holds"),
            ("a\n\n$$\nx\n$$\n\nb", "a\n\nx\n\nb"),
            ("1. \\[x = 1\\]\n2. b:\n   $$y$$\n   c", "1. x = 1\n2. b:\n  y\n  c"),
            ("> \\[\n> x\n> = 1\n> \\]", "{q:x = 1}"),
            (
                "M: \\[ \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix} \\] end",
                "M:\n{pre:( 1  2 )\n( 3  4 )}\nend",
            ),
            ("| n | f |\n|---|---|\n| 1 | $x^2$ |\n| 2 | \\[x_1\\] |", "{pre:n | f\n--+---\n1 | x²\n2 | x₁}"),
            ("`$x$` [$y^2$](https://a.b/$x$)", "{c:$x$} {link=https://a.b/$x$:y²}"),
            ("```tex\n\\[x\\]\n```", "{pre=tex:\\[x\\]}"),
            ("$5 or $10 and \\[not a link\\]", "$5 or $10 and [not a link]"),
            ("\\(\\unknown{x}\\)", "\\unknown{x}"),
        ]);
    }

    #[test]
    fn raw_html() {
        check(&[
            ("<b>b</b> <em>i</em> <u>u</u> <s>s</s> <code>c</code>", "{b:b} {i:i} {u:u} {s:s} {c:c}"),
            ("<tg-spoiler>x</tg-spoiler> <span class=\"tg-spoiler\">y</span>", "{sp:x} {sp:y}"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<a href=\"https://a.b\">t</a> <a href=\"x\">u</a>", "{link=https://a.b:t} <a href=\"x\">u</a>"),
            ("Vec<String> and <b>open", "Vec<String> and <b>open"),
            ("<div>x</div>\n\n<!-- c -->", "<div>x</div>\n\n<!-- c -->"),
            ("x <b>a <i>b</b> c</i>", "x {b:a <i>b} c</i>"),
            ("<b>a **b** `c`</b>", "{b:a b} {c:c}"),
            ("<pre>  a\n  b</pre>", "{pre:  a\n  b}"),
            (
                "a\n\n<details>\n<summary>More &amp; more</summary>\n\nHidden *text*\n\n</details>\n\nb",
                "a\n\n{eq:{b:More & more}\n\nHidden {i:text}}\n\nb",
            ),
            ("<blockquote>\n\n> x\n\n</blockquote>", "{q:x}"),
        ]);
    }

    #[test]
    fn offsets_count_utf16_units() {
        let formatted = render("😀 **жир** 👨‍👩‍👧 `x`");
        let expected = [
            Entity { kind: EntityKind::Bold, offset: 3, length: 3 },
            Entity { kind: EntityKind::Code, offset: 16, length: 1 },
        ];
        assert_eq!(formatted.text, "😀 жир 👨‍👩‍👧 x");
        assert_eq!(formatted.entities, expected);
    }

    #[test]
    fn characters_that_telegram_removes_are_removed() {
        assert_eq!(render("a\u{202e}b\tc\u{7}d").text, "ab cd");
    }
}
