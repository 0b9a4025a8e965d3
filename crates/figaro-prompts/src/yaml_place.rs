//! A place in a YAML file that an owner wrote, with what stands around it: for saying what is wrong there in plain words. Used by the
//! readers of agents and packs.

use figaro_files::yaml::Mark;

/// A place in a text, with what stands around it.
#[derive(Debug)]
pub(super) struct YamlPlace<'a> {
    /// The lines up to that of the place.
    above: Vec<&'a str>,
    /// The line of the place; empty behind the last line.
    line: &'a str,
    /// What stands in the line before the place.
    before: String,
    /// What stands in the line from the place on.
    behind: String,
    /// Whether the whole text has neither keys nor values.
    is_empty: bool,
}

impl<'a> YamlPlace<'a> {
    /// The place in the text; `None` where it is not known.
    pub(super) fn of(text: &'a str, at: Option<Mark>) -> Option<Self> {
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

    /// What is wrong with the form of the text, whose longer texts stand behind the key `block`.
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

    /// The key that the place belongs to: the one before it in its line, else that of the list it stands in.
    pub(super) fn key(&self) -> &str {
        let before = self.before.trim_end_matches([' ', ':', '[', '-']);
        let near = before.rsplit([' ', '{', '[', ',']).next().unwrap_or_default();
        if near.is_empty() { self.list().unwrap_or("this") } else { near }
    }

    /// The key of the list that the place stands in; that of the line if it begins no item.
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

/// The key that a line begins with.
fn first_key(line: &str) -> &str {
    line.split(':').next().unwrap_or_default().trim_start_matches([' ', '-'])
}
