//! Reads the YAML files that an owner writes, strictly.

use serde::de::DeserializeOwned;

use super::nearest;

/// Reads YAML.
///
/// # Errors
/// What does not fit, in one line with its place; of a key that is not known, which one may be meant.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str(text).map_err(|error| suggesting(error.without_snippet().to_string()))
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
