//! Converts a Markdown table to text: aligned columns if they fit a phone, else a list of rows. Called by
//! [`mod@super::render`].

use pulldown_cmark::Alignment;

use super::chars::width;
use super::formatted::EntityKind;
use super::out::{EntityRange, Fragment};

/// Columns of monospace text that a phone shows without wrapping.
pub(super) const WIDTH: usize = 40;
const SEPARATOR: &str = " | ";

#[derive(Debug)]
pub(super) struct MarkdownTable {
    alignments: Vec<Alignment>,
    /// Rows, of which the first is the header.
    rows: Vec<Vec<Fragment>>,
}

#[derive(Debug)]
pub(super) enum TableLayout {
    /// Text of a `Pre` entity.
    Columns(String),
    List(Fragment),
}

impl MarkdownTable {
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

    pub(super) fn layout(self) -> TableLayout {
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
            return TableLayout::List(self.list());
        }
        let mut lines: Vec<String> = texts.iter().map(|row| self.line(row, &widths)).collect();
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        lines.insert(lines.len().min(1), rule.join("-+-"));
        TableLayout::Columns(lines.join("\n"))
    }

    fn has_links(&self) -> bool {
        let mut spans = self.rows.iter().flatten().flat_map(|cell| &cell.spans);
        spans.any(|span| matches!(span.kind, EntityKind::TextLink { .. }))
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let columns = row.iter().zip(widths).zip(&self.alignments);
        let cells: Vec<String> =
            columns.map(|((cell, width), alignment)| pad(cell, *width, *alignment)).collect();
        cells.join(SEPARATOR).trim_end().to_owned()
    }

    /// Lists each row as its first cell in bold and "header: value" lines, with a blank line between rows. A table
    /// with headers only becomes one line. A single column needs no header names.
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
        if let [name] = header.as_slice() {
            add_bold(&mut list, "", name);
            rows.flatten().for_each(|cell| add(&mut list, "\n• ", &cell));
            return list;
        }
        for row in rows {
            let mut gap = if list.text.is_empty() { "" } else { "\n\n" };
            let filled = row.iter().enumerate().filter(|(_, cell)| !cell.text.trim().is_empty());
            for (column, cell) in filled {
                if column == 0 {
                    add_bold(&mut list, gap, cell);
                    gap = "\n";
                    continue;
                }
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

fn add_bold(list: &mut Fragment, before: &str, cell: &Fragment) {
    let start = list.text.len() + before.len();
    add(list, before, cell);
    list.spans.push(EntityRange { kind: EntityKind::Bold, range: start..list.text.len() });
}

fn add(list: &mut Fragment, before: &str, cell: &Fragment) {
    list.text.push_str(before);
    let base = list.text.len();
    list.text.push_str(&cell.text);
    let moved = |span: &EntityRange| EntityRange {
        kind: span.kind.clone(),
        range: span.range.start + base..span.range.end + base,
    };
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

#[cfg(test)]
mod tests {
    use super::super::render::render;
    use super::super::tests::{check, tagged};

    #[test]
    fn tables_that_fit_a_phone_have_columns() {
        check(&[
            ("| A | B |\n|---|--:|\n| x | 10 |\n| yy | **5** |", "{pre:A  |  B\n---+---\nx  | 10\nyy |  5}"),
            ("| A | B |\n|:-:|---|\n| 日本 | x |", "{pre: A   | B\n-----+--\n日本 | x}"),
            ("| A | B |\n|---|---|", "{pre:A | B\n--+--}"),
            ("| OK | B |\n|---|---|\n| ✅ | 👨‍👩‍👧 |\n| ❌ | ü |", "{pre:OK | B\n---+---\n✅ | 👨‍👩‍👧\n❌ | ü}"),
            ("text\n\n| A |\n|---|\n| b<br>c |\n\nend", "text\n\n{pre:A\n---\nb c}\n\nend"),
            (
                "| A | B |\n|---|---|\n| `a\\|b` | ~~c~~ _d_ <u>e</u> |\n| **x | ||y|| |",
                "{pre:A   | B\n----+------\na|b | c d e\n**x |}",
            ),
            ("| A | B |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |", "{pre:A | B\n--+--\n1 |\n1 | 2}"),
            ("- a\n\n  | A |\n  |---|\n  | b |", "• a\n\n{pre:A\n-\nb}"),
            ("> | A |\n> |---|\n> | b |", "{q:{pre:A\n-\nb}}"),
        ]);
    }

    #[test]
    fn other_tables_are_lists_of_their_rows() {
        let long = "this is a rather long cell of **text**";
        check(&[
            ("| A | B |\n|---|---|\n| [x](https://a.b) | |", "{link=https://a.b:{b:x}}"),
            (
                &format!("| Name | Text |\n|---|---|\n| a | {long} |\n| b | c |"),
                "{b:a}\nText: this is a rather long cell of {b:text}\n\n{b:b}\nText: c",
            ),
            (
                &format!("| | **Good** | Bad: |\n|---|---|---|\n| *a* | {long} | `x` |\n| | y | |"),
                "{b:{i:a}}\n{b:Good}: this is a rather long cell of {b:text}\nBad: {c:x}\n\n{b:Good}: y",
            ),
            (
                &format!("| Points |\n|---|\n| {long} and more |\n| b |"),
                "{b:Points}\n• this is a rather long cell of {b:text} and more\n• b",
            ),
            (
                "| 日本語の見出し | 値 |\n|---|---|\n| 東京都千代田区 | 東京都千代田区丸の内一丁目 |",
                "{b:東京都千代田区}\n値: 東京都千代田区丸の内一丁目",
            ),
        ]);
    }

    #[test]
    fn forty_columns_fit_and_one_more_does_not() {
        let table = |wide: usize| format!("| A | B |\n|---|---|\n| x | {} |", "y".repeat(wide));
        assert!(tagged(&render(&table(36))).starts_with("{pre:"));
        assert!(tagged(&render(&table(37))).starts_with("{b:x}"));
    }
}
