//! Buttons of pins: those of the list and of a pin's card, and those that pin an answer.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::{MessageId, PinId};

buttons! {
    /// Buttons of the list and of a pin's card. The page is the list page that the card was opened from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum PinsButton = "pins" {
        /// Shows a page of the list.
        List(page: Page) = "list",
        /// Shows the card of a pin.
        Open(pin: PinId, page: Page) = "open",
        More(pin: PinId, page: Page) = "more",
        Less(pin: PinId, page: Page) = "less",
        Remove(pin: PinId, page: Page) = "drop",
        /// Restores a pin that was removed.
        Undo(pin: PinId, page: Page) = "undo",
        /// Replies to the message that the pin was made from.
        Source(pin: PinId) = "source",
    }
}

buttons! {
    /// Buttons that pin an answer and undo it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum KeepAnswerButton = "pin" {
        /// Asks for confirmation to pin the answer above the button.
        Ask = "ask",
        /// Pins the answer that ends with this message.
        Yes(message: MessageId) = "yes",
        No = "no",
        /// Removes the pin that was just made.
        Undo(pin: PinId) = "undo",
    }
}
