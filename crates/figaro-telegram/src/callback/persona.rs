//! The buttons that show, choose and change the personas of a chat.

use super::buttons::buttons;
use super::{Page, Short};
use figaro_base::ids::PersonaId;

buttons! {
    /// The buttons of the card of `/persona`. A page is the one of the list that is shown again.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Persona = "persona" {
        /// Shows a page of the list.
        List(page: Page) = "list",
        /// Chooses a persona of a file, by its name.
        File(persona: Short<40>, page: Page) = "file",
        /// Chooses a persona of the chat's own.
        Own(persona: PersonaId, page: Page) = "own",
        /// Takes the chosen persona away.
        Clear(page: Page) = "clear",
        /// Asks for the words of a new persona.
        New = "new",
        /// Shows a persona of the chat's own, with what can be done to it.
        Open(persona: PersonaId, page: Page) = "open",
        /// Asks for other words of a persona of the chat's own.
        Edit(persona: PersonaId) = "edit",
        /// Asks for settings of a persona of the chat's own.
        Writing(persona: PersonaId) = "set",
        /// Asks whether a persona of the chat's own is to be deleted.
        Drop(persona: PersonaId, page: Page) = "drop",
        /// Deletes it.
        Delete(persona: PersonaId, page: Page) = "gone",
    }
}
