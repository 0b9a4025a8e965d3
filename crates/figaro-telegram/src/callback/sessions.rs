//! The buttons of the list of sessions and of a session's cards.

use super::buttons::buttons;
use super::{ModelKey, Page};
use figaro_base::ids::SessionId;

buttons! {
    /// The buttons of sessions. Each of one session acts on no other, and on none of another conversation.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Sessions = "sessions" {
        /// Shows a page of the conversation's sessions, from 0.
        List(page: Page) = "list",
        /// Shows the card of a session.
        Open(session: SessionId) = "open",
        /// Makes it the one that the next question belongs to.
        Switch(session: SessionId) = "use",
        /// Asks for its new name.
        Rename(session: SessionId) = "name",
        /// Sends it as a file.
        Export(session: SessionId) = "save",
        /// Asks whether it is to be deleted.
        Ask(session: SessionId) = "ask",
        /// Deletes it.
        Delete(session: SessionId) = "drop",
        /// Shows the models to choose one of for it.
        Models(session: SessionId) = "models",
        /// Sets the model that answers in it.
        Set(session: SessionId, model: ModelKey<24>) = "set",
        /// Takes its model away: that of the chat answers again.
        Clear(session: SessionId) = "clear",
    }
}
