//! Buttons of drafts for customers, and of `/business`.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::ChatId;

buttons! {
    /// Buttons of the cards about connected accounts. A chat is that of the customer, a number that of the draft.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum BusinessButton = "business" {
        /// Sends the draft.
        Send(chat: ChatId, number: u32) = "send",
        /// Drafts again.
        Again(chat: ChatId, number: u32) = "again",
        /// Drops the draft.
        Skip(chat: ChatId, number: u32) = "skip",
        /// Sends the draft, and from now on every draft of the chat without a press.
        Always(chat: ChatId, number: u32) = "always",
        /// Ends the standing rule of the chat.
        End(chat: ChatId) = "end",
        /// Shows a page of the chats.
        List(page: Page) = "list",
        /// Shows a chat.
        Open(chat: ChatId, page: Page) = "open",
        /// Erases a chat.
        Forget(chat: ChatId, page: Page) = "forget",
    }
}
