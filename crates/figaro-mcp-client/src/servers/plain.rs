//! Names and words of servers, within the bounds of what models are offered. Called by [`super::tools`] and [`super::schema`].

use figaro_base::text::{is_unseen, one_line};

/// The most bytes of a name, as providers take it.
pub(super) const MAX_NAME: usize = 64;
/// The most characters of a description.
pub(super) const MAX_DESCRIPTION: usize = 600;

/// One line of what somebody else wrote, without characters that are not seen.
pub(super) fn plain(words: &str, most: usize) -> String {
    // What lies far behind the bound is not even looked at.
    let words: String = words.chars().take(most * 4).filter(|c| !is_unseen(*c)).collect();
    let words = words.replace(char::is_control, " ");
    one_line(&words, most)
}
