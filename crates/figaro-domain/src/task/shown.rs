//! Messages that show a task. They are updated when the task changes, and a reply to one refers to the task.

use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, MessageId};

/// A message of the bot about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// Chat of the message.
    pub chat: ChatId,
    /// Id of the message in that chat.
    pub message: MessageId,
    /// View of the task that the message shows now.
    pub shows: Shows,
    /// Page of the list that the card was opened from, from 0; `None` if it was opened elsewhere.
    #[serde(default)]
    pub page: Option<u32>,
    /// Answer in Markdown above the card in the same message.
    #[serde(default)]
    pub words: Option<String>,
    /// `true` while the message also asks for the chat's time zone.
    #[serde(default)]
    pub asks_zone: bool,
    /// Hash of the content of the last card.
    #[serde(default)]
    pub print: u64,
}

/// View of a task in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// The card, which is updated when the task changes.
    Card,
    /// A view opened from the card by a person, such as the last runs. It stays until they close it.
    Opened,
    /// The question about what to change.
    Question,
    /// The question, after a change by text. The message is to be deleted.
    Answered,
}

impl TaskMessage {
    /// Creates the entry of a message that shows only this.
    #[must_use]
    pub const fn new(chat: ChatId, message: MessageId, shows: Shows) -> Self {
        Self { chat, message, shows, page: None, words: None, asks_zone: false, print: 0 }
    }
}
