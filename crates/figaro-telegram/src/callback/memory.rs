//! Buttons of the memories about a person.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::MemoryId;

buttons! {
    /// Buttons of memories. They act on the memories of the person who presses, in their private chat with the bot.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum MemoryButton = "memory" {
        /// Shows a page of the list, from 0.
        List(page: Page) = "list",
        Open(memory: MemoryId) = "open",
        /// Shows the message that the memory was taken from.
        Source(memory: MemoryId) = "source",
        /// Asks for a new wording of the memory.
        Edit(memory: MemoryId) = "edit",
        Remove(memory: MemoryId) = "drop",
        /// Restores a memory that was removed.
        Undo(memory: MemoryId) = "undo",
        /// Turns the remembering of facts on.
        On = "on",
        /// Turns the remembering of facts off.
        Off = "off",
        /// Asks for confirmation to erase all memories.
        Ask = "ask",
        Erase = "erase",
    }
}
