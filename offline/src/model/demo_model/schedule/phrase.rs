//! Phrases at the start of plain words.

/// Returns the number of words in `phrase`, if `words` begin with it.
pub(super) fn begins(words: &[&str], phrase: &str) -> Option<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words.starts_with(&phrase).then_some(phrase.len())
}

/// Returns the number of words in the longest phrase that `words` begin with.
pub(super) fn any(words: &[&str], phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| begins(words, phrase)).max()
}
