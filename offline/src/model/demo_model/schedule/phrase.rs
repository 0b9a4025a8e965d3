//! Phrases at the beginning of plain words.

/// How many words a phrase has, if others begin with it.
pub(super) fn begins(words: &[&str], phrase: &str) -> Option<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words.starts_with(&phrase).then_some(phrase.len())
}

/// The longest of some phrases that words begin with: how many words it has.
pub(super) fn any(words: &[&str], phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| begins(words, phrase)).max()
}
