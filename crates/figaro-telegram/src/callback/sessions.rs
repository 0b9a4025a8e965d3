//! Buttons of the list of sessions and of a session's cards.

use super::buttons::buttons;
use super::{ModelKey, Page};
use figaro_base::ids::SessionId;

buttons! {
    /// Buttons of sessions. A button acts only on the session it names, and only in that session's conversation.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum SessionsButton = "sessions" {
        /// Shows a page of the conversation's sessions, from 0.
        List(page: Page) = "list",
        /// Shows the card of a session.
        Open(session: SessionId) = "open",
        /// Makes the session current: the next question belongs to it.
        Switch(session: SessionId) = "use",
        /// Asks for a new name of the session.
        Rename(session: SessionId) = "name",
        /// Sends the session as a file.
        Export(session: SessionId) = "save",
        /// Asks for confirmation to delete the session.
        Ask(session: SessionId) = "ask",
        Delete(session: SessionId) = "drop",
        /// Shows the models to choose from for the session.
        Models(session: SessionId) = "models",
        /// Sets the model that answers in the session.
        Set(session: SessionId, model: ModelKey<24>) = "set",
        /// Removes the session's model; the chat's model answers again.
        Clear(session: SessionId) = "clear",
    }
}
