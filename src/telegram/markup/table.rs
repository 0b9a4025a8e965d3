//! A Markdown table as text: aligned columns where they fit a phone, else a list of rows. Called by
//! [`mod@super::render`].

use pulldown_cmark::Alignment;

use super::Kind;
use super::chars::width;
use super::out::{Fragment, Span};

/// Columns of monospace text that a phone shows without wrapping.
pub(super) const WIDTH: usize = 40;
const SEPARATOR: &str = " | ";

#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// The first is the header.
    rows: Vec<Vec<Fragment>>,
}

#[derive(Debug)]
pub(super) enum Layout {
    /// For a `Pre` entity.
    Columns(String),
    List(Fragment),
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Fragment) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    pub(super) fn layout(self) -> Layout {
        let texts: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(one_line).collect()).collect();
        let widths: Vec<usize> = (0..self.alignments.len())
            .map(|column| {
                texts.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        let total = widths.iter().sum::<usize>() + SEPARATOR.len() * widths.len().saturating_sub(1);
        // Preformatted text would hide the addresses of links.
        if total > WIDTH || self.has_links() {
            return Layout::List(self.list());
        }
        let mut lines: Vec<String> = texts.iter().map(|row| self.line(row, &widths)).collect();
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        lines.insert(lines.len().min(1), rule.join("-+-"));
        Layout::Columns(lines.join("\n"))
    }

    fn has_links(&self) -> bool {
        let mut spans = self.rows.iter().flatten().flat_map(|cell| &cell.spans);
        spans.any(|span| matches!(span.kind, Kind::TextLink { .. }))
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let columns = row.iter().zip(widths).zip(&self.alignments);
        let cells: Vec<String> =
            columns.map(|((cell, width), alignment)| pad(cell, *width, *alignment)).collect();
        cells.join(SEPARATOR).trim_end().to_owned()
    }

    /// "Header: value" lines, rows apart by a blank line; a table of headers alone is one line.
    fn list(self) -> Fragment {
        let mut list = Fragment::default();
        let mut rows = self.rows.into_iter();
        let header = rows.next().unwrap_or_default();
        if rows.len() == 0 {
            for cell in header {
                let separator = if list.text.is_empty() { "" } else { SEPARATOR };
                add(&mut list, separator, &cell);
            }
            return list;
        }
        for row in rows {
            let mut gap = if list.text.is_empty() { "" } else { "\n\n" };
            let filled = row.iter().enumerate().filter(|(_, cell)| !cell.text.trim().is_empty());
            for (column, cell) in filled {
                if let Some(name) = header.get(column).filter(|name| !name.text.trim().is_empty()) {
                    add(&mut list, gap, name);
                    gap = if name.text.trim_end().ends_with(':') { " " } else { ": " };
                }
                add(&mut list, gap, cell);
                gap = "\n";
            }
        }
        list
    }
}

fn add(list: &mut Fragment, before: &str, cell: &Fragment) {
    list.text.push_str(before);
    let base = list.text.len();
    list.text.push_str(&cell.text);
    let moved =
        |span: &Span| Span { kind: span.kind.clone(), range: span.range.start + base..span.range.end + base };
    list.spans.extend(cell.spans.iter().map(moved));
}

fn one_line(cell: &Fragment) -> String {
    cell.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pad(cell: &str, column: usize, alignment: Alignment) -> String {
    let free = column.saturating_sub(width(cell));
    let left = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => free / 2,
        Alignment::Right => free,
    };
    format!("{}{cell}{}", " ".repeat(left), " ".repeat(free - left))
}
