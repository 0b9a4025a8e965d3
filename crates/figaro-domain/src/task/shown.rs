//! The messages in which people see a task: they are kept up to date while it changes, and a reply to one is about it.

use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, MessageId};

/// A message of the bot about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// The chat that it is in.
    pub chat: ChatId,
    /// Its id in that chat.
    pub message: MessageId,
    /// What it shows of the task now.
    pub shows: Shows,
    /// The page of the list that the card was opened from, from 0; `None` if it was opened elsewhere.
    #[serde(default)]
    pub page: Option<u32>,
    /// The answer, in Markdown, that stands above the card in the same message.
    #[serde(default)]
    pub words: Option<String>,
    /// It asks for the chat's time zone, too, until somebody says it.
    #[serde(default)]
    pub asks_zone: bool,
    /// A hash of what the card showed when it was drawn.
    #[serde(default)]
    pub print: u64,
}

/// What a message shows of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// Its card, which is drawn anew when the task changes.
    Card,
    /// Something that a person opened from the card, such as its last runs; it stays until they close it.
    Opened,
    /// The question what is to be different.
    Question,
    /// The same once it was changed in words: the message is to be taken away.
    Answered,
}

impl TaskMessage {
    /// A message that shows this, with nothing else.
    #[must_use]
    pub const fn new(chat: ChatId, message: MessageId, shows: Shows) -> Self {
        Self { chat, message, shows, page: None, words: None, asks_zone: false, print: 0 }
    }
}
