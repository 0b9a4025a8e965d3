//! Buttons that show, choose and change the personas of a chat.

use super::buttons::buttons;
use super::{Page, Short};
use figaro_base::ids::PersonaId;

buttons! {
    /// Buttons of the card of `/persona`. A page is the list page to show afterwards.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum PersonaButton = "persona" {
        /// Shows a page of the list.
        List(page: Page) = "list",
        /// Chooses a persona from a file, by its name.
        File(persona: Short<40>, page: Page) = "file",
        /// Chooses one of the chat's own personas.
        Own(persona: PersonaId, page: Page) = "own",
        /// Removes the choice of a persona.
        Clear(page: Page) = "clear",
        /// Asks for the text of a new persona.
        New = "new",
        /// Shows one of the chat's own personas with its actions.
        Open(persona: PersonaId, page: Page) = "open",
        /// Asks for a new text for one of the chat's own personas.
        Edit(persona: PersonaId) = "edit",
        /// Asks for settings of one of the chat's own personas.
        Writing(persona: PersonaId) = "set",
        /// Asks for confirmation to delete one of the chat's own personas.
        Drop(persona: PersonaId, page: Page) = "drop",
        Delete(persona: PersonaId, page: Page) = "gone",
    }
}
