//! Channel that a message arrived through, with the ids of that channel. Used to settle, quote or repeat a message.

use serde::{Deserialize, Serialize};

use figaro_base::ids::{MessageId, RequestId, UpdateId};

/// Source of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A message or a button press in Telegram.
    Telegram {
        /// Update with the message. It is settled once the message is processed.
        update: UpdateId,
        /// Message in its chat. For a button press, the message with the button, if it matters.
        message: Option<MessageId>,
    },
    /// A question in a chat that the bot is no member of: an inline query or a guest message.
    Inline {
        /// Update with the question. It is settled once the answer stands.
        update: UpdateId,
    },
    /// A message of a customer to an account that the bot is connected to, for which it drafts a reply.
    Draft,
    /// A question over HTTP.
    Http {
        /// Id of the HTTP request.
        request: RequestId,
    },
    /// A question in the terminal.
    Terminal {
        /// Id given to the question.
        request: RequestId,
    },
    /// Prompt of a scheduled task; no person sent it.
    Task,
}

impl Origin {
    /// Creates the origin of a message in Telegram.
    #[must_use]
    pub const fn telegram(update: UpdateId, message: MessageId) -> Self {
        Self::Telegram { update, message: Some(message) }
    }

    /// Returns the update to settle; `None` outside Telegram.
    #[must_use]
    pub const fn update(self) -> Option<UpdateId> {
        match self {
            Self::Telegram { update, .. } | Self::Inline { update } => Some(update),
            Self::Draft | Self::Http { .. } | Self::Terminal { .. } | Self::Task => None,
        }
    }

    /// Returns the message in its Telegram chat; `None` outside Telegram.
    #[must_use]
    pub const fn message(self) -> Option<MessageId> {
        match self {
            Self::Telegram { message, .. } => message,
            Self::Inline { .. } | Self::Draft | Self::Http { .. } | Self::Terminal { .. } | Self::Task => {
                None
            }
        }
    }

    /// Returns the request id of a question over HTTP.
    pub(crate) const fn request(self) -> Option<RequestId> {
        match self {
            Self::Http { request } => Some(request),
            Self::Telegram { .. }
            | Self::Inline { .. }
            | Self::Draft
            | Self::Terminal { .. }
            | Self::Task => None,
        }
    }

    /// Returns the origin with another message of the same chat. Unchanged outside Telegram.
    #[must_use]
    pub const fn of_message(self, message: MessageId) -> Self {
        match self {
            Self::Telegram { update, .. } => Self::telegram(update, message),
            Self::Inline { .. } | Self::Draft | Self::Http { .. } | Self::Terminal { .. } | Self::Task => {
                self
            }
        }
    }
}
