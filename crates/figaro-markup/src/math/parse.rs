//! Parses LaTeX into parts. Called by [`super::render`]. Unknown parts stay as written.

use super::layout::{MathItem, MathRole, joined};
use super::rows::{after_columns, cut, matching_end};
use super::scripts::{bracketed, fraction, mapped, root, script};
use super::symbols::{self, MathCommand};

/// Maximum nesting of groups. Deeper ones stay as written.
const MAX_DEPTH: usize = 24;
/// Maximum number of characters under an accent.
const MAX_MARKED: usize = 8;

/// Environments with a bracket on both sides of every row.
const MATRICES: [(&str, (&str, &str)); 10] = [
    ("pmatrix", ("(", ")")),
    ("bmatrix", ("[", "]")),
    ("Bmatrix", ("{", "}")),
    ("vmatrix", ("|", "|")),
    ("Vmatrix", ("‖", "‖")),
    ("matrix", ("", "")),
    ("smallmatrix", ("", "")),
    ("array", ("", "")),
    ("cases", ("{", "")),
    ("rcases", ("", "}")),
];

const LINES: [&str; 9] =
    ["aligned", "align", "alignat", "gather", "gathered", "split", "equation", "eqnarray", "multline"];

/// Returns `true` if the environment is one of those above.
pub(super) fn is_environment(name: &str) -> bool {
    let name = name.trim_end_matches('*');
    LINES.contains(&name) || MATRICES.iter().any(|(known, _)| *known == name)
}

/// Parses a formula into its parts.
pub(super) fn items(latex: &str) -> Vec<MathItem> {
    MathLexer { rest: latex, depth: 0 }.sequence()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MathToken<'a> {
    Command(&'a str),
    Char(char),
    Space,
}

#[derive(Debug)]
struct MathLexer<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> MathLexer<'a> {
    fn next(&mut self) -> Option<MathToken<'a>> {
        let first = self.rest.chars().next()?;
        if first.is_whitespace() {
            self.rest = self.rest.trim_start();
            return Some(MathToken::Space);
        }
        let after = self.rest.get(first.len_utf8()..).unwrap_or_default();
        self.rest = after;
        if first != '\\' {
            return Some(MathToken::Char(first));
        }
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let length = if letters > 0 { letters } else { after.chars().next().map_or(0, char::len_utf8) };
        let (name, rest) = after.split_at(length);
        self.rest = rest;
        Some(if name.is_empty() { MathToken::Char('\\') } else { MathToken::Command(name) })
    }

    fn sequence(&mut self) -> Vec<MathItem> {
        let mut items: Vec<MathItem> = Vec::new();
        while let Some(token) = self.next() {
            match token {
                MathToken::Space => {
                    // A typesetter leaves a space after a comma, but not within a number.
                    if items.last().is_some_and(|item| item.role == MathRole::Comma) {
                        items.push(MathItem::new(MathRole::Space, " "));
                    }
                }
                MathToken::Char('&') => {}
                MathToken::Char('~') => items.push(MathItem::new(MathRole::Space, " ")),
                MathToken::Char('\'') => raise(&mut items, "′"),
                MathToken::Char(sign @ ('^' | '_')) => self.script(&mut items, sign == '^'),
                MathToken::Char(':') if self.rest.starts_with('=') => {
                    self.next();
                    items.push(MathItem::new(MathRole::Relation, ":="));
                }
                MathToken::Char('{') => self.group(&mut items),
                MathToken::Char('}') => items.push(MathItem::new(MathRole::Close, "}")),
                MathToken::Char(c) => items.push(MathItem::new(symbols::role(c), c)),
                MathToken::Command("\\" | "newline" | "cr") => {
                    self.skip_dimension();
                    items.push(MathItem::new(MathRole::Break, ""));
                }
                MathToken::Command(name) => self.command(name, &mut items),
            }
        }
        items
    }

    /// Reads the content of a group, after its `{`.
    fn group(&mut self, items: &mut Vec<MathItem>) {
        let body = self.braced();
        let Some(inner) = self.inner(body) else {
            return items.push(MathItem::new(MathRole::Atom, format!("{{{body}}}")));
        };
        match inner.as_slice() {
            [_] => items.extend(inner),
            inner if inner.iter().any(|item| matches!(item.role, MathRole::Rows | MathRole::Break)) => {
                items.extend_from_slice(inner);
            }
            inner => items.push(MathItem::new(MathRole::Atom, joined(inner, false))),
        }
    }

    /// Parses a nested text; `None` if it is too deep.
    fn inner(&self, text: &str) -> Option<Vec<MathItem>> {
        let depth = self.depth + 1;
        (depth < MAX_DEPTH).then(|| MathLexer { rest: text, depth }.sequence())
    }

    fn line(&self, text: &str, compact: bool) -> String {
        self.inner(text).map_or_else(|| text.to_owned(), |items| joined(&items, compact))
    }

    /// Reads the text up to the closing brace, and the brace.
    fn braced(&mut self) -> &'a str {
        self.until('{', '}')
    }

    fn until(&mut self, open: char, close: char) -> &'a str {
        let mut depth = 1_usize;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            if escaped {
                escaped = false;
                continue;
            }
            match c {
                '\\' => escaped = true,
                c if c == open => depth += 1,
                c if c == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let (body, rest) = self.rest.split_at(at);
                self.rest = rest.get(c.len_utf8()..).unwrap_or_default();
                return body;
            }
        }
        std::mem::take(&mut self.rest)
    }

    /// Reads the source of an argument: a group without its braces, a command, or one character.
    fn argument(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let start = self.rest;
        match self.next() {
            Some(MathToken::Char('{')) => self.braced(),
            // As in `x^\frac{1}{2}`, which LaTeX itself would refuse.
            Some(MathToken::Command(name)) => {
                let takes = match symbols::command(name) {
                    Some(MathCommand::Fraction | MathCommand::Binomial | MathCommand::Over { .. }) => 2,
                    Some(MathCommand::Sign(..) | MathCommand::Silent) | None => 0,
                    Some(_) => 1,
                };
                for _ in 0..takes {
                    self.argument();
                }
                start.get(..start.len() - self.rest.len()).unwrap_or_default()
            }
            _ => start.get(..start.len() - self.rest.len()).unwrap_or_default(),
        }
    }

    fn optional(&mut self) -> Option<&'a str> {
        self.rest = self.rest.strip_prefix('[')?;
        Some(self.until('[', ']'))
    }

    /// Skips a dimension: `\\[4pt]` asks for more room between rows.
    fn skip_dimension(&mut self) {
        let Some((inside, rest)) = self.rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return;
        };
        if inside.ends_with(|c: char| c.is_ascii_lowercase())
            && inside.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            self.rest = rest;
        }
    }

    fn script(&mut self, items: &mut Vec<MathItem>, raised: bool) {
        let body = self.argument();
        self.add_script(body, items, raised);
    }

    fn add_script(&self, body: &str, items: &mut Vec<MathItem>, raised: bool) {
        let small = script(self.line(body, true).trim(), raised);
        match raised {
            true => raise(items, &small),
            false => lower(items, &small),
        }
    }

    fn command(&mut self, name: &'a str, items: &mut Vec<MathItem>) {
        let Some(command) = symbols::command(name) else {
            return items.push(self.unknown(name));
        };
        match command {
            MathCommand::Silent => self.silent(name),
            MathCommand::Dropped => {
                self.argument();
            }
            MathCommand::Plain => self.plain(items),
            MathCommand::Words => self.words(items),
            MathCommand::Begin => self.environment(items),
            MathCommand::Second => {
                self.argument();
                self.plain(items);
            }
            MathCommand::Over { raised } => {
                let script = self.argument();
                self.plain(items);
                self.add_script(script, items, raised);
            }
            MathCommand::Aside(words) => {
                let text = bracketed(&format!("{words}{}", self.shown(false)));
                items.extend([MathItem::new(MathRole::Space, " "), MathItem::new(MathRole::Atom, text)]);
            }
            other => items.push(self.value(name, other)),
        }
    }

    /// Reads the arguments of a command and returns the resulting part.
    fn value(&mut self, name: &str, command: MathCommand) -> MathItem {
        match command {
            MathCommand::Sign(role, text) => MathItem::new(role, text),
            MathCommand::Arrow => MathItem::new(MathRole::Relation, format!("—{}→", self.shown(true))),
            MathCommand::Accent(mark) => {
                let text = self.shown(true);
                // Accents on accents would double the text with every command.
                let marked = match text.contains(mark) || text.chars().count() > MAX_MARKED {
                    true => text,
                    false => text.chars().flat_map(|c| [c, mark]).collect(),
                };
                MathItem::new(MathRole::Atom, marked)
            }
            MathCommand::Alphabet(from, to) => {
                let body = self.argument();
                MathItem::new(
                    MathRole::Atom,
                    mapped(body, from, to).unwrap_or_else(|| self.line(body, false)),
                )
            }
            MathCommand::Fraction => {
                let (above, below) = (self.shown(false), self.shown(false));
                match above.is_empty() && below.is_empty() {
                    true => MathItem::new(MathRole::Atom, format!("\\{name}")),
                    false => MathItem::new(MathRole::Fraction, fraction(&above, &below)),
                }
            }
            MathCommand::Binomial => {
                let (above, below) = (self.shown(false), self.shown(false));
                MathItem::new(MathRole::Atom, format!("C({above}, {below})"))
            }
            MathCommand::Root => {
                let degree = self.optional().map(|degree| self.line(degree, true)).unwrap_or_default();
                MathItem::new(MathRole::Atom, root(&degree, &self.shown(false)))
            }
            MathCommand::Not => {
                let struck = match self.shown(true).as_str() {
                    "=" => "≠".to_owned(),
                    "∈" => "∉".to_owned(),
                    other => format!("{other}\u{338}"),
                };
                MathItem::new(MathRole::Relation, struck)
            }
            _ => MathItem::new(MathRole::Atom, format!("\\{name}")),
        }
    }

    /// Reads the next argument and joins it into a line.
    fn shown(&mut self, compact: bool) -> String {
        let body = self.argument();
        self.line(body, compact)
    }

    /// Handles a command without output. `\left.` has no delimiter to show.
    fn silent(&mut self, name: &str) {
        let rest = self.rest.trim_start();
        if matches!(name, "left" | "right") && rest.starts_with('.') {
            self.rest = rest.get(1..).unwrap_or_default();
        }
    }

    fn plain(&mut self, items: &mut Vec<MathItem>) {
        let body = self.argument();
        match self.inner(body) {
            Some(inner) => items.extend(inner),
            None => items.push(MathItem::new(MathRole::Atom, body)),
        }
    }

    fn words(&mut self, items: &mut Vec<MathItem>) {
        self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
        let body = self.argument();
        // Formulas and escapes within text.
        let text = body.replace("\\ ", " ").replace(['$', '\\'], "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let role = if text.chars().count() > 1 { MathRole::Word } else { MathRole::Atom };
        let space = |on: bool| on.then(|| MathItem::new(MathRole::Space, " "));
        items.extend(space(body.starts_with(char::is_whitespace)));
        items.push(MathItem::new(role, text));
        items.extend(space(body.ends_with(char::is_whitespace)));
    }

    /// Reads an unknown command with the groups that follow it.
    fn unknown(&mut self, name: &str) -> MathItem {
        let mut text = format!("\\{name}");
        while let Some(rest) = self.rest.strip_prefix('{') {
            self.rest = rest;
            text.push_str(&format!("{{{}}}", self.braced()));
        }
        // The following text would run into the name.
        let is_word = self.rest.starts_with(char::is_whitespace);
        MathItem::new(if is_word { MathRole::Word } else { MathRole::Atom }, text)
    }

    fn environment(&mut self, items: &mut Vec<MathItem>) {
        let name = self.argument();
        let plain = name.trim_end_matches('*');
        let end = format!("\\end{{{name}}}");
        let body = self.rest;
        let at = matching_end(body, name).unwrap_or(body.len());
        let (body, rest) = body.split_at(at);
        self.rest = rest.strip_prefix(&end).unwrap_or_default();
        let inner = if matches!(plain, "array" | "alignat") { after_columns(body) } else { body };
        if LINES.contains(&plain) {
            match self.inner(inner) {
                Some(lines) => items.extend(lines),
                None => items.push(MathItem::new(MathRole::Atom, body)),
            }
            return;
        }
        let Some((_, brackets)) = MATRICES.iter().find(|(known, _)| *known == plain) else {
            return items.push(MathItem::new(MathRole::Atom, format!("\\begin{{{name}}}{body}{end}")));
        };
        let cells: Vec<Vec<String>> = cut(inner, "\\\\")
            .into_iter()
            .filter(|row| !row.trim().is_empty())
            .map(|row| {
                cut(row, "&").into_iter().map(|cell| self.line(cell, false).trim().to_owned()).collect()
            })
            .collect();
        items.push(MathItem::rows(&cells, *brackets));
    }
}

fn raise(items: &mut Vec<MathItem>, small: &str) {
    match items.last_mut() {
        Some(item) if has_base(item.role) => {
            if item.role == MathRole::Fraction {
                *item = MathItem::new(MathRole::Atom, bracketed(&item.text));
            }
            item.text.push_str(small);
        }
        _ => items.push(MathItem::new(MathRole::Atom, small)),
    }
}

/// Adds a lowered script before a raised one that came first: `x^2_1` becomes `x_1^2`.
fn lower(items: &mut Vec<MathItem>, small: &str) {
    let Some(item) = items.last_mut().filter(|item| has_base(item.role)) else {
        return items.push(MathItem::new(MathRole::Atom, small));
    };
    let base = item.text.trim_end_matches(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵏ′".contains(c)).len();
    let at = if base == 0 { item.text.len() } else { base };
    item.text.insert_str(at, small);
}

fn has_base(role: MathRole) -> bool {
    matches!(
        role,
        MathRole::Atom
            | MathRole::Fraction
            | MathRole::Function
            | MathRole::Word
            | MathRole::Close
            | MathRole::Bar
            | MathRole::Relation
    )
}
