//! Parser and editor of `.env` files. A changed value leaves all other text as it is. `main` reads the file and `figaro
//! init` writes it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;

use super::variables::Variables;

/// Name of the file, in the folder where the program starts.
pub const ENV_FILE: &str = ".env";

/// A parsed file, with its original text.
#[derive(Clone, Default)]
pub struct EnvFile {
    text: String,
    entries: Vec<EnvEntry>,
}

/// A variable set by the file.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct EnvEntry {
    pub(crate) name: String,
    /// Value without quotes and escapes.
    pub(crate) value: String,
    /// First line of the entry, from 1.
    pub(crate) line: usize,
    /// Byte range of its lines.
    place: Range<usize>,
}

/// A line that sets no variable. Its text is left out of the error: it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the file .env {what}")]
pub struct EnvFault {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    /// Description of the fault, to follow the line number in a sentence.
    pub(crate) what: &'static str,
}

impl EnvFile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// The first line that sets no variable.
    pub fn parse(text: &str) -> Result<Self, EnvFault> {
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let ends: Vec<usize> = text.split_inclusive('\n').scan(0, end_of_line).collect();
        let passed = Rc::new(Cell::new(0));
        let lines = LineReader { rest: text.as_bytes(), passed: passed.clone() };
        let mut entries = Vec::new();
        let mut first = 0;
        for item in dotenvy::from_read_iter(lines) {
            let last = passed.get();
            first += text.lines().skip(first).take_while(|line| sets_nothing(line)).count();
            let start = first.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
            let place = start..ends.get(last.saturating_sub(1)).copied().unwrap_or(text.len());
            let (name, value) = item.map_err(|error| EnvFault {
                line: first + 1,
                what: fault(text.get(place.clone()).unwrap_or_default(), &error),
            })?;
            entries.push(EnvEntry { name, value, line: first + 1, place });
            first = last;
        }
        Ok(Self { text, entries })
    }

    /// Returns the text of the file, as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the variables in file order. If a name is set twice, the last one counts.
    #[must_use]
    pub(crate) fn entries(&self) -> &[EnvEntry] {
        &self.entries
    }

    /// Returns the value of a variable; `None` if it is unset or blank.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let value = self.entry(name)?.value.trim();
        (!value.is_empty()).then_some(value)
    }

    /// Returns a sentence for each name that is set more than once.
    pub(crate) fn twice(&self) -> Vec<String> {
        let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in &self.entries {
            lines.entry(&entry.name).or_default().push(entry.line.to_string());
        }
        lines.retain(|_, lines| lines.len() > 1);
        let told = |(name, lines): (&str, Vec<String>)| {
            format!("{name} stands in lines {} of .env: the last of them counts", lines.join(", "))
        };
        lines.into_iter().map(told).collect()
    }

    /// Returns the names of the secret variables that the file sets.
    #[must_use]
    pub fn secrets(&self, variables: &Variables) -> BTreeSet<&str> {
        let names = self
            .entries
            .iter()
            .filter(|entry| !entry.value.trim().is_empty())
            .map(|entry| entry.name.as_str());
        names.filter(|name| variables.holds_secret(name)).collect()
    }

    /// Returns the file with this variable set to a single-line value. Other lines and comments stay. A new variable
    /// goes below the comment that shows it, or to the end with `meaning` as its comment.
    ///
    /// # Errors
    /// None for a valid name and a single-line value.
    pub fn with(&self, name: &str, value: &str, meaning: &str) -> Result<Self, EnvFault> {
        let end = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = self.text.clone();
        if let Some(entry) = self.entry(name) {
            let changed = changed(text.get(entry.place.clone()).unwrap_or_default(), &quoted(value), end);
            text.replace_range(entry.place.clone(), &changed);
            return Self::parse(&text);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(end);
        }
        let line = format!("{name}={}{end}", quoted(value));
        match below_comment(&text, name) {
            Some(place) => text.insert_str(place, &line),
            None => {
                let gap = if text.is_empty() { "" } else { end };
                text.push_str(&format!("{gap}# {meaning}{end}{line}"));
            }
        }
        Self::parse(&text)
    }

    fn entry(&self, name: &str) -> Option<&EnvEntry> {
        self.entries.iter().rev().find(|entry| entry.name == name)
    }
}

impl fmt::Debug for EnvFile {
    /// Omits the text, which holds secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvFile").field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl fmt::Debug for EnvEntry {
    /// Omits the value, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvEntry").field("name", &self.name).field("line", &self.line).finish_non_exhaustive()
    }
}

/// Returns one line per read and counts them, since the library does not report how far it has read.
struct LineReader<'a> {
    rest: &'a [u8],
    passed: Rc<Cell<usize>>,
}

impl Read for LineReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line = self.rest.iter().position(|byte| *byte == b'\n').map_or(self.rest.len(), |end| end + 1);
        let taken = line.min(buffer.len());
        let (now, rest) = self.rest.split_at(taken);
        if taken == line && taken > 0 {
            self.passed.set(self.passed.get() + 1);
        }
        self.rest = rest;
        buffer.get_mut(..taken).map(|place| place.copy_from_slice(now)).map_or(Ok(0), |()| Ok(taken))
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the form that scan takes")]
fn end_of_line(end: &mut usize, line: &str) -> Option<usize> {
    *end += line.len();
    Some(*end)
}

fn sets_nothing(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// Describes the fault in these lines without quoting them.
fn fault(lines: &str, error: &dotenvy::Error) -> &'static str {
    let line = lines.trim_start().lines().next().unwrap_or_default();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, _)) = line.split_once('=') else { return "has no = between a name and a value" };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let name = name.trim();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_name) {
        return "has a name that is none: letters, digits and _ make one";
    }
    let dotenvy::Error::LineParse(value, at) = error else { return "cannot be read" };
    match at.checked_sub(1).and_then(|before| value.chars().nth(before)) {
        Some(' ' | '\t') => "has words behind its value; a value with spaces stands in quotes",
        Some('\\') => "has a \\ that means nothing; a value with one stands in single quotes",
        _ => "has a quote or a ${ that is not closed",
    }
}

/// Replaces the value in the lines of an entry. Text before the value and a comment after it stay.
fn changed(lines: &str, value: &str, end: &str) -> String {
    let (head, rest) = lines.split_once('=').unwrap_or((lines, ""));
    let rest = rest.trim_start_matches([' ', '\t']);
    let comment = rest.get(end_of_value(rest)..).unwrap_or_default().trim();
    let gap = if comment.is_empty() { "" } else { " " };
    format!("{head}={value}{gap}{comment}{end}")
}

/// Returns the end of the value that starts the text: the first space outside of quotes.
fn end_of_value(text: &str) -> usize {
    if text.starts_with('#') {
        return 0;
    }
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// Returns the position below the comment that shows this variable, as in `.env.example`.
fn below_comment(text: &str, name: &str) -> Option<usize> {
    let mut end = 0;
    text.split_inclusive('\n').find_map(|line| {
        end += line.len();
        let shown = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(name)?;
        shown.trim_start().starts_with('=').then_some(end)
    })
}

/// Quotes a value if needed. Plain values stay unquoted: not every program that reads such a file knows quotes.
pub(super) fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c);
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    if !value.contains(['\'', '\\']) {
        return format!("'{value}'");
    }
    let mut quoted = String::from("\"");
    for c in value.chars() {
        if matches!(c, '"' | '\\' | '$') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_set_is_found_with_its_line() {
        let text = "\u{feff}# mine\r\nA=1\r\n\r\nexport B='two\nlines' # why\n\n# more\nC=\nD=x";
        let file = EnvFile::parse(text).unwrap();
        let found: Vec<_> =
            file.entries().iter().map(|e| (e.name.as_str(), e.value.as_str(), e.line)).collect();
        assert_eq!(found, [("A", "1", 2), ("B", "two\nlines", 4), ("C", "", 8), ("D", "x", 9)]);
        assert_eq!((file.value("D"), file.value("C"), file.value("E")), (Some("x"), None, None));
        assert!(!format!("{file:?}").contains("two"), "{file:?}");
    }

    #[test]
    fn a_line_that_is_none_is_told_by_its_number_and_fault() {
        let cases = [
            ("A=1\n\nTOKEN 123\n", 3, "has no ="),
            ("A=1\nTOKEN\n", 2, "has no ="),
            ("MY-NAME=1\n", 1, "has a name"),
            ("export 7UP=1\n", 1, "has a name"),
            ("=1\n", 1, "has a name"),
            ("A=one two\n", 1, "has words"),
            ("A=1\nB=a\\b\n", 2, "has a \\"),
            ("A=1\nB='open\nC=2\nD=3\n", 2, "has a quote"),
            ("A=1\nB=${C\nC=2\n", 2, "has a quote or a ${"),
            ("A='two\nlines'\n# b\nB b\n", 4, "has no ="),
            ("A 1\nA 1\n", 1, "has no ="),
        ];
        for (text, line, what) in cases {
            let fault = EnvFile::parse(text).unwrap_err();
            assert_eq!(fault.line, line, "{text:?}: {fault}");
            assert!(fault.what.starts_with(what), "{text:?}: {fault}");
        }
    }

    #[test]
    fn a_change_leaves_all_else_as_it_is() {
        let cases = [
            ("", "# What it is.\nKEY=new\n"),
            ("A=1", "A=1\n\n# What it is.\nKEY=new\n"),
            ("# a\nKEY=old # keep\n\nB=2\n", "# a\nKEY=new # keep\n\nB=2\n"),
            ("export KEY = \"o l # d\"\r\nB=2\r\n", "export KEY =new\r\nB=2\r\n"),
            ("KEY=# none\n", "KEY=new # none\n"),
            ("KEY=1\nB=2\nKEY=2\n", "KEY=1\nB=2\nKEY=new\n"),
            ("KEY='two\nlines' # c\nB=2\n", "KEY=new # c\nB=2\n"),
            ("KEY=last", "KEY=new\n"),
            ("# The key.\n# KEY=\n\n# B=\n", "# The key.\n# KEY=\nKEY=new\n\n# B=\n"),
            ("#KEY = old\nB=2\n", "#KEY = old\nKEY=new\nB=2\n"),
            ("# KEYS=1\n", "# KEYS=1\n\n# What it is.\nKEY=new\n"),
        ];
        for (before, after) in cases {
            let file = EnvFile::parse(before).unwrap().with("KEY", "new", "What it is.").unwrap();
            assert_eq!(file.text(), after, "{before:?}");
            assert_eq!(file.value("KEY"), Some("new"), "{before:?}");
        }
    }

    proptest! {
        #[test]
        fn any_single_line_is_read_as_it_was_set(old in "\\PC*", new in "[^\\n\\r\\x00]*") {
            let before = EnvFile::parse("A=1\nKEY=x # c\nB='2'\n").unwrap();
            let file = before.with("KEY", &old, "M.").unwrap().with("KEY", &new, "M.").unwrap();
            let values: Vec<_> = file.entries().iter().map(|entry| entry.value.as_str()).collect();
            prop_assert_eq!(values, ["1", new.as_str(), "2"]);
            prop_assert!(file.text().contains(" # c"));
        }
    }
}
