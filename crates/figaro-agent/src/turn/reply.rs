//! The reply of a turn in its chat.

use figaro_domain::delivery::Action;

/// Text for the chat, and the buttons under it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Text in Markdown. Nothing is sent if it is empty.
    pub(crate) markdown: String,
    /// Actions offered to the person, one button each.
    pub(crate) actions: Vec<Action>,
}
