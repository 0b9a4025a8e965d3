//! Joins the parts of a formula: spaces where a typesetter would leave some, matrices in rows. Called by
//! [`mod@super::parse`] and at the end of rendering.

use super::scripts::bracketed;
use crate::chars::width;

/// Role of a part between its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MathRole {
    Atom,
    /// Fraction; in parentheses next to something it could be misread with.
    Fraction,
    /// Separated from letters on both sides.
    Function,
    /// Like a function, but counts as the left operand of an operator after it.
    Word,
    Binary,
    Relation,
    Comma,
    /// Without space on either side.
    Tight,
    Open,
    Close,
    /// Opens and closes alternately.
    Bar,
    Space,
    /// End of a line.
    Break,
    /// Rows below each other.
    Rows,
}

impl MathRole {
    /// Returns `true` for something that an operator can follow.
    const fn is_operand(self) -> bool {
        matches!(self, Self::Atom | Self::Close | Self::Fraction | Self::Word | Self::Function | Self::Rows)
    }

    /// Returns `true` for something written in letters, which takes a space behind it.
    const fn is_named(self) -> bool {
        matches!(self, Self::Function | Self::Word)
    }

    /// Returns `true` for something that would read as part of a fraction before it.
    const fn begins_operand(self) -> bool {
        matches!(self, Self::Atom | Self::Open | Self::Fraction | Self::Bar | Self::Tight)
    }
}

#[derive(Debug, Clone)]
pub(super) struct MathItem {
    pub(super) role: MathRole,
    pub(super) text: String,
    /// Rows of [`MathRole::Rows`], all of the same width; empty otherwise.
    pub(super) rows: Vec<String>,
}

impl MathItem {
    pub(super) fn new(role: MathRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), rows: Vec::new() }
    }

    /// Arranges cells in rows, between two brackets on every row. A left bracket alone makes a list of cases.
    pub(super) fn rows(cells: &[Vec<String>], brackets: (&str, &str)) -> Self {
        let (left, right) = brackets;
        let joined: Vec<String> = cells.iter().map(|row| row.join(" ")).collect();
        let gap = if right.is_empty() && !left.is_empty() { " " } else { "" };
        let text = format!("{left}{gap}{}{right}", joined.join("; "));
        let columns = cells.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|at| {
                cells.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or_default()
            })
            .collect();
        let row = |row: &Vec<String>| {
            let cell = |(at, wide): (usize, &usize)| {
                let cell = row.get(at).map_or("", String::as_str);
                padded(cell, *wide)
            };
            let cells: Vec<String> = widths.iter().enumerate().map(cell).collect();
            [left, &cells.join("  "), right]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        Self { role: MathRole::Rows, text, rows: cells.iter().map(row).collect() }
    }
}

/// Joins parts into one line.
pub(super) fn joined(items: &[MathItem], compact: bool) -> String {
    let mut line = MathLine { compact, ..MathLine::default() };
    for (at, item) in items.iter().enumerate() {
        let next = items.iter().skip(at + 1).map(|item| item.role).find(|role| *role != MathRole::Space);
        line.add(item, next);
    }
    line.text
}

/// Returns the lines of a formula that stands alone, and `true` if their columns matter.
pub(super) fn lines(items: &[MathItem], most: usize) -> (String, bool) {
    let mut aligned = false;
    let mut lines: Vec<String> = Vec::new();
    for line in items.split(|item| item.role == MathRole::Break) {
        match stacked(line).filter(|rows| rows.iter().all(|row| width(row) <= most)) {
            Some(rows) => {
                aligned = true;
                lines.extend(rows);
            }
            None => lines.push(joined(line, false)),
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    (lines.join("\n"), aligned)
}

/// Returns a line with rows in it, as high as the highest; `None` if it has none.
fn stacked(items: &[MathItem]) -> Option<Vec<String>> {
    let height = items.iter().map(|item| item.rows.len()).max().filter(|height| *height > 1)?;
    let middle = (height - 1) / 2;
    let mut stack = vec![String::new(); height];
    let mut add = |rows: &[String], first: usize| {
        let wide = rows.iter().map(|row| width(row)).max().unwrap_or_default();
        for (at, line) in stack.iter_mut().enumerate() {
            let row = at.checked_sub(first).and_then(|at| rows.get(at)).map_or("", String::as_str);
            if !line.is_empty() && wide > 0 {
                line.push(' ');
            }
            line.push_str(&padded(row, wide));
        }
    };
    for part in items.chunk_by(|a, b| a.role != MathRole::Rows && b.role != MathRole::Rows) {
        match part {
            [item] if item.role == MathRole::Rows => add(&item.rows, (height - item.rows.len()) / 2),
            part => add(&[joined(part, false).trim().to_owned()], middle),
        }
    }
    Some(stack.into_iter().map(|line| line.trim_end().to_owned()).collect())
}

fn padded(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(width(text))))
}

#[derive(Debug, Default)]
struct MathLine {
    text: String,
    /// `true` for no spaces around operators.
    compact: bool,
    last: Option<MathRole>,
    space: bool,
    /// `true` after an odd number of bars.
    bar: bool,
}

impl MathLine {
    fn add(&mut self, item: &MathItem, next: Option<MathRole>) {
        let stands = |role: Option<MathRole>| role.is_some_and(MathRole::is_operand);
        let is_named = |role: Option<MathRole>| role.is_some_and(MathRole::is_named);
        let role = match item.role {
            MathRole::Bar if self.bar => MathRole::Close,
            MathRole::Bar => MathRole::Open,
            role => role,
        };
        self.bar ^= item.role == MathRole::Bar;
        match role {
            MathRole::Space => {
                self.space = !self.text.is_empty();
                if item.text.len() > 1 && self.space {
                    self.text.push(' ');
                }
                return;
            }
            MathRole::Break => {
                self.text.push_str("; ");
                self.space = false;
            }
            MathRole::Relation => self.apart(&item.text),
            MathRole::Binary if stands(self.last) && self.last != Some(MathRole::Function) => {
                self.apart(&item.text)
            }
            MathRole::Comma | MathRole::Close | MathRole::Tight => {
                self.space = false;
                self.push(&item.text);
            }
            MathRole::Function | MathRole::Word => {
                self.space |= stands(self.last);
                self.push(&item.text);
            }
            MathRole::Fraction => {
                let after = stands(self.last) && !self.space;
                let beside = after && !is_named(self.last) || next.is_some_and(MathRole::begins_operand);
                self.space |= after && is_named(self.last);
                let text = if beside { bracketed(&item.text) } else { item.text.clone() };
                self.push(&text);
            }
            MathRole::Atom | MathRole::Open | MathRole::Binary | MathRole::Rows | MathRole::Bar => {
                self.space |= is_named(self.last) && role != MathRole::Open;
                self.push(&item.text);
            }
        }
        self.last = Some(role);
    }

    /// Writes text with a space on both sides.
    fn apart(&mut self, text: &str) {
        let is_word = text.chars().all(char::is_alphabetic);
        self.space = (!self.compact || is_word) && !self.text.is_empty();
        self.push(text);
        self.space = !self.compact || is_word;
    }

    fn push(&mut self, text: &str) {
        if std::mem::take(&mut self.space) && !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }
}
