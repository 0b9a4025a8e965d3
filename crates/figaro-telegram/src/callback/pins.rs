//! The buttons of pins: those of the list and of a pin's card, and those with which an answer is pinned.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::{MessageId, PinId};

buttons! {
    /// The buttons of the list and of a pin's card. The page is that of the list which the card was opened from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Pins = "pins" {
        /// Shows a page of the list.
        List(page: Page) = "list",
        /// Shows the card of a pin.
        Open(pin: PinId, page: Page) = "open",
        /// Makes it more important.
        More(pin: PinId, page: Page) = "more",
        /// Makes it less important.
        Less(pin: PinId, page: Page) = "less",
        /// Removes it.
        Remove(pin: PinId, page: Page) = "drop",
        /// Puts a removed one back.
        Undo(pin: PinId, page: Page) = "undo",
        /// Replies to the message that it was pinned from.
        Source(pin: PinId) = "source",
    }
}

buttons! {
    /// The buttons with which an answer is pinned, and what was pinned just now is taken back.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum KeepAnswer = "pin" {
        /// Asks whether the answer with the button is to be pinned.
        Ask = "ask",
        /// Pins the answer that ends with this message.
        Yes(message: MessageId) = "yes",
        /// Leaves it.
        No = "no",
        /// Removes what was pinned just now.
        Undo(pin: PinId) = "undo",
    }
}
