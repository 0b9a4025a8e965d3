//! What the template of older messages is rendered from.

use serde::Serialize;

/// What `older.md` is rendered from: older messages that bear on the question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OlderView {
    /// The days of which there are some, oldest first.
    pub days: Vec<OlderDay>,
}

/// A day of older messages.
#[derive(Debug, Clone, Serialize)]
pub struct OlderDay {
    /// The date in the chat's zone.
    pub date: String,
    /// What was said, oldest first.
    pub said: Vec<OlderMessage>,
}

/// An older message, on one line.
#[derive(Debug, Clone, Serialize)]
pub struct OlderMessage {
    /// The name of whoever wrote it.
    pub from: String,
    /// What of it is shown.
    pub text: String,
    /// The key to look the whole of it up by, where that is only a part.
    pub key: Option<String>,
}
