//! Reads LaTeX into parts. Called by [`super::render`]. What it does not know stays as it is written.

use super::layout::{Item, Role, joined};
use super::rows::{after_columns, cut, matching_end};
use super::scripts::{bracketed, fraction, mapped, root, script};
use super::symbols::{self, Command};

/// Groups within groups; deeper ones are left as they are written.
const MAX_DEPTH: usize = 24;
/// A mark goes over so many characters and no more.
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

/// Environments whose rows are lines.
const LINES: [&str; 9] =
    ["aligned", "align", "alignat", "gather", "gathered", "split", "equation", "eqnarray", "multline"];

/// Whether the environment is one of those above.
pub(super) fn is_environment(name: &str) -> bool {
    let name = name.trim_end_matches('*');
    LINES.contains(&name) || MATRICES.iter().any(|(known, _)| *known == name)
}

/// The parts of a formula.
pub(super) fn items(latex: &str) -> Vec<Item> {
    Reader { rest: latex, depth: 0 }.sequence()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Command(&'a str),
    Char(char),
    Space,
}

#[derive(Debug)]
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let first = self.rest.chars().next()?;
        if first.is_whitespace() {
            self.rest = self.rest.trim_start();
            return Some(Token::Space);
        }
        let after = self.rest.get(first.len_utf8()..).unwrap_or_default();
        self.rest = after;
        if first != '\\' {
            return Some(Token::Char(first));
        }
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let length = if letters > 0 { letters } else { after.chars().next().map_or(0, char::len_utf8) };
        let (name, rest) = after.split_at(length);
        self.rest = rest;
        Some(if name.is_empty() { Token::Char('\\') } else { Token::Command(name) })
    }

    fn sequence(&mut self) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        while let Some(token) = self.next() {
            match token {
                Token::Space => {
                    // A typesetter leaves a space behind a comma, but not within a number.
                    if items.last().is_some_and(|item| item.role == Role::Comma) {
                        items.push(Item::new(Role::Space, " "));
                    }
                }
                Token::Char('&') => {}
                Token::Char('~') => items.push(Item::new(Role::Space, " ")),
                Token::Char('\'') => raise(&mut items, "′"),
                Token::Char(sign @ ('^' | '_')) => self.script(&mut items, sign == '^'),
                Token::Char(':') if self.rest.starts_with('=') => {
                    self.next();
                    items.push(Item::new(Role::Relation, ":="));
                }
                Token::Char('{') => self.group(&mut items),
                Token::Char('}') => items.push(Item::new(Role::Close, "}")),
                Token::Char(c) => items.push(Item::new(symbols::role(c), c)),
                Token::Command("\\" | "newline" | "cr") => {
                    self.skip_dimension();
                    items.push(Item::new(Role::Break, ""));
                }
                Token::Command(name) => self.command(name, &mut items),
            }
        }
        items
    }

    /// Whatever stands between braces; `{` was read.
    fn group(&mut self, items: &mut Vec<Item>) {
        let body = self.braced();
        let Some(inner) = self.inner(body) else {
            return items.push(Item::new(Role::Atom, format!("{{{body}}}")));
        };
        match inner.as_slice() {
            [_] => items.extend(inner),
            inner if inner.iter().any(|item| matches!(item.role, Role::Rows | Role::Break)) => {
                items.extend_from_slice(inner);
            }
            inner => items.push(Item::new(Role::Atom, joined(inner, false))),
        }
    }

    /// The parts of a text within this one; `None` when it is too deep.
    fn inner(&self, text: &str) -> Option<Vec<Item>> {
        let depth = self.depth + 1;
        (depth < MAX_DEPTH).then(|| Reader { rest: text, depth }.sequence())
    }

    fn line(&self, text: &str, compact: bool) -> String {
        self.inner(text).map_or_else(|| text.to_owned(), |items| joined(&items, compact))
    }

    /// The text up to the brace that closes, which is read too.
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

    /// The source of an argument: a group without its braces, a command, or one character.
    fn argument(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let start = self.rest;
        match self.next() {
            Some(Token::Char('{')) => self.braced(),
            // As in `x^\frac{1}{2}`, which LaTeX itself would not take.
            Some(Token::Command(name)) => {
                let takes = match symbols::command(name) {
                    Some(Command::Fraction | Command::Binomial | Command::Over { .. }) => 2,
                    Some(Command::Sign(..) | Command::Silent) | None => 0,
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

    /// `\\[4pt]` asks for more room between rows.
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

    fn script(&mut self, items: &mut Vec<Item>, raised: bool) {
        let body = self.argument();
        self.add_script(body, items, raised);
    }

    fn add_script(&self, body: &str, items: &mut Vec<Item>, raised: bool) {
        let small = script(self.line(body, true).trim(), raised);
        match raised {
            true => raise(items, &small),
            false => lower(items, &small),
        }
    }

    fn command(&mut self, name: &'a str, items: &mut Vec<Item>) {
        let Some(command) = symbols::command(name) else {
            return items.push(self.unknown(name));
        };
        match command {
            Command::Silent => self.silent(name),
            Command::Dropped => {
                self.argument();
            }
            Command::Plain => self.plain(items),
            Command::Words => self.words(items),
            Command::Begin => self.environment(items),
            Command::Second => {
                self.argument();
                self.plain(items);
            }
            Command::Over { raised } => {
                let script = self.argument();
                self.plain(items);
                self.add_script(script, items, raised);
            }
            Command::Aside(words) => {
                let text = bracketed(&format!("{words}{}", self.shown(false)));
                items.extend([Item::new(Role::Space, " "), Item::new(Role::Atom, text)]);
            }
            other => items.push(self.value(name, other)),
        }
    }

    /// What a command and its arguments are together.
    fn value(&mut self, name: &str, command: Command) -> Item {
        match command {
            Command::Sign(role, text) => Item::new(role, text),
            Command::Arrow => Item::new(Role::Relation, format!("—{}→", self.shown(true))),
            Command::Accent(mark) => {
                let text = self.shown(true);
                // Marks on marks would double the text with every command.
                let marked = match text.contains(mark) || text.chars().count() > MAX_MARKED {
                    true => text,
                    false => text.chars().flat_map(|c| [c, mark]).collect(),
                };
                Item::new(Role::Atom, marked)
            }
            Command::Alphabet(from, to) => {
                let body = self.argument();
                Item::new(Role::Atom, mapped(body, from, to).unwrap_or_else(|| self.line(body, false)))
            }
            Command::Fraction => {
                let (above, below) = (self.shown(false), self.shown(false));
                match above.is_empty() && below.is_empty() {
                    true => Item::new(Role::Atom, format!("\\{name}")),
                    false => Item::new(Role::Fraction, fraction(&above, &below)),
                }
            }
            Command::Binomial => {
                let (above, below) = (self.shown(false), self.shown(false));
                Item::new(Role::Atom, format!("C({above}, {below})"))
            }
            Command::Root => {
                let degree = self.optional().map(|degree| self.line(degree, true)).unwrap_or_default();
                Item::new(Role::Atom, root(&degree, &self.shown(false)))
            }
            Command::Not => {
                let struck = match self.shown(true).as_str() {
                    "=" => "≠".to_owned(),
                    "∈" => "∉".to_owned(),
                    other => format!("{other}\u{338}"),
                };
                Item::new(Role::Relation, struck)
            }
            _ => Item::new(Role::Atom, format!("\\{name}")),
        }
    }

    /// The next argument as a line.
    fn shown(&mut self, compact: bool) -> String {
        let body = self.argument();
        self.line(body, compact)
    }

    /// `\left.` has no delimiter to show.
    fn silent(&mut self, name: &str) {
        let rest = self.rest.trim_start();
        if matches!(name, "left" | "right") && rest.starts_with('.') {
            self.rest = rest.get(1..).unwrap_or_default();
        }
    }

    fn plain(&mut self, items: &mut Vec<Item>) {
        let body = self.argument();
        match self.inner(body) {
            Some(inner) => items.extend(inner),
            None => items.push(Item::new(Role::Atom, body)),
        }
    }

    fn words(&mut self, items: &mut Vec<Item>) {
        self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
        let body = self.argument();
        // Formulas and escapes within words.
        let text = body.replace("\\ ", " ").replace(['$', '\\'], "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let role = if text.chars().count() > 1 { Role::Word } else { Role::Atom };
        let space = |on: bool| on.then(|| Item::new(Role::Space, " "));
        items.extend(space(body.starts_with(char::is_whitespace)));
        items.push(Item::new(role, text));
        items.extend(space(body.ends_with(char::is_whitespace)));
    }

    /// A command nobody knows, with the groups that follow it.
    fn unknown(&mut self, name: &str) -> Item {
        let mut text = format!("\\{name}");
        while let Some(rest) = self.rest.strip_prefix('{') {
            self.rest = rest;
            text.push_str(&format!("{{{}}}", self.braced()));
        }
        // What follows would run into the name.
        let is_word = self.rest.starts_with(char::is_whitespace);
        Item::new(if is_word { Role::Word } else { Role::Atom }, text)
    }

    fn environment(&mut self, items: &mut Vec<Item>) {
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
                None => items.push(Item::new(Role::Atom, body)),
            }
            return;
        }
        let Some((_, brackets)) = MATRICES.iter().find(|(known, _)| *known == plain) else {
            return items.push(Item::new(Role::Atom, format!("\\begin{{{name}}}{body}{end}")));
        };
        let cells: Vec<Vec<String>> = cut(inner, "\\\\")
            .into_iter()
            .filter(|row| !row.trim().is_empty())
            .map(|row| {
                cut(row, "&").into_iter().map(|cell| self.line(cell, false).trim().to_owned()).collect()
            })
            .collect();
        items.push(Item::rows(&cells, *brackets));
    }
}

fn raise(items: &mut Vec<Item>, small: &str) {
    match items.last_mut() {
        Some(item) if has_base(item.role) => {
            if item.role == Role::Fraction {
                *item = Item::new(Role::Atom, bracketed(&item.text));
            }
            item.text.push_str(small);
        }
        _ => items.push(Item::new(Role::Atom, small)),
    }
}

/// A lowered script goes before a raised one that came first: `x^2_1` is `x_1^2`.
fn lower(items: &mut Vec<Item>, small: &str) {
    let Some(item) = items.last_mut().filter(|item| has_base(item.role)) else {
        return items.push(Item::new(Role::Atom, small));
    };
    let base = item.text.trim_end_matches(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵏ′".contains(c)).len();
    let at = if base == 0 { item.text.len() } else { base };
    item.text.insert_str(at, small);
}

fn has_base(role: Role) -> bool {
    matches!(
        role,
        Role::Atom | Role::Fraction | Role::Function | Role::Word | Role::Close | Role::Bar | Role::Relation
    )
}
