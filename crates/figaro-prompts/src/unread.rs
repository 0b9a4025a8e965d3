//! What `extraction.md` and `unread.md` are about: messages of a person that facts are taken from.

use serde::Serialize;

/// What `unread.md` is rendered from: what a person has said, for whoever takes facts from it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UnreadView {
    /// The name of the person.
    pub about: String,
    /// What is remembered of them.
    pub known: Vec<LabelledText>,
    /// The records of the chat, a line each.
    pub records: Vec<String>,
    /// What was said before, oldest first; the label says by whom.
    pub before: Vec<LabelledText>,
    /// What they have said, oldest first.
    pub new: Vec<LabelledText>,
}

/// Words, and what they are called.
#[derive(Debug, Clone, Serialize)]
pub struct LabelledText {
    /// What they are called.
    pub label: String,
    /// The words.
    pub text: String,
}
