//! Buttons of answers in chats that the bot is no member of.

use super::buttons::buttons;

buttons! {
    /// Buttons under an answer that is not there yet. Only the person who asked may press them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum InlineButton = "inline" {
        /// Answers the question with this number, if Telegram does not tell that it was sent.
        Answer(number: u32) = "answer",
        /// Stops the answer that grows in the message.
        Stop = "stop",
    }
}
