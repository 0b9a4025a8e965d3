//! The buttons of the first card, of notes, of what was spent, and of how the bot is doing.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::{NoteId, RunId};

buttons! {
    /// Buttons of the first card.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Start = "start" {
        /// Asks the example.
        Example = "example",
        /// Shows who may talk to the bot.
        Access = "access",
        /// Shows the first card again.
        Back = "back",
    }
}

buttons! {
    /// The buttons of `/help`: each asks the example with this number, from 0.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Help = "help" (u8)
}

buttons! {
    /// Buttons of notes. A list is named by its first note: its own name may be too long.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Notes = "notes" {
        /// Shows a page of all lists.
        Lists(page: Page) = "list",
        /// Shows a page of the list with this note.
        Open(note: NoteId, page: Page) = "open",
        /// The same in a message of its own, as it stands under an answer.
        Show(note: NoteId) = "show",
        /// Removes the note that an answer has just added; the answer stays.
        Drop(note: NoteId) = "back",
        /// Removes the notes that a turn has added; the answer stays.
        DropAll(turn: RunId) = "all",
        /// Removes a note that is done.
        Done(note: NoteId) = "done",
        /// Removes a note.
        Remove(note: NoteId) = "drop",
        /// Puts a removed note back.
        Undo(note: NoteId) = "undo",
    }
}

buttons! {
    /// The ways in which an owner looks at what was spent, each a button.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Usage = "usage" {
        /// Shows figures by day.
        Days = "days",
        /// Shows figures by chat.
        Chats = "chats",
        /// Shows figures by person.
        People = "people",
        /// Shows figures by model.
        Models = "models",
    }
}

impl Usage {
    /// All of them, in the order of their buttons.
    pub(crate) const ALL: [Self; 4] = [Self::Days, Self::Chats, Self::People, Self::Models];
}

buttons! {
    /// The button that shows anew how the bot is doing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Status = "status", ""
}
