//! Puts the parts of a formula side by side: spaces where a typesetter would leave some, matrices in rows. Called by
//! [`mod@super::parse`] and at the end of rendering.

use super::scripts::bracketed;
use crate::chars::width;

/// The part something plays between its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Atom,
    /// A fraction: in parentheses beside something it could be taken together with.
    Fraction,
    /// Apart from letters on both sides.
    Function,
    /// Like a function, but an operator behind it has it as its left side.
    Word,
    Binary,
    Relation,
    Comma,
    /// No space on either side.
    Tight,
    Open,
    Close,
    /// Opens or closes, by turns.
    Bar,
    Space,
    /// The end of a line.
    Break,
    /// Rows one below the other.
    Rows,
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) role: Role,
    pub(super) text: String,
    /// Of [`Role::Rows`] alone, all as wide as each other.
    pub(super) rows: Vec<String>,
}

impl Item {
    pub(super) fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), rows: Vec::new() }
    }

    /// Cells in rows, between two brackets that every row gets; a left one alone is a list of cases.
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
        Self { role: Role::Rows, text, rows: cells.iter().map(row).collect() }
    }
}

/// A line of text.
pub(super) fn joined(items: &[Item], compact: bool) -> String {
    let mut line = Line { compact, ..Line::default() };
    for (at, item) in items.iter().enumerate() {
        let next = items.iter().skip(at + 1).map(|item| item.role).find(|role| *role != Role::Space);
        line.add(item, next);
    }
    line.text
}

/// The lines of a formula that stands alone, and whether their columns matter.
pub(super) fn lines(items: &[Item], most: usize) -> (String, bool) {
    let mut aligned = false;
    let mut lines: Vec<String> = Vec::new();
    for line in items.split(|item| item.role == Role::Break) {
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

/// A line with rows in it, as high as the highest; `None` if it has none.
fn stacked(items: &[Item]) -> Option<Vec<String>> {
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
    for part in items.chunk_by(|a, b| a.role != Role::Rows && b.role != Role::Rows) {
        match part {
            [item] if item.role == Role::Rows => add(&item.rows, (height - item.rows.len()) / 2),
            part => add(&[joined(part, false).trim().to_owned()], middle),
        }
    }
    Some(stack.into_iter().map(|line| line.trim_end().to_owned()).collect())
}

fn padded(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(width(text))))
}

#[derive(Debug, Default)]
struct Line {
    text: String,
    /// No spaces around operators.
    compact: bool,
    last: Option<Role>,
    space: bool,
    /// An odd number of bars has been met.
    bar: bool,
}

impl Line {
    fn add(&mut self, item: &Item, next: Option<Role>) {
        let stands = |role: Option<Role>| {
            matches!(
                role,
                Some(Role::Atom | Role::Close | Role::Fraction | Role::Word | Role::Function | Role::Rows)
            )
        };
        let role = match item.role {
            Role::Bar if self.bar => Role::Close,
            Role::Bar => Role::Open,
            role => role,
        };
        self.bar ^= item.role == Role::Bar;
        match role {
            Role::Space => {
                self.space = !self.text.is_empty();
                if item.text.len() > 1 && self.space {
                    self.text.push(' ');
                }
                return;
            }
            Role::Break => {
                self.text.push_str("; ");
                self.space = false;
            }
            Role::Relation => self.apart(&item.text),
            Role::Binary if stands(self.last) && self.last != Some(Role::Function) => self.apart(&item.text),
            Role::Comma | Role::Close | Role::Tight => {
                self.space = false;
                self.push(&item.text);
            }
            Role::Function | Role::Word => {
                self.space |= stands(self.last);
                self.push(&item.text);
            }
            Role::Fraction => {
                let after = stands(self.last) && !self.space;
                let beside = after && !matches!(self.last, Some(Role::Function | Role::Word))
                    || matches!(
                        next,
                        Some(Role::Atom | Role::Open | Role::Fraction | Role::Bar | Role::Tight)
                    );
                self.space |= after && matches!(self.last, Some(Role::Function | Role::Word));
                let text = if beside { bracketed(&item.text) } else { item.text.clone() };
                self.push(&text);
            }
            Role::Atom | Role::Open | Role::Binary | Role::Rows | Role::Bar => {
                let after_word = matches!(self.last, Some(Role::Function | Role::Word));
                self.space |= after_word && role != Role::Open;
                self.push(&item.text);
            }
        }
        self.last = Some(role);
    }

    /// Writes something with a space on both sides.
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
