//! What a turn says in its chat.

use figaro_domain::delivery::Action;

/// Words for the chat, and the buttons under them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// In Markdown; nothing is sent when it is empty.
    pub(crate) markdown: String,
    /// What the person may do about it, a button each.
    pub(crate) actions: Vec<Action>,
}
