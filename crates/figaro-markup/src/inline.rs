//! Writes the content of a block: styles, links, spoilers, HTML tags, line breaks. Called by the walk in
//! [`mod@super::render`].

use std::collections::HashSet;

use pulldown_cmark::{LinkType, Tag};

use super::emphasis::bare_end;
use super::formatted::EntityKind;
use super::formulas::{Formula, Formulas};
use super::html::{self, Tag as HtmlTag};
use super::link;
use super::out::Out;

/// Maximum indent of lists, in spaces. The screen is narrow, and hostile nesting must stay linear.
pub(super) const MAX_INDENT: usize = 16;

#[derive(Debug)]
pub(super) struct Inline<'a> {
    pub(super) source: &'a str,
    pub(super) out: Out,
    pub(super) formulas: &'a Formulas,
    /// `true` if formulas stay in the text as the characters that replace them.
    keeps_formulas: bool,
    /// `true` while a table cell is written, which has one line.
    pub(super) in_cell: bool,
    /// `true` if a formula on its own lines was written last.
    after_formula: bool,
    /// Open styles and headings.
    styles: Vec<OpenStyle>,
    links: Vec<OpenLink>,
    /// Labels of the link definitions that were used.
    used: HashSet<String>,
}

#[derive(Debug)]
enum OpenStyle {
    From(usize),
    /// Not meant as a style: its markers are shown as written.
    Literal(&'static str),
}

#[derive(Debug)]
struct OpenLink {
    start: usize,
    url: String,
    /// `true` for `[1]` alone, which keeps its brackets.
    numeric: bool,
    is_address: bool,
}

impl<'a> Inline<'a> {
    pub(super) fn new(source: &'a str, formulas: &'a Formulas) -> Self {
        Self {
            source,
            out: Out::default(),
            formulas,
            keeps_formulas: false,
            in_cell: false,
            after_formula: false,
            styles: Vec::new(),
            links: Vec::new(),
            used: HashSet::new(),
        }
    }

    pub(super) fn with_formulas_kept(source: &'a str, formulas: &'a Formulas) -> Self {
        Self { keeps_formulas: true, ..Self::new(source, formulas) }
    }

    pub(super) fn start_block(&mut self) {
        self.out.next_block();
        self.after_formula = false;
    }

    pub(super) fn start_heading(&mut self) {
        self.styles.push(OpenStyle::From(self.out.len()));
    }

    pub(super) fn is_used(&self, label: &str) -> bool {
        self.used.contains(&label.to_lowercase())
    }

    pub(super) fn start_style(&mut self, tag: &Tag<'_>, start: usize) {
        let (before, markers) = self.source.split_at(start);
        let before = bare_end(before);
        let literal = match tag {
            // A single tilde means "about" more often than a deletion.
            Tag::Strikethrough if !markers.starts_with("~~") => "~",
            // 2*3*4 is a product.
            Tag::Emphasis
                if markers.starts_with('*') && before.ends_with(|c: char| c.is_ascii_alphanumeric()) =>
            {
                "*"
            }
            _ => return self.styles.push(OpenStyle::From(self.out.len())),
        };
        self.out.push(literal);
        self.styles.push(OpenStyle::Literal(literal));
    }

    pub(super) fn end_style(&mut self, kind: EntityKind) {
        match self.styles.pop() {
            Some(OpenStyle::From(start)) => self.out.span(kind, start),
            Some(OpenStyle::Literal(marker)) => self.out.push(marker),
            None => {}
        }
    }

    pub(super) fn start_link(&mut self, link_type: LinkType, url: &str, id: &str) {
        self.used.insert(id.to_lowercase());
        let numeric = link_type == LinkType::Shortcut && id.bytes().all(|b| b.is_ascii_digit());
        let is_address = matches!(link_type, LinkType::Autolink | LinkType::Email);
        self.links.push(OpenLink { start: self.out.len(), url: url.to_owned(), numeric, is_address });
        if numeric {
            self.out.push("[");
        }
    }

    pub(super) fn end_link(&mut self) {
        let Some(OpenLink { start, url, numeric, is_address }) = self.links.pop() else {
            return;
        };
        if numeric {
            self.out.push("]");
        }
        // Telegram links addresses in the text by itself. Of nested links the outer one counts.
        if is_address || !self.links.is_empty() {
            return;
        }
        let text = self.out.since(start).trim();
        if text.is_empty() {
            return self.out.push(&url);
        }
        let same = text == url;
        match (link::target(&url), link::visible(&url)) {
            (Some(_), _) if same => {}
            (Some(url), _) => self.out.span(EntityKind::TextLink { url }, start),
            (None, Some(shown)) if shown != text && !same => self.out.push(&format!(" ({shown})")),
            (None, _) => {}
        }
    }

    /// Writes text, in which a pair of `||` marks a spoiler. An escaped character begins an event of its own.
    pub(super) fn text(&mut self, text: &str, start: usize) {
        let escaped = self.source[..start].ends_with('\\') && text.starts_with('|');
        let (first, mut rest) = text.split_at(usize::from(escaped));
        self.words(first);
        while let Some(at) = rest.find("||") {
            let length = rest[at..].bytes().take_while(|b| *b == b'|').count();
            let (pipes, after) = rest[at..].split_at(length);
            self.words(&rest[..at]);
            if length == 2 {
                self.pipes(after.chars().next());
            } else {
                self.out.push(pipes);
            }
            rest = after;
        }
        self.words(rest);
    }

    /// Writes text that may contain formulas.
    fn words(&mut self, text: &str) {
        if self.keeps_formulas {
            return self.plain(text);
        }
        let mut rest = text;
        while let Some((range, formula)) = self.formulas.first(rest) {
            let before = &rest[..range.start];
            self.plain(if self.alone(formula) { before.trim_end() } else { before });
            rest = &rest[range.end..];
            self.formula(formula);
        }
        self.plain(rest);
    }

    /// Returns `true` if the formula gets its own lines.
    fn alone(&self, formula: &Formula) -> bool {
        formula.display && !self.in_cell
    }

    fn formula(&mut self, formula: &Formula) {
        if !self.alone(formula) {
            return self.plain(&formula.inline());
        }
        let (text, aligned) = formula.lines();
        if aligned {
            self.out.push_pre(&text, None);
        } else {
            for line in text.lines() {
                if !self.out.after_marker() {
                    self.out.lines(1);
                }
                self.out.push(line);
            }
        }
        self.after_formula = true;
    }

    /// Writes text without formulas. After a formula on its own lines, text continues in the next line; a full stop
    /// stays with the formula.
    fn plain(&mut self, text: &str) {
        let mut rest = text;
        if self.after_formula && !text.is_empty() {
            rest = text.trim_start_matches(['.', ',', ';', ':', '!', '?']);
            self.out.push(&text[..text.len() - rest.len()]);
            rest = rest.trim_start();
            if rest.is_empty() {
                return;
            }
            self.out.lines(1);
            self.after_formula = false;
        }
        self.out.push(rest);
    }

    /// Handles `||`. It opens at the start of a word and closes at the end of one, so that operators in prose stay.
    fn pipes(&mut self, next: Option<char>) {
        let previous = self.out.last_char();
        let touches = |c: Option<char>| c.is_none_or(|c| !c.is_whitespace());
        let borders = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        if touches(previous) && borders(next) && self.out.is_open("||") {
            self.out.close_mark("||", "||");
        } else if touches(next) && borders(previous) {
            self.out.open_mark("||", EntityKind::Spoiler, "||");
        } else {
            self.out.push("||");
        }
    }

    pub(super) fn html(&mut self, text: &str) {
        let mut rest = text;
        while let Some((range, tag)) = html::next_tag(rest) {
            self.html_text(&rest[..range.start]);
            let literal = &rest[range.clone()];
            match tag {
                HtmlTag::Break => self.out.line_break(),
                HtmlTag::Open(name, kind) => self.out.open_mark(name, kind, literal),
                HtmlTag::Close(name) => self.out.close_mark(name, literal),
            }
            rest = &rest[range.end..];
        }
        self.html_text(rest);
    }

    fn html_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = html::decode(text);
        if self.out.is_open("pre") {
            return self.out.push(&text);
        }
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            // A tag may follow the last line.
            if lines.peek().is_none() {
                return self.out.push(line);
            }
            self.out.push(line.trim_end());
            self.out.line_break();
        }
    }

    /// Writes a line break. Lists with typed bullets keep the indent that Markdown drops.
    pub(super) fn line_break(&mut self, end: usize) {
        self.after_formula = false;
        self.out.line_break();
        let next = &self.source[end..];
        let line = next.trim_start_matches(' ');
        if line.starts_with(['•', '◦', '▪', '‣', '–', '·']) {
            self.out.push(&" ".repeat((next.len() - line.len()).min(MAX_INDENT)));
        }
    }
}
