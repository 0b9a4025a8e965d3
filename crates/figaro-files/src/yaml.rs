//! Reads the YAML files that an owner writes, strictly.

use serde::de::DeserializeOwned;
use serde_saphyr::Location;

use figaro_base::text::{nearest, one_line};

/// The most characters of what is wrong.
const MAX_WORDS: usize = 600;

/// What the parser says, and what tells more to whoever wrote the file.
const PLAINER: [(&str, &str); 7] = [
    (", set DuplicateKeyPolicy in Options if acceptable", ""),
    ("expected mapping start", "expected keys with values here, such as `name: …`"),
    ("unclosed bracket", "nothing closes the bracket"),
    (
        "illegal placement of ':' indicator",
        "a `:` cannot stand here: is a bracket or quotation mark above it not closed?",
    ),
    ("\"-\" is only valid inside a block", "a list cannot begin here: is a bracket above it not closed?"),
    ("invalid indentation in multiline quoted scalar", "the quotation mark above is not closed"),
    ("expected sequence start", "expected a list here, a line that begins with `- ` for each item"),
];

/// What the parser says of a second document behind a line `---`, and what tells more.
const SEVERAL: &str = "multiple YAML documents";
const ONE: &str =
    "there is more than one document here, parted by a line `---`: write each into a file of its own";

/// A place in a text, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The line.
    pub line: u64,
    /// The character in it.
    pub column: u64,
}

/// What does not fit in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where it stands, if that is known.
    pub at: Option<Mark>,
    /// What is wrong, in one line.
    pub words: String,
}

impl Misfit {
    /// A fault at a place, in words for the owner of the file.
    pub fn at(at: impl Into<Mark>, words: impl Into<String>) -> Self {
        Self { at: Some(at.into()), words: words.into() }
    }

    /// A line for people, with the name of the file.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let Self { at, words } = self;
        match at {
            Some(Mark { line, column }) => format!("{file}:{line}:{column}: {words}"),
            None => format!("{file}: {words}"),
        }
    }
}

impl From<String> for Misfit {
    fn from(words: String) -> Self {
        Self { at: None, words }
    }
}

impl From<Location> for Mark {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// Reads YAML.
///
/// # Errors
/// The first thing that does not fit; of a key that is not known, which one may be meant.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    serde_saphyr::from_str(text).map_err(|error| {
        let at = error.location().map(Mark::from);
        let words = error.without_snippet().to_string();
        let place = at.map(|Mark { line, column }| format!(" at line {line}, column {column}"));
        let words = place.map_or(words.clone(), |place| words.replace(&place, ""));
        let words = PLAINER.iter().fold(words, |words, (theirs, ours)| words.replace(theirs, ours));
        let words = if words.contains(SEVERAL) { ONE.to_owned() } else { words };
        Misfit { at, words: one_line(&suggesting(words), MAX_WORDS) }
    })
}

/// The words of an error and, where they name an unknown field and those there are, the one of these that is like it.
fn suggesting(error: String) -> String {
    match meant(&error) {
        Some(meant) => format!("{error}: did you mean {meant}?"),
        None => error,
    }
}

/// The field that is meant by one that is not known, as in ``unknown field `tite`, expected one of name, title at line 2``.
fn meant(error: &str) -> Option<&str> {
    let (unknown, known) = error.split_once("unknown field `")?.1.split_once("`, expected ")?;
    let known = known.split_once(" at line ").map_or(known, |(known, _)| known);
    let known = known.trim_start_matches("one of ").split([',', ' ', '`']).filter(|known| !known.is_empty());
    nearest(unknown, known, |known| known.len().div_ceil(3))
}
