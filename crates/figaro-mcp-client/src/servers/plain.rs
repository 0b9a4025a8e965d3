//! Names and descriptions of servers, within the limits of what models are offered. Called by [`super::tools`] and
//! [`super::schema`].

use figaro_base::text::{is_unseen, one_line};

/// Maximum length of a name that providers accept, in bytes.
pub(super) const MAX_NAME: usize = 64;
/// Maximum length of a description, in characters.
pub(super) const MAX_DESCRIPTION: usize = 600;

/// Makes foreign text one line without invisible characters.
pub(super) fn plain(words: &str, most: usize) -> String {
    // Text far past the limit is not examined.
    let words: String = words.chars().take(most * 4).filter(|c| !is_unseen(*c)).collect();
    let words = words.replace(char::is_control, " ");
    one_line(&words, most)
}
