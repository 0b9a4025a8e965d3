//! Views for `extraction.md` and `unread.md`: messages of a person to be read for facts.

use serde::Serialize;

/// View for `unread.md`: messages of a person, for extracting facts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UnreadView {
    /// Name of the person.
    pub about: String,
    /// Current memories of the person, labelled.
    pub known: Vec<LabelledText>,
    /// Records of the chat, one per line.
    pub records: Vec<String>,
    /// Messages before them, oldest first; the label names the writer.
    pub before: Vec<LabelledText>,
    /// New messages of the person, oldest first.
    pub new: Vec<LabelledText>,
}

/// A text with its label.
#[derive(Debug, Clone, Serialize)]
pub struct LabelledText {
    /// Label, such as `N1` or a name.
    pub label: String,
    /// Text behind the label.
    pub text: String,
}
