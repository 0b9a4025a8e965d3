//! Place in an owner's YAML file, with its context: for describing faults in plain words. Used by the readers of agents
//! and packs.

use figaro_files::yaml::TextPosition;

/// A place in a text, with its context.
#[derive(Debug)]
pub(super) struct YamlPlace<'a> {
    /// Lines up to that of the place.
    above: Vec<&'a str>,
    /// Line of the place; empty after the last line.
    line: &'a str,
    /// Part of the line before the place.
    before: String,
    /// Part of the line from the place on.
    behind: String,
    /// `true` if the whole text has neither keys nor values.
    is_empty: bool,
}

impl<'a> YamlPlace<'a> {
    /// Locates the place in the text; `None` if it is unknown.
    pub(super) fn of(text: &'a str, at: Option<TextPosition>) -> Option<Self> {
        let at = at?;
        let row = usize::try_from(at.line).ok()?.checked_sub(1)?;
        let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
        let line = text.lines().nth(row).unwrap_or_default();
        let is_filler = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        Some(Self {
            above: text.lines().take(row).collect(),
            line,
            before: line.chars().take(column).collect(),
            behind: line.chars().skip(column).collect(),
            is_empty: text.lines().all(is_filler),
        })
    }

    /// Describes a fault in the form of the text, whose longer texts follow the key `block`.
    pub(super) fn form(&self, theirs: &str, block: &str) -> Option<String> {
        if self.is_empty && theirs.contains("unexpected end of input") {
            return Some("the file is empty".to_owned());
        }
        if theirs.contains("tabs disallowed") {
            return Some("indent with spaces, not tabs".to_owned());
        }
        let is_glued =
            |text: &str| text.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        if is_glued(self.line.trim_start()) && !theirs.contains("unknown field") {
            return Some("write a space behind the dash, such as `- name: …`".to_owned());
        }
        if theirs.contains("while scanning an anchor or alias") && self.behind.starts_with('*') {
            return Some("write \"*\" with quotes".to_owned());
        }
        if theirs.contains("mapping values are not allowed") && self.before.contains(": ") {
            let key = first_key(self.line);
            return Some(format!("{theirs}: put the text in quotes, or on indented lines behind {key}: |"));
        }
        if theirs.contains("simple key expected ':'") && !self.line.contains(':') {
            return Some(format!("this line is no key: indent the lines of a text behind `{block}: |`"));
        }
        None
    }

    /// Returns the key that the place belongs to: the one before it in its line, else that of its list.
    pub(super) fn key(&self) -> &str {
        let before = self.before.trim_end_matches([' ', ':', '[', '-']);
        let near = before.rsplit([' ', '{', '[', ',']).next().unwrap_or_default();
        if near.is_empty() { self.list().unwrap_or("this") } else { near }
    }

    /// Returns the key of the list that contains the place; that of the line if it begins no item.
    pub(super) fn list(&self) -> Option<&str> {
        let is_item = |line: &str| line.trim_start().starts_with('-');
        if !is_item(self.line) {
            return Some(first_key(self.line));
        }
        let is_around = |line: &&&str| indent(line) <= indent(self.line) && !is_item(line);
        self.above
            .iter()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .find(is_around)
            .map(|line| first_key(line))
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the key at the start of a line.
fn first_key(line: &str) -> &str {
    line.split(':').next().unwrap_or_default().trim_start_matches([' ', '-'])
}
