//! Strict reader of YAML files written by an owner.

use serde::de::DeserializeOwned;
use serde_saphyr::Location;

use figaro_base::text::{nearest, one_line};

/// Maximum length of an error message, in characters.
const MAX_WORDS: usize = 600;

/// Messages of the parser, with clearer words for the author of the file.
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

/// Message of the parser about a second document after a line `---`, with clearer words.
const SEVERAL: &str = "multiple YAML documents";
const ONE: &str =
    "there is more than one document here, parted by a line `---`: write each into a file of its own";

/// A position in a text; line and column count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

/// A fault in a file, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Position of the fault, if known.
    pub at: Option<TextPosition>,
    /// Description of the fault, in one line.
    pub words: String,
}

impl Misfit {
    /// Makes a fault at a position, worded for the owner of the file.
    pub fn at(at: impl Into<TextPosition>, words: impl Into<String>) -> Self {
        Self { at: Some(at.into()), words: words.into() }
    }

    /// Formats the fault as one line with file name and position.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let Self { at, words } = self;
        match at {
            Some(TextPosition { line, column }) => format!("{file}:{line}:{column}: {words}"),
            None => format!("{file}: {words}"),
        }
    }
}

impl From<String> for Misfit {
    fn from(words: String) -> Self {
        Self { at: None, words }
    }
}

impl From<Location> for TextPosition {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// Parses YAML into `T`.
///
/// # Errors
/// The first fault. For an unknown key it suggests a similar known one.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    serde_saphyr::from_str(text).map_err(|error| {
        let at = error.location().map(TextPosition::from);
        let words = error.without_snippet().to_string();
        let place = at.map(|TextPosition { line, column }| format!(" at line {line}, column {column}"));
        let words = place.map_or(words.clone(), |place| words.replace(&place, ""));
        let words = PLAINER.iter().fold(words, |words, (theirs, ours)| words.replace(theirs, ours));
        let words = if words.contains(SEVERAL) { ONE.to_owned() } else { words };
        Misfit { at, words: one_line(&suggesting(words), MAX_WORDS) }
    })
}

/// Appends a suggestion to an "unknown field" error if a known field is similar.
fn suggesting(error: String) -> String {
    match meant(&error) {
        Some(meant) => format!("{error}: did you mean {meant}?"),
        None => error,
    }
}

/// Returns the known field most similar to an unknown one in an error such as ``unknown field `tite`, expected one of
/// name, title at line 2``.
fn meant(error: &str) -> Option<&str> {
    let (unknown, known) = error.split_once("unknown field `")?.1.split_once("`, expected ")?;
    let known = known.split_once(" at line ").map_or(known, |(known, _)| known);
    let known = known.trim_start_matches("one of ").split([',', ' ', '`']).filter(|known| !known.is_empty());
    nearest(unknown, known, |known| known.len().div_ceil(3))
}
