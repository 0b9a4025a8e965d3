//! View for the template of older messages.

use serde::Serialize;

/// View for `older.md`: older messages relevant to the question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OlderView {
    /// Days with such messages, oldest first.
    pub days: Vec<OlderDay>,
}

/// Older messages of one day.
#[derive(Debug, Clone, Serialize)]
pub struct OlderDay {
    /// Date in the chat's zone.
    pub date: String,
    /// Messages of the day, oldest first.
    pub said: Vec<OlderMessage>,
}

/// An older message, on one line.
#[derive(Debug, Clone, Serialize)]
pub struct OlderMessage {
    /// Name of the writer.
    pub from: String,
    /// Text to show, whole or an excerpt.
    pub text: String,
    /// Key for looking up the whole message; `None` if `text` is whole.
    pub key: Option<String>,
}
