//! The buttons of what is remembered about a person.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::MemoryId;

buttons! {
    /// The buttons of memories. They act for whoever presses, in their own chat with the bot.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Memory = "memory" {
        /// Shows a page of the list, from 0.
        List(page: Page) = "list",
        /// Shows one memory.
        Open(memory: MemoryId) = "open",
        /// Shows the message that it was said in.
        Source(memory: MemoryId) = "source",
        /// Asks for other words.
        Edit(memory: MemoryId) = "edit",
        /// Removes it.
        Remove(memory: MemoryId) = "drop",
        /// Puts it back.
        Undo(memory: MemoryId) = "undo",
        /// Agrees to facts being remembered.
        On = "on",
        /// Has no more facts remembered.
        Off = "off",
        /// Asks whether all are to be erased.
        Ask = "ask",
        /// Erases all.
        Erase = "erase",
    }
}
